//! Conversions between types, as Arrow does them.
//!
//! ```text
//!   to a whole number   floats and decimals are cut off at the point; out of range is an error
//!   to a decimal        half away from zero; more digits than the type has are an error
//!   to a date           the day of a timestamp;  to a timestamp: midnight
//!   to a coarser unit   cut off toward zero
//!   to and from text    text.rs
//! ```
//!
//! What is an error gives null in a lenient conversion.

mod format;
mod parse;

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_engine::columns::expression::{Side, bits};
use yunti_engine::columns::kind::{Kind, Unit};
use yunti_engine::columns::vector::{Data, Value, Vector};

use super::arithmetic::{Typed, half, limits_of, power, round_floats, shown};
use super::operand::{Operand, Units, bools, floats, ints, invalid, nothing, shapes_differ, units};

/// Returns the text of a value.
#[cfg(test)]
pub fn text_of(value: &Value, from: Typed<'_>) -> String {
    let mut out = Vec::new();
    format::put(value, from, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// A conversion of values.
struct Conversion<'a> {
    values: &'a Operand,
    from: Typed<'a>,
    to: Typed<'a>,
    lenient: bool,
    rows: usize,
}

/// Values with their nulls.
type Converted = Result<(Data, Option<Vec<bool>>)>;

/// Converts values to another type. Errors: `Invalid` for a value that the type cannot have, unless it is lenient.
pub fn cast(values: &Operand, from: Typed<'_>, to: Typed<'_>, lenient: bool, rows: usize) -> Result<Vector> {
    if values.is_null() || *from.data_type == DataType::Null {
        return Ok(nothing(to.kind, rows));
    }
    let conversion = Conversion { values, from, to, lenient, rows };
    let (data, nulls) = conversion.run()?;
    Ok(Vector { data, nulls })
}

impl Conversion<'_> {
    fn run(&self) -> Converted {
        if self.to.kind == Kind::Text {
            return self.to_text();
        }
        if self.from.kind == Kind::Text {
            return self.of_text();
        }
        if let Some(side) = bools(self.values) {
            return self.of_bools(side);
        }
        if let Some(side) = floats(self.values) {
            return self.of_floats(side);
        }
        if let Some(side) = ints(self.values) {
            return self.of_ints(side);
        }
        match units(self.values) {
            Some(units) => self.of_decimals(&units),
            None => Err(shapes_differ()),
        }
    }

    /// Returns a value of each value; what `f` has none for is an error or a null.
    fn each<T: Copy, U: Copy + Default>(
        &self,
        side: Side<'_, T>,
        f: impl Fn(T) -> Option<U>,
    ) -> Result<(Vec<U>, Option<Vec<bool>>)> {
        let one;
        let values = match side {
            Side::Many(values) => values,
            Side::One(value) => {
                one = vec![value; self.rows];
                &one
            }
        };
        let mut failed = false;
        let converted: Vec<U> = values
            .iter()
            .map(|&value| {
                let value = f(value);
                failed |= value.is_none();
                value.unwrap_or_default()
            })
            .collect();
        let nulls = if failed { self.failed(|row| f(values[row]).is_none())? } else { self.values.nulls().cloned() };
        Ok((converted, nulls))
    }

    /// Returns nulls where there is no value, or fails for the first that is no null.
    fn failed(&self, is_missing: impl Fn(usize) -> bool) -> Result<Option<Vec<bool>>> {
        let mut nulls = self.values.nulls().cloned().unwrap_or_else(|| vec![false; self.rows]);
        for (row, null) in nulls.iter_mut().enumerate() {
            if !*null && is_missing(row) {
                if !self.lenient {
                    let value = shown(&self.values.value(row), self.from.kind);
                    let error = invalid(format!("'{value}' cannot be converted to {}", self.to.data_type));
                    return Err(error.hint("try_cast gives null for such values"));
                }
                *null = true;
            }
        }
        Ok(Some(nulls))
    }

    /// Returns the values of a loop that cannot fail.
    fn all<T: Copy, U>(&self, side: Side<'_, T>, f: impl Fn(T) -> U) -> Vec<U> {
        match side {
            Side::Many(values) => values.iter().map(|&value| f(value)).collect(),
            Side::One(value) => (0..self.rows).map(|_| f(value)).collect(),
        }
    }

    fn with_nulls(&self, data: Data) -> Converted {
        Ok((data, self.values.nulls().cloned()))
    }

    fn of_bools(&self, side: Side<'_, bool>) -> Converted {
        match self.to.kind {
            Kind::Boolean => self.with_nulls(Data::Bools(self.all(side, |value| value))),
            Kind::Float | Kind::Float32 => self.with_nulls(Data::Floats(self.all(side, |v| f64::from(u8::from(v))))),
            Kind::Decimal { scale } => {
                let one = power(scale.into()).filter(|&one| one <= limits_of(self.to.data_type).1);
                let (units, nulls) = self.each(side, |value| if value { one } else { Some(0) })?;
                Ok((decimals(units), nulls))
            }
            _ => self.with_nulls(Data::Ints(self.all(side, i64::from))),
        }
    }

    fn of_floats(&self, side: Side<'_, f64>) -> Converted {
        let (min, max) = limits_of(self.to.data_type);
        match self.to.kind {
            Kind::Boolean => self.with_nulls(Data::Bools(self.all(side, |value| value != 0.0))),
            Kind::Float | Kind::Float32 => {
                let mut values = self.all(side, |value| value);
                round_floats(&mut values, self.to.data_type);
                self.with_nulls(Data::Floats(values))
            }
            Kind::Decimal { scale } => {
                let one = 10f64.powi(scale.into());
                let units = |value: f64| whole((value * one).round()).filter(|units| (min..=max).contains(units));
                let (units, nulls) = self.each(side, units)?;
                Ok((decimals(units), nulls))
            }
            _ => {
                let number = |value: f64| whole(value.trunc()).filter(|number| (min..=max).contains(number));
                let (values, nulls) = self.each(side, |value| number(value).map(|number| number as i64))?;
                Ok((Data::Ints(values), nulls))
            }
        }
    }

    fn of_ints(&self, side: Side<'_, i64>) -> Converted {
        let (min, max) = limits_of(self.to.data_type);
        match (self.from.kind, self.to.kind) {
            (_, Kind::Boolean) => self.with_nulls(Data::Bools(self.all(side, |value| value != 0))),
            (_, Kind::Float) => self.with_nulls(Data::Floats(self.all(side, |value| value as f64))),
            (_, Kind::Float32) => {
                let is_half = *self.to.data_type == DataType::Float16;
                let round = |value: i64| if is_half { half(value as f64) } else { f64::from(value as f32) };
                self.with_nulls(Data::Floats(self.all(side, round)))
            }
            (_, Kind::Decimal { scale }) => self.scaled(side, power(scale.into()), (min, max)),
            (Kind::Date, Kind::Timestamp { unit, .. }) => self.times(side, 86_400 * unit.per_second(), 1),
            (Kind::Timestamp { unit, .. }, Kind::Date) => {
                let day = 86_400 * unit.per_second();
                let (values, nulls) = self.each(side, |value| in_limits(value.div_euclid(day), min, max))?;
                Ok((Data::Ints(values), nulls))
            }
            (Kind::Timestamp { unit, .. }, Kind::Time(to)) => {
                let day = 86_400 * unit.per_second();
                let (up, down) = steps(unit, to);
                self.with_nulls(Data::Ints(self.all(side, |value| value.rem_euclid(day) * up / down)))
            }
            (
                Kind::Timestamp { unit: from, .. } | Kind::Time(from),
                Kind::Timestamp { unit: to, .. } | Kind::Time(to),
            ) => {
                let (up, down) = steps(from, to);
                self.times(side, up, down)
            }
            // The number of days or units.
            _ => {
                let (values, nulls) = self.each(side, |value| in_limits(value, min, max))?;
                Ok((Data::Ints(values), nulls))
            }
        }
    }

    /// Multiplies and divides whole numbers, toward zero.
    fn times(&self, side: Side<'_, i64>, up: i64, down: i64) -> Converted {
        let (values, nulls) = self.each(side, |value: i64| value.checked_mul(up).map(|value| value / down))?;
        Ok((Data::Ints(values), nulls))
    }

    /// Multiplies units, in 64 bits if all results fit.
    fn scaled(&self, side: Side<'_, i64>, factor: Option<i128>, limits: (i128, i128)) -> Converted {
        let factor64 = factor.and_then(|factor| i64::try_from(factor).ok());
        if let Some(factor) = factor64
            && bits(side) + bits(Side::One(factor)) < 64
        {
            let (min, max) = (clamped(limits.0), clamped(limits.1));
            let product = |value: i64| {
                let value = value.wrapping_mul(factor);
                (min <= value && value <= max).then_some(value)
            };
            let (units, nulls) = self.each(side, product)?;
            return Ok((Data::SmallDecimals(units), nulls));
        }
        let product = |value: i64| times(value.into(), factor).filter(|v| (limits.0..=limits.1).contains(v));
        let (units, nulls) = self.each(side, product)?;
        Ok((decimals(units), nulls))
    }

    fn of_decimals(&self, units: &Units<'_>) -> Converted {
        let Kind::Decimal { scale } = self.from.kind else { return Err(shapes_differ()) };
        let limits = limits_of(self.to.data_type);
        match self.to.kind {
            Kind::Boolean => self.with_nulls(Data::Bools(self.all(wide(units, &units.wide()), |value| value != 0))),
            Kind::Float | Kind::Float32 => {
                let one = 10f64.powi(scale.into());
                let mut values = match units.small() {
                    Some(side) => self.all(side, |value| value as f64 / one),
                    None => self.all(wide(units, &units.wide()), |value| value as f64 / one),
                };
                round_floats(&mut values, self.to.data_type);
                self.with_nulls(Data::Floats(values))
            }
            Kind::Decimal { scale: to } if to >= scale => {
                let factor = power((to - scale).into());
                match units.small() {
                    Some(side) => self.scaled(side, factor, limits),
                    None => {
                        let product = |value: i128| times(value, factor).filter(|v| (limits.0..=limits.1).contains(v));
                        let (units, nulls) = self.each(wide(units, &units.wide()), product)?;
                        Ok((decimals(units), nulls))
                    }
                }
            }
            Kind::Decimal { scale: to } => {
                let (units, nulls) = self.divided(units, power((scale - to).into()), limits, true)?;
                Ok((decimals(units), nulls))
            }
            _ => {
                let (units, nulls) = self.divided(units, power(scale.into()), limits, false)?;
                Ok((Data::Ints(units.into_iter().map(|value| value as i64).collect()), nulls))
            }
        }
    }

    /// Divides units, toward zero or half away from it.
    fn divided(
        &self,
        units: &Units<'_>,
        divisor: Option<i128>,
        limits: (i128, i128),
        rounds: bool,
    ) -> Result<(Vec<i128>, Option<Vec<bool>>)> {
        let kept = |value: i128| (limits.0 <= value && value <= limits.1).then_some(value);
        let small = divisor.and_then(|divisor| i64::try_from(divisor).ok());
        if let (Some(side), Some(divisor)) = (units.small(), small) {
            let up = |rest: i64| rounds && 2 * i128::from(rest.unsigned_abs()) >= divisor.into();
            let quotient = |value: i64| {
                let (whole, rest) = (value / divisor, value % divisor);
                kept(i128::from(whole) + i128::from(if up(rest) { value.signum() } else { 0 }))
            };
            return self.each(side, quotient);
        }
        let quotient = |value: i128| {
            // Nothing of 128 bits is left of what is divided by more than they hold.
            let Some(divisor) = divisor else { return Some(0) };
            let (whole, rest) = (value / divisor, value % divisor);
            let up = rounds && rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2);
            kept(whole + if up { value.signum() } else { 0 })
        };
        self.each(wide(units, &units.wide()), quotient)
    }

    fn to_text(&self) -> Converted {
        if self.from.kind != Kind::Text {
            return self.with_nulls(Data::Bytes(format::texts(self.values, self.from, self.rows)));
        }
        let binary = |of: &DataType| {
            matches!(of, DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_))
        };
        let values = match self.values {
            Operand::Vector(vector) => vector.data.clone(),
            Operand::Constant(value) => Vector::constant(value, Kind::Text, self.rows).data,
        };
        if !binary(self.from.data_type) || binary(self.to.data_type) {
            return self.with_nulls(values);
        }
        let vector = Vector::of(values);
        let wrong: Vec<bool> = (0..self.rows).map(|row| std::str::from_utf8(vector.bytes(row)).is_err()).collect();
        let nulls = if wrong.contains(&true) { self.failed(|row| wrong[row])? } else { self.values.nulls().cloned() };
        Ok((vector.data, nulls))
    }

    fn of_text(&self) -> Converted {
        let texts = super::operand::Texts::of(self.values).ok_or_else(shapes_differ)?;
        // A null has some text of its own, which need not be a value.
        let values: Vec<Option<Value>> = (0..self.rows)
            .map(|row| if self.is_null(row) { None } else { parse::value(texts.get(row), self.to) })
            .collect();
        let nulls = match values.contains(&None) {
            true => self.failed(|row| values[row].is_none())?,
            false => self.values.nulls().cloned(),
        };
        let values = values.into_iter();
        let data = match self.to.kind {
            Kind::Boolean => Data::Bools(values.map(|value| value == Some(Value::Bool(true))).collect()),
            Kind::Float | Kind::Float32 => {
                Data::Floats(values.map(|value| if let Some(Value::Float(v)) = value { v } else { 0.0 }).collect())
            }
            Kind::Decimal { .. } => {
                decimals(values.map(|value| if let Some(Value::Decimal(v)) = value { v } else { 0 }).collect())
            }
            _ => Data::Ints(values.map(|value| if let Some(Value::Int(v)) = value { v } else { 0 }).collect()),
        };
        Ok((data, nulls))
    }

    fn is_null(&self, row: usize) -> bool {
        self.values.nulls().is_some_and(|nulls| nulls[row])
    }
}

