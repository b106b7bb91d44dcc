//! Times of many requests: a histogram of nanoseconds, and the percentiles that a report has.

use hdrhistogram::Histogram;
use serde::Serialize;

/// Range: a microsecond, with half of one as the finest step, to an hour.
const LOWEST_NS: u64 = 1_000;
const HIGHEST_NS: u64 = 3_600_000_000_000;

/// Histogram of times.
#[derive(Clone, Debug)]
pub struct Times(Histogram<u64>);

/// Mean, percentiles and maximum in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Percentiles {
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p90_ms: f64,
    pub p99_ms: f64,
    pub p999_ms: f64,
    pub max_ms: f64,
}

impl Times {
    /// Returns an empty histogram with three digits.
    pub fn fine() -> Times {
        Times::new(3)
    }

    /// Returns an empty histogram with two digits, in a tenth of the memory.
    pub fn coarse() -> Times {
        Times::new(2)
    }

    fn new(digits: u8) -> Times {
        Times(Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, digits).expect("bounds that fit each other"))
    }

    /// Adds a time.
    pub fn add(&mut self, ns: u64) {
        self.0.saturating_record(ns);
    }

    /// Adds all times of another histogram with the same digits.
    pub fn join(&mut self, other: &Times) {
        self.0.add(&other.0).expect("the same bounds");
    }

    /// Returns the number of times.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns the time in milliseconds that a share of the requests does not exceed; 0 without requests.
    pub fn quantile_ms(&self, share: f64) -> f64 {
        ms(self.0.value_at_quantile(share))
    }

    /// Returns the mean in milliseconds; 0 without requests.
    pub fn mean_ms(&self) -> f64 {
        if self.0.is_empty() { 0.0 } else { self.0.mean() / 1e6 }
    }

    /// Returns the percentiles; all are 0 without requests.
    pub fn percentiles(&self) -> Percentiles {
        if self.0.is_empty() {
            return Percentiles::default();
        }
        Percentiles {
            mean_ms: self.mean_ms(),
            p50_ms: self.quantile_ms(0.5),
            p90_ms: self.quantile_ms(0.9),
            p99_ms: self.quantile_ms(0.99),
            p999_ms: self.quantile_ms(0.999),
            max_ms: ms(self.0.max()),
        }
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_the_digits() {
        let mut times = Times::fine();
        (1..=1000).for_each(|n| times.add(n * 1_000_000));
        let found = times.percentiles();
        for (found, expect) in [
            (found.mean_ms, 500.5),
            (found.p50_ms, 500.0),
            (found.p90_ms, 900.0),
            (found.p99_ms, 990.0),
            (found.p999_ms, 999.0),
            (found.max_ms, 1000.0),
        ] {
            assert!((found / expect - 1.0).abs() < 0.002, "{found} for {expect}");
        }
        assert_eq!(Times::fine().percentiles(), Percentiles::default());
    }
}
