//! Vectors as arrays, one type at a time. Values keep the shapes of `yunti_sql_plan::kind`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, BinaryType, ByteArrayType, Date32Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, LargeBinaryType, LargeUtf8Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type, Utf8Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, GenericByteArray, LargeBinaryArray, OffsetSizeTrait, PrimitiveArray,
    RecordBatch, RecordBatchOptions, make_array, new_null_array,
};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, SchemaRef, TimeUnit};
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::vector::{Bytes, Data, Vector};
use yunti_sql_plan::Batch;

/// Returns rows of the own executor as rows of a schema.
///
/// Errors: `Invalid` for a value that its type does not hold, and text that is no UTF-8.
pub fn record_batch(batch: &Batch, schema: &SchemaRef) -> Result<RecordBatch> {
    let columns = batch.columns.iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| array(column, field.data_type())).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.rows));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options)
        .map_err(|e| Error::new(Code::Internal, format!("rows of the executor are not of their types: {e}")))
}

/// Returns rows of a schema as rows of the own executor.
///
/// Errors: `Internal` for a type without a shape.
pub fn batch_of(batch: &RecordBatch) -> Result<Batch> {
    let columns = batch.columns().iter().map(vector).collect::<Result<Vec<_>>>()?;
    Ok(Batch::of(columns, batch.num_rows()))
}

fn lacks(data_type: &DataType) -> Error {
    Error::new(Code::Internal, format!("the executor has no columns of type {data_type}"))
}

/// Returns a vector as an array of a type.
pub fn array(vector: &Vector, data_type: &DataType) -> Result<ArrayRef> {
    let vector = vector.decoded();
    let rows = vector.len();
    let nulls = vector.nulls.as_ref().map(|nulls| NullBuffer::new(nulls.iter().map(|null| !null).collect()));
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
    if matches!(data_type, DataType::Null) || nulls.as_ref().is_some_and(|nulls| nulls.null_count() == rows) {
        return Ok(new_null_array(data_type, rows));
    }
    Ok(match &vector.data {
        Data::Bools(values) => Arc::new(BooleanArray::new(BooleanBuffer::from_iter(values.iter().copied()), nulls)),
        Data::Ints(values) => whole_numbers(values, nulls, data_type)?,
        Data::Floats(values) => match data_type {
            DataType::Float64 => Arc::new(PrimitiveArray::<Float64Type>::new(values.clone().into(), nulls)),
            DataType::Float32 => {
                let values: ScalarBuffer<f32> = values.iter().map(|&value| value as f32).collect();
                Arc::new(PrimitiveArray::<Float32Type>::new(values, nulls))
            }
            DataType::Float16 => {
                let wide = PrimitiveArray::<Float64Type>::new(values.clone().into(), nulls);
                cast(&wide, data_type).map_err(|_| lacks(data_type))?
            }
            other => return Err(lacks(other)),
        },
        Data::Decimals(values) => decimals(values.iter().copied(), nulls, data_type)?,
        Data::SmallDecimals(values) => decimals(values.iter().map(|&units| units.into()), nulls, data_type)?,
        Data::Bytes(values) => texts((0..rows).map(|row| values.get(row)), nulls, data_type)?,
        Data::Codes(codes, values) => texts(codes.iter().map(|&code| values.get(code as usize)), nulls, data_type)?,
        Data::NumberCodes(..) => return Err(lacks(data_type)),
    })
}

/// Returns numbers of a narrower type. A null has any value, which need not fit.
fn narrowed<T: ArrowPrimitiveType>(
    values: &[i64],
    nulls: Option<NullBuffer>,
    convert: impl Fn(i64) -> Option<T::Native>,
) -> Result<PrimitiveArray<T>> {
    let mut fits = true;
    let is_valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    let values: ScalarBuffer<T::Native> = values
        .iter()
        .enumerate()
        .map(|(row, &value)| {
            convert(value).unwrap_or_else(|| {
                fits &= !is_valid(row);
                T::Native::default()
            })
        })
        .collect();
    match fits {
        true => Ok(PrimitiveArray::new(values, nulls)),
        false => Err(Error::new(Code::Invalid, format!("a value is too large for {}", T::DATA_TYPE))),
    }
}

