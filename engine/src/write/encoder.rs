//! Encoder of emitted records: text (key, separator, value, LF), raw (key and value unchanged), framed, or columns
//! (`column_encoder.rs`), which are encoded by that file instead.

use super::column_encoder::ColumnEncoder;
use super::value_text::put;
use crate::format::columns::Columns;
use crate::format::framed;
use crate::operator::Type;
use crate::operator::types::wrong_length;
use yunti_base::Result;

/// Encoder of a job's output records.
#[derive(Clone, Debug)]
pub struct Encoder {
    key_type: Type,
    value_type: Type,
    form: Form,
    columns: Option<Box<ColumnEncoder>>,
}

#[derive(Clone, Debug)]
enum Form {
    Text { separator: Vec<u8> },
    Raw,
    Framed,
}

impl Encoder {
    /// Encodes as text: key, `separator`, value, LF.
    pub fn text(key_type: Type, value_type: Type, separator: &[u8]) -> Encoder {
        Encoder { key_type, value_type, form: Form::Text { separator: separator.to_vec() }, columns: None }
    }

    /// Encodes as key and value, with nothing between them.
    pub fn raw(key_type: Type, value_type: Type) -> Encoder {
        Encoder { key_type, value_type, form: Form::Raw, columns: None }
    }

    /// Encodes as key and value, after their lengths.
    pub fn framed(key_type: Type, value_type: Type) -> Encoder {
        Encoder { key_type, value_type, form: Form::Framed, columns: None }
    }

    /// Encodes as named columns.
    pub fn columns(key_type: Type, value_type: Type, columns: ColumnEncoder) -> Encoder {
        Encoder { columns: Some(Box::new(columns)), ..Encoder::raw(key_type, value_type) }
    }

    /// Sets the columns of JSON output whose texts are JSON values already.
    pub fn with_json_values(mut self, names: &Columns, wanted: &[&str]) -> Encoder {
        self.columns = self.columns.map(|columns| Box::new(columns.with_json_values(names, wanted)));
        self
    }

    /// Sets that JSON has `null` for a text that marks a null.
    pub fn with_marked_nulls(mut self) -> Encoder {
        self.columns = self.columns.map(|columns| Box::new(columns.with_marked_nulls()));
        self
    }

    /// Returns the encoder of columns, if records are columns. It replaces `encode` and `pieces`.
    pub fn as_columns(&self) -> Option<&ColumnEncoder> {
        self.columns.as_deref()
    }

    /// Checks key and value against the types that the classes declare. Errors: `UserCode` for a wrong length.
    #[inline]
    pub fn check(&self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.key_type.fits(key.len()) && self.value_type.fits(value.len()) {
            return Ok(());
        }
        Err(wrong_length((self.key_type, self.value_type), key.len(), value.len()))
    }

    /// Returns the bytes that a record takes at most.
    pub fn bytes_max(&self, key: &[u8], value: &[u8]) -> usize {
        let number = |t: Type, bytes: &[u8]| if t.fixed_bytes().is_some_and(|n| n > 0) { 32 } else { bytes.len() };
        match &self.form {
            Form::Raw => key.len() + value.len(),
            Form::Framed => framed::HEADER_BYTES + key.len() + value.len(),
            Form::Text { separator } => {
                number(self.key_type, key) + number(self.value_type, value) + separator.len() + 1
            }
        }
    }

    /// Returns the bytes after a record whose key and value are adjacent and written unchanged; None if such a record
    /// must be encoded.
    pub fn verbatim_end(&self) -> Option<&'static [u8]> {
        match (&self.form, self.key_type, self.value_type) {
            (Form::Raw, _, _) => Some(b""),
            (Form::Text { .. }, Type::Bytes, Type::None) => Some(b"\n"),
            _ => None,
        }
    }

    /// Appends a record to `out`.
    #[inline]
    pub fn encode(&self, key: &[u8], value: &[u8], out: &mut Vec<u8>) {
        let Form::Text { separator } = &self.form else {
            if let Form::Framed = self.form {
                out.extend_from_slice(&framed::header(key, value));
            }
            out.extend_from_slice(key);
            out.extend_from_slice(value);
            return;
        };
        put(self.key_type, key, out);
        if self.value_type != Type::None {
            out.extend_from_slice(separator);
            put(self.value_type, value, out);
        }
        out.push(b'\n');
    }

    /// Returns the record in pieces, for records too large to copy. Numbers are printed to `printed`.
    pub fn pieces<'a>(&'a self, key: &'a [u8], value: &'a [u8], printed: &'a mut Vec<u8>) -> [&'a [u8]; 4] {
        printed.clear();
        let Form::Text { separator } = &self.form else {
            if let Form::Framed = self.form {
                printed.extend_from_slice(&framed::header(key, value));
            }
            return [printed, key, value, b""];
        };
        let is_number = |t: Type| t.fixed_bytes().is_some_and(|n| n > 0);
        if is_number(self.key_type) {
            put(self.key_type, key, printed);
        }
        let split = printed.len();
        if is_number(self.value_type) {
            put(self.value_type, value, printed);
        }
        let (key_text, value_text) = printed.split_at(split);
        let key = if is_number(self.key_type) { key_text } else { key };
        match self.value_type {
            Type::None => [key, b"\n", b"", b""],
            t if is_number(t) => [key, separator, value_text, b"\n"],
            _ => [key, separator, value, b"\n"],
        }
    }
}
