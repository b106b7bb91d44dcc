//! Workers of the map phase: each takes splits and brings their records into a collector or a table of its own.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::map_setup::{Readers, TASK_COUNTERS, count_read, make_mapper, map_task, note_failed_attempt, read_setup};
use super::resume::checkpoints::{Checkpoints, WorkerCheckpoints};
use super::running_job::RunningJob;
use crate::bytes::RecordBytes;
use crate::collect::Store;
use crate::collect::collector::CollectedRecords;
use crate::collect::store::Layout;
use crate::env::crew::Stop;
use crate::env::sync::Mutex;
use crate::fold::FoldTable;
use crate::job::report::meter::StageKind;
use crate::key_order::KeyOrderCollector;
use crate::map::combine_sink::CombineSink;
use crate::map::fold_sink::{CollectorEmitter, DrainForm, FoldResult, FoldSink, Overflow, best_form, spill_splits};
use crate::map::map_split;
use crate::map::timed_sink::TimedSink;
use crate::operator::{Class, ClassInfo, Emitter, Flags, Sink, TaskContext};
use crate::read::mapped_input::MappedReader;
use crate::read::{FixedReader, ReadAhead, Split};
use yunti_base::{Error, Result};

/// Upper limit in bytes of the table that groups a combiner's window.
const COMBINE_TABLE_BYTES: u64 = 16 << 20;

/// Fold during the map phase: its class, and the form of drained states.
#[derive(Clone)]
pub struct MapFold {
    pub class: Arc<dyn Class>,
    pub drained: DrainForm,
}

/// Makes the collector of a worker.
pub type MakeCollector<'m, 'a> = dyn Fn(usize) -> Result<CollectorEmitter<'a>> + Sync + 'm;
/// Writes a full table of a worker as a run.
pub type WriteTable<'m> = dyn Fn(usize, &FoldTable) -> Result<()> + Sync + 'm;

/// Workers of the map phase and their results. Call order: `work` once on each worker, then `into_results`.
pub struct MapWorkers<'m, 'a, 'r> {
    pub running: &'m RunningJob<'r>,
    pub store: &'m Arc<Store>,
    pub folding: Option<&'m MapFold>,
    /// Bytes of memory for a table.
    pub table_share: u64,
    /// True if full tables become runs and the others stay tables; false if all are drained into collectors.
    pub spills_tables: bool,
    pub ahead: Option<Arc<ReadAhead>>,
    pub make_collector: &'m MakeCollector<'m, 'a>,
    pub write_table: &'m WriteTable<'m>,
    /// Checkpoints, if the job has a journal.
    pub checkpoints: Option<&'m Checkpoints<'m, 'r>>,
    /// Splits that earlier attempts mapped.
    pub mapped: BTreeSet<u32>,
    /// Index of the next split to take.
    pub next: AtomicUsize,
    pub collected: Mutex<Vec<CollectedRecords>>,
    pub tables: Mutex<Vec<FoldTable>>,
}

impl<'m, 'a, 'r> MapWorkers<'m, 'a, 'r> {
    /// Maps splits on one worker until none is left, or `stop` returns true.
    pub fn work(&self, worker: usize, stop: Stop<'_>) -> Result<()> {
        let splits = &self.running.plan.splits;
        let take = || loop {
            let split = splits.get(self.next.fetch_add(1, Ordering::Relaxed)).filter(|_| !stop())?;
            if !self.mapped.contains(&split.number) {
                return Some(split);
            }
        };
        match self.store.layout() {
            Layout::Fixed { record_bytes, .. } => return self.in_place(worker, record_bytes, take),
            Layout::MappedFixed { .. } | Layout::MappedLines { .. } => return self.mapped(worker, take),
            Layout::Headers => {}
        }
        let reader = Readers::new(self.running, self.ahead.clone());
        match self.folding {
            Some(folding) => self.fold(worker, folding, reader, take),
            None => match &self.running.plan.combiner {
                Some(class) => self.combine(worker, &**class, reader, take),
                None => self.collect(worker, reader, take),
            },
        }
    }

    /// Returns the collected records and the tables of all workers.
    pub fn into_results(self) -> (Vec<CollectedRecords>, Vec<FoldTable>) {
        let collected = self.collected.into_inner().unwrap_or_else(|e| e.into_inner());
        (collected, self.tables.into_inner().unwrap_or_else(|e| e.into_inner()))
    }

    fn keep(&self, collector: KeyOrderCollector<'_>) {
        self.collected.lock().unwrap_or_else(|e| e.into_inner()).push(collector.into_collected());
    }

    fn context(&self, worker: usize) -> Arc<TaskContext> {
        self.running.context(false, worker as u32)
    }

