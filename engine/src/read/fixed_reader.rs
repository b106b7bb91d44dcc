//! Reader of a split of fixed-length records, directly into the memory of the caller.

use super::byte_source::ByteSource;
use super::reader::{ReadSetup, cut_record};
use super::split::{Piece, Split};
use yunti_base::Result;

/// Reader of splits of fixed-length records.
pub struct FixedReader {
    setup: ReadSetup,
    record_bytes: usize,
    pieces: std::vec::IntoIter<Piece>,
    current: Option<OpenPiece>,
}

struct OpenPiece {
    source: ByteSource,
    /// Position in the (decompressed) file.
    at: u64,
    end: u64,
}

impl FixedReader {
    /// Makes a reader of records of `record_bytes`.
    pub fn new(setup: ReadSetup, record_bytes: u32) -> FixedReader {
        FixedReader { setup, record_bytes: record_bytes as usize, pieces: Vec::new().into_iter(), current: None }
    }

    /// Begins a split.
    pub fn begin(&mut self, split: &Split) {
        self.pieces = split.pieces.clone().into_iter();
        self.current = None;
    }

    /// Fills `to`, whose length is a multiple of the record length, with whole records. Returns the bytes; 0 at the end
    /// of the split.
    ///
    /// Errors: `Corrupt`, with path and offset, if the file ends within a record; `Input` for a failed read.
    pub fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        loop {
            let Some(open) = &mut self.current else {
                let Some(piece) = self.pieces.next() else { return Ok(0) };
                let source = self.setup.open(&piece, piece.start)?;
                self.current = Some(OpenPiece { source, at: piece.start, end: piece.end });
                continue;
            };
            let wanted = (open.end - open.at).min(to.len() as u64) as usize;
            let n = open.source.read(&mut to[..wanted])?;
            let rest = n % self.record_bytes;
            if rest > 0 {
                return Err(cut_record(&open.source, open.at + (n - rest) as u64, rest, self.record_bytes));
            }
            open.at += n as u64;
            if n < wanted || open.at == open.end {
                self.current = None;
            }
            if n > 0 {
                return Ok(n);
            }
        }
    }
}
