//! Hadoop's codecs, as its own streams write them: one stream a segment of map output.

mod blocks;
mod streams;

use yunti_engine::base::{Code, Error, Result};

/// A codec and what its stream is written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    pub kind: CodecKind,
    /// zlib, gzip, bzip2 (1 to 9), zstd; elsewhere unused. -1: the codec's own.
    pub level: i32,
    /// Of Snappy's and lz4's direct buffers (`io.compression.codec.*.buffersize`): no block is larger.
    pub buffer_bytes: usize,
}

/// The numbers are those of `org.yunti.hadoop.collect.CodecSetting`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CodecKind {
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
    pub fn from_number(n: u8) -> Option<CodecKind> {
        use CodecKind::*;
        [None, Zlib, Gzip, Bzip2, Snappy, Lz4, Zstd].into_iter().find(|k| *k as u8 == n)
    }
}

/// Makes a compressed stream. Call order: `write` any number of times, then `finish` once; then the next stream begins.
pub trait Compressor: Send {
    /// Takes bytes; appends to `out` what is ready.
    fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<()>;
    /// Ends the stream.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()>;
}

/// A compressor; none where bytes stay as they are.
pub fn compressor(codec: Codec) -> Result<Option<Box<dyn Compressor>>> {
    Ok(Some(match codec.kind {
        CodecKind::None => return Ok(None),
        CodecKind::Zlib => Box::new(streams::Deflate::zlib(codec.level)),
        CodecKind::Gzip => Box::new(streams::Deflate::gzip(codec.level)),
        CodecKind::Bzip2 => Box::new(streams::Bzip2::new(codec.level)),
        CodecKind::Zstd => Box::new(streams::Zstd::new(codec.level)?),
        CodecKind::Snappy => Box::new(blocks::Blocks::snappy(codec.buffer_bytes)),
        CodecKind::Lz4 => Box::new(blocks::Blocks::lz4(codec.buffer_bytes)),
    }))
}

fn failed(codec: &str, why: impl std::fmt::Display) -> Error {
    Error::new(Code::Internal, format!("{codec} cannot compress: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn check(kind: CodecKind, back: impl Fn(&[u8]) -> Vec<u8>) {
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
            assert!(back(&out) == raw, "{kind:?} {pieces:?}");
        }
    }

    /// Hadoop's BlockDecompressorStream.
    fn unblock(mut stream: &[u8], chunk: impl Fn(&[u8], usize) -> Vec<u8>) -> Vec<u8> {
        let mut raw = Vec::new();
        let int = |s: &mut &[u8]| {
            let (four, rest) = s.split_first_chunk::<4>().unwrap();
            *s = rest;
            u32::from_be_bytes(*four) as usize
        };
        while !stream.is_empty() {
            let block = int(&mut stream);
            assert!(block <= 218_422);
            let end = raw.len() + block;
            while raw.len() < end {
                let n = int(&mut stream);
                raw.extend(chunk(&stream[..n], end - raw.len()));
                stream = &stream[n..];
            }
            assert_eq!(raw.len(), end);
        }
        raw
    }

    #[test]
    fn every_codec_comes_back() {
        let read = |mut r: Box<dyn Read + '_>| {
            let mut raw = Vec::new();
            r.read_to_end(&mut raw).unwrap();
            raw
        };
        check(CodecKind::Zlib, |b| read(Box::new(flate2::read::ZlibDecoder::new(b))));
        check(CodecKind::Gzip, |b| read(Box::new(flate2::read::GzDecoder::new(b))));
        check(CodecKind::Bzip2, |b| read(Box::new(bzip2::read::BzDecoder::new(b))));
        check(CodecKind::Zstd, |b| {
            let mut raw = Vec::with_capacity(2 << 20);
            zstd_safe::decompress(&mut raw, b).unwrap();
            raw
        });
        check(CodecKind::Snappy, |b| unblock(b, |c, _| snap::raw::Decoder::new().decompress_vec(c).unwrap()));
        check(CodecKind::Lz4, |b| {
            unblock(b, |c, room| {
                let mut raw = vec![0; room];
                let n = yunti_engine::codec::lz4_block::decompress(c, &mut raw).unwrap();
                raw.truncate(n);
                raw
            })
        });
    }
}
