//! Row groups that have no row of a scan, by their Bloom filters: for columns that must equal a constant.

use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::Type as PhysicalType;
use parquet::bloom_filter::Sbbf;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use yunti_api::SourceFile;

use super::failure::guarded;
use super::input::Input;
use super::prune::{column_of, is_unsigned, is_whole};
use crate::bounds::Bound;
use crate::cells::record::unescape;

/// Bytes of a filter, at most; reading a larger one costs more than it may save.
const FILTER_BYTES_MAX: usize = 8 << 20;

/// Input that refuses larger reads.
struct FilterInput(Input);

impl Length for FilterInput {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for FilterInput {
    type T = <Input as ChunkReader>::T;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<bytes::Bytes> {
        if length > FILTER_BYTES_MAX {
            return Err(ParquetError::General(format!("a Bloom filter has {length} bytes")));
        }
        // The crate asks for more than a header needs.
        self.0.get_bytes(start, length.min(self.len().saturating_sub(start) as usize))
    }
}

/// Returns true if a filter says that no row of a row group meets a bound. A filter that cannot be read says nothing.
pub fn excludes(file: &SourceFile, bounds: &[Bound], foot: &ArrowReaderMetadata, group: &RowGroupMetaData) -> bool {
    bounds.iter().any(|bound| {
        let Some(constant) = bound.equal_to() else { return false };
        let Some((column, kind)) = column_of(bound, foot, group) else { return false };
        // The length in the metadata is not used as it is: it may be anything.
        if column.bloom_filter_offset().is_none() || column.bloom_filter_length().is_some_and(|len| len < 0) {
            return false;
        }
        let input = FilterInput(Input(file.clone()));
        let read = guarded(|| Ok(Sbbf::read_from_column_chunk(column, &input).ok().flatten()));
        read.ok().flatten().is_some_and(|filter| lacks(&filter, column, kind, constant))
    })
}

/// Returns true if the column surely has no such value.
fn lacks(filter: &Sbbf, column: &ColumnChunkMetaData, kind: &DataType, constant: &str) -> bool {
    let (is_whole, unsigned) = (is_whole(kind), is_unsigned(kind));
    match column.column_type() {
        PhysicalType::INT32 if is_whole => match constant.parse::<i128>() {
            Ok(value) if unsigned => u32::try_from(value).map_or(true, |value| !filter.check(&(value as i32))),
            Ok(value) => i32::try_from(value).map_or(true, |value| !filter.check(&value)),
            Err(_) => false,
        },
        PhysicalType::INT64 if is_whole => match constant.parse::<i128>() {
            Ok(value) if unsigned => u64::try_from(value).map_or(true, |value| !filter.check(&(value as i64))),
            Ok(value) => i64::try_from(value).map_or(true, |value| !filter.check(&value)),
            Err(_) => false,
        },
        // 0 equals -0, which has other bytes; a NaN has many.
        PhysicalType::DOUBLE => {
            constant.parse::<f64>().is_ok_and(|value| value != 0.0 && !value.is_nan() && !filter.check(&value))
        }
        PhysicalType::BYTE_ARRAY if matches!(kind, DataType::Utf8 | DataType::Binary) => {
            !filter.check(&*unescape(constant.as_bytes()))
        }
        _ => false,
    }
}
