//! Modes sorted and grouped: map into collectors or fold tables, then sort, merge or fold, reduce, write.
//!
//! ```text
//!   map phase                      what is there             then
//!   collectors, nothing spilled    records in memory         sort buckets -> reduce -> write        (finish_memory)
//!   collectors, runs spilled       runs on scratch           merge ranges -> reduce -> write        (finish_runs)
//!   fold tables, grouped           tables that fit           merge hash ranges -> write             (finish_tables)
//!                                  tables spilled as runs    the same, from scratch                 (finish_table_runs)
//!   fold tables, else              drained into collectors   as the first two, states merged
//! ```

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::mapping::{TASK_COUNTERS, make_mapper, make_partition, read_setup};
use super::running::{Running, show_output};
use super::sample::{self, Sample};
use super::{finish_memory, finish_runs, finish_table_runs, finish_tables};
use crate::base::Result;
use crate::collect::collector::{Collected, Spill};
use crate::collect::spill::{MakeCombiner, RunSpill, Runs, SpillSetup};
use crate::collect::store::Layout;
use crate::collect::{Collector, Store};
use crate::fold::{FoldTable, HashRanges};
use crate::job::control::StageNow;
use crate::job::report::meter::StageKind;
use crate::job::spec::Mode;
use crate::map::combine_sink::CombineSink;
use crate::map::fold_sink::{Drained, Finished, FoldSink, Overflow, best_form};
use crate::map::map_split;
use crate::map::timed::Timed;
use crate::memory::pool::UNIT_BYTES;
use crate::operator::{Class, Emitter, TaskContext, Type};
use crate::read::split::RecordFormat;
use crate::read::{FixedReader, SplitReader};
use crate::reduce::fold_reduce::Fed;
use crate::run::{RunBuilder, RunSettings, RunTotals, ScratchSpace};
use crate::write::Output;

/// What the map phase left.
pub struct Mapped {
    pub store: Arc<Store>,
    pub collected: Collected,
    pub tables: Vec<FoldTable>,
    pub scratch: Arc<ScratchSpace>,
    pub runs: Runs,
    /// Runs of tables, by ranges of the hash.
    pub table_runs: Runs,
    pub hash_ranges: HashRanges,
    /// What a folder finds in the records: states of the map phase, or the mapper's values, to be folded now.
    pub fed: Fed,
    /// Bounds of a total order, as the map phase sampled them.
    pub bounds: Arc<Vec<Vec<u8>>>,
}

/// How records are folded while they are mapped, if they are.
#[derive(Clone)]
struct Folding {
    class: Arc<dyn Class>,
    drained: Drained,
}

pub fn run(running: &Running<'_>, output: &Output) -> Result<()> {
    let mapped = map_phase(running)?;
    let fed = mapped.fed;
    let result = if !mapped.table_runs.is_empty() {
        finish_table_runs::run(running, mapped, output)
    } else if !mapped.tables.is_empty() {
        finish_tables::run(running, mapped, output)
    } else if !mapped.runs.is_empty() {
        finish_runs::run(running, mapped, fed, output)
    } else {
        finish_memory::run(running, mapped, fed, output)
    };
    show_output(running);
    result
}

/// The fold of the map phase: a folder whose partial states may be merged in any order, or a combiner that is one.
fn folds_early(running: &Running<'_>) -> Result<Option<Folding>> {
    let plan = running.plan;
    let context = TaskContext::new(running.settings.clone(), false, 0, plan.partitions);
    if let Some(class) = &plan.folder {
        let exact = class.folder(&context)?.shape().exact;
        return Ok(exact.then(|| Folding { class: class.clone(), drained: Drained::States }));
    }
    match &plan.combiner {
        Some(class) if class.info().is_fold && class.folder(&context)?.shape().exact => {
            Ok(Some(Folding { class: class.clone(), drained: Drained::Finished }))
        }
        _ => Ok(None),
    }
}

