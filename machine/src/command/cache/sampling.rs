//! Sampling of touches: all the time if they are few, else a share of the time within the promised overhead.
//!
//! Time is divided into strata of equal length, each with one sample at a random position. A program that repeats its
//! work at the same moment of each second is therefore sampled correctly. A sample stands for its stratum; the
//! differences between neighbours give the error. A program that only reads is slower in a sample, because each event
//! costs it time; the error includes this.
//!
//! ```text
//!   |   ####     |##          |        ####|      ####  |     strata of 200 ms, a sample in each
//! ```

use std::time::Duration;

/// Length of a stratum.
pub const STRATUM: Duration = Duration::from_millis(200);
/// Share of one processor; half of the promised overhead, because counting misses and this process cost time too.
const COST_MAX: f64 = 0.01;
/// Smallest share of a stratum.
const SHARE_MIN: f64 = 0.02;
/// Share from which on the whole stratum is sampled.
const SHARE_ALL: f64 = 0.7;
/// Share of the first stratum.
const SHARE_AT_FIRST: f64 = 0.1;
/// Share of a sample that events cost at most: several programs pay at the same time, so their sum may exceed it.
const COST_OF_SAMPLE_MAX: f64 = 0.5;
/// Standard deviations; 95 % of a normal distribution are within them.
const SIGMAS: f64 = 1.96;

/// Share of each stratum that is sampled.
#[derive(Debug)]
pub struct Share {
    share: f64,
    /// Events a second of the last two strata.
    rates: [f64; 2],
    event_ns: f64,
}

impl Share {
    /// Returns the first share. `event_ns`: nanoseconds that each event costs the measured program.
    pub fn new(event_ns: f64) -> Share {
        Share { share: SHARE_AT_FIRST, rates: [f64::INFINITY; 2], event_ns }
    }

    /// Returns the share; 1 is complete sampling.
    pub fn get(&self) -> f64 {
        self.share
    }

    /// Returns the length of a sample.
    pub fn sample(&self) -> Duration {
        STRATUM.mul_f64(self.share)
    }

    /// Adapts the share to the `events` in a sample of this length.
    pub fn adapt(&mut self, events: u64, sample: Duration) {
        self.rates = [self.rates[1], events as f64 / sample.as_secs_f64().max(1e-6)];
        let known = self.rates.iter().filter(|rate| rate.is_finite()).fold(0.0, |a: f64, b| a.max(*b));
        let wanted = COST_MAX / (self.event_ns / 1e9) / known.max(1.0);
        self.share = if wanted >= SHARE_ALL { 1.0 } else { wanted.max(SHARE_MIN) };
    }
}

/// Sum over partly sampled strata, and its error.
#[derive(Debug, Default)]
pub struct Estimate {
    total: f64,
    variance: f64,
    /// Pages that slowed programs may have left out.
    slowed: f64,
    last: Option<f64>,
    seconds: f64,
    seconds_seen: f64,
}

impl Estimate {
    /// Adds a stratum whose sample has `touches` pages. `cost`: time of the sample that the events took from the
    /// measured programs.
    pub fn add(&mut self, touches: f64, sample: Duration, stratum: Duration, cost: Duration) {
        let part = (sample.as_secs_f64() / stratum.as_secs_f64().max(1e-9)).min(1.0);
        let stands_for = touches / part.max(1e-9);
        self.total += stands_for;
        // Successive differences: Wolter, Introduction to Variance Estimation, 8.2. They include changes from one
        // stratum to the next.
        if let Some(last) = self.last {
            self.variance += (1.0 - part) * (stands_for - last).powi(2) / 2.0;
        }
        self.last = Some(stands_for);
        // One program that uses a processor to the full does in the rest of the sample what else it did in all of it.
        let cost = (cost.as_secs_f64() / sample.as_secs_f64().max(1e-9)).min(COST_OF_SAMPLE_MAX);
        self.slowed += (1.0 - part) * stands_for * cost / (1.0 - cost);
        self.seconds += stratum.as_secs_f64();
        self.seconds_seen += sample.as_secs_f64().min(stratum.as_secs_f64());
    }

