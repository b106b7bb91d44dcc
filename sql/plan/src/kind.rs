//! Shape in memory of the values of a type. Types are Arrow's (`DataType`), as all front ends and files spell them;
//! values are in the few shapes of `yunti_engine::columns`.
//!
//! ```text
//!   Boolean                              bool
//!   Int8 .. Int64, UInt8 .. UInt32       i64
//!   UInt64                               decimal of scale 0 (i128)
//!   Float16, Float32, Float64            f64; a value of Float32 is a float of single precision
//!   Decimal32 .. Decimal128(p, s)        i128, or i64 where all units of the vector fit 64 bits (`SmallDecimals`)
//!   Utf8, LargeUtf8, Utf8View, Binary .. bytes, or codes with a dictionary
//!   Date32                               i64: days since 1970
//!   Time32, Time64, Timestamp            i64: units since midnight; units since 1970
//! ```

use arrow_schema::{DataType, TimeUnit};
use yunti_engine::columns::kind::{Kind, Unit};

/// Returns the shape of a type's values; None for types that only a front end's own executor has: lists, structs,
/// maps, intervals, decimals of 256 bits, scales below zero.
pub fn kind_of(data_type: &DataType) -> Option<Kind> {
    Some(match data_type {
        DataType::Null | DataType::Boolean => Kind::Boolean,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => Kind::Int,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => Kind::Int,
        DataType::UInt64 => Kind::Decimal { scale: 0 },
        DataType::Float16 | DataType::Float32 => Kind::Float32,
        DataType::Float64 => Kind::Float,
        DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) | DataType::Decimal128(_, scale) => {
            Kind::Decimal { scale: u8::try_from(*scale).ok()? }
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Kind::Text,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Kind::Text,
        DataType::Date32 => Kind::Date,
        DataType::Time32(unit) | DataType::Time64(unit) => Kind::Time(unit_of(unit)),
        DataType::Timestamp(unit, zone) => Kind::Timestamp { unit: unit_of(unit), utc: zone.is_some() },
        _ => return None,
    })
}

fn unit_of(unit: &TimeUnit) -> Unit {
    match unit {
        TimeUnit::Second => Unit::Second,
        TimeUnit::Millisecond => Unit::Millisecond,
        TimeUnit::Microsecond => Unit::Microsecond,
        TimeUnit::Nanosecond => Unit::Nanosecond,
    }
}
