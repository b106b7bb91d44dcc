//! The snappy framing format (`.sz`): chunks, each with its kind, its length and its checksum.
//!
//! ```text
//!   identifier:  FF 06 00 00 's' 'N' 'a' 'P' 'p' 'Y'     at the beginning, and again in concatenated files
//!   data:        00 length(3) CRC(4) a raw snappy block  at most 64 KiB as it was
//!                01 length(3) CRC(4) bytes as they are
//!   to skip:     80..FE length(3) bytes                  02..7F: not defined, and not to be skipped
//! ```
//!
//! Numbers are little-endian; the checksum is a masked CRC32C of the data. There is no end mark: a file may end behind
//! any chunk, so truncation there is undetectable.
//!
//! Rejected: the crate's own reader of frames, which pulls from a `Read` and cannot report the offset of an error.

use super::super::field::Field;
use super::super::{CodecKind, Format, Step, corrupt, not_this_format};
use super::block_by_block::{self, BlockByBlock};
use yunti_base::{Error, Result};

const KIND: CodecKind = CodecKind::Snappy;
/// Bytes that begin a file.
pub const IDENTIFIER: [u8; 10] = *b"\xFF\x06\x00\x00sNaPpY";
/// Raw bytes of a chunk of data, at most.
pub const CHUNK_BYTES: usize = 64 << 10;
const CHECKSUM_BYTES: usize = 4;

/// Returns true if a file that begins with these bytes has this format.
pub fn begins(head: [u8; 4]) -> bool {
    head == IDENTIFIER[..4]
}

/// Decoder of snappy's framing format.
#[derive(Default)]
pub struct SnappyFrame {
    phase: Phase,
    field: Field<4>,
    /// Stored chunk, if it is spread over several inputs.
    chunk: Vec<u8>,
    /// Decoded chunk; [at..] is not copied out yet.
    raw: Vec<u8>,
    at: usize,
    identified: bool,
}

#[derive(Clone, Copy, Default)]
enum Phase {
    #[default]
    Header,
    Chunk {
        kind: u8,
        length: usize,
    },
    Skip {
        left: usize,
    },
}

impl SnappyFrame {
    fn header(&mut self, input: &[u8], at: u64) -> Result<usize> {
        let read = self.field.gather(input, 4);
        let Some([kind, a, b, c]) = self.field.take(4) else { return Ok(read) };
        let here = (at + read as u64).saturating_sub(4);
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        let data_max = CHECKSUM_BYTES + if kind == 0 { snap::raw::max_compress_len(CHUNK_BYTES) } else { CHUNK_BYTES };
        match kind {
            0xFF if length == IDENTIFIER.len() - 4 => {}
            _ if !self.identified => return Err(not_this_format(KIND, true).at_offset(here)),
            0 | 1 if (CHECKSUM_BYTES..=data_max).contains(&length) => {}
            0x80..=0xFE => {
                self.phase = if length == 0 { Phase::Header } else { Phase::Skip { left: length } };
                return Ok(read);
            }
            _ => return Err(not_this_format(KIND, false).at_offset(here)),
        }
        self.chunk.clear();
        self.phase = Phase::Chunk { kind, length };
        Ok(read)
    }

    /// Decodes a chunk.
    fn decode(&mut self, kind: u8, chunk: &[u8], at: u64) -> Result<()> {
        self.phase = Phase::Header;
        if kind == 0xFF {
            if chunk != &IDENTIFIER[4..] {
                return Err(not_this_format(KIND, !self.identified).at_offset(at));
            }
            self.identified = true;
            return Ok(());
        }
        let (checksum, data) = chunk.split_at(CHECKSUM_BYTES);
        self.at = 0;
        self.raw.clear();
        if kind == 1 {
            self.raw.extend_from_slice(data);
        } else {
            decompress(data, CHUNK_BYTES, &mut self.raw).map_err(|e| e.at_offset(at))?;
        }
        if u32::from_le_bytes(checksum.try_into().expect("four bytes")) != masked_crc(&self.raw) {
            return Err(corrupt(KIND, "the checksum of the snappy data does not match").at_offset(at));
        }
        Ok(())
    }
}

impl BlockByBlock for SnappyFrame {
    fn decoded(&mut self) -> (&[u8], &mut usize) {
        (&self.raw, &mut self.at)
    }

