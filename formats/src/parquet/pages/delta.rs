//! The encodings of differences and of byte streams, rewritten as PLAIN.
//!
//! ```text
//!   DELTA_BINARY_PACKED       block size, miniblocks, count, first value; then blocks:
//!                             least difference, a width for each miniblock, the differences above the least
//!   DELTA_LENGTH_BYTE_ARRAY   lengths as above; then all bytes
//!   DELTA_BYTE_ARRAY          lengths of shared prefixes; then the suffixes as DELTA_LENGTH_BYTE_ARRAY
//!   BYTE_STREAM_SPLIT         the first bytes of all values, then the second ones, ..
//! ```

use bytes::Bytes;
use parquet::basic::Encoding;

use super::form::Form;
use crate::file::varint;

/// Bytes of a page, at most, as its header can tell.
const PAGE_BYTES_MAX: usize = i32::MAX as usize;

/// Returns `count` values as PLAIN stores them.
pub fn to_plain(encoding: Encoding, form: Form, stored: &Bytes, count: usize) -> Result<Bytes, String> {
    let damaged = || format!("the values of a page in {encoding} are damaged");
    match (encoding, form) {
        (Encoding::DELTA_BINARY_PACKED, Form::I32 | Form::U32 | Form::Units32) => {
            let values = differences(stored, count).ok_or_else(damaged)?.0;
            Ok(values.iter().flat_map(|v| (*v as i32).to_le_bytes()).collect())
        }
        (Encoding::DELTA_BINARY_PACKED, Form::I64 | Form::Units64) => {
            let values = differences(stored, count).ok_or_else(damaged)?.0;
            Ok(values.iter().flat_map(|v| v.to_le_bytes()).collect())
        }
        (Encoding::DELTA_LENGTH_BYTE_ARRAY, Form::Bytes | Form::Text) => texts(stored, count, None).ok_or_else(damaged),
        (Encoding::DELTA_BYTE_ARRAY, Form::Bytes | Form::Text) => {
            let (prefixes, end) = differences(stored, count).ok_or_else(damaged)?;
            texts(&stored[end..], count, Some(&prefixes)).ok_or_else(damaged)
        }
        (Encoding::DELTA_BYTE_ARRAY, Form::UnitsIn(len)) => {
            let (prefixes, end) = differences(stored, count).ok_or_else(damaged)?;
            let with_lengths = texts(&stored[end..], count, Some(&prefixes)).ok_or_else(damaged)?;
            // Each value stands behind its length of four bytes.
            let is_fixed = with_lengths.len() == count * (4 + len);
            is_fixed
                .then(|| with_lengths.chunks_exact(4 + len).flat_map(|value| value[4..].to_vec()).collect())
                .ok_or_else(damaged)
        }
        (Encoding::BYTE_STREAM_SPLIT, form) if form != Form::Bool => {
            let len = form.stored_bytes().ok_or_else(damaged)?;
            let all = count.checked_mul(len).filter(|all| *all <= stored.len()).ok_or_else(damaged)?;
            let mut plain = vec![0; all];
            for (byte, stream) in stored[..all].chunks_exact(count.max(1)).enumerate() {
                stream.iter().enumerate().for_each(|(n, v)| plain[n * len + byte] = *v);
            }
            Ok(plain.into())
        }
        _ => Err(format!("values of its type cannot have the encoding {encoding}")),
    }
}

/// Reader of numbers in groups of seven bits.
struct Numbers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Numbers<'_> {
    fn unsigned(&mut self) -> Option<u64> {
        varint::take(self.bytes, &mut self.at)
    }

    fn signed(&mut self) -> Option<i64> {
        self.unsigned().map(varint::unzigzag)
    }
}

