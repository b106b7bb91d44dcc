//! Records as typed bytes, by Hadoop's package of that name: a type code and a payload for the key, then for the value.
//!
//! ```text
//!   0 bytes: u32 length, bytes    1 byte: i8            2 bool: u8        3 int: i32     4 long: i64
//!   5 float: f32                  6 double: f64         7 string: u32 length, UTF-8
//!   8 vector: u32 count, data     9 list: data, 255     10 map: u32 count, pairs of data
//!   50 to 200: an application's own, as bytes
//! ```
//! All numbers are big-endian.

use std::cmp::Ordering;

use super::{Datum, Taken};
use crate::bytes::java_number::{double_text, float_text};
use yunti_base::{Code, Error, Result};

/// Code that ends a list.
const MARKER: u8 = 255;
/// Levels of vectors, lists and maps in each other, at most.
const DEPTH_MAX: u32 = 64;

/// Appends a key or value. A text is a string, the offset of a line a long.
pub fn append(datum: Datum<'_>, to: &mut Vec<u8>) {
    let mut sized = |code: u8, bytes: &[u8]| {
        to.push(code);
        to.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
        to.extend_from_slice(bytes);
    };
    match datum {
        Datum::Typed(bytes) => to.extend_from_slice(bytes),
        Datum::Bytes(bytes) => sized(0, bytes),
        // Hadoop makes a String of it.
        Datum::Text(text) => sized(7, String::from_utf8_lossy(text).as_bytes()),
        Datum::Offset(offset) => {
            to.push(4);
            to.extend_from_slice(&offset.to_be_bytes());
        }
    }
}

/// Returns the key or value at the start of `bytes`, with its type code; None: it is not whole.
///
/// Errors: `UserCode` for an unknown type code.
pub fn next(bytes: &[u8]) -> Result<Option<Taken<'_>>> {
    Ok(length(bytes, 0)?.map(|n| Taken { bytes: &bytes[..n], taken: n }))
}

/// Returns the bytes of the datum at the start of `bytes`, if it is whole.
fn length(bytes: &[u8], depth: u32) -> Result<Option<usize>> {
    if depth > DEPTH_MAX {
        return Err(wrong("lie in each other too deep"));
    }
    let Some((&code, payload)) = bytes.split_first() else { return Ok(None) };
    let count = payload.first_chunk::<4>().map(|n| u32::from_be_bytes(*n) as usize);
    let mut at = 5;
    let end = match code {
        0 | 7 | 50..=200 => count.map(|n| 5 + n),
        1 | 2 => Some(2),
        3 | 5 => Some(5),
        4 | 6 => Some(9),
        8 | 10 => {
            let Some(count) = count else { return Ok(None) };
            for _ in 0..count * if code == 10 { 2 } else { 1 } {
                let Some(n) = length(bytes.get(at..).unwrap_or_default(), depth + 1)? else { return Ok(None) };
                at += n;
            }
            Some(at)
        }
        9 => {
            at = 1;
            while bytes.get(at).is_some_and(|&code| code != MARKER) {
                let Some(n) = length(&bytes[at..], depth + 1)? else { return Ok(None) };
                at += n;
            }
            Some(at + 1)
        }
        _ => return Err(wrong(&format!("have the unknown type code {code}"))),
    };
    Ok(end.filter(|&end| end <= bytes.len()))
}

fn wrong(what: &str) -> Error {
    Error::new(Code::UserCode, format!("the typed bytes of a program {what}")).hint("check what it writes")
}

