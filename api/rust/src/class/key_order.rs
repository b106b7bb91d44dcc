//! Key orders: the order in which keys reach reducers and the output, and the keys that form one group.
//!
//! Parts of a key are encoded one after the other as bytes with the order of the parts. No key is a prefix of another
//! key with the same kinds of parts:
//!
//! ```text
//!   text       its bytes, 00 as 00 ff, then 00 00
//!   number     big-endian, the sign bit inverted; floating point by IEEE 754 totalOrder
//!   decimal    00 negative, 01 zero, 02 positive, then (inverted if negative): number of digits before the point as
//!              u32 big-endian, digits, 00
//! ```
//!
//! All bits of a descending part are inverted. The C++ API writes the same bytes.

use super::Class;
use super::reducer::key_of;
use crate::error::{Result, fail};
use crate::layout::Batch;
use crate::out::Out;
use crate::types::{Bytes, Type, View};

/// Direction of a part of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The smallest first.
    Ascending,
    /// The largest first.
    Descending,
}
use Direction::Descending;

/// A number that a key may have as a part: `i32`, `i64`, `u32`, `u64`, `f32`, `f64`.
pub trait Part: Type {
    /// Bytes with the order of the numbers.
    #[doc(hidden)]
    fn ordered(self, to: &mut Vec<u8>);
    /// Reads `ordered` bytes, or their inverse.
    #[doc(hidden)]
    fn from_ordered(bytes: &[u8], turn: u8) -> Self;
}

macro_rules! part {
    ($($number:ty, $bits:ty, $from:expr, $to:expr, $into:expr, $back:expr;)*) => {$(
        impl Part for $number {
            fn ordered(self, to: &mut Vec<u8>) {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                let into: fn($bits, $bits) -> $bits = $into;
                to.extend_from_slice(&into($from(self), SIGN).to_be_bytes());
            }
            fn from_ordered(bytes: &[u8], turn: u8) -> $number {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                let bits = bytes.iter().fold(0, |bits: $bits, &byte| bits << 8 | <$bits>::from(byte ^ turn));
                let back: fn($bits, $bits) -> $bits = $back;
                $to(back(bits, SIGN))
            }
        }
    )*};
}
part! {
    u32, u32, |n| n, |n| n, |n, _| n, |n, _| n;
    u64, u64, |n| n, |n| n, |n, _| n, |n, _| n;
    i32, u32, |n| n as u32, |n| n as i32, |n, sign| n ^ sign, |n, sign| n ^ sign;
    i64, u64, |n| n as u64, |n| n as i64, |n, sign| n ^ sign, |n, sign| n ^ sign;
    f32, u32, f32::to_bits, f32::from_bits, |n, sign| if n & sign != 0 { !n } else { n ^ sign },
        |n, sign| if n & sign != 0 { n ^ sign } else { !n };
    f64, u64, f64::to_bits, f64::from_bits, |n, sign| if n & sign != 0 { !n } else { n ^ sign },
        |n, sign| if n & sign != 0 { n ^ sign } else { !n };
}

/// A key made of parts, whose bytes sort as the parts do. It is the form of a key order, and a composite key: a mapper
/// emits [`bytes`](OrderedKey::bytes), and the reducer reads the parts by an [`OrderedKeyReader`].
///
/// ```
/// use yunti_api::{Direction::*, OrderedKey, OrderedKeyReader};
/// let mut key = OrderedKey::default();
/// key.text(b"Oslo", Ascending).number(2024i32, Descending);
/// let mut parts = OrderedKeyReader::new(key.bytes());
/// assert_eq!(parts.text(Ascending).unwrap(), b"Oslo");
/// assert_eq!(parts.number::<i32>(Descending).unwrap(), 2024);
/// ```
#[derive(Default)]
pub struct OrderedKey {
    bytes: Vec<u8>,
    group: Option<u32>,
}

