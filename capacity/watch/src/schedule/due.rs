//! Due: a local time of day, once a date, whatever the clock and daylight saving do.
//!
//! A date is done once a record names it, so a clock that goes back repeats nothing. A machine that slept through the
//! time measures once after it wakes up. In a night without 02:30 the time is 03:30; in one with two, the first.

use std::borrow::Borrow;

use jiff::Zoned;
use jiff::civil::Time;

use crate::clock::zoned;
use crate::record::Head;
use crate::store::Settings;

/// Parses `03:00`.
pub fn parse_daily(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    let number = |text: &str| {
        let is_fit = text.len() <= 2 && text.bytes().all(|b| b.is_ascii_digit());
        is_fit.then(|| text.parse::<i8>().ok()).flatten()
    };
    Time::new(number(hour)?, number(minute)?, 0, 0).ok()
}

/// Returns the date for which a watch is due now; `None` if it is not due, or done already. Before the time of day, it
/// takes none of `heads`; after it, the first ones up to the record of the date.
pub fn due_date(settings: &Settings, heads: impl IntoIterator<Item: Borrow<Head>>, now: &Zoned) -> Option<String> {
    let daily = parse_daily(settings.daily.as_deref()?)?;
    let today = now.date();
    let at = today.to_datetime(daily).to_zoned(now.time_zone().clone()).ok()?;
    let created = zoned(settings.created_ms, now.time_zone())?;
    let date = today.to_string();
    let mut heads = heads.into_iter();
    let mut is_done = || heads.any(|head| head.borrow().due.as_deref() == Some(&date));
    (*now >= at && created < at && !is_done()).then_some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, zone: &str) -> Zoned {
        format!("{text}[{zone}]").parse().unwrap()
    }

    fn settings(daily: &str, created: &Zoned) -> Settings {
        let created_ms = created.timestamp().as_millisecond() as u64;
        Settings { daily: Some(daily.into()), created_ms, ..Settings::default() }
    }

    #[test]
    fn times_of_day_are_parsed() {
        for (text, wanted) in [("03:00", Some((3, 0))), ("3:5", Some((3, 5))), ("23:59", Some((23, 59)))] {
            assert_eq!(parse_daily(text).map(|time| (time.hour(), time.minute())), wanted);
        }
        for wrong in ["", "3", "24:00", "03:60", "-1:00", "+3:00", "03:00:00", "a:b", "003:00"] {
            assert!(parse_daily(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_date_is_due_once() {
        let zone = "Europe/Berlin";
        let settings = settings("03:00", &at("2026-11-27T12:00", zone));
        let done = |date: &str| Head { due: Some(date.into()), ..Head::default() };
        let due = |now: &str, heads: &[Head]| due_date(&settings, heads, &at(now, zone));
        assert_eq!(due("2026-11-27T13:00", &[]), None, "created after the time of that day");
        assert_eq!(due("2026-11-28T02:59", &[]), None);
        assert_eq!(due("2026-11-28T03:00", &[]).as_deref(), Some("2026-11-28"));
        assert_eq!(due("2026-11-28T18:00", &[]).as_deref(), Some("2026-11-28"), "after a long sleep");
        assert_eq!(due("2026-11-28T18:00", &[done("2026-11-28")]), None);
        assert_eq!(due("2026-11-29T03:01", &[done("2026-11-28")]).as_deref(), Some("2026-11-29"));
        // The clock went forward to another year, and back.
        assert_eq!(due("2026-11-29T03:01", &[done("2031-01-01")]).as_deref(), Some("2026-11-29"));
    }

    #[test]
    fn nights_of_daylight_saving_have_one_measurement() {
        let zone = "Europe/Berlin";
        let settings = settings("02:30", &at("2026-01-01T00:00", zone));
        // 2026-03-29 has no 02:30; its time is 03:30.
        assert_eq!(due_date(&settings, &[], &at("2026-03-29T03:15", zone)), None);
        assert_eq!(due_date(&settings, &[], &at("2026-03-29T03:30", zone)).as_deref(), Some("2026-03-29"));
        // 2026-10-25 has two; the first counts.
        let first = "2026-10-25T02:30+02:00[Europe/Berlin]".parse().unwrap();
        let second = "2026-10-25T02:30+01:00[Europe/Berlin]".parse().unwrap();
        assert_eq!(due_date(&settings, &[], &first).as_deref(), Some("2026-10-25"));
        let done = [Head { due: Some("2026-10-25".into()), ..Head::default() }];
        assert_eq!(due_date(&settings, &done, &second), None);
    }
}
