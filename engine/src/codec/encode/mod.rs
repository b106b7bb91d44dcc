//! Encoders: they turn bytes into whole compressed files that the tools and Hadoop read.
//!
//! ```text
//!   write, write, ..  finish        write, ..  finish
//!   [      one member      ]        [  the next     ]       concatenated members are a file too
//! ```
//!
//! Each worker compresses its own output. A file written by several workers is the sequence of their members. Every
//! format and reader accepts this, because files are commonly concatenated with cat(1).

mod bzip2;
mod flate;
mod frames;
mod hadoop_blocks;
mod xz;
mod zstd;

pub use hadoop_blocks::HADOOP_BUFFER_BYTES;
use yunti_base::{Code, Error, Result};

/// An encoder of members. Call order: `write` any number of times, then `finish` once; then the next member begins.
pub trait Encoder: Send {
    /// Compresses bytes and appends the ready output to `out`.
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()>;
    /// Ends the member and appends its rest to `out`.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()>;
}

/// Formats of compressed outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// gzip members (RFC 1952).
    Gzip,
    /// zstd frames (RFC 8878).
    Zstd,
    /// bzip2 streams.
    Bzip2,
    /// xz streams.
    Xz,
    /// lz4's own frames.
    Lz4,
    /// Snappy's framing format.
    Snappy,
    /// lz4 in the blocks of Hadoop's Lz4Codec.
    HadoopLz4,
    /// Snappy in the blocks of Hadoop's SnappyCodec.
    HadoopSnappy,
    /// zlib streams, as in Hadoop's DefaultCodec.
    Deflate,
}

impl Target {
    /// All formats.
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

    /// Returns the name in settings and messages.
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

    /// Returns the file extension with its dot. Readers recognise the format by it, and by the first bytes if two
    /// formats share it.
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

    /// Returns the smallest, largest and default level of the format's tool; None if there are no levels.
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

/// Compression of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// Format.
    pub target: Target,
    /// Level; `None`: the tool's default.
    pub level: Option<i32>,
}

impl Compression {
    fn level_or_usual(self) -> i32 {
        self.level.or(self.target.levels().map(|(_, _, usual)| usual)).unwrap_or(0)
    }

    /// Returns an encoder. Fails with `Code::Memory` if the system has none.
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

    /// Returns the memory of an encoder in bytes, at most, to be reserved from the budget.
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

    /// Returns the bytes of data in a member of a long output, before compression. Readers cut files between members.
    ///
    /// A member costs at most 1 % of the size: it is four windows of zstd, as in pzstd, or three dictionaries of xz.
    pub fn member_bytes(self) -> u64 {
        let mib = match (self.target, self.level_or_usual()) {
            // Readers cut between its blocks.
            (Target::Bzip2, _) => return u64::MAX,
            _ if cfg!(debug_assertions) => return 4 << 10,
            (Target::Zstd, 9..17) => 16,
            (Target::Zstd, 17..20) => 32,
            (Target::Zstd, 20) => 128,
            (Target::Zstd, 21) => 256,
            (Target::Zstd, 22..) => 512,
            (Target::Xz, 3..5) => 12,
            (Target::Xz, 5..7) => 24,
            (Target::Xz, 7) => 48,
            (Target::Xz, 8) => 96,
            (Target::Xz, 9..) => 192,
            // Twice the bytes that several writers of one part compress together.
            _ => 8,
        };
        mib << 20
    }

    /// Returns a compressed file without data.
    pub fn of_nothing(self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.encoder()?.finish(&mut out)?;
        Ok(out)
    }
}

/// Returns an encoder for Hadoop's map output. Levels below 0 are the codec's default; `buffer_bytes` is the size of
/// Hadoop's direct buffers.
///
/// Fails with `Code::Memory` if the system has none.
pub fn hadoop_encoder(target: Target, level: i32, buffer_bytes: usize) -> Result<Box<dyn Encoder>> {
    let level = Some(level).filter(|&l| l >= 0);
    Ok(match target {
        // Map output has its own checksum.
        Target::Zstd => Box::new(zstd::Zstd::new(level.unwrap_or(3), false)?),
        Target::HadoopLz4 => Box::new(hadoop_blocks::HadoopBlocks::lz4(buffer_bytes)),
        Target::HadoopSnappy => Box::new(hadoop_blocks::HadoopBlocks::snappy(buffer_bytes)),
        _ => Compression { target, level }.encoder()?,
    })
}

fn failed(codec: &str, why: impl std::fmt::Display) -> Error {
    Error::new(Code::Internal, format!("{codec} cannot compress: {why}"))
}

/// Cuts the input into blocks of `block_bytes`; `raw` holds the rest.
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