fn whole_numbers(values: &[i64], nulls: Option<NullBuffer>, data_type: &DataType) -> Result<ArrayRef> {
    let wide = |nulls| PrimitiveArray::<Int64Type>::new(values.to_vec().into(), nulls);
    Ok(match data_type {
        DataType::Int64 => Arc::new(wide(nulls)),
        DataType::Int32 => Arc::new(narrowed::<Int32Type>(values, nulls, |value| value.try_into().ok())?),
        DataType::Int16 => Arc::new(narrowed::<Int16Type>(values, nulls, |value| value.try_into().ok())?),
        DataType::Int8 => Arc::new(narrowed::<Int8Type>(values, nulls, |value| value.try_into().ok())?),
        DataType::UInt8 => Arc::new(narrowed::<UInt8Type>(values, nulls, |value| value.try_into().ok())?),
        DataType::UInt16 => Arc::new(narrowed::<UInt16Type>(values, nulls, |value| value.try_into().ok())?),
        DataType::UInt32 => Arc::new(narrowed::<UInt32Type>(values, nulls, |value| value.try_into().ok())?),
        DataType::Date32 => Arc::new(narrowed::<Date32Type>(values, nulls, |value| value.try_into().ok())?),
        DataType::Time32(_) => {
            let narrow = narrowed::<Int32Type>(values, nulls, |value| value.try_into().ok())?;
            let data = narrow.into_data().into_builder().data_type(data_type.clone());
            make_array(data.build().map_err(|_| lacks(data_type))?)
        }
        DataType::Time64(_) | DataType::Timestamp(..) => {
            let data = wide(nulls).into_data().into_builder().data_type(data_type.clone());
            make_array(data.build().map_err(|_| lacks(data_type))?)
        }
        other => return Err(lacks(other)),
    })
}

fn decimals(values: impl Iterator<Item = i128>, nulls: Option<NullBuffer>, data_type: &DataType) -> Result<ArrayRef> {
    let is_valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    fn narrow<T: ArrowNativeType + TryFrom<i128>>(
        values: impl Iterator<Item = i128>,
        is_valid: impl Fn(usize) -> bool,
        data_type: &DataType,
    ) -> Result<ScalarBuffer<T>> {
        let mut fits = true;
        let values = values.enumerate().map(|(row, value)| {
            T::try_from(value).unwrap_or_else(|_| {
                fits &= !is_valid(row);
                T::default()
            })
        });
        let values = values.collect();
        match fits {
            true => Ok(values),
            false => Err(Error::new(Code::Invalid, format!("a value is too large for {data_type}"))),
        }
    }
    let wrong = |_| lacks(data_type);
    Ok(match *data_type {
        DataType::UInt64 => {
            Arc::new(PrimitiveArray::<UInt64Type>::new(narrow(values, is_valid, data_type)?, nulls.clone()))
        }
        DataType::Decimal32(precision, scale) => {
            let values = narrow(values, is_valid, data_type)?;
            let array = PrimitiveArray::<Decimal32Type>::new(values, nulls.clone());
            Arc::new(array.with_precision_and_scale(precision, scale).map_err(wrong)?)
        }
        DataType::Decimal64(precision, scale) => {
            let values = narrow(values, is_valid, data_type)?;
            let array = PrimitiveArray::<Decimal64Type>::new(values, nulls.clone());
            Arc::new(array.with_precision_and_scale(precision, scale).map_err(wrong)?)
        }
        DataType::Decimal128(precision, scale) => {
            let array = PrimitiveArray::<Decimal128Type>::new(values.collect(), nulls.clone());
            Arc::new(array.with_precision_and_scale(precision, scale).map_err(wrong)?)
        }
        ref other => return Err(lacks(other)),
    })
}

