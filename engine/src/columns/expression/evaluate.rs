//! Values of a typed expression for the rows of some vectors.
//!
//! Loops run over whole columns, and a constant is no column. What depends on one column of codes alone is computed
//! once for each value of its dictionary. Decimals of 64 bits stay so small as long as no result can be larger.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::bind::{Node, Typed};
use super::functions::merged;
use super::parse::Op;
use crate::columns::kind::Kind;
use crate::columns::normal::ordered_float;
use crate::columns::text;
use crate::columns::vector::{Bytes, Data, Value, Vector, either};
use yunti_base::{Code, Error, Result};

/// Values of one side of an operator.
#[derive(Clone, Copy)]
pub enum Side<'a, T> {
    Many(&'a [T]),
    One(T),
}

/// Computes `f` for the values of two sides.
#[inline]
pub fn zip<A: Copy, B: Copy, R>(a: Side<'_, A>, b: Side<'_, B>, rows: usize, mut f: impl FnMut(A, B) -> R) -> Vec<R> {
    match (a, b) {
        (Side::Many(a), Side::Many(b)) => a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect(),
        (Side::Many(a), Side::One(b)) => a.iter().map(|&a| f(a, b)).collect(),
        (Side::One(a), Side::Many(b)) => b.iter().map(|&b| f(a, b)).collect(),
        (Side::One(a), Side::One(b)) => (0..rows).map(|_| f(a, b)).collect(),
    }
}

/// A value of each row, or one for all.
enum Operand<'a> {
    Vector(Cow<'a, Vector>),
    Constant(&'a Value),
}

impl Operand<'_> {
    fn without_codes(&self) -> Operand<'_> {
        match self {
            Operand::Vector(vector) => Operand::Vector(vector.decoded()),
            Operand::Constant(value) => Operand::Constant(value),
        }
    }

    /// Returns the operand with decimals of 128 bits.
    fn widened(&self) -> Operand<'_> {
        match self {
            Operand::Vector(vector) => match &vector.data {
                Data::SmallDecimals(values) => {
                    let data = Data::Decimals(values.iter().map(|&value| value.into()).collect());
                    Operand::Vector(Cow::Owned(Vector { data, nulls: vector.nulls.clone() }))
                }
                _ => Operand::Vector(Cow::Borrowed(vector)),
            },
            Operand::Constant(value) => Operand::Constant(value),
        }
    }

    fn nulls(&self) -> Option<&Vec<bool>> {
        match self {
            Operand::Vector(vector) => vector.nulls.as_ref(),
            Operand::Constant(_) => None,
        }
    }

    fn is_null(&self) -> bool {
        matches!(self, Operand::Constant(Value::Null))
    }
}

macro_rules! side {
    ($name:ident, $type:ty, $data:ident, $value:ident) => {
        fn $name<'a>(operand: &'a Operand<'_>) -> Option<Side<'a, $type>> {
            match operand {
                Operand::Vector(vector) => match &vector.data {
                    Data::$data(values) => Some(Side::Many(values)),
                    _ => None,
                },
                Operand::Constant(Value::$value(value)) => Some(Side::One(*value)),
                Operand::Constant(_) => None,
            }
        }
    };
}
side!(bools, bool, Bools, Bool);
side!(ints, i64, Ints, Int);
side!(floats, f64, Floats, Float);
side!(decimals, i128, Decimals, Decimal);

/// Returns the rows whose value is true and no null.
pub fn rows_true(values: &[bool], nulls: Option<&[bool]>) -> Vec<u32> {
    // Without a branch: each row is written, and counts if it holds.
    let mut kept = vec![0u32; values.len()];
    let mut n = 0;
    match nulls {
        None => {
            for (row, &value) in values.iter().enumerate() {
                kept[n] = row as u32;
                n += usize::from(value);
            }
        }
        Some(nulls) => {
            for (row, (&value, &null)) in values.iter().zip(nulls).enumerate() {
                kept[n] = row as u32;
                n += usize::from(value & !null);
            }
        }
    }
    kept.truncate(n);
    kept
}

