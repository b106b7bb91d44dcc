//! Question: two periods to compare, and what counts as a change.

use crate::slice::Measure;

/// Divisor of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Requests.
    Request,
    /// Seconds of the process, where nothing counts requests.
    Second,
}

/// Period of time: slices that begin in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Unix time of the beginning in milliseconds.
    pub from_ms: u64,
    /// Unix time of the end in milliseconds, which is outside.
    pub to_ms: u64,
}

impl Period {
    /// Returns true for a time within.
    pub fn has(&self, time_ms: u64) -> bool {
        (self.from_ms..self.to_ms).contains(&time_ms)
    }

    /// Returns the length in milliseconds.
    pub fn length_ms(&self) -> u64 {
        self.to_ms.saturating_sub(self.from_ms)
    }
}

/// Comparison of two periods. [`Question::new`] sets limits that fit a day against the days before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Cost to compare.
    pub measure: Measure,
    /// Earlier period, one to many times as long as the later one.
    pub before: Period,
    /// Later period.
    pub after: Period,
    /// Share of false findings among all findings at most. With 0.01, a false alarm is due in about 100 comparisons.
    pub q_max: f64,
    /// Smallest change that is reported, as a part of the function's own cost.
    pub relative_min: f64,
    /// Smallest change that is reported, as a part of all cost.
    pub share_min: f64,
    /// Change that counts as none, as a part of the function's own cost: a finding is surely larger than this.
    pub relative_null: f64,
}

impl Question {
    /// Returns a comparison with the usual limits: 2 % of the function, 0.1 % of all cost, surely more than 0.5 %.
    pub fn new(measure: Measure, before: Period, after: Period) -> Question {
        Question { measure, before, after, q_max: 0.01, relative_min: 0.02, share_min: 0.001, relative_null: 0.005 }
    }

    /// Returns the length of blocks in milliseconds: about 24 for the later period, an hour at most. Blocks divide a
    /// day, so that days have the same ones.
    pub(super) fn block_ms(&self) -> u64 {
        const MINUTES: [u64; 7] = [1, 2, 5, 10, 15, 30, 60];
        let wanted = self.after.length_ms() / 32;
        MINUTES.iter().map(|minutes| minutes * 60_000).find(|block_ms| *block_ms >= wanted).unwrap_or(3_600_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_fit_the_later_period() {
        let period = |minutes: u64| Period { from_ms: 0, to_ms: minutes * 60_000 };
        for (minutes, block_minutes) in [(1, 1), (20, 1), (60, 2), (180, 10), (1440, 60), (10_080, 60)] {
            let question = Question::new(Measure::Cpu, period(1), period(minutes));
            assert_eq!(question.block_ms(), block_minutes * 60_000, "{minutes}");
        }
    }
}
