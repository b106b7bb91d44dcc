//! Readers: they find the records in the bytes of a file (yt_reader of the C ABI).

pub mod source;

use super::Out;
use yunti_base::Result;

/// A decompressed part of a file.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    /// Bytes of the part.
    pub bytes: &'a [u8],
    /// True if the part begins the file.
    pub first: bool,
    /// True if the part ends the file.
    pub last: bool,
    /// Offset from which records belong to the next split; `u64::MAX`: all records belong to this split.
    pub limit: u64,
    /// Offset of the first byte in the file.
    pub position: u64,
    /// Number of the input file.
    pub file_index: u32,
    /// Bytes before the cut, for `find`.
    pub before: u32,
}

/// Bytes before a cut that a reader may request, at most.
pub const LOOK_BACK_MAX: u32 = 4096;

/// A reader of one split.
///
/// Call order: for each part of a file, `find` unless the part begins its file. Then `read` from the first byte not
/// taken, until all bytes before the limit are taken. Without a limit: until a last chunk without bytes.
pub trait Reader: Send {
    /// Returns the offset in the chunk of the first record that begins at or after `before` bytes. An offset at or
    /// beyond the limit: no record of this split.
    ///
    /// Returns None if more bytes are needed; for a last chunk, None means that no record begins.
    fn find(&mut self, chunk: &Chunk<'_>) -> Result<Option<u64>>;
    /// Emits whole records that begin before the limit, by copy; returns the number of bytes taken. 0 without a record:
    /// more bytes are needed.
    fn read(&mut self, chunk: &Chunk<'_>, out: &mut Out) -> Result<u64>;
}