fn map_phase(running: &Running<'_>) -> Result<Mapped> {
    let plan = running.plan;
    running.control.enter(StageNow::Map);
    let store = Arc::new(Store::new(running.budget.clone(), running.sizing.block_bytes, layout(running), plan.order)?);
    let Sample { bounds, routes } = sample::take(running, store.pool().place_bits())?;
    let scratch = ScratchSpace::new(running.env.files.clone(), running.env.clock.clone(), running.scratch_dirs.clone());
    let folding = folds_early(running)?;
    let (runs, table_runs) = (Runs::default(), Runs::default());
    // What spilling took of each worker's time, to be told from collecting.
    let spilled_ns: Vec<AtomicU64> = (0..running.crew.workers).map(|_| AtomicU64::new(0)).collect();
    let told = |worker: usize, start: u64, end: u64, bytes: u64, records: u64| {
        spilled_ns[worker].fetch_add(end - start, Ordering::Relaxed);
        running.meter.add(worker, StageKind::Spill, end - start, bytes, records);
        running.meter.span(worker, "spill", 0, start, end, bytes, records);
        running.count(TASK_COUNTERS, "SPILLED_RECORDS", records);
    };
    let spill_setup = SpillSetup {
        scratch: scratch.clone(),
        settings: run_settings(running),
        partitions: plan.partitions,
        seed: running.seed(),
        runs: &runs,
        threads: running.crew.threads,
        cancel: running.crew.cancel,
        clock: &*running.env.clock,
        told: &told,
    };
    // Without an order to keep, tables are spilled as they stand.
    let spills_tables = folding.as_ref().is_some_and(|f| f.drained == Drained::States)
        && running.spec.mode == Mode::Grouped
        && !running.spec.deterministic;
    let table_share = if spills_tables { running.sizing.share_bytes } else { running.sizing.fold_shares().0 };
    let hash_ranges = HashRanges::for_tables(table_share);
    let write_table = |worker: usize, table: &FoldTable| -> Result<()> {
        let start = running.env.clock.now_ns();
        let run = hash_ranges.write(table, RunBuilder::unordered(scratch.clone(), run_settings(running)))?;
        let RunTotals { records, record_bytes, .. } = run.totals();
        table_runs.push(run);
        told(worker, start, running.env.clock.now_ns(), record_bytes, records);
        Ok(())
    };
    // What the collectors hold: the mapper's values, or states of the folder.
    let values = match &folding {
        Some(f) if f.drained == Drained::States => Type::Bytes,
        _ => plan.map_types.1,
    };
    let make_collector = |worker: usize| -> Result<Emitter<Timed<Collector<'_>>>> {
        let context = TaskContext::new(running.settings.clone(), false, worker as u32, plan.partitions);
        let combiner: Option<MakeCombiner<'_>> = match (&plan.combiner, &folding) {
            (Some(class), None) => {
                let context = context.clone();
                Some(Box::new(move || class.reducer(&context)))
            }
            _ => None,
        };
        let spill = RunSpill { setup: &spill_setup, worker, combiner, value_type: values };
        let partition = make_partition(running, &context, &bounds)?;
        let collector = Collector::new(
            store.clone(),
            (plan.map_types.0, values),
            partition,
            routes.clone(),
            Box::new(spill),
            if folding.is_some() { running.sizing.fold_shares().1 } else { running.sizing.share_bytes },
        );
        Emitter::new(Timed::new(collector, running.env.clock.clone()), false, false)
    };

    let setup = read_setup(running);
    let next = AtomicUsize::new(0);
    let collected: Mutex<Vec<Collected>> = Mutex::default();
    let tables: Mutex<Vec<FoldTable>> = Mutex::default();
    running.crew.together(running.crew.workers.min(plan.splits.len()), |worker, stop| {
        let take = || plan.splits.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| !stop());
        if let Layout::Fixed { record_bytes, .. } = store.layout() {
            let collector = in_place(running, worker, record_bytes, &setup, take, make_collector(worker)?)?;
            collected.lock().unwrap_or_else(|e| e.into_inner()).push(collector.into_collected());
            return Ok(());
        }
        let mut reader = SplitReader::new(setup.clone())?;
        match &folding {
            Some(folding) => {
                let flags = plan.mapper.as_ref().map_or_else(Default::default, |m| m.info().flags);
                let context = TaskContext::new(running.settings.clone(), false, worker as u32, plan.partitions);
                let folder = folding.class.folder(&context)?;
                let share = running.budget.part(table_share);
                let table = FoldTable::new(folder.shape(), running.seed(), &share)?;
                let overflow = if spills_tables {
                    let write = Box::new(|table: &FoldTable| write_table(worker, table));
                    Overflow::Run { write, written: false }
                } else {
                    let make = Box::new(|| make_collector(worker));
                    Overflow::Collector { drained: folding.drained, collector: None, make }
                };
                let form = best_form(flags.emits_refs && folder.shape().eight, flags.emits_one && folder.shape().eight);
                let sink = FoldSink::new(table, folder, overflow, form)?;
                let mut emitter =
                    Emitter::new(Timed::new(sink, running.env.clock.clone()), flags.emits_refs, flags.emits_one)?;
                while let Some(split) = take() {
                    let before = emitter.sink().busy_ns;
                    let cost = one_split(running, worker, split, &mut reader, &mut emitter)?;
                    let fold_ns = emitter.sink().busy_ns - before;
                    running.meter.add(worker, StageKind::Map, cost.map_ns.saturating_sub(fold_ns), cost.bytes, 0);
                    running.meter.add(worker, StageKind::Fold, fold_ns, cost.bytes, 0);
                }
                let sink = emitter.finish()?.into_inner();
                running.count(TASK_COUNTERS, "MAP_OUTPUT_RECORDS", sink.records());
                // Grouped results may stay in the tables; a combiner's records must go to the reducer.
                let drain = folding.drained == Drained::Finished
                    || running.spec.mode == Mode::Sorted
                    || running.spec.deterministic;
                match sink.finish(drain)? {
                    Finished::Table(table) => tables.lock().unwrap_or_else(|e| e.into_inner()).push(table),
                    Finished::Collector(collector) => {
                        collected.lock().unwrap_or_else(|e| e.into_inner()).push(collector.into_collected());
                    }
                    Finished::Empty => {}
                }
                running.absorb(&context);
            }
            None if plan.combiner.is_some() => {
                let flags = plan.mapper.as_ref().map_or_else(Default::default, |m| m.info().flags);
                let context = TaskContext::new(running.settings.clone(), false, worker as u32, plan.partitions);
                let Some(class) = &plan.combiner else { return Ok(()) };
                let eight = plan.map_types.1.fixed_bytes() == Some(8);
                let form = best_form(flags.emits_refs && eight, flags.emits_one && eight);
                let table = running.budget.part((running.sizing.share_bytes / 8).min(COMBINE_TABLE_BYTES));
                let combiner = class.reducer(&context)?;
                let collector = make_collector(worker)?;
                let sink = CombineSink::new(&table, running.seed(), combiner, plan.map_types.1, form, collector)?;
                let mut emitter =
                    Emitter::new(Timed::new(sink, running.env.clock.clone()), flags.emits_refs, flags.emits_one)?;
                while let Some(split) = take() {
                    emitter.sink_mut().inner_mut().begin_split(split.number)?;
                    let before = emitter.sink().busy_ns;
                    let cost = one_split(running, worker, split, &mut reader, &mut emitter)?;
                    emitter.sink_mut().inner_mut().end_split()?;
                    let collect_ns = emitter.sink().busy_ns - before;
                    running.meter.add(worker, StageKind::Map, cost.map_ns.saturating_sub(collect_ns), cost.bytes, 0);
                    running.meter.add(worker, StageKind::Collect, collect_ns, cost.bytes, 0);
                }
                let collector = emitter.finish()?.into_inner().finish()?;
                running.count(TASK_COUNTERS, "COMBINE_OUTPUT_RECORDS", collector.records);
                collected.lock().unwrap_or_else(|e| e.into_inner()).push(collector.into_collected());
                running.absorb(&context);
            }
            None => {
                let mut emitter = make_collector(worker)?;
                while let Some(split) = take() {
                    emitter.sink_mut().inner_mut().begin_split(split.number);
                    emitter.hand_over()?;
                    let before = emitter.sink().busy_ns;
                    let records = emitter.sink().inner().records;
                    let cost = one_split(running, worker, split, &mut reader, &mut emitter)?;
                    let collect_ns = emitter.sink().busy_ns - before;
                    let records = emitter.sink().inner().records - records;
                    running.meter.add(worker, StageKind::Map, cost.map_ns.saturating_sub(collect_ns), cost.bytes, 0);
                    running.meter.add(worker, StageKind::Collect, collect_ns, cost.bytes, records);
                }
                let collector = emitter.finish()?.into_inner();
                running.count(TASK_COUNTERS, "MAP_OUTPUT_RECORDS", collector.records);
                running.count(TASK_COUNTERS, "MAP_OUTPUT_BYTES", collector.bytes);
                collected.lock().unwrap_or_else(|e| e.into_inner()).push(collector.into_collected());
            }
        }
        Ok(())
    })?;
    for (worker, ns) in spilled_ns.iter().enumerate() {
        let stage = if folding.is_some() { StageKind::Fold } else { StageKind::Collect };
        running.meter.deduct(worker, stage, ns.load(Ordering::Relaxed));
    }
    let mut collected = collected.into_inner().unwrap_or_else(|e| e.into_inner());
    let mut tables = tables.into_inner().unwrap_or_else(|e| e.into_inner());

    // One worker was short of memory and the other was not: all of it takes the way of the one.
    if !table_runs.is_empty() {
        let left = std::mem::take(&mut tables);
        running.crew.each(left.len(), |worker, i| write_table(worker, &left[i]))?;
    }
    if !tables.is_empty() && (!runs.is_empty() || collected.iter().any(|c| c.records > 0)) {
        collected.push(drain_tables(running, &folding, std::mem::take(&mut tables), &make_collector)?);
    }
    if !runs.is_empty() {
        // What is left in memory becomes runs too, each worker's by itself.
        let left: Vec<Mutex<Collected>> = std::mem::take(&mut collected).into_iter().map(Mutex::new).collect();
        running.crew.each(left.len(), |worker, i| {
            let mut own = left[i].lock().unwrap_or_else(|e| e.into_inner());
            if own.records > 0 {
                RunSpill { setup: &spill_setup, worker, combiner: None, value_type: values }.spill(&store, &mut own)?;
            }
            Ok(())
        })?;
        collected.extend(left.into_iter().map(|c| c.into_inner().unwrap_or_else(|e| e.into_inner())));
    }
    let collected = collected.into_iter().fold(Collected::default(), |mut all, own| {
        all.append(own);
        all
    });
    let fed = if folding.is_some() { Fed::States } else { Fed::Values };
    Ok(Mapped { store, collected, tables, scratch, runs, table_runs, hash_ranges, fed, bounds })
}

