//! Parts of dates and times. A timestamp with a zone counts as UTC.

use yunti_base::Result;
use yunti_engine::columns::expression::{Side, zip};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::text::{civil_of, days_of};
use yunti_sql_plan::Function;

use super::super::arithmetic::{Typed, limits_of, shown};
use super::super::operand::{Operand, Texts, ints, invalid, shapes_differ};
use super::checked::checked;

/// Returns a part of each date or time.
pub fn parts(function: Function, operand: &Operand, of: Typed<'_>, rows: usize) -> Result<Vec<i64>> {
    let side = ints(operand).ok_or_else(shapes_differ)?;
    // Units of a day and of a second; a date has no seconds.
    let (day, second) = match of.kind {
        Kind::Date => (1, 1),
        Kind::Time(unit) | Kind::Timestamp { unit, .. } => (86_400 * unit.per_second(), unit.per_second()),
        _ => return Err(shapes_differ()),
    };
    let is_date = of.kind == Kind::Date;
    let each = |f: fn(i64) -> i64| map(side, rows, |value| f(value.div_euclid(day)));
    let clock = |below: i64, above: i64| match is_date {
        true => vec![0; rows],
        false => map(side, rows, |value| value.rem_euclid(day) / second / below % above),
    };
    Ok(match function {
        Function::Year => each(|days| civil_of(days).0),
        Function::Month => each(|days| civil_of(days).1),
        Function::Day => each(|days| civil_of(days).2),
        Function::Quarter => each(|days| (civil_of(days).1 + 2) / 3),
        // The first of January 1970 was a Thursday.
        Function::DayOfWeek => each(|days| (days.rem_euclid(7) + 4) % 7),
        Function::DayOfYear => each(|days| days.saturating_sub(days_of(civil_of(days).0, 1, 1)) + 1),
        Function::Hour => clock(3600, 24),
        Function::Minute => clock(60, 60),
        Function::Second => clock(1, 60),
        _ => return Err(shapes_differ()),
    })
}

fn map(side: Side<'_, i64>, rows: usize, f: impl Fn(i64) -> i64) -> Vec<i64> {
    zip(side, Side::One(()), rows, |value, ()| f(value))
}

/// Returns the first moment of a unit of each date or time. Errors: `Invalid` for an unknown unit, or out of range.
pub fn truncate(
    unit: &Operand,
    operand: &Operand,
    of: Typed<'_>,
    result: Typed<'_>,
    nulls: Option<&[bool]>,
    rows: usize,
) -> Result<Vec<i64>> {
    let (Some(Texts::One(name)), Some(side)) = (Texts::of(unit), ints(operand)) else { return Err(shapes_differ()) };
    let (second, day) = match (of.kind, result.kind) {
        (Kind::Date, Kind::Date) => (None, 1),
        (Kind::Timestamp { unit, .. }, Kind::Timestamp { unit: to, .. }) if unit == to => {
            (Some(unit.per_second()), 86_400 * unit.per_second())
        }
        (Kind::Time(unit), Kind::Time(to)) if unit == to => (Some(unit.per_second()), 86_400 * unit.per_second()),
        _ => return Err(shapes_differ()),
    };
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    // The steps of the type that one unit has.
    let steps = match (&name[..], second) {
        ("microsecond" | "millisecond" | "second" | "minute" | "hour" | "day", None) => Some(1),
        ("microsecond", Some(second)) => Some((second / 1_000_000).max(1)),
        ("millisecond", Some(second)) => Some((second / 1_000).max(1)),
        ("second", Some(second)) => Some(second),
        ("minute", Some(second)) => Some(60 * second),
        ("hour", Some(second)) => Some(3600 * second),
        ("day", Some(_)) => Some(day),
        _ => None,
    };
    let days: fn(i64) -> i64 = match (steps, &name[..]) {
        (Some(_), _) => |days| days,
        // Weeks begin on Monday.
        (None, "week") => |days| days.saturating_sub((days.rem_euclid(7) + 3) % 7),
        (None, "month") => |days| days.saturating_sub(civil_of(days).2 - 1),
        (None, "quarter") => |days| {
            let (year, month, _) = civil_of(days);
            days_of(year, (month - 1) / 3 * 3 + 1, 1)
        },
        (None, "year") => |days| days_of(civil_of(days).0, 1, 1),
        _ => {
            let error = invalid(format!("date_trunc does not know the unit '{}'", shown(&unit.value(0), Kind::Text)));
            return Err(error.hint("use year, quarter, month, week, day, hour, minute, second or millisecond"));
        }
    };
    let (min, max) = limits_of(result.data_type);
    let one = |value: i64| match steps {
        Some(step) => value.checked_sub(value.rem_euclid(step)),
        None => days(value.div_euclid(day)).checked_mul(day),
    };
    let in_limits = |value: i64| one(value).filter(|&value| min <= value.into() && i128::from(value) <= max);
    checked(side, rows, nulls, in_limits).map_err(|row| {
        let value = shown(&operand.value(row), of.kind);
        invalid(format!("the {name} of {value} begins out of range of {}", result.data_type))
    })
}
