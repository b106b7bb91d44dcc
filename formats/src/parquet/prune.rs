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
        let is_column = |column: &&ColumnChunkMetaData| column.column_path().parts() == [bound.column.clone()];
        let (Some(column), Ok(field)) =
            (group.columns().iter().find(is_column), foot.schema().field_with_name(&bound.column))
        else {
            return false;
        };
        let Some(statistics) = column.statistics() else { return false };
        // A comparison with a null is never true.
        let only_nulls = statistics.null_count_opt() == Some(group.num_rows() as u64) && group.num_rows() > 0;
        only_nulls || range(statistics, column, field.data_type()).is_some_and(|range| bound.excludes(&range))
    })
}

/// Returns the least and the largest value of a column chunk, in the shape of a block of columns.
fn range(statistics: &Statistics, column: &ColumnChunkMetaData, kind: &DataType) -> Option<Range> {
    let is_unsigned = matches!(kind, DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64);
    // Old writers compared bytes and unsigned numbers as signed ones.
    let is_old = statistics.is_min_max_deprecated();
    Some(match statistics {
        Statistics::Boolean(_) | Statistics::Int96(_) => return None,
        _ if is_old && (is_unsigned || !has_plain_order(column.column_type())) => return None,
        Statistics::Int32(s) => {
            let of = |v: i32| if is_unsigned { i128::from(v as u32) } else { v.into() };
            whole(kind, of(*s.min_opt()?), of(*s.max_opt()?))?
        }
        Statistics::Int64(s) => {
            let of = |v: i64| if is_unsigned { i128::from(v as u64) } else { v.into() };
            whole(kind, of(*s.min_opt()?), of(*s.max_opt()?))?
        }
        Statistics::Float(s) => Range::Float(f64::from(*s.min_opt()?), f64::from(*s.max_opt()?)),
        Statistics::Double(s) => Range::Float(*s.min_opt()?, *s.max_opt()?),
        Statistics::ByteArray(s) => bytes(kind, column, s.min_opt()?.data(), s.max_opt()?.data())?,
        Statistics::FixedLenByteArray(s) => bytes(kind, column, s.min_opt()?.data(), s.max_opt()?.data())?,
    })
}

fn has_plain_order(kind: PhysicalType) -> bool {
    matches!(kind, PhysicalType::INT32 | PhysicalType::INT64 | PhysicalType::FLOAT | PhysicalType::DOUBLE)
}

fn whole(kind: &DataType, least: i128, most: i128) -> Option<Range> {
    // Other types have another shape in a block.
    let fits = kind.is_integer()
        || matches!(
            kind,
            DataType::Date32
                | DataType::Time32(_)
                | DataType::Time64(_)
                | DataType::Timestamp(..)
                | DataType::Decimal32(..)
                | DataType::Decimal64(..)
                | DataType::Decimal128(_, 0..)
        );
    fits.then_some(Range::Whole(least, most))
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
fn units(bytes: &[u8]) -> Option<i128> {
    let sign = if bytes.first()? & 0x80 == 0 { 0 } else { -1 };
    (bytes.len() <= 16).then(|| bytes.iter().fold(sign, |units: i128, &byte| units << 8 | i128::from(byte)))
}
