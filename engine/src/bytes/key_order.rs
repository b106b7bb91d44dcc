//! The built-in order of keys, reduced to the order of bytes. (`key_order/` has orders given by a class.)
//!
//! Numbers are normalised once, when they are collected: big-endian with a flipped sign bit; floats by IEEE 754-2019
//! totalOrder. A descending order inverts all bits. After that, every comparison, prefix and merge compares bytes.
//!
//! Byte strings stay as they are. In a descending order their comparison is reversed instead: inverted bits would sort
//! a prefix behind its extensions.

use std::cmp::Ordering;

use super::scatter::{gather, scatter};

/// Interpretation of a key's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum KeyKind {
    /// A byte string, compared byte by byte, unsigned.
    #[default]
    Bytes,
    /// A signed integer, little-endian.
    Signed,
    /// An unsigned integer, little-endian.
    Unsigned,
    /// An IEEE 754 float, little-endian.
    Float,
    /// Groups of equal keys, in no order (`bytes::scatter`).
    Scattered,
}

/// Order of a job's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct KeyOrder {
    /// Interpretation of the bytes.
    pub kind: KeyKind,
    /// True for a descending order.
    pub descending: bool,
}

impl KeyOrder {
    /// Ascending order of byte strings.
    pub const BYTES: KeyOrder = KeyOrder { kind: KeyKind::Bytes, descending: false };
    /// The order of `KeyKind::Scattered`: equal keys meet, in no order.
    pub const NONE: KeyOrder = KeyOrder { kind: KeyKind::Scattered, descending: false };

    /// Returns true for byte strings, which are not normalised.
    pub fn is_bytes(self) -> bool {
        self.kind == KeyKind::Bytes
    }

    /// Normalises a key in place, so that its bytes compare as the key does. Its length stays.
    pub fn normalise(self, key: &mut [u8]) {
        match self.kind {
            _ if key.is_empty() => return,
            KeyKind::Bytes => return,
            KeyKind::Scattered => return scatter(key),
            KeyKind::Signed | KeyKind::Unsigned | KeyKind::Float => {}
        }
        key.reverse();
        let negative = key[0] & 0x80 != 0;
        match self.kind {
            KeyKind::Signed => key[0] ^= 0x80,
            KeyKind::Float if negative => key.iter_mut().for_each(|b| *b = !*b),
            KeyKind::Float => key[0] ^= 0x80,
            KeyKind::Bytes | KeyKind::Scattered | KeyKind::Unsigned => {}
        }
        if self.descending {
            key.iter_mut().for_each(|b| *b = !*b);
        }
    }

    /// Restores a key that `normalise` changed, in place.
    pub fn denormalise(self, key: &mut [u8]) {
        match self.kind {
            _ if key.is_empty() => return,
            KeyKind::Bytes => return,
            KeyKind::Scattered => return gather(key),
            KeyKind::Signed | KeyKind::Unsigned | KeyKind::Float => {}
        }
        if self.descending {
            key.iter_mut().for_each(|b| *b = !*b);
        }
        let positive = key[0] & 0x80 != 0;
        match self.kind {
            KeyKind::Signed => key[0] ^= 0x80,
            KeyKind::Float if positive => key[0] ^= 0x80,
            KeyKind::Float => key.iter_mut().for_each(|b| *b = !*b),
            KeyKind::Bytes | KeyKind::Scattered | KeyKind::Unsigned => {}
        }
        key.reverse();
    }

    /// Returns true if comparisons of normalised bytes are reversed.
    #[inline]
    pub fn reversed(self) -> bool {
        self.descending && self.is_bytes()
    }

    /// Compares two normalised keys.
    #[inline]
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        let ascending = a.cmp(b);
        if self.reversed() { ascending.reverse() } else { ascending }
    }

    /// Returns the eight bytes of a normalised key from `depth` on, as a number that orders as the keys do. A smaller
    /// prefix means a smaller key; equal prefixes decide nothing. Missing bytes count as zeros.
    #[inline]
    pub fn prefix(self, key: &[u8], depth: usize) -> u64 {
        let rest = key.get(depth..).unwrap_or(&[]);
        let ascending = match rest.first_chunk::<8>() {
            Some(eight) => u64::from_be_bytes(*eight),
            None => {
                let mut padded = [0; 8];
                padded[..rest.len()].copy_from_slice(rest);
                u64::from_be_bytes(padded)
            }
        };
        if self.reversed() { !ascending } else { ascending }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const N: usize>(kind: KeyKind, ascending: &[[u8; N]]) {
        for descending in [false, true] {
            let order = KeyOrder { kind, descending };
            let normal: Vec<[u8; N]> = ascending
                .iter()
                .map(|k| {
                    let mut n = *k;
                    order.normalise(&mut n);
                    let mut back = n;
                    order.denormalise(&mut back);
                    assert_eq!(back, *k, "{kind:?}");
                    n
                })
                .collect();
            for pair in normal.windows(2) {
                let expect = if descending { Ordering::Greater } else { Ordering::Less };
                assert_eq!(order.compare(&pair[0], &pair[1]), expect, "{kind:?}");
                let prefixes = order.prefix(&pair[0], 0).cmp(&order.prefix(&pair[1], 0));
                assert!(prefixes == expect || prefixes == Ordering::Equal);
            }
        }
    }

    #[test]
    fn numbers_order_as_numbers() {
        check(KeyKind::Signed, &[i64::MIN, -256, -1, 0, 1, 255, 256, i64::MAX].map(i64::to_le_bytes));
        check(KeyKind::Signed, &[i32::MIN, -1, 0, 1, i32::MAX].map(i32::to_le_bytes));
        check(KeyKind::Unsigned, &[0, 1, 255, 256, u64::MAX].map(u64::to_le_bytes));
        check(
            KeyKind::Float,
            &[-f64::NAN, f64::NEG_INFINITY, -1.5, -f64::MIN_POSITIVE, -0.0, 0.0, 1e-300, 2.0, f64::INFINITY, f64::NAN]
                .map(f64::to_le_bytes),
        );
    }

    #[test]
    fn a_prefix_of_a_key_comes_first_and_descending_last() {
        let up = KeyOrder::BYTES;
        let down = KeyOrder { kind: KeyKind::Bytes, descending: true };
        for (a, b) in [(&b"a"[..], &b"ab"[..]), (b"", b"\0"), (b"a\0", b"a\0\0"), (b"a\x7f", b"a\x80")] {
            assert_eq!(up.compare(a, b), Ordering::Less);
            assert_eq!(down.compare(a, b), Ordering::Greater);
            assert!(up.prefix(a, 0) <= up.prefix(b, 0));
            assert!(down.prefix(a, 0) >= down.prefix(b, 0));
        }
        assert_eq!(up.prefix(b"abcdefgh12", 8), u64::from_be_bytes(*b"12\0\0\0\0\0\0"));
    }
}
