//! A compressed file and its decoder: decompressed bytes in order, from the start of the file.

use crate::codec::{Decoder, State};
use crate::env::NamedFile;
use crate::memory::Buffer;
use yunti_base::{Code, Error, Result};

/// Compressed bytes read at a time.
pub const DECODE_INPUT_BYTES: usize = 256 << 10;

/// Reader of a compressed file from its start to its end.
pub struct DecodedFile {
    file: NamedFile,
    /// Stored length of the file; 0 if unknown.
    file_bytes: u64,
    at: u64,
    decoder: Box<dyn Decoder>,
    input: Buffer,
    /// Bytes `from..to` of `input` are read and not decoded yet.
    from: usize,
    to: usize,
    /// True if the file has no bytes after `input`.
    last: bool,
    ended: bool,
}

impl DecodedFile {
    /// Starts at the beginning of `file`. `file_bytes`: its stored length; 0 if unknown. `input`: buffer for compressed
    /// bytes.
    pub fn new(file: NamedFile, file_bytes: u64, decoder: Box<dyn Decoder>, input: Buffer) -> DecodedFile {
        DecodedFile { file, file_bytes, at: 0, decoder, input, from: 0, to: 0, last: false, ended: false }
    }

    /// Returns the path of the file, for messages.
    pub fn path(&self) -> &str {
        self.file.path()
    }

    /// Returns the number of compressed bytes that are not read yet.
    pub fn left_bytes(&self) -> u64 {
        self.file_bytes.saturating_sub(self.at)
    }

    /// Fills `to` with decompressed bytes. Returns fewer than `to.len()` only at the end of the file.
    ///
    /// Errors: `Corrupt`, with path and offset, for damaged or cut data; `Input` for a failed read.
    pub fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        let DecodedFile { file, at, decoder, input, from, to: end, last, ended, .. } = self;
        let mut done = 0;
        while done < to.len() && !*ended {
            if *from == *end && !*last {
                *end = file.read_up_to(input, *at)?;
                *from = 0;
                *at += *end as u64;
                *last = *end < input.len();
            }
            let step =
                decoder.decode(&input[*from..*end], &mut to[done..], *last).map_err(|e| e.at_path(file.path()))?;
            *from += step.read;
            done += step.written;
            if *last && *from == *end && step.state == State::End {
                *ended = true;
            } else if step.read == 0 && step.written == 0 && done < to.len() {
                if *last {
                    return Err(Error::new(Code::Corrupt, "the compressed data ends too early")
                        .at_path(file.path())
                        .at_offset(*at)
                        .hint("copy or download the file again"));
                }
                // The decoder needs more input than remains: move the rest to the front and read after it.
                input.copy_within(*from..*end, 0);
                *end -= *from;
                *from = 0;
                let n = file.read_up_to(&mut input[*end..], *at)?;
                *last = *end + n < input.len();
                *at += n as u64;
                *end += n;
            }
        }
        Ok(done)
    }
}