    fn advance(&mut self, input: &[u8], at: u64) -> Result<usize> {
        match self.phase {
            Phase::Header => self.header(input, at),
            Phase::Skip { left } => {
                let read = input.len().min(left);
                self.phase = if read == left { Phase::Header } else { Phase::Skip { left: left - read } };
                Ok(read)
            }
            Phase::Chunk { kind, length } => {
                let take = input.len().min(length - self.chunk.len());
                // A chunk in one input is not copied.
                if take == length {
                    self.decode(kind, &input[..take], at)?;
                    return Ok(take);
                }
                self.chunk.extend_from_slice(&input[..take]);
                if self.chunk.len() == length {
                    let chunk = std::mem::take(&mut self.chunk);
                    let decoded = self.decode(kind, &chunk, (at + take as u64).saturating_sub(length as u64));
                    self.chunk = chunk;
                    decoded?;
                }
                Ok(take)
            }
        }
    }

    fn may_end(&self) -> bool {
        matches!(self.phase, Phase::Header) && self.field.is_empty() && self.identified
    }
}

impl Format for SnappyFrame {
    const KIND: CodecKind = KIND;

    fn step(&mut self, input: &[u8], output: &mut [u8], at: u64) -> Result<Step> {
        block_by_block::step(self, input, output, at)
    }
}

/// Returns the masked CRC32C of the format; the mask keeps checksums of data with checksums distinct.
pub fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8)
}

/// Appends the contents of a raw snappy block. Fails with `Code::Corrupt` if it is damaged or exceeds `bytes_max`.
pub fn decompress(block: &[u8], bytes_max: usize, raw: &mut Vec<u8>) -> Result<()> {
    let damaged = |why: &dyn std::fmt::Display| -> Error {
        corrupt(KIND, format!("a block of the snappy data is damaged ({why})"))
    };
    let n = snap::raw::decompress_len(block).map_err(|e| damaged(&e))?;
    if n > bytes_max {
        return Err(damaged(&"it holds more than it may"));
    }
    let from = raw.len();
    raw.resize(from + n, 0);
    snap::raw::Decoder::new().decompress(block, &mut raw[from..]).map_err(|e| damaged(&e))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{changed, check, check_error, encode, noise, text};
    use super::*;
    use std::ops::RangeInclusive;
    use yunti_base::Code;

    /// The text as an uncompressed chunk.
    const PLAIN: &[u8] = b"\xFF\x06\x00\x00sNaPpY\x01\x11\x00\x00\xD4\x59\x5D\x1Acloud ladder\n";
    const TEXT: &[u8] = b"cloud ladder\n";
    const PADDING: &[u8] = b"\xFE\x02\x00\x00ab\x80\x00\x00\x00";

    #[test]
    fn decodes_concatenated_chunks() {
        check(KIND, PLAIN, TEXT);
        check(KIND, &[PLAIN, PADDING, &PLAIN[10..], PLAIN].concat(), &TEXT.repeat(3));
        check(KIND, &IDENTIFIER, b"");
    }

    /// The crate's own frames are another implementation of the format.
    #[test]
    fn agrees_with_another_implementation() {
        use std::io::{Read, Write};
        let data = [text(200_000), noise(100_000)].concat();
        let mut back = Vec::new();
        snap::read::FrameDecoder::new(&encode(KIND, &data)[..]).read_to_end(&mut back).unwrap();
        assert!(back == data);
        let mut theirs = snap::write::FrameEncoder::new(Vec::new());
        theirs.write_all(&data).unwrap();
        check(KIND, &theirs.into_inner().unwrap(), &data);
    }

    #[test]
    fn names_each_fault_and_its_offset() {
        let n = PLAIN.len();
        let change = |at, value| changed(PLAIN, at, value);
        let followed = "the snappy data is followed by bytes that are not snappy data";
        let u = |at: usize| at as u64..=at as u64;
        let table: &[(&[u8], &str, RangeInclusive<u64>)] = &[
            (b"\xFF\x06\x00\x00sNaPpX", "this is not snappy data", 4..=4),
            (&[PLAIN, b"\x02\x01\x00\x00a"].concat(), followed, u(n)),
            (&[PLAIN, b"\x01\x03\x00\x00abc"].concat(), followed, u(n)),
            (&[PLAIN, b"\x01\x05\x00\x01abc"].concat(), followed, u(n)),
            (&change(20, 0), "the checksum of the snappy data does not match", u(n + 14)),
            (&change(15, 0), "the checksum of the snappy data does not match", u(n + 14)),
            (&PLAIN[..n - 1], "the snappy data is cut short", u(n - 1)),
        ];
        for (file, what, offset) in table {
            check_error(KIND, file, Code::Corrupt, what, offset.clone());
        }
    }
}
