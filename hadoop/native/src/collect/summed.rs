//! Hadoop's own summing combiners, without Java: records are summed in a table while they are collected, and what leaves it is
//! sorted. Values are eight bytes, little-endian, until they are written; 32-bit sums wrap as Java's do, being the low half.

use std::sync::Arc;

use yunti_engine::base::{Record, Result};
use yunti_engine::collect::Collector;
use yunti_engine::fold::FoldTable;
use yunti_engine::library;
use yunti_engine::memory::Budget;
use yunti_engine::operator::class::find_class;
use yunti_engine::operator::cursor::HEADER_BYTES;
use yunti_engine::operator::folder::state_bytes;
use yunti_engine::operator::{Folder, Kind, TaskContext};

use crate::sorted::Sorted;

/// Readable bytes behind a block that is folded.
const SLACK_BYTES: usize = 64;
const SUM_BYTES: usize = 8;

/// A table in front of a collector.
pub struct Summed {
    table: FoldTable,
    folder: Box<dyn Folder>,
    /// What goes to the table, and what comes from it.
    block: Vec<u8>,
    /// Bytes of a batch for the collector.
    batch_bytes: usize,
    /// That left the table.
    pub records: u64,
}

impl Summed {
    pub fn new(budget: &Arc<Budget>, seed: u64, batch_bytes: usize) -> Result<Summed> {
        let class = find_class(&[library::builtin_classes()], "Yunti.SumFolder", &[Kind::Folder])?;
        let folder = class.folder(&TaskContext::new(Default::default(), false, 0, 1))?;
        let table = FoldTable::new(folder.shape(), seed, budget)?;
        Ok(Summed { table, folder, block: Vec::new(), batch_bytes, records: 0 })
    }

    /// Takes `len` bytes of records that `fill` writes.
    pub fn put(
        &mut self,
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
        collector: &mut Collector<'_>,
    ) -> Result<()> {
        self.block.resize(len + SLACK_BYTES, 0);
        fill(&mut self.block[..len])?;
        let mut done = 0;
        while done < len {
            done += self.table.fold_copied(&mut *self.folder, &self.block[done..len])?.done;
            if done < len {
                let rest = self.block[done..len].to_vec();
                self.drain(collector)?;
                self.block.clear();
                self.block.extend_from_slice(&rest);
                self.block.resize(rest.len() + SLACK_BYTES, 0);
                return self.put_rest(rest.len(), collector);
            }
        }
        Ok(())
    }

    /// The same for what lies in the block already; the table was just emptied.
    fn put_rest(&mut self, len: usize, collector: &mut Collector<'_>) -> Result<()> {
        let rest = std::mem::take(&mut self.block);
        self.put(
            len,
            |to| {
                to.copy_from_slice(&rest[..len]);
                Ok(())
            },
            collector,
        )
    }

    /// Empties the table into the collector.
    pub fn drain(&mut self, collector: &mut Collector<'_>) -> Result<()> {
        let Summed { table, block, batch_bytes, records, .. } = self;
        block.clear();
        let hand_over = |block: &mut Vec<u8>, collector: &mut Collector<'_>| -> Result<()> {
            collector.put(block.len(), &[], |to| {
                to.copy_from_slice(block);
                Ok(())
            })?;
            block.clear();
            Ok(())
        };
        table.drain(|keys, states| {
            for (key, state) in keys.iter().zip(states) {
                let sum = state_bytes(state, SUM_BYTES);
                *records += 1;
                if key.len() > *batch_bytes / 2 {
                    collector.put_big(key, sum, 0)?;
                    continue;
                }
                block.extend_from_slice(&(key.len() as u32).to_le_bytes());
                block.extend_from_slice(&(SUM_BYTES as u32).to_le_bytes());
                block.extend_from_slice(key);
                block.extend_from_slice(sum);
                block.resize(block.len().next_multiple_of(8), 0);
                if block.len() > *batch_bytes / 2 - HEADER_BYTES {
                    hand_over(block, collector)?;
                }
            }
            Ok(())
        })?;
        hand_over(block, collector)?;
        table.shrink()
    }
}

/// Sorted records of which those with equal keys become one: what a combiner does to spills that are merged.
pub struct Summing<'s> {
    from: &'s mut dyn Sorted,
    /// Key and value side by side.
    last: Vec<u8>,
    sum: u64,
    pending: bool,
}

impl<'s> Summing<'s> {
    pub fn new(from: &'s mut dyn Sorted) -> Self {
        Summing { from, last: Vec::new(), sum: 0, pending: false }
    }
}

fn give(last: &mut Vec<u8>, sum: u64, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<()> {
    let key_len = last.len() as u32;
    last.extend_from_slice(&sum.to_le_bytes());
    each(Record { bytes: last, key_len, split: 0 })
}

impl Sorted for Summing<'_> {
    fn next_partition(&mut self) -> Result<Option<u32>> {
        self.from.next_partition()
    }

    fn next_batch(&mut self, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<bool> {
        let Summing { from, last, sum, pending } = self;
        let more = from.next_batch(&mut |record| {
            let value = record.value().first_chunk().map_or(0, |v| u64::from_le_bytes(*v));
            if *pending && last[..] == *record.key() {
                *sum = sum.wrapping_add(value);
                return Ok(());
            }
            if *pending {
                give(last, *sum, each)?;
            }
            last.clear();
            last.extend_from_slice(record.key());
            (*sum, *pending) = (value, true);
            Ok(())
        })?;
        if more {
            return Ok(true);
        }
        if std::mem::take(pending) {
            give(last, *sum, each)?;
            return Ok(true);
        }
        Ok(false)
    }
}
