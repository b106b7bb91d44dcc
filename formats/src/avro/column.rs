//! Columns that are built from values of a block, one row after another.
//!
//! A column grows by `decode` or `append_null`, each of which adds one row, and becomes an array by `finish`. Bytes of
//! fixed types are kept as bytes with offsets, so that a null of a large type costs nothing.

use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, DictionaryArray, Int32Array, ListArray, MapArray,
    NullArray, PrimitiveArray, StringArray, StructArray, UnionArray,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, i256};
use arrow_schema::{DataType, Field, FieldRef, Fields, TimeUnit, UnionFields};
use yunti_api::{Error, Result};

use super::input::{Input, damaged};
use super::json;
use super::schema::{Kind, Logical, Node, Schema};
use crate::cells::json_texts;

/// A column, or a part of one.
pub enum Column {
    Null(usize),
    Boolean(Vec<bool>),
    Int(Vec<i32>, Logical),
    Long(Vec<i64>, Logical),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Texts, Option<usize>),
    Text(Texts),
    Uuid(Texts),
    Duration(Texts),
    /// Decimal of at most 38 digits; `fixed`: its bytes, if they are not variable.
    Decimal {
        values: Vec<i128>,
        fixed: Option<usize>,
        precision: u8,
        scale: i8,
    },
    /// The same with more digits.
    Decimal256 {
        values: Vec<i256>,
        fixed: Option<usize>,
        precision: u8,
        scale: i8,
    },
    Enum(Vec<i32>, StringArray),
    List(Vec<i32>, Box<Column>),
    Map(Vec<i32>, Texts, Box<Column>),
    Struct(Vec<Slot>, usize),
    /// Union of null and one type, with the number of the null's branch.
    Nullable {
        valid: Vec<bool>,
        null_branch: u8,
        inner: Box<Column>,
    },
    Union {
        kinds: Vec<i8>,
        offsets: Vec<i32>,
        branches: Vec<Column>,
    },
    /// JSON of a type that contains itself.
    Json(Texts, Arc<Schema>, Node),
}

/// Field of a record.
pub enum Slot {
    /// Its values are passed over.
    Skip(Arc<Schema>, Node),
    Take(String, Column),
}

/// Texts or bytes, one behind another.
pub struct Texts {
    pub offsets: Vec<i32>,
    pub data: Vec<u8>,
}

impl Default for Texts {
    fn default() -> Texts {
        Texts { offsets: vec![0], data: Vec::new() }
    }
}

impl Texts {
    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.data.extend_from_slice(bytes);
        self.end()
    }

    /// Ends the value whose bytes were added.
    fn end(&mut self) -> Result<()> {
        self.offsets.push(offset(self.data.len())?);
        Ok(())
    }

    fn take(&mut self) -> (OffsetBuffer<i32>, arrow_buffer::Buffer) {
        let Texts { offsets, data } = std::mem::take(self);
        (OffsetBuffer::new(offsets.into()), data.into())
    }

    fn strings(&mut self, nulls: Option<NullBuffer>) -> Result<StringArray> {
        let (offsets, data) = self.take();
        StringArray::try_new(offsets, data, nulls).map_err(|_| damaged("a string that is not UTF-8"))
    }
}

fn offset(bytes: usize) -> Result<i32> {
    i32::try_from(bytes).map_err(|_| Error::unsupported("a record of the Avro file has more than 2 GiB"))
}

