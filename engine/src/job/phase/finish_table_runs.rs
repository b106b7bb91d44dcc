//! The end of a grouped job whose tables were spilled: each range of the hash is merged from all runs in a table, finished, written.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::finish_runs::{note_runs, note_scratch};
use super::finish_tables::PartSink;
use super::mapping::TASK_COUNTERS;
use super::running::{Running, show_output};
use super::sorted::Mapped;
use crate::base::{KeyOrder, Result};
use crate::fold::{FoldTable, Share};
use crate::job::control::StageNow;
use crate::job::report::meter::StageKind;
use crate::operator::{Emitter, Folder, TaskContext};
use crate::run::{Block, BlockSource, KeyRange, ReadContext, Run, RunReader, reader_memory_bytes};
use crate::write::Output;

pub fn run(running: &Running<'_>, mapped: Mapped, output: &Output) -> Result<()> {
    let clock = &*running.env.clock;
    running.control.enter(StageNow::Merge);
    let Mapped { scratch, table_runs, hash_ranges, bounds, store, .. } = mapped;
    drop(store);
    let runs = table_runs.take();
    note_runs(running, &runs);
    let context = ReadContext { budget: running.budget.clone(), cancelled: running.crew.cancel.flag() };
    let workers = running.crew.workers.min(hash_ranges.count() as usize);
    // Block and working space of the reader beside the table.
    let reading = 2 * reader_memory_bytes(running.sizing.run_block_bytes);
    let share = (running.budget.free_bytes() / workers as u64 * 3 / 4).saturating_sub(reading);
    let next = AtomicU32::new(0);
    running.crew.together(workers, |worker, stop| {
        let Some(class) = &running.plan.folder else { return Ok(()) };
        let task = TaskContext::new(running.settings.clone(), true, worker as u32, running.plan.partitions);
        let _reading = running.budget.grant(reading, "merging tables")?;
        // Two instances: one merges states while the other finishes them.
        let mut folder = class.folder(&task)?;
        let mut finisher = class.folder(&task)?;
        let budget = running.budget.part(share);
        let mut merge = RangeMerge {
            // Another seed: by the one of the spilled tables, the keys of a range would all stand in one corner.
            table: FoldTable::new(folder.shape(), !running.seed(), &budget)?,
            runs: &runs,
            context: &context,
            block: Block::default(),
            spare: Vec::new(),
            entries: Vec::new(),
            records: 0,
        };
        let mut emitter = Emitter::new(PartSink::new(running, &task, &bounds, output, stop)?, false, false)?;
        let from_ns = clock.now_ns();
        let mut keys_seen = 0;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= hash_ranges.count() || stop() {
                break;
            }
            // What does not fit is merged half by half.
            let mut left = vec![Share::ALL];
            while let Some(keys) = left.pop() {
                running.crew.cancel.check()?;
                if !merge.gather(&mut *folder, number, keys)? {
                    let Some(halves) = keys.halves() else { return Err(budget.too_small(share * 2, "merging tables")) };
                    left.extend(halves);
                    continue;
                }
                merge.table.for_each_batch(|keys, states| {
                    keys_seen += keys.len() as u64;
                    emitter.run(&[], |out| finisher.finish(keys, states, out))
                })?;
            }
            running.control.advance(running.plan.input_bytes / u64::from(hash_ranges.count()));
            show_output(running);
        }
        let write_ns = emitter.finish()?.finish()?;
        drop((folder, finisher));
        running.absorb(&task);
        running.count(TASK_COUNTERS, "REDUCE_INPUT_GROUPS", keys_seen);
        let to_ns = clock.now_ns();
        running.meter.add(worker, StageKind::Merge, (to_ns - from_ns).saturating_sub(write_ns), 0, merge.records);
        running.meter.add(worker, StageKind::Write, write_ns, 0, keys_seen);
        running.meter.span(worker, "merge", worker as u64, from_ns, to_ns, 0, merge.records);
        Ok(())
    })?;
    let spilled = runs.iter().map(|run| run.totals().records).sum();
    running.count(TASK_COUNTERS, "REDUCE_INPUT_RECORDS", spilled);
    note_scratch(running, &scratch);
    Ok(())
}

/// One worker's table, filled from a range of all runs.
struct RangeMerge<'r> {
    table: FoldTable,
    runs: &'r [Arc<Run>],
    context: &'r ReadContext,
    block: Block,
    spare: Vec<u8>,
    /// Where keys and states lie in the block.
    entries: Vec<[[u32; 2]; 2]>,
    records: u64,
}

impl RangeMerge<'_> {
    /// Gathers the states of a share of a partition's keys; false: they do not fit.
    fn gather(&mut self, folder: &mut dyn Folder, partition: u32, keys: Share) -> Result<bool> {
        self.table.clear();
        for run in self.runs {
            let mut reader = RunReader::open(run, KeyRange::whole(partition), false, self.context);
            while reader.next_block(&mut self.block, &mut self.spare)? {
                let mut at = self.block.start();
                self.entries.clear();
                self.block.decode(&mut at, usize::MAX, KeyOrder::BYTES, |_, e| {
                    let state = [e.offset + e.key_len, e.len - e.key_len];
                    self.entries.push([[e.offset, e.key_len], state]);
                });
                self.block.check_end(at).map_err(|e| reader.locate(e))?;
                self.records += self.entries.len() as u64;
                if !self.table.merge_states(folder, self.block.data(), &self.entries, keys)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
