//! Nested values as JSON without spaces: lists, structs and maps.

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, StringArray, UnionArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, FieldRef};

use super::Result;

/// Bytes of a batch's texts, at most.
const BYTES_MAX: usize = i32::MAX as usize;

/// Returns the JSON text of each value.
pub fn texts(array: &ArrayRef) -> Result<StringArray> {
    let writer = Writer::of(array)?;
    let mut text = String::new();
    let mut offsets = Vec::with_capacity(array.len() + 1);
    offsets.push(0i32);
    for row in 0..array.len() {
        writer.put(row, &mut text)?;
        if text.len() > BYTES_MAX {
            return Err(arrow_schema::ArrowError::ComputeError("nested values of more than 2 GiB at once".into()));
        }
        offsets.push(text.len() as i32);
    }
    StringArray::try_new(arrow_buffer::OffsetBuffer::new(offsets.into()), text.into_bytes().into(), None)
}

/// A writer of one array's values.
enum Writer<'a> {
    /// Numbers and booleans, which stand as they are.
    Plain(&'a ArrayRef, ArrayFormatter<'a>),
    /// Floats: a value that JSON has no number for is a string.
    Float(&'a ArrayRef, ArrayFormatter<'a>),
    Quoted(&'a ArrayRef, ArrayFormatter<'a>),
    Text(&'a StringArray),
    List(&'a ArrayRef, Box<Writer<'a>>),
    Struct(&'a ArrayRef, Vec<(&'a str, Writer<'a>)>),
    Map(&'a ArrayRef, Box<Writer<'a>>, Box<Writer<'a>>),
    /// Writers of the types of a union by their numbers.
    Union(&'a UnionArray, Vec<(i8, Writer<'a>)>),
    Null,
}

impl<'a> Writer<'a> {
    fn of(array: &'a ArrayRef) -> Result<Writer<'a>> {
        let formatter = || ArrayFormatter::try_new(array, &FORMAT);
        Ok(match array.data_type() {
            DataType::Null => Writer::Null,
            DataType::Utf8 => Writer::Text(array.as_string()),
            DataType::List(_) => Writer::List(array, Box::new(Writer::of(array.as_list::<i32>().values())?)),
            DataType::Struct(fields) => {
                let columns = array.as_struct().columns();
                let members = fields.iter().zip(columns);
                let members = members.map(|(field, column)| Ok((field.name().as_str(), Writer::of(column)?)));
                Writer::Struct(array, members.collect::<Result<_>>()?)
            }
            DataType::Map(..) => {
                let map = array.as_map();
                Writer::Map(array, Box::new(Writer::of(map.keys())?), Box::new(Writer::of(map.values())?))
            }
            DataType::Union(fields, _) => {
                let union = array.as_union();
                let branch = |(kind, _): (i8, &'a FieldRef)| Ok((kind, Writer::of(union.child(kind))?));
                Writer::Union(union, fields.iter().map(branch).collect::<Result<_>>()?)
            }
            DataType::Float16 | DataType::Float32 | DataType::Float64 => Writer::Float(array, formatter()?),
            DataType::Boolean | DataType::Decimal128(..) | DataType::Decimal256(..) => {
                Writer::Plain(array, formatter()?)
            }
            kind if kind.is_integer() => Writer::Plain(array, formatter()?),
            DataType::Dictionary(_, of) if **of == DataType::Utf8 => {
                debug_assert!(array.as_dictionary::<Int32Type>().len() == array.len());
                Writer::Quoted(array, formatter()?)
            }
            _ => Writer::Quoted(array, formatter()?),
        })
    }

    fn put(&self, row: usize, to: &mut String) -> Result<()> {
        use std::fmt::Write;
        match self {
            Writer::Null => to.push_str("null"),
            Writer::Union(array, branches) => match branches.iter().find(|(kind, _)| *kind == array.type_id(row)) {
                Some((_, branch)) => branch.put(array.value_offset(row), to)?,
                None => to.push_str("null"),
            },
            Writer::Text(values) if values.is_null(row) => to.push_str("null"),
            Writer::Text(values) => put_string(values.value(row), to),
            Writer::Plain(array, _)
            | Writer::Float(array, _)
            | Writer::Quoted(array, _)
            | Writer::List(array, _)
            | Writer::Struct(array, _)
            | Writer::Map(array, ..)
                if array.is_null(row) =>
            {
                to.push_str("null")
            }
            Writer::Plain(_, values) => values.value(row).write(to)?,
            Writer::Float(_, values) => {
                let text = values.value(row).try_to_string()?;
                if text.ends_with(|c: char| c.is_ascii_digit()) {
                    to.push_str(&text);
                } else {
                    put_string(&text, to);
                }
            }
            Writer::Quoted(_, values) => put_string(&values.value(row).try_to_string()?, to),
            Writer::List(array, items) => {
                let offsets = array.as_list::<i32>().value_offsets();
                to.push('[');
                for item in offsets[row]..offsets[row + 1] {
                    if item > offsets[row] {
                        to.push(',');
                    }
                    items.put(item as usize, to)?;
                }
                to.push(']');
            }
            Writer::Struct(_, members) => {
                to.push('{');
                for (number, (name, values)) in members.iter().enumerate() {
                    if number > 0 {
                        to.push(',');
                    }
                    put_string(name, to);
                    to.push(':');
                    values.put(row, to)?;
                }
                to.push('}');
            }
            Writer::Map(array, keys, values) => {
                let offsets = array.as_map().value_offsets();
                to.push('{');
                for item in offsets[row]..offsets[row + 1] {
                    if item > offsets[row] {
                        to.push(',');
                    }
                    let mut key = String::new();
                    keys.put(item as usize, &mut key)?;
                    // A member's name is a string.
                    if key.starts_with('"') {
                        to.push_str(&key)
                    } else {
                        write!(to, "\"{key}\"").map_err(fmt_error)?
                    }
                    to.push(':');
                    values.put(item as usize, to)?;
                }
                to.push('}');
            }
        }
        Ok(())
    }
}

fn fmt_error(e: std::fmt::Error) -> arrow_schema::ArrowError {
    arrow_schema::ArrowError::ComputeError(e.to_string())
}

const FORMAT: FormatOptions<'static> = FormatOptions::new();

/// Appends a JSON string.
pub fn put_string(text: &str, to: &mut String) {
    use std::fmt::Write;
    to.push('"');
    for c in text.chars() {
        match c {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            c if (c as u32) < 0x20 => {
                let _ = write!(to, "\\u{:04x}", c as u32);
            }
            c => to.push(c),
        }
    }
    to.push('"');
}
