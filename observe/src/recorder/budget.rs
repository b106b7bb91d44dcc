//! Budget of processor time: rates fall if the recorder costs more than it may, and rise again if it costs little.

use std::time::Duration;

/// Largest divisor of the rates.
const DIVISOR_MAX: u32 = 16;
/// Share of the budget below which the rates rise.
const LITTLE: f64 = 0.4;

/// Budget of a recorder.
#[derive(Clone, Debug)]
pub struct Budget {
    share_max: f64,
    divisor: u32,
}

impl Budget {
    /// Returns a budget.
    ///
    /// @param share_max share of one processor
    pub fn new(share_max: f64) -> Budget {
        Budget { share_max, divisor: 1 }
    }

    /// Returns the number by which full rates are divided: 1, 2, 4 .. 16.
    pub fn divisor(&self) -> u32 {
        self.divisor
    }

    /// Accounts for a slice, and adapts the rates. Returns the share of one processor that it cost.
    pub fn account(&mut self, spent: Duration, time: Duration) -> f64 {
        let share = spent.as_secs_f64() / time.as_secs_f64().max(0.001);
        if share > self.share_max {
            self.divisor = (self.divisor * 2).min(DIVISOR_MAX);
        } else if share < self.share_max * LITTLE {
            self.divisor = (self.divisor / 2).max(1);
        }
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_follow_the_cost() {
        let mut budget = Budget::new(0.01);
        let mut slice = |cost_ms: u64| {
            budget.account(Duration::from_millis(cost_ms), Duration::from_secs(60));
            budget.divisor()
        };
        // 600 ms of 60 s are one percent.
        assert_eq!([slice(500), slice(900), slice(700), slice(550), slice(500)], [1, 2, 4, 4, 4]);
        assert_eq!([slice(100), slice(100), slice(100)], [2, 1, 1]);
        assert_eq!((0..9).map(|_| slice(5000)).last(), Some(16));
    }
}
