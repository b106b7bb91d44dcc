//! Texts as values, in the spellings that Arrow takes.
//!
//! ```text
//!   boolean     true, t, yes, y, on, 1 and their beginnings, in any case; and the opposites
//!   integer     a sign and digits            float      also with an exponent, inf, nan
//!   decimal     digits and a point, half away from zero at the scale of the type
//!   date        2026-11-25, 2026-1-5, 20261125, +12026-11-25; the day of a timestamp
//!   time        17:03, 17:03:59, 17:03:59.5, 5:03 pm
//!   timestamp   a date, T or a space, 17:03:59.5 or 170359, and a zone: Z, +01:00, -0800, +02
//! ```

use arrow_schema::DataType;
use yunti_engine::columns::kind::{Kind, Unit};
use yunti_engine::columns::text::{civil_of, days_of};
use yunti_engine::columns::vector::Value;

use super::super::arithmetic::{Typed, half, limits_of, power};

const DAY_SECONDS: i64 = 86_400;

/// Nanoseconds of a second.
const NANOS: i64 = 1_000_000_000;

/// Returns the value of a text; None if it is none of the type.
pub fn value(text: &[u8], to: Typed<'_>) -> Option<Value> {
    let text = std::str::from_utf8(text).ok()?;
    let (min, max) = limits_of(to.data_type);
    let in_limits = |value: i64| (min <= value.into() && i128::from(value) <= max).then_some(Value::Int(value));
    match to.kind {
        Kind::Text => Some(Value::Bytes(text.as_bytes().to_vec())),
        Kind::Boolean => boolean(text).map(Value::Bool),
        Kind::Int => text.parse().ok().and_then(in_limits),
        Kind::Float => float(text).map(Value::Float),
        Kind::Float32 if *to.data_type == DataType::Float16 => float(text).map(|value| Value::Float(half(value))),
        Kind::Float32 => {
            float(text)?;
            Some(Value::Float(text.parse::<f32>().ok()?.into()))
        }
        Kind::Decimal { .. } if *to.data_type == DataType::UInt64 => {
            text.parse::<u64>().ok().map(|value| Value::Decimal(value.into()))
        }
        Kind::Decimal { scale } => decimal(text, scale).filter(|units| (min..=max).contains(units)).map(Value::Decimal),
        Kind::Date => date(text).and_then(in_limits),
        Kind::Time(unit) => time(text).map(|nanos| Value::Int(nanos / (NANOS / unit.per_second()))),
        Kind::Timestamp { unit, .. } => timestamp(text, unit).map(Value::Int),
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().trim() {
        "t" | "tr" | "tru" | "true" | "y" | "ye" | "yes" | "on" | "1" => Some(true),
        "f" | "fa" | "fal" | "fals" | "false" | "n" | "no" | "of" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn float(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// Returns the units of a decimal, rounded to its scale.
fn decimal(text: &str, scale: u8) -> Option<i128> {
    let text = text.trim();
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let scale = usize::from(scale);
    let (kept, beyond) = fraction.split_at(fraction.len().min(scale));
    let mut units = 0i128;
    for digit in whole.bytes().chain(kept.bytes()) {
        units = units.checked_mul(10)?.checked_add((digit - b'0').into())?;
    }
    units = units.checked_mul(power((scale - kept.len()) as u32)?)?;
    if beyond.bytes().next().is_some_and(|digit| digit >= b'5') {
        units = units.checked_add(1)?;
    }
    Some(if is_negative { -units } else { units })
}

/// Returns the days of a date from 1970.
fn date(text: &str) -> Option<i64> {
    if text.starts_with(['+', '-']) {
        let is_negative = text.starts_with('-');
        let mut parts = text[1..].splitn(3, '-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        if !(4..=10).contains(&year.len()) {
            return None;
        }
        let year = number(year)?;
        return of_civil(if is_negative { -year } else { year }, number(month)?, number(day)?);
    }
    if text.len() > 10 {
        return timestamp(text, Unit::Second).map(|seconds| seconds.div_euclid(DAY_SECONDS));
    }
    let mut parts = text.splitn(3, '-');
    let year = parts.next()?;
    let (month, day) = match (parts.next(), parts.next()) {
        (None, None) if text.len() == 8 && text.is_ascii() => {
            return of_civil(number(&text[..4])?, number(&text[4..6])?, number(&text[6..])?);
        }
        (Some(month), Some(day)) => (month, day),
        _ => return None,
    };
    let fits = year.len() == 4 && (1..=2).contains(&month.len()) && (1..=2).contains(&day.len());
    if fits { of_civil(number(year)?, number(month)?, number(day)?) } else { None }
}

fn of_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = days_of(year, month, day);
    (civil_of(days) == (year, month, day)).then_some(days)
}

/// Returns the number of some digits.
fn number(digits: &str) -> Option<i64> {
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok())?
}

/// Returns nanoseconds of a fraction of a second; digits beyond are cut off.
fn fraction(digits: &str) -> Option<i64> {
    number(digits)?;
    let kept = &digits[..digits.len().min(9)];
    Some(number(kept)? * 10i64.pow(9 - kept.len() as u32))
}

/// Returns the nanoseconds of a time from midnight.
fn time(text: &str) -> Option<i64> {
    if !text.is_ascii() {
        return None;
    }
    let (clock, is_afternoon) = match text.len().checked_sub(3).map(|at| text.split_at(at)) {
        Some((clock, end)) if end.eq_ignore_ascii_case(" am") => (clock, Some(false)),
        Some((clock, end)) if end.eq_ignore_ascii_case(" pm") => (clock, Some(true)),
        _ => (text, None),
    };
    let (clock, part) = match clock.split_once('.') {
        Some((clock, digits)) if clock.matches(':').count() == 2 => (clock, fraction(digits)?),
        Some(_) => return None,
        None => (clock, 0),
    };
    let mut parts = clock.splitn(3, ':');
    let hour = parts.next().filter(|part| (1..=2).contains(&part.len())).and_then(number)?;
    let minute = parts.next().filter(|part| part.len() == 2).and_then(number)?;
    let second = match parts.next() {
        None => 0,
        Some(part) => Some(part).filter(|part| part.len() == 2).and_then(number)?,
    };
    let hour = match (hour, is_afternoon) {
        (hour, None) => hour,
        (12, Some(false)) => 0,
        (12, Some(true)) => 12,
        (hour @ 1..=11, Some(is_afternoon)) => hour + if is_afternoon { 12 } else { 0 },
        _ => return None,
    };
    clock_of(hour, minute, second).map(|seconds| seconds * NANOS + part)
}

/// Returns the seconds of a time of day. A leap second counts as the first of the next minute.
fn clock_of(hour: i64, minute: i64, second: i64) -> Option<i64> {
    (hour < 24 && minute < 60 && second <= 60).then_some(hour * 3600 + minute * 60 + second)
}

/// Returns the units of a timestamp from 1970 in UTC; without a zone it counts as UTC.
fn timestamp(text: &str, unit: Unit) -> Option<i64> {
    if !text.is_ascii() || text.len() < 10 {
        return None;
    }
    let (day, rest) = text.split_at(10);
    let bytes = day.as_bytes();
    if bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let days = of_civil(number(&day[..4])?, number(&day[5..7])?, number(&day[8..])?)?;
    let (mut seconds, mut nanos) = (days * DAY_SECONDS, 0);
    if !rest.is_empty() {
        let clock = rest.strip_prefix(['T', 't', ' '])?;
        let (of_day, part, zone) = clock_and_zone(clock)?;
        seconds += of_day - offset(zone)?;
        nanos = part;
    }
    seconds.checked_mul(unit.per_second())?.checked_add(nanos / (NANOS / unit.per_second()))
}

/// Returns the seconds and nanoseconds of a clock, and what stands behind them.
fn clock_and_zone(clock: &str) -> Option<(i64, i64, &str)> {
    let two = |at: usize| clock.get(at..at + 2).and_then(number);
    let is_colon = |at: usize| clock.as_bytes().get(at) == Some(&b':');
    if is_colon(2) && is_colon(5) {
        let seconds = clock_of(two(0)?, two(3)?, two(6)?)?;
        let rest = clock.get(8..)?;
        let Some(digits) = rest.strip_prefix('.') else { return Some((seconds, 0, rest)) };
        let len = digits.bytes().take_while(u8::is_ascii_digit).count();
        return Some((seconds, fraction(&digits[..len])?, &digits[len..]));
    }
    Some((clock_of(two(0)?, two(2)?, two(4)?)?, 0, clock.get(6..)?))
}

/// Returns the seconds of a zone before UTC.
fn offset(zone: &str) -> Option<i64> {
    if zone.is_empty() || zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let zone = zone.trim_start();
    if zone.eq_ignore_ascii_case("utc") || zone.eq_ignore_ascii_case("gmt") {
        return Some(0);
    }
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.len() {
        2 => (number(digits)?, 0),
        4 => (number(&digits[..2])?, number(&digits[2..])?),
        5 if digits.as_bytes()[2] == b':' => (number(&digits[..2])?, number(&digits[3..])?),
        _ => return None,
    };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::TimeUnit;
    use yunti_sql_plan::kind_of;

    fn check(data_type: DataType, cases: &[(&str, Option<Value>)]) {
        let typed = Typed { data_type: &data_type, kind: kind_of(&data_type).unwrap() };
        for (text, expect) in cases {
            assert_eq!(value(text.as_bytes(), typed), *expect, "{data_type}: {text:?}");
        }
    }

    #[test]
    fn numbers() {
        let int = |n| Some(Value::Int(n));
        check(
            DataType::Int8,
            &[
                ("127", int(127)),
                ("128", None),
                ("-128", int(-128)),
                ("+7", int(7)),
                (" 7", None),
                ("", None),
                ("1.0", None),
            ],
        );
        check(DataType::UInt64, &[("18446744073709551615", Some(Value::Decimal(u64::MAX.into()))), ("-1", None)]);
        let float = |v| Some(Value::Float(v));
        check(
            DataType::Float64,
            &[("1e5", float(1e5)), ("-.5", float(-0.5)), ("inf", float(f64::INFINITY)), ("1,5", None)],
        );
        let units = |v| Some(Value::Decimal(v));
        check(
            DataType::Decimal128(5, 2),
            &[
                ("1", units(100)),
                (" -1.005 ", units(-101)),
                ("1.0049", units(100)),
                (".5", units(50)),
                ("999.99", units(99_999)),
                ("999.995", None),
                ("1000", None),
                (".", None),
                ("1e2", None),
                ("1.2.3", None),
                ("--1", None),
                ("", None),
            ],
        );
        check(DataType::Decimal128(38, 0), &[(&"9".repeat(38), units(10i128.pow(38) - 1)), (&"9".repeat(39), None)]);
        check(
            DataType::Boolean,
            &[("TRUE", Some(Value::Bool(true))), (" of", Some(Value::Bool(false))), ("2", None), ("", None)],
        );
    }

    #[test]
    fn dates_and_times() {
        let int = |n| Some(Value::Int(n));
        check(
            DataType::Date32,
            &[
                ("1970-01-02", int(1)),
                ("1970-1-2", int(1)),
                ("19700102", int(1)),
                ("+1970-01-02", int(1)),
                ("-0001-01-01", int(-719_893)),
                ("+5881580-07-11", int(i32::MAX.into())),
                ("+5881580-07-12", None),
                ("1970-01-02 23:59:59", int(1)),
                ("1970-02-30", None),
                ("1970-13-01", None),
                ("70-01-01", None),
                ("2020-09-08-03", None),
                ("2020--04-03", None),
                ("2020-09-08 01", None),
                ("2020-09-08 1:2:3", None),
                ("", None),
                ("ééééé", None),
            ],
        );
        check(
            DataType::Time64(TimeUnit::Microsecond),
            &[
                ("00:01", int(60_000_000)),
                ("2:10:01.1234567", int(7_801_123_456)),
                ("12:00:00 AM", int(0)),
                ("1:00 pm", int(46_800_000_000)),
                ("13:00 pm", None),
                ("24:00", None),
                ("1:2", None),
                ("12:00.5", None),
            ],
        );
        check(
            DataType::Timestamp(TimeUnit::Millisecond, None),
            &[
                ("1970-01-01", int(0)),
                ("1970-01-01T00:00:01.5", int(1500)),
                ("1970-01-01 000001", int(1000)),
                ("1970-01-01t00:00:01Z", int(1000)),
                ("1970-01-01 01:00:00+01:00", int(0)),
                ("1970-01-01 00:00:00 -08", int(28_800_000)),
                ("1970-01-01 00:00:00.123456789-0030", int(1_800_123)),
                ("1969-12-31T23:59:59.999", int(-1)),
                ("1970-01-01T", None),
                ("1970-01-01T00:00", None),
                ("1970-01-01X00:00:00", None),
                ("1970-01-01 00:00:00 nowhere", None),
                ("1970-01-01 00:00:00.", None),
            ],
        );
        check(DataType::Timestamp(TimeUnit::Nanosecond, None), &[("2262-04-12", None), ("1677-09-21", None)]);
    }
}