/// Records that nothing changes before they are sorted stay as they were read.
fn layout(running: &Running<'_>) -> Layout {
    let plan = running.plan;
    let untouched = plan.mapper.as_ref().is_none_or(|m| m.info().is_identity)
        && plan.combiner.is_none()
        && plan.folder.is_none()
        && plan.partitioner.is_none()
        && plan.order.is_bytes();
    match plan.format {
        RecordFormat::Fixed { record_bytes, key_bytes }
            if untouched
                && (record_bytes as usize).is_multiple_of(UNIT_BYTES)
                && record_bytes as usize <= running.sizing.block_bytes / 16 =>
        {
            Layout::Fixed { record_bytes, key_bytes }
        }
        _ => Layout::Headers,
    }
}

/// Reads splits straight into the collector's blocks.
fn in_place<'a, 's>(
    running: &Running<'_>,
    worker: usize,
    record_bytes: u32,
    setup: &crate::read::ReadSetup,
    take: impl Fn() -> Option<&'s crate::read::Split>,
    mut emitter: Emitter<Timed<Collector<'a>>>,
) -> Result<Collector<'a>> {
    let clock = &*running.env.clock;
    let mut reader = FixedReader::new(setup.clone(), record_bytes);
    while let Some(split) = take() {
        let from_ns = clock.now_ns();
        let collector = emitter.sink_mut().inner_mut();
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
            running.control.advance(n as u64);
        }
        let records = bytes / u64::from(record_bytes);
        let to_ns = clock.now_ns();
        running.control.records.fetch_add(records, Ordering::Relaxed);
        running.meter.add(worker, StageKind::Read, read_ns, bytes, records);
        running.meter.add(worker, StageKind::Collect, (to_ns - from_ns).saturating_sub(read_ns), bytes, records);
        running.meter.span(worker, "map", u64::from(split.number), from_ns, to_ns, bytes, records);
        running.count(TASK_COUNTERS, "MAP_INPUT_RECORDS", records);
        running.count(TASK_COUNTERS, "MAP_OUTPUT_RECORDS", records);
        running.count(TASK_COUNTERS, "MAP_OUTPUT_BYTES", bytes);
    }
    // The emitter's cursor was never moved: nothing is handed over behind the collector's back.
    Ok(emitter.into_sink().into_inner())
}

