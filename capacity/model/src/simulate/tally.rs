//! Measurements of a simulated run.

use serde::Serialize;

/// Batches by which the error of the rate is estimated.
const BATCHES: usize = 10;

/// Result of one simulated load.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Point {
    /// Clients of a closed loop; 0 for an open one.
    pub clients: u32,
    pub per_second: f64,
    /// Standard error of `per_second`.
    pub per_second_se: f64,
    pub response_ms: f64,
    pub response_ms_p50: f64,
    pub response_ms_p99: f64,
    /// Mean number of requests in process, waiting ones included.
    pub in_process: f64,
    /// Mean number of processors that work, without collections that stop the process.
    pub busy: f64,
    /// Share of the time in which collections stop the process.
    pub stopped: f64,
    pub collections_per_second: f64,
    pub full_collections_per_second: f64,
    /// Use of each resource in its order, then of the workers.
    pub stations: Vec<StationUse>,
    /// Requests that were measured.
    pub requests: u32,
    /// More requests arrive than leave.
    pub saturated: bool,
}

/// Use of a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StationUse {
    /// Mean number of units in use.
    pub in_use: f64,
    /// Share of the units in use; 0 without a limit.
    pub utilisation: f64,
    /// Mean number of waiting tasks.
    pub queued: f64,
}

/// Sums from the end of the warm-up on.
#[derive(Default)]
pub(super) struct Tally {
    pub begin_ms: f64,
    pub responses_ms: Vec<f32>,
    ends_ms: Vec<f64>,
    pub in_process_area: f64,
    pub busy_area: f64,
    pub stopped_area: f64,
    pub collections: u32,
    pub full_collections: u32,
}

impl Tally {
    pub fn new(begin_ms: f64, requests: usize) -> Self {
        Tally {
            begin_ms,
            responses_ms: Vec::with_capacity(requests),
            ends_ms: Vec::with_capacity(requests),
            ..Tally::default()
        }
    }

    /// Counts a request that ended.
    pub fn end(&mut self, response_ms: f64, now: f64) {
        self.responses_ms.push(response_ms as f32);
        self.ends_ms.push(now);
    }

    /// Returns the point, whose stations are left to the caller.
    pub fn point(mut self, now: f64) -> Point {
        let ms = (now - self.begin_ms).max(1e-9);
        let count = self.responses_ms.len();
        let mean = self.responses_ms.iter().map(|ms| f64::from(*ms)).sum::<f64>() / count.max(1) as f64;
        Point {
            per_second: count as f64 / ms * 1000.0,
            per_second_se: self.rate_se(),
            response_ms: mean,
            response_ms_p50: self.percentile(0.5),
            response_ms_p99: self.percentile(0.99),
            in_process: self.in_process_area / ms,
            busy: self.busy_area / ms,
            stopped: self.stopped_area / ms,
            collections_per_second: f64::from(self.collections) / ms * 1000.0,
            full_collections_per_second: f64::from(self.full_collections) / ms * 1000.0,
            requests: count as u32,
            ..Point::default()
        }
    }

    fn percentile(&mut self, share: f64) -> f64 {
        if self.responses_ms.is_empty() {
            return 0.0;
        }
        let at = ((self.responses_ms.len() as f64 * share) as usize).min(self.responses_ms.len() - 1);
        f64::from(*self.responses_ms.select_nth_unstable_by(at, f32::total_cmp).1)
    }

    fn rate_se(&self) -> f64 {
        let size = self.ends_ms.len() / BATCHES;
        if size < 2 {
            return 0.0;
        }
        let mut begin = self.begin_ms;
        let rates: Vec<f64> = (1..=BATCHES)
            .map(|batch| {
                let end = self.ends_ms[batch * size - 1];
                let rate = size as f64 / (end - begin).max(1e-9) * 1000.0;
                begin = end;
                rate
            })
            .collect();
        let mean = rates.iter().sum::<f64>() / BATCHES as f64;
        let spread: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        (spread / (BATCHES * (BATCHES - 1)) as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_become_means() {
        let mut tally = Tally::new(1000.0, 100);
        (1..=100).for_each(|n| tally.end(f64::from(n), 1000.0 + f64::from(n) * 20.0));
        (tally.busy_area, tally.in_process_area) = (1000.0, 4000.0);
        let point = tally.point(3000.0);
        assert_eq!((point.per_second, point.response_ms, point.busy, point.in_process), (50.0, 50.5, 0.5, 2.0));
        assert_eq!((point.response_ms_p50, point.response_ms_p99), (51.0, 100.0));
        assert!(point.per_second_se < 1e-9);
        assert_eq!(Tally::new(0.0, 0).point(10.0).per_second, 0.0);
    }
}
