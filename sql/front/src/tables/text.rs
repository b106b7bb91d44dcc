//! CSV and JSON lines. Their columns and types follow from the first records.
//!
//! A file of CSV is read as one piece: a line end within quotes would make any other cut a guess.

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::datatypes::{FieldRef, SchemaRef};
use datafusion::datasource::file_format::FileFormat as Reader;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use yunti_base::{Code, Error, Result};
use yunti_engine::codec::CodecKind;
use yunti_sql_arrow::text::{self, Dialect, Format, TextFile};
use yunti_sql_execute::operators::scan::parts::{Origin, Part, Parts};
use yunti_sql_plan::Field;

use super::partitions::Partitions;
use super::place::Place;
use super::world::{DataFile, World};
use crate::arrow;

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
            return Err(error.hint("one of parquet, csv, csv-no-header, tsv, json, json-array, orc, avro, arrow, ytab"));
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

/// Returns files as the parts of a table with the columns of a schema, and then those of directories: neighbours with
/// the same values of directories are one. None for a format that Yunti's own executor does not read: an array of JSON.
pub fn parts(
    name: &str,
    format: &TextFormat,
    schema: &SchemaRef,
    (files, partitions): (&[DataFile], &Partitions),
    world: &World,
) -> Result<Option<Parts>> {
    let format = match *format {
        TextFormat::Csv { delimiter, header } => Format::Csv(Dialect { delimiter, header }),
        TextFormat::Json { lines: true } => Format::Json,
        TextFormat::Json { lines: false } => return Ok(None),
    };
    let mut parts = Vec::new();
    for alike in files.chunk_by(|a, b| a.values == b.values) {
        let of = |file: &DataFile| TextFile { path: file.path.clone(), len: file.stored_bytes, codec: file.codec };
        let texts = alike.iter().map(of).collect();
        let table = Arc::new(text::table(name, texts, format, schema, (&world.env, &world.budget)));
        let mut columns: Vec<Origin> = (0..schema.fields().len()).map(Origin::Same).collect();
        for value in &alike[0].values {
            columns.push(Origin::Value(arrow::value(value)?));
        }
        parts.push(Part { table, files: alike.len(), columns });
    }
    let field = |of: &FieldRef| Field { name: of.name().clone(), data_type: of.data_type().clone(), nullable: true };
    Ok(Some(Parts::new(schema.fields().iter().chain(&partitions.fields).map(field).collect(), parts)))
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
