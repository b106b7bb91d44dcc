//! Guard of the server: halves the rate when errors exceed a share, and stops the run if that does not help.

use serde::Serialize;

use crate::tally::batch::Batch;

/// Finished requests that a share of errors needs.
const FINISHED_MIN: u64 = 10;

/// Reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The time was over, or the log.
    Complete,
    /// The caller stopped it.
    Cancelled,
    /// Errors exceeded the share, also after the rate was halved.
    Errors,
    /// No answer arrived for the timeout.
    Silence,
}

/// Decision after a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Continue,
    Halve,
    Stop(End),
}

/// Watch over the seconds of a run.
pub struct Guard {
    stop_errors: f64,
    timeout_seconds: f64,
    finished: u64,
    errors: u64,
    silent_seconds: f64,
    has_halved: bool,
    /// True for the second in which the rate was halved: its errors come from the rate before.
    is_settling: bool,
}

impl Guard {
    /// Returns a guard.
    ///
    /// @param stop_errors share of errors that is too much
    pub fn new(stop_errors: f64, timeout_seconds: f64) -> Guard {
        Guard {
            stop_errors,
            timeout_seconds,
            finished: 0,
            errors: 0,
            silent_seconds: 0.0,
            has_halved: false,
            is_settling: false,
        }
    }

    /// Judges the next second.
    ///
    /// @param in_flight requests without an answer at its end
    pub fn judge(&mut self, second: &Batch, in_flight: u64) -> Verdict {
        let is_silent = second.done == 0 && (in_flight > 0 || second.errors > 0 || second.offered > 0);
        self.silent_seconds = if is_silent { self.silent_seconds + 1.0 } else { 0.0 };
        if std::mem::take(&mut self.is_settling) {
            return Verdict::Continue;
        }
        // Slow loads have few requests a second; then several seconds count together.
        self.finished += second.done + second.errors;
        self.errors += second.errors;
        if self.finished >= FINISHED_MIN {
            let share = self.errors as f64 / self.finished as f64;
            (self.finished, self.errors) = (0, 0);
            if share > self.stop_errors {
                if self.has_halved {
                    return Verdict::Stop(End::Errors);
                }
                self.has_halved = true;
                self.is_settling = true;
                return Verdict::Halve;
            }
        }
        match is_silent && self.silent_seconds >= self.timeout_seconds.max(1.0) {
            true => Verdict::Stop(End::Silence),
            false => Verdict::Continue,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(seconds: &[(u64, u64)]) -> Vec<Verdict> {
        let mut guard = Guard::new(0.1, 3.0);
        let batch = |&(done, errors): &(u64, u64)| Batch { offered: 1, done, errors, ..Batch::default() };
        seconds.iter().map(|second| guard.judge(&batch(second), 1)).collect()
    }

    #[test]
    fn halves_once_and_then_stops() {
        use Verdict::{Continue, Halve, Stop};
        assert_eq!(judge(&[(90, 10), (80, 20), (0, 100), (95, 5)]), [Continue, Halve, Continue, Continue]);
        assert_eq!(judge(&[(80, 20), (80, 20), (80, 20)]), [Halve, Continue, Stop(End::Errors)]);
        // One error of three says nothing yet.
        assert_eq!(judge(&[(2, 1), (2, 1), (3, 1)]), [Continue, Continue, Halve]);
    }

    #[test]
    fn stops_without_answers() {
        use Verdict::{Continue, Stop};
        assert_eq!(judge(&[(1, 0), (0, 0), (0, 0), (0, 0)]), [Continue, Continue, Continue, Stop(End::Silence)]);
        assert_eq!(judge(&[(0, 0), (0, 0), (1, 0), (0, 0)])[2..], [Continue, Continue]);
    }
}
