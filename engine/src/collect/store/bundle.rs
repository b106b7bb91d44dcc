//! A bundle: records of one key and partition that were collected together. The key stands there once.
//!
//! ```text
//!   klen u32 | BUNDLE, vlen u32 | key | count u32 | length u32 | lengths, if they differ: u32 each | values | padding
//! ```
//!
//! A bundle has one entry, so a sort moves and compares its key once, whatever the number of its records.

use crate::bytes::RecordBytes;

/// Bit of a header's key length that marks a bundle. A stub has this bit too.
pub const BUNDLE: u32 = 1 << 31;

/// Length that marks values of different lengths.
pub(super) const DIFFER: u32 = u32::MAX;

/// Bytes between the key and the lengths or values.
pub(super) const COUNTS_BYTES: usize = 8;

/// The records of a bundle.
#[derive(Clone, Copy, Debug)]
pub struct Bundle<'a> {
    /// The key of all records.
    pub key: &'a [u8],
    /// Number of records.
    pub count: usize,
    /// Length of each value, or None: `lengths` has them.
    length: Option<usize>,
    lengths: &'a [u8],
    values: &'a [u8],
}

impl<'a> Bundle<'a> {
    /// Returns the bundle whose key and what follows it are `bytes`.
    pub fn of(bytes: &'a [u8], key_len: usize) -> Bundle<'a> {
        let (key, rest) = bytes.split_at(key_len);
        let (counts, rest) = rest.split_at(COUNTS_BYTES);
        let (count, length) = (number(counts) as usize, number(&counts[4..]));
        let differ = length == DIFFER;
        let (lengths, values) = rest.split_at(if differ { 4 * count } else { 0 });
        Bundle { key, count, length: (!differ).then_some(length as usize), lengths, values }
    }

    /// Returns the bytes of all keys and values.
    pub fn bytes(&self) -> RecordBytes {
        let mut bytes = RecordBytes::default();
        match self.length {
            Some(length) => bytes.add_equal(self.count, self.key.len(), length),
            None => self.lengths.chunks_exact(4).for_each(|length| bytes.add(self.key.len(), number(length) as usize)),
        }
        bytes
    }

    /// Passes the values on, in the order of emission.
    #[inline]
    pub fn each<E>(&self, mut value: impl FnMut(&'a [u8]) -> Result<(), E>) -> Result<(), E> {
        let mut rest = self.values;
        for i in 0..self.count {
            let len = self.length.unwrap_or_else(|| number(&self.lengths[4 * i..]) as usize);
            let (own, behind) = rest.split_at(len);
            rest = behind;
            value(own)?;
        }
        Ok(())
    }
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
