//! Hadoop's framing (BlockCompressorStream) of codecs without their own streams: snappy and lz4.
//!
//! ```text
//!   block:  raw bytes: u32    chunk chunk ..     up to the raw length; big-endian
//!   chunk:  compressed bytes: u32    a raw block of the codec
//!   file:   block ..                             a block of 0 bytes has no chunk
//! ```
//!
//! There is no checksum and no end mark: a file may end behind any block.

use lz4_flex::block::{DecompressError, decompress_into};

use super::super::field::Field;
use super::super::{CodecKind, Step, corrupt, not_this_format, too_little_memory};
use super::block_by_block::{self, BlockByBlock};
use super::snappy_frame;
use yunti_base::Result;

/// Bytes of a chunk, at most; a larger length is not a chunk. Hadoop's buffers are 256 KiB by default.
const CHUNK_BYTES_MAX: u32 = 64 << 20;
/// Raw bytes of an lz4 chunk to try first; the chunk does not contain its raw length.
const LZ4_RAW_BYTES: usize = 256 << 10;

/// Codec of the chunks.
#[derive(Clone, Copy)]
pub enum RawCodec {
    Snappy,
    Lz4,
}

impl RawCodec {
    fn kind(self) -> CodecKind {
        match self {
            RawCodec::Snappy => CodecKind::Snappy,
            RawCodec::Lz4 => CodecKind::Lz4,
        }
    }
}

/// Decoder of Hadoop's blocks.
pub struct HadoopBlocks {
    codec: RawCodec,
    memory_limit_bytes: u64,
    phase: Phase,
    field: Field<4>,
    /// Raw bytes of the block that are missing.
    block_left: u32,
    /// Stored chunk, if it is spread over several inputs.
    chunk: Vec<u8>,
    /// Decoded chunk; [at..] is not copied out yet.
    raw: Vec<u8>,
    at: usize,
    /// Set when a chunk was decoded: the format is certain.
    known: bool,
    begun: bool,
}

#[derive(Clone, Copy)]
enum Phase {
    Block,
    ChunkLength,
    Chunk { length: usize },
}

impl HadoopBlocks {
    /// Returns a decoder that uses at most `memory_limit_bytes`.
    pub fn new(codec: RawCodec, memory_limit_bytes: u64) -> Self {
        HadoopBlocks {
            codec,
            memory_limit_bytes,
            phase: Phase::Block,
            field: Field::default(),
            block_left: 0,
            chunk: Vec::new(),
            raw: Vec::new(),
            at: 0,
            known: false,
            begun: false,
        }
    }

    fn chunk(&mut self, input: &[u8], length: usize, at: u64) -> Result<usize> {
        let take = input.len().min(length - self.chunk.len());
        // A chunk in one input is not copied.
        if take == length {
            self.decode(&input[..take]).map_err(|e| e.at_offset(at))?;
            return Ok(take);
        }
        self.chunk.extend_from_slice(&input[..take]);
        if self.chunk.len() == length {
            let chunk = std::mem::take(&mut self.chunk);
            let decoded = self.decode(&chunk);
            self.chunk = chunk;
            decoded.map_err(|e| e.at_offset((at + take as u64).saturating_sub(length as u64)))?;
        }
        Ok(take)
    }

    /// Decodes a chunk.
    fn decode(&mut self, chunk: &[u8]) -> Result<()> {
        let kind = self.codec.kind();
        let room = (self.memory_limit_bytes - chunk.len() as u64).min(u64::from(self.block_left)) as usize;
        self.at = 0;
        self.raw.clear();
        match self.codec {
            RawCodec::Snappy => {
                let n = snap::raw::decompress_len(chunk).unwrap_or(0);
                if n > room && n <= self.block_left as usize {
                    return Err(too_little_memory(kind, (n + chunk.len()) as u64, self.memory_limit_bytes));
                }
                snappy_frame::decompress(chunk, room, &mut self.raw)?;
            }
            RawCodec::Lz4 => self.decode_lz4(chunk, room)?,
        }
        if self.raw.is_empty() {
            return Err(corrupt(kind, format!("a chunk of the {} data is empty", kind.name())));
        }
        self.known = true;
        self.block_left -= self.raw.len() as u32;
        self.phase = if self.block_left == 0 { Phase::Block } else { Phase::ChunkLength };
        Ok(())
    }

    fn decode_lz4(&mut self, chunk: &[u8], room: usize) -> Result<()> {
        let kind = self.codec.kind();
        let mut bytes = LZ4_RAW_BYTES.min(room);
        loop {
            self.raw.resize(bytes, 0);
            match decompress_into(chunk, &mut self.raw) {
                Ok(n) => {
                    self.raw.truncate(n);
                    return Ok(());
                }
                Err(DecompressError::OutputTooSmall { .. }) if bytes < room => bytes = (2 * bytes).min(room),
                Err(DecompressError::OutputTooSmall { .. }) if room < self.block_left as usize => {
                    let needed = 2 * room as u64 + chunk.len() as u64;
                    return Err(too_little_memory(kind, needed, self.memory_limit_bytes));
                }
                Err(error) => return Err(corrupt(kind, format!("a block of the lz4 data is damaged ({error})"))),
            }
        }
    }