fn texts<'v>(
    values: impl Iterator<Item = &'v [u8]> + Clone,
    nulls: Option<NullBuffer>,
    data_type: &DataType,
) -> Result<ArrayRef> {
    let bad = |_| Error::new(Code::Invalid, "a text is no UTF-8").hint("cast the column to binary");
    Ok(match data_type {
        DataType::Utf8 => {
            Arc::new(GenericByteArray::<Utf8Type>::try_new_from(packed::<i32>(values)?, nulls).map_err(bad)?)
        }
        DataType::LargeUtf8 => {
            Arc::new(GenericByteArray::<LargeUtf8Type>::try_new_from(packed::<i64>(values)?, nulls).map_err(bad)?)
        }
        DataType::Binary => {
            let (offsets, bytes) = packed::<i32>(values)?;
            Arc::new(BinaryArray::new(offsets, bytes.into(), nulls))
        }
        DataType::LargeBinary => {
            let (offsets, bytes) = packed::<i64>(values)?;
            Arc::new(LargeBinaryArray::new(offsets, bytes.into(), nulls))
        }
        DataType::Utf8View | DataType::BinaryView => {
            let plain = if *data_type == DataType::Utf8View { DataType::Utf8 } else { DataType::Binary };
            cast(&texts(values, nulls, &plain)?, data_type).map_err(|_| lacks(data_type))?
        }
        other => return Err(lacks(other)),
    })
}

/// Returns the offsets and the bytes of values.
fn packed<'v, O: OffsetSizeTrait>(
    values: impl Iterator<Item = &'v [u8]> + Clone,
) -> Result<(OffsetBuffer<O>, Vec<u8>)> {
    let total: usize = values.clone().map(<[u8]>::len).sum();
    if O::from_usize(total).is_none() {
        return Err(Error::new(Code::Memory, "the texts of a batch are larger than 2 GiB"));
    }
    let mut offsets = vec![O::default()];
    let mut bytes = Vec::with_capacity(total);
    for value in values {
        bytes.extend_from_slice(value);
        offsets.push(O::usize_as(bytes.len()));
    }
    Ok((OffsetBuffer::new(offsets.into()), bytes))
}

trait TryNewFrom<O: OffsetSizeTrait>: Sized {
    fn try_new_from(
        packed: (OffsetBuffer<O>, Vec<u8>),
        nulls: Option<NullBuffer>,
    ) -> std::result::Result<Self, ArrowError>;
}

impl<O: OffsetSizeTrait, T: ByteArrayType<Offset = O>> TryNewFrom<O> for GenericByteArray<T> {
    fn try_new_from(
        (offsets, bytes): (OffsetBuffer<O>, Vec<u8>),
        nulls: Option<NullBuffer>,
    ) -> std::result::Result<Self, ArrowError> {
        GenericByteArray::try_new(offsets, bytes.into(), nulls)
    }
}

/// Returns an array as a vector.
pub fn vector(array: &ArrayRef) -> Result<Vector> {
    let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    let nulls = nulls.map(|nulls| nulls.iter().map(|is_valid| !is_valid).collect());
    let data = data_of(array)?;
    Ok(Vector { data, nulls })
}

fn wide<T: ArrowPrimitiveType>(array: &ArrayRef) -> Data
where
    T::Native: Into<i64>,
{
    Data::Ints(array.as_primitive::<T>().values().iter().map(|&value| value.into()).collect())
}

