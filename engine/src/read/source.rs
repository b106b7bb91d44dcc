//! Bytes of a file in order, decompressed where it is compressed.

use crate::base::{Code, Error, Result};
use crate::codec::{Decoder, State};
use crate::env::NamedFile;
use crate::memory::Buffer;

pub enum Source {
    Plain {
        file: NamedFile,
        at: u64,
    },
    Decoded {
        file: NamedFile,
        at: u64,
        decoder: Box<dyn Decoder>,
        input: Buffer,
        /// What of `input` is not decoded yet.
        from: usize,
        to: usize,
        last: bool,
        ended: bool,
    },
}

/// Compressed bytes read at a time.
pub const DECODE_INPUT_BYTES: usize = 256 << 10;

impl Source {
    pub fn plain(file: NamedFile, start: u64) -> Source {
        Source::Plain { file, at: start }
    }

    pub fn decoded(file: NamedFile, decoder: Box<dyn Decoder>, input: Buffer) -> Source {
        Source::Decoded { file, at: 0, decoder, input, from: 0, to: 0, last: false, ended: false }
    }

    pub fn path(&self) -> &str {
        match self {
            Source::Plain { file, .. } | Source::Decoded { file, .. } => file.path(),
        }
    }

    /// Reads into `to`, as much as it takes; less only at the end.
    pub fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        match self {
            Source::Plain { file, at } => {
                let n = file.read_up_to(to, *at)?;
                *at += n as u64;
                Ok(n)
            }
            Source::Decoded { file, at, decoder, input, from, to: end, last, ended } => {
                let mut done = 0;
                while done < to.len() && !*ended {
                    if *from == *end && !*last {
                        *end = file.read_up_to(input, *at)?;
                        *from = 0;
                        *at += *end as u64;
                        *last = *end < input.len();
                    }
                    let step = decoder
                        .decode(&input[*from..*end], &mut to[done..], *last)
                        .map_err(|e| e.at_path(file.path()))?;
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
                        // The decoder wants more than is left: bring the rest to the front and read on.
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
    }
}
