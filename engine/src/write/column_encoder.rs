//! Records as named columns: CSV (RFC 4180) and JSON lines (RFC 8259), which `format/csv.rs` and `format/json.rs` read.
//!
//! ```text
//!   key        value             columns                CSV               JSON lines
//!   7          ann TAB a\nb      id; name, user.note    7,ann,"a          {"id":7,"name":"ann","user":{"note":"a\nb"}}
//!                                                       b"
//! ```
//!
//! A key or value of one column is its bytes unchanged. Several columns have tabs between them, and `\t \n \r \\` for
//! these bytes within a column (`format/columns.rs`). Limitation: a record is encoded in memory, whole, at any length.

use super::value_text::put;
use crate::format::columns::{Columns, put_unescaped};
use crate::operator::Type;
use yunti_base::{Code, Error, Result};

/// Encoder of records as named columns.
#[derive(Clone, Debug)]
pub struct ColumnEncoder {
    key: Side,
    value: Side,
    form: Form,
}

/// Columns of a key or a value.
#[derive(Clone, Debug)]
struct Side {
    name: &'static str,
    kind: Type,
    /// Number of columns; `None`: as many as the record has.
    columns: Option<usize>,
}

#[derive(Clone, Debug)]
enum Form {
    Csv {
        separator: u8,
        head: Vec<u8>,
    },
    /// Text before each column with the column's index, and the end of the line.
    Json {
        pieces: Vec<(Vec<u8>, usize)>,
        end: Vec<u8>,
        /// True for a column of bytes whose texts are JSON values.
        values: Vec<bool>,
        /// True if `\N` stands for a null, and single columns are escaped too.
        marks_nulls: bool,
    },
}

/// Places of columns in a key and a value, reused for each record.
#[derive(Default)]
pub struct CellPlaces {
    cells: Vec<(usize, usize)>,
    /// Number of columns in the key.
    keys: usize,
    /// True if the key's columns contain escapes.
    key_escaped: bool,
    /// True if the value's columns contain escapes.
    value_escaped: bool,
}

impl ColumnEncoder {
    /// Makes an encoder for CSV. Without names, there are as many columns as the record has. `header`: each part begins
    /// with the names.
    ///
    /// Errors: `Usage` for columns that do not fit the types, and for duplicates in a header.
    pub fn csv(types: (Type, Type), names: &Columns, separator: u8, header: bool) -> Result<ColumnEncoder> {
        let mut head = Vec::new();
        if header {
            distinct(names)?;
            let all: Vec<&String> = names.key.iter().chain(&names.value).collect();
            for (number, name) in all.iter().enumerate() {
                if number > 0 {
                    head.push(separator);
                }
                let from = head.len();
                head.extend_from_slice(name.as_bytes());
                quote(&mut head, from, separator, all.len() == 1);
            }
            head.push(b'\n');
        }
        let named = !names.key.is_empty() || !names.value.is_empty();
        let columns = |names: &[String]| named.then_some(names.len());
        Ok(ColumnEncoder {
            key: Side::new("key", types.0, columns(&names.key))?,
            value: Side::new("value", types.1, columns(&names.value))?,
            form: Form::Csv { separator, head },
        })
    }

    /// Makes an encoder for JSON lines. `a.b` is the member `b` of the object `a`.
    ///
    /// Errors: `Usage` for columns that do not fit the types, and for duplicates.
    pub fn json(types: (Type, Type), names: &Columns) -> Result<ColumnEncoder> {
        distinct(names)?;
        let mut root = Vec::new();
        for (column, name) in names.key.iter().chain(&names.value).enumerate() {
            add(&mut root, name, column)?;
        }
        let (mut pieces, mut literal) = (Vec::new(), Vec::new());
        object(&root, &mut literal, &mut pieces);
        literal.push(b'\n');
        Ok(ColumnEncoder {
            key: Side::new("key", types.0, Some(names.key.len()))?,
            value: Side::new("value", types.1, Some(names.value.len()))?,
            form: Form::Json {
                pieces,
                end: literal,
                values: vec![false; names.key.len() + names.value.len()],
                marks_nulls: false,
            },
        })
    }

    /// Sets the columns whose texts are JSON values already: numbers, booleans, lists and objects; nothing is `null`.
    pub fn with_json_values(mut self, names: &Columns, wanted: &[&str]) -> ColumnEncoder {
        if let Form::Json { values, .. } = &mut self.form {
            *values = names.key.iter().chain(&names.value).map(|name| wanted.contains(&name.as_str())).collect();
        }
        self
    }

