//! The map phase of modes sorted and grouped: all splits into collectors, fold tables and runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::key_sample::{self, KeySample};
use super::map_output::{MapOutput, run_settings};
use super::map_setup::{TASK_COUNTERS, make_key_encoder, make_partition, map_together, read_ahead, read_setup};
use super::map_workers::{MapFold, MapWorkers};
use super::resume::checkpoints::Checkpoints;
use super::running_job::RunningJob;
use super::spill_aside::{AsideSpill, SpillsAside};
use crate::collect::collector::{CollectedRecords, Spill};
use crate::collect::partition::Partition;
use crate::collect::spill::{FinishedSpill, MakeCombiner, RunSpill, Runs, SpillSetup};
use crate::collect::store::Layout;
use crate::collect::{Collector, Store};
use crate::env::sync::Mutex;
use crate::fold::{FoldTable, HashRanges};
use crate::format::LineEnd;
use crate::job::control::ProgressStage;
use crate::job::journal;
use crate::job::journal::frame::Frame;
use crate::job::report::meter::StageKind;
use crate::job::spec::Mode;
use crate::key_order::KeyOrderCollector;
use crate::map::fold_sink::DrainForm;
use crate::map::timed_sink::TimedSink;
use crate::memory::pool::UNIT_BYTES;
use crate::operator::reducer::fold_reduce::FoldInput;
use crate::operator::{Emitter, TaskContext, Type};
use crate::read::mapped_input;
use crate::read::split::RecordFormat;
use crate::run::{RunBuilder, ScratchSpace};
use yunti_base::Result;

/// Returns the form of the records that the map phase leaves for a folder. The plan alone decides it.
pub fn fold_input(running: &RunningJob<'_>) -> Result<FoldInput> {
    Ok(if folds_early(running)?.is_some() { FoldInput::States } else { FoldInput::Values })
}

/// Returns the fold of the map phase: a folder whose partial states may be merged in any order, or such a combiner.
fn folds_early(running: &RunningJob<'_>) -> Result<Option<MapFold>> {
    let plan = running.plan;
    let context = running.context(false, 0);
    if let Some(class) = &plan.folder {
        let exact = class.folder(&context)?.shape().exact;
        return Ok(exact.then(|| MapFold { class: class.clone(), drained: DrainForm::States }));
    }
    match &plan.combiner {
        Some(class) if class.info().is_fold && class.folder(&context)?.shape().exact => {
            Ok(Some(MapFold { class: class.clone(), drained: DrainForm::Finished }))
        }
        _ => Ok(None),
    }
}

