//! Arrivals of one thread of an open loop: even, random, or at the times of a log.

use std::sync::Arc;

use super::pace::Pace;

/// Spacing of the requests of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Equal gaps.
    Even,
    /// Random gaps with an exponential distribution (a Poisson process), as of many independent clients.
    Poisson,
}

/// Source of nominal times.
#[derive(Clone, Debug)]
pub enum Source {
    /// A rate per second, over all threads.
    Rate { per_second: f64, spacing: Spacing },
    /// Times of a log in nanoseconds since its start, in order, of all threads; each is divided by the speed.
    Log { times_ns: Arc<[u64]>, speed: f64 },
}

/// A request that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Nanoseconds since the start of the run.
    pub ns: u64,
    /// Number of the request in the order of all threads.
    pub number: u64,
}

/// Arrivals of thread `n` of `threads`: each takes the requests n, n + threads, ..
pub struct Arrivals {
    source: Source,
    pace: Pace,
    rng: fastrand::Rng,
    threads: u64,
    number: u64,
    nominal_ns: f64,
    next_ns: Option<u64>,
}

impl Arrivals {
    /// Returns the arrivals of a thread.
    pub fn new(source: Source, pace: Pace, thread: usize, threads: usize, seed: u64) -> Arrivals {
        let mut arrivals = Arrivals {
            source,
            pace,
            rng: fastrand::Rng::with_seed(seed.wrapping_add(thread as u64)),
            threads: threads as u64,
            number: thread as u64,
            nominal_ns: 0.0,
            next_ns: None,
        };
        arrivals.nominal_ns = match &arrivals.source {
            Source::Rate { per_second, spacing: Spacing::Even } => thread as f64 * 1e9 / per_second,
            Source::Rate { spacing: Spacing::Poisson, .. } => arrivals.gap_ns(),
            Source::Log { .. } => 0.0,
        };
        arrivals.set_next();
        arrivals
    }

    fn gap_ns(&mut self) -> f64 {
        match &self.source {
            Source::Rate { per_second, spacing } => {
                let mean_ns = 1e9 * self.threads as f64 / per_second;
                match spacing {
                    Spacing::Even => mean_ns,
                    // 1 - f64() is in (0, 1].
                    Spacing::Poisson => -(1.0 - self.rng.f64()).ln() * mean_ns,
                }
            }
            Source::Log { .. } => 0.0,
        }
    }

    fn set_next(&mut self) {
        let nominal_ns = match &self.source {
            Source::Rate { .. } => Some(self.nominal_ns),
            Source::Log { times_ns, speed } => times_ns.get(self.number as usize).map(|&ns| ns as f64 / speed),
        };
        self.next_ns = nominal_ns.map(|ns| self.pace.real_ns(ns) as u64);
    }

    /// Returns the time of the next request; None after the end of a log.
    pub fn next_ns(&self) -> Option<u64> {
        self.next_ns
    }

    /// Returns the next request if it is due.
    pub fn take(&mut self, now_ns: u64) -> Option<Due> {
        let ns = self.next_ns.filter(|&ns| ns <= now_ns)?;
        let due = Due { ns, number: self.number };
        self.number += self.threads;
        self.nominal_ns += self.gap_ns();
        self.set_next();
        Some(due)
    }

    /// Slows the arrivals down from now on.
    pub fn slow(&mut self, now_ns: u64, factor: f64) {
        self.pace.slow(now_ns as f64, factor);
        self.set_next();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(arrivals: &mut Arrivals, until_ns: u64) -> Vec<Due> {
        std::iter::from_fn(|| arrivals.take(until_ns)).collect()
    }

    fn rate(per_second: f64, spacing: Spacing, thread: usize, threads: usize) -> Arrivals {
        Arrivals::new(Source::Rate { per_second, spacing }, Pace::new(0), thread, threads, 1)
    }

    #[test]
    fn even_requests_of_several_threads_interleave() {
        let mut dues: Vec<Due> = (0..3).flat_map(|n| all(&mut rate(1000.0, Spacing::Even, n, 3), 8_999_999)).collect();
        dues.sort_by_key(|due| due.number);
        let expect: Vec<Due> = (0..9).map(|n| Due { ns: n * 1_000_000, number: n }).collect();
        assert_eq!(dues, expect);
    }

    #[test]
    fn random_requests_have_the_rate_and_vary() {
        let dues = all(&mut rate(2000.0, Spacing::Poisson, 1, 2), 10_000_000_000);
        // Expected: ten thousand, with a standard deviation of a hundred.
        assert!((9_600..10_400).contains(&dues.len()), "{}", dues.len());
        assert!(dues.iter().all(|due| due.number % 2 == 1) && dues.is_sorted_by_key(|due| due.ns));
        let gaps: Vec<f64> = dues.windows(2).map(|two| (two[1].ns - two[0].ns) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // An exponential distribution has a standard deviation as large as its mean.
        assert!((0.93..1.07).contains(&(variance.sqrt() / mean)));
    }

    #[test]
    fn a_log_ends() {
        let log = |speed| Source::Log { times_ns: [0, 5, 5, 9].into(), speed };
        let mut arrivals = Arrivals::new(log(1.0), Pace::new(0), 1, 2, 1);
        assert_eq!(arrivals.take(4), None);
        assert_eq!(all(&mut arrivals, 100), [Due { ns: 5, number: 1 }, Due { ns: 9, number: 3 }]);
        assert_eq!(arrivals.next_ns(), None);
        let mut arrivals = Arrivals::new(log(0.5), Pace::new(0), 1, 2, 1);
        assert_eq!(all(&mut arrivals, 100), [Due { ns: 10, number: 1 }, Due { ns: 18, number: 3 }]);
    }

    #[test]
    fn slows_down() {
        let mut arrivals = rate(1000.0, Spacing::Even, 0, 1);
        assert_eq!(all(&mut arrivals, 999_999_999).len(), 1000);
        arrivals.slow(1_000_000_000, 0.5);
        assert_eq!(all(&mut arrivals, 1_999_999_999).len(), 500);
    }
}
