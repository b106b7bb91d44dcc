//! Description of a file as JSON: rows, row groups, columns with their types, sizes, encodings and statistics.

use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::Type;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::schema::printer::print_schema;
use serde_json::{Value, json};

use super::schema::{given_schema, has_only_codes};
use crate::file::describe::fields;

/// Returns the JSON document of a file's metadata.
pub fn document(foot: &ArrowReaderMetadata) -> String {
    let metadata = foot.metadata();
    let file = metadata.file_metadata();
    let mut schema = Vec::new();
    print_schema(&mut schema, file.schema());
    let columns: Vec<Value> = (0..foot.parquet_schema().num_columns())
        .map(|leaf| {
            let chunks: Vec<&ColumnChunkMetaData> =
                metadata.row_groups().iter().filter_map(|group| group.columns().get(leaf)).collect();
            column(foot, leaf, &chunks)
        })
        .collect();
    json!({
        "format": "Parquet",
        "version": file.version(),
        "created_by": file.created_by().unwrap_or_default(),
        "rows": file.num_rows(),
        "units": metadata.num_row_groups(),
        "unit": "row group",
        "schema": String::from_utf8_lossy(&schema),
        "columns": columns,
        "fields": fields(&given_schema(foot)),
    })
    .to_string()
}

fn column(foot: &ArrowReaderMetadata, leaf: usize, chunks: &[&ColumnChunkMetaData]) -> Value {
    let described = foot.parquet_schema().column(leaf);
    let kind = match described.logical_type_ref() {
        Some(logical) => format!("{} ({logical:?})", described.physical_type()),
        None => described.physical_type().to_string(),
    };
    let sum = |bytes: fn(&ColumnChunkMetaData) -> i64| chunks.iter().map(|c| bytes(c).max(0)).sum::<i64>();
    let mut encodings: Vec<String> =
        chunks.iter().flat_map(|chunk| chunk.encodings().map(|e| e.to_string()).collect::<Vec<_>>()).collect();
    encodings.sort();
    encodings.dedup();
    let mut codecs: Vec<String> = chunks.iter().map(|chunk| codec(chunk)).collect();
    codecs.sort();
    codecs.dedup();
    let nulls: Option<u64> = chunks.iter().map(|c| c.statistics()?.null_count_opt()).sum();
    let (least, most) = bounds(chunks);
    let mut column = json!({
        "path": described.path().string(),
        "type": kind,
        "stored_bytes": sum(|c| c.compressed_size()),
        "plain_bytes": sum(|c| c.uncompressed_size()),
        "codec": codecs.join(", "),
        "encodings": encodings.join(", "),
        "nulls": nulls,
        "min": least,
        "max": most,
        "bloom_filter": chunks.iter().any(|c| c.bloom_filter_offset().is_some()),
        "page_index": chunks.iter().any(|c| c.column_index_offset().is_some()),
    });
    if let (Some(0), Some(ranges)) = (nulls, ranges_apart(chunks)) {
        column["apart"] = ranges.into();
    }
    if let Some(values) = values_about(chunks) {
        column["distinct_about"] = values.into();
    }
    column
}

/// Bytes of a dictionary page's header, about, and those of a short text with its length.
const HEADER_BYTES: i64 = 20;
const TEXT_BYTES: i64 = 6;
/// A dictionary with a value for fewer rows than this says nothing of other chunks, which may have other values.
const ROWS_A_VALUE: i64 = 8;

/// Returns the number of different values, about, by the dictionaries of chunks that consist of their codes: the
/// largest one counts. None unless each chunk has one, of few values.
fn values_about(chunks: &[&ColumnChunkMetaData]) -> Option<u64> {
    let mut most = 1;
    for chunk in chunks {
        let bytes = chunk.data_page_offset() - chunk.dictionary_page_offset()?;
        if !has_only_codes(chunk) || bytes <= 0 {
            return None;
        }
        let value = match chunk.column_type() {
            Type::INT32 | Type::FLOAT => 4,
            Type::INT64 | Type::DOUBLE => 8,
            Type::BYTE_ARRAY => TEXT_BYTES,
            _ => return None,
        };
        let values = ((bytes - HEADER_BYTES) / value).min(chunk.num_values());
        if chunks.len() > 1 && values * ROWS_A_VALUE > chunk.num_values() {
            return None;
        }
        most = most.max(values);
    }
    u64::try_from(most).ok()
}

/// Returns the least and largest whole number of each chunk, if none is less than one of the chunks before.
fn ranges_apart(chunks: &[&ColumnChunkMetaData]) -> Option<Vec<Value>> {
    let (mut all, mut last) = (Vec::with_capacity(chunks.len()), i64::MIN);
    for chunk in chunks {
        let (Bound::Whole(least), Bound::Whole(most)) = bound(chunk.statistics()?)? else { return None };
        if least < last || most < least {
            return None;
        }
        last = most;
        all.push(json!([least, most]));
    }
    (all.len() > 1).then_some(all)
}

fn codec(chunk: &ColumnChunkMetaData) -> String {
    let text = format!("{:?}", chunk.compression());
    text.split('(').next().unwrap_or_default().to_lowercase()
}

/// Returns the least and the largest value in the statistics of all chunks; None unless each chunk has them.
fn bounds(chunks: &[&ColumnChunkMetaData]) -> (Option<String>, Option<String>) {
    let mut all: Option<(Bound, Bound)> = None;
    for chunk in chunks {
        let Some((least, most)) = chunk.statistics().and_then(bound) else { return (None, None) };
        all = Some(match all {
            None => (least, most),
            Some((a, b)) => (if least.less(&a) { least } else { a }, if b.less(&most) { most } else { b }),
        });
    }
    all.map_or((None, None), |(least, most)| (Some(least.text()), Some(most.text())))
}

/// A bound in the statistics.
enum Bound {
    Whole(i64),
    Float(f64),
    Bytes(Vec<u8>),
}

impl Bound {
    fn less(&self, other: &Bound) -> bool {
        match (self, other) {
            (Bound::Whole(a), Bound::Whole(b)) => a < b,
            (Bound::Float(a), Bound::Float(b)) => a < b,
            (Bound::Bytes(a), Bound::Bytes(b)) => a < b,
            _ => false,
        }
    }

    fn text(&self) -> String {
        match self {
            Bound::Whole(n) => n.to_string(),
            Bound::Float(n) => n.to_string(),
            Bound::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

fn bound(statistics: &Statistics) -> Option<(Bound, Bound)> {
    Some(match statistics {
        Statistics::Boolean(s) => (Bound::Whole(i64::from(*s.min_opt()?)), Bound::Whole(i64::from(*s.max_opt()?))),
        Statistics::Int32(s) => (Bound::Whole(i64::from(*s.min_opt()?)), Bound::Whole(i64::from(*s.max_opt()?))),
        Statistics::Int64(s) => (Bound::Whole(*s.min_opt()?), Bound::Whole(*s.max_opt()?)),
        Statistics::Float(s) => (Bound::Float(f64::from(*s.min_opt()?)), Bound::Float(f64::from(*s.max_opt()?))),
        Statistics::Double(s) => (Bound::Float(*s.min_opt()?), Bound::Float(*s.max_opt()?)),
        Statistics::ByteArray(s) => {
            (Bound::Bytes(s.min_opt()?.data().to_vec()), Bound::Bytes(s.max_opt()?.data().to_vec()))
        }
        // Other types are not ordered as their bytes.
        _ => return None,
    })
}
