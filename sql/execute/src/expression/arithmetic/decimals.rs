//! Arithmetic of decimals, as Arrow does it: sums with the larger scale, products with the sum of both, quotients cut
//! off at the scale of the result.
//!
//! Units of 64 bits stay so small if no result can be larger; the largest value of the batch decides. Otherwise units
//! have 128 bits, and each step is checked.

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_engine::columns::expression::{Side, bits, zip};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::Data;
use yunti_sql_plan::Arithmetic;

use super::super::operand::{Units, shapes_differ};
use super::{Errors, is_beyond};

/// Returns the smallest and the largest value, or unit of a decimal, of a type.
pub fn limits_of(data_type: &DataType) -> (i128, i128) {
    match data_type {
        DataType::Int8 => (i8::MIN.into(), i8::MAX.into()),
        DataType::Int16 => (i16::MIN.into(), i16::MAX.into()),
        DataType::Int32 | DataType::Date32 | DataType::Time32(_) => (i32::MIN.into(), i32::MAX.into()),
        DataType::UInt8 => (0, u8::MAX.into()),
        DataType::UInt16 => (0, u16::MAX.into()),
        DataType::UInt32 => (0, u32::MAX.into()),
        DataType::UInt64 => (0, u64::MAX.into()),
        DataType::Decimal32(digits, _) | DataType::Decimal64(digits, _) | DataType::Decimal128(digits, _) => {
            let limit = power(u32::from(*digits).min(38)).unwrap_or(i128::MAX) - 1;
            (-limit, limit)
        }
        _ => (i64::MIN.into(), i64::MAX.into()),
    }
}

/// Returns a power of ten, if 128 bits hold it.
pub fn power(digits: u32) -> Option<i128> {
    10i128.checked_pow(digits)
}

/// Factors that bring both sides to their scales before the operation; None if 128 bits do not hold one.
struct Factors {
    left: Option<i128>,
    right: Option<i128>,
}

fn scale_of(kind: Kind) -> u32 {
    if let Kind::Decimal { scale } = kind { scale.into() } else { 0 }
}

pub fn compute(how: Arithmetic, a: &Units<'_>, b: &Units<'_>, rows: usize, errors: &Errors<'_>) -> Result<Data> {
    let [s1, s2] = errors.types.map(|of| scale_of(of.kind));
    let scale = scale_of(errors.result.kind);
    let common = s1.max(s2);
    let (factors, natural) = match how {
        Arithmetic::Multiply => (Factors { left: Some(1), right: Some(1) }, s1 + s2),
        Arithmetic::Divide if scale + s2 >= s1 => (Factors { left: power(scale + s2 - s1), right: Some(1) }, scale),
        Arithmetic::Divide => (Factors { left: Some(1), right: power(s1 - scale - s2) }, scale),
        _ => (Factors { left: power(common - s1), right: power(common - s2) }, common),
    };
    if natural != scale {
        return Err(shapes_differ());
    }
    if matches!(how, Arithmetic::Divide | Arithmetic::Remainder) {
        errors.no_zeros(zeros(b), rows)?;
    }
    let (min, max) = limits_of(errors.result.data_type);
    if let (Some(a), Some(b)) = (a.small(), b.small())
        && let Some(values) = small(how, a, b, &factors, rows)
    {
        let narrow = |limit: i128, other: i64| i64::try_from(limit).unwrap_or(other);
        let (low, high) = (narrow(min, i64::MIN), narrow(max, i64::MAX));
        if is_beyond(&values, low, high) {
            errors.in_range(|row| values[row] < low || values[row] > high, rows)?;
        }
        return Ok(Data::SmallDecimals(values));
    }
    let (x, y) = (a.wide(), b.wide());
    let pairs = wide(how, a.side(&x), b.side(&y), &factors, rows);
    let is_over = |(value, over): (i128, bool)| over | (value < min) | (value > max);
    if pairs.iter().fold(false, |over, &pair| over | is_over(pair)) {
        errors.in_range(|row| is_over(pairs[row]), rows)?;
    }
    Ok(Data::Decimals(pairs.into_iter().map(|(value, _)| value).collect()))
}

