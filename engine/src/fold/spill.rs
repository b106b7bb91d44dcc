//! A table's states as a run on scratch: a partition of the run is a range of the hash.
//!
//! Slots are in the order of the hashes, so a table is written from one end to the other without a sort. One range of
//! all runs is merged in its own table, with no key comparisons beyond the table's.
//!
//! Rejected: states through the collector, sorted by key and merged as records are. 2 GB of Zipf text in 1/8 of the
//! memory took 6.2 times as long as with all memory.

use std::sync::Arc;

use super::batch::Share;
use super::table::FoldTable;
use crate::bytes::{KeyOrder, Record};
use crate::operator::Folder;
use crate::operator::folder::state_bytes;
use crate::run::{Block, BlockSource, KeyRange, ReadContext, Run, RunBuilder, RunReader};
use yunti_base::Result;

/// Ranges of the hash: 1 << bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashRanges {
    bits: u32,
}

/// Bytes of a run's partition, at least (about), so that blocks are not small.
const PARTITION_BYTES: u64 = if cfg!(debug_assertions) { 1 << 10 } else { 64 << 10 };
const BITS_MAX: u32 = 8;

impl HashRanges {
    /// Returns the ranges for tables of about `bytes`.
    pub fn for_tables(bytes: u64) -> HashRanges {
        HashRanges { bits: (bytes / PARTITION_BYTES).max(1).ilog2().min(BITS_MAX) }
    }

    /// Returns the ranges of these many bits of the hash; at most `BITS_MAX`.
    pub fn of_bits(bits: u32) -> HashRanges {
        HashRanges { bits: bits.min(BITS_MAX) }
    }

    /// Returns the bits of the hash that number a range.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// Returns the number of ranges.
    pub fn count(self) -> u32 {
        1 << self.bits
    }

    /// Writes all states of a table to a run; the table is unchanged. Fails with the error of the scratch write.
    pub fn write(self, table: &FoldTable, builder: RunBuilder) -> Result<Run> {
        let len = table.state_bytes();
        let store = table.store();
        let mut writer = builder.slice(0);
        let mut record = Vec::new();
        for slot in store.slots.as_slice().iter().filter(|slot| !slot.is_empty()) {
            let key = store.key_of(slot);
            let state = store.state_of(slot);
            record.clear();
            record.extend_from_slice(key);
            record.extend_from_slice(state_bytes(&state, len));
            let range = (u64::from(slot.order()) >> (32 - self.bits)) as u32;
            writer.append(range, Record { bytes: &record, key_len: key.len() as u32, split: 0 })?;
        }
        let slice = writer.finish()?;
        Ok(builder.finish(vec![slice]))
    }
}

/// A table that gathers one range of all runs after another.
pub struct RangeMerge<'r> {
    table: FoldTable,
    runs: &'r [Arc<Run>],
    context: &'r ReadContext,
    block: Block,
    spare: Vec<u8>,
    /// Positions of keys and states in the block.
    entries: Vec<[[u32; 2]; 2]>,
    records: u64,
}

impl<'r> RangeMerge<'r> {
    /// `table` is empty and has another seed than the spilled tables.
    pub fn new(table: FoldTable, runs: &'r [Arc<Run>], context: &'r ReadContext) -> Self {
        let (block, spare, entries) = (Block::default(), Vec::new(), Vec::new());
        RangeMerge { table, runs, context, block, spare, entries, records: 0 }
    }

    /// Gathers the states of a range's keys in `keys`; returns None if they do not fit.
    ///
    /// Fails with the error of a read or of the folder.
    pub fn gather(&mut self, folder: &mut dyn Folder, range: u32, keys: Share) -> Result<Option<&FoldTable>> {
        self.table.clear();
        for run in self.runs {
            let mut reader = RunReader::open(run, KeyRange::whole(range), false, self.context);
            while reader.next_block(&mut self.block, &mut self.spare)? {
                let mut at = self.block.start();
                self.entries.clear();
                self.block.decode(&mut at, usize::MAX, KeyOrder::BYTES, |_, e| {
                    let state = [e.offset + e.key_len, e.len - e.key_len];
                    self.entries.push([[e.offset, e.key_len], state]);
                });
                self.block.check_end(at).map_err(|e| reader.locate(e))?;
                self.records += self.entries.len() as u64;
                if !self.table.merge_states(folder, self.block.data(), &self.entries, keys)? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(&self.table))
    }

    /// Returns the number of states read; states read again count again.
    pub fn records(&self) -> u64 {
        self.records
    }
}
