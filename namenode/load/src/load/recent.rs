//! Samples of about a second, for the progress line and the plot.

use std::sync::Mutex;
use std::time::Instant;

use hdrhistogram::Histogram;

/// Digits of a sample's histogram.
const DIGITS: u8 = 2;
const HIGHEST_US: u64 = 600_000_000;

/// Calls since the last sample, of all threads.
pub struct Recent {
    of: Mutex<(Histogram<u64>, u64)>,
    begun: Instant,
}

/// Throughput and latencies of about a second.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Seconds from the start to the sample's end.
    pub seconds: f64,
    pub calls_per_second: f64,
    pub p50_us: u64,
    pub p99_us: u64,
    pub failed: u64,
    pub is_counted: bool,
}

/// Calls of one thread that are not in [`Recent`] yet.
pub struct Batch {
    times: Histogram<u64>,
    failed: u64,
}

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, HIGHEST_US, DIGITS).expect("bounds that fit each other")
}

impl Batch {
    pub fn new() -> Batch {
        Batch { times: histogram(), failed: 0 }
    }

    pub fn add(&mut self, ns: u64) {
        self.times.saturating_record((ns / 1000).max(1));
    }

    pub fn failed(&mut self) {
        self.failed += 1;
    }
}

impl Default for Recent {
    fn default() -> Self {
        Recent { of: Mutex::new((histogram(), 0)), begun: Instant::now() }
    }
}

impl Recent {
    /// Moves a batch's calls into this.
    pub fn hand(&self, batch: &mut Batch) {
        if let Ok(mut of) = self.of.lock() {
            of.0.add(&batch.times).expect("the same bounds");
            of.1 += batch.failed;
        }
        batch.times.reset();
        batch.failed = 0;
    }

    /// Returns the sample since `since`, and starts the next.
    pub fn sample(&self, since: Instant, is_counted: bool) -> Sample {
        let seconds = since.elapsed().as_secs_f64().max(1e-9);
        let mut of = self.of.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let at = |q| of.0.value_at_quantile(q);
        let sample = Sample {
            seconds: self.begun.elapsed().as_secs_f64(),
            calls_per_second: of.0.len() as f64 / seconds,
            p50_us: at(0.5),
            p99_us: at(0.99),
            failed: of.1,
            is_counted,
        };
        of.0.reset();
        of.1 = 0;
        sample
    }
}