fn wide<'a>(units: &Units<'_>, values: &'a [i128]) -> Side<'a, i128> {
    units.side(values)
}

/// Returns decimals, in 64 bits if all fit.
fn decimals(units: Vec<i128>) -> Data {
    match super::operand::narrowed(&units) {
        Some(units) => Data::SmallDecimals(units),
        None => Data::Decimals(units),
    }
}

fn times(value: i128, factor: Option<i128>) -> Option<i128> {
    match factor {
        Some(factor) => value.checked_mul(factor),
        None => (value == 0).then_some(0),
    }
}

fn clamped(limit: i128) -> i64 {
    limit.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

fn in_limits(value: i64, min: i128, max: i128) -> Option<i64> {
    (min <= value.into() && i128::from(value) <= max).then_some(value)
}

/// Returns the number of a float without a fraction, if 128 bits hold it.
fn whole(value: f64) -> Option<i128> {
    // 2^127 is the first that does not fit.
    (value >= -(2f64.powi(127)) && value < 2f64.powi(127)).then_some(value as i128)
}

/// Returns the factor and the divisor between two units.
fn steps(from: Unit, to: Unit) -> (i64, i64) {
    let (have, want) = (from.per_second(), to.per_second());
    if want >= have { (want / have, 1) } else { (1, have / want) }
}
