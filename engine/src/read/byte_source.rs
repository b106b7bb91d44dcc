//! Bytes of a file in order, decompressed if the file is compressed.

use std::sync::Arc;

use super::decoded_file::DecodedFile;
use super::read_ahead::{LEFT_BYTES_MIN, ReadAhead, ReadAheadSource};
use crate::env::NamedFile;
use crate::memory::Budget;
use yunti_base::{Code, Error, Result};

/// Source of a file's bytes.
pub enum ByteSource {
    Plain {
        file: NamedFile,
        at: u64,
    },
    Decoded(CompressedSource),
    /// Blocks or members of a compressed file.
    Cut(Box<dyn CutReader>),
}

/// Reader of one piece of a compressed file: its decoded bytes, then the bytes behind it as far as the caller reads,
/// for the record that ends there.
pub trait CutReader: Send {
    /// Returns the file.
    fn file(&self) -> &NamedFile;

    /// Returns the number of decoded bytes of the piece; None until all of them were read.
    fn boundary(&self) -> Option<u64>;

    /// Returns true if the file has no more data.
    fn ended(&self) -> bool;

    /// Fills `to`. Returns fewer than `to.len()` bytes at the end of the file, and once at the boundary.
    ///
    /// Errors: `Corrupt` and others of the decoder; `Input` for a failed read.
    fn read(&mut self, to: &mut [u8]) -> Result<usize>;
}

/// A compressed file, decoded here or by a helper.
pub struct CompressedSource {
    reader: Reader,
    /// Helpers, and the budget for their buffers.
    help: Option<(Arc<ReadAhead>, Arc<Budget>)>,
}

/// Reader of a compressed file at this moment.
enum Reader {
    Here(Box<DecodedFile>),
    Ahead(ReadAheadSource),
    /// Only during a hand-over.
    Nobody,
}

impl ByteSource {
    /// Reads an uncompressed file from byte `start`.
    pub fn plain(file: NamedFile, start: u64) -> ByteSource {
        ByteSource::Plain { file, at: start }
    }

    /// Reads a compressed file, with `help` if helpers may take over.
    pub fn decoded(source: Box<DecodedFile>, help: Option<(Arc<ReadAhead>, Arc<Budget>)>) -> ByteSource {
        ByteSource::Decoded(CompressedSource { reader: Reader::Here(source), help })
    }

    /// Returns the path of the file, for messages.
    pub fn path(&self) -> &str {
        match self {
            ByteSource::Plain { file, .. } => file.path(),
            ByteSource::Decoded(compressed) => match &compressed.reader {
                Reader::Here(source) => source.path(),
                Reader::Ahead(source) => source.path(),
                Reader::Nobody => "",
            },
            ByteSource::Cut(cut) => cut.file().path(),
        }
    }

    /// Returns the end of the split among the bytes read, once it is known. Compressed blocks do not show their decoded
    /// length.
    pub fn boundary(&self) -> Option<u64> {
        match self {
            ByteSource::Cut(cut) => cut.boundary(),
            _ => None,
        }
    }

    /// Returns true if a short read means the end of the file.
    pub fn ended(&self) -> bool {
        match self {
            ByteSource::Cut(cut) => cut.ended(),
            _ => true,
        }
    }

    /// Fills `to`. Returns fewer than `to.len()` bytes only at the end, or once at the boundary.
    pub fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        match self {
            ByteSource::Plain { file, at } => {
                let n = file.read_up_to(to, *at)?;
                *at += n as u64;
                Ok(n)
            }
            ByteSource::Decoded(compressed) => compressed.read(to),
            ByteSource::Cut(cut) => cut.read(to),
        }
    }
}

impl CompressedSource {
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
            Reader::Nobody => Err(Error::new(Code::Internal, "a compressed file has no reader")),
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
