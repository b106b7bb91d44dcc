//! Whether a directory may still be used: it is taken out of use when too many of its operations fail within a short time.
//!
//! ```text
//!   windows of 5 s   |  7 errors |  9 errors |           |  12 errors |  8 errors |
//!   in a row              7          16          0            12          20: out of use
//! ```
//!
//! Errors of windows in a row add up; a window without one forgets them. So many errors within the time of one window lie in two
//! windows in a row at most, so one sum is the whole rule. A few errors are no reason: network file systems give a single EIO and go
//! on. The time is the caller's, in nanoseconds of any clock that does not run back, so that a test needs no waiting and a program of
//! another kind can bring its own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many errors within what time are too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureRule {
    /// At least 1.
    pub errors_max: u32,
    /// At least 1.
    pub window_ns: u64,
}

impl Default for FailureRule {
    fn default() -> Self {
        FailureRule { errors_max: 20, window_ns: 5_000_000_000 }
    }
}

#[derive(Default)]
pub struct DirectoryHealth {
    rule: FailureRule,
    streak: Mutex<Streak>,
    retired: AtomicBool,
}

/// Windows in a row that have errors.
#[derive(Default)]
struct Streak {
    errors: u32,
    /// Number of the last of them.
    window: u64,
}

impl DirectoryHealth {
    pub fn new(rule: FailureRule) -> Self {
        DirectoryHealth { rule, ..DirectoryHealth::default() }
    }

    /// Notes that an operation failed at this time. Operations that go well are not noted: they cost nothing.
    pub fn note_error(&self, now_ns: u64) {
        let mut streak = self.streak.lock().unwrap_or_else(|e| e.into_inner());
        let window = (now_ns / self.rule.window_ns.max(1)).max(streak.window);
        if window > streak.window + 1 {
            streak.errors = 0;
        }
        streak.errors = streak.errors.saturating_add(1);
        streak.window = window;
        if streak.errors >= self.rule.errors_max {
            self.retire();
        }
    }

    /// Takes the directory out of use, for good: it is not there, or may not be written to.
    pub fn retire(&self) {
        self.retired.store(true, Ordering::Relaxed);
    }

    pub fn is_usable(&self) -> bool {
        !self.retired.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// Errors at these times, each (second, how many): usable until the last one is noted, and then as expected.
    fn check(rule: FailureRule, errors: &[(f64, u32)], usable: bool) {
        let health = DirectoryHealth::new(rule);
        for &(seconds, n) in errors {
            for _ in 0..n {
                assert!(health.is_usable(), "too early: {errors:?}");
                health.note_error((seconds * S as f64) as u64);
            }
        }
        assert_eq!(health.is_usable(), usable, "{errors:?}");
    }

    #[test]
    fn twenty_errors_within_five_seconds() {
        let rule = FailureRule::default();
        assert_eq!((rule.errors_max, rule.window_ns), (20, 5 * S));
        check(rule, &[(0.0, 19)], true);
        check(rule, &[(0.0, 20)], false);
        check(rule, &[(1e6, 10), (1e6 + 4.9, 10)], false);
        // Wherever the windows begin.
        for tenth in 0..100 {
            let begin = f64::from(tenth) / 10.0;
            check(rule, &[(begin, 1), (begin + 2.5, 18), (begin + 5.0, 1)], false);
        }
    }

    #[test]
    fn windows_in_a_row_add_up_and_a_quiet_one_forgets() {
        let rule = FailureRule::default();
        check(rule, &[(1.0, 7), (6.0, 7), (11.0, 6)], false);
        check(rule, &(0..20).map(|i| (f64::from(i) * 5.0, 1)).collect::<Vec<_>>(), false);
        check(rule, &[(1.0, 19), (10.0, 19), (20.0, 19), (86_400.0, 19)], true);
        check(rule, &[(1.0, 7), (6.0, 9), (16.0, 12), (21.0, 7)], true);
        check(rule, &[(1.0, 7), (6.0, 9), (16.0, 12), (21.0, 8)], false);
    }

    #[test]
    fn the_rule_can_be_set_and_no_directory_comes_back() {
        check(FailureRule { errors_max: 1, window_ns: S }, &[(3.0, 1)], false);
        check(FailureRule { errors_max: 3, window_ns: S }, &[(0.0, 1), (1.9, 1), (4.0, 1)], true);
        check(FailureRule { errors_max: 3, window_ns: 10 * S }, &[(0.0, 1), (1.9, 1), (4.0, 1)], false);
        let health = DirectoryHealth::default();
        health.retire();
        health.note_error(1000 * S);
        assert!(!health.is_usable());
        // A clock that runs back is no second chance.
        let health = DirectoryHealth::default();
        (0..20u64).for_each(|i| health.note_error((100 - i) * S));
        assert!(!health.is_usable());
    }

    #[test]
    fn threads_count_together() {
        let health = DirectoryHealth::new(FailureRule { errors_max: 4000, window_ns: S });
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|i| health.note_error(i)));
            }
        });
        assert!(!health.is_usable());
    }
}