/// Runs the map phase: reads, maps and collects or folds all splits.
pub fn run(running: &RunningJob<'_>) -> Result<MapOutput> {
    let plan = running.plan;
    running.enter(ProgressStage::Map);
    let store = Arc::new(make_store(running)?);
    let KeySample { bounds, routes } = key_sample::collect(running, store.place_bits())?;
    let (files, clock) = (running.env.files.clone(), running.env.clock.clone());
    let dirs = running.scratch_dirs.clone();
    let scratch = match (&running.journal, &running.scratch) {
        (Some(journal), _) => ScratchSpace::named(files, clock, dirs, journal.own_scratch_files(), plan.scratch_rule),
        (None, Some(shared)) => shared.clone(),
        (None, None) => ScratchSpace::with_rule(files, clock, dirs, plan.scratch_rule),
    };
    let folding = folds_early(running)?;
    let (runs, table_runs) = journal::open_runs(running.env, &running.kept, plan.order)?;
    let (runs, table_runs) = (Runs::of_earlier(runs), Runs::of_earlier(table_runs));
    // Spilling time of each worker, to be deducted from its collecting or folding.
    let spilled_ns: Vec<AtomicU64> = (0..running.crew.workers).map(|_| AtomicU64::new(0)).collect();
    let note_spill = |spill: &FinishedSpill| {
        let FinishedSpill { worker, start_ns, end_ns, bytes, records, .. } = *spill;
        running.meter.add(worker, StageKind::Spill, end_ns - start_ns, bytes, records);
        running.meter.span(worker, "spill", 0, start_ns, end_ns, bytes, records);
        running.count_on(worker, TASK_COUNTERS, "SPILLED_RECORDS", records);
        running.note_spill(spill);
        running.note_memory();
    };
    let deduct_spill = |spill: &FinishedSpill| {
        spilled_ns[spill.worker].fetch_add(spill.end_ns - spill.start_ns, Ordering::Relaxed);
        note_spill(spill);
    };
    let setup_with = |on_spill| SpillSetup {
        scratch: scratch.clone(),
        settings: run_settings(running),
        partitions: plan.partitions,
        seed: running.seed(),
        runs: &runs,
        threads: running.crew.threads,
        cancel: running.crew.cancel,
        clock: &*running.env.clock,
        on_spill,
    };
    let spill_setup = setup_with(&deduct_spill);
    let aside_setup = setup_with(&note_spill);
    let aside = running.spills_aside.then(SpillsAside::default);
    // If no order must be kept, full tables are spilled unsorted.
    let spills_tables = folding.as_ref().is_some_and(|f| f.drained == DrainForm::States)
        && running.spec.mode == Mode::Grouped
        && plan.keeps_tables
        && plan.key_order_class.is_none()
        && !running.spec.deterministic
        && !plan.writes_whole_parts();
    let table_share = if spills_tables { running.sizing.share_bytes } else { running.sizing.fold_shares().0 };
    // Runs of earlier attempts have their ranges.
    let kept_bits = running.kept.map_phase.as_ref().map(|phase| phase.hash_range_bits);
    let hash_ranges = kept_bits.map_or_else(|| HashRanges::for_tables(table_share), HashRanges::of_bits);
    let checkpoints = match &running.journal {
        Some(journal) => {
            if kept_bits.is_none() {
                let bounds = bounds.to_vec();
                let input = journal.input();
                journal.append_setup(&Frame::MapPhase { hash_range_bits: hash_ranges.bits(), bounds, input })?;
            }
            let (runs, table_runs, scratch) = (&runs, &table_runs, &*scratch);
            Some(Checkpoints { running, journal, scratch, runs, table_runs, open_splits: Mutex::default() })
        }
        None => None,
    };
    let write_table = |worker: usize, table: &FoldTable| -> Result<()> {
        let start = running.env.clock.now_ns();
        let run = hash_ranges.write(table, RunBuilder::unordered(scratch.clone(), run_settings(running)))?;
        let written = run.totals();
        let segments = run.segments() as u32;
        table_runs.push(worker, run);
        deduct_spill(&FinishedSpill {
            worker,
            start_ns: start,
            end_ns: running.env.clock.now_ns(),
            sort_ns: 0,
            records: written.records,
            bytes: written.record_bytes,
            written,
            segments,
        });
        Ok(())
    };
    // Values in the collectors: the mapper's, or states of the folder.
    let values = match &folding {
        Some(f) if f.drained == DrainForm::States => Type::Bytes,
        _ => plan.map_types.1,
    };
    let make_combiner = |context: &Arc<TaskContext>| -> Option<MakeCombiner<'_>> {
        match (&plan.combiner, &folding) {
            // Records with ordered keys are not combined again: the combiner takes plain keys.
            (Some(class), None) if plan.key_order_class.is_none() => {
                let context = context.clone();
                Some(Box::new(move || class.reducer(&context)))
            }
            _ => None,
        }
    };
    let make_collector = |worker: usize| -> Result<Emitter<TimedSink<KeyOrderCollector<'_>>>> {
        let context = running.context(false, worker as u32);
        let own = RunSpill { setup: &spill_setup, worker, combiner: make_combiner(&context), value_type: values };
        let spill: Box<dyn Spill + '_> = match &aside {
            Some(aside) => Box::new(AsideSpill { aside, store: store.clone(), own, has_spilled: false }),
            None => Box::new(own),
        };
        let partition = make_partition(running, &context, &bounds)?;
        let types = (plan.map_types.0, values);
        let share = if folding.is_some() { running.sizing.fold_shares().1 } else { running.sizing.share_bytes };
        let collector =
            |types, partition| Collector::new(store.clone(), types, partition, routes.clone(), spill, share);
        let collector = match make_key_encoder(plan, &context, types)? {
            None => KeyOrderCollector::plain(collector(types, partition)),
            Some(key_encoder) => {
                let given = Partition::given(plan.partitions);
                KeyOrderCollector::with_class(collector((Type::Bytes, Type::Bytes), given), key_encoder, partition)?
            }
        };
        Emitter::new(TimedSink::new(collector, running.env.clock.clone()), false, false)
    };

    let ahead = read_ahead(running);
    let workers = MapWorkers {
        running,
        store: &store,
        folding: folding.as_ref(),
        table_share,
        spills_tables,
        ahead: ahead.clone(),
        make_collector: &make_collector,
        write_table: &write_table,
        checkpoints: checkpoints.as_ref(),
        mapped: running.kept.splits(),
        next: AtomicUsize::new(0),
        collected: Mutex::default(),
        tables: Mutex::default(),
    };
    map_together(running, ahead.as_deref(), |worker, stop| {
        let Some(aside) = &aside else { return workers.work(worker, stop) };
        running.crew.together(2, |other, stop| {
            if other == 0 {
                let done = workers.work(worker, stop);
                aside.end();
                return done;
            }
            let combiner = make_combiner(&running.context(false, worker as u32));
            let mut spill = RunSpill { setup: &aside_setup, worker, combiner, value_type: values };
            aside.serve(stop, |mut collected| spill.spill(&store, &mut collected))
        })
    })?;
    let (mut collected, mut tables) = workers.into_results();
    for (worker, ns) in spilled_ns.iter().enumerate() {
        let stage = if folding.is_some() { StageKind::Fold } else { StageKind::Collect };
        running.meter.deduct(worker, stage, ns.load(Ordering::Relaxed));
    }

    // If one worker ran out of memory, the tables of the others are spilled too.
    if !table_runs.is_empty() {
        let left = std::mem::take(&mut tables);
        running.crew.each(left.len(), |worker, i| write_table(worker, &left[i]))?;
    }
    if !runs.is_empty() {
        // The records left in memory become runs too, those of each worker separately.
        let left: Vec<Mutex<CollectedRecords>> = std::mem::take(&mut collected).into_iter().map(Mutex::new).collect();
        running.crew.each(left.len(), |worker, i| {
            let mut own = left[i].lock().unwrap_or_else(|e| e.into_inner());
            if own.records > 0 {
                RunSpill { setup: &spill_setup, worker, combiner: None, value_type: values }.spill(&store, &mut own)?;
            }
            Ok(())
        })?;
        collected.extend(left.into_iter().map(|c| c.into_inner().unwrap_or_else(|e| e.into_inner())));
        store.check_whole_input()?;
    }
    if let Some(checkpoints) = checkpoints {
        checkpoints.finish()?;
    }
    let collected = collected.into_iter().fold(CollectedRecords::default(), |mut all, own| {
        all.append(own);
        all
    });
    let fold_input = if folding.is_some() { FoldInput::States } else { FoldInput::Values };
    Ok(MapOutput { store, collected, tables, scratch, runs, table_runs, hash_ranges, fold_input, bounds })
}

