//! Blocks of columns: a decoded batch as one byte string with typed values, for mappers over columns.
//! docs/formats/column-block.md is the layout.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};
use yunti_api::Result;

use crate::cells::Cells;
use crate::failure;
use crate::scan::{Picked, column};

const MAGIC: &[u8; 4] = b"YCB1";

/// Shapes of a column, with their numbers in the block.
pub mod shape {
    pub const BOOLS: u8 = 1;
    pub const INTS: u8 = 2;
    pub const FLOATS: u8 = 3;
    pub const DECIMALS: u8 = 4;
    pub const BYTES: u8 = 5;
    pub const CODES: u8 = 6;
    /// Codes in the dictionary of the block before.
    pub const CODES_AS_BEFORE: u8 = 7;
    /// Units of decimals in 64 bits.
    pub const SMALL_DECIMALS: u8 = 8;
    /// Codes in a dictionary of another shape.
    pub const CODES_OF_NUMBERS: u8 = 9;
}

/// Writes the blocks of one unit. A dictionary that several batches share is written once.
#[derive(Default)]
pub struct BlockWriter {
    dictionaries: Vec<Option<ArrayRef>>,
    block: Vec<u8>,
}

impl BlockWriter {
    /// Returns the block that was written last.
    pub fn block(&self) -> &[u8] {
        &self.block
    }

    /// Writes the block of a batch. Fails if it lacks a column, or a value has no text.
    pub fn write(&mut self, batch: &RecordBatch, picked: &Picked) -> Result<()> {
        self.dictionaries.resize(picked.value.len(), None);
        self.block.clear();
        put_head(batch.num_rows(), picked.value.len(), &mut self.block);
        for (path, dictionary) in picked.value.iter().zip(&mut self.dictionaries) {
            let (array, above) = column(batch, path)?;
            put(&array, above.as_ref(), dictionary, &mut self.block)?;
        }
        Ok(())
    }
}

/// Begins a block.
pub fn put_head(rows: usize, columns: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(MAGIC);
    put_number(rows, out);
    put_number(columns, out);
}

/// Appends a number of 32 bits.
pub fn put_number(number: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&(number as u32).to_le_bytes());
}

fn put_shape(kind: u8, nulls: Option<&NullBuffer>, out: &mut Vec<u8>) {
    out.extend_from_slice(&[kind, nulls.is_some().into()]);
    if let Some(nulls) = nulls {
        out.extend(nulls.iter().map(|is_valid| u8::from(!is_valid)));
    }
}

/// Writes the values of a column of numbers.
fn put_as<T: ArrowPrimitiveType, const N: usize>(
    array: &ArrayRef,
    of: impl Fn(T::Native) -> [u8; N],
    out: &mut Vec<u8>,
) {
    let values = array.as_primitive::<T>().values();
    let start = out.len();
    out.resize(start + N * values.len(), 0);
    for (to, &value) in out[start..].as_chunks_mut::<N>().0.iter_mut().zip(values.iter()) {
        *to = of(value);
    }
}

fn put_texts<'a>(texts: impl ExactSizeIterator<Item = &'a [u8]> + Clone, out: &mut Vec<u8>) {
    let mut end = 0u32;
    out.extend_from_slice(&end.to_le_bytes());
    for text in texts.clone() {
        end += text.len() as u32;
        out.extend_from_slice(&end.to_le_bytes());
    }
    texts.for_each(|text| out.extend_from_slice(text));
}

