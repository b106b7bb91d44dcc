//! A compressed segment as a stream of what it holds, through the engine's decoders.

use std::io::{self, Read};

use yunti_base::Error;
use yunti_engine::codec::{self, Decoder, State};

use super::{Codec, CodecKind};

/// Compressed bytes read at a time.
const INPUT_BYTES: usize = 32 << 10;

/// More than any block takes that Hadoop writes with its largest buffers.
const MEMORY_BYTES_MAX: u64 = 256 << 20;

/// What is read from `stream` through the codec.
pub fn expanded<'r>(codec: Codec, stream: impl Read + Send + 'r) -> io::Result<Box<dyn Read + Send + 'r>> {
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
    Ok(Box::new(Expanded { stream, decoder, input, from: 0, to: 0, last: false, ended: false }))
}

/// What to do about a file does not help with a segment.
fn broken(error: Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the compressed stream is broken: {}", error.what()))
}

struct Expanded<R> {
    stream: R,
    decoder: Box<dyn Decoder>,
    input: Vec<u8>,
    /// [from, to) of the input was read and not taken.
    from: usize,
    to: usize,
    last: bool,
    ended: bool,
}

impl<R: Read> Read for Expanded<R> {
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
