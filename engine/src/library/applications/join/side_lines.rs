//! Lines of a side file, read in chunks that workers share: a line belongs to the chunk in which it begins.

use std::ops::Range;
use std::sync::Arc;

use memchr::memchr;

use super::without_cr;
use crate::env::NamedFile;
use crate::memory::{Budget, Grant};
use yunti_base::{Cancel, Code, Error, Result};

/// Bytes read at once.
const READ_BYTES: usize = if cfg!(debug_assertions) { 64 } else { 256 << 10 };
/// Bytes of a chunk, at least, and the most chunks of a file.
const CHUNK_BYTES_MIN: u64 = if cfg!(debug_assertions) { 200 } else { 1 << 20 };
const CHUNKS_MAX: u64 = 256;
/// Purpose of the memory, for messages.
const PURPOSE: &str = "a line of the side file";

/// An open side file, cut into chunks.
pub struct SideLines {
    file: NamedFile,
    len: u64,
}

/// Returns the bytes of a worker's buffer for short lines.
pub fn buffer_bytes() -> u64 {
    READ_BYTES as u64
}

/// Bytes of a worker for lines; it grows to the longest line.
pub struct LineBuffer {
    bytes: Vec<u8>,
    memory: Grant,
}

impl LineBuffer {
    /// Returns an empty buffer. Errors: `Memory`.
    pub fn new(budget: &Arc<Budget>) -> Result<LineBuffer> {
        let memory = budget.grant(READ_BYTES as u64, PURPOSE)?;
        Ok(LineBuffer { bytes: vec![0; READ_BYTES], memory })
    }

    /// Returns the bytes that the buffer takes from the budget.
    pub fn memory_bytes(&self) -> u64 {
        self.memory.bytes()
    }

    fn grow(&mut self) -> Result<()> {
        let len = self.bytes.len() * 2;
        // While the bytes move, the old ones are there too.
        self.memory.grow((len + len / 2) as u64, PURPOSE)?;
        self.bytes.resize(len, 0);
        Ok(())
    }
}

impl SideLines {
    /// Returns the lines of an open file. Errors: `Input`.
    pub fn new(file: NamedFile) -> Result<SideLines> {
        Ok(SideLines { len: file.len()?, file })
    }

    /// Returns the length in bytes when the file was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns the bytes of the chunks.
    pub fn chunks(&self) -> Vec<Range<u64>> {
        let bytes = CHUNK_BYTES_MIN.max(self.len.div_ceil(CHUNKS_MAX));
        (0..self.len.div_ceil(bytes)).map(|i| i * bytes..((i + 1) * bytes).min(self.len)).collect()
    }

    /// Calls `line` with each line of a chunk, without its end. Lines end at LF or CRLF.
    ///
    /// Errors: `Input` for a file that cannot be read, or is shorter than before; `Memory` for a line without room;
    /// those of `line`; `Cancelled`.
    pub fn each(
        &self,
        chunk: &Range<u64>,
        buffer: &mut LineBuffer,
        cancel: &Cancel,
        mut line: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        // The byte before the chunk says if a line begins with the chunk.
        let mut at = chunk.start.saturating_sub(1);
        let mut skips = chunk.start > 0;
        let (mut from, mut filled) = (0, 0);
        loop {
            let mut searched = from;
            while let Some(n) = memchr(b'\n', &buffer.bytes[searched..filled]) {
                let end = searched + n;
                let begins = at + from as u64;
                if skips {
                    skips = false;
                } else if begins >= chunk.end {
                    return Ok(());
                } else {
                    line(without_cr(&buffer.bytes[from..end]))?;
                }
                (from, searched) = (end + 1, end + 1);
            }
            // Also inside a line that is longer than chunks: it is not read to its end by each of them.
            let unseen = if skips { filled } else { from };
            if at + unseen as u64 >= chunk.end {
                return Ok(());
            }
            if at + filled as u64 >= self.len {
                if from < filled && !skips {
                    line(without_cr(&buffer.bytes[from..filled]))?;
                }
                return Ok(());
            }
            // The unfinished line moves to the front.
            buffer.bytes.copy_within(from..filled, 0);
            at += from as u64;
            filled -= from;
            from = 0;
            if skips {
                at += filled as u64;
                filled = 0;
            }
            if filled == buffer.bytes.len() {
                buffer.grow()?;
            }
            cancel.check()?;
            let wanted = (buffer.bytes.len() - filled).min((self.len - at) as usize - filled);
            let read = self.file.read_up_to(&mut buffer.bytes[filled..filled + wanted], at + filled as u64)?;
            if read < wanted {
                return Err(self.changed());
            }
            filled += read;
        }
    }

    /// Returns the error for a file that is not as it was.
    pub fn changed(&self) -> Error {
        Error::new(Code::Input, "the side file changed while it was read")
            .at_path(self.file.path())
            .hint("run the job again when the file is complete")
    }
}
