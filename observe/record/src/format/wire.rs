//! Wire: protocol buffers as fields of a message, read and written without a schema.
//!
//! ```text
//!   field = key (number << 3 | type) + varint | 8 bytes | length + bytes | 4 bytes
//! ```
//!
//! The formats here have a dozen messages. A crate with generated code (`prost`) would build a value for each message;
//! this reader borrows from the input and skips unknown fields.

use yunti_base::{Code, Error, Result};

/// Value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Varint.
    Number(u64),
    /// Bytes: text, a message, or packed numbers.
    Bytes(&'a [u8]),
    /// Fixed number of 8 or 4 bytes.
    Fixed(u64),
}

impl<'a> Value<'a> {
    /// Returns a number, in either encoding.
    pub fn number(self) -> Result<u64> {
        match self {
            Value::Number(number) | Value::Fixed(number) => Ok(number),
            Value::Bytes(_) => Err(damaged("a field has bytes in place of a number")),
        }
    }

    /// Returns bytes.
    pub fn bytes(self) -> Result<&'a [u8]> {
        match self {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(damaged("a field has a number in place of bytes")),
        }
    }

    /// Adds the numbers of a repeated field, which are packed or one of several.
    pub fn numbers(self, all: &mut Vec<u64>) -> Result<()> {
        match self {
            Value::Number(number) | Value::Fixed(number) => all.push(number),
            Value::Bytes(bytes) => {
                let mut message = Message(bytes);
                while !message.0.is_empty() {
                    all.push(message.varint()?);
                }
            }
        }
        Ok(())
    }
}

/// Message that is being read: the bytes after the last field.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a>(pub &'a [u8]);

impl<'a> Message<'a> {
    /// Returns the number and the value of the next field, or `None` at the end.
    pub fn next(&mut self) -> Result<Option<(u64, Value<'a>)>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Number(self.varint()?),
            1 => Value::Fixed(u64::from_le_bytes(self.take(8)?.try_into().expect("8 bytes were taken"))),
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.take(usize::try_from(length).unwrap_or(usize::MAX))?)
            }
            5 => Value::Fixed(u64::from(u32::from_le_bytes(self.take(4)?.try_into().expect("4 bytes were taken")))),
            _ => return Err(damaged("a field has an unknown type")),
        };
        if key >> 3 == 0 {
            return Err(damaged("a field has the number 0"));
        }
        Ok(Some((key >> 3, value)))
    }

    fn varint(&mut self) -> Result<u64> {
        let mut number = 0;
        for (at, byte) in self.0.iter().take(10).enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * at).min(63);
            if byte & 0x80 == 0 {
                self.0 = &self.0[at + 1..];
                return Ok(number);
            }
        }
        Err(damaged("a number has no end"))
    }

    fn take(&mut self, bytes: usize) -> Result<&'a [u8]> {
        if bytes > self.0.len() {
            return Err(damaged("a field is longer than its message"));
        }
        let (taken, rest) = self.0.split_at(bytes);
        self.0 = rest;
        Ok(taken)
    }
}

/// Returns an error for bytes that are no such message.
pub fn damaged(what: &str) -> Error {
    Error::new(Code::Corrupt, format!("damaged profile: {what}"))
}

/// Message that is being written. Fields with the default value 0 are left out, as in proto3.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Returns the message.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Writes a number.
    pub fn number(&mut self, field: u64, number: u64) {
        if number != 0 {
            self.varint(field << 3);
            self.varint(number);
        }
    }

    /// Writes a number of 8 bytes.
    pub fn fixed(&mut self, field: u64, number: u64) {
        self.varint(field << 3 | 1);
        self.bytes.extend(number.to_le_bytes());
    }

    /// Writes bytes, or text, also if they are empty.
    pub fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend(bytes);
    }

    /// Writes a message.
    pub fn message(&mut self, field: u64, write: impl FnOnce(&mut Writer)) {
        let mut inner = Writer::default();
        write(&mut inner);
        self.bytes(field, &inner.bytes);
    }

    /// Writes packed numbers.
    pub fn packed(&mut self, field: u64, numbers: impl IntoIterator<Item = u64>) {
        self.message(field, |inner| numbers.into_iter().for_each(|number| inner.varint(number)));
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_round_trip() {
        let mut writer = Writer::default();
        writer.number(1, 300);
        writer.number(2, 0);
        writer.fixed(3, 7);
        writer.bytes(4, b"text");
        writer.packed(5, [1, u64::MAX]);
        writer.message(16, |inner| inner.number(1, 1));
        let bytes = writer.into_bytes();
        let mut message = Message(&bytes);
        assert_eq!(message.next(), Ok(Some((1, Value::Number(300)))));
        assert_eq!(message.next(), Ok(Some((3, Value::Fixed(7)))));
        assert_eq!(message.next(), Ok(Some((4, Value::Bytes(b"text")))));
        let mut numbers = Vec::new();
        message.next().unwrap().unwrap().1.numbers(&mut numbers).unwrap();
        assert_eq!(numbers, [1, u64::MAX]);
        assert_eq!(message.next(), Ok(Some((16, Value::Bytes(&[8, 1])))));
        assert_eq!(message.next(), Ok(None));
    }

    #[test]
    fn damage_is_an_error() {
        for wrong in [&[8][..], &[8, 0x80], &[0x0a, 5, 1], &[0x0b], &[0, 0], &[0x0d, 1, 2, 3], &[9, 1], &[0xff; 11]] {
            assert!(Message(wrong).next().is_err(), "{wrong:?}");
        }
    }
}
