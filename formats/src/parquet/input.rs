//! A file of the engine as the input of the crate `parquet`: positioned reads alone.

use std::io::{BufReader, Read};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use yunti_api::SourceFile;

/// Bytes that a sequential reader fetches at a time: page headers, mostly.
const READ_BYTES: usize = 8 << 10;

/// Input of the decoders.
pub struct Input(pub SourceFile);

/// Failure of a read, for messages of the crate.
#[derive(Debug)]
pub struct ReadFailed(String);

impl std::fmt::Display for ReadFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReadFailed {}

/// Sequential bytes from an offset on.
pub struct FromOffset {
    pub file: SourceFile,
    pub at: u64,
}

impl Read for FromOffset {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let n = (to.len() as u64).min(self.file.len().saturating_sub(self.at)) as usize;
        self.file.read_at(&mut to[..n], self.at).map_err(|e| std::io::Error::other(e.to_string()))?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Input {
    /// Fails for bytes beyond the end, before memory is allocated for them.
    pub fn check(&self, start: u64, length: usize) -> Result<()> {
        match start.checked_add(length as u64) {
            Some(end) if end <= self.0.len() => Ok(()),
            _ => Err(ParquetError::EOF(format!("{length} bytes at {start} are beyond its end"))),
        }
    }

    /// Fills `to` with the bytes at `start`.
    pub fn read_at(&self, to: &mut [u8], start: u64) -> Result<()> {
        self.0.read_at(to, start).map_err(|e| ParquetError::External(Box::new(ReadFailed(e.to_string()))))
    }
}

impl Length for Input {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for Input {
    type T = BufReader<FromOffset>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(READ_BYTES, FromOffset { file: self.0.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.check(start, length)?;
        let mut bytes = vec![0; length];
        self.read_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}
