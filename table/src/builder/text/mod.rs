//! Rows of text: CSV (RFC 4180) with a header line, or an object of JSON a line.
//!
//! ```text
//!   wanted.rs   columns as users write them: name:type?
//!   chunks.rs   text -> pieces of whole records, for several threads
//!   csv.rs      records -> values; types of columns that have none
//!   json.rs     objects -> values, nested ones too
//! ```

mod chunks;
mod csv;
mod json;
mod wanted;

use std::io::Read;
use std::path::Path;

use yunti_base::{Code, Error, Result};

use super::{Feeder, Gather, Settings};
use crate::format::schema::{Column, Kind, Schema};
use chunks::Chunks;
pub use wanted::Wanted;

/// Format of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Csv {
        delimiter: u8,
    },
    /// An object of JSON a line.
    JsonLines,
}

/// Columns that a user asks for, and how they are read.
#[derive(Clone, Debug)]
pub struct Request {
    pub format: Format,
    pub keys: Vec<Wanted>,
    /// Columns beside the keys; all if there are none.
    pub columns: Vec<Wanted>,
    pub settings: Settings,
}

/// Adds the rows of whole records.
trait Records: Sync {
    /// `line` is the number of the text's first line.
    fn add(&self, text: &[u8], line: u64, feeder: &mut Feeder<'_>) -> Result<()>;
}

/// Reads all rows of a text, for a table at `path`. `name` is the text's name in errors.
pub fn read(input: impl Read, name: &str, request: &Request, path: &Path) -> Result<Gather> {
    let is_csv = matches!(request.format, Format::Csv { .. });
    let delimiter = if let Format::Csv { delimiter } = request.format { Some(delimiter) } else { None };
    let mut chunks = Chunks::new(input, delimiter);
    let failed = |e: std::io::Error| Error::io(Code::Input, "cannot read", &e).at_path(name);
    let mut first = chunks.next().map_err(failed)?.unwrap_or_default();
    if first.text.is_empty() {
        let what = if is_csv { "the file is empty; its first line names the columns" } else { "the file is empty" };
        return Err(Error::new(Code::Input, what).at_path(name));
    }
    let (schema, records): (Schema, Box<dyn Records>) = match delimiter {
        Some(delimiter) => {
            let (schema, csv, header_bytes) = csv::Csv::of(&first.text, name, request, delimiter)?;
            first.line += memchr::memchr_iter(b'\n', &first.text[..header_bytes]).count() as u64;
            first.text.drain(..header_bytes);
            (schema, Box::new(csv))
        }
        None => {
            let (schema, json) = json::Json::of(&first.text, name, request)?;
            (schema, Box::new(json))
        }
    };
    let gather = Gather::new(schema, path, &request.settings);
    chunks::in_parallel(
        first,
        chunks,
        request.settings.threads,
        |chunk, feeder| records.add(&chunk.text, chunk.line, feeder),
        &gather,
    )
    .map_err(|e| e.at_path(name))?;
    Ok(gather)
}

/// Returns the table's columns: keys first, then what the user asks for, or all others of the input.
///
/// @param inferred columns of the input, with the types that its first rows have
pub fn schema(inferred: &[Column], name: &str, keys: &[Wanted], columns: &[Wanted]) -> Result<(Schema, Vec<usize>)> {
    let is_key = |column: &&Column| keys.iter().any(|key| key.name == column.name);
    let others = inferred.iter().filter(|column| !is_key(column)).map(|column| Wanted::untyped(&column.name));
    let columns = if columns.is_empty() { others.collect() } else { columns.to_vec() };
    let mut places = Vec::new();
    let mut found = Vec::new();
    for (at, wanted) in keys.iter().chain(&columns).enumerate() {
        let place = inferred.iter().position(|column| column.name == wanted.name).ok_or_else(|| {
            let names: Vec<&str> = inferred.iter().map(|column| column.name.as_str()).collect();
            Error::new(Code::Input, format!("there is no column {}", wanted.name))
                .at_path(name)
                .hint(format!("columns: {}", names.join(", ")))
        })?;
        let mut column = wanted.column(&inferred[place]);
        // A key without a value is an error of its row, not of the table.
        column.is_nullable &= at >= keys.len() || wanted.is_typed();
        places.push(place);
        found.push(column);
    }
    Ok((Schema::new(found, (0..keys.len()).collect())?, places))
}

/// The error for a value that does not fit its column.
fn misfit(line: u64, column: &Column, text: &str, name: &str) -> Error {
    let shown: String = text.chars().take(40).collect();
    let hint = match text.is_empty() {
        true => format!("for values that may be missing: {}:{}?", column.name, column.type_name()),
        false => format!("for any text: {}:{}", column.name, Kind::Utf8.name()),
    };
    let what = format!("line {line}: column {}: \"{shown}\" is no {}", column.name, column.type_name());
    Error::new(Code::Input, what).at_path(name).hint(hint)
}