impl Column {
    /// Adds the next value of the block.
    pub fn decode(&mut self, input: &mut Input<'_>) -> Result<()> {
        match self {
            Column::Null(n) => {
                input.idle()?;
                *n += 1;
            }
            Column::Boolean(values) => {
                input.spend(1)?;
                values.push(boolean(input)?)
            }
            Column::Int(values, _) => {
                input.spend(4)?;
                values.push(input.int()?)
            }
            Column::Long(values, _) => {
                input.spend(8)?;
                values.push(input.long()?)
            }
            Column::Float(values) => {
                input.spend(4)?;
                values.push(f32::from_le_bytes(array(input)?))
            }
            Column::Double(values) => {
                input.spend(8)?;
                values.push(f64::from_le_bytes(array(input)?))
            }
            Column::Bytes(texts, fixed) => {
                let bytes = sized(input, *fixed)?;
                input.spend(4 + bytes.len())?;
                texts.push(bytes)?;
            }
            Column::Text(texts) => {
                let bytes = input.bytes()?;
                input.spend(4 + bytes.len())?;
                texts.push(bytes)?;
            }
            Column::Uuid(texts) => {
                let bytes = array::<16>(input)?;
                input.spend(40)?;
                put_uuid(bytes, &mut texts.data);
                texts.end()?;
            }
            Column::Duration(texts) => {
                let bytes = array::<12>(input)?;
                input.spend(48)?;
                put_duration(bytes, &mut texts.data);
                texts.end()?;
            }
            Column::Decimal { values, fixed, precision, .. } => {
                input.spend(16)?;
                let value = wide::<16>(sized(input, *fixed)?).map(i128::from_be_bytes);
                let most = 10i128.pow(u32::from(*precision));
                values.push(value.filter(|v| -most < *v && *v < most).ok_or_else(too_many_digits)?);
            }
            Column::Decimal256 { values, fixed, precision, .. } => {
                input.spend(32)?;
                let value = wide::<32>(sized(input, *fixed)?).map(i256::from_be_bytes);
                let most = i256::from_i128(10).checked_pow(u32::from(*precision)).ok_or_else(too_many_digits)?;
                let fits = |v: &i256| *v < most && most.checked_neg().is_some_and(|least| least < *v);
                values.push(value.filter(fits).ok_or_else(too_many_digits)?);
            }
            Column::Enum(codes, symbols) => {
                input.spend(4)?;
                let code = input.int()?;
                if code < 0 || code as usize >= symbols.len() {
                    return Err(damaged("a symbol that its enum does not have"));
                }
                codes.push(code);
            }
            Column::List(offsets, items) => {
                input.spend(4)?;
                input.items(|input| items.decode(input))?;
                offsets.push(offset(items.len())?);
            }
            Column::Map(offsets, keys, values) => {
                input.spend(4)?;
                input.items(|input| {
                    let key = input.bytes()?;
                    input.spend(4 + key.len())?;
                    keys.push(key)?;
                    values.decode(input)
                })?;
                offsets.push(offset(values.len())?);
            }
            Column::Struct(slots, rows) => {
                input.idle()?;
                for slot in slots {
                    match slot {
                        Slot::Skip(schema, node) => json::skip(schema, node, input, 0)?,
                        Slot::Take(_, column) => column.decode(input)?,
                    }
                }
                *rows += 1;
            }
            Column::Nullable { valid, null_branch, inner } => {
                input.spend(1)?;
                match input.long()? {
                    branch if branch == i64::from(*null_branch) => {
                        valid.push(false);
                        inner.append_null(input)?;
                    }
                    branch if branch == i64::from(1 - *null_branch) => {
                        valid.push(true);
                        inner.decode(input)?;
                    }
                    _ => return Err(no_branch()),
                }
            }
            Column::Union { kinds, offsets, branches } => {
                input.spend(5)?;
                let branch = usize::try_from(input.long()?).map_err(|_| no_branch())?;
                let column = branches.get_mut(branch).ok_or_else(no_branch)?;
                kinds.push(branch as i8);
                offsets.push(offset(column.len())?);
                column.decode(input)?;
            }
            Column::Json(texts, schema, node) => {
                let mut text = String::new();
                json::put(schema, node, input, put_leaf, 0, &mut text)?;
                input.spend(4 + text.len())?;
                texts.push(text.as_bytes())?;
            }
        }
        Ok(())
    }

    /// Adds a row without a value: the null of a union above.
    fn append_null(&mut self, input: &mut Input<'_>) -> Result<()> {
        input.spend(8)?;
        match self {
            Column::Null(n) => *n += 1,
            Column::Boolean(values) => values.push(false),
            Column::Int(values, _) => values.push(0),
            Column::Long(values, _) => values.push(0),
            Column::Float(values) => values.push(0.0),
            Column::Double(values) => values.push(0.0),
            Column::Bytes(texts, _)
            | Column::Text(texts)
            | Column::Uuid(texts)
            | Column::Duration(texts)
            | Column::Json(texts, ..) => texts.end()?,
            Column::Decimal { values, .. } => values.push(0),
            Column::Decimal256 { values, .. } => values.push(i256::ZERO),
            // An enum without symbols has no value either.
            Column::Enum(codes, _) => codes.push(0),
            Column::List(offsets, items) => offsets.push(offset(items.len())?),
            Column::Map(offsets, _, values) => offsets.push(offset(values.len())?),
            Column::Struct(slots, rows) => {
                for slot in slots {
                    if let Slot::Take(_, column) = slot {
                        column.append_null(input)?;
                    }
                }
                *rows += 1;
            }
            Column::Nullable { valid, inner, .. } => {
                valid.push(false);
                inner.append_null(input)?;
            }
            Column::Union { kinds, offsets, branches } => {
                kinds.push(0);
                offsets.push(offset(branches[0].len())?);
                branches[0].append_null(input)?;
            }
        }
        Ok(())
    }

