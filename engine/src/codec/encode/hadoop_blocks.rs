//! The encoder of Hadoop's framing of snappy and lz4 (drawn in `codec/framing/hadoop_blocks.rs`), with one chunk per
//! block.

use super::super::lz4_block;
use super::{Encoder, failed, in_blocks};
use yunti_base::Result;

/// Raw bytes of a block, at most: two windows of either format. Larger blocks gained no ratio.
const BLOCK_BYTES: usize = 128 << 10;

/// Default of Hadoop's `io.compression.codec.*.buffersize`, in bytes.
pub const HADOOP_BUFFER_BYTES: usize = 256 << 10;

enum Raw {
    Snappy(Box<snap::raw::Encoder>),
    Lz4(lz4_block::Compressor),
}

/// Encoder of Hadoop's blocks.
pub struct HadoopBlocks {
    codec: Raw,
    raw: Vec<u8>,
    packed: Vec<u8>,
    block_bytes: usize,
    /// Set when the member has a block.
    begun: bool,
}

/// Bytes that Hadoop's compressors reserve for blocks that grow: raw bytes and this reserve must fit in a direct
/// buffer.
fn block_bytes(buffer_bytes: usize) -> usize {
    (buffer_bytes - (buffer_bytes / 6 + 32).min(buffer_bytes)).clamp(1, BLOCK_BYTES)
}

impl HadoopBlocks {
    /// Returns an encoder of snappy blocks for direct buffers of `buffer_bytes`.
    pub fn snappy(buffer_bytes: usize) -> HadoopBlocks {
        Self::new(Raw::Snappy(Box::new(snap::raw::Encoder::new())), buffer_bytes)
    }

    /// Returns an encoder of lz4 blocks for direct buffers of `buffer_bytes`.
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
            // As in Hadoop, an empty member is one empty block.
            out.extend_from_slice(&0u32.to_be_bytes());
        }
        Ok(())
    }
}
