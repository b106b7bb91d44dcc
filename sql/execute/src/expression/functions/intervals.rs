//! Dates and timestamps, some months, days and nanoseconds later. A day that its month does not have becomes the last
//! one of the month. A timestamp with a zone counts as UTC.

use yunti_base::Result;
use yunti_engine::columns::kind::{Kind, Unit};
use yunti_engine::columns::text::{civil_of, days_of};
use yunti_engine::columns::vector::Value;
use yunti_sql_plan::Interval;

use super::super::arithmetic::{Typed, limits_of, shown};
use super::super::operand::{Operand, ints, invalid, shapes_differ};
use super::checked::checked;

/// Nanoseconds of a day.
pub const DAY_NANOS: i128 = 86_400_000_000_000;

/// Returns the nanoseconds of a unit.
pub fn nanos_of(unit: Unit) -> i128 {
    1_000_000_000 / i128::from(unit.per_second())
}

/// Returns a moment, in nanoseconds since 1970, with an interval added or subtracted.
pub fn moved(nanos: i128, by: Interval, adds: bool) -> i128 {
    let sign = if adds { 1 } else { -1 };
    let (days, time) = (nanos.div_euclid(DAY_NANOS), nanos.rem_euclid(DAY_NANOS));
    let days = i128::from(months_later(days as i64, sign * i64::from(by.months)));
    let sign = i128::from(sign);
    (days + sign * i128::from(by.days)) * DAY_NANOS + time + sign * i128::from(by.nanos)
}

/// Returns the day some months later; the last day of that month, if it has fewer days.
fn months_later(days: i64, months: i64) -> i64 {
    if months == 0 {
        return days;
    }
    let (year, month, day) = civil_of(days);
    let month = year * 12 + (month - 1) + months;
    let first = |month: i64| days_of(month.div_euclid(12), month.rem_euclid(12) + 1, 1);
    (first(month) + day - 1).min(first(month + 1) - 1)
}

/// Returns each date or timestamp with an interval added: months, days, nanoseconds, each of them a constant. A date
/// keeps the whole days of the nanoseconds.
///
/// Errors: `Invalid` for a result out of range.
pub fn add(
    arguments: &[Operand],
    of: Typed<'_>,
    result: Typed<'_>,
    nulls: Option<&[bool]>,
    rows: usize,
) -> Result<Vec<i64>> {
    let [value, months, days, nanos] = arguments else { return Err(shapes_differ()) };
    let constant = |of: &Operand| match of.value(0) {
        Value::Int(value) => Ok(value),
        _ => Err(shapes_differ()),
    };
    let month_count = i32::try_from(constant(months)?).map_err(|_| shapes_differ())?;
    let day_count = i32::try_from(constant(days)?).map_err(|_| shapes_differ())?;
    let mut by = Interval { months: month_count, days: day_count, nanos: constant(nanos)? };
    let side = ints(value).ok_or_else(shapes_differ)?;
    let unit = match (of.kind, result.kind) {
        (Kind::Date, Kind::Date) => {
            by.nanos -= (i128::from(by.nanos) % DAY_NANOS) as i64;
            DAY_NANOS
        }
        (Kind::Timestamp { unit, .. }, Kind::Timestamp { unit: to, .. }) if unit == to => nanos_of(unit),
        _ => return Err(shapes_differ()),
    };
    let (min, max) = limits_of(result.data_type);
    let one = |value: i64| {
        let moved = moved(i128::from(value) * unit, by, true).div_euclid(unit);
        i64::try_from(moved).ok().filter(|_| min <= moved && moved <= max)
    };
    checked(side, rows, nulls, one).map_err(|row| {
        let value = shown(&value.value(row), of.kind);
        invalid(format!("{value} plus {by} is out of range of {}", result.data_type))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_end_within_the_month() {
        let day = days_of;
        for (from, months, to) in [
            (day(2024, 1, 31), 1, day(2024, 2, 29)),
            (day(2023, 1, 31), 1, day(2023, 2, 28)),
            (day(2023, 3, 31), -1, day(2023, 2, 28)),
            (day(2023, 12, 15), 1, day(2024, 1, 15)),
            (day(2024, 2, 29), 12, day(2025, 2, 28)),
            (day(1970, 1, 1), -1, day(1969, 12, 1)),
            (day(2000, 5, 31), 13, day(2001, 6, 30)),
        ] {
            assert_eq!(months_later(from, months), to, "{from} {months}");
        }
    }

    #[test]
    fn days_come_after_months_and_nanoseconds_after_days() {
        let at = |year, month, day, nanos: i128| i128::from(days_of(year, month, day)) * DAY_NANOS + nanos;
        let by = Interval { months: 1, days: 1, nanos: -1 };
        assert_eq!(moved(at(2024, 1, 31, 5), by, true), at(2024, 3, 1, 4));
        assert_eq!(moved(at(2024, 3, 31, 5), by, false), at(2024, 2, 28, 6));
        assert_eq!(moved(-1, by, true), at(1970, 2, 1, DAY_NANOS - 2));
    }
}