fn data_of(array: &ArrayRef) -> Result<Data> {
    let lacks = || lacks(array.data_type());
    let recast = |to: DataType| cast(array, &to).map_err(|_| lacks());
    Ok(match array.data_type() {
        DataType::Null => Data::Bools(vec![false; array.len()]),
        DataType::Boolean => Data::Bools(array.as_boolean().values().iter().collect()),
        DataType::Int8 => wide::<Int8Type>(array),
        DataType::Int16 => wide::<Int16Type>(array),
        DataType::Int32 => wide::<Int32Type>(array),
        DataType::Int64 => wide::<Int64Type>(array),
        DataType::UInt8 => wide::<UInt8Type>(array),
        DataType::UInt16 => wide::<UInt16Type>(array),
        DataType::UInt32 => wide::<UInt32Type>(array),
        DataType::Date32 => wide::<Date32Type>(array),
        DataType::UInt64 => {
            Data::Decimals(array.as_primitive::<UInt64Type>().values().iter().map(|&value| value.into()).collect())
        }
        DataType::Time32(TimeUnit::Second | TimeUnit::Millisecond) => wide::<Int32Type>(&recast(DataType::Int32)?),
        DataType::Time64(_) | DataType::Timestamp(..) => wide::<Int64Type>(&recast(DataType::Int64)?),
        DataType::Float64 => Data::Floats(array.as_primitive::<Float64Type>().values().to_vec()),
        DataType::Float32 => {
            Data::Floats(array.as_primitive::<Float32Type>().values().iter().map(|&value| value.into()).collect())
        }
        DataType::Float16 => {
            Data::Floats(array.as_primitive::<Float16Type>().values().iter().map(|value| value.to_f64()).collect())
        }
        DataType::Decimal32(..) => Data::SmallDecimals(
            array.as_primitive::<Decimal32Type>().values().iter().map(|&value| value.into()).collect(),
        ),
        DataType::Decimal64(..) => Data::SmallDecimals(array.as_primitive::<Decimal64Type>().values().to_vec()),
        DataType::Decimal128(..) => Data::Decimals(array.as_primitive::<Decimal128Type>().values().to_vec()),
        DataType::Utf8 => bytes_of::<Utf8Type>(array)?,
        DataType::LargeUtf8 => bytes_of::<LargeUtf8Type>(array)?,
        DataType::Binary => bytes_of::<BinaryType>(array)?,
        DataType::LargeBinary => bytes_of::<LargeBinaryType>(array)?,
        DataType::Utf8View => data_of(&recast(DataType::LargeUtf8)?)?,
        DataType::BinaryView => data_of(&recast(DataType::LargeBinary)?)?,
        DataType::Dictionary(_, values) if matches!(**values, DataType::Utf8 | DataType::LargeUtf8) => {
            let any = array.as_any_dictionary();
            let Data::Bytes(mut texts) = data_of(any.values())? else { return Err(lacks()) };
            if texts.is_empty() {
                texts.push(b"");
            }
            let last = texts.len() as u32 - 1;
            let codes = any.normalized_keys().into_iter().map(|key| (key as u32).min(last)).collect();
            Data::Codes(codes, Arc::new(texts))
        }
        DataType::Dictionary(_, values) => data_of(&recast((**values).clone())?)?,
        _ => return Err(lacks()),
    })
}

fn bytes_of<T: ByteArrayType>(array: &ArrayRef) -> Result<Data> {
    let array = array.as_bytes::<T>();
    let offsets = array.value_offsets();
    let first = offsets.first().map_or(0, |offset| offset.as_usize());
    let last = offsets.last().map_or(0, |offset| offset.as_usize());
    let too_large = || Error::new(Code::Memory, "the texts of a batch are larger than 4 GiB");
    u32::try_from(last - first).map_err(|_| too_large())?;
    let offsets: Vec<u32> = offsets.iter().map(|offset| (offset.as_usize() - first) as u32).collect();
    let bytes = array.value_data()[first..last].to_vec();
    Bytes::of(offsets, bytes).map(Data::Bytes).ok_or_else(|| lacks(array.data_type()))
}

#[cfg(test)]
mod tests;
