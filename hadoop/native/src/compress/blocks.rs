//! Hadoop's framing of codecs that have no stream of their own (BlockCompressorStream).
//!
//! ```text
//!   | raw bytes of the block: u32 | compressed bytes: u32 | a raw-format block |   ...   big-endian
//! ```

use yunti_engine::base::Result;
use yunti_engine::codec::lz4_block;

use super::{Compressor, failed};

/// A block's raw bytes, at most: two windows of either format. Larger ones gained no ratio.
const BLOCK_BYTES: usize = 128 << 10;

enum Format {
    Snappy(Box<snap::raw::Encoder>),
    Lz4(lz4_block::Compressor),
}

pub struct Blocks {
    format: Format,
    raw: Vec<u8>,
    packed: Vec<u8>,
    block_bytes: usize,
}

/// What Hadoop's compressors take for blocks that grow: no more raw bytes than fit a direct buffer with this beside them.
fn block_bytes(buffer_bytes: usize) -> usize {
    (buffer_bytes - (buffer_bytes / 6 + 32).min(buffer_bytes)).clamp(1, BLOCK_BYTES)
}

impl Blocks {
    pub fn snappy(buffer_bytes: usize) -> Blocks {
        Self::new(Format::Snappy(Box::new(snap::raw::Encoder::new())), buffer_bytes)
    }

    pub fn lz4(buffer_bytes: usize) -> Blocks {
        Self::new(Format::Lz4(lz4_block::Compressor::new()), buffer_bytes)
    }

    fn new(format: Format, buffer_bytes: usize) -> Blocks {
        Blocks { format, raw: Vec::new(), packed: Vec::new(), block_bytes: block_bytes(buffer_bytes) }
    }

    fn block(format: &mut Format, packed: &mut Vec<u8>, raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
        packed.clear();
        match format {
            Format::Snappy(encoder) => {
                packed.resize(snap::raw::max_compress_len(raw.len()), 0);
                let n = encoder.compress(raw, packed).map_err(|e| failed("snappy", e))?;
                packed.truncate(n);
            }
            Format::Lz4(compressor) => compressor.compress_append(raw, packed),
        }
        out.extend_from_slice(&(raw.len() as u32).to_be_bytes());
        out.extend_from_slice(&(packed.len() as u32).to_be_bytes());
        out.extend_from_slice(packed);
        Ok(())
    }
}

impl Compressor for Blocks {
    fn write(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let Blocks { format, raw, packed, block_bytes } = self;
        if !raw.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(*block_bytes - raw.len()));
            raw.extend_from_slice(now);
            bytes = rest;
            if raw.len() < *block_bytes {
                return Ok(());
            }
            Self::block(format, packed, raw, out)?;
            raw.clear();
        }
        let mut chunks = bytes.chunks_exact(*block_bytes);
        for block in &mut chunks {
            Self::block(format, packed, block, out)?;
        }
        raw.extend_from_slice(chunks.remainder());
        Ok(())
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if !self.raw.is_empty() {
            Self::block(&mut self.format, &mut self.packed, &self.raw, out)?;
            self.raw.clear();
        }
        Ok(())
    }
}
