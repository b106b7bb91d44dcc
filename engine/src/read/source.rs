//! Bytes of a file in order, decompressed where it is compressed.

use std::sync::Arc;

use super::ahead::{Ahead, AheadSource, LEFT_BYTES_MIN};
use super::bzip2_split::Bzip2Split;
use crate::codec::{Decoder, State};
use crate::env::NamedFile;
use crate::memory::{Budget, Buffer};
use yunti_base::{Code, Error, Result};

pub enum Source {
    Plain {
        file: NamedFile,
        at: u64,
    },
    Decoded(Compressed),
    /// A stretch of a file that can be cut though it is compressed.
    Blocks(Box<Bzip2Split>),
}

/// A compressed file, read by whoever has the time.
pub struct Compressed {
    reader: Reader,
    /// Who may read ahead, in memory from where.
    help: Option<(Arc<Ahead>, Arc<Budget>)>,
}

enum Reader {
    Here(Box<Decoded>),
    Ahead(AheadSource),
    /// Only while it changes hands.
    Nobody,
}

/// A compressed file and its decoder.
pub struct Decoded {
    file: NamedFile,
    /// Of the file, 0 where that is not known.
    file_bytes: u64,
    at: u64,
    decoder: Box<dyn Decoder>,
    input: Buffer,
    /// What of `input` is not decoded yet.
    from: usize,
    to: usize,
    last: bool,
    ended: bool,
}

/// Compressed bytes read at a time.
pub const DECODE_INPUT_BYTES: usize = 256 << 10;

impl Source {
    pub fn plain(file: NamedFile, start: u64) -> Source {
        Source::Plain { file, at: start }
    }

    pub fn decoded(source: Box<Decoded>, help: Option<(Arc<Ahead>, Arc<Budget>)>) -> Source {
        Source::Decoded(Compressed { reader: Reader::Here(source), help })
    }

    pub fn path(&self) -> &str {
        match self {
            Source::Plain { file, .. } => file.path(),
            Source::Decoded(compressed) => match &compressed.reader {
                Reader::Here(source) => source.path(),
                Reader::Ahead(source) => source.path(),
                Reader::Nobody => "",
            },
            Source::Blocks(split) => split.file().path(),
        }
    }

    /// Where the split ends among the bytes that were read, if that was not known before: compressed blocks do not say how long they are.
    pub fn boundary(&self) -> Option<u64> {
        match self {
            Source::Blocks(split) => split.boundary(),
            _ => None,
        }
    }

    /// Whether less than was asked for means the end of the file.
    pub fn ended(&self) -> bool {
        match self {
            Source::Blocks(split) => split.ended(),
            _ => true,
        }
    }

    /// Reads into `to`, as much as it takes; less only at the end, or once at the boundary.
    pub fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        match self {
            Source::Plain { file, at } => {
                let n = file.read_up_to(to, *at)?;
                *at += n as u64;
                Ok(n)
            }
            Source::Decoded(compressed) => compressed.read(to),
            Source::Blocks(split) => split.read(to),
        }
    }
}

impl Compressed {
    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        if let (Reader::Here(source), Some((ahead, _))) = (&self.reader, &self.help)
            && ahead.has_idle()
            && source.left_bytes() >= LEFT_BYTES_MIN
        {
            self.hand_over();
        }
        match &mut self.reader {
            Reader::Here(source) => source.read(to),
            Reader::Ahead(source) => source.read(to),
            Reader::Nobody => Err(Error::new(Code::Internal, "nobody reads a compressed file")),
        }
    }

    fn hand_over(&mut self) {
        let Some((ahead, budget)) = &self.help else { return };
        self.reader = match std::mem::replace(&mut self.reader, Reader::Nobody) {
            Reader::Here(source) => ahead.offer(source, budget).map_or_else(Reader::Here, Reader::Ahead),
            other => other,
        };
    }
}

impl Decoded {
    pub fn new(file: NamedFile, file_bytes: u64, decoder: Box<dyn Decoder>, input: Buffer) -> Decoded {
        Decoded { file, file_bytes, at: 0, decoder, input, from: 0, to: 0, last: false, ended: false }
    }

    pub fn path(&self) -> &str {
        self.file.path()
    }

    fn left_bytes(&self) -> u64 {
        self.file_bytes.saturating_sub(self.at)
    }

    /// Reads into `to`, as much as it takes; less only at the end.
    pub fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        let Decoded { file, at, decoder, input, from, to: end, last, ended, .. } = self;
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
