//! Functions of expressions, under the names that SQL dialects share.

use super::pattern::char_len;
use crate::columns::kind::Kind;
use crate::columns::text::{Builder, civil_of};
use crate::columns::vector::{Bytes, Data, Value, Vector};
use yunti_base::{Code, Error, Result};

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    Abs,
    Ceil,
    Coalesce,
    Concat,
    Day,
    Floor,
    Hour,
    Length,
    Lower,
    Minute,
    Month,
    Nullif,
    Round,
    Substr,
    Trim,
    Upper,
    Year,
}

const NAMES: [(&str, Function); 19] = [
    ("abs", Function::Abs),
    ("ceil", Function::Ceil),
    ("ceiling", Function::Ceil),
    ("coalesce", Function::Coalesce),
    ("concat", Function::Concat),
    ("day", Function::Day),
    ("floor", Function::Floor),
    ("hour", Function::Hour),
    ("length", Function::Length),
    ("lower", Function::Lower),
    ("minute", Function::Minute),
    ("month", Function::Month),
    ("nullif", Function::Nullif),
    ("round", Function::Round),
    ("substr", Function::Substr),
    ("substring", Function::Substr),
    ("trim", Function::Trim),
    ("upper", Function::Upper),
    ("year", Function::Year),
];

impl Function {
    /// Returns the names of all functions, for messages.
    pub fn names() -> String {
        NAMES.map(|(name, _)| name).join(", ")
    }

    /// Returns the function of a name.
    pub fn named(name: &str) -> Option<Function> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
    }

    /// Returns the values of a call of some rows. `arguments` have the types that `bind` gave them.
    pub fn call(self, arguments: &[(Kind, &Vector)], rows: usize) -> Result<Vector> {
        match self {
            Function::Coalesce => Ok(coalesce(arguments, rows)),
            Function::Nullif => Ok(nullif(arguments, rows)),
            Function::Lower | Function::Upper | Function::Trim => Ok(self.on_texts(arguments[0].1)),
            _ => self.by_row(arguments, rows),
        }
    }

    /// Maps texts to texts, those of a dictionary once.
    fn on_texts(self, texts: &Vector) -> Vector {
        let of = |text: &[u8]| -> Vec<u8> {
            match self {
                Function::Trim => text.trim_ascii().to_vec(),
                _ => match (std::str::from_utf8(text), self) {
                    (Ok(text), Function::Lower) => text.to_lowercase().into_bytes(),
                    (Ok(text), _) => text.to_uppercase().into_bytes(),
                    (Err(_), Function::Lower) => text.to_ascii_lowercase(),
                    (Err(_), _) => text.to_ascii_uppercase(),
                },
            }
        };
        let map = |values: &Bytes| {
            let mut mapped = Bytes::with_capacity(values.len(), 0);
            values.iter().for_each(|value| mapped.push(&of(value)));
            mapped
        };
        let data = match &texts.data {
            Data::Codes(codes, values) => Data::Codes(codes.clone(), map(values).into()),
            Data::Bytes(values) => Data::Bytes(map(values)),
            other => other.clone(),
        };
        Vector { data, nulls: texts.nulls.clone() }
    }

    /// Computes row by row; null if an argument is.
    fn by_row(self, arguments: &[(Kind, &Vector)], rows: usize) -> Result<Vector> {
        let kind = self.result(arguments[0].0);
        let mut built = Builder::new(kind);
        for row in 0..rows {
            let values: Vec<Value> = arguments.iter().map(|(_, vector)| vector.value(row)).collect();
            let value = match self {
                Function::Concat => concat(&values),
                _ if values.contains(&Value::Null) => Value::Null,
                _ => self.one(arguments[0].0, &values).ok_or_else(|| {
                    Error::new(Code::UserCode, format!("{} of a number is out of range", self.name()))
                })?,
            };
            built.push_value(value);
        }
        Ok(built.take())
    }

    fn name(self) -> &'static str {
        NAMES.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }

    fn result(self, argument: Kind) -> Kind {
        match self {
            Function::Concat | Function::Substr => Kind::Text,
            Function::Abs | Function::Round | Function::Floor | Function::Ceil => argument,
            _ => Kind::Int,
        }
    }

    /// Returns the value of a row without a null; None beyond the range.
    fn one(self, kind: Kind, values: &[Value]) -> Option<Value> {
        let day_units = |kind: Kind| match kind {
            Kind::Time(unit) | Kind::Timestamp { unit, .. } => 86_400 * unit.per_second(),
            _ => 1,
        };
        let int = |n: usize| if let Some(Value::Int(v)) = values.get(n) { Some(*v) } else { None };
        Some(match (self, &values[0]) {
            (Function::Length, Value::Bytes(text)) => Value::Int(chars(text).count() as i64),
            (Function::Substr, Value::Bytes(text)) => {
                // Characters from 1, as in SQL: positions before the first count towards the length.
                let start = int(1)?;
                let end = int(2).map_or(i64::MAX, |len| start.saturating_add(len.max(0)));
                let kept = (1i64..).zip(chars(text)).filter(|(n, _)| (start..end).contains(n));
                Value::Bytes(kept.flat_map(|(_, c)| c.iter().copied()).collect())
            }
            (Function::Abs, Value::Int(v)) => Value::Int(v.checked_abs()?),
            (Function::Abs, Value::Float(v)) => Value::Float(v.abs()),
            (Function::Abs, Value::Decimal(v)) => Value::Decimal(v.checked_abs()?),
            (Function::Round | Function::Floor | Function::Ceil, value) => {
                self.rounded(value, kind, int(1).unwrap_or(0))?
            }
            (Function::Year | Function::Month | Function::Day, Value::Int(v)) => {
                let (year, month, day) = civil_of(v.div_euclid(day_units(kind)));
                Value::Int(match self {
                    Function::Year => year,
                    Function::Month => month,
                    _ => day,
                })
            }
            (_, Value::Int(v)) => {
                let minutes = v.rem_euclid(day_units(kind)) / (day_units(kind) / 1440);
                Value::Int(if self == Function::Hour { minutes / 60 } else { minutes % 60 })
            }
            _ => return None,
        })
    }

    /// Rounds to a number of digits behind the point; half away from zero.
    fn rounded(self, value: &Value, kind: Kind, digits: i64) -> Option<Value> {
        let whole = |units: i128, step: i128| -> Option<i128> {
            let rest = units.rem_euclid(step);
            let below = units - rest;
            let up = match self {
                Function::Floor => false,
                Function::Ceil => rest > 0,
                _ => 2 * rest > step || (2 * rest == step && units > 0),
            };
            if up { below.checked_add(step) } else { Some(below) }
        };
        Some(match (value, kind) {
            (Value::Float(v), _) => {
                let scale = 10f64.powi(digits.clamp(-400, 400) as i32);
                let scaled = v * scale;
                let rounded = match self {
                    Function::Floor => scaled.floor(),
                    Function::Ceil => scaled.ceil(),
                    _ => scaled.round(),
                };
                Value::Float(if digits == 0 {
                    rounded
                } else if scaled.is_finite() {
                    rounded / scale
                } else {
                    *v
                })
            }
            (Value::Decimal(v), Kind::Decimal { scale }) => {
                let cut = i64::from(scale) - digits;
                match cut {
                    ..=0 => Value::Decimal(*v),
                    1..=38 => Value::Decimal(whole(*v, 10i128.pow(cut as u32))?),
                    _ => Value::Decimal(0),
                }
            }
            (Value::Int(v), _) => match -digits {
                ..=0 => Value::Int(*v),
                cut @ 1..=18 => Value::Int(i64::try_from(whole((*v).into(), 10i128.pow(cut as u32))?).ok()?),
                _ => Value::Int(0),
            },
            _ => return None,
        })
    }
}

