//! Memory in use over time: a sample at each step of the job's work, enough for a chart.
//!
//! ```text
//!   work done   0 .. step .. 2 step .. 3 step ..     a sample when a step is passed, and when a phase begins or ends
//!   too many    [a b][c d][e f] -> [ab][cd][ef]      two samples become one with the higher peak; the step doubles
//! ```
//!
//! Steps measure work, not time, because the work is counted for each batch already and needs no clock. Rejected: a
//! thread that wakes up periodically, which simulated environments would have to simulate too.

use std::sync::atomic::{AtomicU64, Ordering};

use super::MemorySample;
use crate::env::sync::Mutex;
use crate::memory::Budget;

/// Steps of a job of known size.
const STEPS: u64 = 200;
/// First step of a job of unknown size, in bytes.
const STEP_BYTES_FIRST: u64 = if cfg!(debug_assertions) { 4 << 10 } else { 4 << 20 };
/// Samples beyond which pairs are joined.
const SAMPLES_MAX: usize = 400;

/// Samples of the memory in use, taken by any worker.
pub struct MemoryTrace {
    step_bytes: AtomicU64,
    samples: Mutex<Vec<MemorySample>>,
}

impl Default for MemoryTrace {
    /// Samples only phases until `expect` is called.
    fn default() -> Self {
        MemoryTrace { step_bytes: AtomicU64::new(u64::MAX), samples: Mutex::default() }
    }
}

impl MemoryTrace {
    /// Sets the step for `bytes` of work; 0: unknown.
    pub fn expect(&self, bytes: u64) {
        let step = if bytes == 0 { STEP_BYTES_FIRST } else { bytes.div_ceil(STEPS) };
        self.step_bytes.store(step, Ordering::Relaxed);
    }

    /// Returns true if a step ends between the two amounts of work.
    #[inline]
    pub fn is_due(&self, before_bytes: u64, now_bytes: u64) -> bool {
        let step = self.step_bytes.load(Ordering::Relaxed).max(1);
        before_bytes / step != now_bytes / step
    }

    /// Adds a sample. `at_ms`: milliseconds since the job began.
    pub fn add(&self, at_ms: f64, budget: &Budget) {
        let (most_bytes, used_bytes) = (budget.take_recent_peak(), budget.used_bytes());
        let mut samples = self.samples.lock().unwrap_or_else(|e| e.into_inner());
        // Two workers may add samples in another order than they read the clock.
        let at_ms = samples.last().map_or(at_ms, |last| at_ms.max(last.at_ms));
        samples.push(MemorySample { at_ms, used_bytes, most_bytes: most_bytes.max(used_bytes) });
        if samples.len() > SAMPLES_MAX {
            let joined = samples.chunks(2).map(|pair| MemorySample {
                most_bytes: pair.iter().map(|s| s.most_bytes).max().unwrap_or(0),
                ..pair[pair.len() - 1]
            });
            *samples = joined.collect();
            let step = self.step_bytes.load(Ordering::Relaxed);
            self.step_bytes.store(step.saturating_mul(2), Ordering::Relaxed);
        }
    }

    /// Returns all samples in order of time.
    pub fn samples(&self) -> Vec<MemorySample> {
        self.samples.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_sample_at_each_step_up_to_a_limit() {
        let budget = Budget::new(1000);
        let trace = MemoryTrace::default();
        assert!(!trace.is_due(0, 1 << 40), "nothing is expected yet");
        trace.expect(0);
        let mut done = 0;
        for batch in 0..20_000u64 {
            // A peak between two samples appears in the next one.
            let peak = if batch == 7777 { 900 } else { 100 };
            assert!(budget.try_take(peak));
            budget.give(peak);
            let before = done;
            done += STEP_BYTES_FIRST / 4;
            if trace.is_due(before, done) {
                trace.add(batch as f64, &budget);
            }
        }
        let samples = trace.samples();
        assert!(samples.len() > SAMPLES_MAX / 4 && samples.len() <= SAMPLES_MAX, "{}", samples.len());
        assert!(samples.windows(2).all(|pair| pair[0].at_ms <= pair[1].at_ms));
        let highest = samples.iter().max_by_key(|s| s.most_bytes).unwrap();
        assert_eq!((highest.most_bytes, highest.used_bytes), (900, 0));
        assert!((7777.0..7777.0 + 20_000.0 / 50.0).contains(&highest.at_ms), "{highest:?}");
    }
}
