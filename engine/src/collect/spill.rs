//! Spilling: a worker's collected records, sorted and combined, become a run on scratch.

use std::cmp::Ordering;
use std::sync::Arc;

use super::bucket::Buckets;
use super::collector::{CollectedRecords, Spill};
use super::grouper::Grouper;
use super::sorted_buckets::SortedBuckets;
use super::store::Store;
use crate::bytes::{KeyOrder, Record};
use crate::env::sync::{Mutex, MutexGuard};
use crate::env::{Clock, Crew, Threads};
use crate::operator::cursor::{RecordSink, RecordTarget};
use crate::operator::{Emitter, Reducer, Type};
use crate::run::{Run, RunBuilder, RunSettings, RunTotals, ScratchSpace, SliceWriter};
use yunti_base::Cancel;
use yunti_base::{Code, Error, Result};

/// The runs of a job, in the order of spilling: for one split, earlier runs hold earlier records.
#[derive(Default)]
pub struct Runs(Mutex<Vec<OwnedRun>>);

/// A run, and the worker that wrote it; None for a run of an earlier attempt.
struct OwnedRun {
    run: Arc<Run>,
    worker: Option<usize>,
}

impl Runs {
    /// Returns runs of an earlier attempt.
    pub fn of_earlier(runs: Vec<Run>) -> Runs {
        Runs(Mutex::new(runs.into_iter().map(|run| OwnedRun { run: Arc::new(run), worker: None }).collect()))
    }
    /// Adds a run that `worker` wrote.
    pub fn push(&self, worker: usize, run: Run) {
        self.runs().push(OwnedRun { run: Arc::new(run), worker: Some(worker) });
    }
    /// Removes and returns all runs, in order.
    pub fn take(&self) -> Vec<Arc<Run>> {
        std::mem::take(&mut *self.runs()).into_iter().map(|own| own.run).collect()
    }
    /// Returns true if there are no runs.
    pub fn is_empty(&self) -> bool {
        self.runs().is_empty()
    }
    /// Returns the runs of a worker that the job's journal does not have, in order; without a worker, of all.
    pub fn unsaved(&self, worker: Option<usize>) -> Vec<Arc<Run>> {
        let is_of = |own: &&OwnedRun| own.run.number().is_none() && (worker.is_none() || own.worker == worker);
        self.runs().iter().filter(is_of).map(|own| own.run.clone()).collect()
    }
    /// Returns the numbers of all runs in the job's journal, in order.
    pub fn numbers(&self) -> Vec<u32> {
        self.runs().iter().filter_map(|own| own.run.number()).collect()
    }
    fn runs(&self) -> MutexGuard<'_, Vec<OwnedRun>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Settings and services shared by the spills of all workers.
pub struct SpillSetup<'a> {
    /// Scratch space of the runs.
    pub scratch: Arc<ScratchSpace>,
    /// Settings of the runs.
    pub settings: RunSettings,
    /// Number of partitions.
    pub partitions: u32,
    /// Seed of the samples for buckets.
    pub seed: u64,
    /// Runs so far; each spill adds one.
    pub runs: &'a Runs,
    /// Threads of the job.
    pub threads: &'a dyn Threads,
    /// Cancellation of the job.
    pub cancel: &'a Cancel,
    /// Clock that times spills.
    pub clock: &'a dyn Clock,
    /// Called after each spill.
    pub on_spill: &'a (dyn Fn(&FinishedSpill) + Sync),
}

/// Amounts and times of one spill. Times are on the job's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct FinishedSpill {
    /// Number of the worker.
    pub worker: usize,
    pub start_ns: u64,
    pub end_ns: u64,
    /// Time of sorting; the rest is combining and writing.
    pub sort_ns: u64,
    /// Collected records.
    pub records: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
    /// Records and bytes of the run: after the combiner, if there is one.
    pub written: RunTotals,
    /// Partitions with records.
    pub segments: u32,
}

/// Returns a new combiner instance.
pub type MakeCombiner<'a> = Box<dyn FnMut() -> Result<Box<dyn Reducer>> + Send + 'a>;

/// The `Spill` of one worker that writes runs.
pub struct RunSpill<'a> {
    /// State shared by all workers.
    pub setup: &'a SpillSetup<'a>,
    /// Number of the worker.
    pub worker: usize,
    /// Factory of combiners, if the job has one.
    pub combiner: Option<MakeCombiner<'a>>,
    /// Type of the mapper's values.
    pub value_type: Type,
}

/// A combiner that runs on one partition.
struct PartitionCombiner<'b> {
    partition: u32,
    grouper: Grouper,
    combiner: Box<dyn Reducer>,
    emitter: Emitter<RecordSink<CombinedRun<'b>>>,
}

impl<'b> PartitionCombiner<'b> {
    fn push(&mut self, record: Record<'_>) -> Result<()> {
        let PartitionCombiner { grouper, combiner, emitter, .. } = self;
        grouper.push(record, |groups| emitter.run(&[], |out| combiner.reduce(groups, out)))
    }