    fn checkpoints(&self, worker: usize) -> WorkerCheckpoints<'m, 'r> {
        WorkerCheckpoints::new(self.checkpoints, worker)
    }

    fn mapper_flags(&self) -> Flags {
        // Flags that every mapper has.
        let flags =
            self.running.plan.sources.iter().map(|s| s.mapper.as_ref().map_or_else(Flags::default, |m| m.info().flags));
        let both = |a: Flags, b: Flags| Flags {
            emits_refs: a.emits_refs && b.emits_refs,
            emits_one: a.emits_one && b.emits_one,
            ..a
        };
        flags.reduce(both).unwrap_or_default()
    }

    /// Maps splits into a fold table.
    fn fold<'s>(
        &self,
        worker: usize,
        folding: &MapFold,
        mut reader: Readers<'_>,
        take: impl Fn() -> Option<&'s Split>,
    ) -> Result<()> {
        let MapWorkers { running, make_collector, write_table, .. } = self;
        let flags = self.mapper_flags();
        let context = self.context(worker);
        let folder = folding.class.folder(&context)?;
        let share = running.budget.part(self.table_share);
        let table = FoldTable::new(folder.shape(), running.seed(), &share)?;
        let overflow = if self.spills_tables {
            Overflow::Run { write: Box::new(|table: &FoldTable| write_table(worker, table)), written: false }
        } else {
            let make = Box::new(|| make_collector(worker));
            Overflow::Collector { drained: folding.drained, collector: None, make }
        };
        let eight = folder.shape().eight;
        let form = best_form(flags.emits_refs && eight, flags.emits_one && eight);
        let sink = TimedSink::new(FoldSink::new(table, folder, overflow, form)?, running.env.clock.clone());
        let mut emitter = Emitter::new(sink, flags.emits_refs, flags.emits_one)?;
        let mut checkpoints = self.checkpoints(worker);
        let mut counted = (0, 0);
        let mut counted_bytes = RecordBytes::default();
        let mut count = |sink: &FoldSink<'_>| {
            let (records, states) = (sink.records() - counted.0, sink.states() - counted.1);
            counted = (sink.records(), sink.states());
            running.count_on(worker, TASK_COUNTERS, "MAP_OUTPUT_RECORDS", records);
            running.count_map_output_bytes(worker, sink.bytes() - counted_bytes);
            counted_bytes = sink.bytes();
            running.count_on(worker, TASK_COUNTERS, "COMBINE_INPUT_RECORDS", records);
            running.count_on(worker, TASK_COUNTERS, "COMBINE_OUTPUT_RECORDS", states);
            running.absorb(worker, &context);
        };
        while let Some(split) = take() {
            let before = emitter.sink().busy_ns;
            let cost = one_split(running, worker, split, &mut reader, &mut emitter)?;
            let fold_ns = emitter.sink().busy_ns - before;
            running.meter.add(worker, StageKind::Map, cost.map_ns.saturating_sub(fold_ns), cost.bytes, 0);
            running.meter.add(worker, StageKind::Fold, fold_ns, cost.bytes, 0);
            let held = emitter.sink().inner().held_bytes();
            // A full table spills itself.
            checkpoints.end_split(split, (held, u64::MAX), || {
                emitter.hand_over()?;
                emitter.sink_mut().inner_mut().spill_splits()?;
                count(emitter.sink().inner());
                Ok(())
            })?;
        }
        let sink = emitter.finish()?.into_inner();
        count(&sink);
        match sink.finish()? {
            FoldResult::Table(table) => self.tables.lock().unwrap_or_else(|e| e.into_inner()).push(table),
            FoldResult::Collector(collector) => self.keep(collector),
            FoldResult::Empty => {}
        }
        Ok(())
    }

    /// Maps splits through windows of a combiner into a collector.
    fn combine<'s>(
        &self,
        worker: usize,
        class: &dyn Class,
        mut reader: Readers<'_>,
        take: impl Fn() -> Option<&'s Split>,
    ) -> Result<()> {
        let running = self.running;
        let value_type = running.plan.map_types.1;
        let flags = self.mapper_flags();
        let context = self.context(worker);
        let eight = value_type.fixed_bytes() == Some(8);
        let form = best_form(flags.emits_refs && eight, flags.emits_one && eight);
        let table = running.budget.part((running.sizing.share_bytes / 8).min(COMBINE_TABLE_BYTES));
        let combiner = class.reducer(&context)?;
        let collector = (self.make_collector)(worker)?;
        let sink = CombineSink::new(&table, running.seed(), combiner, value_type, form, collector)?;
        let sink = TimedSink::new(sink, running.env.clock.clone());
        let mut emitter = Emitter::new(sink, flags.emits_refs, flags.emits_one)?;
        let mut checkpoints = self.checkpoints(worker);
        let mut counted = (0, 0, 0);
        let mut counted_bytes = RecordBytes::default();
        let mut count = |(combined, large): (u64, u64), bytes: RecordBytes, collected: u64| {
            let (new, new_large, out) = (combined - counted.0, large - counted.1, collected - counted.2);
            counted = (combined, large, collected);
            running.count_on(worker, TASK_COUNTERS, "MAP_OUTPUT_RECORDS", new + new_large);
            running.count_map_output_bytes(worker, bytes - counted_bytes);
            counted_bytes = bytes;
            running.count_on(worker, TASK_COUNTERS, "COMBINE_INPUT_RECORDS", new);
            running.count_on(worker, TASK_COUNTERS, "COMBINE_OUTPUT_RECORDS", out - new_large);
            running.absorb(worker, &context);
        };
        while let Some(split) = take() {
            emitter.sink_mut().inner_mut().begin_split(split.number)?;
            let before = emitter.sink().busy_ns;
            let cost = one_split(running, worker, split, &mut reader, &mut emitter)?;
            emitter.sink_mut().inner_mut().end_split()?;
            let collect_ns = emitter.sink().busy_ns - before;
            running.meter.add(worker, StageKind::Map, cost.map_ns.saturating_sub(collect_ns), cost.bytes, 0);
            running.meter.add(worker, StageKind::Collect, collect_ns, cost.bytes, 0);
            let fill = emitter.sink().inner().fill();
            checkpoints.end_split(split, fill, || {
                let sink = emitter.sink_mut().inner_mut();
                sink.spill_splits(class.reducer(&context)?)?;
                count(sink.records(), sink.bytes(), sink.collected());
                Ok(())
            })?;
        }
        let sink = emitter.finish()?.into_inner();
        let (records, bytes) = (sink.records(), sink.bytes());
        let collector = sink.finish()?;
        count(records, bytes, collector.totals().0);
        self.keep(collector);
        Ok(())
    }

    /// Maps splits into a collector.
    fn collect<'s>(&self, worker: usize, mut reader: Readers<'_>, take: impl Fn() -> Option<&'s Split>) -> Result<()> {
        let running = self.running;
        let mut emitter = (self.make_collector)(worker)?;
        let mut checkpoints = self.checkpoints(worker);
        // A mapper that folds for itself counts what it folds; the engine sees states.
        let folds_itself = |mapper: &Arc<dyn Class>| ClassInfo::folded(&mapper.info().name).is_some();
        let folds = running.plan.sources.iter().any(|source| source.mapper.as_ref().is_some_and(folds_itself));
        let mut counted = (0, RecordBytes::default());
        let mut count = |(records, bytes): (u64, RecordBytes)| {
            running.count_on(worker, TASK_COUNTERS, "MAP_OUTPUT_RECORDS", records - counted.0);
            if !folds {
                running.count_map_output_bytes(worker, bytes - counted.1);
            }
            counted = (records, bytes);
        };
        while let Some(split) = take() {
            emitter.sink_mut().inner_mut().begin_split(split.number);
            emitter.hand_over()?;
            let before = emitter.sink().busy_ns;
            let records = emitter.sink().inner().totals().0;
            let cost = one_split(running, worker, split, &mut reader, &mut emitter)?;
            let collect_ns = emitter.sink().busy_ns - before;
            let records = emitter.sink().inner().totals().0 - records;
            running.meter.add(worker, StageKind::Map, cost.map_ns.saturating_sub(collect_ns), cost.bytes, 0);
            running.meter.add(worker, StageKind::Collect, collect_ns, cost.bytes, records);
            let fill = emitter.sink().inner().fill();
            checkpoints.end_split(split, fill, || {
                spill_splits(&mut emitter)?;
                count(emitter.sink().inner().totals());
                Ok(())
            })?;
        }
        let collector = emitter.finish()?.into_inner();
        count(collector.totals());
        self.keep(collector);
        Ok(())
    }

    /// Reads splits of fixed-length records directly into the collector's blocks.
    fn in_place<'s>(&self, worker: usize, record_bytes: u32, take: impl Fn() -> Option<&'s Split>) -> Result<()> {
        let running = self.running;
        let clock = &*running.env.clock;
        let mut emitter = (self.make_collector)(worker)?;
        let mut reader = FixedReader::new(read_setup(running, &running.plan.sources[0]), record_bytes);
        let mut checkpoints = self.checkpoints(worker);
        while let Some(split) = take() {
            let from_ns = clock.now_ns();
            let collector = emitter.sink_mut().inner_mut();
            let before = collector.totals();
            collector.begin_split(split.number);
            reader.begin(split);
            let (mut bytes, mut read_ns) = (0, 0);
            loop {
                running.crew.cancel.check()?;
                let n = collector.fill_fixed(|to| {
                    let start = clock.now_ns();
                    let n = reader.read(to)?;
                    read_ns += clock.now_ns() - start;
                    Ok(n)
                })?;
                if n == 0 {
                    break;
                }
                bytes += n as u64;
                running.advance(n as u64);
            }
            let after = emitter.sink().inner().totals();
            self.note_unmapped(worker, split, from_ns, read_ns, bytes, (after.0 - before.0, after.1 - before.1));
            let collector = emitter.sink_mut().inner_mut();
            checkpoints.end_split(split, collector.fill(), || collector.spill_splits())?;
        }
        // The emitter's cursor was never moved, so it has nothing to hand over.
        self.keep(emitter.into_sink().into_inner());
        Ok(())
    }

    /// Collects the records of splits where they lie in mapped files.
    fn mapped<'s>(&self, worker: usize, take: impl Fn() -> Option<&'s Split>) -> Result<()> {
        let running = self.running;
        let clock = &*running.env.clock;
        let mut emitter = (self.make_collector)(worker)?;
        let Some(files) = self.store.mapped_files() else { return Ok(()) };
        let mut reader = MappedReader::new(files, &running.plan.sources[0].format);
        let mut checkpoints = self.checkpoints(worker);
        while let Some(split) = take() {
            let from_ns = clock.now_ns();
            let collector = emitter.sink_mut().inner_mut();
            let before = collector.totals();
            let (mut bytes, mut index_ns) = (0, 0);
            reader.read(split, |batch| {
                running.crew.cancel.check()?;
                let start = clock.now_ns();
                collector.index_mapped(batch.at, batch.bytes, batch.offsets, batch.lengths)?;
                index_ns += clock.now_ns() - start;
                bytes += batch.bytes.len() as u64;
                running.advance(batch.bytes.len() as u64);
                Ok(())
            })?;
            let after = collector.totals();
            let read_ns = (clock.now_ns() - from_ns).saturating_sub(index_ns);
            self.note_unmapped(worker, split, from_ns, read_ns, bytes, (after.0 - before.0, after.1 - before.1));
            let collector = emitter.sink_mut().inner_mut();
            checkpoints.end_split(split, collector.fill(), || collector.spill_splits())?;
        }
        self.keep(emitter.into_sink().into_inner());
        Ok(())
    }

    /// Counts and meters a split whose records went to the collector without a mapper. `collected`: its records and
    /// their bytes.
    fn note_unmapped(
        &self,
        worker: usize,
        split: &Split,
        from_ns: u64,
        read_ns: u64,
        bytes: u64,
        (records, record_bytes): (u64, RecordBytes),
    ) {
        let running = self.running;
        let to_ns = running.env.clock.now_ns();
        running.control.records.fetch_add(records, Ordering::Relaxed);
        running.meter.add(worker, StageKind::Read, read_ns, bytes, records);
        running.meter.add(worker, StageKind::Collect, (to_ns - from_ns).saturating_sub(read_ns), bytes, records);
        running.meter.span(worker, "map", u64::from(split.number), from_ns, to_ns, bytes, records);
        running.count_on(worker, TASK_COUNTERS, "MAP_INPUT_RECORDS", records);
        running.count_on(worker, TASK_COUNTERS, "MAP_OUTPUT_RECORDS", records);
        running.count_map_output_bytes(worker, record_bytes);
    }
}