/// Returns the test for a zero.
fn zeros<'a>(units: &'a Units<'_>) -> Box<dyn FnMut(usize) -> bool + 'a> {
    match units {
        Units::Small(values) => Box::new(|row| values[row] == 0),
        Units::Wide(values) => Box::new(|row| values[row] == 0),
        Units::One(value) => Box::new(move |_| *value == 0),
    }
}

/// Computes in 64 bits; None if a result may be larger.
fn small(how: Arithmetic, a: Side<'_, i64>, b: Side<'_, i64>, factors: &Factors, rows: usize) -> Option<Vec<i64>> {
    let left = i64::try_from(factors.left?).ok()?;
    let right = i64::try_from(factors.right?).ok()?;
    // The bits of each side as it enters the operation.
    let scaled = |side: Side<'_, i64>, factor: i64| bits(side) + if factor == 1 { 0 } else { bits(Side::One(factor)) };
    let (x, y) = (scaled(a, left), scaled(b, right));
    let fits = match how {
        Arithmetic::Add | Arithmetic::Subtract => x.max(y) + 1 < 64,
        Arithmetic::Multiply => x + y < 63,
        // The smallest number of 64 bits, divided by -1, wraps.
        Arithmetic::Divide | Arithmetic::Remainder => x < 63 && y < 63,
    };
    if !fits {
        return None;
    }
    let plain = left == 1 && right == 1;
    Some(match how {
        Arithmetic::Add if plain => zip(a, b, rows, i64::wrapping_add),
        Arithmetic::Subtract if plain => zip(a, b, rows, i64::wrapping_sub),
        Arithmetic::Add => zip(a, b, rows, |a, b| (a.wrapping_mul(left)).wrapping_add(b.wrapping_mul(right))),
        Arithmetic::Subtract => zip(a, b, rows, |a, b| (a.wrapping_mul(left)).wrapping_sub(b.wrapping_mul(right))),
        Arithmetic::Multiply => zip(a, b, rows, i64::wrapping_mul),
        // The divisor of a null may be zero.
        Arithmetic::Divide => zip(a, b, rows, |a, b| {
            let (a, b) = (a.wrapping_mul(left), b.wrapping_mul(right));
            if b == 0 { 0 } else { a.wrapping_div(b) }
        }),
        Arithmetic::Remainder => zip(a, b, rows, |a, b| {
            let (a, b) = (a.wrapping_mul(left), b.wrapping_mul(right));
            if b == 0 { 0 } else { a.wrapping_rem(b) }
        }),
    })
}

/// Computes in 128 bits. The second of each pair is true if a step does not fit.
fn wide(how: Arithmetic, a: Side<'_, i128>, b: Side<'_, i128>, factors: &Factors, rows: usize) -> Vec<(i128, bool)> {
    let scaled = |value: i128, factor: Option<i128>| match factor {
        Some(1) => (value, false),
        Some(factor) => value.overflowing_mul(factor),
        None => (0, value != 0),
    };
    let both = |a: i128, b: i128, f: fn(i128, i128) -> (i128, bool)| {
        let ((a, over_a), (b, over_b)) = (scaled(a, factors.left), scaled(b, factors.right));
        let (value, over) = f(a, b);
        (value, over | over_a | over_b)
    };
    match how {
        Arithmetic::Add => zip(a, b, rows, |a, b| both(a, b, i128::overflowing_add)),
        Arithmetic::Subtract => zip(a, b, rows, |a, b| both(a, b, i128::overflowing_sub)),
        Arithmetic::Multiply => zip(a, b, rows, i128::overflowing_mul),
        Arithmetic::Divide => {
            zip(a, b, rows, |a, b| both(a, b, |a, b| if b == 0 { (0, false) } else { a.overflowing_div(b) }))
        }
        Arithmetic::Remainder => {
            zip(a, b, rows, |a, b| both(a, b, |a, b| if b == 0 { (0, false) } else { (a.wrapping_rem(b), false) }))
        }
    }
}
