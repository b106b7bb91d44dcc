//! Arithmetic of whole numbers, dates and floats; of decimals in `decimals.rs`.
//!
//! Loops compute all rows and note whether any result is out of range. Only then are rows searched for one that is no
//! null: the value of a null may be anything.

mod decimals;
mod mean;

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_engine::columns::expression::{Side, bits, zip};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::text;
use yunti_engine::columns::vector::{Data, Value, Vector, either};
use yunti_sql_plan::Arithmetic;

use super::operand::{Operand, floats, ints, invalid, nothing, shapes_differ, units};

pub use decimals::{limits_of, power};
pub use mean::mean_of;

/// Type of an operand or a result.
#[derive(Clone, Copy)]
pub struct Typed<'a> {
    pub data_type: &'a DataType,
    pub kind: Kind,
}

/// Computes one operation of two sides.
pub fn compute(
    how: Arithmetic,
    sides: [&Operand; 2],
    types: [Typed<'_>; 2],
    result: Typed<'_>,
    rows: usize,
) -> Result<Vector> {
    let [left, right] = sides;
    if left.is_null() || right.is_null() {
        return Ok(nothing(result.kind, rows));
    }
    let nulls = either(left.nulls(), right.nulls());
    let errors = Errors { how, sides, types, result, nulls: nulls.as_deref() };
    let data = if let (Some(a), Some(b)) = (floats(left), floats(right)) {
        Data::Floats(of_floats(how, a, b, result.data_type, rows))
    } else if let (Some(a), Some(b)) = (ints(left), ints(right)) {
        Data::Ints(of_ints(how, a, b, rows, &errors)?)
    } else if let (Some(a), Some(b)) = (units(left), units(right)) {
        decimals::compute(how, &a, &b, rows, &errors)?
    } else {
        return Err(shapes_differ());
    };
    Ok(Vector { data, nulls })
}

/// Computes `-x`.
pub fn negate(operand: &Operand, result: Typed<'_>, rows: usize) -> Result<Vector> {
    if operand.is_null() {
        return Ok(nothing(result.kind, rows));
    }
    if let Some(side) = floats(operand) {
        let values = zip(side, Side::One(()), rows, |value: f64, ()| -value);
        return Ok(Vector { data: Data::Floats(values), nulls: operand.nulls().cloned() });
    }
    let zero = Operand::Constant(Arc::new(match result.kind {
        Kind::Decimal { .. } => Value::Decimal(0),
        _ => Value::Int(0),
    }));
    compute(Arithmetic::Subtract, [&zero, operand], [result, result], result, rows)
}

/// The operation, operands and types that an error names.
pub(super) struct Errors<'a> {
    how: Arithmetic,
    sides: [&'a Operand; 2],
    types: [Typed<'a>; 2],
    result: Typed<'a>,
    nulls: Option<&'a [bool]>,
}

impl Errors<'_> {
    fn is_null(&self, row: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls[row])
    }

    /// Fails if a row that is no null divides by zero.
    fn no_zeros(&self, mut is_zero: impl FnMut(usize) -> bool, rows: usize) -> Result<()> {
        match (0..rows).find(|&row| !self.is_null(row) && is_zero(row)) {
            None => Ok(()),
            Some(row) => {
                let left = shown(&self.sides[0].value(row), self.types[0].kind);
                let what = format!("division by zero: {left} {} 0", self.how);
                Err(invalid(what).hint("divide by nullif(x, 0), which gives null"))
            }
        }
    }

    /// Fails if the result of a row that is no null is out of range.
    fn in_range(&self, mut is_over: impl FnMut(usize) -> bool, rows: usize) -> Result<()> {
        match (0..rows).find(|&row| !self.is_null(row) && is_over(row)) {
            None => Ok(()),
            Some(row) => {
                let [left, right] = [0, 1].map(|side| shown(&self.sides[side].value(row), self.types[side].kind));
                let what = format!("{left} {} {right} is out of range of {}", self.how, self.result.data_type);
                Err(invalid(what).hint("cast one side to a wider type, or to double"))
            }
        }
    }
}

