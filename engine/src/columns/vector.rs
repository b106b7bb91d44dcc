//! Values of a column for some thousand rows, in one of a few shapes, with their nulls.

use std::borrow::Cow;
use std::sync::Arc;

use super::kind::Kind;

/// Values of any length, one behind the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bytes {
    /// Offset of each value, and the end of the last.
    offsets: Vec<u32>,
    bytes: Vec<u8>,
}

impl Bytes {
    /// Returns no values, with room for some.
    pub fn with_capacity(values: usize, bytes: usize) -> Bytes {
        let mut offsets = Vec::with_capacity(values + 1);
        offsets.push(0);
        Bytes { offsets, bytes: Vec::with_capacity(bytes) }
    }

    /// Returns values from their offsets and bytes; None unless the offsets ascend within the bytes.
    pub fn of(offsets: Vec<u32>, bytes: Vec<u8>) -> Option<Bytes> {
        let ascend = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        let end = *offsets.last()?;
        (ascend && end as usize <= bytes.len()).then_some(Bytes { offsets, bytes })
    }

    /// Adds a value.
    pub fn push(&mut self, value: &[u8]) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.bytes.extend_from_slice(value);
        self.offsets.push(self.bytes.len() as u32);
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns true if there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a value.
    #[inline]
    pub fn get(&self, n: usize) -> &[u8] {
        &self.bytes[self.offsets[n] as usize..self.offsets[n + 1] as usize]
    }

    /// Returns the offset of each value and the end of the last, and the bytes.
    pub fn parts(&self) -> (&[u32], &[u8]) {
        (if self.offsets.is_empty() { &[0] } else { &self.offsets }, &self.bytes)
    }

    /// Removes the values behind the first `n`.
    pub fn truncate(&mut self, n: usize) {
        if n < self.len() {
            self.offsets.truncate(n + 1);
            self.bytes.truncate(self.offsets[n] as usize);
        }
    }

    /// Returns the bytes that the values take, with their offsets.
    pub fn used_bytes(&self) -> usize {
        self.bytes.len() + 4 * self.offsets.len()
    }

    /// Returns all values.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|n| self.get(n))
    }
}

impl<'a> FromIterator<&'a [u8]> for Bytes {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(values: I) -> Bytes {
        let mut bytes = Bytes::with_capacity(0, 0);
        values.into_iter().for_each(|value| bytes.push(value));
        bytes
    }
}

/// Values that codes number.
#[derive(Clone)]
pub enum Dictionary {
    Texts(Arc<Bytes>),
    Numbers(Arc<Data>),
}

impl Dictionary {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            Dictionary::Texts(values) => values.len(),
            Dictionary::Numbers(values) => values.len(),
        }
    }

    /// Returns true if there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true for the same place in memory.
    pub fn is(&self, other: &Dictionary) -> bool {
        match (self, other) {
            (Dictionary::Texts(a), Dictionary::Texts(b)) => Arc::ptr_eq(a, b),
            (Dictionary::Numbers(a), Dictionary::Numbers(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Returns the values that codes name.
    pub fn coded(&self, codes: Vec<u32>) -> Data {
        match self {
            Dictionary::Texts(values) => Data::Codes(codes, values.clone()),
            Dictionary::Numbers(values) => Data::NumberCodes(codes, values.clone()),
        }
    }
}

/// Values of a column. A null has some value of the shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    Bools(Vec<bool>),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Decimals(Vec<i128>),
    /// Decimals whose units fit 64 bits.
    SmallDecimals(Vec<i64>),
    Bytes(Bytes),
    /// The number of each value in a dictionary of texts.
    Codes(Vec<u32>, Arc<Bytes>),
    /// The number of each value in a dictionary of numbers, which has no codes itself.
    NumberCodes(Vec<u32>, Arc<Data>),
}

/// Values of a column, with their nulls.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    pub data: Data,
    /// True for each null; None if there is none.
    pub nulls: Option<Vec<bool>>,
}

/// One value where it stands.
pub enum Cell<'a> {
    Null,
    Bytes(&'a [u8]),
    /// A value of another shape, which costs nothing to copy.
    Other(Value),
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Decimal(i128),
    Bytes(Vec<u8>),
}

impl Value {
    /// Returns the value as a cell.
    pub fn cell(&self) -> Cell<'_> {
        match self {
            Value::Null => Cell::Null,
            Value::Bytes(bytes) => Cell::Bytes(bytes),
            other => Cell::Other(other.clone()),
        }
    }
}

