//! Size and seed of a simulated run.

/// Size and seed of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Requests that are measured, after a warm-up.
    pub requests: u32,
    pub seed: u64,
    /// Processor milliseconds that a waiter needs to go on after it received a unit. 0 unless measured.
    pub handoff_ms: f64,
}

impl Default for Run {
    fn default() -> Self {
        Run { requests: 20_000, seed: 1, handoff_ms: 0.0 }
    }
}
