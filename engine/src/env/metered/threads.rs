//! Threads that measure run-queue delay: the time they were ready to run without a processor (Linux `schedstat`).
//!
//! The counter is read when a thread begins its part and when it ends; it is gone with the thread. Some kernels and
//! sandboxes have no `schedstat`: then the delay is unknown.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::env::system::System;
use crate::env::threads::Threads;

/// Threads of a job, with a meter around the threads that the job was given.
pub struct MeteredThreads {
    threads: Arc<dyn Threads>,
    system: Arc<dyn System>,
    others_ns: AtomicU64,
    /// Delay of the calling thread before the job; None if the kernel does not count it.
    caller_ns: Option<u64>,
}

impl MeteredThreads {
    /// Starts measuring. The calling thread counts too: it works as worker 0 and calls `run_delay_ns` later.
    pub fn new(threads: Arc<dyn Threads>, system: Arc<dyn System>) -> MeteredThreads {
        let caller_ns = run_delay_of(&*system);
        MeteredThreads { threads, system, others_ns: AtomicU64::new(0), caller_ns }
    }

    /// Returns the run-queue delay since `new`, in nanoseconds, over all threads; None if the kernel does not count it.
    pub fn run_delay_ns(&self) -> Option<u64> {
        let caller_ns = run_delay_of(&*self.system)?.saturating_sub(self.caller_ns?);
        Some(self.others_ns.load(Ordering::Relaxed) + caller_ns)
    }
}

impl Threads for MeteredThreads {
    fn run(&self, n: usize, body: &(dyn Fn(usize) + Sync)) {
        self.threads.run(n, &|worker| {
            if worker == 0 {
                return body(worker);
            }
            let before_ns = run_delay_of(&*self.system);
            body(worker);
            if let (Some(before_ns), Some(after_ns)) = (before_ns, run_delay_of(&*self.system)) {
                self.others_ns.fetch_add(after_ns.saturating_sub(before_ns), Ordering::Relaxed);
            }
        });
    }

    fn processors(&self) -> usize {
        self.threads.processors()
    }
}

/// Returns the run-queue delay of the calling thread since it began, in nanoseconds.
fn run_delay_of(system: &dyn System) -> Option<u64> {
    run_delay(&system.read(Path::new("/proc/thread-self/schedstat"))?)
}

/// Parses the second number of `schedstat`: time on a processor, run-queue delay (both in ns), time slices.
fn run_delay(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::system::RealSystem;
    use crate::env::threads::RealThreads;

    #[test]
    fn parses_the_run_queue_delay() {
        assert_eq!(run_delay("161218 89583 1\n"), Some(89_583));
        assert_eq!(run_delay(""), None);
    }

    #[test]
    fn runs_every_body_and_the_delay_only_grows() {
        let threads = MeteredThreads::new(Arc::new(RealThreads), Arc::new(RealSystem::default()));
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