/// Returns decimals whose units fit 64 bits; None if neither side of the operator has them.
fn small_decimals<'a>(left: &'a Operand<'_>, right: &'a Operand<'_>) -> Option<(Side<'a, i64>, Side<'a, i64>)> {
    let small = |operand: &'a Operand<'_>| match operand {
        Operand::Vector(vector) => match &vector.data {
            Data::SmallDecimals(values) => Some(Side::Many(&values[..])),
            _ => None,
        },
        Operand::Constant(Value::Decimal(value)) => i64::try_from(*value).ok().map(Side::One),
        Operand::Constant(_) => None,
    };
    let sides = (small(left)?, small(right)?);
    (!matches!(sides, (Side::One(_), Side::One(_)))).then_some(sides)
}

/// Returns the bits that the largest value needs, without its sign.
pub fn bits(side: Side<'_, i64>) -> u32 {
    let of = |value: i64| (value ^ value >> 63) as u64;
    let all = match side {
        Side::Many(values) => values.iter().fold(0, |all, value| all | of(*value)),
        Side::One(value) => of(value),
    };
    64 - all.leading_zeros()
}

/// Computes `f` for each value of a dictionary instead of each row, if one side has codes and the other is a constant.
/// None also if that fails: it may for a value that no row has.
fn by_dictionary(
    left: &Operand<'_>,
    right: &Operand<'_>,
    f: impl FnOnce(&Operand<'_>, &Operand<'_>, usize) -> Result<Vector>,
) -> Option<Vector> {
    let (vector, is_left) = match (left, right) {
        (Operand::Vector(vector), Operand::Constant(_)) => (vector, true),
        (Operand::Constant(_), Operand::Vector(vector)) => (vector, false),
        _ => return None,
    };
    each_code(vector, |values, n| {
        let values = Operand::Vector(Cow::Borrowed(values));
        if is_left { f(&values, right, n) } else { f(left, &values, n) }
    })
}

/// Computes `f` for each value of a dictionary of numbers. None if there is none, it is large, or `f` fails.
fn each_code(vector: &Vector, f: impl FnOnce(&Vector, usize) -> Result<Vector>) -> Option<Vector> {
    let Data::NumberCodes(codes, values) = &vector.data else { return None };
    if values.len() > codes.len() {
        return None;
    }
    let of_values = f(&Vector::of((**values).clone()), values.len()).ok()?;
    let more = of_values.nulls.map(|nulls| codes.iter().map(|&code| nulls[code as usize]).collect());
    let data = match of_values.data {
        Data::Bools(values) => Data::Bools(codes.iter().map(|&code| values[code as usize]).collect()),
        Data::Bytes(values) => Data::Codes(codes.clone(), values.into()),
        data @ (Data::Codes(..) | Data::NumberCodes(..)) => data.select(codes),
        numbers => Data::NumberCodes(codes.clone(), numbers.into()),
    };
    Some(Vector { data, nulls: either(vector.nulls.as_ref(), more.as_ref()) })
}

