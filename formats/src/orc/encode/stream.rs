//! Bytes of a stream of the open stripe: compressed as soon as a block is full.

use yunti_api::{Result, fail};

use crate::orc::store::Codec;

/// Plain bytes of a block.
pub const BLOCK_BYTES: usize = 256 << 10;
/// Level of zstd and of zlib: fast, as in the other formats.
const ZSTD_LEVEL: i32 = 1;
const ZLIB_LEVEL: u32 = 4;

/// Encoder of blocks.
pub struct Packer {
    pub codec: Codec,
    zstd: zstd::bulk::Compressor<'static>,
}

impl Packer {
    /// Returns the encoder of a codec's name. Fails for an unknown one.
    pub fn named(name: &str) -> Result<Packer> {
        const CODECS: [Codec; 5] = [Codec::Zstd, Codec::None, Codec::Zlib, Codec::Snappy, Codec::Lz4];
        let Some(codec) = CODECS.into_iter().find(|codec| codec.name() == name) else {
            return fail(format!("orc.compression={name}: use zstd, none, zlib, snappy or lz4"));
        };
        let zstd = zstd::bulk::Compressor::new(ZSTD_LEVEL)?;
        Ok(Packer { codec, zstd })
    }

    /// Appends plain bytes as blocks.
    pub fn pack(&mut self, plain: &[u8], to: &mut Vec<u8>) -> Result<()> {
        if self.codec == Codec::None {
            to.extend_from_slice(plain);
            return Ok(());
        }
        for block in plain.chunks(BLOCK_BYTES) {
            let packed = match self.codec {
                Codec::Zstd => self.zstd.compress(block)?,
                Codec::Zlib => deflated(block)?,
                Codec::Snappy => snap::raw::Encoder::new().compress_vec(block)?,
                Codec::Lz4 => lz4_flex::block::compress(block),
                Codec::None => Vec::new(),
            };
            let (is_plain, bytes) = if packed.len() < block.len() { (0, &packed[..]) } else { (1, block) };
            to.extend_from_slice(&((bytes.len() as u32) << 1 | is_plain).to_le_bytes()[..3]);
            to.extend_from_slice(bytes);
        }
        Ok(())
    }
}

fn deflated(block: &[u8]) -> Result<Vec<u8>> {
    use std::io::Write;
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(ZLIB_LEVEL));
    encoder.write_all(block)?;
    Ok(encoder.finish()?)
}

/// A stream of the open stripe.
#[derive(Default)]
pub struct OutStream {
    pub plain: Vec<u8>,
    packed: Vec<u8>,
}

impl OutStream {
    /// Compresses blocks that are full.
    pub fn settle(&mut self, packer: &mut Packer) -> Result<()> {
        let full = self.plain.len() / BLOCK_BYTES * BLOCK_BYTES;
        if full > 0 {
            packer.pack(&self.plain[..full], &mut self.packed)?;
            self.plain.drain(..full);
        }
        Ok(())
    }

    /// Takes all bytes of the stream, compressed.
    pub fn take(&mut self, packer: &mut Packer) -> Result<Vec<u8>> {
        packer.pack(&self.plain, &mut self.packed)?;
        self.plain.clear();
        Ok(std::mem::take(&mut self.packed))
    }

    /// Returns the memory of the stream.
    pub fn bytes(&self) -> usize {
        self.plain.len() + self.packed.len()
    }
}
