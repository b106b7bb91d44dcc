//! Crew of threads that share work items by a counter.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use yunti_base::{Result, error};

/// Runs `work` for each item, with a state of each thread, and returns the states. The first error wins.
pub fn share<S: Send>(
    threads: usize,
    items: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<()> + Sync,
) -> Result<Vec<S>> {
    let next = AtomicUsize::new(0);
    let one = || -> Result<S> {
        let mut state = state();
        loop {
            let item = next.fetch_add(1, Relaxed);
            if item >= items {
                return Ok(state);
            }
            if let Err(error) = work(&mut state, item) {
                next.store(items, Relaxed);
                return Err(error);
            }
        }
    };
    if threads <= 1 {
        return Ok(vec![one()?]);
    }
    thread::scope(|scope| {
        let crew: Vec<_> = (0..threads.min(items.max(1))).map(|_| scope.spawn(one)).collect();
        crew.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| Err(error::of_panic(&*panic)))).collect()
    })
}