/// Returns the characters of a text. A byte that is no UTF-8 counts as one.
pub fn chars(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let (first, rest) = text.split_at(char_len(text));
        text = rest;
        Some(first)
    })
}

/// Joins texts; nulls count as empty.
fn concat(values: &[Value]) -> Value {
    let mut joined = Vec::new();
    for value in values {
        if let Value::Bytes(text) = value {
            joined.extend_from_slice(text);
        }
    }
    Value::Bytes(joined)
}

/// Returns for each row the first value that is no null.
fn coalesce(arguments: &[(Kind, &Vector)], rows: usize) -> Vector {
    let choose = |row: usize| arguments.iter().position(|(_, v)| !v.is_null(row));
    merged(arguments, rows, choose)
}

/// Returns the first value, or null where it equals the second.
fn nullif(arguments: &[(Kind, &Vector)], rows: usize) -> Vector {
    let (first, second) = (arguments[0].1, arguments[1].1);
    let equal = |row: usize| !second.is_null(row) && first.value(row) == second.value(row);
    merged(&arguments[..1], rows, |row| (!first.is_null(row) && !equal(row)).then_some(0))
}

/// Returns for each row the value of the vector that `choose` names; null for none.
pub(super) fn merged(vectors: &[(Kind, &Vector)], rows: usize, choose: impl Fn(usize) -> Option<usize>) -> Vector {
    let mut built = Builder::new(vectors[0].0);
    for row in 0..rows {
        built.push_value(choose(row).map_or(Value::Null, |n| vectors[n].1.value(row)));
    }
    built.take()
}
