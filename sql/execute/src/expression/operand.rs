//! Values of one side of an operation: a vector, or one value for all rows.

use std::borrow::Cow;
use std::sync::Arc;

use yunti_base::{Code, Error};
use yunti_engine::columns::expression::Side;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Bytes, Data, Value, Vector};

/// A value of each row, or one for all. A vector here has no codes of numbers.
#[derive(Clone)]
pub enum Operand {
    Vector(Arc<Vector>),
    Constant(Arc<Value>),
}

impl Operand {
    /// Returns the operand of a vector.
    pub fn of(vector: Vector) -> Operand {
        match vector.data {
            Data::NumberCodes(..) => Operand::Vector(Arc::new(vector.decoded().into_owned())),
            _ => Operand::Vector(Arc::new(vector)),
        }
    }

    /// Returns the nulls of a vector.
    pub fn nulls(&self) -> Option<&Vec<bool>> {
        match self {
            Operand::Vector(vector) => vector.nulls.as_ref(),
            Operand::Constant(_) => None,
        }
    }

    /// Returns true for a null for all rows.
    pub fn is_null(&self) -> bool {
        matches!(self, Operand::Constant(value) if **value == Value::Null)
    }

    /// Returns the value of a row, for messages and rare cases.
    pub fn value(&self, row: usize) -> Value {
        match self {
            Operand::Vector(vector) => vector.value(row),
            Operand::Constant(value) => (**value).clone(),
        }
    }

    /// Returns a vector of the values.
    pub fn into_vector(self, kind: Kind, rows: usize) -> Arc<Vector> {
        match self {
            Operand::Vector(vector) => vector,
            Operand::Constant(value) => Arc::new(constant(&value, kind, rows)),
        }
    }
}

/// Returns the same value for a number of rows; decimals in 64 bits if they fit.
pub fn constant(value: &Value, kind: Kind, rows: usize) -> Vector {
    match value {
        Value::Decimal(units) => match i64::try_from(*units) {
            Ok(units) => Vector::of(Data::SmallDecimals(vec![units; rows])),
            Err(_) => Vector::of(Data::Decimals(vec![*units; rows])),
        },
        value => Vector::constant(value, kind, rows),
    }
}

/// Returns nulls for all rows.
pub fn nothing(kind: Kind, rows: usize) -> Vector {
    Vector::constant(&Value::Null, kind, rows)
}

macro_rules! side {
    ($(#[$doc:meta])* $name:ident, $type:ty, $data:ident, $value:ident) => {
        $(#[$doc])*
        pub fn $name<'a>(operand: &'a Operand) -> Option<Side<'a, $type>> {
            match operand {
                Operand::Vector(vector) => match &vector.data {
                    Data::$data(values) => Some(Side::Many(values)),
                    _ => None,
                },
                Operand::Constant(value) => match &**value {
                    Value::$value(value) => Some(Side::One(*value)),
                    _ => None,
                },
            }
        }
    };
}
side!(
    /// Returns booleans, if the operand has them.
    bools, bool, Bools, Bool
);
side!(
    /// Returns whole numbers, dates and times, if the operand has them.
    ints, i64, Ints, Int
);
side!(
    /// Returns floats, if the operand has them.
    floats, f64, Floats, Float
);

/// Units of decimals.
pub enum Units<'a> {
    Small(Cow<'a, [i64]>),
    Wide(&'a [i128]),
    One(i128),
}

/// Returns units of decimals, in 64 bits if all fit.
pub fn units<'a>(operand: &'a Operand) -> Option<Units<'a>> {
    Some(match operand {
        Operand::Constant(value) => match &**value {
            Value::Decimal(value) => Units::One(*value),
            _ => return None,
        },
        Operand::Vector(vector) => match &vector.data {
            Data::SmallDecimals(values) => Units::Small(Cow::Borrowed(values)),
            Data::Decimals(values) => match narrowed(values) {
                Some(values) => Units::Small(Cow::Owned(values)),
                None => Units::Wide(values),
            },
            _ => return None,
        },
    })
}

/// Returns units in 64 bits; None unless all fit.
pub fn narrowed(values: &[i128]) -> Option<Vec<i64>> {
    let fit = values.iter().fold(true, |all, &value| all & (value as i64 as i128 == value));
    fit.then(|| values.iter().map(|&value| value as i64).collect())
}

impl Units<'_> {
    /// Returns the units as one side of a loop in 64 bits; None if a value does not fit.
    pub fn small(&self) -> Option<Side<'_, i64>> {
        match self {
            Units::Small(values) => Some(Side::Many(values)),
            Units::One(value) => i64::try_from(*value).ok().map(Side::One),
            Units::Wide(_) => None,
        }
    }

    /// Returns the units in 128 bits.
    pub fn wide(&self) -> Cow<'_, [i128]> {
        match self {
            Units::Small(values) => Cow::Owned(values.iter().map(|&value| value.into()).collect()),
            Units::Wide(values) => Cow::Borrowed(values),
            Units::One(value) => Cow::Owned(vec![*value]),
        }
    }

    /// Returns one side of a loop over what `wide` gave.
    pub fn side<'a>(&self, wide: &'a [i128]) -> Side<'a, i128> {
        match self {
            Units::One(value) => Side::One(*value),
            _ => Side::Many(wide),
        }
    }
}

/// Texts where they stand.
#[derive(Clone, Copy)]
pub enum Texts<'a> {
    Many(&'a Bytes),
    Coded(&'a [u32], &'a Bytes),
    One(&'a [u8]),
}

impl<'a> Texts<'a> {
    /// Returns the texts of an operand, if it has them.
    pub fn of(operand: &'a Operand) -> Option<Texts<'a>> {
        match operand {
            Operand::Vector(vector) => Texts::of_vector(vector),
            Operand::Constant(value) => match &**value {
                Value::Bytes(value) => Some(Texts::One(value)),
                _ => None,
            },
        }
    }

    /// Returns the texts of a vector, if it has them.
    pub fn of_vector(vector: &'a Vector) -> Option<Texts<'a>> {
        match &vector.data {
            Data::Bytes(values) => Some(Texts::Many(values)),
            Data::Codes(codes, values) => Some(Texts::Coded(codes, values)),
            _ => None,
        }
    }

    /// Returns the text of a row.
    #[inline]
    pub fn get(&self, row: usize) -> &'a [u8] {
        match self {
            Texts::Many(values) => values.get(row),
            Texts::Coded(codes, values) => values.get(codes[row] as usize),
            Texts::One(value) => value,
        }
    }

    /// Computes a value of each text.
    #[inline]
    pub fn map<R: Copy>(&self, rows: usize, mut f: impl FnMut(&[u8]) -> R) -> Vec<R> {
        match *self {
            Texts::Many(values) => (0..rows).map(|row| f(values.get(row))).collect(),
            Texts::Coded(codes, values) => codes.iter().map(|&code| f(values.get(code as usize))).collect(),
            Texts::One(value) => (rows > 0).then(|| f(value)).map_or(Vec::new(), |one| vec![one; rows]),
        }
    }
}

/// Returns the error for values that do not have the shape of their type: a plan that is wrong.
pub fn shapes_differ() -> Error {
    Error::new(Code::Internal, "the plan has values of another shape than their type")
}

/// Returns the error for values that an operation cannot take.
pub fn invalid(what: impl Into<String>) -> Error {
    Error::new(Code::Invalid, what.into())
}

/// Returns nulls if there is one at all.
pub fn some_nulls(nulls: Option<Vec<bool>>) -> Option<Vec<bool>> {
    nulls.filter(|nulls| nulls.contains(&true))
}
