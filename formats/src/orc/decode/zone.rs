//! Time zone of a stripe's writer: timestamps count from 2015 in it, and stand for what its clocks show.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, Offset, TimeZone};
use chrono_tz::Tz;
use yunti_api::Result;

use crate::orc::failure::unsupported;

/// Seconds from 1970 to 2015.
const EPOCH: i64 = 1_420_070_400;

/// Last year whose clocks are looked up: later ones follow its rules.
const RULES_YEAR: i32 = 2037;

/// Clocks of a zone.
pub enum Zone {
    /// Clocks that are always as far ahead of UTC: how far does not matter.
    Fixed,
    Named(Tz),
}

impl Zone {
    /// Returns the zone of a name; of no name, UTC.
    pub fn of(name: &str) -> Result<Zone> {
        if matches!(name, "" | "UTC" | "GMT" | "Etc/UTC" | "Etc/GMT" | "Z") {
            return Ok(Zone::Fixed);
        }
        // Java writes zones without a name as GMT+08:00.
        if name.strip_prefix("GMT").or(name.strip_prefix("UTC")).is_some_and(is_offset) {
            return Ok(Zone::Fixed);
        }
        let unknown = || unsupported(format!("its timestamps are in the time zone '{name}', which is not known"));
        name.parse().map(Zone::Named).map_err(|_| unknown())
    }

    /// Returns the seconds from 1970 that the clocks of the zone show, for stored seconds.
    pub fn shown(&self, stored: i64) -> Option<i64> {
        match self {
            Zone::Fixed => stored.checked_add(EPOCH),
            Zone::Named(zone) => {
                let instant = stored.checked_add(EPOCH)?.checked_sub(ahead(zone, EPOCH)?)?;
                instant.checked_add(ahead(zone, instant)?)
            }
        }
    }
}

/// Returns the seconds that a zone is ahead of UTC at an instant.
fn ahead(zone: &Tz, instant: i64) -> Option<i64> {
    let utc = DateTime::from_timestamp(instant, 0)?.naive_utc();
    let utc = if utc.year() > RULES_YEAR { alike(utc)? } else { utc };
    Some(i64::from(zone.offset_from_utc_datetime(&utc).fix().local_minus_utc()))
}

/// Returns the same time in a year whose days fall on the same days of the week. The tables of zones end, but their
/// rules go on.
fn alike(utc: NaiveDateTime) -> Option<NaiveDateTime> {
    let first = |year| NaiveDate::from_ymd_opt(year, 1, 1);
    let wanted = first(utc.year())?;
    let year = (RULES_YEAR - 27..=RULES_YEAR).find(|&year| {
        first(year).is_some_and(|day| day.weekday() == wanted.weekday() && day.leap_year() == wanted.leap_year())
    })?;
    utc.with_year(year)
}

/// Returns true for `+08:00`.
fn is_offset(text: &str) -> bool {
    let Some(text) = text.strip_prefix(['+', '-']) else { return false };
    let (hours, minutes) = text.split_once(':').unwrap_or((text, "00"));
    let below = |text: &str, most: u8| text.parse::<u8>().is_ok_and(|n| n < most);
    below(hours, 24) && below(minutes, 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_of_zones() {
        let check = |name: &str, stored: i64, expect: i64| {
            assert_eq!(Zone::of(name).ok().and_then(|zone| zone.shown(stored)), Some(expect), "{name}");
        };
        check("UTC", 0, EPOCH);
        check("GMT+08:00", 5, EPOCH + 5);
        check("Asia/Shanghai", 5, EPOCH + 5);
        // 15 July 2015: the clocks were one hour ahead of January's.
        check("America/Los_Angeles", 195 * 86400, EPOCH + 195 * 86400 + 3600);
        // The same in the years 2100 and 9000.
        for days in [31_171, 2_551_443] {
            check("America/Los_Angeles", days * 86400, EPOCH + days * 86400 + 3600);
        }
        assert!(Zone::of("Nowhere/Town").is_err());
        assert!(Zone::of("UTC").is_ok_and(|zone| zone.shown(i64::MAX).is_none()));
    }
}
