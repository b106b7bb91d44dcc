//! Sorted records, partition by partition: from memory, or merged from runs.

pub mod combine;
pub mod comparator;
pub mod compared_merge;
pub mod compared_records;
pub mod frames;
pub mod sum_by_key;
pub mod task_log;
pub mod task_space;

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::bytes::{KeyOrder, Record};
use yunti_engine::collect::spill::prefetch_ahead;
use yunti_engine::collect::{SortedBuckets, Store};
use yunti_engine::env::Clock;
use yunti_engine::run::{BlockSource, KeyRange, Merger, ReadContext, Run, RunReader};

pub use combine::{Combine, CombineMode, Feed};
pub use comparator::{Comparator, KeyMerge};
pub use compared_merge::{ComparedMerge, merge_blocks};
pub use compared_records::ComparedRecords;
pub use frames::Frames;
pub use sum_by_key::SumByKey;
pub use task_log::{RunSource, TaskLog};
pub use task_space::{Counts, TaskSpace};

/// Records passed on at once, at most.
const BATCH_RECORDS: usize = 256;

/// A source of sorted records, one partition after another.
///
/// Call order: `next_partition`, then `next_batch` until it returns false; repeat until there is no partition.
pub trait SortedRecords {
    /// Moves to the next partition with records and returns it; partitions ascend.
    fn next_partition(&mut self) -> Result<Option<u32>>;
    /// Passes the next records of the partition to `each`; returns false if none are left.
    fn next_batch(&mut self, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<bool>;
}

/// Records in memory, sorted bucket by bucket.
pub struct InMemoryRecords<'b> {
    store: &'b Store,
    buckets: SortedBuckets<'b>,
    /// Places of the current bucket; the ones before `at` were passed on.
    places: Vec<u64>,
    at: usize,
    /// Holds a record of a bundle.
    room: Vec<u8>,
    partition: Option<u32>,
    /// True if the bucket begins a partition that `next_partition` has not returned yet.
    ahead: bool,
    clock: &'b dyn Clock,
    /// Gets the time of sorting.
    log: &'b TaskLog,
}

impl<'b> InMemoryRecords<'b> {
    /// Returns the records of `buckets`, in order.
    pub fn new(store: &'b Store, buckets: SortedBuckets<'b>, clock: &'b dyn Clock, log: &'b TaskLog) -> Self {
        InMemoryRecords {
            store,
            buckets,
            places: Vec::new(),
            at: 0,
            room: Vec::new(),
            partition: None,
            ahead: false,
            clock,
            log,
        }
    }

    /// Moves to the next bucket; returns false at the end.
    fn advance(&mut self) -> bool {
        self.places.clear();
        self.at = 0;
        let before = self.partition;
        let start = self.clock.now_ns();
        self.partition = self.buckets.next_bucket().map(|(partition, places)| {
            self.places.extend_from_slice(places);
            partition
        });
        self.log.add_sort(self.clock.now_ns().saturating_sub(start));
        self.ahead = self.partition != before;
        self.partition.is_some()
    }
}

impl SortedRecords for InMemoryRecords<'_> {
    fn next_partition(&mut self) -> Result<Option<u32>> {
        while !self.ahead {
            if !self.advance() {
                return Ok(None);
            }
        }
        self.ahead = false;
        Ok(self.partition)
    }

    fn next_batch(&mut self, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<bool> {
        if self.at == self.places.len() && !self.ahead {
            self.advance();
        }
        if self.ahead || self.partition.is_none() {
            return Ok(false);
        }
        let end = (self.at + BATCH_RECORDS).min(self.places.len());
        for i in self.at..end {
            prefetch_ahead(self.store, &self.places, i);
            self.store.each_record_of_split(self.places[i], &mut self.room, &mut *each)?;
        }
        self.at = end;
        Ok(true)
    }
}

