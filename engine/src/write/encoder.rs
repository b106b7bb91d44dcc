//! Emitted records as bytes of the output: text (key, separator, value, LF), raw (key and value as they are), framed, or columns
//! (`columned.rs`), which go a way of their own.

use std::io::Write;

use super::columned::Columned;
use crate::format::framed;
use crate::operator::Type;
use crate::operator::types::wrong_length;
use yunti_base::Result;

#[derive(Clone, Debug)]
pub struct Encoder {
    key_type: Type,
    value_type: Type,
    form: Form,
    columned: Option<Box<Columned>>,
}

#[derive(Clone, Debug)]
enum Form {
    Text { separator: Vec<u8> },
    Raw,
    Framed,
}

impl Encoder {
    pub fn text(key_type: Type, value_type: Type, separator: &[u8]) -> Encoder {
        Encoder { key_type, value_type, form: Form::Text { separator: separator.to_vec() }, columned: None }
    }

    pub fn raw(key_type: Type, value_type: Type) -> Encoder {
        Encoder { key_type, value_type, form: Form::Raw, columned: None }
    }

    pub fn framed(key_type: Type, value_type: Type) -> Encoder {
        Encoder { key_type, value_type, form: Form::Framed, columned: None }
    }

    pub fn columned(key_type: Type, value_type: Type, columned: Columned) -> Encoder {
        Encoder { columned: Some(Box::new(columned)), ..Encoder::raw(key_type, value_type) }
    }

    /// Where records are columns: who encodes them, in the place of `encode` and what belongs to it.
    pub fn as_columns(&self) -> Option<&Columned> {
        self.columned.as_deref()
    }

    /// What a class declared that it emits, its output has.
    #[inline]
    pub fn check(&self, key: &[u8], value: &[u8]) -> Result<()> {
        if self.key_type.fits(key.len()) && self.value_type.fits(value.len()) {
            return Ok(());
        }
        Err(wrong_length((self.key_type, self.value_type), key.len(), value.len()))
    }

    /// Bytes that a record takes at most.
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

    /// Whether a record whose key and value stand together is written as it stands, and what follows it: for those the key need
    /// not be told from the value.
    pub fn as_it_stands(&self) -> Option<&'static [u8]> {
        match (&self.form, self.key_type, self.value_type) {
            (Form::Raw, _, _) => Some(b""),
            (Form::Text { .. }, Type::Bytes, Type::None) => Some(b"\n"),
            _ => None,
        }
    }

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

    /// What `encode` gives, in pieces, for records that are too large to be copied. Numbers are printed to `printed`.
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

/// Prints one key or value: byte strings as they are, numbers (little-endian) in decimal.
#[inline]
pub fn put(kind: Type, bytes: &[u8], out: &mut Vec<u8>) {
    let four = || bytes.try_into().map(u32::from_le_bytes);
    let eight = || bytes.try_into().map(u64::from_le_bytes);
    let printed = match kind {
        Type::Bytes | Type::None => {
            out.extend_from_slice(bytes);
            return;
        }
        Type::I32 => four().map(|n| put_signed(i64::from(n as i32), out)),
        Type::U32 => four().map(|n| put_unsigned(u64::from(n), out)),
        Type::I64 => eight().map(|n| put_signed(n as i64, out)),
        Type::U64 => eight().map(|n| put_unsigned(n, out)),
        Type::F32 => four().map(|n| drop(write!(out, "{:?}", f32::from_bits(n)))),
        Type::F64 => eight().map(|n| drop(write!(out, "{:?}", f64::from_bits(n)))),
    };
    if printed.is_err() {
        // A number of the wrong length: show what is there rather than lose it.
        out.extend_from_slice(bytes);
    }
}

fn put_signed(n: i64, out: &mut Vec<u8>) {
    if n < 0 {
        out.push(b'-');
    }
    put_unsigned(n.unsigned_abs(), out);
}

fn put_unsigned(mut n: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_in_decimal() {
        let check = |kind, bytes: &[u8], expect: &str| {
            let mut out = Vec::new();
            put(kind, bytes, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expect);
        };
        check(Type::I64, &i64::MIN.to_le_bytes(), "-9223372036854775808");
        check(Type::U64, &u64::MAX.to_le_bytes(), "18446744073709551615");
        check(Type::I32, &(-7i32).to_le_bytes(), "-7");
        check(Type::I64, &0i64.to_le_bytes(), "0");
        check(Type::F64, &1.5f64.to_le_bytes(), "1.5");
        check(Type::Bytes, b"x", "x");
    }
}
