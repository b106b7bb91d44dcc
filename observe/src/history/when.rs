//! Times in words, in the local time zone.
//!
//! ```text
//!   03:10  03:10:30            today; yesterday, if it is still to come
//!   today  yesterday           a whole day
//!   yesterday 03:10            a minute of that day
//!   2026-11-27  2026-11-27T03:10  2026-11-27 03:10Z
//!   -2h  -30m  -1d12h          so long ago
//!   03:00..03:20  -2h..now     from .. to; the end may leave out the day
//! ```

use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp, ToSpan, Zoned};

/// Length of a time that names a minute or no length at all, in milliseconds.
const MINUTE_MS: u64 = 60_000;
const SECOND_MS: u64 = 1000;

/// Kind of a time in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// The present.
    Now,
    /// A time of day on some day.
    Moment,
    /// A whole day.
    Day,
    /// From .. to.
    Range,
}

/// Time in words as a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Begin and end as Unix times in milliseconds.
    pub from_ms: u64,
    pub to_ms: u64,
    pub kind: SpanKind,
}

impl Span {
    /// Returns the same time of day on the day of another span.
    pub fn on_day_of(&self, day: &Span, zone: &TimeZone) -> Option<Span> {
        let date = |ms: u64| Some(zoned(ms, zone)?.date());
        let days = date(day.from_ms)? - date(self.from_ms)?;
        let shift = |ms: u64| {
            let at = zoned(ms, zone)?.datetime().checked_add(days).ok()?.to_zoned(zone.clone()).ok()?;
            u64::try_from(at.timestamp().as_millisecond()).ok()
        };
        Some(Span { from_ms: shift(self.from_ms)?, to_ms: shift(self.to_ms)?, kind: self.kind })
    }

    /// Formats the span in the local time zone: `2026-11-28 03:10`, `2026-11-28 03:00..03:20`.
    pub fn text(&self, zone: &TimeZone) -> String {
        let (Some(from), Some(to)) = (zoned(self.from_ms, zone), zoned(self.to_ms, zone)) else { return String::new() };
        match self.kind {
            SpanKind::Day => from.strftime("%Y-%m-%d").to_string(),
            SpanKind::Moment | SpanKind::Now => clock(self.from_ms, zone),
            SpanKind::Range if from.date() == to.date() => format!("{}..{}", clock(self.from_ms, zone), time(&to)),
            SpanKind::Range => format!("{}..{}", clock(self.from_ms, zone), clock(self.to_ms, zone)),
        }
    }
}

fn zoned(ms: u64, zone: &TimeZone) -> Option<Zoned> {
    Some(Timestamp::from_millisecond(i64::try_from(ms).ok()?).ok()?.to_zoned(zone.clone()))
}

fn time(at: &Zoned) -> String {
    at.strftime(if at.second() == 0 { "%H:%M" } else { "%H:%M:%S" }).to_string()
}

/// Formats a Unix time in milliseconds: `2026-11-28 03:10`.
pub fn clock(ms: u64, zone: &TimeZone) -> String {
    zoned(ms, zone).map_or_else(String::new, |at| format!("{} {}", at.strftime("%Y-%m-%d"), time(&at)))
}

/// Parses a time in words.
pub fn span(text: &str, now: &Zoned) -> Result<Span, String> {
    let text = text.trim();
    if let Some((from, to)) = text.split_once("..") {
        let from_span = one(from.trim(), None, now)?;
        let day = zoned(from_span.from_ms, now.time_zone()).map(|at| at.date());
        let to_ms = match to.trim() {
            "" => ms(now),
            to => {
                let to = one(to, day, now)?;
                // `2026-11-20..2026-11-25` has the 25th in it.
                if to.kind == SpanKind::Day { to.to_ms } else { to.from_ms }
            }
        };
        if to_ms <= from_span.from_ms {
            return Err(format!("'{text}' ends before it begins"));
        }
        return Ok(Span { from_ms: from_span.from_ms, to_ms, kind: SpanKind::Range });
    }
    one(text, None, now)
}

/// Parses a time in words as one moment, the begin of a day.
pub fn moment(text: &str, now: &Zoned) -> Result<u64, String> {
    Ok(one(text.trim(), None, now)?.from_ms)
}