impl OrderedKey {
    /// Appends a text, ordered byte by byte.
    pub fn text(&mut self, part: &[u8], direction: Direction) -> &mut Self {
        let start = self.bytes.len();
        for &byte in part {
            self.bytes.push(byte);
            if byte == 0 {
                self.bytes.push(0xff);
            }
        }
        self.bytes.extend_from_slice(&[0, 0]);
        self.turn(start, direction)
    }

    /// Appends a number.
    pub fn number<T: Part>(&mut self, part: T, direction: Direction) -> &mut Self {
        let start = self.bytes.len();
        part.ordered(&mut self.bytes);
        self.turn(start, direction)
    }

    /// Appends the decimal number at the start of a text, after blanks, of any length; 0 if there is none, as `sort -n`
    /// does.
    pub fn decimal(&mut self, part: &[u8], direction: Direction) -> &mut Self {
        let start = self.bytes.len();
        let blanks = part.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let (is_negative, rest) = match &part[blanks..] {
            [b'-', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (whole, rest) = rest.split_at(digits(rest));
        let fraction = match rest {
            [b'.', rest @ ..] => &rest[..digits(rest)],
            _ => &[],
        };
        let zeros = whole.iter().take_while(|&&byte| byte == b'0').count();
        let whole = &whole[zeros..];
        let fraction = &fraction[..fraction.iter().rposition(|&byte| byte != b'0').map_or(0, |at| at + 1)];
        if whole.is_empty() && fraction.is_empty() {
            self.bytes.push(1);
        } else {
            self.bytes.push(if is_negative { 0 } else { 2 });
            let from = self.bytes.len();
            self.bytes.extend_from_slice(&(whole.len() as u32).to_be_bytes());
            self.bytes.extend_from_slice(whole);
            self.bytes.extend_from_slice(fraction);
            self.bytes.push(0);
            if is_negative {
                self.turn(from, Descending);
            }
        }
        self.turn(start, direction)
    }

    /// Appends bytes that are ordered already: the last part, or one that terminates itself.
    pub fn raw(&mut self, part: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(part);
        self
    }

    /// Ends the parts that define the group; later parts only order.
    pub fn group(&mut self) -> &mut Self {
        self.group = Some(self.bytes.len() as u32);
        self
    }

    /// Removes all parts.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.group = None;
    }

    /// Returns the encoded parts.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn turn(&mut self, from: usize, direction: Direction) -> &mut Self {
        if direction == Descending {
            self.bytes[from..].iter_mut().for_each(|byte| *byte = !*byte);
        }
        self
    }
}

/// Reader of the parts of an [`OrderedKey`], in their order. Each call must name the kind and the direction that wrote
/// the part, and fails if the key lacks it.
pub struct OrderedKeyReader<'a> {
    rest: &'a [u8],
}

impl<'a> OrderedKeyReader<'a> {
    /// Returns a reader at the first part.
    pub fn new(key: &'a [u8]) -> Self {
        OrderedKeyReader { rest: key }
    }

    /// Returns the next part, a text.
    pub fn text(&mut self, direction: Direction) -> Result<Vec<u8>> {
        let turn = if direction == Descending { 0xff } else { 0 };
        let mut part = Vec::new();
        loop {
            match self.rest {
                [nul, mark, rest @ ..] if nul ^ turn == 0 => {
                    self.rest = rest;
                    if mark ^ turn == 0 {
                        return Ok(part);
                    }
                    part.push(0);
                }
                [byte, rest @ ..] if byte ^ turn != 0 => {
                    self.rest = rest;
                    part.push(byte ^ turn);
                }
                _ => return missing(),
            }
        }
    }

    /// Returns the next part, a number.
    pub fn number<T: Part>(&mut self, direction: Direction) -> Result<T> {
        let Some((bytes, rest)) = self.rest.split_at_checked(T::BYTES) else { return missing() };
        self.rest = rest;
        Ok(T::from_ordered(bytes, if direction == Descending { 0xff } else { 0 }))
    }
}

