//! The memory in use over time: a sample at each step of the job's work, so many that a picture can be drawn of them.
//!
//! ```text
//!   work done   0 .. step .. 2 step .. 3 step ..        a sample where a step is passed, and where a phase begins or ends
//!   too many    [a b][c d][e f] -> [ab][cd][ef]         pairs become one with the larger peak; the step doubles
//! ```
//!
//! Steps of work and not of time: the work is counted already, a batch at a time, and no clock is read in between. Rejected: a
//! thread that wakes up now and then, which simulated environments would have to play too.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::MemorySample;
use crate::memory::Budget;

/// Steps that a job of known size is cut into.
const STEPS: u64 = 200;
/// Where the size is not known.
const STEP_BYTES_FIRST: u64 = if cfg!(debug_assertions) { 4 << 10 } else { 4 << 20 };
/// Beyond it, pairs are joined.
const SAMPLES_MAX: usize = 400;

pub struct MemoryTrace {
    step_bytes: AtomicU64,
    samples: Mutex<Vec<MemorySample>>,
}

impl Default for MemoryTrace {
    /// Without `expect` only phases are sampled.
    fn default() -> Self {
        MemoryTrace { step_bytes: AtomicU64::new(u64::MAX), samples: Mutex::default() }
    }
}

impl MemoryTrace {
    /// The job has so many bytes of work; 0: unknown.
    pub fn expect(&self, bytes: u64) {
        let step = if bytes == 0 { STEP_BYTES_FIRST } else { bytes.div_ceil(STEPS) };
        self.step_bytes.store(step, Ordering::Relaxed);
    }

    /// Whether a step ends between the two.
    #[inline]
    pub fn is_due(&self, before_bytes: u64, now_bytes: u64) -> bool {
        let step = self.step_bytes.load(Ordering::Relaxed).max(1);
        before_bytes / step != now_bytes / step
    }

    pub fn add(&self, at_ms: f64, budget: &Budget) {
        let (most_bytes, used_bytes) = (budget.take_recent_peak(), budget.used_bytes());
        let mut samples = self.samples.lock().unwrap_or_else(|e| e.into_inner());
        // Two workers may come in another order than they looked at the clock.
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

    pub fn samples(&self) -> Vec<MemorySample> {
        self.samples.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_at_each_step_and_never_too_many() {
        let budget = Budget::new(1000);
        let trace = MemoryTrace::default();
        assert!(!trace.is_due(0, 1 << 40), "nothing is expected yet");
        trace.expect(0);
        let mut done = 0;
        for batch in 0..20_000u64 {
            // Comes and goes between two samples; the first sample after it knows.
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
