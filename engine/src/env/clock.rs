//! Time as the engine sees it: nanoseconds since the clock was made, and the calendar time for reports.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

pub trait Clock: Send + Sync {
    /// Monotonic nanoseconds since an arbitrary start.
    fn now_ns(&self) -> u64;
    /// Milliseconds since 1970-01-01 UTC.
    fn unix_ms(&self) -> u64;
}

pub struct RealClock {
    start: Instant,
}

impl RealClock {
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
}
