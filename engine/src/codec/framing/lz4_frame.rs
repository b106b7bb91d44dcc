//! The lz4 frame format, one frame after the other. lz4_flex decodes blocks; everything around them is checked here.
//!
//! ```text
//!   frame:      04 22 4D 18  FLG BD [content size(8)] [dictionary id(4)] HC      HC: a byte of the header's xxh32
//!               [length(4) block [xxh32 of the block]] ...                       highest bit of the length: stored
//! plain
//!               00 00 00 00 [xxh32 of the content]
//!   skippable:  5x 2A 4D 18  length(4)  bytes to skip
//!   file:       any number of both, in any order                                 numbers little-endian
//! ```
//!
//! Rejected: lz4_flex's own reader of frames, which pulls from a `Read` and cannot report the offset of an error.

use std::hash::Hasher;

use lz4_flex::block::{decompress_into, decompress_into_with_dict};
use twox_hash::XxHash32;

use super::super::field::Field;
use super::super::{CodecKind, Format, Step, corrupt, not_this_format, too_little_memory};
use super::block_by_block::{self, BlockByBlock};
use yunti_base::{Code, Error, Result};

const KIND: CodecKind = CodecKind::Lz4;
/// First four bytes of a frame, little-endian.
pub const MAGIC: u32 = 0x184D_2204;
const MAGIC_SKIPPABLE: u32 = 0x184D_2A50;
/// First four bytes of `lz4 -l`: a format without a checksum and without an end.
const MAGIC_LEGACY: u32 = 0x184C_2102;

/// Bytes of history that a block may refer to.
const HISTORY_BYTES: usize = 64 << 10;
const STORED: u32 = 1 << 31;

/// Bytes of a decoder: the largest block (4 MiB) stored and decoded, the history, and the rest.
pub const MEMORY_BYTES: u64 = (8 << 20) + (512 << 10);

/// Returns true if a file that begins with these bytes has this format.
pub fn begins(magic: u32) -> bool {
    magic == MAGIC || magic == MAGIC_LEGACY || magic & !0xF == MAGIC_SKIPPABLE
}

/// Decoder of lz4 frames.
pub struct Lz4Frame {
    memory_limit_bytes: u64,
    phase: Phase,
    field: Field<19>,
    header: Header,
    /// Stored block, if it is spread over several inputs.
    block: Vec<u8>,
    /// Decoded block; [at..] is not copied out yet.
    raw: Vec<u8>,
    at: usize,
    /// Last bytes before the block, if blocks are linked.
    history: Vec<u8>,
    content: XxHash32,
    content_bytes: u64,
    begin: u64,
    first_frame: bool,
}

#[derive(Clone, Copy)]
enum Phase {
    Magic,
    SkipLength,
    Skip { left: u32 },
    Descriptor,
    BlockLength,
    Block { length: u32, stored: bool },
    BlockChecksum { stored: bool },
    End,
}

#[derive(Clone, Copy, Default)]
struct Header {
    linked: bool,
    block_checksums: bool,
    content_checksum: bool,
    content_bytes: Option<u64>,
    block_bytes: usize,
}

impl Lz4Frame {
    /// Returns a decoder that uses at most `memory_limit_bytes`.
    pub fn new(memory_limit_bytes: u64) -> Self {
        Lz4Frame {
            memory_limit_bytes,
            phase: Phase::Magic,
            field: Field::default(),
            header: Header::default(),
            block: Vec::new(),
            raw: Vec::new(),
            at: 0,
            history: Vec::new(),
            content: XxHash32::with_seed(0),
            content_bytes: 0,
            begin: 0,
            first_frame: true,
        }
    }