fn put(
    array: &ArrayRef,
    above: Option<&NullBuffer>,
    dictionary: &mut Option<ArrayRef>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let nulls = NullBuffer::union(array.logical_nulls().as_ref(), above);
    let nulls = nulls.as_ref().filter(|nulls| nulls.null_count() > 0);
    macro_rules! numbers {
        ($shape:expr, $kind:ty, $wide:ty) => {{
            put_shape($shape, nulls, out);
            put_as::<$kind, { size_of::<$wide>() }>(array, |v| <$wide>::from(v).to_le_bytes(), out)
        }};
    }
    match array.data_type() {
        DataType::Boolean => {
            put_shape(shape::BOOLS, nulls, out);
            out.extend(array.as_boolean().values().iter().map(u8::from));
        }
        DataType::Int8 => numbers!(shape::INTS, Int8Type, i64),
        DataType::Int16 => numbers!(shape::INTS, Int16Type, i64),
        DataType::Int32 => numbers!(shape::INTS, Int32Type, i64),
        DataType::Int64 => numbers!(shape::INTS, Int64Type, i64),
        DataType::UInt8 => numbers!(shape::INTS, UInt8Type, i64),
        DataType::UInt16 => numbers!(shape::INTS, UInt16Type, i64),
        DataType::UInt32 => numbers!(shape::INTS, UInt32Type, i64),
        DataType::Date32 => numbers!(shape::INTS, Date32Type, i64),
        DataType::Time32(TimeUnit::Second) => numbers!(shape::INTS, Time32SecondType, i64),
        DataType::Time32(_) => numbers!(shape::INTS, Time32MillisecondType, i64),
        DataType::Time64(TimeUnit::Microsecond) => numbers!(shape::INTS, Time64MicrosecondType, i64),
        DataType::Time64(_) => numbers!(shape::INTS, Time64NanosecondType, i64),
        DataType::Timestamp(TimeUnit::Second, _) => numbers!(shape::INTS, TimestampSecondType, i64),
        DataType::Timestamp(TimeUnit::Millisecond, _) => numbers!(shape::INTS, TimestampMillisecondType, i64),
        DataType::Timestamp(TimeUnit::Microsecond, _) => numbers!(shape::INTS, TimestampMicrosecondType, i64),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => numbers!(shape::INTS, TimestampNanosecondType, i64),
        DataType::Float16 => numbers!(shape::FLOATS, Float16Type, f64),
        DataType::Float32 => numbers!(shape::FLOATS, Float32Type, f64),
        DataType::Float64 => numbers!(shape::FLOATS, Float64Type, f64),
        DataType::UInt64 => numbers!(shape::DECIMALS, UInt64Type, i128),
        DataType::Decimal32(_, 0..) => numbers!(shape::DECIMALS, Decimal32Type, i128),
        DataType::Decimal64(_, 0..) => numbers!(shape::DECIMALS, Decimal64Type, i128),
        DataType::Decimal128(_, 0..) => numbers!(shape::DECIMALS, Decimal128Type, i128),
        DataType::Dictionary(codes, of)
            if **codes == DataType::Int32 && matches!(**of, DataType::Utf8 | DataType::Binary) =>
        {
            let codes = array.as_dictionary::<Int32Type>();
            let is_same = dictionary.as_ref().is_some_and(|before| before.to_data().ptr_eq(&codes.values().to_data()));
            put_shape(if is_same { shape::CODES_AS_BEFORE } else { shape::CODES }, nulls, out);
            if !is_same {
                let values = codes.values();
                // A null has code 0, which needs a value.
                put_number(values.len().max(1), out);
                match &**of {
                    _ if values.is_empty() => put_texts([&b""[..]].into_iter(), out),
                    DataType::Utf8 => {
                        let values = values.as_string::<i32>();
                        put_texts((0..values.len()).map(|n| values.value(n).as_bytes()), out);
                    }
                    _ => {
                        let values = values.as_binary::<i32>();
                        put_texts((0..values.len()).map(|n| values.value(n)), out);
                    }
                }
                *dictionary = Some(values.clone());
            }
            let keys = codes.keys();
            for (row, code) in keys.values().iter().enumerate() {
                let code = if keys.is_null(row) { 0 } else { *code };
                out.extend_from_slice(&code.to_le_bytes());
            }
        }
        DataType::Utf8 => {
            put_shape(shape::BYTES, nulls, out);
            let values = array.as_string::<i32>();
            put_texts((0..values.len()).map(|n| values.value(n).as_bytes()), out);
        }
        DataType::Binary => {
            put_shape(shape::BYTES, nulls, out);
            let values = array.as_binary::<i32>();
            put_texts((0..values.len()).map(|n| values.value(n)), out);
        }
        _ => {
            // Values without a shape of their own are text, as in records.
            put_shape(shape::BYTES, nulls, out);
            let cells = Cells::of(array, above).map_err(|e| failure::of_value(&e))?;
            let mut digits = itoa::Buffer::new();
            let texts: Vec<Vec<u8>> = (0..array.len())
                .map(|row| if cells.is_null(row) { Vec::new() } else { cells.text(row, &mut digits).to_vec() })
                .collect();
            put_texts(texts.iter().map(|text| &text[..]), out);
        }
    }
    Ok(())
}
