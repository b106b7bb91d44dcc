//! Latencies by kind of call.

use hdrhistogram::Histogram;
use serde_json::{Value, json};

use super::operation::{CALLS, Call};

/// Range of a histogram: a microsecond to ten minutes, with three digits.
const LOWEST_US: u64 = 1;
const HIGHEST_US: u64 = 600_000_000;
const DIGITS: u8 = 3;

/// Latencies and failures of one kind of call.
pub struct Latency {
    /// Microseconds of successful calls.
    pub histogram: Histogram<u64>,
    pub failed: u64,
}

/// Adds the mean, quantiles and maximum of a histogram of microseconds to a JSON object.
pub fn with_quantiles(mut row: Value, latency: &Histogram<u64>) -> Value {
    row["mean_us"] = latency.mean().into();
    for (key, quantile) in [("p50_us", 0.5), ("p90_us", 0.9), ("p99_us", 0.99), ("p999_us", 0.999)] {
        row[key] = latency.value_at_quantile(quantile).into();
    }
    row["max_us"] = latency.max().into();
    row
}

/// Latencies of all kinds of calls.
pub struct Latencies {
    of: Vec<Latency>,
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies::new()
    }
}

impl Latencies {
    pub fn new() -> Latencies {
        let one = |_| Latency {
            histogram: Histogram::new_with_bounds(LOWEST_US, HIGHEST_US, DIGITS).expect("bounds that fit each other"),
            failed: 0,
        };
        Latencies { of: CALLS.iter().map(one).collect() }
    }

    pub fn add(&mut self, call: Call, ns: u64) {
        self.of[call as usize].histogram.saturating_record((ns / 1000).max(LOWEST_US));
    }

    pub fn failed(&mut self, call: Call) {
        self.of[call as usize].failed += 1;
    }

    pub fn join(&mut self, other: &Latencies) {
        for (own, other) in self.of.iter_mut().zip(&other.of) {
            own.histogram.add(&other.histogram).expect("the same bounds");
            own.failed += other.failed;
        }
    }

    /// Returns the kinds of calls that occurred.
    pub fn all(&self) -> impl Iterator<Item = (Call, &Latency)> {
        let of = CALLS.iter().map(|(call, _)| *call).zip(&self.of);
        of.filter(|(_, latency)| !latency.histogram.is_empty() || latency.failed > 0)
    }

    /// Returns the number of successful calls.
    pub fn calls(&self) -> u64 {
        self.of.iter().map(|latency| latency.histogram.len()).sum()
    }

    pub fn failures(&self) -> u64 {
        self.of.iter().map(|latency| latency.failed).sum()
    }

    pub fn to_json(&self, seconds: f64) -> Value {
        let one = |(call, latency): (Call, &Latency)| {
            let calls = latency.histogram.len();
            let row = json!({
                "call": call.name(),
                "calls": calls,
                "failed": latency.failed,
                "per_second": calls as f64 / seconds.max(1e-9),
            });
            with_quantiles(row, &latency.histogram)
        };
        self.all().map(one).collect()
    }
}
