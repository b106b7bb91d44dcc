//! A window of a file, for a few bytes here and there: each read brings the bytes behind them too.

use crate::env::NamedFile;
use yunti_base::Result;

/// Bytes read at once by a walk from header to header.
pub const WALK_BYTES: usize = if cfg!(debug_assertions) { 512 } else { 4 << 10 };

/// A moving window of a file.
pub struct Window<'a> {
    file: &'a NamedFile,
    bytes: Vec<u8>,
    at: u64,
    room: usize,
}

impl<'a> Window<'a> {
    /// Returns an empty window that reads `room` bytes at a time.
    pub fn new(file: &'a NamedFile, room: usize) -> Window<'a> {
        Window { file, bytes: Vec::new(), at: 0, room }
    }

    /// Returns `n` bytes from `at` on; fewer at the end of the file.
    ///
    /// Errors: those of the read.
    pub fn bytes(&mut self, at: u64, n: usize) -> Result<&[u8]> {
        let inside = at >= self.at && at + n as u64 <= self.at + self.bytes.len() as u64;
        if !inside {
            self.bytes.resize(self.room.max(n), 0);
            let have = self.file.read_up_to(&mut self.bytes, at)?;
            self.bytes.truncate(have);
            self.at = at;
        }
        let from = (at - self.at) as usize;
        Ok(&self.bytes[from..(from + n).min(self.bytes.len())])
    }

    /// Returns `N` bytes from `at` on; None if the file ends before.
    ///
    /// Errors: those of the read.
    pub fn array<const N: usize>(&mut self, at: u64) -> Result<Option<[u8; N]>> {
        Ok(self.bytes(at, N)?.try_into().ok())
    }
}
