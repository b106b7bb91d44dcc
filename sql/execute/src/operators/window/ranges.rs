//! Ends of frames by value: the first row whose key is not before `key - offset`, or the first behind it. The keys of a
//! partition are sorted, so that each end only moves forward.
//!
//! Rows whose key is null have the frame of their peers: no distance leads from a null to another value.

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::normal::ordered_float;
use yunti_engine::columns::vector::{Data, Value};
use yunti_sql_plan::Offset;

use super::segment::Segment;
use crate::expression::intervals::{DAY_NANOS, moved, nanos_of};
use crate::store::column::{Column, Values};
use crate::store::wrong_shape;

/// Key of the order.
pub struct Key<'s> {
    pub column: &'s Column,
    pub kind: Kind,
    pub descending: bool,
}

/// Fails for an offset that no frame can have. Errors: `Invalid`.
pub fn check(offset: &Offset) -> Result<()> {
    let is_negative = match offset {
        Offset::Value(Value::Int(v)) => *v < 0,
        Offset::Value(Value::Float(v)) => !(*v >= 0.0),
        Offset::Value(Value::Decimal(v)) => *v < 0,
        Offset::Value(_) => true,
        Offset::Interval(of) => {
            let days = 30 * i128::from(of.months) + i128::from(of.days);
            days * DAY_NANOS + i128::from(of.nanos) < 0
        }
    };
    match is_negative {
        true => Err(Error::new(Code::Invalid, "the offset of a window's frame is negative or no number")
            .hint("write 'following' instead of 'preceding', or the reverse")),
        false => Ok(()),
    }
}

/// Sets the first row of each frame, or its end, that lies an offset before or behind the current row.
pub fn edges(
    key: Option<&Key>,
    offset: &Offset,
    is_ahead: bool,
    is_end: bool,
    segment: &Segment,
    rows: &mut [u32],
) -> Result<()> {
    let key = key.ok_or_else(wrong_shape)?;
    let Values::Fixed(data) = &key.column.values else { return Err(wrong_shape()) };
    // In a descending order, values before the current one are larger.
    let adds = is_ahead != key.descending;
    let sign = |value: i128| if adds { value } else { -value };
    let find = Find { nulls: key.column.nulls.as_deref(), descending: key.descending, is_end, segment };
    match (data, offset, key.kind) {
        (Data::Ints(v), Offset::Value(Value::Int(by)), _) => {
            let by = sign((*by).into());
            find.rows(rows, |row| i128::from(v[row]), |value| value + by);
        }
        (Data::Decimals(v), Offset::Value(Value::Decimal(by)), _) => {
            let by = sign(*by);
            find.rows(rows, |row| v[row], |value| value.saturating_add(by));
        }
        (Data::SmallDecimals(v), Offset::Value(Value::Decimal(by)), _) => {
            let by = sign(*by);
            find.rows(rows, |row| i128::from(v[row]), |value| value.saturating_add(by));
        }
        (Data::Floats(v), Offset::Value(Value::Float(by)), _) => {
            let by = if adds { *by } else { -*by };
            find.floats(rows, v, by);
        }
        (Data::Ints(v), Offset::Interval(by), Kind::Date) => {
            find.rows(rows, |row| i128::from(v[row]) * DAY_NANOS, |value| moved(value, *by, adds));
        }
        (Data::Ints(v), Offset::Interval(by), Kind::Timestamp { unit, .. }) => {
            let nanos = nanos_of(unit);
            find.rows(rows, |row| i128::from(v[row]) * nanos, |value| moved(value, *by, adds));
        }
        _ => return Err(wrong_shape()),
    }
    Ok(())
}

/// Search for the ends of frames.
struct Find<'s> {
    nulls: Option<&'s [bool]>,
    descending: bool,
    is_end: bool,
    segment: &'s Segment,
}

impl Find<'_> {
    fn floats(&self, rows: &mut [u32], values: &[f64], by: f64) {
        // NaN stays NaN, and infinity what it is.
        self.rows(rows, |row| values[row], |value| value + by);
    }

    /// Sets the ends for keys and the values that they are compared with.
    #[inline(always)]
    fn rows<K: Compare>(&self, rows: &mut [u32], key: impl Fn(usize) -> K, target: impl Fn(K) -> K) {
        let Find { nulls, descending, is_end, segment } = *self;
        segment.each_partition(|first, end| {
            let is_null = |row: usize| nulls.is_some_and(|nulls| nulls[row]);
            let mut values = first..end;
            while values.start < end && is_null(values.start) {
                values.start += 1;
            }
            while values.end > values.start && is_null(values.end - 1) {
                values.end -= 1;
            }
            for nulls in [first..values.start, values.end..end] {
                let to = if is_end { nulls.end } else { nulls.start };
                rows[nulls].fill(to as u32);
            }
            let mut at = values.start;
            for row in values.clone() {
                let target = target(key(row)).word();
                while at < values.end {
                    let value = key(at).word();
                    let is_before = if descending { value > target } else { value < target };
                    if !(is_before || is_end && value == target) {
                        break;
                    }
                    at += 1;
                }
                rows[row] = at as u32;
            }
        });
    }
}

/// A key by its place in the order.
trait Compare: Copy {
    type Word: Ord + Copy;
    fn word(self) -> Self::Word;
}

impl Compare for i128 {
    type Word = i128;
    #[inline(always)]
    fn word(self) -> i128 {
        self
    }
}

impl Compare for f64 {
    type Word = u64;
    #[inline(always)]
    fn word(self) -> u64 {
        ordered_float(self)
    }
}
