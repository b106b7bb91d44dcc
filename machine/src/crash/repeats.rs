//! The same again: the first is told at once, those after it are counted, and told as one when the window is over.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::Report;

/// More causes at a time are told each.
const CAUSES_MAX: usize = 4096;

struct Cause {
    first: Instant,
    again: u64,
    last: Report,
}

pub struct Repeats {
    window: Duration,
    causes: HashMap<u64, Cause>,
}

impl Repeats {
    pub fn new(window: Duration) -> Repeats {
        Repeats { window, causes: HashMap::new() }
    }

    /// The report, if it is to be told now.
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

    /// What came again within windows that are over: the last of each, and how often it came.
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
            // It goes on: the next window.
            (cause.first, cause.again) = (now, 0);
            true
        });
        due.sort_by_key(|(report, _)| report.time);
        due
    }

    /// Whatever is counted.
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
    fn each_cause_once_a_window_and_nothing_is_forgotten() {
        let mut repeats = Repeats::new(Duration::from_secs(10));
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert!(repeats.take(report("a"), at(0)).is_some());
        assert!(repeats.take(report("b"), at(1)).is_some());
        assert!((2..5).all(|s| repeats.take(report("a"), at(s)).is_none()));
        assert_eq!(repeats.due(at(9)), []);
        assert_eq!(repeats.due(at(10)), [(report("a"), 3)]);
        // b came once and is forgotten; a goes on.
        assert_eq!(repeats.due(at(11)), []);
        assert!(repeats.take(report("b"), at(12)).is_some());
        assert!(repeats.take(report("a"), at(13)).is_none());
        assert_eq!(repeats.end(), [(report("a"), 1)]);
        assert!(repeats.take(report("a"), at(14)).is_some());
    }

    #[test]
    fn more_causes_than_can_be_kept_are_told_each() {
        let mut repeats = Repeats::new(Duration::from_secs(10));
        let now = Instant::now();
        assert!((0..CAUSES_MAX + 10).all(|n| repeats.take(report(&n.to_string()), now).is_some()));
        assert!(repeats.take(report(&(CAUSES_MAX + 5).to_string()), now).is_some());
        assert!(repeats.take(report("5"), now).is_none());
    }
}
