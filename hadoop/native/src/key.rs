//! Keys in an order of bytes, and back to the bytes that Hadoop wrote.
//!
//! The Java side writes each key so that comparing bytes is comparing keys (its normal form); the engine sorts nothing else. Where
//! the record leaves for Hadoop again, the key's own bytes are made from it.

use yunti_base::{Code, Error, Result};

use crate::vint;

/// How a key's own bytes come from its normal form. The numbers are those of `org.yunti.hadoop.key.KeyForm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum KeyForm {
    /// Its own bytes are in order already (BooleanWritable, MD5Hash, NullWritable).
    Same = 0,
    /// Text: a vint of the length before the content, which alone is compared.
    Text = 1,
    /// BytesWritable: the same with four bytes of length.
    Bytes = 2,
    /// A big-endian number with its sign bit turned (ByteWritable, ShortWritable, IntWritable, LongWritable).
    Signed = 3,
    /// The same, all bits turned: LongWritable.DecreasingComparator.
    SignedDown = 4,
    /// IEEE 754 in total order (FloatWritable, DoubleWritable, whose NaNs are all one).
    Float = 5,
    /// A vint as eight bytes with the sign bit turned (VIntWritable, VLongWritable).
    Vint = 6,
    /// UTF8: two bytes of length before the content.
    Utf8 = 7,
    /// The value begins with the key's own bytes, behind their length (4 bytes, big-endian). An empty normal form leaves records in
    /// the order in which they came.
    Carried = 8,
}

/// How a value's own bytes come from what the engine holds. The numbers are those of `org.yunti.hadoop.collect.KnownSum`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ValueForm {
    #[default]
    Same = 0,
    /// A sum of eight bytes, little-endian, as an IntWritable.
    IntSum = 1,
    /// The same as a LongWritable.
    LongSum = 2,
}

impl ValueForm {
    pub fn from_number(n: u8) -> Option<ValueForm> {
        [ValueForm::Same, ValueForm::IntSum, ValueForm::LongSum].into_iter().find(|f| *f as u8 == n)
    }

    /// The value's own bytes; `room` is for those that are made.
    #[inline]
    pub fn own<'v>(self, value: &'v [u8], room: &'v mut [u8; 8]) -> &'v [u8] {
        if self == ValueForm::Same {
            return value;
        }
        let sum = value.first_chunk().map_or(0, |v| u64::from_le_bytes(*v));
        *room = sum.to_be_bytes();
        if self == ValueForm::IntSum { &room[4..] } else { room }
    }
}

/// Bytes of the length before a carried key.
const CARRIED_LENGTH_BYTES: usize = 4;

impl KeyForm {
    pub fn from_number(n: u8) -> Option<KeyForm> {
        use KeyForm::*;
        [Same, Text, Bytes, Signed, SignedDown, Float, Vint, Utf8, Carried].into_iter().find(|f| *f as u8 == n)
    }

    /// Lengths of the key and of the value as Hadoop has them, of a record in normal form.
    #[inline]
    pub fn lengths(self, key: &[u8], value: &[u8]) -> (usize, usize) {
        let n = key.len();
        match self {
            KeyForm::Same | KeyForm::Signed | KeyForm::SignedDown | KeyForm::Float => (n, value.len()),
            KeyForm::Text => (vint::size(n as i64) + n, value.len()),
            KeyForm::Bytes => (4 + n, value.len()),
            KeyForm::Utf8 => (2 + n, value.len()),
            KeyForm::Vint => (vint::size(number(key)), value.len()),
            KeyForm::Carried => {
                let own = carried(value).0.len();
                (own, value.len() - CARRIED_LENGTH_BYTES - own)
            }
        }
    }

    /// Appends key and value as Hadoop has them.
    #[inline]
    pub fn put(self, key: &[u8], value: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        match self {
            KeyForm::Same => out.extend_from_slice(key),
            KeyForm::Text => {
                vint::put(key.len() as i64, out);
                out.extend_from_slice(key);
            }
            KeyForm::Bytes => {
                out.extend_from_slice(&(key.len() as u32).to_be_bytes());
                out.extend_from_slice(key);
            }
            KeyForm::Utf8 => {
                out.extend_from_slice(&(key.len() as u16).to_be_bytes());
                out.extend_from_slice(key);
            }
            KeyForm::Signed => {
                out.extend_from_slice(key);
                turn_sign(&mut out[start..]);
            }
            KeyForm::SignedDown => {
                out.extend(key.iter().map(|b| !b));
                turn_sign(&mut out[start..]);
            }
            KeyForm::Float => {
                out.extend_from_slice(key);
                let own = &mut out[start..];
                if own.first().is_some_and(|b| b & 0x80 != 0) {
                    turn_sign(own);
                } else {
                    own.iter_mut().for_each(|b| *b = !*b);
                }
            }
            KeyForm::Vint => vint::put(number(key), out),
            KeyForm::Carried => {
                let (own, rest) = carried(value);
                out.extend_from_slice(own);
                out.extend_from_slice(rest);
                return;
            }
        }
        out.extend_from_slice(value);
    }

