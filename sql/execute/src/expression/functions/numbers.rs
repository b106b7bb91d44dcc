//! Functions of numbers.

use yunti_base::Result;
use yunti_engine::columns::expression::{Side, zip};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::Data;
use yunti_sql_plan::Function;

use super::super::arithmetic::{Typed, limits_of, mean_of, power, round_floats, shown};
use super::super::operand::{Operand, floats, ints, invalid, narrowed, shapes_differ, units};

/// Returns whole numbers in the shape of a type of numbers.
pub fn of_ints(values: Vec<i64>, result: Typed<'_>) -> Data {
    match result.kind {
        Kind::Float | Kind::Float32 => Data::Floats(values.into_iter().map(|value| value as f64).collect()),
        Kind::Decimal { scale: 0 } => Data::SmallDecimals(values),
        _ => Data::Ints(values),
    }
}

/// Computes `abs`, `floor`, `ceil`, `round` and `sqrt`.
pub fn call(
    function: Function,
    arguments: &[Operand],
    types: &[Typed<'_>],
    result: Typed<'_>,
    nulls: Option<&[bool]>,
    rows: usize,
) -> Result<Data> {
    let [operand, ..] = arguments else { return Err(shapes_differ()) };
    let zero = Side::One(0);
    let digits = match arguments.get(1) {
        None => zero,
        Some(digits) => ints(digits).ok_or_else(shapes_differ)?,
    };
    if let Some(side) = floats(operand) {
        let mut values = match function {
            Function::Abs => zip(side, zero, rows, |v, _| v.abs()),
            Function::Floor => zip(side, zero, rows, |v, _| v.floor()),
            Function::RoundEven => zip(side, zero, rows, |v, _| v.round_ties_even()),
            Function::Ceil => zip(side, zero, rows, |v, _| v.ceil()),
            Function::Sqrt => zip(side, zero, rows, |v, _| v.sqrt()),
            _ => {
                let is_single = types[0].kind == Kind::Float32;
                zip(side, digits, rows, |v, digits| if is_single { round_single(v, digits) } else { round(v, digits) })
            }
        };
        round_floats(&mut values, result.data_type);
        return Ok(Data::Floats(values));
    }
    let limits = limits_of(result.data_type);
    let is_null = |row: usize| nulls.is_some_and(|nulls| nulls[row]);
    let over = |row: usize| {
        let value = shown(&operand.value(row), types[0].kind);
        let name = format!("{function:?}").to_ascii_lowercase();
        invalid(format!("{name} of {value} is out of range of {}", result.data_type))
    };
    let scale = |kind: Kind| if let Kind::Decimal { scale } = kind { i64::from(scale) } else { 0 };
    let (have, want) = (scale(types[0].kind), scale(result.kind));
    let one = |value: i128, digits: i64| -> Option<i128> {
        let units = match function {
            Function::Abs => value.checked_abs()?,
            Function::Floor => stepped(value, have, 0, |rest, _, _| rest < 0)?,
            Function::Ceil => stepped(value, have, 0, |rest, _, _| rest > 0)?,
            _ => stepped(value, have, digits, |rest, step, _| rest.unsigned_abs() >= step.div_ceil(2))?,
        };
        let units = match want - have {
            0 => units,
            more @ 1.. => units.checked_mul(power(more as u32)?)?,
            // Digits that the result does not have are zero, or cut off.
            less => power(-less as u32).map_or(0, |step| units / step),
        };
        (limits.0 <= units && units <= limits.1).then_some(units)
    };
    let digit_of = |row: usize| match digits {
        Side::Many(values) => values[row],
        Side::One(value) => value,
    };
    let units = match (ints(operand), units(operand)) {
        (Some(side), _) => zip(side, Side::One(()), rows, |value, ()| i128::from(value)),
        (_, Some(units)) => {
            let wide = units.wide();
            zip(units.side(&wide), Side::One(()), rows, |value, ()| value)
        }
        _ => return Err(shapes_differ()),
    };
    let mut values = Vec::with_capacity(rows);
    for (row, &value) in units.iter().enumerate() {
        values.push(match one(value, digit_of(row)) {
            Some(value) => value,
            None if is_null(row) => 0,
            None => return Err(over(row)),
        });
    }
    Ok(match (result.kind, narrowed(&values)) {
        (Kind::Decimal { .. }, Some(values)) => Data::SmallDecimals(values),
        (Kind::Decimal { .. }, None) => Data::Decimals(values),
        (Kind::Float | Kind::Float32, _) => return Err(shapes_differ()),
        _ => Data::Ints(values.into_iter().map(|value| value as i64).collect()),
    })
}

/// Computes the means of decimals from their sums and numbers.
pub fn means(
    [sums, counts]: [&Operand; 2],
    of: Typed<'_>,
    result: Typed<'_>,
    nulls: Option<&[bool]>,
    rows: usize,
) -> Result<Data> {
    let scale = |kind: Kind| if let Kind::Decimal { scale } = kind { u32::from(scale) } else { 0 };
    let (from, to) = (scale(of.kind), scale(result.kind));
    let (Some(sums), Some(counts)) = (units(sums), ints(counts)) else { return Err(shapes_differ()) };
    let wide = sums.wide();
    let (least, most) = limits_of(result.data_type);
    let mean =
        |sum: i128, count: i64| mean_of(sum, count.max(1), from, to).filter(|mean| (least..=most).contains(mean));
    let means = zip(sums.side(&wide), counts, rows, mean);
    let mut values = Vec::with_capacity(rows);
    for (row, mean) in means.into_iter().enumerate() {
        values.push(match mean {
            Some(mean) => mean,
            None if nulls.is_some_and(|nulls| nulls[row]) => 0,
            None => return Err(invalid(format!("a mean is out of range of {}", result.data_type))),
        });
    }
    Ok(narrowed(&values).map_or_else(|| Data::Decimals(values), Data::SmallDecimals))
}

/// Returns units without the digits behind the first `digits` behind the point; away from zero by one step if `up`
/// holds for the rest and the step. With a negative rest it is down.
fn stepped(value: i128, scale: i64, digits: i64, up: fn(i128, u128, i128) -> bool) -> Option<i128> {
    let cut = scale.saturating_sub(digits);
    if cut <= 0 {
        return Some(value);
    }
    // What has fewer digits than are cut off is less than half of a step.
    let Some(step) = u32::try_from(cut).ok().and_then(power) else {
        return Some(0);
    };
    let rest = value % step;
    let whole = value - rest;
    if up(rest, step.unsigned_abs(), value) { whole.checked_add(step * rest.signum()) } else { Some(whole) }
}

/// Rounds half away from zero, as DataFusion does: by a factor.
fn round(value: f64, digits: i64) -> f64 {
    let factor = 10f64.powi(digits.clamp(-400, 400) as i32);
    if digits == 0 {
        return value.round();
    }
    let scaled = value * factor;
    match () {
        // More digits than a float has, or fewer than it is large.
        () if factor.is_infinite() || (scaled.is_infinite() && value.is_finite()) => value,
        () if factor == 0.0 => 0.0f64.copysign(value),
        () => scaled.round() / factor,
    }
}

fn round_single(value: f64, digits: i64) -> f64 {
    let value = value as f32;
    let factor = 10f64.powi(digits.clamp(-400, 400) as i32) as f32;
    let scaled = value * factor;
    f64::from(match () {
        () if factor.is_infinite() || (scaled.is_infinite() && value.is_finite()) => value,
        () if factor == 0.0 => 0.0f32.copysign(value),
        () => scaled.round() / factor,
    })
}
