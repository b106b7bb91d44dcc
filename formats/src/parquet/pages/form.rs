//! Forms of values: how a column stores them in its pages, and the shape that they have in a block.

use arrow_schema::{DataType, TimeUnit};
use parquet::basic::Type as PhysicalType;
use parquet::schema::types::ColumnDescriptor;

use crate::block::shape;

/// Digits of a decimal whose units always fit 64 bits.
const DIGITS_OF_64_BITS: u8 = 18;

/// Form of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A byte each, 0 or 1, once a page is open.
    Bool,
    I32,
    U32,
    I64,
    F32,
    F64,
    /// Units of a decimal.
    Units32,
    Units64,
    /// Units in this many bytes, the highest first.
    UnitsIn(usize),
    Bytes,
    /// UTF-8.
    Text,
}

impl Form {
    /// Returns the form of a flat column that is `kind` in the schema of the source; None if it has none here.
    pub fn of(kind: &DataType, column: &ColumnDescriptor) -> Option<Form> {
        if column.max_rep_level() > 0 || column.max_def_level() > 1 || column.path().parts().len() != 1 {
            return None;
        }
        Some(match (column.physical_type(), kind) {
            (PhysicalType::BOOLEAN, DataType::Boolean) => Form::Bool,
            (PhysicalType::INT32, DataType::Int32 | DataType::Date32 | DataType::Time32(_)) => Form::I32,
            (PhysicalType::INT32, DataType::UInt32) => Form::U32,
            (PhysicalType::INT64, DataType::Int64 | DataType::Time64(_)) => Form::I64,
            (
                PhysicalType::INT64,
                DataType::Timestamp(TimeUnit::Millisecond | TimeUnit::Microsecond | TimeUnit::Nanosecond, _),
            ) => Form::I64,
            (PhysicalType::FLOAT, DataType::Float32) => Form::F32,
            (PhysicalType::DOUBLE, DataType::Float64) => Form::F64,
            (PhysicalType::BYTE_ARRAY, DataType::Utf8) => Form::Text,
            (PhysicalType::BYTE_ARRAY, DataType::Binary) => Form::Bytes,
            (physical, DataType::Decimal128(digits, 0..)) => match (physical, column.type_length()) {
                (PhysicalType::INT32, _) => Form::Units32,
                (PhysicalType::INT64, _) => Form::Units64,
                (PhysicalType::FIXED_LEN_BYTE_ARRAY, len @ 1..=16) => {
                    // More bytes than the digits need may have more digits.
                    let fits = *digits > DIGITS_OF_64_BITS || len <= 8;
                    fits.then_some(Form::UnitsIn(len as usize))?
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Returns the bytes of a stored value; None if each has its own length.
    pub fn stored_bytes(self) -> Option<usize> {
        Some(match self {
            Form::Bool => 1,
            Form::I32 | Form::U32 | Form::F32 | Form::Units32 => 4,
            Form::I64 | Form::F64 | Form::Units64 => 8,
            Form::UnitsIn(len) => len,
            Form::Bytes | Form::Text => return None,
        })
    }

    /// Returns the shape in a block.
    pub fn shape(self) -> u8 {
        match self {
            Form::Bool => shape::BOOLS,
            Form::I32 | Form::U32 | Form::I64 => shape::INTS,
            Form::F32 | Form::F64 => shape::FLOATS,
            Form::Units32 | Form::Units64 | Form::UnitsIn(..=8) => shape::SMALL_DECIMALS,
            Form::UnitsIn(_) => shape::DECIMALS,
            Form::Bytes | Form::Text => shape::BYTES,
        }
    }
}