    /// The way back: appends the record in normal form, and gives the length of its key. That of a carried key is empty, since what
    /// ordered it is not known here.
    #[inline]
    pub fn take(self, own: &[u8], value: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        let start = out.len();
        if self == KeyForm::Carried {
            out.extend_from_slice(&(own.len() as u32).to_be_bytes());
            out.extend_from_slice(own);
        } else {
            self.normalise(own, out)?;
        }
        let key_len = if self == KeyForm::Carried { 0 } else { out.len() - start };
        out.extend_from_slice(value);
        Ok(key_len)
    }

    /// Appends the normal form of a key's own bytes.
    #[inline]
    fn normalise(self, own: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        let content = match self {
            KeyForm::Text => {
                let (length, n) = vint::get(own).ok_or_else(broken)?;
                let content = &own[n..];
                if length != content.len() as i64 {
                    return Err(broken());
                }
                content
            }
            KeyForm::Bytes => own.get(4..).ok_or_else(broken)?,
            KeyForm::Utf8 => own.get(2..).ok_or_else(broken)?,
            KeyForm::Vint => {
                let (n, _) = vint::get(own).ok_or_else(broken)?;
                out.extend_from_slice(&(n ^ i64::MIN).to_be_bytes());
                return Ok(());
            }
            KeyForm::Carried => return Err(broken()),
            KeyForm::Same | KeyForm::Signed | KeyForm::SignedDown | KeyForm::Float => own,
        };
        out.extend_from_slice(content);
        let key = &mut out[start..];
        match self {
            KeyForm::Signed => turn_sign(key),
            KeyForm::SignedDown => {
                key.iter_mut().for_each(|b| *b = !*b);
                turn_sign(key);
            }
            KeyForm::Float if own.first().is_some_and(|b| b & 0x80 != 0) => key.iter_mut().for_each(|b| *b = !*b),
            KeyForm::Float => turn_sign(key),
            _ => {}
        }
        Ok(())
    }
}

fn broken() -> Error {
    Error::new(Code::Corrupt, "a key is not what its class writes")
}

fn turn_sign(key: &mut [u8]) {
    if let Some(first) = key.first_mut() {
        *first ^= 0x80;
    }
}

/// The number of a vint's normal form.
fn number(key: &[u8]) -> i64 {
    let mut eight = [0; 8];
    let n = key.len().min(8);
    eight[..n].copy_from_slice(&key[..n]);
    i64::from_be_bytes(eight) ^ i64::MIN
}

/// A carried key's own bytes, and the value behind them. A value that is too short for what it says carries nothing.
fn carried(value: &[u8]) -> (&[u8], &[u8]) {
    let Some((length, rest)) = value.split_first_chunk::<CARRIED_LENGTH_BYTES>() else { return (&[], value) };
    rest.split_at((u32::from_be_bytes(*length) as usize).min(rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(form: KeyForm, normal: &[u8], value: &[u8], expect: (&[u8], &[u8])) {
        let mut out = Vec::new();
        form.put(normal, value, &mut out);
        assert_eq!(out, [expect.0, expect.1].concat(), "{form:?}");
        assert_eq!(form.lengths(normal, value), (expect.0.len(), expect.1.len()), "{form:?}");
        let mut back = Vec::new();
        let key_len = form.take(expect.0, expect.1, &mut back).unwrap();
        let normal = if form == KeyForm::Carried { b"" } else { normal };
        assert_eq!((&back[..key_len], &back[key_len..]), (normal, value), "{form:?}");
    }

    #[test]
    fn each_form_gives_hadoops_bytes() {
        check(KeyForm::Same, b"\x01", b"v", (b"\x01", b"v"));
        check(KeyForm::Text, b"abc", b"v", (b"\x03abc", b"v"));
        let long = [b'x'; 200];
        check(KeyForm::Text, &long, b"", (&[&[0x8f, 200][..], &long].concat(), b""));
        check(KeyForm::Bytes, b"abc", b"v", (b"\0\0\0\x03abc", b"v"));
        check(KeyForm::Utf8, b"abc", b"v", (b"\0\x03abc", b"v"));
        check(KeyForm::Carried, b"normal", b"\0\0\0\x02ownrest", (b"ow", b"nrest"));
        check(KeyForm::Carried, b"", b"\0\0\0\0", (b"", b""));
    }

    #[test]
    fn numbers_are_ordered_and_come_back() {
        let numbers = [i32::MIN, -70_000, -1, 0, 1, 255, 70_000, i32::MAX];
        let normals: Vec<[u8; 4]> = numbers.iter().map(|n| (n ^ i32::MIN).to_be_bytes()).collect();
        assert!(normals.is_sorted());
        for (n, normal) in numbers.iter().zip(&normals) {
            check(KeyForm::Signed, normal, b"", (&n.to_be_bytes(), b""));
            check(KeyForm::SignedDown, &normal.map(|b| !b), b"", (&n.to_be_bytes(), b""));
            let mut vint = Vec::new();
            vint::put(i64::from(*n), &mut vint);
            check(KeyForm::Vint, &(i64::from(*n) ^ i64::MIN).to_be_bytes(), b"v", (&vint, b"v"));
        }
        for f in [f32::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-40, 2.0, f32::INFINITY, f32::NAN] {
            let bits = f.to_bits();
            let normal = if bits >> 31 == 1 { !bits } else { bits ^ 1 << 31 };
            check(KeyForm::Float, &normal.to_be_bytes(), b"", (&bits.to_be_bytes(), b""));
        }
    }
}
