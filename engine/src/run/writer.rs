//! A writer of a run: several workers write at once, one slice after another.
//!
//! ```text
//!   run      | slice 0 | slice 1 | slice 2 | slice 3 |      slices are numbered in the run's order
//!   worker        A         B         B         A           and written in any
//!   slice    | block | block | block |                      a block holds one partition
//! ```
//!
//! A slice keeps one unfinished block and seals it when it is full. Sealed blocks that are small, because they were
//! compressed or their partition ended, gather until one write of `WRITE_BYTES` takes them all:
//!
//! ```text
//!   pending | block | block | block |  -> one write, an extent for each block
//! ```
//!
//! A large block is written from where it was sealed, without a copy. Rejected without a measurement: write-behind
//! through extra threads. A buffered write is a copy into the page cache (about 0.1 ms a block). If the disk is the
//! limit, every worker waits for it in either case, and blocks in flight take more memory.

use std::sync::Arc;

use super::block::{BlockBuilder, RECORDS_MAX, TRAILER_BYTES, trailer_of_one};
use super::codec_gauge::SpillCodec;
use super::index::{BlockEntry, Blocks, Run, RunTotals};
use super::scratch::{Extent, ScratchSpace};
use crate::bytes::{KeyOrder, Record};
use crate::env::sync::Mutex;
use yunti_base::Result;

/// Settings shared by the runs of a job.
#[derive(Clone, Copy, Debug)]
pub struct RunSettings {
    /// Order of the keys.
    pub order: KeyOrder,
    /// Bytes of a block in memory: usually 256 KiB, at least `BLOCK_BYTES_MIN` unless the memory budget is tiny. A
    /// larger record has its own block, stored plain.
    pub block_bytes: usize,
    /// Compression of the blocks.
    pub codec: SpillCodec,
}

impl RunSettings {
    /// Bytes of a block, unless the memory budget is small.
    pub const BLOCK_BYTES: usize = 256 << 10;
    /// Bytes of a block in a small budget. A full block of records up to 32 KiB is a write of `WRITE_BYTES` or more.
    pub const BLOCK_BYTES_MIN: usize = 160 << 10;

    fn write_bytes(&self) -> usize {
        WRITE_BYTES.min(self.block_bytes / 5 * 4)
    }
}

/// Bytes of a write to scratch, at least, except for the last write of a slice.
pub const WRITE_BYTES: usize = 128 << 10;

/// Returns the memory of one `SliceWriter` in bytes, at most.
pub fn writer_memory_bytes(block_bytes: usize) -> u64 {
    // Records and their frames; the packed frames; the compressed block; lz4's table; blocks that wait.
    3 * block_bytes as u64 + (block_bytes / 8 + (32 << 10)) as u64 + pending_bytes(block_bytes) as u64
}

/// Returns the bytes of blocks that wait, at most: just too few for a write, and a block.
fn pending_bytes(block_bytes: usize) -> usize {
    WRITE_BYTES.min(block_bytes) + block_bytes
}

/// An unfinished run, shared by its writers.
pub struct RunBuilder {
    scratch: Arc<ScratchSpace>,
    settings: RunSettings,
    /// True if the records of a partition are in key order.
    ordered: bool,
    /// Buffers of finished slices.
    idle: Mutex<Vec<Buffers>>,
}

#[derive(Default)]
struct Buffers {
    block: BlockBuilder,
    packed: Vec<u8>,
    /// Sealed blocks that wait for their write, one behind the other.
    pending: Vec<u8>,
    /// Their entries, with offsets in `pending`.
    waiting: Vec<BlockEntry>,
}

impl RunBuilder {
    /// Returns a run without slices.
    pub fn new(scratch: Arc<ScratchSpace>, settings: RunSettings) -> Self {
        RunBuilder { scratch, settings, ordered: true, idle: Mutex::new(Vec::new()) }
    }

    /// Returns a run for unordered records, whose partitions are read whole.
    pub fn unordered(scratch: Arc<ScratchSpace>, settings: RunSettings) -> Self {
        RunBuilder { ordered: false, ..Self::new(scratch, settings) }
    }

    /// Begins slice `number`. A thread writes one slice at a time.
    pub fn slice(&self, number: u32) -> SliceWriter<'_> {
        let buffers = self.idle.lock().unwrap_or_else(|e| e.into_inner()).pop().unwrap_or_default();
        SliceWriter {
            builder: self,
            number,
            blocks: Blocks::new(self.scratch.clone()),
            totals: RunTotals::default(),
            partition: 0,
            buffers,
        }
    }

    /// Returns the run of these slices, in the order of their numbers.
    ///
    /// # Panics
    /// Panics if two slices have one number.
    pub fn finish(self, mut slices: Vec<Slice>) -> Run {
        slices.sort_by_key(|slice| slice.number);
        assert!(slices.windows(2).all(|pair| pair[0].number < pair[1].number), "two slices have one number");
        let slices = slices.into_iter().map(|slice| (slice.blocks, slice.totals)).collect();
        let run = Run::of_slices(slices, self.scratch, self.settings.order, self.settings.block_bytes);
        debug_assert!(!self.ordered || run.is_ordered(), "slices are not in the run's order");
        run
    }
}

