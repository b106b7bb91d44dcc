//! A run: sorted records on scratch, and the index of its blocks in memory.
//!
//! Within a partition, a run's records are in the order (key, split, position in the split). The index takes 40 bytes a
//! block: 16 MB for 100 GB in blocks of 256 KiB. A run owns its extents; dropping it frees the ones that are still in
//! use.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::scratch::{Extent, ScratchSpace};
use crate::bytes::KeyOrder;

/// Index entry of one block.
#[derive(Clone, Copy, Debug)]
pub struct BlockEntry {
    /// Position on scratch.
    pub extent: Extent,
    /// Prefix (`KeyOrder::prefix` at 0) of the first key.
    pub first_prefix: u64,
    /// Prefix of the last key.
    pub last_prefix: u64,
    /// Bytes of the body before compression.
    pub raw_len: u32,
    /// Partition of all its records.
    pub partition: u32,
}

/// Totals of a run or a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunTotals {
    /// Number of records.
    pub records: u64,
    /// Bytes of keys and values.
    pub record_bytes: u64,
    /// Bytes on scratch.
    pub stored_bytes: u64,
}

impl RunTotals {
    /// Adds the totals of another run or slice.
    pub fn add(&mut self, other: RunTotals) {
        self.records += other.records;
        self.record_bytes += other.record_bytes;
        self.stored_bytes += other.stored_bytes;
    }
}

/// A range of a partition by key prefix, both ends included. Equal keys are always in one range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// Number of the partition.
    pub partition: u32,
    /// Smallest prefix.
    pub lo: u64,
    /// Largest prefix.
    pub hi: u64,
}

impl KeyRange {
    /// Returns the range of a whole partition.
    pub fn whole(partition: u32) -> Self {
        KeyRange { partition, lo: 0, hi: u64::MAX }
    }
}

/// Block entries that forget their extents on drop: a run stays unread only if its job ends. Slices and runs hold their
/// blocks in one.
pub(super) struct Blocks {
    scratch: Arc<ScratchSpace>,
    entries: Vec<BlockEntry>,
    /// One bit per freed block; made when the run is complete.
    freed: Vec<AtomicU64>,
}

impl Blocks {
    /// Returns an empty list of blocks.
    pub fn new(scratch: Arc<ScratchSpace>) -> Self {
        Blocks { scratch, entries: Vec::new(), freed: Vec::new() }
    }

    /// Adds the next block.
    pub fn push(&mut self, entry: BlockEntry) {
        self.entries.push(entry);
    }

    fn is_freed(&self, i: usize) -> bool {
        self.freed.get(i / 64).is_some_and(|bits| bits.load(Ordering::Relaxed) & 1 << (i % 64) != 0)
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        for (i, entry) in self.entries.iter().enumerate() {
            if !self.is_freed(i) {
                self.scratch.forget(entry.extent);
            }
        }
    }
}

/// A finished run; readers share it through an `Arc`.
pub struct Run {
    blocks: Blocks,
    order: KeyOrder,
    block_bytes: usize,
    totals: RunTotals,
    /// Number in the job's journal.
    number: OnceLock<u32>,
    damaged: AtomicBool,
}

impl Run {
    /// Joins the blocks of slices, which are in the run's order. A partition's blocks may be spread over slices.
    pub(super) fn of_slices(
        slices: Vec<(Blocks, RunTotals)>,
        scratch: Arc<ScratchSpace>,
        order: KeyOrder,
        block_bytes: usize,
    ) -> Run {
        let mut blocks = Blocks::new(scratch);
        let mut totals = RunTotals::default();
        blocks.entries.reserve_exact(slices.iter().map(|(slice, _)| slice.entries.len()).sum());
        for (mut slice, of_slice) in slices {
            blocks.entries.append(&mut slice.entries);
            totals.add(of_slice);
        }
        blocks.entries.sort_by_key(|entry| entry.partition);
        blocks.freed.resize_with(blocks.entries.len().div_ceil(64), AtomicU64::default);
        Run { blocks, order, block_bytes, totals, number: OnceLock::new(), damaged: AtomicBool::new(false) }
    }

    /// Returns the run of these blocks, which are in its order.
    pub fn of_entries(
        entries: Vec<BlockEntry>,
        totals: RunTotals,
        scratch: Arc<ScratchSpace>,
        order: KeyOrder,
        block_bytes: usize,
    ) -> Run {
        let blocks = Blocks { scratch: scratch.clone(), entries, freed: Vec::new() };
        Run::of_slices(vec![(blocks, totals)], scratch, order, block_bytes)
    }

    /// Returns the number in the job's journal; None if the journal has not the run yet.
    pub fn number(&self) -> Option<u32> {
        self.number.get().copied()
    }
    /// Sets the number in the job's journal, once.
    pub fn set_number(&self, number: u32) {
        let _ = self.number.set(number);
    }
    /// Returns true if a block could not be read.
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }
    pub(super) fn note_damage(&self) {
        self.damaged.store(true, Ordering::Relaxed);
    }
    /// Frees all blocks that are not freed yet; no reader reads them afterwards.
    pub fn free_rest(&self) {
        (0..self.blocks().len()).filter(|&i| !self.is_freed(i)).for_each(|i| self.free(i));
    }

    /// Returns true if the blocks of each partition are in key order.
    pub(super) fn is_ordered(&self) -> bool {
        self.blocks.entries.windows(2).all(|pair| {
            pair[0].partition != pair[1].partition
                || (pair[0].first_prefix <= pair[0].last_prefix && pair[0].last_prefix <= pair[1].first_prefix)
        })
    }

    /// Returns the run's totals.
    pub fn totals(&self) -> RunTotals {
        self.totals
    }
    /// Returns the order of the keys.
    pub fn order(&self) -> KeyOrder {
        self.order
    }
    /// Returns the usual size of a block in bytes.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }
    /// Returns all blocks, by partition and then in order.
    pub fn blocks(&self) -> &[BlockEntry] {
        &self.blocks.entries
    }
    /// Returns the number of partitions with records: the segments of a sequential write.
    pub fn segments(&self) -> usize {
        self.blocks().chunk_by(|a, b| a.partition == b.partition).count()
    }
    pub(super) fn scratch(&self) -> &ScratchSpace {
        &self.blocks.scratch
    }

    /// Returns the numbers of the blocks with records in a range; a block may also have records outside of it.
    pub fn blocks_of(&self, range: &KeyRange) -> Range<usize> {
        let entries = &self.blocks.entries;
        let start = entries.partition_point(|b| (b.partition, b.last_prefix) < (range.partition, range.lo));
        let end = entries.partition_point(|b| (b.partition, b.first_prefix) <= (range.partition, range.hi));
        start..end.max(start)
    }

    /// Frees a block early; no reader reads it afterwards.
    pub(super) fn free(&self, i: usize) {
        let bit = 1u64 << (i % 64);
        let before = self.blocks.freed[i / 64].fetch_or(bit, Ordering::Relaxed);
        assert!(before & bit == 0, "a block was consumed twice");
        self.blocks.scratch.free(self.blocks.entries[i].extent);
    }

    /// Returns true if the block was freed.
    pub(super) fn is_freed(&self, i: usize) -> bool {
        self.blocks.is_freed(i)
    }
}