impl Vector {
    /// Returns values without nulls.
    pub fn of(data: Data) -> Vector {
        Vector { data, nulls: None }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Returns true if there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true for a null.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls[row])
    }

    /// Returns the bytes of a value that has bytes.
    #[inline]
    pub fn bytes(&self, row: usize) -> &[u8] {
        match &self.data {
            Data::Bytes(values) => values.get(row),
            Data::Codes(codes, values) => values.get(codes[row] as usize),
            _ => &[],
        }
    }

    /// Returns a value where it stands.
    #[inline]
    pub fn cell(&self, row: usize) -> Cell<'_> {
        match &self.data {
            _ if self.is_null(row) => Cell::Null,
            Data::Bytes(_) | Data::Codes(..) => Cell::Bytes(self.bytes(row)),
            data => Cell::Other(data.number(row)),
        }
    }

    /// Returns the vector without codes of numbers.
    pub fn decoded(&self) -> Cow<'_, Vector> {
        match &self.data {
            Data::NumberCodes(codes, values) => {
                Cow::Owned(Vector { data: values.select(codes), nulls: self.nulls.clone() })
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// Returns a value.
    pub fn value(&self, row: usize) -> Value {
        match self.cell(row) {
            Cell::Null => Value::Null,
            Cell::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
            Cell::Other(value) => value,
        }
    }

    /// Removes the rows behind the first `rows`.
    pub fn truncate(&mut self, rows: usize) {
        match &mut self.data {
            Data::Bools(v) => v.truncate(rows),
            Data::Ints(v) => v.truncate(rows),
            Data::Floats(v) => v.truncate(rows),
            Data::Decimals(v) => v.truncate(rows),
            Data::SmallDecimals(v) => v.truncate(rows),
            Data::Bytes(v) => v.truncate(rows),
            Data::Codes(v, _) => v.truncate(rows),
            Data::NumberCodes(v, _) => v.truncate(rows),
        }
        if let Some(nulls) = &mut self.nulls {
            nulls.truncate(rows);
        }
    }

    /// Returns the values of some rows, in the order of `rows`.
    pub fn select(&self, rows: &[u32]) -> Vector {
        Vector { data: self.data.select(rows), nulls: self.nulls.as_ref().map(|nulls| pick(nulls, rows)) }
    }

    /// Returns the same value for a number of rows.
    pub fn constant(value: &Value, kind: Kind, rows: usize) -> Vector {
        let data = match (value, kind) {
            (Value::Bool(v), _) => Data::Bools(vec![*v; rows]),
            (Value::Int(v), _) => Data::Ints(vec![*v; rows]),
            (Value::Float(v), _) => Data::Floats(vec![*v; rows]),
            (Value::Decimal(v), _) => Data::Decimals(vec![*v; rows]),
            (Value::Bytes(v), _) => Data::Codes(vec![0; rows], Arc::new([&v[..]].into_iter().collect())),
            (Value::Null, kind) => return Vector { data: Data::zeros(kind, rows), nulls: Some(vec![true; rows]) },
        };
        Vector::of(data)
    }
}

fn pick<T: Copy>(from: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| from[row as usize]).collect()
}

impl Data {
    /// Returns codes and their dictionary, if there is one.
    pub fn codes(&self) -> Option<(&[u32], Dictionary)> {
        match self {
            Data::Codes(codes, values) => Some((codes, Dictionary::Texts(values.clone()))),
            Data::NumberCodes(codes, values) => Some((codes, Dictionary::Numbers(values.clone()))),
            _ => None,
        }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            Data::Bools(v) => v.len(),
            Data::Ints(v) | Data::SmallDecimals(v) => v.len(),
            Data::Floats(v) => v.len(),
            Data::Decimals(v) => v.len(),
            Data::Bytes(v) => v.len(),
            Data::Codes(v, _) | Data::NumberCodes(v, _) => v.len(),
        }
    }

    /// Returns true if there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a value that is no text.
    #[inline]
    fn number(&self, row: usize) -> Value {
        match self {
            Data::Bools(v) => Value::Bool(v[row]),
            Data::Ints(v) => Value::Int(v[row]),
            Data::Floats(v) => Value::Float(v[row]),
            Data::Decimals(v) => Value::Decimal(v[row]),
            Data::SmallDecimals(v) => Value::Decimal(v[row].into()),
            Data::NumberCodes(codes, values) => values.number(codes[row] as usize),
            Data::Bytes(_) | Data::Codes(..) => Value::Null,
        }
    }

    /// Returns the values of some rows, in the order of `rows`.
    pub fn select(&self, rows: &[u32]) -> Data {
        match self {
            Data::Bools(v) => Data::Bools(pick(v, rows)),
            Data::Ints(v) => Data::Ints(pick(v, rows)),
            Data::Floats(v) => Data::Floats(pick(v, rows)),
            Data::Decimals(v) => Data::Decimals(pick(v, rows)),
            Data::SmallDecimals(v) => Data::SmallDecimals(pick(v, rows)),
            Data::Bytes(v) => Data::Bytes(rows.iter().map(|&row| v.get(row as usize)).collect()),
            Data::Codes(codes, values) => Data::Codes(pick(codes, rows), values.clone()),
            Data::NumberCodes(codes, values) => Data::NumberCodes(pick(codes, rows), values.clone()),
        }
    }

    /// Returns values of the shape of a type, all zero or empty.
    pub fn zeros(kind: Kind, rows: usize) -> Data {
        match kind {
            Kind::Boolean => Data::Bools(vec![false; rows]),
            Kind::Float | Kind::Float32 => Data::Floats(vec![0.0; rows]),
            Kind::Decimal { .. } => Data::Decimals(vec![0; rows]),
            Kind::Text => Data::Codes(vec![0; rows], Arc::new([&b""[..]].into_iter().collect())),
            Kind::Int | Kind::Date | Kind::Time(_) | Kind::Timestamp { .. } => Data::Ints(vec![0; rows]),
        }
    }
}

/// Returns the nulls of two columns together.
pub fn either(a: Option<&Vec<bool>>, b: Option<&Vec<bool>>) -> Option<Vec<bool>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.iter().zip(b).map(|(a, b)| a | b).collect()),
        (one, other) => one.or(other).cloned(),
    }
}