/// Appends a datum as TypedBytesWritable prints it. Errors: `UserCode` for bytes that are no datum.
pub fn print(bytes: &[u8], to: &mut Vec<u8>) -> Result<()> {
    let mut text = String::new();
    Value::read(&mut &*bytes).ok_or_else(|| wrong("are not whole"))?.print(&mut text);
    to.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Parsed datum.
enum Value {
    Bytes(Vec<u8>),
    Bool(bool),
    Whole(i64),
    Float(f32),
    Double(f64),
    Text(String),
    List(Vec<Value>),
    /// Sorted by key, as Java's TreeMap.
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// Reads a datum that `length` accepted.
    fn read(bytes: &mut &[u8]) -> Option<Value> {
        fn chunk<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
            let (chunk, rest) = bytes.split_first_chunk::<N>()?;
            *bytes = rest;
            Some(*chunk)
        }
        let sized = |bytes: &mut &[u8]| {
            let n = u32::from_be_bytes(chunk(bytes)?) as usize;
            let (own, rest) = bytes.split_at_checked(n)?;
            *bytes = rest;
            Some(own.to_vec())
        };
        let [code] = chunk(bytes)?;
        Some(match code {
            0 | 50..=200 => Value::Bytes(sized(bytes)?),
            1 => Value::Whole(i64::from(i8::from_be_bytes(chunk(bytes)?))),
            2 => Value::Bool(chunk::<1>(bytes)? != [0]),
            3 => Value::Whole(i64::from(i32::from_be_bytes(chunk(bytes)?))),
            4 => Value::Whole(i64::from_be_bytes(chunk(bytes)?)),
            5 => Value::Float(f32::from_be_bytes(chunk(bytes)?)),
            6 => Value::Double(f64::from_be_bytes(chunk(bytes)?)),
            7 => Value::Text(String::from_utf8_lossy(&sized(bytes)?).into_owned()),
            8 => {
                let n = u32::from_be_bytes(chunk(bytes)?);
                Value::List((0..n).map(|_| Value::read(bytes)).collect::<Option<_>>()?)
            }
            9 => {
                let mut list = Vec::new();
                while *bytes.first()? != MARKER {
                    list.push(Value::read(bytes)?);
                }
                *bytes = &bytes[1..];
                Value::List(list)
            }
            10 => {
                let n = u32::from_be_bytes(chunk(bytes)?);
                let mut pairs: Vec<(Value, Value)> = Vec::new();
                for _ in 0..n {
                    let (key, value) = (Value::read(bytes)?, Value::read(bytes)?);
                    match pairs.binary_search_by(|(known, _)| known.order(&key)) {
                        Ok(at) => pairs[at].1 = value,
                        Err(at) => pairs.insert(at, (key, value)),
                    }
                }
                Value::Map(pairs)
            }
            _ => return None,
        })
    }

    /// Returns the order of Java's `compareTo`. Keys of different types, which Java refuses, are in order of printing.
    fn order(&self, other: &Value) -> Ordering {
        match (self, other) {
            (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Whole(a), Value::Whole(b)) => a.cmp(b),
            (Value::Float(a), Value::Float(b)) => a.total_cmp(b),
            (Value::Double(a), Value::Double(b)) => a.total_cmp(b),
            (Value::Text(a), Value::Text(b)) => a.encode_utf16().cmp(b.encode_utf16()),
            _ => {
                let text = |value: &Value| {
                    let mut text = String::new();
                    value.print(&mut text);
                    text
                };
                text(self).cmp(&text(other))
            }
        }
    }

    fn print(&self, to: &mut String) {
        match self {
            Value::Bytes(bytes) => bytes.iter().for_each(|byte| *to += &format!("{byte:02x}")),
            Value::Bool(bool) => *to += &bool.to_string(),
            Value::Whole(number) => *to += &number.to_string(),
            Value::Float(number) => *to += &float_text(*number),
            Value::Double(number) => *to += &double_text(*number),
            Value::Text(text) => *to += text,
            Value::List(list) => {
                to.push('[');
                for (i, value) in list.iter().enumerate() {
                    *to += if i > 0 { ", " } else { "" };
                    value.print(to);
                }
                to.push(']');
            }
            Value::Map(pairs) => {
                to.push('{');
                for (i, (key, value)) in pairs.iter().enumerate() {
                    *to += if i > 0 { ", " } else { "" };
                    key.print(to);
                    to.push('=');
                    value.print(to);
                }
                to.push('}');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of a map, a vector and all simple types.
    fn sample() -> Vec<u8> {
        let parts: [&[u8]; 13] = [
            b"\x09",
            b"\x0a\0\0\0\x02\x07\0\0\0\x01b\x03\0\0\0\x02\x07\0\0\0\x01a\x03\0\0\0\x01",
            b"\x08\0\0\0\x01\x07\0\0\0\x02hi",
            b"\x00\0\0\0\x02\x01\xff",
            b"\x01\xfe",
            b"\x02\x01",
            b"\x03\xff\xff\xff\xff",
            b"\x04\0\0\0\0\0\0\0\x07",
            b"\x05\x3f\x00\0\0",
            b"\x06\x40\x59\0\0\0\0\0\0",
            b"\x64\0\0\0\x01\x0a",
            b"\x09\xff",
            b"\xff",
        ];
        parts.concat()
    }

    #[test]
    fn prints_as_java() {
        let mut out = Vec::new();
        print(&sample(), &mut out).unwrap();
        let expect = "[{a=1, b=2}, [hi], 01ff, -2, true, -1, 7, 0.5, 100.0, 0a, []]";
        assert_eq!(String::from_utf8(out).unwrap(), expect);
    }

    #[test]
    fn waits_for_whole_data() {
        let sample = sample();
        for n in 0..sample.len() {
            assert!(next(&sample[..n]).unwrap().is_none(), "{n}");
        }
        let more = [&sample[..], b"\x01\x02"].concat();
        assert_eq!(next(&more).unwrap().unwrap().taken, sample.len());
        assert!(next(b"\x0b").is_err() && next(&[8, 0, 0, 0, 1].repeat(100)).is_err());
    }

    #[test]
    fn appends_by_class() {
        let mut out = Vec::new();
        for datum in [Datum::Text(b"a\xff"), Datum::Offset(1), Datum::Bytes(b"x"), Datum::Typed(b"\x01\x05")] {
            append(datum, &mut out);
        }
        let expect: [&[u8]; 4] =
            [b"\x07\0\0\0\x04a\xef\xbf\xbd", b"\x04\0\0\0\0\0\0\0\x01", b"\x00\0\0\0\x01x", b"\x01\x05"];
        assert_eq!(out, expect.concat());
    }
}
