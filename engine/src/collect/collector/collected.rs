//! The records of one worker or all, before they are sorted.

use super::super::chains::Chains;
use super::super::entries::EntryBlock;
use super::super::store::Store;
use crate::memory::{Block, Grant};
use yunti_base::Result;

/// Records that are not sorted yet, of one worker or all.
#[derive(Default)]
pub struct CollectedRecords {
    /// Pool blocks that hold the records.
    pub blocks: Vec<Block>,
    /// Entries of the records, if the buckets are not known during collecting.
    pub entries: Vec<EntryBlock>,
    /// Entries already in their buckets, instead of `entries`; one instance per worker.
    pub chains: Vec<Chains>,
    /// Memory for sorting the entries, taken during collecting.
    pub grants: Vec<Grant>,
    /// Numbers of the large records in the store.
    pub large_numbers: Vec<u32>,
    /// Bytes of the large records; they count towards the spill threshold as blocks do.
    pub large_bytes: u64,
    /// Number of records.
    pub records: u64,
    /// Bytes of keys and values.
    pub bytes: u64,
}

impl CollectedRecords {
    /// Returns all blocks to the pool; places in them are not read afterwards.
    pub fn release(&mut self, store: &Store) {
        store.pool().put(self.blocks.drain(..));
        store.pool().put(self.entries.drain(..).map(EntryBlock::into_block));
        store.pool().put(self.chains.drain(..).flat_map(Chains::into_blocks));
        self.large_numbers.drain(..).for_each(|n| store.drop_large(n));
        self.grants.clear();
        (self.large_bytes, self.records, self.bytes) = (0, 0, 0);
    }

    /// Adds another worker's records.
    pub fn append(&mut self, mut other: CollectedRecords) {
        self.blocks.append(&mut other.blocks);
        self.entries.append(&mut other.entries);
        self.chains.append(&mut other.chains);
        self.grants.append(&mut other.grants);
        self.large_numbers.append(&mut other.large_numbers);
        self.large_bytes += other.large_bytes;
        self.records += other.records;
        self.bytes += other.bytes;
    }
}

/// Moves collected records out of memory.
pub trait Spill: Send {
    /// Writes the records to a run and releases them (`CollectedRecords::release`), at once or in the background.
    fn spill(&mut self, store: &Store, collected: &mut CollectedRecords) -> Result<()>;

    /// Returns true if spills run beside the collector from now on, so that it may fill half of its share.
    fn shares_memory(&self) -> bool {
        false
    }

    /// Waits for a background spill. Returns true if there was one, so that its memory is free now.
    fn wait(&mut self) -> Result<bool> {
        Ok(false)
    }
}
