//! Health of a directory: a directory is retired when too many of its operations fail within a short time.
//!
//! ```text
//!   windows of 5 s   |  7 errors |  9 errors |           |  12 errors |  8 errors |
//!   in a row              7          16          0            12          20: out of use
//! ```
//!
//! Errors in consecutive windows add up; a window without an error resets the sum. Errors within the time of one window
//! fall into at most two consecutive windows, so the sum alone is the whole rule. A few errors do not retire a
//! directory: network file systems return a single EIO and recover. The caller passes the time in nanoseconds of any
//! monotonic clock, so tests need no waiting and each program can bring its own clock.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Threshold of errors within a time that retires a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureRule {
    /// Number of errors that retires a directory, at least 1.
    pub errors_max: u32,
    /// Nanoseconds of a window, at least 1.
    pub window_ns: u64,
}

impl Default for FailureRule {
    fn default() -> Self {
        FailureRule { errors_max: 20, window_ns: 5_000_000_000 }
    }
}

/// State of one directory: usable, or retired for good. Threads share it.
#[derive(Default)]
pub struct DirectoryHealth {
    rule: FailureRule,
    streak: Mutex<Streak>,
    retired: AtomicBool,
}

/// Consecutive windows that have errors.
#[derive(Default)]
struct Streak {
    errors: u32,
    /// Number of the last window.
    window: u64,
}

impl DirectoryHealth {
    /// Returns a usable directory under this rule.
    pub fn new(rule: FailureRule) -> Self {
        DirectoryHealth { rule, ..DirectoryHealth::default() }
    }

    /// Counts an operation that failed at this time. Successful operations are not counted and cost nothing.
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

    /// Retires the directory for good, for example because it is missing or read-only.
    pub fn retire(&self) {
        self.retired.store(true, Ordering::Relaxed);
    }

    /// Returns true until the directory is retired.
    pub fn is_usable(&self) -> bool {
        !self.retired.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// Counts errors, each (second, number): the directory is usable before the last one, and as expected after it.
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
        // The rule holds for every offset of the windows.
        for tenth in 0..100 {
            let begin = f64::from(tenth) / 10.0;
            check(rule, &[(begin, 1), (begin + 2.5, 18), (begin + 5.0, 1)], false);
        }
    }

    #[test]
    fn consecutive_windows_add_up_and_a_quiet_one_resets() {
        let rule = FailureRule::default();
        check(rule, &[(1.0, 7), (6.0, 7), (11.0, 6)], false);
        check(rule, &(0..20).map(|i| (f64::from(i) * 5.0, 1)).collect::<Vec<_>>(), false);
        check(rule, &[(1.0, 19), (10.0, 19), (20.0, 19), (86_400.0, 19)], true);
        check(rule, &[(1.0, 7), (6.0, 9), (16.0, 12), (21.0, 7)], true);
        check(rule, &[(1.0, 7), (6.0, 9), (16.0, 12), (21.0, 8)], false);
    }

    #[test]
    fn the_rule_is_configurable_and_retirement_is_final() {
        check(FailureRule { errors_max: 1, window_ns: S }, &[(3.0, 1)], false);
        check(FailureRule { errors_max: 3, window_ns: S }, &[(0.0, 1), (1.9, 1), (4.0, 1)], true);
        check(FailureRule { errors_max: 3, window_ns: 10 * S }, &[(0.0, 1), (1.9, 1), (4.0, 1)], false);
        let health = DirectoryHealth::default();
        health.retire();
        health.note_error(1000 * S);
        assert!(!health.is_usable());
        // A clock that runs backwards does not reset the sum.
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
