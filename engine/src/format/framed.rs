//! Framed records: any bytes, preceded by their lengths; for data passed between programs (docs/formats/framed.md).
//!
//! ```text
//!   | key length: u32 | value length: u32 | key | value | ...      lengths big-endian
//! ```

use crate::operator::cursor::RECORD_BYTES_MAX;
use yunti_base::{Code, Error, Result};

/// Bytes of the two lengths.
pub const HEADER_BYTES: usize = 8;

/// Columns of a batch.
#[derive(Default)]
pub struct FramedSplitter {
    /// Offset of each key in the batch.
    pub key_offsets: Vec<u32>,
    /// Length of each key in bytes.
    pub key_lengths: Vec<u32>,
    /// Offset of each value in the batch.
    pub value_offsets: Vec<u32>,
    /// Length of each value in bytes.
    pub value_lengths: Vec<u32>,
}

/// Returns the lengths of the key and the value of the record at the start of `bytes`.
fn lengths(bytes: &[u8]) -> Option<(u32, u32)> {
    let header = bytes.first_chunk::<HEADER_BYTES>()?;
    let number = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    Some((number(0), number(4)))
}

/// Returns the two lengths of a record.
pub fn header(key: &[u8], value: &[u8]) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..4].copy_from_slice(&(key.len() as u32).to_be_bytes());
    header[4..].copy_from_slice(&(value.len() as u32).to_be_bytes());
    header
}

/// Returns how many of `bytes`, which begin at a record, are whole records. Fails with `Code::Corrupt` if a length
/// exceeds the largest record.
pub fn whole(bytes: &[u8]) -> Result<usize> {
    let mut at = 0;
    while let Some((key, value)) = lengths(&bytes[at..]) {
        let record = HEADER_BYTES as u64 + u64::from(key) + u64::from(value);
        if record > RECORD_BYTES_MAX as u64 {
            return Err(Error::new(Code::Corrupt, format!("a frame of {key} and {value} bytes"))
                .hint("this is not a file of framed records, or it is damaged"));
        }
        if record > (bytes.len() - at) as u64 {
            break;
        }
        at += record as usize;
    }
    Ok(at)
}

/// Returns the offsets of the records in bytes that are whole records.
pub fn starts(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (key, value) = lengths(bytes.get(at..)?)?;
        let start = at;
        at += HEADER_BYTES + key as usize + value as usize;
        Some(start)
    })
}

impl FramedSplitter {
    /// Sets the columns to the records of `bytes`, which are whole.
    pub fn split(&mut self, bytes: &[u8]) {
        for column in [&mut self.key_offsets, &mut self.key_lengths, &mut self.value_offsets, &mut self.value_lengths] {
            column.clear();
        }
        let mut at = 0;
        while let Some((key, value)) = lengths(&bytes[at as usize..]) {
            let from = at + HEADER_BYTES as u32;
            self.key_offsets.push(from);
            self.key_lengths.push(key);
            self.value_offsets.push(from + key);
            self.value_lengths.push(value);
            at = from + key + value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_whole_records_and_leaves_truncated_ones() {
        let records: [(&[u8], &[u8]); 4] = [(b"k", b"value"), (b"", b""), (b"\n\t", b""), (b"", b"v")];
        let mut bytes = Vec::new();
        let mut ends = vec![0];
        for (key, value) in records {
            bytes.extend(header(key, value));
            bytes.extend([key, value].concat());
            ends.push(bytes.len());
        }
        for cut in 0..=bytes.len() {
            let expect = *ends.iter().rfind(|&&end| end <= cut).unwrap();
            assert_eq!(whole(&bytes[..cut]).unwrap(), expect, "{cut}");
        }
        let mut split = FramedSplitter::default();
        for _ in 0..2 {
            split.split(&bytes);
        }
        let slice = |offset: u32, length: u32| &bytes[offset as usize..][..length as usize];
        let got: Vec<_> = (0..split.key_offsets.len())
            .map(|i| {
                let key = slice(split.key_offsets[i], split.key_lengths[i]);
                (key, slice(split.value_offsets[i], split.value_lengths[i]))
            })
            .collect();
        assert_eq!(got, records);
        assert_eq!(whole(&[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1, 5]).unwrap_err().code(), Code::Corrupt);
    }
}
