//! Hadoop's own summing combiners without Java: a table sums records while they are collected; its results are sorted.
//!
//! Values are eight bytes, little-endian, until they are written. 32-bit sums wrap as Java's do: they are the low half.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::collect::Collector;
use yunti_engine::fold::FoldTable;
use yunti_engine::library;
use yunti_engine::memory::Budget;
use yunti_engine::operator::class::find_class;
use yunti_engine::operator::context::JobContext;
use yunti_engine::operator::cursor::HEADER_BYTES;
use yunti_engine::operator::folder::state_bytes;
use yunti_engine::operator::{Folder, Kind, TaskContext};

/// Bytes that are readable behind a folded block.
const SLACK_BYTES: usize = 64;
const SUM_BYTES: usize = 8;

/// A table of sums in front of a collector.
pub struct SumTable {
    table: FoldTable,
    folder: Box<dyn Folder>,
    /// Records on their way into the table.
    block: Vec<u8>,
    /// Sums on their way to the collector.
    batch: Vec<u8>,
    /// Bytes of a batch for the collector.
    batch_bytes: usize,
    /// Records that left the table.
    pub records: u64,
}

impl SumTable {
    /// Returns an empty table that takes its memory from `budget`. Fails with `Code::Memory` if it is too small.
    pub fn new(budget: &Arc<Budget>, seed: u64, batch_bytes: usize) -> Result<SumTable> {
        let class = find_class(&[library::builtin_classes()], "Yunti.SumFolder", &[Kind::Folder])?;
        let folder = class.folder(&TaskContext::new(JobContext::empty(), false, 0, 1))?;
        let table = FoldTable::new(folder.shape(), seed, budget)?;
        Ok(SumTable { table, folder, block: Vec::new(), batch: Vec::new(), batch_bytes, records: 0 })
    }

    /// Adds `len` bytes of records in form COPY, which `fill` writes; drains a full table into the collector.
    pub fn put(
        &mut self,
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
        collector: &mut Collector<'_>,
    ) -> Result<()> {
        self.block.resize(len + SLACK_BYTES, 0);
        fill(&mut self.block[..len])?;
        let mut done = 0;
        loop {
            done += self.table.fold_copied(&mut *self.folder, &self.block[done..len])?.done;
            if done == len {
                return Ok(());
            }
            self.drain(collector)?;
        }
    }

    /// Empties the table into the collector. Fails with the collector's error.
    pub fn drain(&mut self, collector: &mut Collector<'_>) -> Result<()> {
        let SumTable { table, batch, batch_bytes, records, .. } = self;
        let hand_over = |batch: &mut Vec<u8>, collector: &mut Collector<'_>| -> Result<()> {
            collector.put(batch.len(), &[], |to| {
                to.copy_from_slice(batch);
                Ok(())
            })?;
            batch.clear();
            Ok(())
        };
        table.drain(|keys, states| {
            for (key, state) in keys.iter().zip(states) {
                let sum = state_bytes(state, SUM_BYTES);
                *records += 1;
                if key.len() > *batch_bytes / 2 {
                    collector.put_large(key, sum, 0)?;
                    continue;
                }
                batch.extend_from_slice(&(key.len() as u32).to_le_bytes());
                batch.extend_from_slice(&(SUM_BYTES as u32).to_le_bytes());
                batch.extend_from_slice(key);
                batch.extend_from_slice(sum);
                batch.resize(batch.len().next_multiple_of(8), 0);
                if batch.len() > *batch_bytes / 2 - HEADER_BYTES {
                    hand_over(batch, collector)?;
                }
            }
            Ok(())
        })?;
        hand_over(batch, collector)?;
        table.shrink()
    }
}
