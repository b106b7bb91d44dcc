//! Threads that note how long they were ready to run and had no processor, as Linux counts it (`schedstat`).
//!
//! Read where a thread begins its part and where it ends: a thread that is gone cannot be asked. Where nobody counts it is 0.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::threads::Threads;

/// What a job puts around the threads that it is given.
pub struct MeteredThreads {
    threads: Arc<dyn Threads>,
    others_ns: AtomicU64,
    caller_ns: u64,
}

impl MeteredThreads {
    /// The calling thread counts too: it calls `run_delay_ns`, and is a worker meanwhile.
    pub fn new(threads: Arc<dyn Threads>) -> MeteredThreads {
        MeteredThreads { threads, others_ns: AtomicU64::new(0), caller_ns: thread_run_delay_ns() }
    }

    /// Nanoseconds since it was made, all threads together.
    pub fn run_delay_ns(&self) -> u64 {
        self.others_ns.load(Ordering::Relaxed) + thread_run_delay_ns().saturating_sub(self.caller_ns)
    }
}

impl Threads for MeteredThreads {
    fn run(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        self.threads.run(n, &|worker| {
            if worker == 0 {
                return body(worker);
            }
            let before_ns = thread_run_delay_ns();
            body(worker);
            self.others_ns.fetch_add(thread_run_delay_ns().saturating_sub(before_ns), Ordering::Relaxed);
        });
    }

    fn processors(&self) -> usize {
        self.threads.processors()
    }
}

/// Of the calling thread, since it began.
fn thread_run_delay_ns() -> u64 {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok().and_then(|text| waited(&text)).unwrap_or(0)
}

/// `on-processor waited slices`, in nanoseconds and a number.
fn waited(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::threads::RealThreads;
    use super::*;

    #[test]
    fn the_second_number_counts() {
        assert_eq!(waited("161218 89583 1\n"), Some(89_583));
        assert_eq!(waited(""), None);
    }

    #[test]
    fn every_body_runs_and_waiting_only_grows() {
        let threads = MeteredThreads::new(Arc::new(RealThreads));
        let ran = AtomicU64::new(0);
        threads.run(3, &|worker| {
            ran.fetch_add(1 << (8 * worker), Ordering::Relaxed);
        });
        assert_eq!(ran.into_inner(), 0x010101);
        let before = threads.run_delay_ns();
        threads.run(2, &|_| {});
        assert!(threads.run_delay_ns() >= before);
    }
}
