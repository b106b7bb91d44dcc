//! A moving window on a file: bytes from front to back, in one buffer that is used again.

use yunti_api::{Error, Result};

use crate::file::input::Input;

/// Bytes that are read at a time.
const READ_BYTES: usize = 256 << 10;

/// Window of the bytes before the end of the file.
pub struct Window {
    file: Input,
    buffer: Vec<u8>,
    /// Place in the buffer, and the offset of the buffer's first byte in the file.
    at: usize,
    start: u64,
    /// Memory that the rest of the unit holds.
    pub other_memory: u64,
}

impl Window {
    /// Begins at an offset.
    pub fn new(file: &Input, offset: u64) -> Window {
        Window { file: file.clone(), buffer: Vec::new(), at: 0, start: offset, other_memory: 0 }
    }

    /// Returns the offset of the next byte in the file.
    pub fn offset(&self) -> u64 {
        self.start + self.at as u64
    }

    /// Returns the bytes from here to the end of the file.
    pub fn left(&self) -> u64 {
        self.file.len().saturating_sub(self.offset())
    }

    /// Returns the memory of the buffer.
    pub fn memory(&self) -> u64 {
        self.buffer.capacity() as u64
    }

    /// Makes the next `n` bytes available. Fails if the file ends before.
    fn fill(&mut self, n: usize) -> Result<()> {
        if self.buffer.len() - self.at >= n {
            return Ok(());
        }
        if n as u64 > self.left() {
            return Err(Error::damaged(format!(
                "the SequenceFile is damaged: {n} bytes at byte {} are beyond its end",
                self.offset()
            )));
        }
        let kept = self.buffer.len() - self.at;
        self.buffer.copy_within(self.at.., 0);
        self.buffer.truncate(kept);
        self.start += self.at as u64;
        self.at = 0;
        let len = (n.max(READ_BYTES) as u64).min(self.left()) as usize;
        if len > self.buffer.capacity() {
            // While the bytes move, both places exist.
            self.file.hold(self.other_memory + (self.buffer.capacity() + len) as u64)?;
            self.buffer.reserve_exact(len - kept);
        }
        self.buffer.resize(len, 0);
        self.file.read_at(&mut self.buffer[kept..], self.start + kept as u64)
    }

    /// Returns the next `n` bytes, and moves behind them.
    pub fn take(&mut self, n: usize) -> Result<&[u8]> {
        self.fill(n)?;
        let bytes = &self.buffer[self.at..self.at + n];
        self.at += n;
        Ok(bytes)
    }

    /// Returns the next bytes without moving: at most `n`, fewer at the end of the file.
    pub fn peek(&mut self, n: usize) -> Result<&[u8]> {
        let n = (n as u64).min(self.left()) as usize;
        self.fill(n)?;
        Ok(&self.buffer[self.at..self.at + n])
    }

    /// Moves ahead.
    pub fn skip(&mut self, n: usize) -> Result<()> {
        self.take(n).map(|_| ())
    }

    /// Returns a number of four bytes, the highest first.
    pub fn int(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(*self.take(4)?.first_chunk().expect("it has four bytes")))
    }

    /// Returns a number of Hadoop's variable length.
    pub fn vint(&mut self) -> Result<i64> {
        let head = self.peek(9)?;
        let (value, n) = super::writable::vlong(head)
            .ok_or_else(|| Error::damaged("the SequenceFile is damaged: it ends within a number"))?;
        self.skip(n)?;
        Ok(value)
    }

    /// Returns a length that is a number of variable length. Fails for a negative one, or beyond the end of the file.
    pub fn length(&mut self) -> Result<usize> {
        let offset = self.offset();
        match usize::try_from(self.vint()?) {
            Ok(n) if n as u64 <= self.left() => Ok(n),
            _ => Err(Error::damaged(format!("the SequenceFile is damaged: a wrong length at byte {offset}"))),
        }
    }
}
