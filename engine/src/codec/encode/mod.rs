//! Encoders: bytes into whole compressed files that the field's tools and Hadoop read.
//!
//! ```text
//!   write, write, ..  finish        write, ..  finish
//!   [      one member      ]        [  the next     ]       one behind the other they are a file too
//! ```
//!
//! A worker compresses what it writes by itself: what several workers write to one file are members of it, put together in order.
//! Every format takes that, and every reader of it, since files have been put together by cat(1) for as long as there are formats.

mod bzip2;
mod flate;
mod frames;
mod hadoop_blocks;
mod xz;
mod zstd;

pub use hadoop_blocks::HADOOP_BUFFER_BYTES;
use yunti_base::{Code, Error, Result};

/// Makes compressed members. Call order: `write` any number of times, then `finish` once; then the next member begins.
pub trait Encoder: Send {
    /// Takes bytes; appends to `out` what is ready.
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()>;
    /// Ends the member.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()>;
}

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Gzip,
    Zstd,
    Bzip2,
    Xz,
    /// lz4's own frames.
    Lz4,
    /// Snappy's framing format.
    Snappy,
    /// lz4 in the blocks of Hadoop's Lz4Codec.
    HadoopLz4,
    /// Snappy in the blocks of Hadoop's SnappyCodec.
    HadoopSnappy,
    /// zlib's streams, as Hadoop's DefaultCodec.
    Deflate,
}

impl Target {
    pub const ALL: [Target; 9] = [
        Target::Gzip,
        Target::Zstd,
        Target::Bzip2,
        Target::Xz,
        Target::Lz4,
        Target::Snappy,
        Target::HadoopLz4,
        Target::HadoopSnappy,
        Target::Deflate,
    ];

    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Target::Gzip => "gzip",
            Target::Zstd => "zstd",
            Target::Bzip2 => "bzip2",
            Target::Xz => "xz",
            Target::Lz4 => "lz4",
            Target::Snappy => "snappy",
            Target::HadoopLz4 => "hadoop-lz4",
            Target::HadoopSnappy => "hadoop-snappy",
            Target::Deflate => "deflate",
        }
    }

    /// With its dot. Readers know the format by it, and by the first bytes where two formats have one name.
    pub fn extension(self) -> &'static str {
        match self {
            Target::Gzip => ".gz",
            Target::Zstd => ".zst",
            Target::Bzip2 => ".bz2",
            Target::Xz => ".xz",
            Target::Lz4 | Target::HadoopLz4 => ".lz4",
            Target::Snappy => ".sz",
            Target::HadoopSnappy => ".snappy",
            Target::Deflate => ".deflate",
        }
    }

    /// Least and largest level, and the one that the format's tool has by itself; none where there is only one way.
    pub fn levels(self) -> Option<(i32, i32, i32)> {
        match self {
            Target::Gzip | Target::Deflate => Some((1, 9, 6)),
            Target::Zstd => Some((1, 22, 3)),
            Target::Bzip2 => Some((1, 9, 9)),
            Target::Xz => Some((0, 9, 6)),
            Target::Lz4 | Target::Snappy | Target::HadoopLz4 | Target::HadoopSnappy => None,
        }
    }
}

/// How an output is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    pub target: Target,
    /// `None`: the usual one.
    pub level: Option<i32>,
}

impl Compression {
    fn level_or_usual(self) -> i32 {
        self.level.or(self.target.levels().map(|(_, _, usual)| usual)).unwrap_or(0)
    }

    /// `Memory` where the system has none.
    pub fn encoder(self) -> Result<Box<dyn Encoder>> {
        let level = self.level_or_usual();
        Ok(match self.target {
            Target::Gzip => Box::new(flate::Flate::gzip(level)),
            Target::Deflate => Box::new(flate::Flate::zlib(level)),
            Target::Zstd => Box::new(zstd::Zstd::new(level, true)?),
            Target::Bzip2 => Box::new(bzip2::Bzip2::new(level)),
            Target::Xz => Box::new(xz::Xz::new(level)),
            Target::Lz4 => Box::new(frames::Lz4Frames::new()),
            Target::Snappy => Box::new(frames::SnappyFrames::new()),
            Target::HadoopLz4 => Box::new(hadoop_blocks::HadoopBlocks::lz4(HADOOP_BUFFER_BYTES)),
            Target::HadoopSnappy => Box::new(hadoop_blocks::HadoopBlocks::snappy(HADOOP_BUFFER_BYTES)),
        })
    }

    /// Memory that an encoder takes, at most, to be reserved from the budget.
    pub fn memory_bytes(self) -> u64 {
        let level = self.level_or_usual();
        match self.target {
            Target::Gzip | Target::Deflate => 512 << 10,
            Target::Zstd => zstd::memory_bytes(level),
            Target::Bzip2 => (1 << 20) + level as u64 * 800_000,
            Target::Xz => xz::memory_bytes(level),
            Target::Lz4 => 1 << 20,
            Target::Snappy | Target::HadoopLz4 | Target::HadoopSnappy => 512 << 10,
        }
    }

    /// A file that holds nothing.
    pub fn of_nothing(self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.encoder()?.finish(&mut out)?;
        Ok(out)
    }
}

/// The streams of Hadoop's codecs for map output: levels below 0 are the codec's own, `buffer_bytes` is that of its direct buffers.
pub fn hadoop_encoder(target: Target, level: i32, buffer_bytes: usize) -> Result<Box<dyn Encoder>> {
    let level = Some(level).filter(|&l| l >= 0);
    Ok(match target {
        // Map output has a checksum around it.
        Target::Zstd => Box::new(zstd::Zstd::new(level.unwrap_or(3), false)?),
        Target::HadoopLz4 => Box::new(hadoop_blocks::HadoopBlocks::lz4(buffer_bytes)),
        Target::HadoopSnappy => Box::new(hadoop_blocks::HadoopBlocks::snappy(buffer_bytes)),
        _ => Compression { target, level }.encoder()?,
    })
}

fn failed(codec: &str, why: impl std::fmt::Display) -> Error {
    Error::new(Code::Internal, format!("{codec} cannot compress: {why}"))
}

/// Cuts what comes into blocks of `block_bytes`; `raw` holds what is left over.
fn in_blocks(
    raw: &mut Vec<u8>,
    mut bytes: &[u8],
    block_bytes: usize,
    mut block: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    if !raw.is_empty() {
        let (now, rest) = bytes.split_at(bytes.len().min(block_bytes - raw.len()));
        raw.extend_from_slice(now);
        bytes = rest;
        if raw.len() < block_bytes {
            return Ok(());
        }
        block(raw)?;
        raw.clear();
    }
    let mut blocks = bytes.chunks_exact(block_bytes);
    for whole in &mut blocks {
        block(whole)?;
    }
    raw.extend_from_slice(blocks.remainder());
    Ok(())
}

#[cfg(test)]
pub(super) mod tests;