/// A finished slice.
pub struct Slice {
    number: u32,
    blocks: Blocks,
    totals: RunTotals,
}

impl Slice {
    /// Returns the totals of the slice.
    pub fn totals(&self) -> RunTotals {
        self.totals
    }
}

/// A writer of one slice. Dropped without `finish`, it frees its blocks.
pub struct SliceWriter<'b> {
    builder: &'b RunBuilder,
    number: u32,
    blocks: Blocks,
    totals: RunTotals,
    /// Partition of the unfinished block.
    partition: u32,
    buffers: Buffers,
}

impl SliceWriter<'_> {
    /// Adds the next record in the run's order: within a partition by (key, split, position in the split).
    ///
    /// Fails with `Code::Output` if no scratch directory can be written to.
    #[inline]
    pub fn append(&mut self, partition: u32, record: Record<'_>) -> Result<()> {
        let limit = self.builder.settings.block_bytes;
        let block = &self.buffers.block;
        let weight = block.weight_bytes() + BlockBuilder::weight_of(&record);
        if partition != self.partition || weight > limit || block.records() == RECORDS_MAX {
            self.cut()?;
            self.partition = partition;
            if BlockBuilder::weight_of(&record) > limit {
                return self.append_alone(record);
            }
        }
        let block = &mut self.buffers.block;
        debug_assert!(
            block.is_empty()
                || !self.builder.ordered
                || self.builder.settings.order.compare(block.last_key(), record.key()).is_le(),
            "records are not in the run's order"
        );
        block.push(&record);
        Ok(())
    }

    /// Ends the block, so that the next record begins another one. Fails as `append` does.
    pub fn cut(&mut self) -> Result<()> {
        let Buffers { block, packed, pending, waiting } = &mut self.buffers;
        if block.is_empty() {
            return Ok(());
        }
        let RunSettings { order, codec, block_bytes } = self.builder.settings;
        let write_bytes = self.builder.settings.write_bytes();
        let scratch = &self.builder.scratch;
        let (first_prefix, last_prefix) = (order.prefix(block.first_key(), 0), order.prefix(block.last_key(), 0));
        self.totals.records += block.records() as u64;
        self.totals.record_bytes += block.data_bytes() as u64;
        let compress = scratch.gauge().compress_next(codec);
        let started = if compress { scratch.clock().now_ns() } else { 0 };
        let (stored, raw_len) = block.seal(self.partition, compress, packed);
        if compress {
            let ns = scratch.clock().now_ns().saturating_sub(started);
            scratch.gauge().note_compression(u64::from(raw_len), (stored.len() - TRAILER_BYTES) as u64, ns);
        }
        let (offset, len) = (pending.len() as u64, stored.len() as u32);
        let mut entry = BlockEntry {
            extent: Extent { offset, len, file: 0 },
            first_prefix,
            last_prefix,
            raw_len,
            partition: self.partition,
        };
        self.totals.stored_bytes += u64::from(len);
        if pending.is_empty() && stored.len() >= write_bytes {
            let written = scratch.write(&[stored]);
            block.clear();
            entry.extent = written?;
            self.blocks.push(entry);
            return Ok(());
        }
        pending.reserve_exact(pending_bytes(block_bytes).saturating_sub(pending.len()).max(stored.len()));
        pending.extend_from_slice(stored);
        waiting.push(entry);
        block.clear();
        if pending.len() >= write_bytes { self.write_pending() } else { Ok(()) }
    }

    /// Writes the blocks that wait.
    fn write_pending(&mut self) -> Result<()> {
        let Buffers { pending, waiting, .. } = &mut self.buffers;
        if pending.is_empty() {
            return Ok(());
        }
        let written = self.builder.scratch.write(&[&pending[..]]);
        pending.clear();
        let waiting = waiting.drain(..);
        let extent = written?;
        for entry in waiting {
            let own = Extent { offset: extent.offset + entry.extent.offset, len: entry.extent.len, ..extent };
            self.blocks.push(BlockEntry { extent: own, ..entry });
        }
        Ok(())
    }

    /// Writes the last block and returns the slice.
    pub fn finish(mut self) -> Result<Slice> {
        self.cut()?;
        self.write_pending()?;
        let SliceWriter { builder, number, blocks, totals, buffers, .. } = self;
        builder.idle.lock().unwrap_or_else(|e| e.into_inner()).push(buffers);
        Ok(Slice { number, blocks, totals })
    }

    /// Writes a record larger than a block directly, without a copy.
    #[cold]
    fn append_alone(&mut self, record: Record<'_>) -> Result<()> {
        // The blocks of a slice are in order.
        self.write_pending()?;
        let prefix = self.builder.settings.order.prefix(record.key(), 0);
        let trailer = trailer_of_one(self.partition, &record);
        let extent = self.builder.scratch.write(&[record.bytes, &trailer])?;
        self.totals.add(RunTotals {
            records: 1,
            record_bytes: record.bytes.len() as u64,
            stored_bytes: u64::from(extent.len),
        });
        self.blocks.push(BlockEntry {
            extent,
            first_prefix: prefix,
            last_prefix: prefix,
            raw_len: record.bytes.len() as u32,
            partition: self.partition,
        });
        Ok(())
    }
}
