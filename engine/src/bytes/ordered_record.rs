//! A record with an ordered key: bytes made by a class's key order, which sort instead of the key.
//!
//! The key itself is kept in front of the value, for reducers and writers. `key_order/` makes these records. The
//! built-in order of plain keys is `KeyOrder` in `key_order.rs`.
//!
//! ```text
//!   | ordered key; its first `group` bytes are the group | group u32 | key bytes u32 | key | value |
//!   |<------------- key of the stored record ----------->|<-------- value of the stored record --->|
//! ```

use yunti_base::{Code, Error, Result};

use super::Record;

/// Bytes between the ordered key and the key.
pub const ORDERED_HEADER_BYTES: usize = 8;

/// The parts of a stored record whose key is an ordered key.
#[derive(Clone, Copy, Debug)]
pub struct OrderedRecord<'a> {
    /// Leading bytes of the ordered key; records of one group have them in common.
    pub group: &'a [u8],
    /// The mapper's key, not normalised.
    pub key: &'a [u8],
    /// The mapper's value.
    pub value: &'a [u8],
}

impl<'a> OrderedRecord<'a> {
    /// Splits a stored record into its parts. Fails with `Code::Corrupt` if lengths in the header exceed the record.
    #[inline]
    pub fn of(record: &Record<'a>) -> Result<OrderedRecord<'a>> {
        let (ordered_key, rest) = record.bytes.split_at(record.key_len as usize);
        let parts = rest.split_first_chunk::<ORDERED_HEADER_BYTES>().and_then(|(header, rest)| {
            let [group, key_len] = [0, 4].map(|at| u32::from_le_bytes([0, 1, 2, 3].map(|i| header[at + i])) as usize);
            let (key, value) = rest.split_at_checked(key_len)?;
            Some(OrderedRecord { group: ordered_key.get(..group)?, key, value })
        });
        parts.ok_or_else(|| Error::new(Code::Corrupt, "a record of a job with a key order lacks its own key"))
    }
}

/// Returns the bytes between the ordered key and the key. `group` and `key_len` are lengths in bytes.
pub fn ordered_header(group: u32, key_len: u32) -> [u8; ORDERED_HEADER_BYTES] {
    (u64::from(group) | u64::from(key_len) << 32).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_whole_records_and_rejects_truncated_ones() {
        let bytes = [&b"formgroup"[..], &ordered_header(4, 3), b"key", b"value"].concat();
        let record = |bytes| Record { bytes, key_len: 9, split: 0 };
        let ordered = OrderedRecord::of(&record(&bytes)).unwrap();
        assert_eq!((ordered.group, ordered.key, ordered.value), (&b"form"[..], &b"key"[..], &b"value"[..]));
        for len in 9..bytes.len() - 5 {
            assert!(OrderedRecord::of(&record(&bytes[..len])).is_err(), "{len}");
        }
        let beyond = [&b"formgroup"[..], &ordered_header(10, 0)].concat();
        assert!(OrderedRecord::of(&record(&beyond)).is_err());
    }
}
