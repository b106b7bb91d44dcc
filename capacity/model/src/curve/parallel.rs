//! Independent points on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns `work` of each input, in their order, on this many threads.
pub fn map<I: Sync, O: Send>(threads: usize, inputs: &[I], work: impl Fn(&I) -> O + Sync) -> Vec<O> {
    if threads <= 1 || inputs.len() <= 1 {
        return inputs.iter().map(work).collect();
    }
    // The last inputs are the largest, so they begin first.
    let next = AtomicUsize::new(inputs.len());
    let results = Mutex::new(Vec::with_capacity(inputs.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(inputs.len()) {
            scope.spawn(|| {
                while let Ok(at) = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |at| at.checked_sub(1)) {
                    let result = work(&inputs[at - 1]);
                    results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.sort_unstable_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_inputs() {
        let inputs: Vec<u64> = (0..1000).collect();
        for threads in [0, 1, 2, 7] {
            assert_eq!(map(threads, &inputs, |n| n * n), inputs.iter().map(|n| n * n).collect::<Vec<_>>());
        }
        assert!(map(4, &Vec::<u64>::new(), |n| *n).is_empty());
    }
}
