//! Hadoop's codecs, as Hadoop's own streams write them: one stream per segment of map output. The engine has the
//! formats.

mod decode;

pub use decode::decoded;

use yunti_base::Result;
use yunti_engine::codec::encode::{Encoder, Target, hadoop_encoder};

/// A codec and its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    /// Kind of codec.
    pub kind: CodecKind,
    /// Level of zlib, gzip, bzip2 (1 to 9) and zstd; unused otherwise. -1: the codec's default.
    pub level: i32,
    /// Bytes of Snappy's and lz4's direct buffers (`io.compression.codec.*.buffersize`); no block is larger.
    pub buffer_bytes: usize,
}

/// Kind of codec, with its number in `org.yunti.hadoop.collect.CodecSetting`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CodecKind {
    /// Uncompressed bytes.
    None = 0,
    /// DefaultCodec and DeflateCodec.
    Zlib = 1,
    Gzip = 2,
    Bzip2 = 3,
    Snappy = 4,
    Lz4 = 5,
    Zstd = 6,
}

impl CodecKind {
    /// Returns the approximate memory for reading a stream.
    pub fn decoder_bytes(self) -> u64 {
        match self {
            CodecKind::None => 0,
            CodecKind::Zlib | CodecKind::Gzip => 96 << 10,
            CodecKind::Snappy | CodecKind::Lz4 => 512 << 10,
            CodecKind::Zstd => 3 << 20,
            CodecKind::Bzip2 => 4 << 20,
        }
    }

    /// Returns the codec with this number, if there is one.
    pub fn from_number(n: u8) -> Option<CodecKind> {
        use CodecKind::*;
        [None, Zlib, Gzip, Bzip2, Snappy, Lz4, Zstd].into_iter().find(|k| *k as u8 == n)
    }
}

/// Returns a compressor, or None without compression. Fails with `Code::Memory` if the system has no memory for it.
pub fn compressor(codec: Codec) -> Result<Option<Box<dyn Encoder>>> {
    let target = match codec.kind {
        CodecKind::None => return Ok(None),
        CodecKind::Zlib => Target::Deflate,
        CodecKind::Gzip => Target::Gzip,
        CodecKind::Bzip2 => Target::Bzip2,
        CodecKind::Zstd => Target::Zstd,
        CodecKind::Snappy => Target::HadoopSnappy,
        CodecKind::Lz4 => Target::HadoopLz4,
    };
    hadoop_encoder(target, codec.level, codec.buffer_bytes).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn check(kind: CodecKind) {
        let codec = Codec { kind, level: -1, buffer_bytes: 256 << 10 };
        let mut compressor = compressor(codec).unwrap().unwrap();
        // Two streams one after the other; pieces of all sizes, nothing at all, bytes that do not compress.
        let mut noise = 1u64;
        for pieces in [&[][..], &[1], &[0, 70_000, 3], &[300_000, 1, 200_000]] {
            let (mut raw, mut out) = (Vec::new(), Vec::new());
            for (i, &n) in pieces.iter().enumerate() {
                let piece: Vec<u8> = (0..n)
                    .map(|at| {
                        noise = noise.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                        if i % 2 == 0 { (noise >> 56) as u8 } else { (at / 100) as u8 }
                    })
                    .collect();
                compressor.write(&piece, &mut out).unwrap();
                raw.extend(piece);
            }
            compressor.finish(&mut out).unwrap();
            // A stream that gives few bytes at a time.
            struct Few<'a>(&'a [u8]);
            impl Read for Few<'_> {
                fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
                    let n = to.len().min(1 + self.0.len() % 1000);
                    self.0.read(&mut to[..n])
                }
            }
            let mut back = Vec::new();
            decoded(codec, Few(&out)).unwrap().read_to_end(&mut back).unwrap();
            assert!(back == raw, "{kind:?} {pieces:?}");
            // Cut short, it is an error or fewer bytes, and never a panic.
            for cut in [0, 1, 3, 5, out.len() / 2, out.len().saturating_sub(1)] {
                let mut back = Vec::new();
                let read = decoded(codec, &out[..cut.min(out.len())]).unwrap().read_to_end(&mut back);
                assert!(cut >= out.len() || read.is_err() || back.len() <= raw.len());
            }
        }
    }

    #[test]
    fn decodes_what_each_codec_encodes() {
        use CodecKind::*;
        [Zlib, Gzip, Bzip2, Snappy, Lz4, Zstd].into_iter().for_each(check);
    }
}