/// Returns values without codes of numbers.
fn decoded(values: Cow<'_, Vector>) -> Cow<'_, Vector> {
    match values {
        Cow::Borrowed(values) => values.decoded(),
        Cow::Owned(values) if matches!(values.data, Data::NumberCodes(..)) => Cow::Owned(values.decoded().into_owned()),
        owned => owned,
    }
}

fn shapes_differ() -> Error {
    Error::new(Code::Internal, "the sides of an operator have different shapes")
}

impl Typed {
    /// Returns the value of each row, numbers without codes. Errors: `UserCode` for a result that is out of range.
    pub fn evaluate<'v>(&'v self, columns: &'v [Vector], rows: usize) -> Result<Cow<'v, Vector>> {
        self.values(columns, rows).map(decoded)
    }

    /// Returns the value of each row, in any shape of its type.
    fn values<'v>(&'v self, columns: &'v [Vector], rows: usize) -> Result<Cow<'v, Vector>> {
        let one = |typed: &'v Typed| typed.evaluate(columns, rows);
        Ok(Cow::Owned(match &self.node {
            Node::Column(place) => return Ok(Cow::Borrowed(&columns[*place])),
            Node::Constant(value) => Vector::constant(value, self.kind, rows),
            Node::Not(inner) => {
                let inner = one(inner)?;
                let Data::Bools(values) = &inner.data else { return Err(shapes_differ()) };
                Vector { data: Data::Bools(values.iter().map(|value| !value).collect()), nulls: inner.nulls.clone() }
            }
            Node::And(left, right) => logic(&*one(left)?, &*one(right)?, false)?,
            Node::Or(left, right) => logic(&*one(left)?, &*one(right)?, true)?,
            Node::Compare(op, left, right) => {
                let (left, right) = (left.operand(columns, rows)?, right.operand(columns, rows)?);
                let by_codes = by_dictionary(&left, &right, |left, right, n| compare(*op, left, right, n));
                match by_codes {
                    Some(values) => values,
                    None => compare(*op, &left.without_codes(), &right.without_codes(), rows)?,
                }
            }
            Node::Arithmetic(op, left, right) => {
                let (left, right) = (left.operand(columns, rows)?, right.operand(columns, rows)?);
                let by_codes = by_dictionary(&left, &right, |left, right, n| self.arithmetic(*op, left, right, n));
                match by_codes {
                    Some(values) => values,
                    None => self.arithmetic(*op, &left.without_codes(), &right.without_codes(), rows)?,
                }
            }
            Node::IsNull(inner) => {
                let nulls = one(inner)?.nulls.clone();
                Vector::of(Data::Bools(nulls.unwrap_or_else(|| vec![false; rows])))
            }
            Node::In(inner, values) => {
                let inner = inner.values(columns, rows)?;
                let by_codes = each_code(&inner, |all, _| Ok(among(all, values)));
                by_codes.unwrap_or_else(|| among(&inner.decoded(), values))
            }
            Node::Like(inner, pattern) => {
                let inner = one(inner)?;
                let data = Data::Bools(by_text(&inner, |text| pattern.matches(text)));
                Vector { data, nulls: inner.nulls.clone() }
            }
            Node::Convert(inner) => {
                let values = inner.values(columns, rows)?;
                match each_code(&values, |all, _| converted(all, inner.kind, self.kind)) {
                    Some(values) => values,
                    None => converted(&values.decoded(), inner.kind, self.kind)?,
                }
            }
            Node::Call(function, arguments) => {
                let values = arguments.iter().map(one).collect::<Result<Vec<_>>>()?;
                let values: Vec<(Kind, &Vector)> =
                    arguments.iter().zip(&values).map(|(argument, value)| (argument.kind, &**value)).collect();
                function.call(&values, rows)?
            }
            Node::Case(branches, rest) => {
                let conditions = branches.iter().map(|(when, _)| one(when)).collect::<Result<Vec<_>>>()?;
                let values = branches.iter().map(|(_, then)| then).chain([&**rest]);
                let values = values.map(one).collect::<Result<Vec<_>>>()?;
                let values: Vec<(Kind, &Vector)> = values.iter().map(|value| (self.kind, &**value)).collect();
                let holds = |condition: &Vector, row: usize| {
                    !condition.is_null(row) && matches!(&condition.data, Data::Bools(v) if v[row])
                };
                merged(&values, rows, |row| {
                    let found = conditions.iter().position(|condition| holds(condition, row));
                    Some(found.unwrap_or(values.len() - 1))
                })
            }
        }))
    }

    /// Returns the rows for which the expression, a condition, is true.
    pub fn rows(&self, columns: &[Vector], rows: usize) -> Result<Vec<u32>> {
        let holds = self.evaluate(columns, rows)?;
        let Data::Bools(values) = &holds.data else { return Err(shapes_differ()) };
        Ok(rows_true(values, holds.nulls.as_deref()))
    }

    fn operand<'v>(&'v self, columns: &'v [Vector], rows: usize) -> Result<Operand<'v>> {
        Ok(match &self.node {
            Node::Constant(value) => Operand::Constant(value),
            _ => Operand::Vector(self.values(columns, rows)?),
        })
    }

    fn arithmetic(&self, op: Op, left: &Operand<'_>, right: &Operand<'_>, rows: usize) -> Result<Vector> {
        if left.is_null() || right.is_null() {
            return Ok(Vector::constant(&Value::Null, self.kind, rows));
        }
        let mut nulls = either(left.nulls(), right.nulls());
        let data = if let (Some(a), Some(b)) = (floats(left), floats(right)) {
            Data::Floats(match op {
                Op::Add => zip(a, b, rows, |a, b| a + b),
                Op::Subtract => zip(a, b, rows, |a, b| a - b),
                Op::Multiply => zip(a, b, rows, |a, b| a * b),
                Op::Divide | Op::Remainder => {
                    // A division by zero is null.
                    let zeros = zip(a, b, rows, |_, b| b == 0.0);
                    nulls = with_more(nulls, zeros);
                    if op == Op::Divide { zip(a, b, rows, |a, b| a / b) } else { zip(a, b, rows, |a, b| a % b) }
                }
                _ => return Err(shapes_differ()),
            })
        } else if let (Some(a), Some(b)) = (ints(left), ints(right)) {
            let pairs = match op {
                Op::Add => zip(a, b, rows, i64::overflowing_add),
                Op::Subtract => zip(a, b, rows, i64::overflowing_sub),
                Op::Multiply => zip(a, b, rows, i64::overflowing_mul),
                Op::Remainder => {
                    let zeros = zip(a, b, rows, |_, b| b == 0);
                    nulls = with_more(nulls, zeros);
                    zip(a, b, rows, |a, b| (if b == 0 { 0 } else { a.wrapping_rem(b) }, false))
                }
                _ => return Err(shapes_differ()),
            };
            Data::Ints(in_range(pairs, nulls.as_ref(), self.kind)?)
        } else if let Some(values) = small_arithmetic(op, left, right, rows) {
            Data::SmallDecimals(values)
        } else if let (Some(a), Some(b)) = (decimals(&left.widened()), decimals(&right.widened())) {
            let bounded = |(value, over): (i128, bool)| (value, over || value.unsigned_abs() >= 10u128.pow(38));
            let pairs = match op {
                Op::Add => zip(a, b, rows, |a, b| bounded(a.overflowing_add(b))),
                Op::Subtract => zip(a, b, rows, |a, b| bounded(a.overflowing_sub(b))),
                Op::Multiply => zip(a, b, rows, |a, b| bounded(a.overflowing_mul(b))),
                Op::Remainder => {
                    let zeros = zip(a, b, rows, |_, b| b == 0);
                    nulls = with_more(nulls, zeros);
                    zip(a, b, rows, |a, b| (if b == 0 { 0 } else { a.wrapping_rem(b) }, false))
                }
                _ => return Err(shapes_differ()),
            };
            Data::Decimals(in_range(pairs, nulls.as_ref(), self.kind)?)
        } else {
            return Err(shapes_differ());
        };
        Ok(Vector { data, nulls })
    }
}

/// Computes decimals of 64 bits; None if a result may be larger.
fn small_arithmetic(op: Op, left: &Operand<'_>, right: &Operand<'_>, rows: usize) -> Option<Vec<i64>> {
    let (a, b) = small_decimals(left, right)?;
    let bits = match op {
        Op::Add | Op::Subtract => bits(a).max(bits(b)) + 1,
        // Two negative powers of two make one of just as many bits and no sign.
        Op::Multiply => bits(a) + bits(b) + 1,
        _ => return None,
    };
    (bits < 64).then(|| match op {
        Op::Add => zip(a, b, rows, i64::wrapping_add),
        Op::Subtract => zip(a, b, rows, i64::wrapping_sub),
        _ => zip(a, b, rows, i64::wrapping_mul),
    })
}

fn with_more(nulls: Option<Vec<bool>>, more: Vec<bool>) -> Option<Vec<bool>> {
    if more.contains(&true) { either(nulls.as_ref(), Some(&more)) } else { nulls }
}

/// Returns the values of results that are in range, as far as they are no nulls.
fn in_range<T: Copy>(pairs: Vec<(T, bool)>, nulls: Option<&Vec<bool>>, kind: Kind) -> Result<Vec<T>> {
    let is_over = |(row, (_, over)): (usize, &(T, bool))| *over && !nulls.is_some_and(|nulls| nulls[row]);
    if pairs.iter().enumerate().any(is_over) {
        let error = Error::new(Code::UserCode, format!("a result of arithmetic is too large for {kind}"));
        return Err(error.hint("compute with floats: cast(x as double)"));
    }
    Ok(pairs.into_iter().map(|(value, _)| value).collect())
}

/// Computes `f` for the text of each row, once for each value of a dictionary.
fn by_text<R: Copy>(texts: &Vector, f: impl Fn(&[u8]) -> R) -> Vec<R> {
    match &texts.data {
        Data::Codes(codes, values) if values.len() <= codes.len() => {
            let each: Vec<R> = values.iter().map(f).collect();
            codes.iter().map(|&code| each[code as usize]).collect()
        }
        _ => (0..texts.len()).map(|row| f(texts.bytes(row))).collect(),
    }
}

fn holds(op: Op, order: Ordering) -> bool {
    match op {
        Op::Equal => order.is_eq(),
        Op::Unequal => order.is_ne(),
        Op::Less => order.is_lt(),
        Op::LessOrEqual => order.is_le(),
        Op::Greater => order.is_gt(),
        _ => order.is_ge(),
    }
}

/// Compares values of an ordered shape, with a loop for each operator.
fn ordered<T: Copy + PartialOrd>(op: Op, a: Side<'_, T>, b: Side<'_, T>, rows: usize) -> Vec<bool> {
    match op {
        Op::Equal => zip(a, b, rows, |a, b| a == b),
        Op::Unequal => zip(a, b, rows, |a, b| a != b),
        Op::Less => zip(a, b, rows, |a, b| a < b),
        Op::LessOrEqual => zip(a, b, rows, |a, b| a <= b),
        Op::Greater => zip(a, b, rows, |a, b| a > b),
        _ => zip(a, b, rows, |a, b| a >= b),
    }
}

fn compare(op: Op, left: &Operand<'_>, right: &Operand<'_>, rows: usize) -> Result<Vector> {
    if left.is_null() || right.is_null() {
        return Ok(Vector::constant(&Value::Null, Kind::Boolean, rows));
    }
    let nulls = either(left.nulls(), right.nulls());
    let values = if let (Some(a), Some(b)) = (ints(left), ints(right)) {
        ordered(op, a, b, rows)
    } else if let (Some(a), Some(b)) = (floats(left), floats(right)) {
        // NaN equals NaN and is larger than infinity, so that an order of floats is total.
        let has_nan = |side: &Side<'_, f64>| match side {
            Side::Many(values) => values.iter().any(|v| v.is_nan()),
            Side::One(value) => value.is_nan(),
        };
        match has_nan(&a) || has_nan(&b) {
            true => zip(a, b, rows, |a, b| holds(op, ordered_float(a).cmp(&ordered_float(b)))),
            false => ordered(op, a, b, rows),
        }
    } else if let Some((a, b)) = small_decimals(left, right) {
        ordered(op, a, b, rows)
    } else if let (Some(a), Some(b)) = (decimals(&left.widened()), decimals(&right.widened())) {
        ordered(op, a, b, rows)
    } else if let (Some(a), Some(b)) = (bools(left), bools(right)) {
        ordered(op, a, b, rows)
    } else {
        match (left, right) {
            (Operand::Vector(texts), Operand::Constant(Value::Bytes(one))) => {
                by_text(texts, |text| holds(op, text.cmp(&one[..])))
            }
            (Operand::Constant(Value::Bytes(one)), Operand::Vector(texts)) => {
                by_text(texts, |text| holds(op, one[..].cmp(text)))
            }
            (Operand::Vector(a), Operand::Vector(b)) => {
                (0..rows).map(|row| holds(op, a.bytes(row).cmp(b.bytes(row)))).collect()
            }
            (Operand::Constant(Value::Bytes(a)), Operand::Constant(Value::Bytes(b))) => {
                vec![holds(op, a.cmp(b)); rows]
            }
            _ => return Err(shapes_differ()),
        }
    };
    Ok(Vector { data: Data::Bools(values), nulls })
}

