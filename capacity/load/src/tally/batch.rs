//! Figures of one second of one thread.

use super::times::Times;

/// Counts and latencies of one second.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Requests that were due.
    pub offered: u64,
    pub sent: u64,
    /// Answers without a failure.
    pub done: u64,
    pub errors: u64,
    pub latency: Times,
}

impl Default for Batch {
    fn default() -> Self {
        Batch { offered: 0, sent: 0, done: 0, errors: 0, latency: Times::coarse() }
    }
}

impl Batch {
    /// Adds the same second of another thread.
    pub fn join(&mut self, other: &Batch) {
        self.offered += other.offered;
        self.sent += other.sent;
        self.done += other.done;
        self.errors += other.errors;
        self.latency.join(&other.latency);
    }
}
