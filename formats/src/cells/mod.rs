//! Values of a column as text, the same as in a CSV file of the table.
//!
//! ```text
//!   string, binary       its bytes
//!   integer, decimal     decimal digits            float    the shortest digits that read back: 1.0, 1e300
//!   boolean              true, false               null     nothing
//!   date                 2026-11-25                time     17:03:59.500
//!   timestamp            2026-11-25T17:03:59.500, with a Z at the end if it counts from UTC
//!   list, struct, map    JSON without spaces
//! ```

mod json;
pub mod record;

pub use json::{put_string, texts as json_texts};

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, Int32Array, PrimitiveArray, StringArray,
};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, FieldRef};

/// Result of reading a column.
type Result<T> = std::result::Result<T, ArrowError>;

/// Values of one column in a batch.
pub struct Cells {
    values: Values,
    /// Nulls of the column and of the structs that it is in.
    nulls: Option<NullBuffer>,
}

enum Values {
    Text(StringArray),
    Bytes(BinaryArray),
    Fixed(FixedSizeBinaryArray),
    /// Codes, and the text or bytes of each.
    TextCodes(Int32Array, StringArray),
    BytesCodes(Int32Array, BinaryArray),
    Boolean(BooleanArray),
    I8(PrimitiveArray<Int8Type>),
    I16(PrimitiveArray<Int16Type>),
    I32(PrimitiveArray<Int32Type>),
    I64(PrimitiveArray<Int64Type>),
    U8(PrimitiveArray<UInt8Type>),
    U16(PrimitiveArray<UInt16Type>),
    U32(PrimitiveArray<UInt32Type>),
    U64(PrimitiveArray<UInt64Type>),
    /// A column of the type null.
    Nothing,
    /// Values of several types: the type of each, its place among the values of this type, and these.
    Union {
        kinds: ScalarBuffer<i8>,
        offsets: Option<ScalarBuffer<i32>>,
        branches: Vec<(i8, Cells)>,
    },
}

impl Cells {
    /// Returns the values of a column; `above`: nulls of the structs that it is in.
    pub fn of(array: &ArrayRef, above: Option<&NullBuffer>) -> Result<Cells> {
        let nulls = NullBuffer::union(array.logical_nulls().as_ref(), above);
        let values = match array.data_type() {
            DataType::Null => Values::Nothing,
            DataType::Utf8 => Values::Text(array.as_string().clone()),
            DataType::Binary => Values::Bytes(array.as_binary().clone()),
            DataType::FixedSizeBinary(_) => Values::Fixed(array.as_fixed_size_binary().clone()),
            DataType::Boolean => Values::Boolean(array.as_boolean().clone()),
            DataType::Int8 => Values::I8(array.as_primitive().clone()),
            DataType::Int16 => Values::I16(array.as_primitive().clone()),
            DataType::Int32 => Values::I32(array.as_primitive().clone()),
            DataType::Int64 => Values::I64(array.as_primitive().clone()),
            DataType::UInt8 => Values::U8(array.as_primitive().clone()),
            DataType::UInt16 => Values::U16(array.as_primitive().clone()),
            DataType::UInt32 => Values::U32(array.as_primitive().clone()),
            DataType::UInt64 => Values::U64(array.as_primitive().clone()),
            DataType::Dictionary(_, of) => {
                let codes = array.as_dictionary::<Int32Type>();
                match **of {
                    DataType::Utf8 => Values::TextCodes(codes.keys().clone(), codes.values().as_string().clone()),
                    _ => Values::BytesCodes(codes.keys().clone(), codes.values().as_binary().clone()),
                }
            }
            DataType::Union(fields, _) => {
                let union = array.as_union();
                let branch = |(kind, _): (i8, &FieldRef)| Ok((kind, Cells::of(union.child(kind), None)?));
                let branches = fields.iter().map(branch).collect::<Result<_>>()?;
                Values::Union { kinds: union.type_ids().clone(), offsets: union.offsets().cloned(), branches }
            }
            DataType::Float16 => return Cells::of(&arrow_cast::cast(array, &DataType::Float32)?, above),
            kind if kind.is_nested() => Values::Text(json::texts(array)?),
            _ => Values::Text(arrow_cast::cast(array, &DataType::Utf8)?.as_string().clone()),
        };
        Ok(Cells { values, nulls })
    }

    /// Returns true for a null.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Returns the bytes of a value that has bytes of its own, and is no null.
    #[inline]
    pub fn bytes(&self, row: usize) -> Option<&[u8]> {
        match &self.values {
            Values::Text(values) => Some(values.value(row).as_bytes()),
            Values::Bytes(values) => Some(values.value(row)),
            Values::Fixed(values) => Some(values.value(row)),
            Values::TextCodes(codes, values) => Some(values.value(codes.value(row) as usize).as_bytes()),
            Values::BytesCodes(codes, values) => Some(values.value(codes.value(row) as usize)),
            Values::Boolean(values) => Some(if values.value(row) { b"true" } else { b"false" }),
            Values::Nothing => Some(b""),
            Values::Union { kinds, offsets, branches } => {
                let (cells, row) = branch(kinds, offsets.as_ref(), branches, row)?;
                cells.bytes(row)
            }
            _ => None,
        }
    }

    /// Returns the code of each value and the values of the codes, if the column has them.
    pub fn codes(&self) -> Option<(&[i32], ArrayRef)> {
        match &self.values {
            Values::TextCodes(codes, values) => Some((codes.values(), Arc::new(values.clone()))),
            Values::BytesCodes(codes, values) => Some((codes.values(), Arc::new(values.clone()))),
            _ => None,
        }
    }

    /// Returns the text of a value that is no null; a number is written to `space`.
    #[inline]
    pub fn text<'a>(&'a self, row: usize, space: &'a mut itoa::Buffer) -> &'a [u8] {
        match &self.values {
            Values::I8(values) => space.format(values.value(row)).as_bytes(),
            Values::I16(values) => space.format(values.value(row)).as_bytes(),
            Values::I32(values) => space.format(values.value(row)).as_bytes(),
            Values::I64(values) => space.format(values.value(row)).as_bytes(),
            Values::U8(values) => space.format(values.value(row)).as_bytes(),
            Values::U16(values) => space.format(values.value(row)).as_bytes(),
            Values::U32(values) => space.format(values.value(row)).as_bytes(),
            Values::U64(values) => space.format(values.value(row)).as_bytes(),
            Values::Union { kinds, offsets, branches } => match branch(kinds, offsets.as_ref(), branches, row) {
                Some((cells, row)) => cells.text(row, space),
                None => b"",
            },
            _ => self.bytes(row).unwrap_or_default(),
        }
    }
}

/// Returns the values of the type that a row of a union has, and its place there; None for a null of this type.
fn branch<'a>(
    kinds: &[i8],
    offsets: Option<&ScalarBuffer<i32>>,
    branches: &'a [(i8, Cells)],
    row: usize,
) -> Option<(&'a Cells, usize)> {
    let (_, cells) = branches.iter().find(|(kind, _)| *kind == kinds[row])?;
    let row = offsets.map_or(row, |offsets| offsets[row] as usize);
    (!cells.is_null(row)).then_some((cells, row))
}