    /// Returns the share of the time that was sampled.
    pub fn share(&self) -> f64 {
        if self.seconds > 0.0 { self.seconds_seen / self.seconds } else { 1.0 }
    }

    /// Returns the half-width of the 95 % confidence interval, and what slowed programs may have left out, in percent
    /// of the sum.
    pub fn error_percent(&self) -> f64 {
        if self.total > 0.0 { (SIGMAS * self.variance.sqrt() + self.slowed) / self.total * 100.0 } else { 0.0 }
    }
}

/// Random position of a sample in its stratum (xorshift64*).
#[derive(Debug)]
pub struct Chance(u64);

impl Chance {
    /// Returns a generator with this seed.
    pub fn new(seed: u64) -> Chance {
        Chance(seed | 1)
    }

    /// Returns the next number, from 0 to 1.
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
    fn samples_few_events_completely_and_many_within_the_overhead() {
        let mut share = Share::new(200.0);
        share.adapt(100, STRATUM);
        assert_eq!(share.get(), 1.0);
        for rate in [100_000u64, 1_000_000, 10_000_000] {
            share.adapt(rate, SECOND);
            assert!(share.get() < 1.0 && share.get() >= SHARE_MIN, "{rate}");
            let cost = share.get() * rate as f64 * 200.0 / 1e9;
            assert!(cost <= COST_MAX * 1.001 || share.get() == SHARE_MIN, "{rate}: {cost}");
        }
        // One quiet stratum is not enough for complete sampling.
        share.adapt(0, SECOND);
        assert!(share.get() < 1.0);
        share.adapt(0, SECOND);
        assert_eq!(share.get(), 1.0);
    }

    /// The true sum of a changing load is within the confidence interval in 95 % of the runs.
    #[test]
    fn confidence_intervals_hold() {
        let mut chance = Chance::new(7);
        let (mut within, runs) = (0, 400);
        for _ in 0..runs {
            let (mut estimate, mut truth) = (Estimate::default(), 0.0);
            for _ in 0..50 {
                // Ten parts in a stratum; one is sampled.
                let parts: Vec<f64> = (0..10).map(|_| 100.0 + 400.0 * chance.next()).collect();
                truth += parts.iter().sum::<f64>();
                let touches = parts[(chance.next() * 10.0) as usize];
                estimate.add(touches, STRATUM / 10, STRATUM, Duration::ZERO);
            }
            assert!((estimate.share() - 0.1).abs() < 1e-9);
            within += i32::from((estimate.total / truth - 1.0).abs() * 100.0 <= estimate.error_percent());
        }
        assert!((360..=400).contains(&within), "{within} of {runs}");
    }

    /// A reader of 100 pages in a tenth of a stratum, and of 90 in a sample, where events cost a tenth of its time.
    #[test]
    fn the_error_includes_slowed_programs() {
        let mut estimate = Estimate::default();
        for _ in 0..30 {
            estimate.add(90.0, STRATUM / 10, STRATUM, STRATUM / 100);
        }
        let truth = 30.0 * (90.0 + 9.0 * 100.0);
        let off = (truth / estimate.total - 1.0) * 100.0;
        assert!((estimate.error_percent() - off).abs() < 1e-6, "{off} {}", estimate.error_percent());
    }

    #[test]
    fn complete_samples_have_no_error() {
        let mut estimate = Estimate::default();
        for touches in [3.0, 1000.0, 0.0] {
            estimate.add(touches, STRATUM, STRATUM, STRATUM / 100);
        }
        assert_eq!((estimate.total, estimate.error_percent(), estimate.share()), (1003.0, 0.0, 1.0));
        assert_eq!((Estimate::default().error_percent(), Estimate::default().share()), (0.0, 1.0));
    }
}
