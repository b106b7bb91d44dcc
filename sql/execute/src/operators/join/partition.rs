//! Partitions of rows by the hash of their keys, each with rows that wait to be written together.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::Vector;
use yunti_sql_plan::Batch;

use super::keys::{self, CodeHashes};
use crate::spill::{Block, Spill, concat};
use crate::store::size::batch_bytes;

/// Partitions of a level.
pub const PARTITIONS: usize = 1 << PARTITION_BITS;
const PARTITION_BITS: u32 = 5;
/// Levels of partitions within partitions. Rows that are together behind the last have one key, or a few.
pub const LEVELS: u32 = 6;

/// Returns the partition of a hash. No level, and no table, divides by the same bits.
#[inline(always)]
pub fn partition(hash: u64, level: u32) -> usize {
    (keys::combine(hash, 0x9e37_79b9 + u64::from(level)) >> (64 - PARTITION_BITS)) as usize
}

/// Splits batches.
pub struct Splitter {
    level: u32,
    codes: CodeHashes,
    hashes: Vec<u64>,
}

impl Splitter {
    pub fn new(level: u32) -> Splitter {
        Splitter { level, codes: CodeHashes::default(), hashes: Vec::new() }
    }

    /// Returns the rows of each partition. Without a key, all rows are in the first.
    pub fn split(&mut self, keys: &[Arc<Vector>], rows: usize) -> Vec<Vec<u32>> {
        let mut all: Vec<Vec<u32>> = (0..PARTITIONS).map(|_| Vec::new()).collect();
        if keys.is_empty() {
            all[0] = (0..rows as u32).collect();
            return all;
        }
        keys::hash_columns(keys, rows, &mut self.codes, &mut self.hashes);
        for (row, &hash) in self.hashes.iter().enumerate() {
            all[partition(hash, self.level)].push(row as u32);
        }
        all
    }
}

/// Batches of each partition that are not written yet, and blocks that are.
pub struct Waiting {
    spill: Arc<Spill>,
    kinds: Vec<Kind>,
    /// Bytes of a partition that are written together.
    together: u64,
    batches: Vec<(Vec<Batch>, u64)>,
    pub blocks: Vec<Vec<(usize, Block)>>,
}

impl Waiting {
    /// `limit`: bytes of the budget; `workers`: how often it is waited at once.
    pub fn new(spill: &Arc<Spill>, kinds: &[Kind], limit: u64, workers: usize) -> Waiting {
        let together = limit / (16 * PARTITIONS * workers.max(1)) as u64;
        Waiting {
            spill: spill.clone(),
            kinds: kinds.to_vec(),
            together: together.clamp(4 << 10, 64 << 10),
            batches: (0..PARTITIONS).map(|_| (Vec::new(), 0)).collect(),
            blocks: (0..PARTITIONS).map(|_| Vec::new()).collect(),
        }
    }

    /// Adds rows of a partition; writes them if they are enough. `morsel`: where they come from.
    pub fn add(&mut self, partition: usize, batch: Batch, morsel: usize) -> Result<()> {
        let waiting = &mut self.batches[partition];
        waiting.1 += batch_bytes(&batch);
        waiting.0.push(batch);
        if waiting.1 >= self.together { self.write(partition, morsel) } else { Ok(()) }
    }

    fn write(&mut self, partition: usize, morsel: usize) -> Result<()> {
        let (batches, _) = std::mem::take(&mut self.batches[partition]);
        if batches.is_empty() {
            return Ok(());
        }
        self.spill.write(&concat(batches, &self.kinds)?, morsel, &mut self.blocks[partition])
    }

    /// Writes what waits.
    pub fn flush(&mut self, morsel: usize) -> Result<()> {
        (0..PARTITIONS).try_for_each(|partition| self.write(partition, morsel))
    }
}
