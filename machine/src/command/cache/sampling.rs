//! When touches are looked at: all the time where they are few, else for a share of the time that costs no more than is promised.
//!
//! Time is cut into strata of equal length. In each there is one sample, at a place by chance, so that a program that does the same thing at the same
//! moment of each second is seen as it is. What a sample has seen stands for its stratum; how neighbours differ tells how good that is.
//!
//! ```text
//!   |   ####     |##          |        ####|      ####  |     strata of 200 ms, a sample in each
//! ```

use std::time::Duration;

pub const STRATUM: Duration = Duration::from_millis(200);
/// Of one processor; half of what is promised, since the programs of misses and we ourselves cost something too.
const COST_MAX: f64 = 0.01;
const SHARE_MIN: f64 = 0.02;
/// From there on it is not worth to stop.
const SHARE_ALL: f64 = 0.7;
const SHARE_AT_FIRST: f64 = 0.1;
/// Of a normal distribution: 95 of 100 lie within.
const SIGMAS: f64 = 1.96;

/// How much of a stratum is looked at.
#[derive(Debug)]
pub struct Share {
    share: f64,
    /// Events a second of the last two strata.
    rates: [f64; 2],
    event_ns: f64,
}

impl Share {
    /// @param event_ns what each event costs who is seen
    pub fn new(event_ns: f64) -> Share {
        Share { share: SHARE_AT_FIRST, rates: [f64::INFINITY; 2], event_ns }
    }

    /// 1: all of it.
    pub fn get(&self) -> f64 {
        self.share
    }

    pub fn sample(&self) -> Duration {
        STRATUM.mul_f64(self.share)
    }

    /// @param seen events of a sample, and how long it was
    pub fn adapt(&mut self, events: u64, sample: Duration) {
        self.rates = [self.rates[1], events as f64 / sample.as_secs_f64().max(1e-6)];
        let known = self.rates.iter().filter(|rate| rate.is_finite()).fold(0.0, |a: f64, b| a.max(*b));
        let wanted = COST_MAX / (self.event_ns / 1e9) / known.max(1.0);
        self.share = if wanted >= SHARE_ALL { 1.0 } else { wanted.max(SHARE_MIN) };
    }
}

/// How good an estimate is: sums of strata of which a part was seen.
#[derive(Debug, Default)]
pub struct Estimate {
    total: f64,
    variance: f64,
    last: Option<f64>,
    seconds: f64,
    seconds_seen: f64,
}

impl Estimate {
    /// What a sample has seen of a stratum.
    pub fn add(&mut self, seen: f64, sample: Duration, stratum: Duration) {
        let part = (sample.as_secs_f64() / stratum.as_secs_f64().max(1e-9)).min(1.0);
        let stands_for = seen / part.max(1e-9);
        self.total += stands_for;
        // Successive differences: Wolter, Introduction to Variance Estimation, 8.2. They hold what changes from one stratum to the next, too.
        if let Some(last) = self.last {
            self.variance += (1.0 - part) * (stands_for - last).powi(2) / 2.0;
        }
        self.last = Some(stands_for);
        self.seconds += stratum.as_secs_f64();
        self.seconds_seen += sample.as_secs_f64().min(stratum.as_secs_f64());
    }

    /// The share of the time that was seen.
    pub fn share(&self) -> f64 {
        if self.seconds > 0.0 { self.seconds_seen / self.seconds } else { 1.0 }
    }

    /// In percent of the sum: 95 of 100 times the truth is as near as that.
    pub fn error_percent(&self) -> f64 {
        if self.total > 0.0 { SIGMAS * self.variance.sqrt() / self.total * 100.0 } else { 0.0 }
    }
}

/// Where in its stratum a sample begins: numbers that a program cannot keep step with (xorshift64*).
#[derive(Debug)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed | 1)
    }

    /// From 0 to 1.
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn few_events_are_all_seen_and_many_cost_no_more_than_is_promised() {
        let mut share = Share::new(200.0);
        share.adapt(100, STRATUM);
        assert_eq!(share.get(), 1.0);
        for rate in [100_000u64, 1_000_000, 10_000_000] {
            share.adapt(rate, SECOND);
            assert!(share.get() < 1.0 && share.get() >= SHARE_MIN, "{rate}");
            let cost = share.get() * rate as f64 * 200.0 / 1e9;
            assert!(cost <= COST_MAX * 1.001 || share.get() == SHARE_MIN, "{rate}: {cost}");
        }
        // One quiet stratum is no reason to look all the time.
        share.adapt(0, SECOND);
        assert!(share.get() < 1.0);
        share.adapt(0, SECOND);
        assert_eq!(share.get(), 1.0);
    }

    /// A load that changes: estimates are off by no more than they say, 95 times of 100.
    #[test]
    fn errors_are_as_large_as_they_say() {
        let mut chance = Chance::new(7);
        let (mut within, runs) = (0, 400);
        for _ in 0..runs {
            let (mut estimate, mut truth) = (Estimate::default(), 0.0);
            for _ in 0..50 {
                // Ten parts in a stratum, of which one is seen.
                let parts: Vec<f64> = (0..10).map(|_| 100.0 + 400.0 * chance.next()).collect();
                truth += parts.iter().sum::<f64>();
                let seen = parts[(chance.next() * 10.0) as usize];
                estimate.add(seen, STRATUM / 10, STRATUM);
            }
            assert!((estimate.share() - 0.1).abs() < 1e-9);
            within += i32::from((estimate.total / truth - 1.0).abs() * 100.0 <= estimate.error_percent());
        }
        assert!((360..=400).contains(&within), "{within} of {runs}");
    }

    #[test]
    fn what_was_seen_whole_has_no_error() {
        let mut estimate = Estimate::default();
        for seen in [3.0, 1000.0, 0.0] {
            estimate.add(seen, STRATUM, STRATUM);
        }
        assert_eq!((estimate.total, estimate.error_percent(), estimate.share()), (1003.0, 0.0, 1.0));
        assert_eq!((Estimate::default().error_percent(), Estimate::default().share()), (0.0, 1.0));
    }
}
