//! Clock of all records from the kernel.

use rustix::time::{ClockId, clock_gettime};

/// Returns the time of CLOCK_MONOTONIC in nanoseconds, which is also the JVM's `System.nanoTime`.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.max(0) as u64 * 1_000_000_000 + now.tv_nsec as u64
}