    /// See `Format::step`.
    pub fn step(&mut self, input: &[u8], output: &mut [u8], at: u64) -> Result<Step> {
        block_by_block::step(self, input, output, at)
    }
}

impl BlockByBlock for HadoopBlocks {
    fn decoded(&mut self) -> (&[u8], &mut usize) {
        (&self.raw, &mut self.at)
    }

    fn advance(&mut self, input: &[u8], at: u64) -> Result<usize> {
        if let Phase::Chunk { length } = self.phase {
            return self.chunk(input, length, at);
        }
        let read = self.field.gather(input, 4);
        let Some(bytes) = self.field.take(4) else { return Ok(read) };
        let here = (at + read as u64).saturating_sub(4);
        let number = u32::from_be_bytes(bytes);
        let kind = self.codec.kind();
        let strange = || match self.known {
            true => corrupt(kind, format!("a length in the {} data is out of range", kind.name())),
            false => not_this_format(kind, true),
        };
        self.begun = true;
        self.phase = match self.phase {
            Phase::Block if number > i32::MAX as u32 => return Err(strange().at_offset(here)),
            Phase::Block if number == 0 => Phase::Block,
            Phase::Block => {
                self.block_left = number;
                Phase::ChunkLength
            }
            _ if number == 0 || number > CHUNK_BYTES_MAX => return Err(strange().at_offset(here)),
            _ if u64::from(number) > self.memory_limit_bytes => {
                return Err(too_little_memory(kind, u64::from(number), self.memory_limit_bytes).at_offset(here));
            }
            _ => {
                self.chunk.clear();
                Phase::Chunk { length: number as usize }
            }
        };
        Ok(read)
    }

    fn may_end(&self) -> bool {
        matches!(self.phase, Phase::Block) && self.field.is_empty() && self.begun
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::{check, check_error, decode_all};
    use super::*;
    use std::ops::RangeInclusive;
    use yunti_base::Code;

    /// The text in one chunk, all literals.
    const SNAPPY: &[u8] = b"\0\0\0\x0D\0\0\0\x0F\x0D\x30cloud ladder\n";
    const LZ4: &[u8] = b"\0\0\0\x0D\0\0\0\x0E\xD0cloud ladder\n";
    const TEXT: &[u8] = b"cloud ladder\n";

    #[test]
    fn decodes_concatenated_blocks_and_chunks() {
        for (kind, block) in [(CodecKind::Snappy, SNAPPY), (CodecKind::Lz4, LZ4)] {
            check(kind, block, TEXT);
            check(kind, &[block, &[0; 4], block].concat(), &TEXT.repeat(2));
            check(kind, &[0; 4], b"");
            // A block of three chunks, as Hadoop writes data larger than its buffer.
            let chunks = [b"\0\0\0\x27", &block[4..], &block[4..], &block[4..]].concat();
            check(kind, &chunks, &TEXT.repeat(3));
        }
    }

    #[test]
    fn names_each_fault_and_its_offset() {
        for (kind, block) in [(CodecKind::Snappy, SNAPPY), (CodecKind::Lz4, LZ4)] {
            let (n, name) = (block.len() as u64, kind.name());
            let damaged = match kind {
                CodecKind::Snappy => "a block of the snappy data is damaged (it holds more than it may)",
                _ => {
                    "a block of the lz4 data is damaged \
                     (provided output is too small for the decompressed data, actual 12, expected 13)"
                }
            };
            let table: &[(&[u8], &str, RangeInclusive<u64>)] = &[
                (b"plain text", &format!("this is not {name} data"), 4..=4),
                (b"\xFF\xFF\xFF\xFFplain", &format!("this is not {name} data"), 0..=0),
                (&block[..15], &format!("the {name} data is cut short"), 15..=15),
                (&[block, b"\0"].concat(), &format!("the {name} data is cut short"), n + 1..=n + 1),
                (
                    &[block, b"\0\0\0\x01\0\0\0\0"].concat(),
                    &format!("a length in the {name} data is out of range"),
                    n + 4..=n + 4,
                ),
                (&[b"\0\0\0\x0C", &block[4..]].concat(), damaged, 8..=8),
            ];
            for (file, what, offset) in table {
                check_error(kind, file, Code::Corrupt, what, offset.clone());
            }
        }
    }

    #[test]
    fn enforces_the_limit() {
        // One chunk of 1 MB that compresses to few bytes.
        let data = vec![7; 1 << 20];
        let lz4 = lz4_flex::block::compress(&data);
        let snappy = snap::raw::Encoder::new().compress_vec(&data).unwrap();
        for (kind, chunk) in [(CodecKind::Lz4, lz4), (CodecKind::Snappy, snappy)] {
            let lengths = [(data.len() as u32).to_be_bytes(), (chunk.len() as u32).to_be_bytes()];
            let file = [lengths.as_flattened(), &chunk].concat();
            let error = decode_all(kind, 1 << 19, &file, (file.len(), 2000)).unwrap_err();
            assert_eq!((error.code(), error.offset()), (Code::Memory, Some(8)), "{error}");
            assert!(decode_all(kind, 3 << 20, &file, (7, 2000)).unwrap() == data);
        }
    }
}
