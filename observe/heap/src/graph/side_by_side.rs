//! Work on ranges of numbers by several threads.

use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

/// Runs `work` on as many ranges of numbers as there are threads, and returns the results in their order.
pub fn side_by_side<T: Send>(threads: usize, count: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let share = count.div_ceil(threads.max(1)).max(1);
    thread::scope(|scope| {
        let work = &work;
        let ranges = (0..count).step_by(share).map(|begin| begin..(begin + share).min(count));
        let parts: Vec<_> = ranges.map(|range| scope.spawn(move || work(range))).collect();
        parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