    fn magic(&mut self, input: &[u8], at: u64) -> Result<usize> {
        if self.field.is_empty() {
            self.begin = at;
        }
        let read = self.field.gather(input, 4);
        let Some(bytes) = self.field.take(4) else { return Ok(read) };
        self.phase = match word(&bytes) {
            MAGIC => Phase::Descriptor,
            magic if magic & !0xF == MAGIC_SKIPPABLE => Phase::SkipLength,
            MAGIC_LEGACY => {
                let error = Error::new(Code::Input, "this is lz4's legacy format, which has no end and no checksum");
                return Err(error.at_offset(self.begin).hint("compress the file again with lz4, without -l"));
            }
            _ => return Err(not_this_format(KIND, self.first_frame).at_offset(self.begin)),
        };
        self.first_frame = false;
        Ok(read)
    }

    fn descriptor(&mut self, input: &[u8], at: u64) -> Result<usize> {
        let mut read = self.field.gather(input, 2);
        let Some(&[flags, sizes]) = self.field.peek(2).and_then(|b| b.first_chunk::<2>()) else { return Ok(read) };
        let has = |bit: u8| flags & 1 << bit != 0;
        let total = 2 + if has(3) { 8 } else { 0 } + if has(0) { 4 } else { 0 } + 1;
        read += self.field.gather(&input[read..], total);
        let Some(bytes) = self.field.take(total) else { return Ok(read) };
        let bytes = &bytes[..total];
        if (xxh32(&bytes[..total - 1]) >> 8) as u8 != bytes[total - 1] {
            return Err(mismatch("the header of the lz4 data").at_offset(at + read as u64 - 1));
        }
        // Undefined version, reserved bits and sizes.
        if flags >> 6 != 1 || has(1) || sizes & 0x8F != 0 || sizes >> 4 < 4 {
            let error = Error::new(Code::Input, "this lz4 data uses something that the lz4 format has not defined yet");
            return Err(error.at_offset(self.begin).hint("compress the file again with the tool lz4"));
        }
        if has(0) {
            let error = Error::new(Code::Input, "this lz4 data needs a dictionary");
            return Err(error.at_offset(self.begin).hint("compress the file again without a dictionary"));
        }
        let block_bytes = 1usize << (8 + 2 * (sizes >> 4));
        let needed = 2 * block_bytes as u64 + HISTORY_BYTES as u64;
        if needed > self.memory_limit_bytes {
            return Err(too_little_memory(KIND, needed, self.memory_limit_bytes).at_offset(self.begin));
        }
        self.header = Header {
            linked: !has(5),
            block_checksums: has(4),
            content_checksum: has(2),
            content_bytes: has(3).then(|| u64::from_le_bytes(bytes[2..10].try_into().expect("eight bytes"))),
            block_bytes,
        };
        self.history.clear();
        self.content = XxHash32::with_seed(0);
        self.content_bytes = 0;
        self.phase = Phase::BlockLength;
        Ok(read)
    }

    fn block_length(&mut self, input: &[u8], at: u64) -> Result<usize> {
        let read = self.field.gather(input, 4);
        let Some(bytes) = self.field.take(4) else { return Ok(read) };
        let here = at + read as u64 - 4;
        let (length, stored) = (word(&bytes) & !STORED, word(&bytes) & STORED != 0);
        if length == 0 && !stored {
            if self.header.content_bytes.is_some_and(|n| n != self.content_bytes) {
                return Err(corrupt(KIND, "the length of the lz4 data does not match").at_offset(here));
            }
            self.phase = if self.header.content_checksum { Phase::End } else { Phase::Magic };
            return Ok(read);
        }
        if length as usize > self.header.block_bytes {
            return Err(corrupt(KIND, "a block of the lz4 data is longer than its header allows").at_offset(here));
        }
        self.block.clear();
        self.phase = Phase::Block { length, stored };
        Ok(read)
    }

    fn block(&mut self, input: &[u8], length: usize, stored: bool, at: u64) -> Result<usize> {
        let take = input.len().min(length - self.block.len());
        // A block in one input is not copied.
        if take == length && !self.header.block_checksums {
            self.decode(&input[..take], stored, at)?;
            return Ok(take);
        }
        self.block.extend_from_slice(&input[..take]);
        if self.block.len() == length {
            if self.header.block_checksums {
                self.phase = Phase::BlockChecksum { stored };
            } else {
                self.decode_gathered(stored, at + take as u64)?;
            }
        }
        Ok(take)
    }

