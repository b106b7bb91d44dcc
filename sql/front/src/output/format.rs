//! Formats of results.

use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::arrow::ipc::writer::{FileWriter as IpcWriter, StreamWriter};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use yunti_base::{Code, Error, Result};

use super::{table, text};

/// Names of all formats, for messages.
pub const NAMES: &str = "table, csv, csv-no-header, tsv, tsv-no-header, json, text, parquet, arrow, arrow-stream";

/// A format of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An aligned table, for people.
    Table,
    Csv {
        delimiter: u8,
        header: bool,
    },
    /// An object a line.
    Json,
    /// The values of a row with tabs between them, as they are.
    Text,
    Parquet,
    Arrow,
    /// Arrow's form for pipes: a reader needs no end of the file.
    ArrowStream,
}

impl Format {
    /// Returns the format of a name.
    pub fn named(name: &str) -> Result<Format> {
        let csv = |delimiter, header| Format::Csv { delimiter, header };
        Ok(match &name.to_ascii_lowercase()[..] {
            "table" => Format::Table,
            "csv" => csv(b',', true),
            "csv-no-header" => csv(b',', false),
            "tsv" => csv(b'\t', true),
            "tsv-no-header" => csv(b'\t', false),
            "json" | "jsonl" | "ndjson" => Format::Json,
            "text" => Format::Text,
            "parquet" => Format::Parquet,
            "arrow" => Format::Arrow,
            "arrow-stream" | "arrows" => Format::ArrowStream,
            other => {
                let error = Error::new(Code::Usage, format!("results have no format '{other}'"));
                return Err(error.hint(format!("one of {NAMES}")));
            }
        })
    }

    /// Returns the format that the extension of a path names.
    pub fn of_path(path: &str) -> Option<Format> {
        let (_, extension) = path.rsplit_once('/').map_or(path, |(_, name)| name).rsplit_once('.')?;
        Format::named(extension).ok()
    }

    /// Returns the extension of files.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Table | Format::Text => "txt",
            Format::Csv { delimiter: b'\t', .. } => "tsv",
            Format::Csv { .. } => "csv",
            Format::Json => "json",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
            Format::ArrowStream => "arrows",
        }
    }

    /// Returns the name by which a table of such files is opened.
    pub fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Text => "text",
            Format::Csv { delimiter: b'\t', header: true } => "tsv",
            Format::Csv { delimiter: b'\t', header: false } => "tsv-no-header",
            Format::Csv { header: true, .. } => "csv",
            Format::Csv { header: false, .. } => "csv-no-header",
            Format::Json => "json",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
            Format::ArrowStream => "arrow-stream",
        }
    }

    /// Returns true for formats of bytes: a terminal does not show them, and a file of them holds one result.
    pub fn is_binary(self) -> bool {
        matches!(self, Format::Parquet | Format::Arrow | Format::ArrowStream)
    }
}

/// Writes rows in a format.
pub enum Encoder<W: Write + Send> {
    /// Waits for the columns.
    New(Format, W),
    Text(Format, W, Vec<u8>, SchemaRef),
    Table(W, table::Table),
    Parquet(Box<ArrowWriter<W>>),
    Arrow(IpcWriter<W>),
    ArrowStream(StreamWriter<W>),
    Failed,
}

fn failed(e: impl std::error::Error + 'static) -> Error {
    let mut inner: Option<&(dyn std::error::Error + 'static)> = Some(&e);
    while let Some(error) = inner {
        if let Some(own) = error.downcast_ref::<Error>() {
            return own.clone();
        }
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return match io.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
                Some(own) => own.clone(),
                None => Error::io(Code::Output, "cannot write the result", io),
            };
        }
        inner = error.source();
    }
    Error::new(Code::Output, format!("cannot write the result: {e}"))
}

/// Returns the columns with a number behind names that stand for two: readers find columns by their names.
fn numbered(schema: &SchemaRef) -> SchemaRef {
    let mut taken: HashSet<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut given = HashSet::new();
    let mut name = |name: &String| {
        if given.insert(name.clone()) {
            return name.clone();
        }
        let free = (1..).map(|n| format!("{name}_{n}")).find(|name| !taken.contains(name)).unwrap_or_default();
        taken.insert(free.clone());
        free
    };
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_name(name(field.name())));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

impl<W: Write + Send> Encoder<W> {
    pub fn new(format: Format, out: W) -> Encoder<W> {
        Encoder::New(format, out)
    }

    /// Takes the columns, once.
    pub fn begin(&mut self, schema: &SchemaRef) -> Result<()> {
        let Encoder::New(format, mut out) = std::mem::replace(self, Encoder::Failed) else {
            return Err(Error::new(Code::Internal, "the columns of a result came twice"));
        };
        let apart = matches!(format, Format::Parquet | Format::Arrow | Format::ArrowStream | Format::Json)
            .then(|| numbered(schema));
        let schema = apart.as_ref().unwrap_or(schema);
        *self = match format {
            Format::Table => Encoder::Table(out, table::Table::new(schema)),
            Format::Parquet => {
                let codec = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(codec).build();
                Encoder::Parquet(Box::new(ArrowWriter::try_new(out, schema.clone(), Some(properties)).map_err(failed)?))
            }
            Format::Arrow => Encoder::Arrow(IpcWriter::try_new(out, schema).map_err(failed)?),
            Format::ArrowStream => Encoder::ArrowStream(StreamWriter::try_new(out, schema).map_err(failed)?),
            Format::Csv { .. } | Format::Json | Format::Text => {
                let mut bytes = Vec::new();
                if let Format::Csv { delimiter, header: true } = format {
                    text::put_header(schema, delimiter, &mut bytes);
                    out.write_all(&bytes).map_err(failed)?;
                }
                Encoder::Text(format, out, bytes, schema.clone())
            }
        };
        Ok(())
    }

    /// Takes some rows.
    pub fn rows(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Encoder::Text(format, out, bytes, schema) => {
                bytes.clear();
                match *format {
                    Format::Csv { delimiter, .. } => text::put_csv(batch, delimiter, bytes)?,
                    Format::Json => text::put_json(schema, batch, bytes)?,
                    _ => text::put_plain(batch, bytes)?,
                }
                out.write_all(bytes).map_err(failed)
            }
            Encoder::Table(_, table) => table.rows(batch),
            Encoder::Parquet(writer) => writer.write(batch).map_err(failed),
            Encoder::Arrow(writer) => writer.write(batch).map_err(failed),
            Encoder::ArrowStream(writer) => writer.write(batch).map_err(failed),
            Encoder::New(..) | Encoder::Failed => Err(Error::new(Code::Internal, "rows came before their columns")),
        }
    }

    /// Writes what is left, and returns the place of the bytes.
    pub fn finish(self) -> Result<W> {
        let mut out = match self {
            Encoder::New(_, out) | Encoder::Text(_, out, ..) => out,
            Encoder::Table(mut out, table) => {
                out.write_all(table.text().as_bytes()).map_err(failed)?;
                out
            }
            Encoder::Parquet(writer) => writer.into_inner().map_err(failed)?,
            Encoder::Arrow(writer) => writer.into_inner().map_err(failed)?,
            Encoder::ArrowStream(writer) => writer.into_inner().map_err(failed)?,
            Encoder::Failed => return Err(Error::new(Code::Internal, "the result failed before")),
        };
        out.flush().map_err(failed)?;
        Ok(out)
    }
}