/// Computes `and`, or with `or` its opposite: a side that decides alone makes the other's null unimportant.
fn logic(left: &Vector, right: &Vector, or: bool) -> Result<Vector> {
    let (Data::Bools(a), Data::Bools(b)) = (&left.data, &right.data) else { return Err(shapes_differ()) };
    let values = a.iter().zip(b).map(|(&a, &b)| if or { a | b } else { a & b });
    if left.nulls.is_none() && right.nulls.is_none() {
        return Ok(Vector::of(Data::Bools(values.collect())));
    }
    let mut all = Vec::with_capacity(a.len());
    let mut nulls = Vec::with_capacity(a.len());
    for row in 0..a.len() {
        let (x, y) = ((!left.is_null(row)).then_some(a[row]), (!right.is_null(row)).then_some(b[row]));
        let value = match (x, y) {
            (Some(x), _) if x == or => Some(or),
            (_, Some(y)) if y == or => Some(or),
            (Some(_), Some(_)) => Some(!or),
            _ => None,
        };
        all.push(value.unwrap_or(false));
        nulls.push(value.is_none());
    }
    Ok(Vector { data: Data::Bools(all), nulls: Some(nulls) })
}

/// Tells for each value if it is in a list: null if it is null, or if it is not found and the list has a null.
fn among(inner: &Vector, values: &[Value]) -> Vector {
    let same = |a: &Value, b: &Value| match (a, b) {
        (Value::Float(a), Value::Float(b)) => ordered_float(*a) == ordered_float(*b),
        (a, b) => a == b,
    };
    let found: Vec<bool> = match &inner.data {
        Data::Bytes(_) | Data::Codes(..) => {
            by_text(inner, |text| values.iter().any(|value| matches!(value, Value::Bytes(v) if v == text)))
        }
        Data::Ints(all) => {
            let list: Vec<i64> =
                values.iter().filter_map(|v| if let Value::Int(v) = v { Some(*v) } else { None }).collect();
            all.iter().map(|v| list.contains(v)).collect()
        }
        _ => {
            let plain = Vector { data: inner.data.clone(), nulls: None };
            (0..plain.len()).map(|row| values.iter().any(|value| same(value, &plain.value(row)))).collect()
        }
    };
    let nulls = match values.contains(&Value::Null) {
        true => either(inner.nulls.as_ref(), Some(&found.iter().map(|found| !found).collect())),
        false => inner.nulls.clone(),
    };
    Vector { data: Data::Bools(found), nulls }
}

