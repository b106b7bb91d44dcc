//! A reduce task of a grouped job with a folder: states of all maps, in no order, merged in a table. A full table is
//! spilled by ranges of its hashes (`fold/spill.rs`).
//!
//! ```text
//!   segment of map 0 | states by ascending normalised key |     at most 64 states of different keys at once
//!   segment of map 1 | ..                                 | --> table --full--> run of 256 hash ranges
//!                                                                 |                 |
//!                                              fits: finish, write        each range in a new table, finish, write
//! ```

use std::sync::Arc;

use crate::bytes::{KeyOrder, Record};
use crate::fold::spill::RangeMerge;
use crate::fold::{FoldTable, HashRanges};
use crate::job::phase::map_output::run_settings;
use crate::job::phase::map_setup::TASK_COUNTERS;
use crate::job::phase::reduce::table_runs::merge_range;
use crate::job::phase::running_job::RunningJob;
use crate::memory::Budget;
use crate::memory::buffer::SLACK_BYTES;
use crate::operator::cursor::RecordSink;
use crate::operator::folder::FOLD_BATCH;
use crate::operator::{Class, Emitter, Folder, TaskContext};
use crate::run::{ReadContext, Run, RunBuilder, ScratchSpace, reader_memory_bytes};
use crate::write::{FinishedWriter, OutputWriter};
use yunti_base::Result;

/// Bytes of states that wait for the table, about.
const WAITING_BYTES: usize = 64 << 10;

/// A hash reduce. Call order: `push` for each record, `finish`.
pub struct HashReduce<'r> {
    running: &'r RunningJob<'r>,
    class: Arc<dyn Class>,
    context: Arc<TaskContext>,
    folder: Box<dyn Folder>,
    table: FoldTable,
    /// Memory of the table.
    budget: Arc<Budget>,
    order: KeyOrder,
    ranges: HashRanges,
    scratch: Option<Arc<ScratchSpace>>,
    runs: Vec<Arc<Run>>,
    /// States that wait for the table: keys and states side by side, and where they are.
    waiting: Vec<u8>,
    entries: Vec<[[u32; 2]; 2]>,
    /// Normalised key of the last of them.
    last: Vec<u8>,
    /// Number of records taken.
    records: u64,
}

impl<'r> HashReduce<'r> {
    /// Makes the task of a partition. Fails with `Code::Memory` if the budget is too small for a table.
    pub fn new(running: &'r RunningJob<'r>, class: &Arc<dyn Class>, partition: u32) -> Result<HashReduce<'r>> {
        let context = running.context_with_outputs(true, partition);
        let folder = class.folder(&context)?;
        // The reader of the runs needs a block and working space beside the table.
        let reading = 2 * reader_memory_bytes(running.sizing.run_block_bytes);
        let share = (running.budget.free_bytes() / 4 * 3).saturating_sub(reading);
        let budget = running.budget.part(share);
        Ok(HashReduce {
            table: FoldTable::new(folder.shape(), running.seed(), &budget)?,
            running,
            class: class.clone(),
            context,
            folder,
            budget,
            order: running.plan.order,
            ranges: HashRanges::for_tables(share),
            scratch: None,
            runs: Vec::new(),
            waiting: Vec::new(),
            entries: Vec::new(),
            last: Vec::new(),
            records: 0,
        })
    }

    /// Takes the next record: a normalised key and the state of a folder.
    pub fn push(&mut self, record: &Record<'_>) -> Result<()> {
        let (key, state) = (record.key(), record.value());
        // A batch has no key twice. Keys of one map ascend, so the others begin a batch.
        let may_repeat = !self.entries.is_empty() && *key <= *self.last;
        if may_repeat || self.entries.len() == FOLD_BATCH || self.waiting.len() + record.bytes.len() > WAITING_BYTES {
            self.merge_waiting()?;
        }
        self.last.clear();
        self.last.extend_from_slice(key);
        let at = self.waiting.len();
        self.waiting.extend_from_slice(record.bytes);
        self.order.denormalise(&mut self.waiting[at..at + key.len()]);
        let place = |at: usize, len: usize| [at as u32, len as u32];
        self.entries.push([place(at, key.len()), place(at + key.len(), state.len())]);
        self.records += 1;
        Ok(())
    }

    fn merge_waiting(&mut self) -> Result<()> {
        let len = self.waiting.len();
        // Keys are loaded with what follows them.
        self.waiting.resize(len + SLACK_BYTES, 0);
        let mut done = 0;
        while done < self.entries.len() {
            done += self.table.merge_some(&mut *self.folder, &self.waiting, &self.entries[done..])?;
            if done < self.entries.len() {
                self.running.crew.cancel.check()?;
                self.spill()?;
            }
        }
        self.waiting.clear();
        self.entries.clear();
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        let running = self.running;
        let scratch = self.scratch.get_or_insert_with(|| {
            let env = running.env;
            ScratchSpace::with_rule(
                env.files.clone(),
                env.clock.clone(),
                running.scratch_dirs.clone(),
                running.plan.scratch_rule,
            )
        });
        let run = self.ranges.write(&self.table, RunBuilder::unordered(scratch.clone(), run_settings(running)))?;
        running.count(TASK_COUNTERS, "SPILLED_RECORDS", run.totals().records);
        self.runs.push(Arc::new(run));
        self.table.clear();
        self.table.enlarge()
    }

    /// Finishes all states, writes them, and adds the task's counters.
    pub fn finish(mut self, writer: OutputWriter<'r>) -> Result<FinishedWriter> {
        self.merge_waiting()?;
        if !self.runs.is_empty() && !self.table.is_empty() {
            self.spill()?;
        }
        let HashReduce { running, class, context, mut folder, table, budget, ranges, runs, records, .. } = self;
        let mut finisher = class.folder(&context)?;
        let mut emitter = Emitter::new(RecordSink::new(writer)?, false, false)?;
        let mut groups = 0;
        let mut each = |keys: &[&[u8]], states: &[*const u8]| {
            groups += keys.len() as u64;
            emitter.run(&[], |out| finisher.finish(keys, states, out))
        };
        if runs.is_empty() {
            table.for_each_batch(&mut each)?;
        } else {
            drop(table);
            let read = ReadContext { budget: running.budget.clone(), cancelled: running.crew.cancel.flag() };
            let _reading =
                running.budget.grant(2 * reader_memory_bytes(running.sizing.run_block_bytes), "merging tables")?;
            // Not the seed of the spilled tables, which would put all keys of a range next to each other.
            let table = FoldTable::new(folder.shape(), !running.seed(), &budget)?;
            let mut merge = RangeMerge::new(table, &runs, &read);
            let too_small = || budget.too_small(2 * budget.limit_bytes(), "merging tables");
            for number in 0..ranges.count() {
                merge_range(&mut merge, &mut *folder, number, running.crew.cancel, too_small, &mut each)?;
            }
        }
        let written = emitter.finish()?.into_target().finish()?;
        drop((folder, finisher));
        running.absorb(0, &context);
        running.count(TASK_COUNTERS, "REDUCE_INPUT_RECORDS", records);
        running.count(TASK_COUNTERS, "REDUCE_INPUT_GROUPS", groups);
        Ok(written)
    }
}