pub fn run_settings(running: &Running<'_>) -> RunSettings {
    use crate::job::spec::SpillCodec as Spec;
    use crate::run::SpillCodec as Codec;
    RunSettings {
        order: running.plan.order,
        block_bytes: running.sizing.run_block_bytes,
        codec: match running.spec.spill_codec {
            Spec::Auto => Codec::Auto,
            Spec::None => Codec::None,
            Spec::Lz4 => Codec::Lz4,
        },
    }
}

/// Memory of the table that groups a combiner's window, at most.
const COMBINE_TABLE_BYTES: u64 = 16 << 20;

type MakeCollector<'m, 'a> = dyn Fn(usize) -> Result<Emitter<Timed<Collector<'a>>>> + Sync + 'm;

fn drain_tables<'a>(
    running: &Running<'_>,
    folding: &Option<Folding>,
    tables: Vec<FoldTable>,
    make: &MakeCollector<'_, 'a>,
) -> Result<Collected> {
    let Some(folding) = folding else { return Ok(Collected::default()) };
    let context = TaskContext::new(running.settings.clone(), false, 0, running.plan.partitions);
    let mut folder = folding.class.folder(&context)?;
    let mut collector = None;
    for mut table in tables {
        crate::map::fold_sink::drain(&mut table, &mut *folder, folding.drained, &mut collector, &mut || make(0))?;
    }
    match collector {
        Some(emitter) => Ok(emitter.finish()?.into_inner().into_collected()),
        None => Ok(Collected::default()),
    }
}

/// Maps one split and writes down what reading cost.
fn one_split<S: crate::operator::Sink>(
    running: &Running<'_>,
    worker: usize,
    split: &crate::read::Split,
    reader: &mut SplitReader,
    emitter: &mut Emitter<S>,
) -> Result<crate::map::MapTask> {
    let clock = &*running.env.clock;
    let from_ns = clock.now_ns();
    let context = TaskContext::new(running.settings.clone(), false, split.number, running.plan.partitions);
    let (mut mapper, _) = make_mapper(running.plan, &context)?;
    let before = reader.records;
    let cost = map_split(split, reader, &mut *mapper, emitter, clock, running.control.cancelled(), |n| {
        running.control.advance(n)
    })?;
    drop(mapper);
    running.absorb(&context);
    let records = reader.records - before;
    running.control.records.fetch_add(records, Ordering::Relaxed);
    running.meter.add(worker, StageKind::Read, cost.read_ns, cost.bytes, records);
    running.meter.span(worker, "map", u64::from(split.number), from_ns, clock.now_ns(), cost.bytes, records);
    if records > 0 {
        running.count(TASK_COUNTERS, "MAP_INPUT_RECORDS", records);
    }
    Ok(cost)
}
