//! Where a task's sorted records go when they leave memory, and how they are drained, through the combiner if there is one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use yunti_base::Cancel;
use yunti_base::Result;
use yunti_engine::bytes::{KeyOrder, Record};
use yunti_engine::collect::spill::Runs;
use yunti_engine::collect::{Buckets, CollectedRecords, SortedBuckets, Store};
use yunti_engine::env::{Crew, Env};
use yunti_engine::run::{RunBuilder, RunSettings, ScratchSpace, SpillCodec};

use super::{Combine, Combining, Feed, InMemory, Sorted, Summing};
use crate::ifile::OutputFile;
use crate::key::KeyForm;

/// What a task counts, in Hadoop's terms.
#[derive(Default)]
pub struct Counts {
    pub spills: AtomicU64,
    pub spilled_records: AtomicU64,
    /// Time that a collector had to spare for spills.
    pub spill_ns: AtomicU64,
    /// Grows while there is progress.
    pub ticks: AtomicU64,
}

impl Counts {
    pub fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Ordering::Relaxed);
    }
}

/// What a task's spills share with its end.
pub struct TaskSpace {
    pub env: Env,
    pub scratch: Arc<ScratchSpace>,
    pub runs: Runs,
    pub partitions: u32,
    pub form: KeyForm,
    /// Of the keys in normal form.
    pub order: KeyOrder,
    pub run_block_bytes: usize,
    pub counts: Counts,
    pub cancel: Cancel,
}

impl TaskSpace {
    /// A number that grows while there is progress.
    pub fn ticks(&self) -> u64 {
        self.counts.ticks.load(Ordering::Relaxed)
    }

    pub fn spilled_records(&self) -> u64 {
        self.counts.spilled_records.load(Ordering::Relaxed)
    }

    pub fn run_settings(&self) -> RunSettings {
        RunSettings { order: self.order, block_bytes: self.run_block_bytes, codec: SpillCodec::Auto }
    }

    /// Sorts what was collected, and gives it to `take`.
    pub fn sorted(
        &self,
        store: &Store,
        collected: &mut CollectedRecords,
        take: impl FnOnce(&mut dyn Sorted) -> Result<()>,
    ) -> Result<()> {
        let crew = Crew { threads: &*self.env.threads, workers: 1, cancel: &self.cancel };
        let grants = std::mem::take(&mut collected.grants);
        let mut buckets = Buckets::build(store, collected, self.partitions, self.env.seed, grants, &crew)?;
        let mut sorted = InMemory::new(store, SortedBuckets::new(store, &mut buckets));
        take(&mut sorted)
    }

    /// Takes all records of `sorted`, combined, to `to`.
    pub fn drain(
        &self,
        sorted: &mut dyn Sorted,
        combining: &mut Combining,
        to: &mut dyn FnMut(u32, Record<'_>) -> Result<()>,
    ) -> Result<()> {
        match combining {
            Combining::Nothing => self.drain_plain(sorted, to),
            Combining::Sum => self.drain_plain(&mut Summing::new(sorted), to),
            Combining::User(combiner) => self.drain_combined(sorted, &mut **combiner, to),
        }
    }

    fn drain_plain(&self, sorted: &mut dyn Sorted, to: &mut dyn FnMut(u32, Record<'_>) -> Result<()>) -> Result<()> {
        while let Some(partition) = sorted.next_partition()? {
            while sorted.next_batch(&mut |record| to(partition, record))? {
                Counts::add(&self.counts.ticks, 1);
            }
        }
        Ok(())
    }

    fn drain_combined(
        &self,
        sorted: &mut dyn Sorted,
        combiner: &mut dyn Combine,
        to: &mut dyn FnMut(u32, Record<'_>) -> Result<()>,
    ) -> Result<()> {
        while let Some(partition) = sorted.next_partition()? {
            let mut put = |record: Record<'_>| to(partition, record);
            combiner.combine(&mut Feed::new(self.form, self.order, sorted, &mut put))?;
            Counts::add(&self.counts.ticks, 1);
            // A combiner need not read to the end.
            while sorted.next_batch(&mut |_| Ok(()))? {}
        }
        Ok(())
    }

    /// Takes all records of `sorted` to a map output file.
    pub fn drain_to_file(
        &self,
        sorted: &mut dyn Sorted,
        combining: &mut Combining,
        out: &mut OutputFile,
    ) -> Result<()> {
        self.drain(sorted, combining, &mut |partition, record| {
            out.advance_to(partition)?;
            out.append(record.key(), record.value())
        })
    }

    /// Writes one run.
    pub fn write_run(
        &self,
        write: impl FnOnce(&mut dyn FnMut(u32, Record<'_>) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        let builder = RunBuilder::new(self.scratch.clone(), self.run_settings());
        let mut slice = builder.slice(0);
        write(&mut |partition, record| slice.append(partition, record))?;
        let slice = slice.finish()?;
        Counts::add(&self.counts.spills, 1);
        Counts::add(&self.counts.spilled_records, slice.totals().records);
        self.runs.push(builder.finish(vec![slice]));
        Ok(())
    }
}