    /// Returns the rows so far.
    fn len(&self) -> usize {
        match self {
            Column::Null(n) | Column::Struct(_, n) => *n,
            Column::Boolean(values) => values.len(),
            Column::Int(values, _) | Column::Enum(values, _) => values.len(),
            Column::Long(values, _) => values.len(),
            Column::Float(values) => values.len(),
            Column::Double(values) => values.len(),
            Column::Bytes(texts, _)
            | Column::Text(texts)
            | Column::Uuid(texts)
            | Column::Duration(texts)
            | Column::Json(texts, ..) => texts.offsets.len() - 1,
            Column::Decimal { values, .. } => values.len(),
            Column::Decimal256 { values, .. } => values.len(),
            Column::List(offsets, _) | Column::Map(offsets, ..) => offsets.len() - 1,
            Column::Nullable { valid, .. } => valid.len(),
            Column::Union { kinds, .. } => kinds.len(),
        }
    }

    /// Returns the type of the array.
    pub fn data_type(&self) -> DataType {
        match self {
            Column::Null(_) => DataType::Null,
            Column::Boolean(_) => DataType::Boolean,
            Column::Int(_, Logical::Date) => DataType::Date32,
            Column::Int(_, Logical::TimeMillis) => DataType::Time32(TimeUnit::Millisecond),
            Column::Int(..) => DataType::Int32,
            Column::Long(_, Logical::TimeMicros) => DataType::Time64(TimeUnit::Microsecond),
            Column::Long(_, Logical::Timestamp { digits, utc }) => {
                DataType::Timestamp(unit(*digits), utc.then(|| "+00:00".into()))
            }
            Column::Long(..) => DataType::Int64,
            Column::Float(_) => DataType::Float32,
            Column::Double(_) => DataType::Float64,
            Column::Bytes(..) => DataType::Binary,
            Column::Text(_) | Column::Uuid(_) | Column::Duration(_) | Column::Json(..) => DataType::Utf8,
            Column::Decimal { precision, scale, .. } => DataType::Decimal128(*precision, *scale),
            Column::Decimal256 { precision, scale, .. } => DataType::Decimal256(*precision, *scale),
            Column::Enum(..) => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            Column::List(_, items) => DataType::List(Arc::new(Field::new("item", items.data_type(), true))),
            Column::Map(_, _, values) => DataType::Map(entries(values.data_type()), false),
            Column::Struct(slots, _) => DataType::Struct(fields(slots)),
            Column::Nullable { inner, .. } => inner.data_type(),
            Column::Union { branches, .. } => DataType::Union(union_fields(branches), arrow_schema::UnionMode::Dense),
        }
    }

