//! Values as text and back, the same texts as in a CSV file of a table.
//!
//! ```text
//!   integer, decimal     decimal digits            float    the shortest digits that read back: 1.0, 1e300
//!   boolean              true, false               null     nothing
//!   date                 2026-11-25                time     17:03:59.500
//!   timestamp            2026-11-25T17:03:59.500, with a Z at the end if it counts from UTC
//! ```

use std::io::Write;

use super::kind::{Kind, Unit};
use super::normal;
use super::vector::{Bytes, Cell, Data, Value, Vector};
use crate::format::columns::put_escaped;

const DAY_SECONDS: i64 = 86_400;

/// Builds a column from texts. An empty text is a null, unless the column is text.
pub struct Builder {
    kind: Kind,
    vector: Vector,
}

impl Builder {
    /// Returns a builder of an empty column.
    pub fn new(kind: Kind) -> Builder {
        let data = match kind {
            Kind::Text => Data::Bytes(Bytes::with_capacity(0, 0)),
            kind => Data::zeros(kind, 0),
        };
        Builder { kind, vector: Vector::of(data) }
    }

    /// Adds a value. Returns false, and adds nothing, if the text is no value of the type.
    pub fn push(&mut self, text: &[u8]) -> bool {
        if text.is_empty() && self.kind != Kind::Text {
            self.push_null();
            return true;
        }
        match &mut self.vector.data {
            Data::Bytes(values) => values.push(text),
            Data::Bools(values) => match text {
                b"true" => values.push(true),
                b"false" => values.push(false),
                _ => return false,
            },
            data => match (parse(self.kind, text), data) {
                (Some(Value::Float(value)), Data::Floats(values)) => values.push(value),
                (Some(Value::Int(value)), Data::Ints(values)) => values.push(value),
                (Some(Value::Decimal(value)), Data::Decimals(values)) => values.push(value),
                _ => return false,
            },
        }
        if let Some(nulls) = &mut self.vector.nulls {
            nulls.push(false);
        }
        true
    }

    /// Adds a value of the shape of the type; others count as zero or empty.
    pub fn push_value(&mut self, value: Value) {
        if value == Value::Null {
            return self.push_null();
        }
        self.put(value);
        if let Some(nulls) = &mut self.vector.nulls {
            nulls.push(false);
        }
    }

    /// Adds a null.
    pub fn push_null(&mut self) {
        let rows = self.vector.len();
        self.vector.nulls.get_or_insert_with(|| vec![false; rows]).push(true);
        self.put(Value::Null);
    }

    fn put(&mut self, value: Value) {
        match (&mut self.vector.data, value) {
            (Data::Bools(v), value) => v.push(value == Value::Bool(true)),
            (Data::Ints(v), value) => v.push(if let Value::Int(n) = value { n } else { 0 }),
            (Data::Floats(v), value) => v.push(if let Value::Float(n) = value { n } else { 0.0 }),
            (Data::Decimals(v), value) => v.push(if let Value::Decimal(n) = value { n } else { 0 }),
            (Data::Bytes(v), Value::Bytes(text)) => v.push(&text),
            (Data::Bytes(v), _) => v.push(b""),
            // A builder begins with zeros, which have none of these shapes.
            (Data::SmallDecimals(_) | Data::Codes(..) | Data::NumberCodes(..), _) => {}
        }
    }

    /// Removes the values behind the first `rows`.
    pub fn truncate(&mut self, rows: usize) {
        self.vector.truncate(rows);
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.vector.len()
    }

    /// Returns true if there is no value.
    pub fn is_empty(&self) -> bool {
        self.vector.is_empty()
    }

    /// Returns the column, and begins the next one.
    pub fn take(&mut self) -> Vector {
        std::mem::replace(self, Builder::new(self.kind)).vector
    }
}

/// Returns the value of a text; None if it is none of the type.
pub fn parse(kind: Kind, text: &[u8]) -> Option<Value> {
    let words = || std::str::from_utf8(text).ok().map(str::trim);
    Some(match kind {
        Kind::Text => Value::Bytes(text.to_vec()),
        Kind::Boolean => match text {
            b"true" => Value::Bool(true),
            b"false" => Value::Bool(false),
            _ => return None,
        },
        Kind::Int => Value::Int(words()?.parse().ok()?),
        Kind::Float => Value::Float(words()?.parse().ok()?),
        Kind::Float32 => Value::Float(words()?.parse::<f32>().ok()?.into()),
        Kind::Decimal { scale } => Value::Decimal(parse_decimal(words()?, scale)?),
        Kind::Date => Value::Int(parse_date(words()?)?),
        Kind::Time(unit) => Value::Int(parse_time(words()?, unit)?),
        Kind::Timestamp { unit, .. } => Value::Int(parse_timestamp(words()?, unit)?),
    })
}

