//! The end of a grouped job whose tables were spilled: each hash range is merged from all runs in one table, finished,
//! written.

use std::sync::atomic::{AtomicU32, Ordering};

use super::super::map_output::MapOutput;
use super::super::map_setup::TASK_COUNTERS;
use super::super::running_job::{RunningJob, show_output};
use super::runs::{note_lost, note_runs, note_scratch};
use super::tables::PartSink;
use crate::fold::spill::RangeMerge;
use crate::fold::{FoldTable, Share};
use crate::job::control::ProgressStage;
use crate::job::report::meter::StageKind;
use crate::operator::{Emitter, Folder};
use crate::run::{ReadContext, reader_memory_bytes};
use crate::write::Output;
use yunti_base::{Cancel, Error, Result};

/// Merges one hash range and passes its keys and states to `each`. A range that does not fit is merged in halves.
///
/// Fails with `too_small` for a range that cannot be halved.
pub fn merge_range(
    merge: &mut RangeMerge<'_>,
    folder: &mut dyn Folder,
    number: u32,
    cancel: &Cancel,
    too_small: impl Fn() -> Error,
    mut each: impl FnMut(&[&[u8]], &[*const u8]) -> Result<()>,
) -> Result<()> {
    let mut left = vec![Share::ALL];
    while let Some(keys) = left.pop() {
        cancel.check()?;
        match merge.gather(folder, number, keys)? {
            Some(table) => table.for_each_batch(&mut each)?,
            None => left.extend(keys.halves().ok_or_else(&too_small)?),
        }
    }
    Ok(())
}

/// Merges, finishes and writes the table runs of `map_output`.
pub fn run(running: &RunningJob<'_>, mapped: MapOutput, output: &Output) -> Result<()> {
    let clock = &*running.env.clock;
    running.enter(ProgressStage::Merge);
    let MapOutput { scratch, table_runs, hash_ranges, bounds, store, .. } = mapped;
    drop(store);
    let runs = table_runs.take();
    note_runs(running, &runs);
    let context = ReadContext { budget: running.budget.clone(), cancelled: running.crew.cancel.flag() };
    let workers = running.crew.workers.min(hash_ranges.count() as usize);
    // The reader needs a block and working space beside the table.
    let reading = 2 * reader_memory_bytes(running.sizing.run_block_bytes);
    let share = (running.budget.free_bytes() / workers as u64 * 3 / 4).saturating_sub(reading);
    let next = AtomicU32::new(0);
    let reduced = running.crew.together(workers, |worker, stop| {
        let Some(class) = &running.plan.folder else { return Ok(()) };
        let task = running.context(true, worker as u32);
        let _reading = running.budget.grant(reading, "merging tables")?;
        // Two instances: one merges states while the other finishes them.
        let mut folder = class.folder(&task)?;
        let mut finisher = class.folder(&task)?;
        let budget = running.budget.part(share);
        // Not the seed of the spilled tables, which would put all keys of a range next to each other.
        let table = FoldTable::new(folder.shape(), !running.seed(), &budget)?;
        let mut merge = RangeMerge::new(table, &runs, &context);
        let mut emitter = Emitter::new(PartSink::new(running, &task, &bounds, output, stop)?, false, false)?;
        let from_ns = clock.now_ns();
        let mut keys_seen = 0;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= hash_ranges.count() || stop() {
                break;
            }
            let too_small = || budget.too_small(share * 2, "merging tables");
            merge_range(&mut merge, &mut *folder, number, running.crew.cancel, too_small, |keys, states| {
                keys_seen += keys.len() as u64;
                emitter.run(&[], |out| finisher.finish(keys, states, out))
            })?;
            running.advance(running.plan.input_bytes / u64::from(hash_ranges.count()));
            show_output(running);
        }
        let write_ns = emitter.finish()?.finish()?;
        drop((folder, finisher));
        running.absorb(worker, &task);
        running.count_on(worker, TASK_COUNTERS, "REDUCE_INPUT_GROUPS", keys_seen);
        let to_ns = clock.now_ns();
        running.meter.add(worker, StageKind::Merge, (to_ns - from_ns).saturating_sub(write_ns), 0, merge.records());
        running.meter.add(worker, StageKind::Write, write_ns, 0, keys_seen);
        running.meter.span(worker, "merge", worker as u64, from_ns, to_ns, 0, merge.records());
        Ok(())
    });
    note_lost(running, &runs, reduced)?;
    let spilled = runs.iter().map(|run| run.totals().records).sum();
    running.count(TASK_COUNTERS, "REDUCE_INPUT_RECORDS", spilled);
    note_scratch(running, &scratch);
    Ok(())
}