    /// Takes the rows as an array. `nulls`: of the union above.
    pub fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let kind = self.data_type();
        fn primitive<T: ArrowPrimitiveType>(
            values: &mut Vec<T::Native>,
            nulls: Option<NullBuffer>,
            kind: DataType,
        ) -> ArrayRef {
            Arc::new(PrimitiveArray::<T>::new(std::mem::take(values).into(), nulls).with_data_type(kind))
        }
        Ok(match self {
            Column::Null(n) => Arc::new(NullArray::new(std::mem::take(n))),
            Column::Boolean(values) => Arc::new(BooleanArray::new(BooleanBuffer::from(std::mem::take(values)), nulls)),
            Column::Int(values, Logical::Date) => primitive::<Date32Type>(values, nulls, kind),
            Column::Int(values, Logical::TimeMillis) => primitive::<Time32MillisecondType>(values, nulls, kind),
            Column::Int(values, _) => primitive::<Int32Type>(values, nulls, kind),
            Column::Long(values, Logical::TimeMicros) => primitive::<Time64MicrosecondType>(values, nulls, kind),
            Column::Long(values, Logical::Timestamp { digits: 3, .. }) => {
                primitive::<TimestampMillisecondType>(values, nulls, kind)
            }
            Column::Long(values, Logical::Timestamp { digits: 6, .. }) => {
                primitive::<TimestampMicrosecondType>(values, nulls, kind)
            }
            Column::Long(values, Logical::Timestamp { .. }) => {
                primitive::<TimestampNanosecondType>(values, nulls, kind)
            }
            Column::Long(values, _) => primitive::<Int64Type>(values, nulls, kind),
            Column::Float(values) => primitive::<Float32Type>(values, nulls, kind),
            Column::Double(values) => primitive::<Float64Type>(values, nulls, kind),
            Column::Decimal { values, .. } => primitive::<Decimal128Type>(values, nulls, kind),
            Column::Decimal256 { values, .. } => primitive::<Decimal256Type>(values, nulls, kind),
            Column::Bytes(texts, _) => {
                let (offsets, data) = texts.take();
                Arc::new(BinaryArray::try_new(offsets, data, nulls)?)
            }
            Column::Text(texts) | Column::Uuid(texts) | Column::Duration(texts) | Column::Json(texts, ..) => {
                Arc::new(texts.strings(nulls)?)
            }
            Column::Enum(codes, symbols) => {
                let symbols: ArrayRef = Arc::new(symbols.clone());
                Arc::new(DictionaryArray::try_new(Int32Array::new(std::mem::take(codes).into(), nulls), symbols)?)
            }
            Column::List(offsets, items) => {
                let offsets = OffsetBuffer::new(std::mem::replace(offsets, vec![0]).into());
                let field = Arc::new(Field::new("item", items.data_type(), true));
                Arc::new(ListArray::try_new(field, offsets, items.finish(None)?, nulls)?)
            }
            Column::Map(offsets, keys, values) => {
                let offsets = OffsetBuffer::new(std::mem::replace(offsets, vec![0]).into());
                let field = entries(values.data_type());
                let DataType::Struct(of) = field.data_type().clone() else { unreachable!("entries are a struct") };
                let columns: Vec<ArrayRef> = vec![Arc::new(keys.strings(None)?), values.finish(None)?];
                let entries = StructArray::try_new(of, columns, None)?;
                Arc::new(MapArray::try_new(field, offsets, entries, nulls, false)?)
            }
            Column::Struct(slots, rows) => {
                let of = fields(slots);
                let taken = slots.iter_mut().filter_map(|slot| match slot {
                    Slot::Skip(..) => None,
                    Slot::Take(_, column) => Some(column.finish(None)),
                });
                let columns = taken.collect::<Result<Vec<_>>>()?;
                let rows = std::mem::take(rows);
                Arc::new(StructArray::try_new_with_length(of, columns, nulls, rows)?)
            }
            Column::Nullable { valid, inner, .. } => {
                let own = NullBuffer::from(std::mem::take(valid));
                inner.finish(NullBuffer::union(Some(&own), nulls.as_ref()))?
            }
            Column::Union { kinds, offsets, branches } => {
                // A null above a union is one of the struct, which the reader of the column takes into account.
                let of = union_fields(branches);
                let arrays = branches.iter_mut().map(|branch| branch.finish(None)).collect::<Result<Vec<_>>>()?;
                let (kinds, offsets) = (std::mem::take(kinds), std::mem::take(offsets));
                Arc::new(UnionArray::try_new(of, kinds.into(), Some(offsets.into()), arrays)?)
            }
        })
    }
}

/// Returns a column for a type without others in it.
pub fn leaf(node: &Node) -> Result<Column> {
    let logical = node.logical;
    let decimal = |fixed| match logical {
        Logical::Decimal { precision, scale } if precision <= 38 => {
            Column::Decimal { values: Vec::new(), fixed, precision, scale }
        }
        Logical::Decimal { precision, scale } => Column::Decimal256 { values: Vec::new(), fixed, precision, scale },
        _ => Column::Bytes(Texts::default(), fixed),
    };
    Ok(match &node.kind {
        Kind::Null => Column::Null(0),
        Kind::Boolean => Column::Boolean(Vec::new()),
        Kind::Int => Column::Int(Vec::new(), logical),
        Kind::Long => Column::Long(Vec::new(), logical),
        Kind::Float => Column::Float(Vec::new()),
        Kind::Double => Column::Double(Vec::new()),
        Kind::Bytes => decimal(None),
        Kind::String => Column::Text(Texts::default()),
        Kind::Fixed(16) if logical == Logical::Uuid => Column::Uuid(Texts::default()),
        Kind::Fixed(12) if logical == Logical::Duration => Column::Duration(Texts::default()),
        Kind::Fixed(n) => decimal(Some(*n)),
        Kind::Enum(symbols) => {
            // A null has the code 0 too.
            let all = if symbols.is_empty() { vec![String::new()] } else { symbols.to_vec() };
            Column::Enum(Vec::new(), StringArray::from(all))
        }
        _ => return Err(Error::new("a type with others in it is no leaf")),
    })
}

