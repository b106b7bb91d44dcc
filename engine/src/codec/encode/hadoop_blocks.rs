//! Hadoop's framing of snappy and lz4 (`codec/framing/hadoop_blocks.rs` has its drawing), with one chunk a block.

use super::super::lz4_block;
use super::{Encoder, failed, in_blocks};
use yunti_base::Result;

/// A block's raw bytes, at most: two windows of either format. Larger ones gained no ratio.
const BLOCK_BYTES: usize = 128 << 10;

/// Hadoop's `io.compression.codec.*.buffersize`, where nobody has set them.
pub const HADOOP_BUFFER_BYTES: usize = 256 << 10;

enum Raw {
    Snappy(Box<snap::raw::Encoder>),
    Lz4(lz4_block::Compressor),
}

pub struct HadoopBlocks {
    codec: Raw,
    raw: Vec<u8>,
    packed: Vec<u8>,
    block_bytes: usize,
    /// The member has a block.
    begun: bool,
}

/// What Hadoop's compressors take for blocks that grow: no more raw bytes than fit a direct buffer with this beside them.
fn block_bytes(buffer_bytes: usize) -> usize {
    (buffer_bytes - (buffer_bytes / 6 + 32).min(buffer_bytes)).clamp(1, BLOCK_BYTES)
}

impl HadoopBlocks {
    pub fn snappy(buffer_bytes: usize) -> HadoopBlocks {
        Self::new(Raw::Snappy(Box::new(snap::raw::Encoder::new())), buffer_bytes)
    }

    pub fn lz4(buffer_bytes: usize) -> HadoopBlocks {
        Self::new(Raw::Lz4(lz4_block::Compressor::new()), buffer_bytes)
    }

    fn new(codec: Raw, buffer_bytes: usize) -> HadoopBlocks {
        let block_bytes = block_bytes(buffer_bytes);
        HadoopBlocks { codec, raw: Vec::new(), packed: Vec::new(), block_bytes, begun: false }
    }

    fn block(codec: &mut Raw, packed: &mut Vec<u8>, raw: &[u8], out: &mut Vec<u8>) -> Result<()> {
        packed.clear();
        match codec {
            Raw::Snappy(encoder) => {
                packed.resize(snap::raw::max_compress_len(raw.len()), 0);
                let n = encoder.compress(raw, packed).map_err(|e| failed("snappy", e))?;
                packed.truncate(n);
            }
            Raw::Lz4(compressor) => compressor.compress_append(raw, packed),
        }
        out.extend_from_slice(&(raw.len() as u32).to_be_bytes());
        out.extend_from_slice(&(packed.len() as u32).to_be_bytes());
        out.extend_from_slice(packed);
        Ok(())
    }
}

impl Encoder for HadoopBlocks {
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let HadoopBlocks { codec, raw, packed, block_bytes, begun } = self;
        *begun |= !bytes.is_empty();
        in_blocks(raw, bytes, *block_bytes, |block| Self::block(codec, packed, block, out))
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if !self.raw.is_empty() {
            Self::block(&mut self.codec, &mut self.packed, &self.raw, out)?;
            self.raw.clear();
        }
        if !std::mem::take(&mut self.begun) {
            // As Hadoop: nothing is a block of nothing.
            out.extend_from_slice(&0u32.to_be_bytes());
        }
        Ok(())
    }
}