    fn decode_gathered(&mut self, stored: bool, end: u64) -> Result<()> {
        let block = std::mem::take(&mut self.block);
        let decoded = self.decode(&block, stored, end.saturating_sub(block.len() as u64));
        self.block = block;
        decoded
    }

    /// Decodes a block.
    fn decode(&mut self, block: &[u8], stored: bool, at: u64) -> Result<()> {
        let header = self.header;
        self.raw.resize(header.block_bytes, 0);
        let decoded = match (stored, header.linked) {
            (true, _) => {
                self.raw[..block.len()].copy_from_slice(block);
                Ok(block.len())
            }
            (false, false) => decompress_into(block, &mut self.raw),
            (false, true) => decompress_into_with_dict(block, &mut self.raw, &self.history),
        };
        let n = decoded
            .map_err(|error| corrupt(KIND, format!("a block of the lz4 data is damaged ({error})")).at_offset(at))?;
        self.raw.truncate(n);
        self.at = 0;
        self.content_bytes += n as u64;
        if header.content_checksum {
            self.content.write(&self.raw);
        }
        if header.linked {
            let keep = HISTORY_BYTES.saturating_sub(n).min(self.history.len());
            self.history.drain(..self.history.len() - keep);
            self.history.extend_from_slice(&self.raw[n.saturating_sub(HISTORY_BYTES)..]);
        }
        self.phase = Phase::BlockLength;
        Ok(())
    }
}

impl BlockByBlock for Lz4Frame {
    fn decoded(&mut self) -> (&[u8], &mut usize) {
        (&self.raw, &mut self.at)
    }

    /// Reads one field or a part of it; `at` is the offset of `input[0]`.
    fn advance(&mut self, input: &[u8], at: u64) -> Result<usize> {
        match self.phase {
            Phase::Magic => self.magic(input, at),
            Phase::SkipLength => {
                let read = self.field.gather(input, 4);
                if let Some(bytes) = self.field.take(4) {
                    self.phase = skip(word(&bytes));
                }
                Ok(read)
            }
            Phase::Skip { left } => {
                let read = input.len().min(left as usize);
                self.phase = skip(left - read as u32);
                Ok(read)
            }
            Phase::Descriptor => self.descriptor(input, at),
            Phase::BlockLength => self.block_length(input, at),
            Phase::Block { length, stored } => self.block(input, length as usize, stored, at),
            Phase::BlockChecksum { stored } => {
                let read = self.field.gather(input, 4);
                if let Some(bytes) = self.field.take(4) {
                    let here = at + read as u64 - 4;
                    if word(&bytes) != xxh32(&self.block) {
                        return Err(mismatch("a block of the lz4 data").at_offset(here));
                    }
                    self.decode_gathered(stored, here)?;
                }
                Ok(read)
            }
            Phase::End => {
                let read = self.field.gather(input, 4);
                if let Some(bytes) = self.field.take(4) {
                    if word(&bytes) != self.content.finish() as u32 {
                        return Err(mismatch("the lz4 data").at_offset(at + read as u64 - 4));
                    }
                    self.phase = Phase::Magic;
                }
                Ok(read)
            }
        }
    }

    fn may_end(&self) -> bool {
        matches!(self.phase, Phase::Magic) && self.field.is_empty()
    }
}

impl Format for Lz4Frame {
    const KIND: CodecKind = KIND;

    fn step(&mut self, input: &[u8], output: &mut [u8], at: u64) -> Result<Step> {
        block_by_block::step(self, input, output, at)
    }
}

fn skip(left: u32) -> Phase {
    if left == 0 { Phase::Magic } else { Phase::Skip { left } }
}

fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Returns the checksum of all parts of the format.
pub fn xxh32(bytes: &[u8]) -> u32 {
    XxHash32::oneshot(0, bytes)
}