/// Maps one split and meters the reading.
fn one_split<S: Sink>(
    running: &RunningJob<'_>,
    worker: usize,
    split: &Split,
    readers: &mut Readers<'_>,
    emitter: &mut Emitter<S>,
) -> Result<crate::map::MapCost> {
    let clock = &*running.env.clock;
    let from_ns = clock.now_ns();
    let context = running.context_with_outputs(false, split.number);
    let (mut mapper, _) = make_mapper(running.plan.source(split), &context)?;
    let reader = readers.of(split)?;
    let before = reader.records;
    let on_failure = |e: &Error, attempt| note_failed_attempt(running, split, e, attempt);
    let task = map_task(running, split, &on_failure);
    let cost = map_split(&task, reader, &mut *mapper, emitter, |n| running.advance(n))?;
    drop(mapper);
    running.absorb(worker, &context);
    let records = reader.records - before;
    running.control.records.fetch_add(records, Ordering::Relaxed);
    running.meter.add(worker, StageKind::Read, cost.read_ns, cost.bytes, records);
    running.meter.span(worker, "map", u64::from(split.number), from_ns, clock.now_ns(), cost.bytes, records);
    if records > 0 {
        running.count_on(worker, TASK_COUNTERS, "MAP_INPUT_RECORDS", records);
    }
    count_read(running, worker, reader);
    Ok(cost)
}