/// Returns the first `count` numbers of DELTA_BINARY_PACKED, and the offset behind them.
fn differences(stored: &[u8], count: usize) -> Option<(Vec<i64>, usize)> {
    let mut numbers = Numbers { bytes: stored, at: 0 };
    let (block, miniblocks) = (numbers.unsigned()? as usize, numbers.unsigned()? as usize);
    let total = numbers.unsigned()? as usize;
    let first = numbers.signed()?;
    if total != count || miniblocks == 0 || block == 0 || block % miniblocks != 0 || (block / miniblocks) % 8 != 0 {
        return None;
    }
    let each = block / miniblocks;
    // A page of few bytes may claim many values only if their widths are 0, and then blocks still cost bytes.
    if total > block.checked_mul(stored.len() + 1)? || block > PAGE_BYTES_MAX {
        return None;
    }
    let mut values = Vec::with_capacity(count.min(stored.len().saturating_mul(8) + 1));
    if count == 0 {
        return Some((values, numbers.at));
    }
    values.push(first);
    let mut value = first;
    while values.len() < count {
        let least = numbers.signed()?;
        let widths = numbers.at;
        numbers.at += miniblocks;
        let widths = stored.get(widths..numbers.at)?;
        for &width in widths {
            if values.len() == count {
                // What is not needed has no bytes.
                break;
            }
            let width = usize::from(width);
            let len = each * width / 8;
            if width > 64 {
                return None;
            }
            let packed = &stored[numbers.at.min(stored.len())..(numbers.at + len).min(stored.len())];
            let n = each.min(count - values.len());
            if packed.len() * 8 < n * width {
                return None;
            }
            for at in 0..n {
                value = value.wrapping_add(least).wrapping_add(bits(packed, at * width, width) as i64);
                values.push(value);
            }
            numbers.at += len;
        }
    }
    Some((values, numbers.at.min(stored.len())))
}

/// Returns `width` bits from bit `at` on.
fn bits(bytes: &[u8], at: usize, width: usize) -> u64 {
    let mut word = [0; 16];
    let rest = &bytes[at / 8..];
    let n = rest.len().min(16);
    word[..n].copy_from_slice(&rest[..n]);
    let word = u128::from_le_bytes(word) >> (at % 8);
    (word & ((1u128 << width) - 1)) as u64
}

/// Returns values of any length behind their lengths; `prefixes`: the bytes that each shares with the one before.
fn texts(stored: &[u8], count: usize, prefixes: Option<&[i64]>) -> Option<Bytes> {
    let (lengths, mut at) = differences(stored, count)?;
    let mut plain: Vec<u8> = Vec::with_capacity(stored.len() + 4 * count);
    let mut before = 0..0;
    for (n, &len) in lengths.iter().enumerate() {
        let suffix = stored.get(at..at.checked_add(usize::try_from(len).ok()?)?)?;
        at += suffix.len();
        let shared = prefixes.map_or(Some(0), |prefixes| usize::try_from(prefixes[n]).ok())?;
        if shared > before.len() || plain.len() + 4 + shared + suffix.len() > PAGE_BYTES_MAX {
            return None;
        }
        plain.extend_from_slice(&((shared + suffix.len()) as u32).to_le_bytes());
        let start = plain.len();
        plain.extend_from_within(before.start..before.start + shared);
        plain.extend_from_slice(suffix);
        before = start..plain.len();
    }
    Some(plain.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_the_specification() {
        // 7, 5, 3, 1, 2, 3, 4, 5: the example of Parquet's page "Encodings", in one block of 128 with 4 miniblocks.
        let mut stored = vec![0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0];
        stored.extend([0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0]);
        assert_eq!(differences(&stored, 8), Some((vec![7, 5, 3, 1, 2, 3, 4, 5], 18)));
        assert_eq!(differences(&stored, 9), None);
        assert_eq!(differences(&stored[..9], 8), None);
    }

    #[test]
    fn streams_of_bytes() {
        let stored = Bytes::from_static(&[1, 2, 3, 4, 5, 6, 7, 8]);
        let plain = to_plain(Encoding::BYTE_STREAM_SPLIT, Form::F32, &stored, 2).unwrap();
        assert_eq!(&plain[..], [1, 3, 5, 7, 2, 4, 6, 8]);
        assert!(to_plain(Encoding::BYTE_STREAM_SPLIT, Form::F32, &stored, 3).is_err());
    }
}
