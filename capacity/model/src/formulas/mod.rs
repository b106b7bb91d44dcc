//! Published formulas of capacity, from the necessary time of a request on each resource.
//!
//! threads = necessary time of a request / its time on the bottleneck x parallelism;
//! requests a second = 1000 / milliseconds on the bottleneck x parallelism. They hold at the peak if demands are
//! measured, and are a lower end for the threads (docs/decisions/capacity.md).

mod kinds;
mod mva;
mod necessary;

use serde::Serialize;

pub use kinds::{KindNeed, kinds};
pub use mva::mva;
pub use necessary::{Calls, Item, Necessary, Place};

/// Returns the threads that keep a bottleneck busy.
pub fn threads(necessary_ms: f64, bottleneck_ms: f64, parallelism: f64) -> f64 {
    necessary_ms / bottleneck_ms * parallelism
}

/// Returns the requests a second that a bottleneck carries.
pub fn per_second(bottleneck_ms: f64, parallelism: f64) -> f64 {
    1000.0 / bottleneck_ms * parallelism
}

/// Returns the bytes that a request allocates, from the size of Eden and the time between young collections.
pub fn bytes_per_request(eden_bytes: f64, per_second: f64, seconds_between: f64) -> f64 {
    eden_bytes / (per_second * seconds_between)
}

/// Answers of the formulas for one service.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Formulas {
    pub necessary: Necessary,
    /// Resource that is full first; absent if none has a limit.
    pub bottleneck: Option<Item>,
    pub per_second_max: f64,
    /// Threads that keep the bottleneck busy; infinite without one.
    pub threads: f64,
}

impl Formulas {
    /// Returns the answers for demands that `parse` has checked.
    pub fn of(demands: &crate::demands::Demands) -> Formulas {
        let necessary = Necessary::of(demands);
        let limited = necessary.items.iter().filter(|item| item.can_bound());
        let bottleneck = limited.max_by(|a, b| a.ms_of_one().total_cmp(&b.ms_of_one())).cloned();
        let (rate, threads) = match &bottleneck {
            Some(item) => {
                let units = item.units.unwrap_or(1.0);
                (per_second(item.ms, units), threads(necessary.ms, item.ms, units))
            }
            None => (f64::INFINITY, f64::INFINITY),
        };
        Formulas { necessary, bottleneck, per_second_max: rate, threads }
    }

    /// Returns the most requests a second with this many in process.
    pub fn bound(&self, in_process: f64) -> f64 {
        (in_process / self.necessary.ms * 1000.0).min(self.per_second_max)
    }

    /// Returns the share of a resource that a rate of requests uses; 0 without a limit.
    pub fn utilisation(&self, item: &Item, per_second: f64) -> f64 {
        per_second * item.ms_of_one() / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_threads_and_rates() {
        // Processor 20 ms, remote 80 ms, 2 processors.
        assert_eq!(threads(100.0, 20.0, 2.0), 10.0);
        // With a lock of 50 ms in it: by processor, and by lock.
        assert_eq!((threads(150.0, 20.0, 2.0), threads(150.0, 50.0, 1.0)), (15.0, 3.0));
        // Steps of 10 + 50 + 25 + 100 + 15 ms, 25 of them on 4 processors; then the calls at once.
        assert_eq!((threads(200.0, 25.0, 4.0), per_second(25.0, 4.0)), (32.0, 160.0));
        assert_eq!(threads(125.0, 25.0, 4.0), 20.0);
        assert!((bytes_per_request(42e6, 686.0, 42.0 / 686.0 / 3.1) - 3.1e6).abs() < 1.0);
    }
}
