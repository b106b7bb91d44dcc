//! Time as the engine sees it: monotonic nanoseconds, calendar time, processor time.
//! One of the listed files with `unsafe`: std has no function for processor time.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A clock; several threads may read it.
pub trait Clock: Send + Sync {
    /// Returns monotonic nanoseconds since an arbitrary start.
    fn now_ns(&self) -> u64;
    /// Returns milliseconds since 1970-01-01 UTC.
    fn unix_ms(&self) -> u64;
    /// Returns the processor time of all threads of this process, user and system, in nanoseconds; 0 if unknown.
    fn cpu_ns(&self) -> u64;
    /// Blocks the calling thread for `ms` milliseconds.
    fn sleep_ms(&self, ms: u64) {
        std::thread::sleep(Duration::from_millis(ms));
    }
}

/// The operating system's clocks.
pub struct RealClock {
    start: Instant,
}

impl RealClock {
    /// Returns a clock whose `now_ns` begins at 0.
    pub fn start() -> Self {
        RealClock { start: Instant::now() }
    }
}

impl Clock for RealClock {
    fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
    fn unix_ms(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
    }

    fn cpu_ns(&self) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call fills the struct that it is given.
        let result = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
        if result == 0 { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 } else { 0 }
    }
}
