//! Messages of Protocol Buffers, as ORC's metadata are written: fields in any order, unknown ones skipped.
//!
//! ```text
//!   field = varint(number << 3 | kind), value       kind 0: varint   1: 8 bytes   2: varint length, bytes   5: 4 bytes
//! ```

use yunti_api::Result;

use super::failure::damaged;
use crate::file::varint;

/// Value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Varint(u64),
    /// A fixed number of 8 bytes: a double.
    Fixed(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// Returns a number; 0 if the field is something else.
    pub fn number(self) -> u64 {
        match self {
            Value::Varint(n) | Value::Fixed(n) => n,
            Value::Bytes(_) => 0,
        }
    }

    /// Returns a number that is stored in zigzag form.
    pub fn signed(self) -> i64 {
        varint::unzigzag(self.number())
    }

    /// Returns a float of 8 bytes.
    pub fn double(self) -> f64 {
        f64::from_bits(self.number())
    }

    /// Returns bytes: a message, a string, or packed numbers; empty if the field is something else.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Value::Bytes(bytes) => bytes,
            _ => b"",
        }
    }

    /// Returns a string; bytes that are not UTF-8 become U+FFFD.
    pub fn text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// Adds the numbers of a repeated field, which is packed or not.
    pub fn put_numbers(self, to: &mut Vec<u32>) -> Result<()> {
        match self {
            Value::Bytes(mut bytes) => {
                while !bytes.is_empty() {
                    to.push(narrow(varint(&mut bytes)?)?);
                }
            }
            other => to.push(narrow(other.number())?),
        }
        Ok(())
    }
}

/// Fields of a message.
pub struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub fn of(message: &'a [u8]) -> Fields<'a> {
        Fields(message)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = field(&mut self.0);
        if field.is_err() {
            self.0 = b"";
        }
        Some(field)
    }
}

fn field<'a>(from: &mut &'a [u8]) -> Result<(u32, Value<'a>)> {
    let tag = varint(from)?;
    let value = match tag & 7 {
        0 => Value::Varint(varint(from)?),
        1 => {
            let bytes = take(from, 8)?;
            Value::Fixed(bytes.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte)))
        }
        2 => {
            let n = varint(from)?;
            Value::Bytes(take(from, usize::try_from(n).unwrap_or(usize::MAX))?)
        }
        5 => {
            let bytes = take(from, 4)?;
            Value::Fixed(bytes.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte)))
        }
        _ => return Err(damaged("its metadata are no message")),
    };
    Ok((narrow(tag >> 3)?, value))
}

fn take<'a>(from: &mut &'a [u8], n: usize) -> Result<&'a [u8]> {
    let (taken, rest) = from.split_at_checked(n).ok_or_else(|| damaged("its metadata are cut"))?;
    *from = rest;
    Ok(taken)
}

fn narrow(n: u64) -> Result<u32> {
    u32::try_from(n).map_err(|_| damaged("its metadata have a number that is too large"))
}

/// Returns the varint at the beginning of `from`.
fn varint(from: &mut &[u8]) -> Result<u64> {
    let n = varint::read(|| take(from, 1).map(|taken| taken[0]))?;
    n.ok_or_else(|| damaged("its metadata have a number that is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_kind() {
        let message = b"\x08\x96\x01\x12\x03abc\x19\0\0\0\0\0\0\xf0\x3f\x25\x01\0\0\0\x2a\x02\x01\x7f";
        let fields: Vec<_> = Fields::of(message).map(|f| f.map_err(|_| ()).unwrap()).collect();
        assert_eq!(fields[0], (1, Value::Varint(150)));
        assert_eq!(fields[1], (2, Value::Bytes(b"abc")));
        assert_eq!(fields[2].1.double(), 1.0);
        assert_eq!(fields[3], (4, Value::Fixed(1)));
        let mut numbers = Vec::new();
        assert!(fields[4].1.put_numbers(&mut numbers).is_ok());
        assert_eq!(numbers, [1, 127]);
        for cut in 1..message.len() {
            let done: Vec<_> = Fields::of(&message[..cut]).collect();
            assert!(done.len() <= 5);
        }
        assert!(Fields::of(b"\x12\x7fabc").next().unwrap().is_err());
        assert!(Fields::of(&[0xff; 11]).next().unwrap().is_err());
    }
}
