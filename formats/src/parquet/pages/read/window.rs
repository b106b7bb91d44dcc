//! A column chunk as the input of the crate `parquet`: read in large pieces, of which pages are slices.

use std::io::{BufReader, Chain, Read};
use std::sync::{Arc, Mutex};

use bytes::buf::Reader;
use bytes::{Buf, Bytes};
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};
use yunti_api::SourceFile;

use super::spare;
use crate::parquet::input::{FromOffset, Input};

/// Bytes of a page's header without its statistics, at most.
const HEADER_BYTES: u64 = 1 << 10;

/// Input of one column chunk.
pub struct Window {
    input: Input,
    /// End of the column chunk.
    end: u64,
    /// Bytes that are read at a time.
    bytes: u64,
    held: Mutex<Held>,
}

/// The piece that was read last.
#[derive(Clone, Default)]
struct Held {
    start: u64,
    /// Bytes of the file; the piece may be longer.
    len: usize,
    bytes: Bytes,
}

impl Held {
    fn slice(&self, start: u64, len: usize) -> Option<Bytes> {
        let from = usize::try_from(start.checked_sub(self.start)?).ok()?;
        let to = from.checked_add(len)?;
        (to <= self.len).then(|| self.bytes.slice(from..to))
    }
}

impl Window {
    /// Returns the input of a column chunk that ends at `end`.
    pub fn new(file: &SourceFile, end: u64, bytes: u64) -> Arc<Window> {
        Arc::new(Window { input: Input(file.clone()), end: end.min(file.len()), bytes, held: Mutex::default() })
    }

    /// Returns the bytes at `start`, and keeps those behind them.
    pub fn fetch(&self, start: u64, len: usize) -> Result<Bytes> {
        let mut held = self.held.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(bytes) = held.slice(start, len) {
            return Ok(bytes);
        }
        if len as u64 >= self.bytes {
            return self.input.get_bytes(start, len);
        }
        self.input.check(start, len)?;
        let ahead = self.end.saturating_sub(start).min(self.bytes).max(len as u64);
        // Memory that no page uses any more is used again.
        spare::give(std::mem::take(&mut held.bytes));
        let mut space = spare::take(ahead as usize);
        self.input.read_at(&mut space[..ahead as usize], start)?;
        *held = Held { start, len: ahead as usize, bytes: space.freeze() };
        Ok(held.bytes.slice(..len))
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(|e| e.into_inner());
        spare::give(std::mem::take(&mut held.bytes));
    }
}

impl Length for Window {
    fn len(&self) -> u64 {
        self.input.len()
    }
}

impl ChunkReader for Window {
    type T = Chain<Reader<Bytes>, BufReader<FromOffset>>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let len = self.end.saturating_sub(start).min(HEADER_BYTES);
        let behind = FromOffset { file: self.input.0.clone(), at: start.saturating_add(len) };
        let behind = BufReader::with_capacity(HEADER_BYTES as usize, behind);
        Ok(self.fetch(start, len as usize)?.reader().chain(behind))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.fetch(start, length)
    }
}