/// Returns the units of a decimal. Digits beyond the scale must be zero, and those before it at most 38 in all.
fn parse_decimal(text: &str, scale: u8) -> Option<i128> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if (whole.is_empty() && fraction.is_empty()) || !(whole.bytes().chain(fraction.bytes())).all(|b| b.is_ascii_digit())
    {
        return None;
    }
    let (kept, beyond) = fraction.split_at(fraction.len().min(scale.into()));
    if beyond.bytes().any(|b| b != b'0') {
        return None;
    }
    let padding = std::iter::repeat_n(b'0', usize::from(scale) - kept.len());
    let mut units = 0i128;
    for digit in whole.bytes().chain(kept.bytes()).chain(padding) {
        units = units.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
    }
    (units < 10i128.pow(38)).then_some(if is_negative { -units } else { units })
}

/// Returns the days of a date from 1970. Years have four digits or more, and a sign if they are negative.
pub fn parse_date(text: &str) -> Option<i64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let mut parts = rest.splitn(3, '-');
    let mut number = |len: Option<usize>| {
        let part = parts.next()?;
        let right = len.map_or((4..=7).contains(&part.len()), |len| part.len() == len);
        (right && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<i64>().ok())?
    };
    let (year, month, day) = (sign * number(None)?, number(Some(2))?, number(Some(2))?);
    let date = days_of(year, month, day);
    ((1..=12).contains(&month) && day >= 1 && civil_of(date) == (year, month, day)).then_some(date)
}

fn parse_time(text: &str, unit: Unit) -> Option<i64> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = clock.splitn(3, ':');
    let mut number = |below: i64| {
        let part = parts.next()?;
        let right = part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
        right.then(|| part.parse::<i64>().ok())?.filter(|&n| n < below)
    };
    let (hour, minute) = (number(24)?, number(60)?);
    let second = if clock.len() > 5 { number(60)? } else { 0 };
    if !fraction.bytes().all(|b| b.is_ascii_digit()) || (text.contains('.') && fraction.is_empty()) {
        return None;
    }
    let (kept, beyond) = fraction.split_at(fraction.len().min(unit.digits()));
    if beyond.bytes().any(|b| b != b'0') {
        return None;
    }
    let scale = 10i64.pow((unit.digits() - kept.len()) as u32);
    let part = if kept.is_empty() { 0 } else { kept.parse::<i64>().ok()? * scale };
    Some((hour * 3600 + minute * 60 + second) * unit.per_second() + part)
}

fn parse_timestamp(text: &str, unit: Unit) -> Option<i64> {
    let text = text.strip_suffix('Z').or_else(|| text.strip_suffix("+00:00")).unwrap_or(text);
    let (date, clock) = match text.split_once(['T', ' ']) {
        Some((date, clock)) => (date, parse_time(clock, unit)?),
        None => (text, 0),
    };
    let seconds = parse_date(date)?.checked_mul(DAY_SECONDS)?;
    seconds.checked_mul(unit.per_second())?.checked_add(clock)
}

/// Returns the days from 1970 of a date of the proleptic Gregorian calendar.
pub fn days_of(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that a leap day is the last of its year.
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Returns year, month and day of a number of days from 1970.
pub fn civil_of(days: i64) -> (i64, i64, i64) {
    let days = days.saturating_add(719_468);
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// Appends the text of a value of a column; nothing for a null.
pub fn put(kind: Kind, value: &Value, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _ = match (value, kind) {
        (Value::Null, _) => Ok(()),
        (Value::Float(v), Kind::Float32) => put_float32(*v as f32, out),
        (Value::Bool(v), _) => write!(out, "{v}"),
        (Value::Float(v), _) => put_float(*v, out),
        (Value::Bytes(v), _) => out.write_all(v),
        (Value::Decimal(v), Kind::Decimal { scale }) => put_decimal(*v, scale, out),
        (Value::Decimal(v), _) => write!(out, "{v}"),
        (Value::Int(v), Kind::Date) => put_date(*v, out),
        (Value::Int(v), Kind::Time(unit)) => put_time(*v, unit, out),
        (Value::Int(v), Kind::Timestamp { unit, utc }) => put_timestamp(*v, unit, utc, out),
        (Value::Int(v), _) => write!(out, "{v}"),
    };
}

/// Appends values as the columns of a key or a value: escaped and divided by tabs if there are several.
///
/// A null is empty, or `\N` if nulls are marked; then a single column is escaped too.
pub fn put_columns<'a>(cells: impl ExactSizeIterator<Item = (Kind, Cell<'a>)>, marks_nulls: bool, out: &mut Vec<u8>) {
    let is_escaped = cells.len() > 1 || marks_nulls;
    put_cells(cells, is_escaped, marks_nulls, out);
}