    fn end(mut self) -> Result<SliceWriter<'b>> {
        let PartitionCombiner { grouper, combiner, emitter, .. } = &mut self;
        grouper.finish(|groups| emitter.run(&[], |out| combiner.reduce(groups, out)))?;
        emitter.run(&[], |out| combiner.flush(out))?;
        Ok(self.emitter.finish()?.into_target().writer)
    }
}

impl Spill for RunSpill<'_> {
    fn spill(&mut self, store: &Store, collected: &mut CollectedRecords) -> Result<()> {
        let setup = self.setup;
        let start = setup.clock.now_ns();
        let crew = Crew { threads: setup.threads, workers: 1, cancel: setup.cancel };
        let grants = std::mem::take(&mut collected.grants);
        let mut buckets = Buckets::build(store, collected, setup.partitions, setup.seed, grants, &crew)?;
        let builder = RunBuilder::new(setup.scratch.clone(), setup.settings);
        let mut writer = Some(builder.slice(0));
        let mut combiner_run: Option<PartitionCombiner<'_>> = None;
        let mut sorted = SortedBuckets::new(store, &mut buckets);
        let mut spill = FinishedSpill { worker: self.worker, start_ns: start, ..FinishedSpill::default() };
        let (mut last_partition, mut room) = (None, Vec::new());
        let mut sorting_ns = start;
        loop {
            let bucket = sorted.next_bucket();
            spill.sort_ns += setup.clock.now_ns().saturating_sub(sorting_ns);
            let Some((partition, places)) = bucket else { break };
            setup.cancel.check()?;
            if last_partition.replace(partition) != Some(partition) {
                spill.segments += 1;
            }
            if let Some(make) = &mut self.combiner {
                if combiner_run.as_ref().is_none_or(|c| c.partition != partition) {
                    // Groups do not cross partitions.
                    let slice = match combiner_run.take() {
                        Some(done) => Some(done.end()?),
                        None => writer.take(),
                    };
                    let Some(slice) = slice else { continue };
                    let run = CombinedRun::new(slice, partition, store.order());
                    combiner_run = Some(PartitionCombiner {
                        partition,
                        grouper: Grouper::new(store.order(), self.value_type),
                        combiner: make()?,
                        emitter: Emitter::new(RecordSink::new(run)?, false, false)?,
                    });
                }
                let Some(combiner_run) = &mut combiner_run else { continue };
                for (i, &place) in places.iter().enumerate() {
                    prefetch_ahead(store, places, i);
                    store.each_record(place, &mut room, |record| combiner_run.push(record))?;
                }
            } else if let Some(writer) = &mut writer {
                for (i, &place) in places.iter().enumerate() {
                    prefetch_ahead(store, places, i);
                    store.each_record_of_split(place, &mut room, |record| writer.append(partition, record))?;
                }
            }
            sorting_ns = setup.clock.now_ns();
        }
        if let Some(done) = combiner_run {
            writer = Some(done.end()?);
        }
        (spill.bytes, spill.records) = (collected.bytes, collected.records);
        if let Some(writer) = writer {
            let slice = writer.finish()?;
            spill.written = slice.totals();
            setup.runs.push(self.worker, builder.finish(vec![slice]));
        }
        drop(sorted);
        drop(buckets);
        collected.release(store);
        spill.end_ns = setup.clock.now_ns();
        (setup.on_spill)(&spill);
        Ok(())
    }
}

/// Records, from the copied one to the prefetched one.
pub const AHEAD: usize = 16;

/// Prefetches the record `AHEAD` places behind place `i`.
#[inline]
pub fn prefetch_ahead(store: &Store, places: &[u64], i: usize) {
    if let Some(&ahead) = places.get(i + AHEAD) {
        store.prefetch(ahead);
    }
}

/// The run as the target of a combiner. The run must stay sorted, so keys out of order are an error.
struct CombinedRun<'b> {
    writer: SliceWriter<'b>,
    partition: u32,
    order: KeyOrder,
    record: Vec<u8>,
    last_key: Vec<u8>,
}

impl<'b> CombinedRun<'b> {
    fn new(writer: SliceWriter<'b>, partition: u32, order: KeyOrder) -> Self {
        CombinedRun { writer, partition, order, record: Vec::new(), last_key: Vec::new() }
    }
}

impl RecordTarget for CombinedRun<'_> {
    fn append(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.record.clear();
        self.record.extend_from_slice(key);
        self.order.normalise(&mut self.record);
        if self.order.compare(&self.last_key, &self.record) == Ordering::Greater && !self.last_key.is_empty() {
            return Err(Error::new(Code::UserCode, "the combiner emitted a key out of order")
                .hint("a combiner emits the keys that it is given"));
        }
        self.last_key.clear();
        self.last_key.extend_from_slice(&self.record);
        self.record.extend_from_slice(value);
        self.writer.append(self.partition, Record { bytes: &self.record, key_len: key.len() as u32, split: 0 })
    }
}
