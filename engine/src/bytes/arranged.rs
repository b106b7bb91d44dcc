//! A record whose key a class has arranged: the form that orders as bytes in the key's place, and behind it what it stands for.
//!
//! ```text
//!   | form, of which the first `group` bytes tell groups apart | group u32 | key bytes u32 | key | value |
//!   |<------------------- key of the record ------------------>|<------------- its value ------------>|
//! ```

use yunti_base::{Code, Error, Result};

use super::Record;

/// Bytes between the form and the key.
pub const ARRANGED_HEADER_BYTES: usize = 8;

#[derive(Clone, Copy, Debug)]
pub struct Arranged<'a> {
    /// What records of one group have in common.
    pub group: &'a [u8],
    pub key: &'a [u8],
    pub value: &'a [u8],
}

impl<'a> Arranged<'a> {
    #[inline]
    pub fn of(record: &Record<'a>) -> Result<Arranged<'a>> {
        let (form, rest) = record.bytes.split_at(record.key_len as usize);
        let parts = rest.split_first_chunk::<ARRANGED_HEADER_BYTES>().and_then(|(header, rest)| {
            let [group, key_len] = [0, 4].map(|at| u32::from_le_bytes([0, 1, 2, 3].map(|i| header[at + i])) as usize);
            let (key, value) = rest.split_at_checked(key_len)?;
            Some(Arranged { group: form.get(..group)?, key, value })
        });
        parts.ok_or_else(|| Error::new(Code::Corrupt, "a record of a job with a key order lacks its own key"))
    }
}

/// What stands between the form and the key.
pub fn arranged_header(group: u32, key_len: u32) -> [u8; ARRANGED_HEADER_BYTES] {
    (u64::from(group) | u64::from(key_len) << 32).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_together_is_taken_apart_and_what_was_cut_is_an_error() {
        let bytes = [&b"formgroup"[..], &arranged_header(4, 3), b"key", b"value"].concat();
        let record = |bytes| Record { bytes, key_len: 9, split: 0 };
        let arranged = Arranged::of(&record(&bytes)).unwrap();
        assert_eq!((arranged.group, arranged.key, arranged.value), (&b"form"[..], &b"key"[..], &b"value"[..]));
        for len in 9..bytes.len() - 5 {
            assert!(Arranged::of(&record(&bytes[..len])).is_err(), "{len}");
        }
        let beyond = [&b"formgroup"[..], &arranged_header(10, 0)].concat();
        assert!(Arranged::of(&record(&beyond)).is_err());
    }
}
