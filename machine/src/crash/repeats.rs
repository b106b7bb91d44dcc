//! Repeated crashes: the first is reported at once; the following ones are counted, and reported as one when the
//! window ends.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::Report;

/// Causes counted at a time; crashes of further causes are reported each.
const CAUSES_MAX: usize = 4096;

/// Cause within its window.
struct Cause {
    first: Instant,
    again: u64,
    last: Report,
}

/// Causes by signature.
pub struct Repeats {
    window: Duration,
    causes: HashMap<u64, Cause>,
}

impl Repeats {
    /// Returns no causes, with windows of this length.
    pub fn new(window: Duration) -> Repeats {
        Repeats { window, causes: HashMap::new() }
    }

    /// Returns the report if it is to be sent now; a repeat is counted.
    pub fn take(&mut self, report: Report, now: Instant) -> Option<Report> {
        if let Some(cause) = self.causes.get_mut(&report.signature) {
            cause.again += 1;
            cause.last = report;
            return None;
        }
        if self.causes.len() < CAUSES_MAX {
            let cause = Cause { first: now, again: 0, last: report.clone() };
            self.causes.insert(report.signature, cause);
        }
        Some(report)
    }

    /// Returns the last repeat and the number of repeats for each window that has ended.
    pub fn due(&mut self, now: Instant) -> Vec<(Report, u64)> {
        let window = self.window;
        let mut due = Vec::new();
        self.causes.retain(|_, cause| {
            if now.saturating_duration_since(cause.first) < window {
                return true;
            }
            if cause.again == 0 {
                return false;
            }
            due.push((cause.last.clone(), cause.again));
            // The next window begins.
            (cause.first, cause.again) = (now, 0);
            true
        });
        due.sort_by_key(|(report, _)| report.time);
        due
    }

    /// Returns all repeats that are counted.
    pub fn end(&mut self) -> Vec<(Report, u64)> {
        let mut due: Vec<_> = self.causes.drain().map(|(_, c)| (c.last, c.again)).filter(|(_, n)| *n > 0).collect();
        due.sort_by_key(|(report, _)| report.time);
        due
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::super::Kind;
    use super::*;

    fn report(name: &str) -> Report {
        Report::new(Kind::Oops, "class".into(), name.into(), SystemTime::UNIX_EPOCH, vec![name.to_owned()], &[])
    }

    #[test]
    fn reports_each_cause_once_a_window() {
        let mut repeats = Repeats::new(Duration::from_secs(10));
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert!(repeats.take(report("a"), at(0)).is_some());
        assert!(repeats.take(report("b"), at(1)).is_some());
        assert!((2..5).all(|s| repeats.take(report("a"), at(s)).is_none()));
        assert_eq!(repeats.due(at(9)), []);
        assert_eq!(repeats.due(at(10)), [(report("a"), 3)]);
        // b came once and is removed; a continues.
        assert_eq!(repeats.due(at(11)), []);
        assert!(repeats.take(report("b"), at(12)).is_some());
        assert!(repeats.take(report("a"), at(13)).is_none());
        assert_eq!(repeats.end(), [(report("a"), 1)]);
        assert!(repeats.take(report("a"), at(14)).is_some());
    }

    #[test]
    fn reports_each_crash_above_the_limit_of_causes() {
        let mut repeats = Repeats::new(Duration::from_secs(10));
        let now = Instant::now();
        assert!((0..CAUSES_MAX + 10).all(|n| repeats.take(report(&n.to_string()), now).is_some()));
        assert!(repeats.take(report(&(CAUSES_MAX + 5).to_string()), now).is_some());
        assert!(repeats.take(report("5"), now).is_none());
    }
}