    /// Sets that JSON has `null` for the text `\N`. Every column of bytes is escaped then, so that no other text is it.
    pub fn with_marked_nulls(mut self) -> ColumnEncoder {
        if let Form::Json { marks_nulls, .. } = &mut self.form {
            *marks_nulls = true;
        }
        self
    }

    /// Returns the first bytes of each part.
    pub fn head(&self) -> &[u8] {
        match &self.form {
            Form::Csv { head, .. } => head,
            Form::Json { .. } => b"",
        }
    }

    /// Appends a record. Errors: `UserCode` if its number of columns differs from the number of names.
    pub fn encode(&self, key: &[u8], value: &[u8], places: &mut CellPlaces, out: &mut Vec<u8>) -> Result<()> {
        places.cells.clear();
        places.key_escaped = self.key.find(key, &mut places.cells)?;
        places.keys = places.cells.len();
        places.value_escaped = self.value.find(value, &mut places.cells)?;
        let cell = |n: usize| {
            let (from, to) = places.cells[n];
            if n < places.keys {
                (self.key.kind, &key[from..to], places.key_escaped)
            } else {
                (self.value.kind, &value[from..to], places.value_escaped)
            }
        };
        match &self.form {
            Form::Csv { separator, .. } => {
                for n in 0..places.cells.len() {
                    if n > 0 {
                        out.push(*separator);
                    }
                    let from = out.len();
                    let (kind, bytes, escaped) = cell(n);
                    if escaped {
                        put_unescaped(bytes, out)
                    } else {
                        put(kind, bytes, out)
                    }
                    quote(out, from, *separator, places.cells.len() == 1);
                }
                out.push(b'\n');
            }
            Form::Json { pieces, end, values, marks_nulls } => {
                for (literal, n) in pieces {
                    out.extend_from_slice(literal);
                    let (kind, bytes, escaped) = cell(*n);
                    let is_marked = *marks_nulls && kind == Type::Bytes;
                    let escaped = escaped || is_marked;
                    if is_marked && bytes == b"\\N" {
                        out.extend_from_slice(b"null");
                    } else if values[*n] {
                        put_value(bytes, escaped, out);
                    } else {
                        put_json(kind, bytes, escaped, out);
                    }
                }
                out.extend_from_slice(end);
            }
        }
        Ok(())
    }
}

impl Side {
    fn new(name: &'static str, kind: Type, columns: Option<usize>) -> Result<Side> {
        let wrong = |what: String| Err(Error::new(Code::Usage, what).hint("name other columns of the output"));
        match (kind, columns) {
            (Type::None, Some(1..)) => return wrong(format!("the job has no {name} to write as columns")),
            (Type::None | Type::Bytes, _) | (_, None | Some(0 | 1)) => {}
            (_, Some(n)) => return wrong(format!("a {name} of type {} is one column, but {n} are named", kind.name())),
        }
        Ok(Side { name, kind, columns: if kind == Type::None { Some(0) } else { columns } })
    }

    /// Adds the places of the columns. Returns true if they are escaped, as several columns are.
    fn find(&self, bytes: &[u8], cells: &mut Vec<(usize, usize)>) -> Result<bool> {
        let one = self.kind != Type::Bytes || self.columns == Some(1);
        match self.columns {
            Some(0) => return Ok(false),
            _ if one => {
                cells.push((0, bytes.len()));
                return Ok(false);
            }
            _ => {}
        }
        let before = cells.len();
        let mut from = 0;
        for at in memchr::memchr_iter(b'\t', bytes) {
            cells.push((from, at));
            from = at + 1;
        }
        cells.push((from, bytes.len()));
        let found = cells.len() - before;
        match self.columns {
            Some(named) if named != found => {
                let what = format!("a {} with {found} columns was emitted, but {named} are named", self.name);
                Err(Error::new(Code::UserCode, what).hint(
                    "separate columns by tabs, and name as many in --output-key-columns and --output-value-columns",
                ))
            }
            _ => Ok(found > 1),
        }
    }
}

/// Checks that no column is named twice.
fn distinct(names: &Columns) -> Result<()> {
    let mut all: Vec<&String> = names.key.iter().chain(&names.value).collect();
    all.sort();
    match all.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::new(Code::Usage, format!("the output has two columns '{}'", pair[0]))),
        None => Ok(()),
    }
}

