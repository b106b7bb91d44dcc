//! Row groups that have no row of a scan, by their statistics.

use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::{LogicalType, Type as PhysicalType};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::statistics::Statistics;

use crate::bounds::{Bound, Range};

/// Returns true if a bound excludes all rows of a row group.
pub fn excludes(bounds: &[Bound], foot: &ArrowReaderMetadata, group: &RowGroupMetaData) -> bool {
    bounds.iter().any(|bound| {
        let Some((column, kind)) = column_of(bound, foot, group) else { return false };
        let Some(statistics) = column.statistics() else { return false };
        // A comparison with a null is never true.
        let only_nulls = statistics.null_count_opt() == Some(group.num_rows() as u64) && group.num_rows() > 0;
        only_nulls || range(statistics, column, kind).is_some_and(|range| bound.excludes(&range))
    })
}

/// Returns the column of a bound in a row group, and its type.
pub fn column_of<'a>(
    bound: &Bound,
    foot: &'a ArrowReaderMetadata,
    group: &'a RowGroupMetaData,
) -> Option<(&'a ColumnChunkMetaData, &'a DataType)> {
    let is_column = |column: &&ColumnChunkMetaData| column.column_path().parts() == [bound.column.clone()];
    let column = group.columns().iter().find(is_column)?;
    Some((column, foot.schema().field_with_name(&bound.column).ok()?.data_type()))
}

/// Least and largest value of a chunk or a page, as Parquet stores them.
pub enum Ends<'a> {
    Int32(i32, i32),
    Int64(i64, i64),
    Float(f64, f64),
    Bytes(&'a [u8], &'a [u8]),
}

/// Returns the least and the largest value of a column chunk, in the shape of a block of columns.
fn range(statistics: &Statistics, column: &ColumnChunkMetaData, kind: &DataType) -> Option<Range> {
    // Old writers compared bytes and unsigned numbers as signed ones.
    let is_old = statistics.is_min_max_deprecated();
    if is_old && (is_unsigned(kind) || !has_plain_order(column.column_type())) {
        return None;
    }
    let ends = match statistics {
        Statistics::Boolean(_) | Statistics::Int96(_) => return None,
        Statistics::Int32(s) => Ends::Int32(*s.min_opt()?, *s.max_opt()?),
        Statistics::Int64(s) => Ends::Int64(*s.min_opt()?, *s.max_opt()?),
        Statistics::Float(s) => Ends::Float(f64::from(*s.min_opt()?), f64::from(*s.max_opt()?)),
        Statistics::Double(s) => Ends::Float(*s.min_opt()?, *s.max_opt()?),
        Statistics::ByteArray(s) => Ends::Bytes(s.min_opt()?.data(), s.max_opt()?.data()),
        Statistics::FixedLenByteArray(s) => Ends::Bytes(s.min_opt()?.data(), s.max_opt()?.data()),
    };
    range_of(ends, column, kind)
}

/// Returns a range in the shape of a block of columns; None if the type has no order that is known.
pub fn range_of(ends: Ends<'_>, column: &ColumnChunkMetaData, kind: &DataType) -> Option<Range> {
    match ends {
        Ends::Int32(least, most) => {
            let of = |v: i32| if is_unsigned(kind) { i128::from(v as u32) } else { v.into() };
            whole(kind, of(least), of(most))
        }
        Ends::Int64(least, most) => {
            let of = |v: i64| if is_unsigned(kind) { i128::from(v as u64) } else { v.into() };
            whole(kind, of(least), of(most))
        }
        Ends::Float(least, most) => Some(Range::Float(least, most)),
        Ends::Bytes(least, most) => bytes(kind, column, least, most),
    }
}

/// Returns true for a type of unsigned numbers.
pub fn is_unsigned(kind: &DataType) -> bool {
    matches!(kind, DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64)
}

fn has_plain_order(kind: PhysicalType) -> bool {
    matches!(kind, PhysicalType::INT32 | PhysicalType::INT64 | PhysicalType::FLOAT | PhysicalType::DOUBLE)
}

fn whole(kind: &DataType, least: i128, most: i128) -> Option<Range> {
    is_whole(kind).then_some(Range::Whole(least, most))
}

/// Returns true for a type whose values are whole numbers in a block, as they are in a page.
pub fn is_whole(kind: &DataType) -> bool {
    kind.is_integer()
        || matches!(
            kind,
            DataType::Date32
                | DataType::Time32(_)
                | DataType::Time64(_)
                | DataType::Timestamp(..)
                | DataType::Decimal32(..)
                | DataType::Decimal64(..)
                | DataType::Decimal128(_, 0..)
        )
}

fn bytes(kind: &DataType, column: &ColumnChunkMetaData, least: &[u8], most: &[u8]) -> Option<Range> {
    match kind {
        DataType::Utf8 | DataType::Binary => {
            // An interval or a number of bytes has another order.
            let is_text = matches!(
                column.column_descr().logical_type_ref(),
                None | Some(LogicalType::String | LogicalType::Json | LogicalType::Bson | LogicalType::Enum)
            );
            is_text.then(|| Range::Bytes(least.to_vec(), most.to_vec()))
        }
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(_, 0..) => {
            Some(Range::Whole(units(least)?, units(most)?))
        }
        _ => None,
    }
}

/// Returns a decimal's units, which stand in its bytes from the highest to the lowest.
pub fn units(bytes: &[u8]) -> Option<i128> {
    let sign = if bytes.first()? & 0x80 == 0 { 0 } else { -1 };
    (bytes.len() <= 16).then(|| bytes.iter().fold(sign, |units: i128, &byte| units << 8 | i128::from(byte)))
}
