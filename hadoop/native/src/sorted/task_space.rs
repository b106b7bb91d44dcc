//! The space of a task: runs for sorted records that leave memory, and draining, through the combiner if there is one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use yunti_base::Cancel;
use yunti_base::Result;
use yunti_engine::bytes::{KeyOrder, Record};
use yunti_engine::collect::spill::Runs;
use yunti_engine::collect::{Buckets, CollectedRecords, SortedBuckets, Store};
use yunti_engine::env::{Crew, Env};
use yunti_engine::run::passes::FinishedMerge;
use yunti_engine::run::{MergePasses, Run, RunBuilder, RunSettings, ScratchSpace, SpillCodec};

use super::{
    Combine, CombineMode, Comparator, ComparedRecords, Feed, InMemoryRecords, MergedRuns, RunSource, SortedRecords,
    SumByKey, TaskLog,
};
use crate::ifile::OutputFile;
use crate::key::KeyForm;

/// Counters of a task, in Hadoop's terms.
#[derive(Default)]
pub struct Counts {
    /// Number of spills.
    pub spills: AtomicU64,
    /// Records written to runs.
    pub spilled_records: AtomicU64,
    /// Nanoseconds that a collector waited for spills.
    pub spill_ns: AtomicU64,
    /// Progress: it grows as long as the task advances.
    pub ticks: AtomicU64,
}

impl Counts {
    /// Adds `n` to a counter.
    pub fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Ordering::Relaxed);
    }
}

/// State shared by a task's spills and its end.
pub struct TaskSpace {
    /// The outside world.
    pub env: Env,
    /// Scratch space of the runs.
    pub scratch: Arc<ScratchSpace>,
    /// Runs so far.
    pub runs: Runs,
    /// Number of partitions.
    pub partitions: u32,
    /// Form of the keys.
    pub form: KeyForm,
    /// Order of the keys in normal form.
    pub order: KeyOrder,
    /// Order of the keys as Hadoop serialises them. If there is one, it replaces `order`.
    pub comparator: Option<Arc<dyn Comparator>>,
    /// Bytes of a run's block.
    pub run_block_bytes: usize,
    /// Counters of the task.
    pub counts: Counts,
    /// Lines for the log of the task attempt.
    pub log: TaskLog,
    /// Cancellation of the task.
    pub cancel: Cancel,
}

impl TaskSpace {
    /// Returns a number that grows as long as the task advances.
    pub fn ticks(&self) -> u64 {
        self.counts.ticks.load(Ordering::Relaxed)
    }

    /// Returns the number of records written to runs.
    pub fn spilled_records(&self) -> u64 {
        self.counts.spilled_records.load(Ordering::Relaxed)
    }

    /// Returns the settings of runs.
    pub fn run_settings(&self) -> RunSettings {
        RunSettings { order: self.order, block_bytes: self.run_block_bytes, codec: SpillCodec::Auto }
    }

    /// Sorts the collected records and passes them to `take`. Fails with the error of `take`.
    pub fn sorted(
        &self,
        store: &Store,
        collected: &mut CollectedRecords,
        take: impl FnOnce(&mut dyn SortedRecords) -> Result<()>,
    ) -> Result<()> {
        let crew = Crew { threads: &*self.env.threads, workers: 1, cancel: &self.cancel };
        let clock = &*self.env.clock;
        let start = clock.now_ns();
        self.log.begin(start);
        let grants = std::mem::take(&mut collected.grants);
        let mut buckets = Buckets::build(store, collected, self.partitions, self.env.seed, grants, &crew)?;
        self.log.add_sort(clock.now_ns().saturating_sub(start));
        let buckets = SortedBuckets::new(store, &mut buckets);
        match &self.comparator {
            Some(comparator) => take(&mut ComparedRecords::new(store, buckets, comparator.clone(), clock, &self.log)),
            None => take(&mut InMemoryRecords::new(store, buckets, clock, &self.log)),
        }
    }

