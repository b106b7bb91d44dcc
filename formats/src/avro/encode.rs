//! Rows of columns as values of Avro, and the schema that they have.
//!
//! Types that Avro does not have become wider ones, or strings of the same text: see `of`.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Schema, TimeUnit};
use serde_json::{Value, json};
use yunti_api::Result;

use super::names;
use crate::file::varint;

/// Returns the JSON of a schema for columns.
pub fn schema_text(schema: &Schema) -> Result<String> {
    let names = names::of_columns(schema.fields().iter().map(|field| field.name().as_str()))?;
    let fields = schema.fields().iter().zip(&names).map(|(field, name)| {
        let (kind, _) = of(field.data_type());
        match is_union(field.is_nullable(), field.data_type()) {
            true => json!({ "name": name, "type": ["null", kind], "default": null }),
            false => json!({ "name": name, "type": kind }),
        }
    });
    let fields: Vec<Value> = fields.collect();
    Ok(json!({ "type": "record", "name": "Record", "fields": fields }).to_string())
}

fn is_union(nullable: bool, kind: &DataType) -> bool {
    nullable && *kind != DataType::Null
}

/// Returns the type of Avro for a type of a column, and the type whose values are written.
fn of(kind: &DataType) -> (Value, DataType) {
    let logical = |base: &str, name: &str| json!({ "type": base, "logicalType": name });
    let timestamp = |unit: &TimeUnit, utc: bool| {
        let (unit, digits) = match unit {
            TimeUnit::Second | TimeUnit::Millisecond => (TimeUnit::Millisecond, "millis"),
            TimeUnit::Microsecond => (TimeUnit::Microsecond, "micros"),
            TimeUnit::Nanosecond => (TimeUnit::Nanosecond, "nanos"),
        };
        let name = format!("{}timestamp-{digits}", if utc { "" } else { "local-" });
        (logical("long", &name), DataType::Timestamp(unit, utc.then(|| "+00:00".into())))
    };
    let decimal = |precision: u8, scale: i8| json!({ "type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale });
    match kind {
        DataType::Null => (json!("null"), DataType::Null),
        DataType::Boolean => (json!("boolean"), DataType::Boolean),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => {
            (json!("int"), DataType::Int32)
        }
        DataType::Int64 | DataType::UInt32 => (json!("long"), DataType::Int64),
        DataType::UInt64 => (decimal(20, 0), DataType::Decimal128(20, 0)),
        DataType::Float16 | DataType::Float32 => (json!("float"), DataType::Float32),
        DataType::Float64 => (json!("double"), DataType::Float64),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            (json!("bytes"), DataType::Binary)
        }
        DataType::Date32 => (logical("int", "date"), DataType::Date32),
        DataType::Time32(_) => (logical("int", "time-millis"), DataType::Time32(TimeUnit::Millisecond)),
        DataType::Time64(TimeUnit::Microsecond) => (logical("long", "time-micros"), kind.clone()),
        DataType::Timestamp(unit, zone) => timestamp(unit, zone.is_some()),
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) if *scale >= 0 => {
            (decimal(*precision, *scale), DataType::Decimal128(*precision, *scale))
        }
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) if *scale >= 0 => {
            (decimal(*precision, *scale), kind.clone())
        }
        _ => (json!("string"), DataType::Utf8),
    }
}

/// Appends the rows of a batch. Calls `row` with the bytes after each.
pub fn put_rows(batch: &RecordBatch, to: &mut Vec<u8>, mut row: impl FnMut(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let mut columns = Vec::new();
    for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
        let (_, target) = of(field.data_type());
        let array =
            if *array.data_type() == target { array.clone() } else { cast_with_options(array, &target, &strict)? };
        columns.push((is_union(field.is_nullable(), field.data_type()), array));
    }
    for number in 0..batch.num_rows() {
        for (nullable, array) in &columns {
            if *nullable {
                let is_null = array.is_null(number);
                put_long(i64::from(!is_null), to);
                if is_null {
                    continue;
                }
            }
            put(array, number, to);
        }
        row(to)?;
    }
    Ok(())
}

fn put(array: &ArrayRef, row: usize, to: &mut Vec<u8>) {
    match array.data_type() {
        DataType::Null => {}
        DataType::Boolean => to.push(u8::from(array.as_boolean().value(row))),
        DataType::Int32 => put_long(array.as_primitive::<Int32Type>().value(row).into(), to),
        DataType::Date32 => put_long(array.as_primitive::<Date32Type>().value(row).into(), to),
        DataType::Time32(_) => put_long(array.as_primitive::<Time32MillisecondType>().value(row).into(), to),
        DataType::Int64 => put_long(array.as_primitive::<Int64Type>().value(row), to),
        DataType::Time64(_) => put_long(array.as_primitive::<Time64MicrosecondType>().value(row), to),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            put_long(array.as_primitive::<TimestampMillisecondType>().value(row), to)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            put_long(array.as_primitive::<TimestampMicrosecondType>().value(row), to)
        }
        DataType::Timestamp(..) => put_long(array.as_primitive::<TimestampNanosecondType>().value(row), to),
        DataType::Float32 => to.extend_from_slice(&array.as_primitive::<Float32Type>().value(row).to_le_bytes()),
        DataType::Float64 => to.extend_from_slice(&array.as_primitive::<Float64Type>().value(row).to_le_bytes()),
        DataType::Decimal128(..) => {
            put_bytes(shortest(&array.as_primitive::<Decimal128Type>().value(row).to_be_bytes()), to)
        }
        DataType::Decimal256(..) => {
            put_bytes(shortest(&array.as_primitive::<Decimal256Type>().value(row).to_be_bytes()), to)
        }
        DataType::Binary => put_bytes(array.as_binary::<i32>().value(row), to),
        _ => put_bytes(array.as_string::<i32>().value(row).as_bytes(), to),
    }
}

/// Returns a number without the leading bytes that its sign gives.
fn shortest(bytes: &[u8]) -> &[u8] {
    let redundant = |pair: &&[u8]| match pair[0] {
        0 => pair[1] < 0x80,
        0xff => pair[1] >= 0x80,
        _ => false,
    };
    &bytes[bytes.windows(2).take_while(redundant).count()..]
}

fn put_bytes(bytes: &[u8], to: &mut Vec<u8>) {
    put_long(bytes.len() as i64, to);
    to.extend_from_slice(bytes);
}

/// Appends a number as a varint whose last bit is the sign.
pub fn put_long(value: i64, to: &mut Vec<u8>) {
    varint::put(varint::zigzag(value), to);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, len) in [(0i128, 1), (-1, 1), (127, 1), (128, 2), (-128, 1), (-129, 2), (i128::MAX, 16)] {
            assert_eq!(shortest(&value.to_be_bytes()).len(), len, "{value}");
        }
        for (value, bytes) in [(0, &[0][..]), (-1, &[1]), (1, &[2]), (-64, &[0x7f]), (64, &[0x80, 1])] {
            let mut to = Vec::new();
            put_long(value, &mut to);
            assert_eq!(to, bytes, "{value}");
        }
    }
}
