//! Records in the pipes of a program, in one of three forms: lines of text, raw bytes or typed bytes.
//!
//! | setting | form of |
//! |---|---|
//! | `stream.map.input`, `stream.map.output` | a mapper's input and output |
//! | `stream.reduce.input`, `stream.reduce.output` | a reducer's input and output, a combiner's input |
//!
//! What a program wrote as raw or typed bytes is sorted as these bytes. The last program of a job emits what Hadoop's
//! TextOutputFormat prints for them.

pub mod raw_bytes;
pub mod text;
pub mod typed_bytes;

use crate::operator::TaskContext;
use text::KeyFields;
use yunti_base::{Code, Error, Result};

/// Form of records in a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    RawBytes,
    TypedBytes,
}

impl Form {
    /// Reads the setting; text without one. Errors: `Usage` for an unknown form.
    pub fn of(context: &TaskContext, setting: &str) -> Result<Form> {
        match context.setting(setting) {
            None | Some("text") => Ok(Form::Text),
            Some("rawbytes") => Ok(Form::RawBytes),
            Some("typedbytes") => Ok(Form::TypedBytes),
            Some(other) => Err(Error::new(Code::Usage, format!("{setting}: there is no form '{other}'"))
                .hint("use text, rawbytes or typedbytes")),
        }
    }
}

/// A key or a value for a program, by its class in Hadoop.
#[derive(Clone, Copy, Debug)]
pub enum Datum<'a> {
    /// Text: a line, or a part of one.
    Text(&'a [u8]),
    /// LongWritable: the offset of a line.
    Offset(u64),
    /// BytesWritable: what a program wrote as raw bytes.
    Bytes(&'a [u8]),
    /// TypedBytesWritable: type code and payload.
    Typed(&'a [u8]),
}

impl<'a> Datum<'a> {
    /// Returns bytes that a program wrote in this form.
    pub fn written(form: Form, bytes: &'a [u8]) -> Datum<'a> {
        match form {
            Form::Text => Datum::Text(bytes),
            Form::RawBytes => Datum::Bytes(bytes),
            Form::TypedBytes => Datum::Typed(bytes),
        }
    }
}

/// Writer of records for a program.
pub struct RecordWriter {
    pub form: Form,
    fields: KeyFields,
}

impl RecordWriter {
    /// Reads the settings: the form of `stream.KIND.input`, and the separator of its text. Errors: `Usage`.
    pub fn of(context: &TaskContext, kind: &str) -> Result<RecordWriter> {
        let form = Form::of(context, &format!("stream.{kind}.input"))?;
        let fields = KeyFields::of(context, &format!("stream.{kind}.input.field.separator"), "")?;
        Ok(RecordWriter { form, fields })
    }

    /// Appends a record to `to`. Text may be without a key.
    pub fn append(&self, key: Option<Datum<'_>>, value: Datum<'_>, to: &mut Vec<u8>) {
        match self.form {
            Form::Text => {
                if let Some(key) = key {
                    text::append(key, to);
                    to.extend_from_slice(self.fields.separator());
                }
                text::append(value, to);
                to.push(b'\n');
            }
            Form::RawBytes => [key, Some(value)].into_iter().flatten().for_each(|datum| raw_bytes::append(datum, to)),
            Form::TypedBytes => {
                [key, Some(value)].into_iter().flatten().for_each(|datum| typed_bytes::append(datum, to))
            }
        }
    }
}

/// Reader of the records that a program writes.
pub struct RecordReader {
    form: Form,
    fields: KeyFields,
    /// True if records are passed on as TextOutputFormat prints them.
    prints: bool,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl RecordReader {
    /// Reads the settings: the form of `stream.KIND.output`, and the fields of its text. Errors: `Usage`.
    pub fn of(context: &TaskContext, kind: &str, prints: bool) -> Result<RecordReader> {
        let form = Form::of(context, &format!("stream.{kind}.output"))?;
        let (separator, fields) =
            (format!("stream.{kind}.output.field.separator"), format!("stream.num.{kind}.output.key.fields"));
        let fields = KeyFields::of(context, &separator, &fields)?;
        Ok(RecordReader { form, fields, prints: prints && form != Form::Text, key: Vec::new(), value: Vec::new() })
    }

    /// Returns true if each line is a record.
    pub fn has_lines(&self) -> bool {
        self.form == Form::Text
    }

    /// Calls `take` with key and value of each whole record. `ended`: no more bytes follow. Returns the number of bytes
    /// that it took.
    ///
    /// Errors: those of `take`; `UserCode` for bytes that are no record.
    pub fn read(
        &mut self,
        bytes: &[u8],
        ended: bool,
        mut take: impl FnMut(&[u8], &[u8]) -> Result<()>,
    ) -> Result<usize> {
        let RecordReader { form, fields, prints, key: key_text, value: value_text } = self;
        let one = match form {
            Form::Text => {
                return text::lines(bytes, ended, |line| {
                    let (key, value) = fields.split(line);
                    take(key, value)
                });
            }
            Form::RawBytes => raw_bytes::next,
            Form::TypedBytes => typed_bytes::next,
        };
        let mut at = 0;
        // A record is two data. Without both, the bytes wait for more.
        while let Some(key) = one(&bytes[at..])? {
            let Some(value) = one(&bytes[at + key.taken..])? else { break };
            if *prints {
                key_text.clear();
                value_text.clear();
                print(*form, key.bytes, key_text)?;
                print(*form, value.bytes, value_text)?;
                take(key_text, value_text)?;
            } else {
                take(key.bytes, value.bytes)?;
            }
            at += key.taken + value.taken;
        }
        if ended && at < bytes.len() {
            let what = format!("a program's output ends within a record, {} bytes after its start", bytes.len() - at);
            return Err(Error::new(Code::UserCode, what).hint("check that it writes key and value whole, and flushes"));
        }
        Ok(at)
    }
}

/// Bytes of one key or value in a program's output.
pub struct Taken<'b> {
    pub bytes: &'b [u8],
    /// Number of bytes in the pipe, with the length if it is there.
    pub taken: usize,
}

/// Appends bytes that a program wrote in this form as TextOutputFormat prints them. Errors: `UserCode`.
pub fn print(form: Form, bytes: &[u8], to: &mut Vec<u8>) -> Result<()> {
    match form {
        Form::Text => to.extend_from_slice(bytes),
        Form::RawBytes => raw_bytes::print(bytes, to),
        Form::TypedBytes => typed_bytes::print(bytes, to)?,
    }
    Ok(())
}
