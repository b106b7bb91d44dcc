//! CSV and JSON lines. Their columns and types follow from the first records.
//!
//! A file of CSV is read as one piece: a line end within quotes would make any other cut a guess.

use std::path::Path;
use std::sync::Arc;

use datafusion::datasource::file_format::FileFormat as Reader;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use yunti_base::{Code, Error, Result};
use yunti_engine::codec::CodecKind;

use super::place::Place;

/// Records by which columns and types are known.
const INFERRED_RECORDS: usize = 10_000;

/// A format of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    Csv {
        delimiter: u8,
        header: bool,
    },
    /// A record a line, or one array of records.
    Json {
        lines: bool,
    },
}

/// Returns the format of a name: of the option `format`, or of `stored as`.
pub fn named(name: &str, place: &Place) -> Result<TextFormat> {
    let csv = |delimiter, header| TextFormat::Csv {
        delimiter: place.delimiter.unwrap_or(delimiter),
        header: place.header.unwrap_or(header),
    };
    Ok(match &name.to_ascii_lowercase()[..] {
        "csv" => csv(b',', true),
        "csv-no-header" => csv(b',', false),
        "tsv" => csv(b'\t', true),
        "tsv-no-header" => csv(b'\t', false),
        "json" | "jsonl" | "ndjson" => TextFormat::Json { lines: true },
        "json-array" => TextFormat::Json { lines: false },
        other => {
            let error = Error::new(Code::Usage, format!("there is no format '{other}'"));
            return Err(error.hint("one of parquet, csv, csv-no-header, tsv, json, json-array, orc, avro, arrow"));
        }
    })
}

/// Returns the format of a file by its name, without the extension of a codec.
pub fn of_name(path: &Path, place: &Place) -> Option<TextFormat> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let codec = CodecKind::ALL.iter().flat_map(|kind| kind.extensions()).find(|end| name.ends_with(**end));
    let plain = codec.map_or(&name[..], |end| &name[..name.len() - end.len()]);
    let (_, extension) = plain.rsplit_once('.')?;
    match extension {
        "csv" | "tsv" | "json" | "jsonl" | "ndjson" => named(extension, place).ok(),
        "tab" => named("tsv", place).ok(),
        _ => None,
    }
}

/// Returns the reader of a format.
pub fn reader(format: &TextFormat) -> Arc<dyn Reader> {
    match *format {
        TextFormat::Csv { delimiter, header } => Arc::new(
            CsvFormat::default()
                .with_has_header(header)
                .with_delimiter(delimiter)
                .with_newlines_in_values(true)
                .with_schema_infer_max_rec(INFERRED_RECORDS),
        ),
        TextFormat::Json { lines } => {
            Arc::new(JsonFormat::default().with_newline_delimited(lines).with_schema_infer_max_rec(INFERRED_RECORDS))
        }
    }
}
