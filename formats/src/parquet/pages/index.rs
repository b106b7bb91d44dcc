//! The page index of a column chunk: rows of pages that have none of a scan, by the least and largest value of each.

use std::ops::Range;

use arrow_schema::DataType;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::index_reader::{decode_column_index, decode_offset_index};
use yunti_api::SourceFile;

use crate::bounds::Bound;
use crate::parquet::failure::guarded;
use crate::parquet::prune::{Ends, range_of};

/// Bytes of an index, at most.
const INDEX_BYTES_MAX: u64 = 16 << 20;
/// Bytes of a column chunk that is read without a look at its index: it has few pages.
const CHUNK_BYTES_MIN: i64 = 64 << 10;

/// Returns the rows of pages in which no value meets one of the bounds, in order. An index that is absent, or makes no
/// sense, excludes nothing.
pub fn excluded(
    file: &SourceFile,
    chunk: &ColumnChunkMetaData,
    kind: &DataType,
    bounds: &[&Bound],
    rows: usize,
) -> Vec<Range<usize>> {
    if bounds.is_empty() || chunk.compressed_size() < CHUNK_BYTES_MIN {
        return Vec::new();
    }
    guarded(|| Ok(find(file, chunk, kind, bounds, rows))).ok().flatten().unwrap_or_default()
}

fn find(
    file: &SourceFile,
    chunk: &ColumnChunkMetaData,
    kind: &DataType,
    bounds: &[&Bound],
    rows: usize,
) -> Option<Vec<Range<usize>>> {
    let values = decode_column_index(&read(file, chunk.column_index_range()?)?, chunk.column_type()).ok()?;
    let places = decode_offset_index(&read(file, chunk.offset_index_range()?)?).ok()?;
    let starts: Option<Vec<usize>> =
        places.page_locations().iter().map(|page| usize::try_from(page.first_row_index).ok()).collect();
    let mut starts = starts?;
    if starts.len() as u64 != values.num_pages() || starts.first() != Some(&0) {
        return None;
    }
    starts.push(rows);
    if !starts.is_sorted() {
        return None;
    }
    let mut excluded: Vec<Range<usize>> = Vec::new();
    for (page, pair) in starts.windows(2).enumerate() {
        // A comparison with a null is never true.
        let is_excluded = values.is_null_page(page)
            || ends(&values, page)
                .and_then(|ends| range_of(ends, chunk, kind))
                .is_some_and(|range| bounds.iter().any(|bound| bound.excludes(&range)));
        if is_excluded {
            excluded.push(pair[0]..pair[1]);
        }
    }
    Some(excluded)
}

fn ends(values: &ColumnIndexMetaData, page: usize) -> Option<Ends<'_>> {
    Some(match values {
        ColumnIndexMetaData::INT32(of) => Ends::Int32(*of.min_value(page)?, *of.max_value(page)?),
        ColumnIndexMetaData::INT64(of) => Ends::Int64(*of.min_value(page)?, *of.max_value(page)?),
        ColumnIndexMetaData::FLOAT(of) => Ends::Float(f64::from(*of.min_value(page)?), f64::from(*of.max_value(page)?)),
        ColumnIndexMetaData::DOUBLE(of) => Ends::Float(*of.min_value(page)?, *of.max_value(page)?),
        ColumnIndexMetaData::BYTE_ARRAY(of) | ColumnIndexMetaData::FIXED_LEN_BYTE_ARRAY(of) => {
            Ends::Bytes(of.min_value(page)?, of.max_value(page)?)
        }
        ColumnIndexMetaData::BOOLEAN(_) | ColumnIndexMetaData::INT96(_) => return None,
    })
}

fn read(file: &SourceFile, range: Range<u64>) -> Option<Vec<u8>> {
    let len = range.end.checked_sub(range.start).filter(|len| *len <= INDEX_BYTES_MAX && range.end <= file.len())?;
    let mut bytes = vec![0; len as usize];
    file.read_at(&mut bytes, range.start).ok()?;
    Some(bytes)
}

/// Returns the union of ranges, in order and without overlaps.
pub fn union(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut all: Vec<Range<usize>> = Vec::new();
    for range in ranges.into_iter().filter(|range| !range.is_empty()) {
        match all.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join() {
        assert_eq!(union(vec![5..7, 0..2, 2..3, 6..9, 12..12, 20..21]), [0..3, 5..9, 20..21]);
    }
}