/// Parses a time in words without `..`.
///
/// @param day of a time of day without one
fn one(text: &str, day: Option<Date>, now: &Zoned) -> Result<Span, String> {
    let wrong = || {
        format!(
            "'{text}' is no time: give 03:10, 'yesterday 03:10', 2026-11-27, '2026-11-27 03:10', -2h, or 03:00..03:20"
        )
    };
    let zone = now.time_zone();
    let today = now.date();
    let yesterday = || today.yesterday().map_err(|_| wrong());
    match text {
        "now" => return Ok(Span { kind: SpanKind::Now, ..at_moment(ms(now), MINUTE_MS) }),
        "today" => return whole_day(today, zone).ok_or_else(wrong),
        "yesterday" => return whole_day(yesterday()?, zone).ok_or_else(wrong),
        _ => {}
    }
    if let Some(ago) = text.strip_prefix('-') {
        let seconds = seconds(ago).ok_or_else(wrong)?;
        let at = now.timestamp().checked_sub(SignedDuration::from_secs(seconds as i64)).map_err(|_| wrong())?;
        return u64::try_from(at.as_millisecond()).map(|at| at_moment(at, MINUTE_MS)).map_err(|_| wrong());
    }
    if let Some((time, length)) = time_of_day(text) {
        let date = day.unwrap_or(today);
        let at = instant(date, time, zone).ok_or_else(wrong)?;
        let is_to_come = day.is_none() && at > ms(now);
        let at = if is_to_come { instant(yesterday()?, time, zone).ok_or_else(wrong)? } else { at };
        return Ok(at_moment(at, length));
    }
    let (date, rest) = match text.split_once(['T', ' ']) {
        // `today` and `yesterday` have no T.
        Some((date, rest)) => (date, Some(rest.trim())),
        None => (text, None),
    };
    let date = match date {
        "today" => today,
        "yesterday" => yesterday()?,
        date if date.len() == 10 => date.parse().map_err(|_| wrong())?,
        _ => return Err(wrong()),
    };
    match rest {
        None => whole_day(date, zone).ok_or_else(wrong),
        Some(rest) => {
            let (rest, zone) = match offset(rest) {
                Some((rest, offset)) => (rest, offset),
                None => (rest, zone.clone()),
            };
            let (time, length) = time_of_day(rest).ok_or_else(wrong)?;
            instant(date, time, &zone).map(|at| at_moment(at, length)).ok_or_else(wrong)
        }
    }
}

fn ms(at: &Zoned) -> u64 {
    u64::try_from(at.timestamp().as_millisecond()).unwrap_or(0)
}

fn at_moment(from_ms: u64, length: u64) -> Span {
    Span { from_ms, to_ms: from_ms + length, kind: SpanKind::Moment }
}

/// A time of day that the clock skips is the time after the gap.
fn instant(date: Date, time: Time, zone: &TimeZone) -> Option<u64> {
    Some(ms(&date.to_datetime(time).to_zoned(zone.clone()).ok()?))
}

fn whole_day(date: Date, zone: &TimeZone) -> Option<Span> {
    let begin = |date: Date| instant(date, Time::midnight(), zone);
    let next = date.checked_add(1.day()).ok()?;
    Some(Span { from_ms: begin(date)?, to_ms: begin(next)?, kind: SpanKind::Day })
}

/// Parses `3:10`, `03:10`, `03:10:30`: the time, and the length of its last part in milliseconds.
fn time_of_day(text: &str) -> Option<(Time, u64)> {
    let parts: Vec<&str> = text.split(':').collect();
    let number = |text: &str| {
        (matches!(text.len(), 1 | 2) && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse::<i8>().ok())?
    };
    let (hour, minute) = (number(parts.first()?)?, number(parts.get(1)?)?);
    let (second, length) = match parts.get(2) {
        Some(second) => (number(second)?, SECOND_MS),
        None => (0, MINUTE_MS),
    };
    if parts.len() > 3 {
        return None;
    }
    Time::new(hour, minute, second, 0).ok().map(|time| (time, length))
}

