//! Rows of CSV (RFC 4180) with a header line.

use yunti_base::{Code, Error, Result};

use super::chunks::Fields;
use super::{Records, Request, json, misfit, schema};
use crate::builder::Feeder;
use crate::format::schema::{Column, Kind, Schema};
use crate::format::values::parse;

/// Rows that the types of columns without one are taken from.
const SAMPLE: usize = 10_000;

/// How the fields of a record become values.
pub struct Csv {
    delimiter: u8,
    /// Number of fields of each record.
    count: usize,
    columns: Vec<Column>,
    /// Field of each column.
    places: Vec<usize>,
    name: String,
}

impl Csv {
    /// Reads the header and the first rows, and returns the bytes of the header too.
    pub fn of(text: &[u8], name: &str, request: &Request, delimiter: u8) -> Result<(Schema, Csv, usize)> {
        // A byte order mark is no part of the first name.
        let mark = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut fields = Fields::new(delimiter);
        let Some(read) = fields.next(&text[mark..], true) else {
            let what = "the file is empty; its first line names the columns";
            return Err(Error::new(Code::Input, what).at_path(name));
        };
        let header_bytes = mark + read;
        let header: Vec<String> =
            (0..fields.len()).map(|field| String::from_utf8_lossy(fields.field(field)).into_owned()).collect();
        let mut types: Vec<Inferred> = header.iter().map(|_| Inferred::default()).collect();
        let mut at = header_bytes;
        for _ in 0..SAMPLE {
            let Some(read) = fields.next(&text[at..], true) else { break };
            at += read;
            let fields = (0..fields.len()).map(|field| fields.field(field));
            types.iter_mut().zip(fields).for_each(|(inferred, field)| inferred.add(field));
        }
        let inferred: Vec<Column> = header.iter().zip(types).map(|(name, inferred)| inferred.column(name)).collect();
        let (schema, places) = schema(&inferred, name, &request.keys, &request.columns)?;
        let columns = schema.columns.clone();
        Ok((schema, Csv { delimiter, count: header.len(), columns, places, name: name.to_owned() }, header_bytes))
    }
}

/// Kinds of fields that a column has.
#[derive(Default)]
struct Inferred {
    has_integers: bool,
    has_others: bool,
    has_missing: bool,
}

impl Inferred {
    fn add(&mut self, field: &[u8]) {
        // An integer that is printed as it was written: 007 is a text.
        let number = std::str::from_utf8(field).ok().and_then(|text| text.parse::<i64>().ok());
        let is_integer = number.is_some_and(|number| number.to_string().as_bytes() == field);
        self.has_missing |= field.is_empty();
        self.has_integers |= is_integer;
        self.has_others |= !is_integer && !field.is_empty();
    }

    fn column(&self, name: &str) -> Column {
        match self.has_integers && !self.has_others {
            true => Column::new(name, Kind::I64, self.has_missing),
            false => Column::new(name, Kind::Utf8, false),
        }
    }
}

impl Records for Csv {
    fn add(&self, text: &[u8], line: u64, feeder: &mut Feeder<'_>) -> Result<()> {
        let mut fields = Fields::new(self.delimiter);
        let (mut at, mut line) = (0, line);
        let mut values: Vec<u8> = Vec::new();
        let mut ends: Vec<Option<usize>> = Vec::with_capacity(self.columns.len());
        while let Some(read) = fields.next(&text[at..], true) {
            let record = &text[at..at + read];
            // Empty lines before a record are none.
            let blank = record.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).filter(|byte| **byte == b'\n');
            let own_line = line + blank.count() as u64;
            line += memchr::memchr_iter(b'\n', record).count() as u64;
            at += read;
            if fields.len() != self.count {
                let what = format!("line {own_line}: {} fields, but the header has {}", fields.len(), self.count);
                return Err(Error::new(Code::Input, what).at_path(self.name.as_str()));
            }
            values.clear();
            ends.clear();
            for (column, place) in self.columns.iter().zip(&self.places) {
                let text = fields.field(*place);
                let is_missing = text.is_empty() && column.is_nullable;
                let is_fit = is_missing
                    || match column.kind {
                        Kind::Record | Kind::List => json::parse_text(column, text, &mut values),
                        kind => parse(kind, text, &mut values),
                    };
                if !is_fit {
                    return Err(misfit(own_line, column, &String::from_utf8_lossy(text), &self.name));
                }
                ends.push((!is_missing).then_some(values.len()));
            }
            let mut begin = 0;
            let row: Vec<Option<&[u8]>> = ends
                .iter()
                .map(|end| {
                    end.map(|end| {
                        let value = &values[begin..end];
                        begin = end;
                        value
                    })
                })
                .collect();
            feeder.add(&row, own_line)?;
        }
        Ok(())
    }
}
