//! Independent pieces of work on several threads: files to make, files to check.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use yunti_engine::base::error::of_panic;
use yunti_engine::base::{Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::job::Control;

/// Calls `work(0)` .. `work(n - 1)`, each once, and returns the results in order; after an error, of which the one with the
/// lowest number wins among those that happened, or when `control` is cancelled, no more are begun.
pub fn for_each<T: Send>(
    env: &Env,
    threads: usize,
    n: usize,
    control: &Control,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Result<T>)>> = Mutex::new(Vec::new());
    let failed = Mutex::new(false);
    env.threads.run(threads.clamp(1, n.max(1)), &|_| {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n || control.is_cancelled() || *failed.lock().unwrap_or_else(PoisonError::into_inner) {
                return;
            }
            let result = catch_unwind(AssertUnwindSafe(|| work(i))).unwrap_or_else(|panic| Err(of_panic(&*panic)));
            if result.is_err() {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = true;
            }
            results.lock().unwrap_or_else(PoisonError::into_inner).push((i, result));
        }
    });
    check_cancelled(control)?;
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

/// For pieces that take long: an error when `control` is cancelled.
pub fn check_cancelled(control: &Control) -> Result<()> {
    if control.is_cancelled() { Err(Error::new(Code::Cancelled, "cancelled; nothing is left behind")) } else { Ok(()) }
}