/// Appends the columns of a key in normal form, as `put_columns` does. Returns None if it is no normal form.
pub fn put_key(kinds: &[Kind], mut key: &[u8], marks_nulls: bool, out: &mut Vec<u8>) -> Option<()> {
    let values: Vec<Value> = kinds.iter().map(|&kind| normal::take(kind, &mut key)).collect::<Option<_>>()?;
    put_columns(kinds.iter().zip(&values).map(|(&kind, value)| (kind, value.cell())), marks_nulls, out);
    Some(())
}

/// Appends values with tabs between them. A null is empty, or `\N` if nulls are marked.
pub fn put_cells<'a>(
    cells: impl Iterator<Item = (Kind, Cell<'a>)>,
    is_escaped: bool,
    marks_nulls: bool,
    out: &mut Vec<u8>,
) {
    for (number, (kind, cell)) in cells.enumerate() {
        if number > 0 {
            out.push(b'\t');
        }
        match cell {
            Cell::Null if marks_nulls => out.extend_from_slice(b"\\N"),
            Cell::Null => {}
            Cell::Bytes(bytes) if is_escaped => put_escaped(bytes, out),
            Cell::Bytes(bytes) => out.extend_from_slice(bytes),
            // The texts of other types have nothing to escape.
            Cell::Other(value) => put(kind, &value, out),
        }
    }
}

fn put_float(value: f64, out: &mut Vec<u8>) -> std::io::Result<()> {
    match value {
        v if v.is_nan() => out.write_all(b"NaN"),
        v => write!(out, "{v:?}"),
    }
}

fn put_float32(value: f32, out: &mut Vec<u8>) -> std::io::Result<()> {
    match value {
        v if v.is_nan() => out.write_all(b"NaN"),
        v => write!(out, "{v:?}"),
    }
}

fn put_decimal(units: i128, scale: u8, out: &mut Vec<u8>) -> std::io::Result<()> {
    if scale == 0 {
        return write!(out, "{units}");
    }
    let one = 10u128.pow(scale.into());
    let sign = if units < 0 { "-" } else { "" };
    let (whole, rest) = (units.unsigned_abs() / one, units.unsigned_abs() % one);
    write!(out, "{sign}{whole}.{rest:0width$}", width = usize::from(scale))
}

fn put_date(days: i64, out: &mut Vec<u8>) -> std::io::Result<()> {
    let (year, month, day) = civil_of(days);
    match year {
        0..=9999 => write!(out, "{year:04}-{month:02}-{day:02}"),
        _ => write!(out, "{year:+05}-{month:02}-{day:02}"),
    }
}