/// A merge of sources of sorted blocks.
pub enum Merge<'s> {
    /// Keys are in the order of their bytes.
    Bytes(Merger<'s>),
    /// Keys are in the order of the job's comparator.
    Compared(ComparedMerge<'s>),
}

impl<'s> Merge<'s> {
    /// Reads the first block of each source. With a `comparator`, the sources are in its order and not in `order`.
    ///
    /// Fails with the error of a source or of the comparator.
    pub fn new(
        sources: Vec<Box<dyn BlockSource + 's>>,
        order: KeyOrder,
        comparator: Option<&Arc<dyn Comparator>>,
    ) -> Result<Merge<'s>> {
        Ok(match comparator {
            Some(comparator) => Merge::Compared(merge_blocks(sources, comparator)?),
            None => Merge::Bytes(Merger::new(sources, order)?),
        })
    }

    /// Passes the next records to `each`; returns false at the end. `merged` is called before `each`.
    fn next_batch(&mut self, merged: impl FnOnce(), each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<bool> {
        match self {
            Merge::Bytes(merger) => {
                let batch = merger.next_batch()?;
                merged();
                let Some(batch) = batch else { return Ok(false) };
                batch.iter().try_for_each(|record| each(*record))?;
                Ok(true)
            }
            Merge::Compared(merge) => {
                let more = merge.advance()?;
                merged();
                if more {
                    merge.emit(each)?;
                }
                Ok(more)
            }
        }
    }
}

/// Records merged from runs, one partition at a time.
pub struct MergedRuns<'r> {
    runs: &'r [Arc<Run>],
    context: ReadContext,
    partitions: std::ops::Range<u32>,
    comparator: Option<Arc<dyn Comparator>>,
    merge: Option<Merge<'static>>,
}

impl<'r> MergedRuns<'r> {
    /// Returns the records of the runs, which are consumed. With a `comparator`, they are in its order.
    pub fn new(
        runs: &'r [Arc<Run>],
        partitions: u32,
        context: ReadContext,
        comparator: Option<Arc<dyn Comparator>>,
    ) -> Self {
        MergedRuns { runs, context, partitions: 0..partitions, comparator, merge: None }
    }
}

impl SortedRecords for MergedRuns<'_> {
    fn next_partition(&mut self) -> Result<Option<u32>> {
        for partition in self.partitions.by_ref() {
            let range = KeyRange::whole(partition);
            let sources: Vec<Box<dyn BlockSource>> = self
                .runs
                .iter()
                .filter(|run| !run.blocks_of(&range).is_empty())
                .map(|run| Box::new(RunReader::open(run, range, true, &self.context)) as Box<dyn BlockSource>)
                .collect();
            if let Some(first) = self.runs.first().filter(|_| !sources.is_empty()) {
                self.merge = Some(Merge::new(sources, first.order(), self.comparator.as_ref())?);
                return Ok(Some(partition));
            }
        }
        Ok(None)
    }

    fn next_batch(&mut self, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<bool> {
        let Some(merge) = &mut self.merge else { return Ok(false) };
        let more = merge.next_batch(|| (), each)?;
        if !more {
            self.merge = None;
        }
        Ok(more)
    }
}

/// Records of a merge, all in partition 0.
pub struct MergerRecords<'s> {
    merge: Merge<'s>,
    announced: bool,
}

impl<'s> MergerRecords<'s> {
    /// Returns the records of `merge`.
    pub fn new(merge: Merge<'s>) -> Self {
        MergerRecords { merge, announced: false }
    }

    /// `next_batch` that adds the time of merging, without the time of `each`, to `merge_ns`.
    pub fn next_batch_timed(
        &mut self,
        clock: &dyn Clock,
        merge_ns: &mut u64,
        each: &mut dyn FnMut(Record<'_>) -> Result<()>,
    ) -> Result<bool> {
        let start = clock.now_ns();
        self.merge.next_batch(|| *merge_ns += clock.now_ns() - start, each)
    }
}

impl SortedRecords for MergerRecords<'_> {
    fn next_partition(&mut self) -> Result<Option<u32>> {
        Ok((!std::mem::replace(&mut self.announced, true)).then_some(0))
    }

    fn next_batch(&mut self, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<bool> {
        self.merge.next_batch(|| (), each)
    }
}
