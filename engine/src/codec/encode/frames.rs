//! Encoders of the tools' own frames around blocks of lz4 and snappy (drawn in `codec/framing/`).

use std::hash::Hasher;

use twox_hash::XxHash32;

use super::super::framing::{lz4_frame, snappy_frame};
use super::super::lz4_block;
use super::{Encoder, failed, in_blocks};
use yunti_base::Result;

/// Size of lz4 blocks: its number in the format, and its bytes. Blocks do not refer to others, so that they can be
/// decoded in parallel. Larger blocks gain 1 % on text.
const LZ4_BLOCK: (u8, usize) = (5, 256 << 10);
/// Version 1, independent blocks, a checksum of the content.
const LZ4_FLAGS: u8 = 0b0110_0100;
/// Bit of a length: the block is stored as it is.
const STORED: u32 = 1 << 31;

/// Encoder of lz4 frames.
pub struct Lz4Frames {
    compressor: lz4_block::Compressor,
    raw: Vec<u8>,
    packed: Vec<u8>,
    content: XxHash32,
    begun: bool,
}

impl Lz4Frames {
    /// Returns an encoder.
    pub fn new() -> Lz4Frames {
        Lz4Frames {
            compressor: lz4_block::Compressor::new(),
            raw: Vec::new(),
            packed: vec![0; lz4_block::compressed_bytes_max(LZ4_BLOCK.1)],
            content: XxHash32::with_seed(0),
            begun: false,
        }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if !self.begun {
            self.begun = true;
            self.content = XxHash32::with_seed(0);
            let descriptor = [LZ4_FLAGS, LZ4_BLOCK.0 << 4];
            out.extend(lz4_frame::MAGIC.to_le_bytes());
            out.extend(descriptor);
            out.push((lz4_frame::xxh32(&descriptor) >> 8) as u8);
        }
    }

    fn block(&mut self, raw: &[u8], out: &mut Vec<u8>) {
        self.content.write(raw);
        let n = self.compressor.compress(raw, &mut self.packed);
        let (length, block) = match n < raw.len() {
            true => (n as u32, &self.packed[..n]),
            false => (raw.len() as u32 | STORED, raw),
        };
        out.extend(length.to_le_bytes());
        out.extend_from_slice(block);
    }
}

impl Encoder for Lz4Frames {
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.begin(out);
        let mut raw = std::mem::take(&mut self.raw);
        in_blocks(&mut raw, bytes, LZ4_BLOCK.1, |block| {
            self.block(block, out);
            Ok(())
        })?;
        self.raw = raw;
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.begin(out);
        let mut raw = std::mem::take(&mut self.raw);
        if !raw.is_empty() {
            self.block(&raw, out);
        }
        raw.clear();
        self.raw = raw;
        out.extend(0u32.to_le_bytes());
        out.extend((self.content.finish() as u32).to_le_bytes());
        self.begun = false;
        Ok(())
    }
}

/// Encoder of snappy's framing format.
pub struct SnappyFrames {
    encoder: Box<snap::raw::Encoder>,
    raw: Vec<u8>,
    packed: Vec<u8>,
    begun: bool,
}

impl SnappyFrames {
    /// Returns an encoder.
    pub fn new() -> SnappyFrames {
        SnappyFrames {
            encoder: Box::new(snap::raw::Encoder::new()),
            raw: Vec::new(),
            packed: vec![0; snap::raw::max_compress_len(snappy_frame::CHUNK_BYTES)],
            begun: false,
        }
    }

    fn begin(&mut self, out: &mut Vec<u8>) {
        if !self.begun {
            self.begun = true;
            out.extend(snappy_frame::IDENTIFIER);
        }
    }

    fn chunk(&mut self, raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let n = self.encoder.compress(raw, &mut self.packed).map_err(|e| failed("snappy", e))?;
        // As the format's description recommends: savings under an eighth are not worth decoding.
        let (kind, data) = match n < raw.len() - raw.len() / 8 {
            true => (0, &self.packed[..n]),
            false => (1, raw),
        };
        let [a, b, c, _] = (data.len() as u32 + 4).to_le_bytes();
        out.extend([kind, a, b, c]);
        out.extend(snappy_frame::masked_crc(raw).to_le_bytes());
        out.extend_from_slice(data);
        Ok(())
    }
}

impl Encoder for SnappyFrames {
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.begin(out);
        let mut raw = std::mem::take(&mut self.raw);
        in_blocks(&mut raw, bytes, snappy_frame::CHUNK_BYTES, |chunk| self.chunk(chunk, out))?;
        self.raw = raw;
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.begin(out);
        let mut raw = std::mem::take(&mut self.raw);
        if !raw.is_empty() {
            self.chunk(&raw, out)?;
        }
        raw.clear();
        self.raw = raw;
        self.begun = false;
        Ok(())
    }
}
