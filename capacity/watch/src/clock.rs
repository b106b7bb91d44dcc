//! Local times.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

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