/// Splits `03:10+01:00` and `03:10Z`.
fn offset(text: &str) -> Option<(&str, TimeZone)> {
    if let Some(time) = text.strip_suffix('Z') {
        return Some((time, TimeZone::UTC));
    }
    let at = text.rfind(['+', '-'])?;
    let sign = if text[at..].starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = text[at + 1..].split_once(':').unwrap_or((&text[at + 1..], "0"));
    let seconds = hours.parse::<i32>().ok()? * 3600 + minutes.parse::<i32>().ok()? * 60;
    Some((text[..at].trim(), TimeZone::fixed(Offset::from_seconds(sign * seconds).ok()?)))
}

/// Parses a length of time, such as `7d`, `12h` or `90s`.
pub fn length(text: &str) -> Result<std::time::Duration, String> {
    let wrong = || format!("'{text}' is no length of time; give one such as 7d, 12h, 30m or 90s");
    seconds(text).map(std::time::Duration::from_secs).ok_or_else(wrong)
}

/// Parses `2h`, `30m`, `1d12h`.
fn seconds(text: &str) -> Option<u64> {
    let (mut sum, mut rest) = (0u64, text);
    while !rest.is_empty() {
        let at = rest.find(|c: char| !c.is_ascii_digit())?;
        let unit = match rest.as_bytes()[at] {
            b's' => 1,
            b'm' => 60,
            b'h' => 3600,
            b'd' => 86_400,
            b'w' => 7 * 86_400,
            _ => return None,
        };
        sum = sum.checked_add(rest[..at].parse::<u64>().ok()?.checked_mul(unit)?)?;
        rest = &rest[at + 1..];
    }
    (sum > 0 && sum < 100 * 366 * 86_400).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Zoned {
        "2026-11-28T04:30:00+01:00[Europe/Berlin]".parse().unwrap()
    }

    fn shown(text: &str) -> String {
        let now = now();
        let span = span(text, &now).unwrap_or_else(|e| panic!("{text}: {e}"));
        format!("{} {}", span.text(now.time_zone()), (span.to_ms - span.from_ms) / 1000)
    }

    #[test]
    fn parses_times_in_words() {
        for (text, expected) in [
            ("03:10", "2026-11-28 03:10 60"),
            ("3:10:30", "2026-11-28 03:10:30 1"),
            ("04:31", "2026-11-27 04:31 60"),
            ("yesterday", "2026-11-27 86400"),
            ("today", "2026-11-28 86400"),
            ("yesterday 03:10", "2026-11-27 03:10 60"),
            ("today 23:10", "2026-11-28 23:10 60"),
            ("2026-11-20", "2026-11-20 86400"),
            ("2026-11-20T03:10", "2026-11-20 03:10 60"),
            ("2026-11-20 03:10:05", "2026-11-20 03:10:05 1"),
            ("2026-11-20T03:10Z", "2026-11-20 04:10 60"),
            ("2026-11-20T03:10-02:00", "2026-11-20 06:10 60"),
            ("-2h", "2026-11-28 02:30 60"),
            ("-1d12h", "2026-11-26 16:30 60"),
            ("now", "2026-11-28 04:30 60"),
            ("03:00..03:20", "2026-11-28 03:00..03:20 1200"),
            ("yesterday 03:00..03:20", "2026-11-27 03:00..03:20 1200"),
            ("yesterday..today", "2026-11-27 00:00..2026-11-29 00:00 172800"),
            ("-2h..now", "2026-11-28 02:30..04:30 7200"),
            ("-2h..", "2026-11-28 02:30..04:30 7200"),
            // The day on which the clock goes back has 25 hours.
            ("2026-10-25", "2026-10-25 90000"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn rejects_what_is_no_time() {
        for wrong in [
            "",
            "x",
            "25:00",
            "03:60",
            "3",
            "03:10:10:10",
            "-",
            "-2x",
            "2026-11-31",
            "2026-1-1",
            "tomorrow",
            "Tx",
            "v812",
        ] {
            assert!(span(wrong, &now()).unwrap_err().contains("is no time"), "{wrong}");
        }
        assert!(span("03:20..03:00", &now()).unwrap_err().contains("ends before"));
    }

    #[test]
    fn the_same_time_on_another_day() {
        let now = now();
        let (at, day) = (span("03:00..03:20", &now).unwrap(), span("yesterday", &now).unwrap());
        let other = at.on_day_of(&day, now.time_zone()).unwrap();
        assert_eq!(other.text(now.time_zone()), "2026-11-27 03:00..03:20");
    }
}
