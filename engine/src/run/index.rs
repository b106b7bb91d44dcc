//! A run: sorted records on scratch, and the index of its blocks, which stays in memory.
//!
//! Within a partition a run's records are in the order (key, split, place in the split). The index has 40 bytes a
//! block: 16 MB for 100 GB in blocks of 256 KiB. A run owns its extents: what was not freed before is freed when it is
//! dropped.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::scratch::{Extent, ScratchSpace};
use crate::bytes::KeyOrder;

#[derive(Clone, Copy, Debug)]
pub struct BlockEntry {
    pub extent: Extent,
    /// Prefixes (`KeyOrder::prefix` at 0) of the first and last key.
    pub first_prefix: u64,
    pub last_prefix: u64,
    pub raw_len: u32,
    pub partition: u32,
}

/// What a run or a slice of one holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunTotals {
    pub records: u64,
    /// Bytes of keys and values.
    pub record_bytes: u64,
    /// Bytes on scratch.
    pub stored_bytes: u64,
}

impl RunTotals {
    pub fn add(&mut self, other: RunTotals) {
        self.records += other.records;
        self.record_bytes += other.record_bytes;
        self.stored_bytes += other.stored_bytes;
    }
}

/// A stretch of a partition by key prefix, both ends included. Equal keys are always in one stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRange {
    pub partition: u32,
    pub lo: u64,
    pub hi: u64,
}

impl KeyRange {
    pub fn whole(partition: u32) -> Self {
        KeyRange { partition, lo: 0, hi: u64::MAX }
    }
}

/// Block entries that forget their extents when they are dropped: a run goes unread only when its job ends. Slices and runs hold
/// their blocks in one.
pub(super) struct Blocks {
    scratch: Arc<ScratchSpace>,
    entries: Vec<BlockEntry>,
    /// One bit a block that was freed already; made when the run is complete.
    freed: Vec<AtomicU64>,
}

impl Blocks {
    pub fn new(scratch: Arc<ScratchSpace>) -> Self {
        Blocks { scratch, entries: Vec::new(), freed: Vec::new() }
    }

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

/// A finished run. Readers share it through an `Arc`.
pub struct Run {
    blocks: Blocks,
    order: KeyOrder,
    block_bytes: usize,
    totals: RunTotals,
}

impl Run {
    /// The blocks of slices, which come in the run's order; partitions may lie apart.
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
        Run { blocks, order, block_bytes, totals }
    }

    /// Whether the blocks of each partition are in the order of their keys.
    pub(super) fn is_ordered(&self) -> bool {
        self.blocks.entries.windows(2).all(|pair| {
            pair[0].partition != pair[1].partition
                || (pair[0].first_prefix <= pair[0].last_prefix && pair[0].last_prefix <= pair[1].first_prefix)
        })
    }

    pub fn totals(&self) -> RunTotals {
        self.totals
    }
    pub fn order(&self) -> KeyOrder {
        self.order
    }
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }
    /// All blocks, by partition and then in order.
    pub fn blocks(&self) -> &[BlockEntry] {
        &self.blocks.entries
    }
    pub(super) fn scratch(&self) -> &ScratchSpace {
        &self.blocks.scratch
    }

    /// The numbers of the blocks with records in a range (some records may lie beside it).
    pub fn blocks_of(&self, range: &KeyRange) -> Range<usize> {
        let entries = &self.blocks.entries;
        let start = entries.partition_point(|b| (b.partition, b.last_prefix) < (range.partition, range.lo));
        let end = entries.partition_point(|b| (b.partition, b.first_prefix) <= (range.partition, range.hi));
        start..end.max(start)
    }

    /// Frees a block early. Nobody reads it any more.
    pub(super) fn free(&self, i: usize) {
        let bit = 1u64 << (i % 64);
        let before = self.blocks.freed[i / 64].fetch_or(bit, Ordering::Relaxed);
        assert!(before & bit == 0, "a block was consumed twice");
        self.blocks.scratch.free(self.blocks.entries[i].extent);
    }

    /// Whether the block was consumed.
    pub(super) fn is_freed(&self, i: usize) -> bool {
        self.blocks.is_freed(i)
    }
}
