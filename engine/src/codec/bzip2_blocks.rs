//! Blocks of bzip2: each begins at any bit with a mark of 48 bits. A reader uses them to begin in the middle of a file.
//!
//! ```text
//!   stream:  'B' 'Z' 'h' '1'..'9'   block block ..   17 72 45 38 50 90   CRC(32) of all    padding to a byte
//!   block:   31 41 59 26 53 59      CRC(32)  ..                                            no length, not aligned
//! ```
//!
//! The bits of a mark may occur within a block by chance, so a mark is only a candidate. The decoder decides: it
//! outputs the data of a block only after the last bit of the block.

use super::{CodecKind, corrupt, not_this_format};
use yunti_base::Error;

/// Bits of a mark.
pub const MARK_BITS: u64 = 48;
/// Bits of the checksum behind a mark.
pub const CRC_BITS: u64 = 32;
/// Bytes of a stream's header.
pub const HEADER_BYTES: usize = 4;
/// Bytes of a mark.
pub const MARK_BYTES: usize = 6;
/// Bytes of a block, at most: 900,000 symbols of at most 20 bits, and its tables.
pub const BLOCK_BYTES_MAX: u64 = 5 << 19;
/// Header for a decoder that begins at a block: the largest block size fits all.
pub const ANY_HEADER: &[u8; HEADER_BYTES] = b"BZh9";

const BLOCK: u64 = 0x3141_5926_5359;
const END: u64 = 0x1772_4538_5090;

/// Mark in the bits of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Start of a block.
    Block,
    /// End of a stream.
    End,
}

impl Mark {
    /// Returns the mark in the low 48 bits, if there is one.
    pub fn of(bits: u64) -> Option<Mark> {
        match bits & ((1 << MARK_BITS) - 1) {
            BLOCK => Some(Mark::Block),
            END => Some(Mark::End),
            _ => None,
        }
    }

    /// Returns the bytes of a mark that begins at a byte.
    pub fn bytes(self) -> [u8; MARK_BYTES] {
        let [_, _, mark @ ..] = if self == Mark::Block { BLOCK } else { END }.to_be_bytes();
        mark
    }
}

/// Bytes that occur in the middle of a mark at any bit offset; most bytes do not.
const WITHIN: [bool; 256] = {
    let mut within = [false; 256];
    let mut shift = 0;
    while shift < 8 {
        within[(BLOCK << shift >> 24) as usize & 0xFF] = true;
        within[(END << shift >> 24) as usize & 0xFF] = true;
        shift += 1;
    }
    within
};

/// Returns the first mark of `bytes` that begins at the bit `from` or later, with its bit offset. Bits count from the
/// highest of the first byte.
pub fn find_mark(bytes: &[u8], from: u64) -> Option<(u64, Mark)> {
    let first = (from / 8) as usize;
    // `at` is the fourth byte from the end of a mark that begins up to 7 bits behind a byte's first.
    for at in first + 2..bytes.len().saturating_sub(3) {
        if !WITHIN[bytes[at] as usize] {
            continue;
        }
        let window = bytes[at.saturating_sub(3)..at + 4].iter().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
        let end = (at as u64 + 4) * 8;
        for shift in (0..8).rev() {
            let Some(begin) = end.checked_sub(MARK_BITS + shift).filter(|&begin| begin >= from) else { continue };
            if let Some(mark) = Mark::of(window >> shift) {
                return Some((begin, mark));
            }
        }
    }
    None
}

/// Appends `n` bytes from the bit `from` on; zeros follow the last byte.
pub fn append_shifted(bytes: &[u8], from: u64, n: usize, out: &mut Vec<u8>) {
    let (at, shift) = ((from / 8) as usize, from % 8);
    if n == 0 || shift == 0 {
        out.extend_from_slice(&bytes[at..][..n]);
        return;
    }
    let next = bytes[at + 1..].iter().copied().chain(std::iter::once(0));
    out.extend(bytes[at..at + n].iter().zip(next).map(|(&a, b)| a << shift | b >> (8 - shift)));
}

/// Returns the error for a file that ends too early.
pub fn cut_short() -> Error {
    corrupt(CodecKind::Bzip2, "the bzip2 data is cut short")
}

/// Returns the error for a block or stream with wrong bits or a wrong checksum.
pub fn damaged() -> Error {
    corrupt(CodecKind::Bzip2, "the bzip2 data is damaged or its checksum does not match")
}

/// Returns the error for other bytes at the start of a stream.
pub fn not_a_stream(first: bool) -> Error {
    not_this_format(CodecKind::Bzip2, first)
}

#[cfg(test)]
mod tests {
    use super::super::tests::noise;
    use super::*;

    #[test]
    fn finds_a_mark_at_every_bit() {
        for (mark, value) in [(Mark::Block, BLOCK), (Mark::End, END)] {
            for place in 0..80u64 {
                // A little noise around it, the mark from the bit `place` on.
                let mut bits: Vec<bool> =
                    noise(20).iter().flat_map(|b| (0..8).map(move |i| b >> (7 - i) & 1 == 1)).collect();
                for i in 0..48 {
                    bits[place as usize + i] = value >> (47 - i) & 1 == 1;
                }
                let bytes: Vec<u8> =
                    bits.chunks(8).map(|c| c.iter().fold(0, |byte, &bit| byte << 1 | u8::from(bit))).collect();
                for from in 0..=place {
                    assert_eq!(find_mark(&bytes, from), Some((place, mark)), "{from}");
                }
                assert_eq!(find_mark(&bytes, place + 1), None);
                let needed = (place + 48).div_ceil(8) as usize;
                assert_eq!(find_mark(&bytes[..needed], 0), Some((place, mark)));
                assert_eq!(find_mark(&bytes[..needed - 1], 0), None);
                let mut shifted = Vec::new();
                append_shifted(&bytes, place, 6, &mut shifted);
                assert_eq!(shifted, mark.bytes());
            }
        }
    }

    #[test]
    fn zeros_follow_the_last_byte() {
        let mut out = Vec::new();
        append_shifted(&[0xFF, 0xFF], 3, 2, &mut out);
        assert_eq!(out, [0xFF, 0xF8]);
        assert_eq!(find_mark(&[], 0), None);
        assert_eq!(find_mark(&[0x31; 3], 8), None);
    }
}
