//! Spilling: a worker's collected records, sorted and combined, become a run on scratch.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex};

use super::bucket::Buckets;
use super::collector::{CollectedRecords, Spill};
use super::grouper::Grouper;
use super::sorted_buckets::SortedBuckets;
use super::store::Store;
use crate::bytes::{KeyOrder, Record};
use crate::env::{Clock, Crew, Threads};
use crate::operator::cursor::{RecordSink, RecordTarget};
use crate::operator::{Emitter, Reducer, Type};
use crate::run::{Run, RunBuilder, RunSettings, ScratchSpace, SliceWriter};
use yunti_base::Cancel;
use yunti_base::{Code, Error, Result};

/// The runs of a job, in the order in which they were spilled: of one split, earlier runs hold earlier records.
#[derive(Default)]
pub struct Runs(Mutex<Vec<Arc<Run>>>);

impl Runs {
    pub fn push(&self, run: Run) {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).push(Arc::new(run));
    }
    pub fn take(&self) -> Vec<Arc<Run>> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(|e| e.into_inner()))
    }
    pub fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).is_empty()
    }
}

/// What the spills of all workers share.
pub struct SpillSetup<'a> {
    pub scratch: Arc<ScratchSpace>,
    pub settings: RunSettings,
    pub partitions: u32,
    pub seed: u64,
    pub runs: &'a Runs,
    pub threads: &'a dyn Threads,
    pub cancel: &'a Cancel,
    pub clock: &'a dyn Clock,
    /// Told of each spill: (start, end, bytes, records).
    pub on_spill: &'a (dyn Fn(usize, u64, u64, u64, u64) + Sync),
}

/// Makes a fresh combiner.
pub type MakeCombiner<'a> = Box<dyn FnMut() -> Result<Box<dyn Reducer>> + Send + 'a>;

pub struct RunSpill<'a> {
    pub setup: &'a SpillSetup<'a>,
    pub worker: usize,
    pub combiner: Option<MakeCombiner<'a>>,
    /// Of the mapper's values.
    pub value_type: Type,
}

/// A combiner at work on one partition.
struct Combining<'b> {
    partition: u32,
    grouper: Grouper,
    combiner: Box<dyn Reducer>,
    emitter: Emitter<RecordSink<CombinedRun<'b>>>,
}

impl<'b> Combining<'b> {
    fn push(&mut self, record: Record<'_>) -> Result<()> {
        let Combining { grouper, combiner, emitter, .. } = self;
        grouper.push(record, |groups| emitter.run(&[], |out| combiner.reduce(groups, out)))
    }

    fn end(mut self) -> Result<SliceWriter<'b>> {
        let Combining { grouper, combiner, emitter, .. } = &mut self;
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
        let mut combining: Option<Combining<'_>> = None;
        let mut sorted = SortedBuckets::new(store, &mut buckets);
        while let Some((partition, places)) = sorted.next_bucket() {
            setup.cancel.check()?;
            if let Some(make) = &mut self.combiner {
                if combining.as_ref().is_none_or(|c| c.partition != partition) {
                    // Groups do not go over partitions.
                    let slice = match combining.take() {
                        Some(done) => Some(done.end()?),
                        None => writer.take(),
                    };
                    let Some(slice) = slice else { continue };
                    let run = CombinedRun::new(slice, partition, store.order());
                    combining = Some(Combining {
                        partition,
                        grouper: Grouper::new(store.order(), self.value_type),
                        combiner: make()?,
                        emitter: Emitter::new(RecordSink::new(run)?, false, false)?,
                    });
                }
                let Some(combining) = &mut combining else { continue };
                for (i, &place) in places.iter().enumerate() {
                    prefetch_ahead(store, places, i);
                    combining.push(store.record(place))?;
                }
            } else if let Some(writer) = &mut writer {
                for (i, &place) in places.iter().enumerate() {
                    prefetch_ahead(store, places, i);
                    writer.append(partition, store.record_of_split(place))?;
                }
            }
        }
        if let Some(done) = combining {
            writer = Some(done.end()?);
        }
        let (bytes, records) = (collected.bytes, collected.records);
        if let Some(writer) = writer {
            let slice = writer.finish()?;
            setup.runs.push(builder.finish(vec![slice]));
        }
        drop(sorted);
        drop(buckets);
        collected.release(store);
        (setup.on_spill)(self.worker, start, setup.clock.now_ns(), bytes, records);
        Ok(())
    }
}

/// Records this far ahead are asked for while one is copied.
const AHEAD: usize = 16;

#[inline]
pub fn prefetch_ahead(store: &Store, places: &[u64], i: usize) {
    if let Some(&ahead) = places.get(i + AHEAD) {
        store.prefetch(ahead);
    }
}

/// The run as the target of a combiner. The run stays sorted: a combiner that emits another key's record fails.
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