fn mismatch(of: &str) -> Error {
    corrupt(KIND, format!("the checksum of {of} does not match"))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{check, check_error, decode_all, encode, text};
    use super::*;
    use std::ops::RangeInclusive;

    /// `printf 'cloud ladder\n' | lz4 -c`
    const PLAIN: &[u8] = &[
        0x04, 0x22, 0x4D, 0x18, 0x64, 0x40, 0xA7, 0x0D, 0x00, 0x00, 0x80, 0x63, 0x6C, 0x6F, 0x75, 0x64, 0x20, 0x6C,
        0x61, 0x64, 0x64, 0x65, 0x72, 0x0A, 0x00, 0x00, 0x00, 0x00, 0xAD, 0x24, 0x82, 0xBB,
    ];
    /// `printf 'cloud ladder\n' | lz4 -c -BX`: with a checksum of each block.
    const CHECKED: &[u8] = &[
        0x04, 0x22, 0x4D, 0x18, 0x74, 0x40, 0xBD, 0x0D, 0x00, 0x00, 0x80, 0x63, 0x6C, 0x6F, 0x75, 0x64, 0x20, 0x6C,
        0x61, 0x64, 0x64, 0x65, 0x72, 0x0A, 0xAD, 0x24, 0x82, 0xBB, 0x00, 0x00, 0x00, 0x00, 0xAD, 0x24, 0x82, 0xBB,
    ];
    const SKIPPABLE: &[u8] = &[0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3];
    const TEXT: &[u8] = b"cloud ladder\n";

    #[test]
    fn decodes_concatenated_frames() {
        check(KIND, PLAIN, TEXT);
        check(KIND, CHECKED, TEXT);
        check(KIND, &[SKIPPABLE, PLAIN, SKIPPABLE, CHECKED, PLAIN, SKIPPABLE].concat(), &TEXT.repeat(3));
        check(KIND, &[&SKIPPABLE[..4], &[0; 4], PLAIN].concat(), TEXT);
    }

    #[test]
    fn names_each_fault_and_its_offset() {
        let n = PLAIN.len();
        let change = |frame: &[u8], at: usize, value: u8| {
            let mut file = [PLAIN, frame].concat();
            file[n + at] = value;
            file
        };
        let u = |at: usize| at as u64..=at as u64;
        let table: &[(&[u8], Code, &str, RangeInclusive<u64>)] = &[
            (b"text and more", Code::Corrupt, "this is not lz4 data", 4..=4),
            (b"\x04\x22\x4D", Code::Corrupt, "the lz4 data is cut short", 3..=3),
            (
                &[PLAIN, b"text"].concat(),
                Code::Corrupt,
                "the lz4 data is followed by bytes that are not lz4 data",
                u(n),
            ),
            (
                &change(PLAIN, 6, 0),
                Code::Corrupt,
                "the checksum of the header of the lz4 data does not match",
                u(n + 6),
            ),
            (&change(PLAIN, 28, 0), Code::Corrupt, "the checksum of the lz4 data does not match", u(n + 28)),
            (&change(PLAIN, 12, 0), Code::Corrupt, "the checksum of the lz4 data does not match", u(n + 28)),
            (
                &change(CHECKED, 12, 0),
                Code::Corrupt,
                "the checksum of a block of the lz4 data does not match",
                u(n + 24),
            ),
            (
                &change(PLAIN, 9, 0x80),
                Code::Corrupt,
                "a block of the lz4 data is longer than its header allows",
                u(n + 7),
            ),
            (
                &[0x02, 0x21, 0x4C, 0x18, 1, 0, 0, 0, 0],
                Code::Input,
                "this is lz4's legacy format, which has no end and no checksum",
                0..=0,
            ),
        ];
        for (file, code, what, offset) in table {
            check_error(KIND, file, *code, what, offset.clone());
        }
    }

    #[test]
    fn enforces_the_limit() {
        let file = encode(KIND, &text(1000));
        let error = decode_all(KIND, 500_000, &file, (file.len(), 2000)).unwrap_err();
        assert_eq!((error.code(), error.offset()), (Code::Memory, Some(0)), "{error}");
        assert!(decode_all(KIND, 600_000, &file, (7, 2000)).is_ok());
    }
}
