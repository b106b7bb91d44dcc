//! Readers: user code that finds records in the bytes of files, for formats that the engine does not know.

use super::Class;
use crate::error::Result;
use crate::out::Out;
use crate::types::Type;

/// A range of bytes of a file, decompressed, valid until the call returns.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Records that begin here or later belong to the next split; `u64::MAX`: no limit.
    pub limit: u64,
    /// Byte offset of the first byte in the file.
    pub position: u64,
    /// Index of the file in the job's input, from 0.
    pub file_index: u32,
    /// Offset of the cut in the bytes, for `find`; else 0.
    pub cut: usize,
    /// True if the bytes begin the file.
    pub is_first: bool,
    /// True if the bytes end the file.
    pub is_last: bool,
}

impl Chunk<'_> {
    /// Returns the number of bytes in which records of this split may begin.
    pub fn owned(&self) -> usize {
        usize::try_from(self.limit).map_or(self.bytes.len(), |limit| limit.min(self.bytes.len()))
    }
}

/// A reader of records. `yt_reader` in yunti.h defines the contract of both sides.
///
/// Call order for a file, or a piece of one: `find` if the piece does not begin at the start of its file; then `read`,
/// each time from the first byte that was not taken. The last call for a file that is not cut has no bytes.
pub trait Reader: Class {
    /// Type of the keys that it emits.
    type Key: Type;
    /// Type of the values that it emits.
    type Value: Type;
    /// True if `find` is implemented: the engine then cuts large files into splits.
    const FINDS: bool = false;
    /// Bytes before a cut that `find` sees, at most 4096; fewer at the beginning of a file.
    const LOOK_BACK: u32 = 0;

    /// Returns the position in the chunk of the first record that begins at or after its cut, which must be a position
    /// that `read` would reach; None: it needs more bytes, or no record begins in the rest of the file.
    fn find(&mut self, _chunk: Chunk<'_>) -> Result<Option<usize>> {
        Ok(None)
    }

    /// Emits whole records that begin before `chunk.owned()`, and returns the number of bytes that it took, bytes
    /// between records included. If it takes nothing, the next call has more bytes. At the end of a file, to take
    /// nothing is the error of a file that ends within a record.
    fn read(&mut self, chunk: Chunk<'_>, out: &mut Out<'_, Self::Key, Self::Value>) -> Result<usize>;
}
