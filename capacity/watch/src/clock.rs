//! Clock: the time now, local times, and waits that a cancellation ends.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use yunti_base::{Cancel, Result};

/// Time between two checks for a cancellation.
const POLL: Duration = Duration::from_millis(100);

/// Returns the Unix time in milliseconds.
pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

/// Waits. A cancellation is an error at once.
pub fn wait(time: Duration, cancel: &Cancel) -> Result<()> {
    let begin = Instant::now();
    while begin.elapsed() < time {
        cancel.check()?;
        std::thread::sleep(POLL);
    }
    Ok(())
}

/// Returns a Unix time in milliseconds in a time zone.
pub fn zoned(time_ms: u64, zone: &TimeZone) -> Option<Zoned> {
    Some(Timestamp::from_millisecond(i64::try_from(time_ms).ok()?).ok()?.to_zoned(zone.clone()))
}

/// Formats a Unix time in milliseconds in the local time zone: `2026-11-28 03:00`.
pub fn minute(time_ms: u64) -> String {
    format(time_ms, "%Y-%m-%d %H:%M")
}

/// Formats its day: `2026-11-28`.
pub fn day(time_ms: u64) -> String {
    format(time_ms, "%Y-%m-%d")
}

fn format(time_ms: u64, form: &str) -> String {
    zoned(time_ms, &TimeZone::system()).map_or_else(|| "?".into(), |at| at.strftime(form).to_string())
}