/// Makes the store of the job's records. Records that no class changes before the sort keep their input layout, in
/// mapped files where the job may map them.
fn make_store(running: &RunningJob<'_>) -> Result<Store> {
    let plan = running.plan;
    let (budget, block_bytes) = (running.budget.clone(), running.sizing.block_bytes);
    let untouched = plan.combiner.is_none()
        && plan.folder.is_none()
        && plan.partitioner.is_none()
        && plan.order.is_bytes()
        && plan.key_order_class.is_none();
    let source = match &plan.sources[..] {
        [source] if untouched && source.passes_on() && source.reader.is_none() => source,
        _ => return Store::new(budget, block_bytes, Layout::Headers, plan.order),
    };
    if running.env.maps_files
        && let Some(files) = mapped_input::map(&read_setup(running, source), &plan.splits, budget.limit_bytes())?
    {
        let layout = match &source.format {
            RecordFormat::Fixed { record_bytes, key_bytes } => {
                Layout::MappedFixed { record_bytes: *record_bytes, key_bytes: *key_bytes }
            }
            format => Layout::MappedLines { ends_at_cr: format.line_end() == Some(&LineEnd::Any) },
        };
        let splits = mapped_input::split_starts(&files, &plan.splits);
        return Store::mapped(budget, block_bytes, layout, plan.order, files, splits);
    }
    let layout = match source.format {
        RecordFormat::Fixed { record_bytes, key_bytes }
            if (record_bytes as usize).is_multiple_of(UNIT_BYTES) && record_bytes as usize <= block_bytes / 16 =>
        {
            Layout::Fixed { record_bytes, key_bytes }
        }
        _ => Layout::Headers,
    };
    Store::new(budget, block_bytes, layout, plan.order)
}