fn missing<T>() -> Result<T> {
    fail("a composite key lacks a part that is read from it: read the parts that were written, in the same order")
}

/// A key order: it gives each key a form, and the engine sorts forms as bytes.
///
/// Keys with equal forms are one group and stay in the order of emission. With `GROUPS`, the parts before
/// [`OrderedKey::group`] alone define the group.
pub trait KeyOrder: Class {
    /// Type of the keys.
    type InKey: Type;
    /// True if `arrange` calls [`OrderedKey::group`].
    const GROUPS: bool = false;

    /// Appends the parts of a key's form. They must not depend on the task.
    fn arrange(&mut self, key: View<'_, Self::InKey>, value: &[u8], form: &mut OrderedKey) -> Result<()>;
}

/// Emits the form of each record of a batch, and sets the bytes of its group.
pub fn arrange<O: KeyOrder>(
    order: &mut O,
    batch: &Batch<'_>,
    out: &mut Out<'_, Bytes, ()>,
    group: &mut [u32],
) -> Result<()> {
    let mut form = OrderedKey::default();
    for (i, group) in group.iter_mut().enumerate() {
        form.clear();
        order.arrange(key_of::<O::InKey>(batch.key(i))?, batch.value(i), &mut form)?;
        if let Some(bytes) = form.group {
            if !O::GROUPS {
                return fail("a key order that calls group() must declare const GROUPS: bool = true");
            }
            *group = bytes;
        }
        out.emit(form.bytes(), ())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::Ascending;

    fn key(write: impl Fn(&mut OrderedKey) -> &mut OrderedKey) -> Vec<u8> {
        let mut key = OrderedKey::default();
        write(&mut key);
        key.bytes
    }

    #[test]
    fn keys_sort_as_their_parts() {
        let texts: &[&[u8]] = &[b"", b"\0", b"\0\0", b"\0\x01", b"\x01", b"a", b"a\0", b"ab", b"a\xff", b"\xff"];
        let text = |part: &[u8], direction| key(|k| k.text(part, direction).number(1i32, Ascending));
        assert!(texts.is_sorted_by_key(|part| text(part, Ascending)));
        assert!(texts.iter().rev().is_sorted_by_key(|part| text(part, Descending)));
        let numbers = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1e-300, 2.0, f64::INFINITY];
        assert!(numbers.is_sorted_by_key(|&n| key(|k| k.number(n, Ascending))));
        let numbers = [i64::MIN, -1, 0, 1, i64::MAX];
        assert!(numbers.iter().rev().is_sorted_by_key(|&n| key(|k| k.number(n, Descending))));
        let decimals =
            ["-10", "-9.5", "-9.25", "-1", "x", "0.001", "0.01", "1", "9", "9.5", "10", "100000000000000000000"];
        assert!(decimals.is_sorted_by_key(|text| key(|k| k.decimal(text.as_bytes(), Ascending))));
        let equal = ["7", "07", " 7.0", "\t007.x"].map(|text| key(|k| k.decimal(text.as_bytes(), Descending)));
        assert!(equal.iter().all(|form| *form == equal[0]));
    }

    #[test]
    fn parts_are_read_back() {
        for direction in [Ascending, Descending] {
            let bytes = key(|k| {
                k.text(b"a\0b", direction).number(-5i32, direction).number(2.5f32, direction).number(7u64, direction)
            });
            let mut parts = OrderedKeyReader::new(&bytes);
            assert_eq!(parts.text(direction).unwrap(), b"a\0b");
            assert_eq!(parts.number::<i32>(direction).unwrap(), -5);
            assert_eq!(parts.number::<f32>(direction).unwrap(), 2.5);
            assert_eq!(parts.number::<u64>(direction).unwrap(), 7);
            assert!(parts.number::<i32>(direction).is_err());
            for cut in 0..4 {
                assert!(OrderedKeyReader::new(&bytes[..cut]).text(direction).is_err());
            }
        }
    }
}
