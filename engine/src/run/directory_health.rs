//! Whether a scratch directory may still be written to: it is out of use once too many of its last writes failed.
//!
//! The window counts writes, not time, so that an idle directory does not look healthy and a test needs no clock. One
//! failure alone is no reason: network file systems give a single EIO and go on.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The last writes that count.
pub const WINDOW_WRITES: u32 = u64::BITS;
/// Failures in the window that take a directory out of use, for good.
pub const FAILURES_MAX: u32 = 3;

#[derive(Default)]
pub struct DirectoryHealth {
    /// One bit a write, the latest lowest; 1 is a failure.
    window: AtomicU64,
    retired: AtomicBool,
}

impl DirectoryHealth {
    /// Notes how a write (or the opening of the file) went.
    pub fn note(&self, failed: bool) {
        if !failed && self.window.load(Ordering::Relaxed) == 0 {
            return; // The usual case writes to no shared cache line.
        }
        let shift = |window: u64| Some(window << 1 | u64::from(failed));
        let before = self.window.fetch_update(Ordering::Relaxed, Ordering::Relaxed, shift).unwrap_or_else(|w| w);
        if failed && (before << 1).count_ones() + 1 >= FAILURES_MAX {
            self.retired.store(true, Ordering::Relaxed);
        }
    }

    pub fn is_usable(&self) -> bool {
        !self.retired.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_failures_in_the_window_and_no_fewer() {
        let health = DirectoryHealth::default();
        for _ in 0..10 {
            // Two failures, then as many good writes as it takes to forget them.
            (0..FAILURES_MAX - 1).for_each(|_| health.note(true));
            (0..WINDOW_WRITES).for_each(|_| health.note(false));
            assert!(health.is_usable());
        }
        for _ in 0..FAILURES_MAX {
            assert!(health.is_usable());
            health.note(true);
            (0..5).for_each(|_| health.note(false));
        }
        assert!(!health.is_usable());
        (0..1000).for_each(|_| health.note(false));
        assert!(!health.is_usable(), "it comes back into use");
    }
}