/// Returns a value as text, for messages.
pub fn shown(value: &Value, kind: Kind) -> String {
    let mut out = Vec::new();
    text::put(kind, value, &mut out);
    if out.len() > 40 {
        out.truncate(40);
        out.extend_from_slice(b"..");
    }
    // A message has one line.
    String::from_utf8_lossy(&out).chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn of_ints(how: Arithmetic, a: Side<'_, i64>, b: Side<'_, i64>, rows: usize, errors: &Errors<'_>) -> Result<Vec<i64>> {
    let (min, max) = limits_of(errors.result.data_type);
    let (min, max) = (min.max(i64::MIN.into()) as i64, max.min(i64::MAX.into()) as i64);
    let mut over = false;
    // Results that cannot wrap are computed without a check of each: their loops take many at a time.
    let fits = match how {
        Arithmetic::Add | Arithmetic::Subtract => bits(a).max(bits(b)) < 63,
        Arithmetic::Multiply => bits(a) + bits(b) < 63,
        Arithmetic::Divide | Arithmetic::Remainder => false,
    };
    let mut checked = |(value, wraps): (i64, bool)| {
        over |= wraps;
        value
    };
    let values = match how {
        Arithmetic::Add if fits => zip(a, b, rows, i64::wrapping_add),
        Arithmetic::Subtract if fits => zip(a, b, rows, i64::wrapping_sub),
        Arithmetic::Multiply if fits => zip(a, b, rows, i64::wrapping_mul),
        Arithmetic::Add => zip(a, b, rows, |a, b| checked(a.overflowing_add(b))),
        Arithmetic::Subtract => zip(a, b, rows, |a, b| checked(a.overflowing_sub(b))),
        Arithmetic::Multiply => zip(a, b, rows, |a, b| checked(a.overflowing_mul(b))),
        Arithmetic::Divide | Arithmetic::Remainder => {
            let at = |row: usize| match b {
                Side::Many(values) => values[row] == 0,
                Side::One(value) => value == 0,
            };
            errors.no_zeros(at, rows)?;
            // The divisor of a null may be zero.
            match how {
                Arithmetic::Divide => {
                    zip(a, b, rows, |a, b| checked(if b == 0 { (0, false) } else { a.overflowing_div(b) }))
                }
                _ => zip(a, b, rows, |a, b| if b == 0 { 0 } else { a.wrapping_rem(b) }),
            }
        }
    };
    over |= is_beyond(&values, min, max);
    if over {
        let at = |side: Side<'_, i64>, row: usize| match side {
            Side::Many(values) => i128::from(values[row]),
            Side::One(value) => i128::from(value),
        };
        errors.in_range(
            |row| {
                let (a, b) = (at(a, row), at(b, row));
                let exact = match how {
                    Arithmetic::Add => a + b,
                    Arithmetic::Subtract => a - b,
                    Arithmetic::Multiply => a * b,
                    _ if b == 0 => return false,
                    Arithmetic::Divide => a / b,
                    Arithmetic::Remainder => a % b,
                };
                exact < min.into() || exact > max.into()
            },
            rows,
        )?;
    }
    Ok(values)
}

/// Returns true if any value is out of range.
fn is_beyond(values: &[i64], min: i64, max: i64) -> bool {
    let is_all = min == i64::MIN && max == i64::MAX;
    !is_all && values.iter().fold(false, |beyond, &value| beyond | (value < min) | (value > max))
}

fn of_floats(how: Arithmetic, a: Side<'_, f64>, b: Side<'_, f64>, data_type: &DataType, rows: usize) -> Vec<f64> {
    let mut values = match how {
        Arithmetic::Add => zip(a, b, rows, |a, b| a + b),
        Arithmetic::Subtract => zip(a, b, rows, |a, b| a - b),
        Arithmetic::Multiply => zip(a, b, rows, |a, b| a * b),
        Arithmetic::Divide => zip(a, b, rows, |a, b| a / b),
        Arithmetic::Remainder => zip(a, b, rows, |a, b| a % b),
    };
    round_floats(&mut values, data_type);
    values
}

/// Rounds to the precision of a type. A result of two floats with half the digits, rounded twice, is rounded rightly.
pub fn round_floats(values: &mut [f64], data_type: &DataType) {
    match data_type {
        DataType::Float32 => values.iter_mut().for_each(|value| *value = f64::from(*value as f32)),
        DataType::Float16 => values.iter_mut().for_each(|value| *value = half(*value)),
        _ => {}
    }
}

/// Rounds to half precision: 11 bits, half to even, from 2^-24 to 65504.
pub fn half(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(-14);
    let unit = 2f64.powi(exponent - 10);
    let rounded = (value / unit).round_ties_even() * unit;
    if rounded.abs() > 65504.0 { f64::INFINITY.copysign(value) } else { rounded }
}
