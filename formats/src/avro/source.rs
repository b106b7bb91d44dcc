//! The source: stretches of blocks as units, records from the columns that the job asks for.
//!
//! ```text
//!   unit      blocks that begin in a stretch of the file; its number: offset of the first one, stretch in 64 KiB
//!   block     read, decompressed, and decoded in batches of about a megabyte
//! ```
//!
//! A plan walks the headers of the blocks, and has some tens of thousands of units at most, whatever the file's size. A
//! plan of a range searches for the first marker in it, as Avro's own readers do.

use arrow_array::{RecordBatch, cast::AsArray};
use yunti_api::{Bytes, Class, Context, Counter, Error, Out, Result, Scan, Sink, Source, SourceFile, Unit};

use super::column::Column;
use super::header::{Block, Header};
use super::input::{Input, damaged};
use super::{builder, describe};
use crate::emit::{self, Emission};
use crate::failure::guarded;
use crate::file::stretch::Stretch;
use crate::scan::Picked;

/// Memory of decoded columns in a batch, about.
const BATCH_BYTES: u64 = 1 << 20;
/// Rows of a batch, at most.
const BATCH_ROWS_MAX: usize = 8192;

/// Records of a block that take no byte, at most.
const EMPTY_RECORDS_MAX: u64 = 1 << 24;

/// Reader of Avro files.
pub struct AvroSource {
    /// Rows of the blocks that were decoded.
    rows: Counter,
    header: Option<Header>,
    unit: Option<OpenUnit>,
}

/// Blocks that are being read.
struct OpenUnit {
    file: SourceFile,
    columns: Column,
    /// Offset of the next block, and the end of the stretch.
    next: u64,
    end: u64,
    block: Option<OpenBlock>,
    emission: Emission,
    stored: Vec<u8>,
    plain: Vec<u8>,
}

/// A block that is being decoded.
struct OpenBlock {
    at: usize,
    rows_left: u64,
}

impl Class for AvroSource {
    fn create(context: &Context) -> Result<Self> {
        Ok(AvroSource { rows: context.counter("Formats", "ROWS")?, header: None, unit: None })
    }
}

fn of_panic(text: &str) -> Error {
    Error::damaged(format!("the Avro file is damaged ({})", crate::failure::line(text)))
}

impl AvroSource {
    fn header(&mut self, file: &SourceFile) -> Result<&Header> {
        if self.header.is_none() {
            self.header = Some(guarded(of_panic, || Header::load(file))?);
        }
        Ok(self.header.as_ref().expect("it was just loaded"))
    }
}

impl Source for AvroSource {
    type Key = Bytes;
    type Value = Bytes;
    const GIVES_BLOCKS: bool = true;

    fn plan(&mut self, file: &SourceFile, scan: &Scan) -> Result<Vec<Unit>> {
        let header = self.header(file)?;
        Picked::find(scan, &header.columns)?;
        let stretch = Stretch::of_file(file.len());
        let Some(mut offset) = header.first_block(file, scan.from)? else { return Ok(Vec::new()) };
        let (mut units, mut end) = (Vec::new(), 0);
        // The marker behind the last block is checked too: the next range searches for it.
        while let Some(block) = header.block(file, offset)?.filter(|block| block.offset < scan.end()) {
            if block.offset >= end {
                let number = stretch.number_within(block.offset, scan.end())?;
                end = Stretch::range(number).end;
                units.push(Unit { number, position: block.offset, bytes: 0, records: 0 });
            }
            if let Some(unit) = units.last_mut() {
                unit.bytes += block.bytes;
                unit.records = unit.records.saturating_add(block.records);
            }
            offset = block.next();
        }
        units.retain(|unit| unit.records > 0);
        Ok(units)
    }

    fn open(&mut self, file: &SourceFile, scan: &Scan, unit: u64) -> Result<()> {
        self.unit = None;
        let header = self.header(file)?;
        file.hold(header.memory)?;
        let picked = Picked::find(scan, &header.columns)?;
        let columns = builder::columns(&header.schema, &picked)?;
        let range = Stretch::range(unit);
        if range.start < header.end {
            return Err(damaged("fewer blocks than before"));
        }
        let emission = Emission::of(scan, picked);
        self.unit = Some(OpenUnit {
            file: file.clone(),
            columns,
            next: range.start,
            // A stretch without a length is one block.
            end: range.end.max(range.start + 1),
            block: None,
            emission,
            stored: Vec::new(),
            plain: Vec::new(),
        });
        Ok(())
    }

    fn next(&mut self, out: &mut Out<'_, Bytes, Bytes>) -> Result<bool> {
        let Some(header) = &self.header else { return Ok(false) };
        let decode = |unit: &mut OpenUnit| unit.next_batch(header, &self.rows);
        emit::next(&mut self.unit, |unit| &mut unit.emission, of_panic, decode, out)
    }

    fn describe(&mut self, file: &SourceFile, out: &mut Sink<'_>) -> Result<()> {
        let header = self.header(file)?;
        out.put(describe::document(file, header)?.as_bytes())?;
        Ok(())
    }
}

impl OpenUnit {
    /// Decodes the next batch; None at the end of the unit.
    fn next_batch(&mut self, header: &Header, rows: &Counter) -> Result<Option<RecordBatch>> {
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
            rows.add(block.records);
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
        let mut input = Input::new(&self.plain, block.at, &mut hold);
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
        if header.codec == crate::file::codec::Codec::Snappy {
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