/// Returns values in another type. Errors: `UserCode` for a value that the type cannot have.
fn converted(from: &Vector, of: Kind, kind: Kind) -> Result<Vector> {
    let wrong = |row: usize| {
        let mut text = Vec::new();
        text::put(of, &from.value(row), &mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        Error::new(Code::UserCode, format!("'{text}' cannot be converted to {kind}"))
    };
    let nulls = from.nulls.clone();
    let scale = |kind: Kind| if let Kind::Decimal { scale } = kind { scale } else { 0 };
    let units = |kind: Kind| match kind {
        Kind::Time(unit) | Kind::Timestamp { unit, .. } => unit.per_second(),
        _ => 1,
    };
    let data = match (&from.data, kind) {
        (Data::Floats(values), Kind::Float) => Data::Floats(values.clone()),
        (Data::Floats(values), Kind::Float32) => Data::Floats(values.iter().map(|&v| f64::from(v as f32)).collect()),
        (Data::Ints(values), Kind::Float | Kind::Float32) => Data::Floats(values.iter().map(|&v| v as f64).collect()),
        (Data::Decimals(values), Kind::Float | Kind::Float32) => {
            let one = 10f64.powi(scale(of).into());
            Data::Floats(values.iter().map(|&v| v as f64 / one).collect())
        }
        (Data::SmallDecimals(values), Kind::Float | Kind::Float32) => {
            let one = 10f64.powi(scale(of).into());
            Data::Floats(values.iter().map(|&v| v as f64 / one).collect())
        }
        (Data::SmallDecimals(values), Kind::Decimal { scale: digits })
            if (scale(of)..scale(of) + 18).contains(&digits)
                && bits(Side::Many(values)) + bits(Side::One(10i64.pow((digits - scale(of)).into()))) < 64 =>
        {
            let one = 10i64.pow((digits - scale(of)).into());
            Data::SmallDecimals(values.iter().map(|&v| v * one).collect())
        }
        (Data::Ints(values), Kind::Decimal { scale }) => {
            let one = 10i128.pow(scale.into());
            let scaled = |(row, &v): (usize, &i64)| {
                let units = i128::from(v).checked_mul(one).filter(|units| units.unsigned_abs() < 10u128.pow(38));
                match units {
                    Some(units) => Ok(units),
                    None if from.is_null(row) => Ok(0),
                    None => Err(wrong(row)),
                }
            };
            Data::Decimals(values.iter().enumerate().map(scaled).collect::<Result<_>>()?)
        }
        (Data::Ints(values), Kind::Timestamp { unit, .. }) if of == Kind::Date => {
            let day = 86_400 * unit.per_second();
            let scaled = |(row, &v): (usize, &i64)| match v.checked_mul(day) {
                Some(units) => Ok(units),
                None if from.is_null(row) => Ok(0),
                None => Err(wrong(row)),
            };
            Data::Ints(values.iter().enumerate().map(scaled).collect::<Result<_>>()?)
        }
        (Data::Ints(values), Kind::Date) if of != Kind::Int => {
            let day = 86_400 * units(of);
            Data::Ints(values.iter().map(|v| v.div_euclid(day)).collect())
        }
        (Data::Ints(values), Kind::Timestamp { .. } | Kind::Time(_)) => {
            let (have, want) = (units(of), units(kind));
            let day = 86_400 * have;
            let is_time = matches!(kind, Kind::Time(_));
            let scaled = |(row, &v): (usize, &i64)| {
                let v = if is_time { v.rem_euclid(day) } else { v };
                let units = if want >= have { v.checked_mul(want / have) } else { Some(v.div_euclid(have / want)) };
                match units {
                    Some(units) => Ok(units),
                    None if from.is_null(row) => Ok(0),
                    None => Err(wrong(row)),
                }
            };
            Data::Ints(values.iter().enumerate().map(scaled).collect::<Result<_>>()?)
        }
        _ => return by_value(from, of, kind, wrong),
    };
    Ok(Vector { data, nulls })
}

/// Converts value by value, through texts where there is no other way.
fn by_value(from: &Vector, of: Kind, kind: Kind, wrong: impl Fn(usize) -> Error) -> Result<Vector> {
    if kind == Kind::Text {
        let mut texts = Bytes::with_capacity(from.len(), 0);
        let mut one = Vec::new();
        for row in 0..from.len() {
            one.clear();
            text::put(of, &from.value(row), &mut one);
            texts.push(&one);
        }
        return Ok(Vector { data: Data::Bytes(texts), nulls: from.nulls.clone() });
    }
    let mut built = text::Builder::new(kind);
    for row in 0..from.len() {
        let value = from.value(row);
        let text = match (&value, kind) {
            (Value::Null, _) => Vec::new(),
            (Value::Bytes(text), _) if text.is_empty() => return Err(wrong(row)),
            (Value::Bytes(text), _) => text.clone(),
            (Value::Bool(v), Kind::Int | Kind::Decimal { .. } | Kind::Float | Kind::Float32) => {
                vec![b'0' + u8::from(*v)]
            }
            (Value::Float(v), Kind::Int) if v.is_finite() => format!("{:.0}", v.round()).into_bytes(),
            (Value::Float(v), Kind::Decimal { scale }) if v.is_finite() => {
                format!("{v:.0$}", usize::from(scale)).into_bytes()
            }
            (Value::Decimal(v), Kind::Decimal { scale }) => decimal(*v, of, scale.into()).ok_or_else(|| wrong(row))?,
            (Value::Decimal(v), Kind::Int) => decimal(*v, of, 0).ok_or_else(|| wrong(row))?,
            _ => return Err(wrong(row)),
        };
        if !built.push(&text) {
            return Err(wrong(row));
        }
    }
    Ok(built.take())
}

/// Returns the text of a decimal with another number of digits behind the point; half away from zero.
fn decimal(units: i128, of: Kind, digits: u32) -> Option<Vec<u8>> {
    let Kind::Decimal { scale } = of else { return None };
    let scale = u32::from(scale);
    let units = if digits >= scale {
        units.checked_mul(10i128.checked_pow(digits - scale)?)?
    } else {
        let step = 10i128.pow(scale - digits);
        let half = if units < 0 { -step / 2 } else { step / 2 };
        units.checked_add(half)? / step
    };
    let mut text = Vec::new();
    text::put(Kind::Decimal { scale: digits as u8 }, &Value::Decimal(units), &mut text);
    Some(text)
}