/// Quotes the cell from `from` to the end, if needed. One empty cell is quoted, because an empty line is not a record.
fn quote(out: &mut Vec<u8>, from: usize, separator: u8, alone: bool) {
    let cell = &out[from..];
    let special = |b: &u8| matches!(*b, b'"' | b'\n' | b'\r') || *b == separator;
    let alone_and_empty = alone && cell.is_empty();
    if !alone_and_empty && !cell.iter().any(special) {
        return;
    }
    let quotes = cell.iter().filter(|&&b| b == b'"').count();
    let (mut read, mut write) = (out.len(), out.len() + quotes + 2);
    out.resize(write, b'"');
    write -= 1;
    // From the end, so that no byte is overwritten before it moves.
    while read > from {
        read -= 1;
        write -= 1;
        out[write] = out[read];
        if out[read] == b'"' {
            write -= 1;
            out[write] = b'"';
        }
    }
    out[from] = b'"';
}

/// A member of an object: a column or another object.
struct Member {
    name: String,
    column: Option<usize>,
    below: Vec<Member>,
}

fn add(members: &mut Vec<Member>, name: &str, column: usize) -> Result<()> {
    let (first, rest) = name.split_once('.').map_or((name, None), |(first, rest)| (first, Some(rest)));
    let at = members.iter().position(|m| m.name == first).unwrap_or_else(|| {
        members.push(Member { name: first.into(), column: None, below: Vec::new() });
        members.len() - 1
    });
    let member = &mut members[at];
    match rest {
        Some(rest) if member.column.is_none() => add(&mut member.below, rest, column),
        None if member.below.is_empty() => {
            member.column = Some(column);
            Ok(())
        }
        _ => Err(Error::new(Code::Usage, format!("the column '{first}' of the output cannot be an object too"))),
    }
}

fn object(members: &[Member], literal: &mut Vec<u8>, pieces: &mut Vec<(Vec<u8>, usize)>) {
    literal.push(b'{');
    for (number, member) in members.iter().enumerate() {
        if number > 0 {
            literal.push(b',');
        }
        put_string(member.name.as_bytes(), false, literal);
        literal.push(b':');
        match member.column {
            Some(column) => pieces.push((std::mem::take(literal), column)),
            None => object(&member.below, literal, pieces),
        }
    }
    literal.push(b'}');
}

/// Appends the text of a JSON value. A text that is none, such as `NaN`, is a string.
fn put_value(bytes: &[u8], escaped: bool, out: &mut Vec<u8>) {
    match bytes {
        [] => out.extend_from_slice(b"null"),
        [b'-', b'0'..=b'9', ..] | [b'0'..=b'9' | b'{' | b'[', ..] | b"true" | b"false" => {
            if escaped {
                put_unescaped(bytes, out)
            } else {
                out.extend_from_slice(bytes)
            }
        }
        _ => put_string(bytes, escaped, out),
    }
}

fn put_json(kind: Type, bytes: &[u8], escaped: bool, out: &mut Vec<u8>) {
    let finite = match kind {
        Type::Bytes | Type::None => return put_string(bytes, escaped, out),
        Type::F32 => bytes.try_into().is_ok_and(|b| f32::from_le_bytes(b).is_finite()),
        Type::F64 => bytes.try_into().is_ok_and(|b| f64::from_le_bytes(b).is_finite()),
        _ => true,
    };
    if finite { put(kind, bytes, out) } else { out.extend_from_slice(b"null") }
}

/// Appends a JSON string. Invalid UTF-8 becomes U+FFFD. The escapes of columns are also JSON's.
fn put_string(bytes: &[u8], escaped: bool, out: &mut Vec<u8>) {
    out.push(b'"');
    for chunk in bytes.utf8_chunks() {
        let mut rest = chunk.valid().as_bytes();
        while let Some(at) = rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)) {
            out.extend_from_slice(&rest[..at]);
            let mut taken = at + 1;
            match rest[at] {
                b'\\' if escaped && matches!(rest.get(at + 1), Some(b't' | b'n' | b'r' | b'\\')) => {
                    out.extend_from_slice(&rest[at..at + 2]);
                    taken += 1;
                }
                b'\\' => out.extend_from_slice(b"\\\\"),
                b'"' => out.extend_from_slice(b"\\\""),
                b'\t' => out.extend_from_slice(b"\\t"),
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\r' => out.extend_from_slice(b"\\r"),
                control => {
                    let digit = |n: u8| b"0123456789abcdef"[n as usize];
                    out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(control >> 4), digit(control & 15)]);
                }
            }
            rest = &rest[taken..];
        }
        out.extend_from_slice(rest);
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
    out.push(b'"');
}

#[cfg(test)]
#[path = "column_encoder_test.rs"]
mod tests;