/// Appends a value without others in it as JSON, with the text that it has in a column.
fn put_leaf(node: &Node, input: &mut Input<'_>, to: &mut String) -> Result<()> {
    let mut column = leaf(node)?;
    let start = input.spent();
    column.decode(input)?;
    let texts = json_texts(&column.finish(None)?).map_err(|e| crate::failure::of_value(&e))?;
    input.spend((input.spent() - start) as usize)?;
    to.push_str(texts.value(0));
    Ok(())
}

fn unit(digits: u8) -> TimeUnit {
    match digits {
        3 => TimeUnit::Millisecond,
        6 => TimeUnit::Microsecond,
        _ => TimeUnit::Nanosecond,
    }
}

fn fields(slots: &[Slot]) -> Fields {
    let taken = slots.iter().filter_map(|slot| match slot {
        Slot::Skip(..) => None,
        Slot::Take(name, column) => Some(Field::new(name, column.data_type(), true)),
    });
    taken.collect()
}

fn entries(values: DataType) -> FieldRef {
    let members = vec![Field::new("key", DataType::Utf8, false), Field::new("value", values, true)];
    Arc::new(Field::new("entries", DataType::Struct(members.into()), false))
}

fn union_fields(branches: &[Column]) -> UnionFields {
    let field = |(number, branch): (usize, &Column)| {
        (number as i8, Arc::new(Field::new(format!("branch{number}"), branch.data_type(), true)))
    };
    branches.iter().enumerate().map(field).collect()
}

/// Returns the next value of a type of bytes.
pub fn sized<'a>(input: &mut Input<'a>, fixed: Option<usize>) -> Result<&'a [u8]> {
    match fixed {
        Some(n) => input.take(n),
        None => input.bytes(),
    }
}

pub fn boolean(input: &mut Input<'_>) -> Result<bool> {
    match input.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(damaged("a boolean that is neither 0 nor 1")),
    }
}

fn array<const N: usize>(input: &mut Input<'_>) -> Result<[u8; N]> {
    Ok(*input.take(N)?.first_chunk().expect("it has N bytes"))
}

/// Returns a number of fewer bytes with its sign; None if it does not fit.
fn wide<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    let sign = if bytes.first().is_some_and(|byte| *byte >= 0x80) { 0xff } else { 0 };
    // Leading bytes of the sign alone carry nothing.
    let (extra, bytes) = bytes.split_at(bytes.len().saturating_sub(N));
    let mut all = [sign; N];
    all[N - bytes.len()..].copy_from_slice(bytes);
    let kept = all[0] & 0x80 == sign & 0x80;
    (extra.iter().all(|byte| *byte == sign) && kept).then_some(all)
}

fn put_uuid(bytes: [u8; 16], to: &mut Vec<u8>) {
    for (number, byte) in bytes.iter().enumerate() {
        if matches!(number, 4 | 6 | 8 | 10) {
            to.push(b'-');
        }
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        to.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// Appends a duration as ISO 8601 has it: months, days and milliseconds, as in `P14M3DT0.250S`.
fn put_duration(bytes: [u8; 12], to: &mut Vec<u8>) {
    let (numbers, _) = bytes.as_chunks::<4>();
    let [months, days, millis] = [0, 1, 2].map(|n| u32::from_le_bytes(numbers[n]));
    let text = format!("P{months}M{days}DT{}.{:03}S", millis / 1000, millis % 1000);
    to.extend_from_slice(text.as_bytes());
}

#[cold]
fn no_branch() -> Error {
    damaged("a type that its union does not have")
}

#[cold]
fn too_many_digits() -> Error {
    damaged("a decimal with more digits than its type has")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_of_any_length() {
        assert_eq!(wide::<16>(&[]).map(i128::from_be_bytes), Some(0));
        assert_eq!(wide::<16>(&[0xff]).map(i128::from_be_bytes), Some(-1));
        assert_eq!(wide::<16>(&[0x80, 0]).map(i128::from_be_bytes), Some(-32768));
        let mut long = vec![0; 30];
        long[29] = 7;
        assert_eq!(wide::<16>(&long).map(i128::from_be_bytes), Some(7));
        long[13] = 1;
        assert_eq!(wide::<16>(&long), None);
        assert_eq!(wide::<2>(&[0, 0x80, 0]), None);
    }

    #[test]
    fn texts_of_fixed_types() {
        let mut to = Vec::new();
        put_uuid([0xab; 16], &mut to);
        assert_eq!(to, b"abababab-abab-abab-abab-abababababab");
        to.clear();
        put_duration([2, 0, 0, 0, 3, 0, 0, 0, 0xfa, 0, 0, 0], &mut to);
        assert_eq!(to, b"P2M3DT0.250S");
    }
}
