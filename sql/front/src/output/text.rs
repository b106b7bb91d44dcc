//! Values as text: CSV, JSON lines, plain.
//!
//! ```text
//!   null            CSV: nothing; empty text is "" in quotes      JSON: null
//!   float           the shortest digits that give it again; NaN and infinity are null in JSON
//!   timestamp       2026-11-01 10:30:00.5, with +00:00 if it has a zone
//!   binary          hexadecimal digits
//! ```

use std::fmt::Write as _;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::arrow::util::display::{ArrayFormatter, DurationFormat, FormatOptions};
use yunti_base::{Code, Error, Result};

/// Returns how values are written.
pub fn options() -> FormatOptions<'static> {
    FormatOptions::new()
        .with_null("")
        .with_date_format(Some("%Y-%m-%d"))
        .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
        .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.f%:z"))
        .with_datetime_format(Some("%Y-%m-%d %H:%M:%S%.f"))
        .with_time_format(Some("%H:%M:%S%.f"))
        .with_duration_format(DurationFormat::Pretty)
}

fn bad(e: impl std::fmt::Display) -> Error {
    Error::new(Code::Invalid, format!("a value cannot be written as text: {e}"))
}

/// Text of the values of one column.
pub struct Texts<'a> {
    array: &'a dyn Array,
    formatter: Option<ArrayFormatter<'a>>,
    nulls: Option<datafusion::arrow::buffer::NullBuffer>,
}

impl<'a> Texts<'a> {
    pub fn of(array: &'a ArrayRef, options: &'a FormatOptions<'a>) -> Result<Texts<'a>> {
        let formatter = match array.data_type() {
            DataType::Utf8 => None,
            _ => Some(ArrayFormatter::try_new(array, options).map_err(bad)?),
        };
        Ok(Texts { array, formatter, nulls: array.logical_nulls() })
    }

    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Appends a value that is not null.
    pub fn put(&self, row: usize, out: &mut String) -> Result<()> {
        match &self.formatter {
            None => out.push_str(self.array.as_string::<i32>().value(row)),
            Some(formatter) => formatter.value(row).write(out).map_err(bad)?,
        }
        Ok(())
    }
}

fn columns<'a>(batch: &'a RecordBatch, options: &'a FormatOptions<'a>) -> Result<Vec<Texts<'a>>> {
    batch.columns().iter().map(|column| Texts::of(column, options)).collect()
}

/// Appends the names of columns.
pub fn put_header(schema: &Schema, delimiter: u8, out: &mut Vec<u8>) {
    for (n, field) in schema.fields().iter().enumerate() {
        if n > 0 {
            out.push(delimiter);
        }
        put_field(field.name(), delimiter, out);
    }
    out.push(b'\n');
}

fn put_field(text: &str, delimiter: u8, out: &mut Vec<u8>) {
    let plain = |&byte: &u8| byte != delimiter && byte != b'"' && byte != b'\n' && byte != b'\r';
    if !text.is_empty() && text.as_bytes().iter().all(plain) {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}

/// Appends rows as CSV.
pub fn put_csv(batch: &RecordBatch, delimiter: u8, out: &mut Vec<u8>) -> Result<()> {
    let options = options();
    let columns = columns(batch, &options)?;
    let mut text = String::new();
    for row in 0..batch.num_rows() {
        for (n, column) in columns.iter().enumerate() {
            if n > 0 {
                out.push(delimiter);
            }
            if column.is_null(row) {
                // An empty line would be no record.
                if columns.len() == 1 {
                    out.extend_from_slice(b"\"\"");
                }
                continue;
            }
            text.clear();
            column.put(row, &mut text)?;
            put_field(&text, delimiter, out);
        }
        out.push(b'\n');
    }
    Ok(())
}

/// Appends rows with tabs between their values.
pub fn put_plain(batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
    let options = options();
    let columns = columns(batch, &options)?;
    let mut text = String::new();
    for row in 0..batch.num_rows() {
        text.clear();
        for (n, column) in columns.iter().enumerate() {
            if n > 0 {
                text.push('\t');
            }
            if !column.is_null(row) {
                column.put(row, &mut text)?;
            }
        }
        text.push('\n');
        out.extend_from_slice(text.as_bytes());
    }
    Ok(())
}

/// Appends text as a JSON string.
pub fn put_json_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Appends a value as JSON.
fn put_json_value(array: &ArrayRef, texts: &Texts<'_>, row: usize, out: &mut String) -> Result<()> {
    if texts.is_null(row) {
        out.push_str("null");
        return Ok(());
    }
    match array.data_type() {
        DataType::Boolean => out.push_str(if array.as_boolean().value(row) { "true" } else { "false" }),
        data_type if data_type.is_integer() || data_type.is_decimal() => texts.put(row, out)?,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            let start = out.len();
            texts.put(row, out)?;
            if !out[start..].ends_with(|c: char| c.is_ascii_digit()) {
                out.truncate(start);
                out.push_str("null");
            }
        }
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => {
            let values = match array.data_type() {
                DataType::List(_) => array.as_list::<i32>().value(row),
                DataType::LargeList(_) => array.as_list::<i64>().value(row),
                _ => array.as_fixed_size_list().value(row),
            };
            put_json_list(&values, out)?;
        }
        DataType::Struct(fields) => {
            let options = options();
            out.push('{');
            for (n, (field, column)) in fields.iter().zip(array.as_struct().columns()).enumerate() {
                if n > 0 {
                    out.push(',');
                }
                put_json_text(field.name(), out);
                out.push(':');
                put_json_value(column, &Texts::of(column, &options)?, row, out)?;
            }
            out.push('}');
        }
        _ => {
            let mut text = String::new();
            texts.put(row, &mut text)?;
            put_json_text(&text, out);
        }
    }
    Ok(())
}

fn put_json_list(values: &ArrayRef, out: &mut String) -> Result<()> {
    let options = options();
    let texts = Texts::of(values, &options)?;
    out.push('[');
    for row in 0..values.len() {
        if row > 0 {
            out.push(',');
        }
        put_json_value(values, &texts, row, out)?;
    }
    out.push(']');
    Ok(())
}

/// Appends rows as JSON objects, one a line, with the names of a schema.
pub fn put_json(schema: &Schema, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
    let options = options();
    let columns = columns(batch, &options)?;
    let mut names = Vec::new();
    for field in schema.fields() {
        let mut name = String::new();
        put_json_text(field.name(), &mut name);
        names.push(name);
    }
    let mut text = String::new();
    for row in 0..batch.num_rows() {
        text.clear();
        text.push('{');
        for (n, column) in columns.iter().enumerate() {
            if n > 0 {
                text.push(',');
            }
            text.push_str(&names[n]);
            text.push(':');
            put_json_value(batch.column(n), column, row, &mut text)?;
        }
        text.push_str("}\n");
        out.extend_from_slice(text.as_bytes());
    }
    Ok(())
}
