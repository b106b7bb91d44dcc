//! Blocks of a stretch: read, decompressed, decoded in batches.

use std::ops::Range;

use arrow_array::{RecordBatch, cast::AsArray};
use yunti_api::Result;

use super::builder;
use super::column::Column;
use super::header::{Block, Header};
use super::input::{Input as Values, damaged};
use crate::file::codec::Codec;
use crate::file::input::Input;
use crate::scan::Picked;

/// Memory of decoded columns in a batch, about.
const BATCH_BYTES: u64 = 1 << 20;
/// Rows of a batch, at most.
const BATCH_ROWS_MAX: usize = 8192;
/// Records of a block that take no byte, at most.
const EMPTY_RECORDS_MAX: u64 = 1 << 24;

/// Blocks that begin in a stretch of a file.
pub struct Blocks {
    file: Input,
    columns: Column,
    /// Offset of the next block, and the end of the stretch.
    next: u64,
    end: u64,
    block: Option<OpenBlock>,
    stored: Vec<u8>,
    plain: Vec<u8>,
}

/// A block that is being decoded.
struct OpenBlock {
    at: usize,
    rows_left: u64,
}

impl Blocks {
    /// Begins at the first block of a stretch.
    pub fn open(file: Input, header: &Header, picked: &Picked, stretch: Range<u64>) -> Result<Blocks> {
        if stretch.start < header.end {
            return Err(damaged("fewer blocks than before"));
        }
        let columns = builder::columns(&header.schema, picked)?;
        // A stretch without a length is one block.
        let (next, end) = (stretch.start, stretch.end.max(stretch.start + 1));
        Ok(Blocks { file, columns, next, end, block: None, stored: Vec::new(), plain: Vec::new() })
    }

    /// Decodes the next batch; None at the end of the stretch. Calls `count` with the records of each block.
    pub fn next_batch(&mut self, header: &Header, mut count: impl FnMut(u64)) -> Result<Option<RecordBatch>> {
        while self.block.is_none() {
            if self.next >= self.end {
                return Ok(None);
            }
            let Some(block) = header.block(&self.file, self.next)? else { return Ok(None) };
            self.next = block.next();
            self.read(header, block)?;
            // Only records of nulls take no byte.
            let (records, bytes) = (block.records, self.plain.len() as u64);
            if records > bytes && (bytes > 0 || records > EMPTY_RECORDS_MAX) {
                return Err(damaged("a block with more records than bytes"));
            }
            count(block.records);
            if block.records > 0 {
                self.block = Some(OpenBlock { at: 0, rows_left: block.records });
            } else if !self.plain.is_empty() {
                return Err(damaged("a block without records that has bytes"));
            }
        }
        let Some(block) = &mut self.block else { return Ok(None) };
        let held = header.memory + (self.stored.capacity() + self.plain.capacity()) as u64;
        let file = &self.file;
        let mut hold = |bytes| file.hold(held + bytes);
        let mut input = Values::new(&self.plain, block.at, &mut hold);
        let mut decoded = 0;
        while block.rows_left > 0 && decoded < BATCH_ROWS_MAX && input.spent() < BATCH_BYTES {
            self.columns.decode(&mut input)?;
            block.rows_left -= 1;
            decoded += 1;
        }
        block.at = input.at();
        if block.rows_left == 0 {
            if input.left() > 0 {
                return Err(damaged("a block with more bytes than its records have"));
            }
            self.block = None;
        }
        Ok(Some(RecordBatch::from(self.columns.finish(None)?.as_struct().clone())))
    }

    /// Reads a block and decompresses it.
    fn read(&mut self, header: &Header, block: Block) -> Result<()> {
        // Nothing of the block before is needed, and its place is used again unless it was large.
        self.plain.clear();
        if self.plain.capacity() as u64 > 4 * BATCH_BYTES.max(block.bytes) {
            self.plain = Vec::new();
        }
        let held = header.memory + block.bytes.max(self.stored.capacity() as u64);
        self.file.hold(held + self.plain.capacity() as u64 + 2 * BATCH_BYTES)?;
        self.stored.clear();
        self.stored.resize(block.bytes as usize, 0);
        self.file.read_at(&mut self.stored, block.start)?;
        let mut stored = &self.stored[..];
        let mut checksum = None;
        if header.codec == Codec::Snappy {
            let (before, sum) = stored.split_last_chunk().ok_or_else(|| damaged("a block without its checksum"))?;
            (stored, checksum) = (before, Some(u32::from_be_bytes(*sum)));
        }
        let file = &self.file;
        header.codec.decode(stored, &mut self.plain, &mut |bytes| file.hold(held + 2 * BATCH_BYTES + bytes))?;
        if checksum.is_some_and(|sum| sum != crc32fast::hash(&self.plain)) {
            return Err(damaged(&format!("a block with a wrong checksum at byte {}", block.offset)));
        }
        Ok(())
    }
}