fn put_time(units: i64, unit: Unit, out: &mut Vec<u8>) -> std::io::Result<()> {
    let (seconds, part) = (units.div_euclid(unit.per_second()), units.rem_euclid(unit.per_second()));
    write!(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
    if part == 0 {
        return Ok(());
    }
    // As Arrow writes it: 3, 6 or 9 digits.
    let digits =
        [3, 6, 9].into_iter().find(|&digits| part % 10i64.pow((unit.digits().max(digits) - digits) as u32) == 0);
    let digits = digits.unwrap_or(9).min(unit.digits());
    write!(out, ".{:0digits$}", part / 10i64.pow((unit.digits() - digits) as u32))
}

fn put_timestamp(units: i64, unit: Unit, utc: bool, out: &mut Vec<u8>) -> std::io::Result<()> {
    let day = DAY_SECONDS * unit.per_second();
    put_date(units.div_euclid(day), out)?;
    out.push(b'T');
    put_time(units.rem_euclid(day), unit, out)?;
    if utc { out.write_all(b"Z") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: Kind, value: &Value) -> String {
        let mut out = Vec::new();
        put(kind, value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_come_back() {
        let stamp = |unit, utc| Kind::Timestamp { unit, utc };
        for (kind, texts) in [
            (Kind::Boolean, &["true", "false"][..]),
            (Kind::Int, &["0", "-9223372036854775808", "9223372036854775807"]),
            (Kind::Float, &["1.0", "-0.0", "1e300", "5e-324", "NaN", "inf", "-inf", "0.1"]),
            (Kind::Float32, &["1.0", "0.1", "10.337575", "3.4028235e38", "1e-45"]),
            (Kind::Decimal { scale: 2 }, &["0.00", "-0.01", "12.50", "999999999999999999999999999999999999.99"]),
            (Kind::Decimal { scale: 0 }, &["18446744073709551615"]),
            (Kind::Date, &["1970-01-01", "2000-02-29", "1582-10-15", "0000-03-01", "9999-12-31", "1969-12-31"]),
            (Kind::Time(Unit::Microsecond), &["00:00:00", "17:03:59.500", "00:00:00.000001", "23:59:59.999999"]),
            (stamp(Unit::Nanosecond, false), &["2026-11-25T17:03:59.000000001", "1677-09-22T00:00:00"]),
            (stamp(Unit::Second, true), &["2026-11-25T17:03:59Z", "1901-01-01T00:00:00Z"]),
        ] {
            for &one in texts {
                let value = parse(kind, one.as_bytes()).unwrap_or_else(|| panic!("{kind}: {one}"));
                assert_eq!(text(kind, &value), one, "{kind}");
            }
        }
    }

    #[test]
    fn other_spellings() {
        for (kind, given, same) in [
            (Kind::Decimal { scale: 2 }, "+12.5", "12.50"),
            (Kind::Decimal { scale: 2 }, ".5000", "0.50"),
            (Kind::Timestamp { unit: Unit::Millisecond, utc: false }, "2026-11-25", "2026-11-25T00:00:00"),
            (Kind::Timestamp { unit: Unit::Millisecond, utc: true }, "2026-11-25 10:00", "2026-11-25T10:00:00Z"),
            (Kind::Int, " 7 ", "7"),
        ] {
            assert_eq!(text(kind, &parse(kind, given.as_bytes()).unwrap()), same, "{given}");
        }
        for (kind, wrong) in [
            (Kind::Boolean, "yes"),
            (Kind::Int, "1.0"),
            (Kind::Int, "9223372036854775808"),
            (Kind::Float, "1,5"),
            (Kind::Decimal { scale: 2 }, "1.005"),
            (Kind::Decimal { scale: 2 }, "."),
            (Kind::Decimal { scale: 2 }, "1000000000000000000000000000000000000.00"),
            (Kind::Date, "2026-02-29"),
            (Kind::Date, "2026-2-28"),
            (Kind::Date, "2026-11-25T00:00"),
            (Kind::Time(Unit::Second), "24:00:00"),
            (Kind::Time(Unit::Second), "10:00:00.5"),
            (Kind::Timestamp { unit: Unit::Second, utc: false }, "2026-11-25T"),
        ] {
            assert_eq!(parse(kind, wrong.as_bytes()), None, "{kind}: {wrong}");
        }
    }

    #[test]
    fn days_and_dates_agree() {
        let mut days = -719_528;
        for year in 0..2400 {
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let months = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, len) in (1..).zip(months) {
                for day in [1, len] {
                    assert_eq!(days_of(year, month, day), days + day - 1);
                    assert_eq!(civil_of(days + day - 1), (year, month, day));
                }
                days += len;
            }
        }
    }

    #[test]
    fn a_builder_takes_nulls_and_refuses_others() {
        let mut built = Builder::new(Kind::Int);
        assert!(built.push(b"1") && built.push(b"") && !built.push(b"x") && built.push(b"3"));
        built.push(b"4");
        built.truncate(3);
        assert_eq!(built.take(), Vector { data: Data::Ints(vec![1, 0, 3]), nulls: Some(vec![false, true, false]) });
        assert!(built.is_empty());
        let mut texts = Builder::new(Kind::Text);
        assert!(texts.push(b"") && texts.push(b"a"));
        let texts = texts.take();
        assert_eq!((texts.bytes(0), texts.bytes(1), &texts.nulls), (&b""[..], &b"a"[..], &None));
    }
}
