//! Types of values, and values.

use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};
use yunti_base::Result;
use yunti_engine::columns::vector::Value;

use super::bytes::{Reader, Writer};
use super::{damaged, stays};

/// Types without parameters, by their numbers.
const PLAIN: [DataType; 21] = [
    DataType::Null,
    DataType::Boolean,
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
    DataType::Float16,
    DataType::Float32,
    DataType::Float64,
    DataType::Utf8,
    DataType::LargeUtf8,
    DataType::Utf8View,
    DataType::Binary,
    DataType::LargeBinary,
    DataType::BinaryView,
    DataType::Date32,
    DataType::Date64,
];

/// Numbers of types with parameters.
mod number {
    pub const DECIMAL_32: u8 = 32;
    pub const DECIMAL_64: u8 = 33;
    pub const DECIMAL_128: u8 = 34;
    pub const TIME_32: u8 = 35;
    pub const TIME_64: u8 = 36;
    pub const TIMESTAMP: u8 = 37;
}

const UNITS: [TimeUnit; 4] = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];

fn put_unit(unit: &TimeUnit, to: &mut Writer) {
    to.byte(UNITS.iter().position(|of| of == unit).unwrap_or(0) as u8);
}

fn take_unit(from: &mut Reader<'_>) -> Result<TimeUnit> {
    UNITS.get(usize::from(from.byte()?)).copied().ok_or_else(|| damaged("there is no such unit of time"))
}

/// Appends a type. Errors: `Usage` for one whose values executors do not have.
pub fn put(data_type: &DataType, to: &mut Writer) -> Result<()> {
    let mut decimal = |number, digits: u8, scale: i8| to.fixed([number, digits, scale as u8]);
    match data_type {
        DataType::Decimal32(digits, scale) => decimal(number::DECIMAL_32, *digits, *scale),
        DataType::Decimal64(digits, scale) => decimal(number::DECIMAL_64, *digits, *scale),
        DataType::Decimal128(digits, scale) => decimal(number::DECIMAL_128, *digits, *scale),
        DataType::Time32(unit) => {
            to.byte(number::TIME_32);
            put_unit(unit, to);
        }
        DataType::Time64(unit) => {
            to.byte(number::TIME_64);
            put_unit(unit, to);
        }
        DataType::Timestamp(unit, zone) => {
            to.byte(number::TIMESTAMP);
            put_unit(unit, to);
            to.text(zone.as_deref().unwrap_or_default());
        }
        plain => match PLAIN.iter().position(|of| of == plain) {
            Some(number) => to.byte(number as u8),
            None => return Err(stays(&format!("values of type {plain}"))),
        },
    }
    Ok(())
}

/// Takes a type.
pub fn take(from: &mut Reader<'_>) -> Result<DataType> {
    let number = from.byte()?;
    let mut decimal = |make: fn(u8, i8) -> DataType, most: u8| {
        let [digits, scale] = from.fixed()?;
        let fits = (1..=most).contains(&digits) && (scale as i8).unsigned_abs() <= most;
        if fits { Ok(make(digits, scale as i8)) } else { Err(damaged("there is no such decimal")) }
    };
    Ok(match number {
        number::DECIMAL_32 => decimal(DataType::Decimal32, 9)?,
        number::DECIMAL_64 => decimal(DataType::Decimal64, 18)?,
        number::DECIMAL_128 => decimal(DataType::Decimal128, 38)?,
        number::TIME_32 => DataType::Time32(take_unit(from)?),
        number::TIME_64 => DataType::Time64(take_unit(from)?),
        number::TIMESTAMP => {
            let (unit, zone) = (take_unit(from)?, from.text()?);
            DataType::Timestamp(unit, (!zone.is_empty()).then(|| Arc::from(&zone[..])))
        }
        plain => match PLAIN.get(usize::from(plain)) {
            Some(data_type) => data_type.clone(),
            None => return Err(damaged("there is no such type")),
        },
    })
}

/// Appends a value.
pub fn put_value(value: &Value, to: &mut Writer) {
    match value {
        Value::Null => to.byte(0),
        Value::Bool(value) => to.fixed([1, u8::from(*value)]),
        Value::Int(value) => {
            to.byte(2);
            to.fixed(value.to_le_bytes());
        }
        Value::Float(value) => {
            to.byte(3);
            to.fixed(value.to_le_bytes());
        }
        Value::Decimal(value) => {
            to.byte(4);
            to.fixed(value.to_le_bytes());
        }
        Value::Bytes(value) => {
            to.byte(5);
            to.bytes(value);
        }
    }
}

/// Takes a value.
pub fn take_value(from: &mut Reader<'_>) -> Result<Value> {
    Ok(match from.byte()? {
        0 => Value::Null,
        1 => Value::Bool(from.flag()?),
        2 => Value::Int(i64::from_le_bytes(from.fixed()?)),
        3 => Value::Float(f64::from_le_bytes(from.fixed()?)),
        4 => Value::Decimal(i128::from_le_bytes(from.fixed()?)),
        5 => Value::Bytes(from.bytes()?.to_vec()),
        _ => return Err(damaged("there is no such value")),
    })
}
