//! Keys in an order of bytes, and back to the bytes that Hadoop wrote.
//!
//! The Java side writes each key in a normal form: its bytes compare as the keys do. The engine sorts only this form.
//! When a record returns to Hadoop, the key's own bytes are restored.

pub mod batch;
pub mod normaliser;

pub use batch::KeyBatch;
pub use normaliser::Normaliser;

use yunti_base::{Code, Error, Result};

use crate::vint;

/// Relation of a key's own bytes to its normal form, with its number in `org.yunti.hadoop.key.KeyForm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum KeyForm {
    /// The key's own bytes compare in order already (BooleanWritable, MD5Hash, NullWritable).
    Same = 0,
    /// Text: a vint of the length before the content; only the content is compared.
    Text = 1,
    /// BytesWritable: four bytes of length before the content.
    Bytes = 2,
    /// A big-endian number with its sign bit flipped (ByteWritable, ShortWritable, IntWritable, LongWritable).
    Signed = 3,
    /// `Signed` with all bits inverted: LongWritable.DecreasingComparator.
    SignedDown = 4,
    /// IEEE 754 in total order (FloatWritable, DoubleWritable; both have a single NaN).
    Float = 5,
    /// A vint as eight bytes with the sign bit flipped (VIntWritable, VLongWritable).
    Vint = 6,
    /// UTF8: two bytes of length before the content.
    Utf8 = 7,
    /// The value begins with the length of the key's own bytes (4 bytes, big-endian), then these bytes. An empty normal
    /// form keeps records in the order of arrival.
    Carried = 8,
    /// Numbers of seven bits a byte, the sign in the lowest bit, as eight bytes each with the sign bit flipped
    /// (VarIntWritable, VarLongWritable and EntityEntityWritable of Mahout).
    Zigzag = 9,
}

/// Relation of a value's own bytes to the engine's value, with its number in `org.yunti.hadoop.collect.KnownSum`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum ValueForm {
    /// The value's own bytes.
    #[default]
    Same = 0,
    /// A sum of eight bytes, little-endian, as an IntWritable.
    IntSum = 1,
    /// A sum of eight bytes, little-endian, as a LongWritable.
    LongSum = 2,
}

impl ValueForm {
    /// Returns the form with this number, if there is one.
    pub fn from_number(n: u8) -> Option<ValueForm> {
        [ValueForm::Same, ValueForm::IntSum, ValueForm::LongSum].into_iter().find(|f| *f as u8 == n)
    }

    /// Returns the value's own bytes; `room` holds them if they are computed.
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
    /// Returns the form with this number, if there is one.
    pub fn from_number(n: u8) -> Option<KeyForm> {
        use KeyForm::*;
        [Same, Text, Bytes, Signed, SignedDown, Float, Vint, Utf8, Carried, Zigzag].into_iter().find(|f| *f as u8 == n)
    }

    /// Returns Hadoop's lengths of the key and the value of a record in normal form.
    #[inline]
    pub fn lengths(self, key: &[u8], value: &[u8]) -> (usize, usize) {
        let n = key.len();
        match self {
            KeyForm::Same | KeyForm::Signed | KeyForm::SignedDown | KeyForm::Float => (n, value.len()),
            KeyForm::Text => (vint::size(n as i64) + n, value.len()),
            KeyForm::Bytes => (4 + n, value.len()),
            KeyForm::Utf8 => (2 + n, value.len()),
            KeyForm::Vint => (vint::size(number(key)), value.len()),
            KeyForm::Zigzag => (key.chunks(8).map(|eight| zigzag_len(number(eight))).sum(), value.len()),
            KeyForm::Carried => {
                let own = carried(value).0.len();
                (own, value.len() - CARRIED_LENGTH_BYTES - own)
            }
        }
    }

    /// Appends key and value as Hadoop writes them.
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
            KeyForm::Zigzag => key.chunks(8).for_each(|eight| put_zigzag(number(eight), out)),
            KeyForm::Carried => {
                let (own, rest) = carried(value);
                out.extend_from_slice(own);
                out.extend_from_slice(rest);
                return;
            }
        }
        out.extend_from_slice(value);
    }

    /// Returns the two parts of the record that `put` appends, behind what this function appends; None for a form whose
    /// key is computed.
    pub fn parts<'r>(self, key: &'r [u8], value: &'r [u8], out: &mut Vec<u8>) -> Option<[&'r [u8]; 2]> {
        match self {
            KeyForm::Same => {}
            KeyForm::Text => vint::put(key.len() as i64, out),
            KeyForm::Bytes => out.extend_from_slice(&(key.len() as u32).to_be_bytes()),
            KeyForm::Carried => return Some(carried(value).into()),
            _ => return None,
        }
        Some([key, value])
    }

    /// Appends Hadoop's record in normal form and returns the length of its key. A carried key has an empty normal
    /// form, because its order is not known here.
    ///
    /// Fails with `Code::Corrupt` if the key is not in its class's format.
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
            KeyForm::Zigzag => return take_zigzag(own, out),
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

/// Returns the number of a vint's normal form.
fn number(key: &[u8]) -> i64 {
    let mut eight = [0; 8];
    let n = key.len().min(8);
    eight[..n].copy_from_slice(&key[..n]);
    i64::from_be_bytes(eight) ^ i64::MIN
}

/// Returns the bytes of a number in zigzag form.
fn zigzag_len(n: i64) -> usize {
    let bits = u64::BITS - ((n << 1 ^ n >> 63) as u64).leading_zeros();
    bits.div_ceil(7).max(1) as usize
}

fn put_zigzag(n: i64, out: &mut Vec<u8>) {
    let mut rest = (n << 1 ^ n >> 63) as u64;
    while rest > 0x7f {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Appends the normal form of numbers in zigzag form.
fn take_zigzag(own: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let (mut bits, mut shift) = (0u64, 0);
    for b in own {
        if shift >= u64::BITS {
            return Err(broken());
        }
        bits |= u64::from(b & 0x7f) << shift;
        shift += 7;
        if b & 0x80 == 0 {
            let n = (bits >> 1) as i64 ^ -((bits & 1) as i64);
            out.extend_from_slice(&(n ^ i64::MIN).to_be_bytes());
            (bits, shift) = (0, 0);
        }
    }
    if shift == 0 { Ok(()) } else { Err(broken()) }
}

/// Returns a carried key's own bytes, and the value behind them. A value shorter than its length field carries no key.
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
    fn each_form_writes_the_bytes_of_hadoop() {
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
    fn numbers_are_ordered_and_restored() {
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
        for n in [i64::MIN, -65, -64, -1, 0, 1, 63, 64, 1 << 40, i64::MAX] {
            let mut own = Vec::new();
            put_zigzag(n, &mut own);
            let normal = (n ^ i64::MIN).to_be_bytes();
            check(KeyForm::Zigzag, &normal, b"v", (&own, b"v"));
            check(KeyForm::Zigzag, &[normal, normal].concat(), b"v", (&own.repeat(2), b"v"));
        }
        assert!(KeyForm::Zigzag.take(b"\x80", b"", &mut Vec::new()).is_err());
        for f in [f32::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-40, 2.0, f32::INFINITY, f32::NAN] {
            let bits = f.to_bits();
            let normal = if bits >> 31 == 1 { !bits } else { bits ^ 1 << 31 };
            check(KeyForm::Float, &normal.to_be_bytes(), b"", (&bits.to_be_bytes(), b""));
        }
    }
}
