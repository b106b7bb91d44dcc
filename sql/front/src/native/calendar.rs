//! Intervals and calendars.

use arrow_schema::DataType;
use datafusion::common::ScalarValue;
use yunti_sql_plan::Interval;

/// Returns true for dates and timestamps whose calendar is UTC's.
pub fn is_utc(data_type: &DataType) -> bool {
    match data_type {
        DataType::Timestamp(_, Some(zone)) => matches!(&**zone, "UTC" | "+00:00" | "Z" | "Etc/UTC"),
        _ => true,
    }
}

/// Returns a constant interval.
pub fn interval(of: &ScalarValue) -> Option<Interval> {
    Some(match of {
        ScalarValue::IntervalYearMonth(Some(months)) => Interval { months: *months, ..Interval::default() },
        ScalarValue::IntervalDayTime(Some(of)) => {
            Interval { months: 0, days: of.days, nanos: i64::from(of.milliseconds) * 1_000_000 }
        }
        ScalarValue::IntervalMonthDayNano(Some(of)) => {
            Interval { months: of.months, days: of.days, nanos: of.nanoseconds }
        }
        _ => return None,
    })
}
