//! Reader of a part: its decoded bytes, then the bytes behind it as far as the caller reads, for the record that ends
//! there.
//!
//! ```text
//!   fed to one decoder:   part n: before, file bytes, behind | part n + 1: before, file bytes ..
//!                                                             ^ boundary: the decoder is between two members
//! ```
//!
//! The first byte of the next part is fed at the boundary, so that a decoder that would refuse another member does so
//! before the part counts as proven: gzip refuses members behind zeros.

use std::sync::Arc;

use super::part::{Part, Parts};
use crate::codec::{self, CodecKind, Decoder, State};
use crate::env::NamedFile;
use crate::memory::{Budget, Buffer};
use crate::read::byte_source::CutReader;
use yunti_base::{Cancel, Code, Error, Result};

/// Compressed bytes read at a time.
pub const INPUT_BYTES: usize = if cfg!(debug_assertions) { 1 << 10 } else { 256 << 10 };
/// Bytes of the buffer for decoded bytes that only prove a part.
const DISCARD_BYTES: usize = 64 << 10;

/// Reader of one part of a compressed file, and of the parts behind it.
pub struct PartReader {
    file: NamedFile,
    parts: Arc<Parts>,
    /// The part that is fed to the decoder; behind the last one at the end of the file.
    now: usize,
    feed: Feed,
    decoder: Box<dyn Decoder>,
    input: Buffer,
    /// Bytes `from..to` of `input` are not decoded yet.
    from: usize,
    to: usize,
    state: State,
    /// True if the last call filled its output: more may be ready.
    pending: bool,
    given: u64,
    /// Decoded bytes of the part that this reader was made for, once it is done.
    boundary: Option<u64>,
}

/// Next bytes of a part.
#[derive(Clone, Copy)]
enum Feed {
    Before { from: usize },
    File { at: u64 },
    Behind { from: usize },
}

impl PartReader {
    /// Returns a reader at the start of a part.
    ///
    /// Errors: `Memory` if the budget does not grant the decoder.
    pub fn new(
        file: NamedFile,
        kind: CodecKind,
        parts: Arc<Parts>,
        number: usize,
        budget: &Arc<Budget>,
    ) -> Result<PartReader> {
        let grant = budget.grant(memory_bytes(&parts), "a decoder")?;
        let input = Buffer::new(INPUT_BYTES, Some(grant))?;
        let decoder = codec::decoder(kind, parts.memory_bytes())?;
        parts.note_opened(number);
        Ok(PartReader {
            file,
            parts,
            now: number,
            feed: Feed::Before { from: 0 },
            decoder,
            input,
            from: 0,
            to: 0,
            state: State::More,
            pending: false,
            given: 0,
            boundary: None,
        })
    }

    fn fill(&mut self, to: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while done < to.len() && !self.ended() {
            if self.from == self.to && !self.pending && !self.load()? {
                let is_boundary = self.boundary.is_none();
                self.pass(&mut to[done..])?;
                if is_boundary {
                    break;
                }
                continue;
            }
            let step = self.decoder.decode(&self.input[self.from..self.to], &mut to[done..], false)?;
            self.from += step.read;
            done += step.written;
            self.given += step.written as u64;
            self.state = step.state;
            self.pending = done == to.len();
        }
        Ok(done)
    }

    /// Reads the next bytes of the part; false if it has no more.
    fn load(&mut self) -> Result<bool> {
        let part = &self.parts.all()[self.now];
        (self.from, self.to) = (0, 0);
        while self.to == 0 {
            match self.feed {
                Feed::Before { from } if from == part.before.len() => self.feed = Feed::File { at: part.start },
                Feed::Before { from } => {
                    self.to = copy(&part.before[from..], &mut self.input);
                    self.feed = Feed::Before { from: from + self.to };
                }
                Feed::File { at } if at == part.data_end => self.feed = Feed::Behind { from: 0 },
                Feed::File { at } => {
                    let room = self.input.len().min((part.data_end - at) as usize);
                    self.to = self.file.read_up_to(&mut self.input[..room], at)?;
                    if self.to == 0 {
                        return Err(stray(part));
                    }
                    self.feed = Feed::File { at: at + self.to as u64 };
                }
                Feed::Behind { from } if from == part.behind.len() => return Ok(false),
                Feed::Behind { from } => {
                    self.to = copy(&part.behind[from..], &mut self.input);
                    self.feed = Feed::Behind { from: from + self.to };
                }
            }
        }
        Ok(true)
    }

    /// Goes on to the next part, or to the end of the file. `output` has room, and gets no byte.
    fn pass(&mut self, output: &mut [u8]) -> Result<()> {
        let number = self.now;
        if self.state != State::End {
            return Err(stray(&self.parts.all()[number]));
        }
        self.now += 1;
        self.feed = Feed::Before { from: 0 };
        if !self.ended() {
            let is_fed = self.load()? && {
                let step = self.decoder.decode(&self.input[..1], output, false)?;
                self.state = step.state;
                step.read == 1 && step.written == 0
            };
            if !is_fed {
                return Err(stray(&self.parts.all()[number]));
            }
            self.from = 1;
        }
        self.parts.note_proven(number);
        self.boundary.get_or_insert(self.given);
        Ok(())
    }
}

impl CutReader for PartReader {
    fn file(&self) -> &NamedFile {
        &self.file
    }

    fn boundary(&self) -> Option<u64> {
        self.boundary
    }

    fn ended(&self) -> bool {
        self.now == self.parts.all().len()
    }

    /// Each error leaves a doubt about the cuts.
    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        self.fill(to).map_err(|error| {
            self.parts.note_failed();
            error.at_path(self.file.path())
        })
    }
}

/// Returns the memory of a reader in bytes.
pub fn memory_bytes(parts: &Parts) -> u64 {
    parts.memory_bytes() + INPUT_BYTES as u64
}

/// Decodes a part to its end.
///
/// Errors: those of the decoder, if the end is not between two members; `Cancelled`.
pub fn prove(file: NamedFile, kind: CodecKind, parts: Arc<Parts>, number: usize, cancel: &Cancel) -> Result<()> {
    let budget = Budget::new(memory_bytes(&parts));
    let mut reader = PartReader::new(file, kind, parts, number, &budget)?;
    let mut discard = vec![0; DISCARD_BYTES];
    while reader.boundary().is_none() {
        cancel.check()?;
        reader.read(&mut discard)?;
    }
    Ok(())
}

/// Returns the error for a part that does not end between two members. A user never sees it: the file is read again.
fn stray(part: &Part) -> Error {
    Error::new(Code::Corrupt, "a part of the compressed data does not end with a member").at_offset(part.end)
}

fn copy(from: &[u8], to: &mut [u8]) -> usize {
    let n = from.len().min(to.len());
    to[..n].copy_from_slice(&from[..n]);
    n
}
