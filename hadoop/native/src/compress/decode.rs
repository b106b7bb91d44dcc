//! Compressed segments as streams of their contents, through the engine's decoders.

use std::io::{self, Read};

use yunti_base::Error;
use yunti_engine::codec::{self, Decoder, State};

use super::{Codec, CodecKind};

/// Compressed bytes read at once.
const INPUT_BYTES: usize = 32 << 10;

/// Bytes of a decoder, at most: more than any block of Hadoop's largest buffers needs.
const MEMORY_BYTES_MAX: u64 = 256 << 20;

/// Returns the contents of `stream`. Fails if no decoder can be made.
pub fn decoded<'r>(codec: Codec, stream: impl Read + Send + 'r) -> io::Result<Box<dyn Read + Send + 'r>> {
    let kind = match codec.kind {
        CodecKind::None => return Ok(Box::new(stream)),
        CodecKind::Zlib => codec::CodecKind::Deflate,
        CodecKind::Gzip => codec::CodecKind::Gzip,
        CodecKind::Bzip2 => codec::CodecKind::Bzip2,
        CodecKind::Zstd => codec::CodecKind::Zstd,
        CodecKind::Snappy => codec::CodecKind::Snappy,
        CodecKind::Lz4 => codec::CodecKind::Lz4,
    };
    let decoder = codec::decoder(kind, MEMORY_BYTES_MAX).map_err(broken)?;
    let input = vec![0; INPUT_BYTES];
    Ok(Box::new(DecodedStream { stream, decoder, input, from: 0, to: 0, last: false, ended: false }))
}

/// Converts an error without its hint: advice for files does not help with a segment.
fn broken(error: Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the compressed stream is broken: {}", error.what()))
}

struct DecodedStream<R> {
    stream: R,
    decoder: Box<dyn Decoder>,
    input: Vec<u8>,
    /// Bytes [from, to) of the input were read and not taken.
    from: usize,
    to: usize,
    last: bool,
    ended: bool,
}

impl<R: Read> Read for DecodedStream<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while !self.ended && !to.is_empty() {
            if self.from == self.to && !self.last {
                self.from = 0;
                self.to = self.stream.read(&mut self.input)?;
                self.last = self.to == 0;
            }
            let step = self.decoder.decode(&self.input[self.from..self.to], to, self.last).map_err(broken)?;
            self.from += step.read;
            self.ended = self.last && self.from == self.to && step.state == State::End;
            if step.written > 0 {
                return Ok(step.written);
            }
        }
        Ok(0)
    }
}
