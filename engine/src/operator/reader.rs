//! Readers: bytes of a file in, the records that stand in them out (yt_reader of the C ABI).

use super::Out;
use yunti_base::Result;

/// A stretch of a file, decompressed.
#[derive(Clone, Copy)]
pub struct Chunk<'a> {
    pub bytes: &'a [u8],
    /// It begins the file.
    pub first: bool,
    /// The file ends with it.
    pub last: bool,
    /// A record that begins here or behind belongs to the next split; `u64::MAX`: all are of this one.
    pub limit: u64,
    /// Of its first byte in the file.
    pub position: u64,
    pub file_index: u32,
    /// `find`: bytes before the cut.
    pub before: u32,
}

/// Bytes before a cut that a reader may ask for.
pub const LOOK_BACK_MAX: u32 = 4096;

/// Made for one split. Call order: for each piece of a file `find`, where the piece does not begin its file; then `read` from the first
/// byte that was not taken, until all bytes before the limit were; without a limit, until a last chunk without bytes.
pub trait Reader: Send {
    /// Where the first record that begins behind `before` bytes of the chunk, or later, begins in it; at the limit or behind it: none of this
    /// split. `None`: more bytes are needed; of a last chunk: none begins.
    fn find(&mut self, chunk: &Chunk<'_>) -> Result<Option<u64>>;
    /// Emits, by copy, whole records that begin before the limit; says how many bytes it took. None and nothing emitted: more are needed.
    fn read(&mut self, chunk: &Chunk<'_>, out: &mut Out) -> Result<u64>;
}