    /// Passes all records of `sorted`, combined, to `to`. Fails with the error of a read, the combiner or `to`.
    pub fn drain(
        &self,
        sorted: &mut dyn SortedRecords,
        combine_mode: &mut CombineMode,
        to: &mut dyn FnMut(u32, Record<'_>) -> Result<()>,
    ) -> Result<()> {
        match combine_mode {
            CombineMode::Nothing => self.drain_plain(sorted, to),
            CombineMode::Sum => self.drain_plain(&mut SumByKey::new(sorted), to),
            CombineMode::User(combiner) => self.drain_combined(sorted, &mut **combiner, to),
        }
    }

    fn drain_plain(
        &self,
        sorted: &mut dyn SortedRecords,
        to: &mut dyn FnMut(u32, Record<'_>) -> Result<()>,
    ) -> Result<()> {
        while let Some(partition) = sorted.next_partition()? {
            while sorted.next_batch(&mut |record| to(partition, record))? {
                Counts::add(&self.counts.ticks, 1);
            }
        }
        Ok(())
    }

    fn drain_combined(
        &self,
        sorted: &mut dyn SortedRecords,
        combiner: &mut dyn Combine,
        to: &mut dyn FnMut(u32, Record<'_>) -> Result<()>,
    ) -> Result<()> {
        while let Some(partition) = sorted.next_partition()? {
            let mut put = |record: Record<'_>| to(partition, record);
            // The output of a combiner under a comparator is not checked, as in Hadoop.
            let order = self.comparator.is_none().then_some(self.order);
            combiner.combine(&mut Feed::new(self.form, order, sorted, &mut put))?;
            Counts::add(&self.counts.ticks, 1);
            // A combiner may stop reading early.
            while sorted.next_batch(&mut |_| Ok(()))? {}
        }
        Ok(())
    }

    /// Writes all records of `sorted`, combined, to a map output file.
    pub fn drain_to_file(
        &self,
        sorted: &mut dyn SortedRecords,
        combine_mode: &mut CombineMode,
        out: &mut OutputFile,
    ) -> Result<()> {
        self.drain(sorted, combine_mode, &mut |partition, record| {
            out.advance_to(partition)?;
            out.append(record.key(), record.value())
        })
    }

    /// Writes one run of the records that `write` passes on, and a line to the log. Call `TaskLog::begin` before.
    pub fn write_run(
        &self,
        source: RunSource,
        write: impl FnOnce(&mut dyn FnMut(u32, Record<'_>) -> Result<()>) -> Result<()>,
    ) -> Result<()> {
        let run = self.build_run(write)?;
        Counts::add(&self.counts.spills, 1);
        Counts::add(&self.counts.spilled_records, run.totals().records);
        let partitions = run.segments();
        self.log.end(source, run.totals(), partitions, self.env.clock.now_ns());
        self.runs.push(0, run);
        Ok(())
    }

    /// Returns one run of the records that `write` passes on.
    fn build_run(
        &self,
        write: impl FnOnce(&mut dyn FnMut(u32, Record<'_>) -> Result<()>) -> Result<()>,
    ) -> Result<Run> {
        let (scratch, settings) = (self.scratch.clone(), self.run_settings());
        // The engine checks and indexes the order of bytes only.
        let builder = match self.comparator {
            Some(_) => RunBuilder::unordered(scratch, settings),
            None => RunBuilder::new(scratch, settings),
        };
        let mut slice = builder.slice(0);
        write(&mut |partition, record| slice.append(partition, record))?;
        let slice = slice.finish()?;
        Ok(builder.finish(vec![slice]))
    }

    /// Merges runs until at most `passes.fan_in` remain, in the task's order. Fails as `MergePasses::reduce` does, or
    /// with the error of the comparator.
    pub fn reduce_runs(&self, passes: &MergePasses<'_>, mut runs: Vec<Arc<Run>>) -> Result<Vec<Arc<Run>>> {
        if self.comparator.is_none() {
            return passes.reduce(runs);
        }
        while runs.len() > passes.fan_in {
            let start_ns = self.env.clock.now_ns();
            // The first runs are the ones that were merged least recently.
            let group: Vec<Arc<Run>> = runs.drain(..passes.fan_in.min(runs.len() - passes.fan_in + 1)).collect();
            let mut merged = MergedRuns::new(&group, self.partitions, passes.context.clone(), self.comparator.clone());
            let run = self.build_run(|to| self.drain_plain(&mut merged, to))?;
            (passes.on_merge)(&FinishedMerge {
                runs: group.len(),
                start_ns,
                end_ns: self.env.clock.now_ns(),
                written: run.totals(),
                segments: run.segments() as u32,
            });
            runs.push(Arc::new(run));
        }
        Ok(runs)
    }
}
