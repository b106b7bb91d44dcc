//! Compressed streams of Hadoop's codecs, read back.

use std::io::{self, Read};

use yunti_engine::codec::lz4_block;
use zstd_safe::{DCtx, InBuffer, OutBuffer};

use super::{Codec, CodecKind};

/// What is read from `stream` through the codec.
pub fn expanded<'r>(codec: Codec, stream: impl Read + Send + 'r) -> io::Result<Box<dyn Read + Send + 'r>> {
    Ok(match codec.kind {
        CodecKind::None => Box::new(stream),
        CodecKind::Zlib => Box::new(flate2::read::ZlibDecoder::new(stream)),
        CodecKind::Gzip => Box::new(flate2::read::MultiGzDecoder::new(stream)),
        CodecKind::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(stream)),
        CodecKind::Zstd => Box::new(OfZstd::new(stream)?),
        CodecKind::Snappy => Box::new(OfBlocks::new(stream, unpack_snappy)),
        CodecKind::Lz4 => Box::new(OfBlocks::new(stream, unpack_lz4)),
    })
}

fn broken(what: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the compressed stream is broken: {what}"))
}

/// A block or a chunk may say that it is this large; more is no block of Hadoop's.
const BLOCK_BYTES_MAX: usize = 64 << 20;

/// Appends the raw bytes of a chunk, at most `room`.
type Unpack = fn(&[u8], usize, &mut Vec<u8>) -> io::Result<()>;

fn unpack_snappy(chunk: &[u8], room: usize, raw: &mut Vec<u8>) -> io::Result<()> {
    let n = snap::raw::decompress_len(chunk).map_err(broken)?;
    if n > room {
        return Err(broken("a chunk is larger than its block"));
    }
    let from = raw.len();
    raw.resize(from + n, 0);
    snap::raw::Decoder::new().decompress(chunk, &mut raw[from..]).map_err(broken)?;
    Ok(())
}

fn unpack_lz4(chunk: &[u8], room: usize, raw: &mut Vec<u8>) -> io::Result<()> {
    let from = raw.len();
    raw.resize(from + room, 0);
    let n = lz4_block::decompress(chunk, &mut raw[from..]).map_err(broken)?;
    raw.truncate(from + n);
    Ok(())
}

/// Hadoop's BlockDecompressorStream (the format is in `blocks.rs`).
struct OfBlocks<R> {
    stream: R,
    unpack: Unpack,
    packed: Vec<u8>,
    raw: Vec<u8>,
    at: usize,
}

impl<R: Read> OfBlocks<R> {
    fn new(stream: R, unpack: Unpack) -> Self {
        OfBlocks { stream, unpack, packed: Vec::new(), raw: Vec::new(), at: 0 }
    }

    /// The next length; none at the end of the stream.
    fn length(&mut self) -> io::Result<Option<usize>> {
        let mut four = [0; 4];
        let mut n = 0;
        while n < 4 {
            match self.stream.read(&mut four[n..])? {
                0 if n == 0 => return Ok(None),
                0 => return Err(broken("it ends within a length")),
                more => n += more,
            }
        }
        let length = u32::from_be_bytes(four) as usize;
        if length > BLOCK_BYTES_MAX { Err(broken(format!("a block of {length} bytes"))) } else { Ok(Some(length)) }
    }

    fn next_block(&mut self) -> io::Result<bool> {
        let Some(block) = self.length()? else { return Ok(false) };
        self.raw.clear();
        self.at = 0;
        while self.raw.len() < block {
            let chunk = self.length()?.ok_or_else(|| broken("it ends within a block"))?;
            self.packed.resize(chunk, 0);
            self.stream.read_exact(&mut self.packed)?;
            let before = self.raw.len();
            (self.unpack)(&self.packed, block - before, &mut self.raw)?;
            if self.raw.len() == before {
                return Err(broken("a chunk is empty"));
            }
        }
        Ok(true)
    }
}

impl<R: Read> Read for OfBlocks<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.at == self.raw.len() {
            if !self.next_block()? {
                return Ok(0);
            }
        }
        let n = to.len().min(self.raw.len() - self.at);
        to[..n].copy_from_slice(&self.raw[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

struct OfZstd<R> {
    stream: R,
    context: DCtx<'static>,
    input: Vec<u8>,
    /// [from, to) of the input was read and not taken.
    from: usize,
    to: usize,
    within: bool,
}

impl<R: Read> OfZstd<R> {
    fn new(stream: R) -> io::Result<Self> {
        let context = DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(OfZstd { stream, context, input: vec![0; DCtx::in_size()], from: 0, to: 0, within: false })
    }
}

impl<R: Read> Read for OfZstd<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.from == self.to {
                self.from = 0;
                self.to = self.stream.read(&mut self.input)?;
                if self.to == 0 {
                    return if self.within { Err(broken("it ends within a frame")) } else { Ok(0) };
                }
            }
            let mut input = InBuffer::around(&self.input[self.from..self.to]);
            let mut output = OutBuffer::around(&mut *to);
            let hint = self.context.decompress_stream(&mut output, &mut input);
            self.within = hint.map_err(|e| broken(zstd_safe::get_error_name(e)))? != 0;
            let written = output.pos();
            self.from += input.pos();
            if written > 0 {
                return Ok(written);
            }
        }
    }
}
