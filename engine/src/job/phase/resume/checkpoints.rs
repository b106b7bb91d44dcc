//! Checkpoints of the map phase: when a worker has spilled all records of some splits, the journal gets them.
//!
//! ```text
//!   split 0 | split 1 | split 2 | split 3 ..          a worker's splits
//!                     ^ spill                         its records do not fit with those of one more split
//!           checkpoint: splits 0 1 2, their runs
//! ```
//!
//! A worker spills at the end of a split:
//! * if it spilled within the split: the rest of the split is little;
//! * if the next split would make it spill: a spill is due anyway;
//! * if the last checkpoint is long ago, and the spill costs little of that time.
//!
//! So a job that spills pays for the frames alone, and a job that has room for its records pays at most a hundredth
//! (`resume.cost.percent`). If its records are many for the time that it took to make them, it begins again after a
//! kill.

use super::super::running_job::RunningJob;
use crate::collect::spill::Runs;
use crate::env::sync::Mutex;
use crate::job::journal::Journal;
use crate::job::journal::frame::{Frame, rows_of};
use crate::read::Split;
use crate::run::ScratchSpace;
use yunti_base::Result;

/// Cost of a spill in nanoseconds a byte, for an estimate: sorting and writing 200 MB/s.
const SPILL_NS_A_BYTE: u64 = 5;

/// State that the workers of the map phase share for checkpoints.
pub struct Checkpoints<'m, 'r> {
    pub running: &'m RunningJob<'r>,
    pub journal: &'m Journal,
    pub scratch: &'m ScratchSpace,
    pub runs: &'m Runs,
    pub table_runs: &'m Runs,
    /// Finished splits whose records no checkpoint has.
    pub open_splits: Mutex<Vec<u32>>,
}

/// Checkpoints of one worker. Dropping it leaves its open splits to the last checkpoint.
pub struct WorkerCheckpoints<'m, 'r> {
    all: Option<&'m Checkpoints<'m, 'r>>,
    worker: usize,
    splits: Vec<u32>,
    last_ns: u64,
    /// Memory that the records took before the split.
    before_bytes: u64,
}

impl<'m, 'r> WorkerCheckpoints<'m, 'r> {
    /// Returns the checkpoints of a worker that begins; without a journal, they do nothing.
    pub fn new(all: Option<&'m Checkpoints<'m, 'r>>, worker: usize) -> Self {
        let last_ns = all.map_or(0, |all| all.running.env.clock.now_ns());
        WorkerCheckpoints { all, worker, splits: Vec::new(), last_ns, before_bytes: 0 }
    }

    /// Ends a split. `spill` writes all records of the worker to runs. `held_bytes`: memory of the records;
    /// `allowed_bytes`: memory that they may take.
    pub fn end_split(
        &mut self,
        split: &Split,
        (held_bytes, allowed_bytes): (u64, u64),
        spill: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let Some(all) = self.all else { return Ok(()) };
        self.splits.push(split.number);
        let grown_bytes = held_bytes.saturating_sub(self.before_bytes);
        let now_ns = all.running.env.clock.now_ns();
        let since_ns = now_ns.saturating_sub(self.last_ns);
        let every_ns = all.journal.checkpoint_ns;
        let is_cheap = held_bytes.saturating_mul(SPILL_NS_A_BYTE * 100) <= since_ns * all.journal.cost_percent;
        // 0 is a request for a checkpoint a split, at any cost.
        let is_old = since_ns >= every_ns && is_cheap || every_ns == 0;
        let is_full = held_bytes + grown_bytes + grown_bytes / 4 > allowed_bytes;
        self.before_bytes = held_bytes;
        if !is_full && !is_old && !all.has_unsaved(self.worker) {
            return Ok(());
        }
        spill()?;
        (self.before_bytes, self.last_ns) = (0, now_ns);
        all.save(Some(self.worker), std::mem::take(&mut self.splits))
    }
}

impl Drop for WorkerCheckpoints<'_, '_> {
    fn drop(&mut self) {
        if let Some(all) = self.all {
            all.open_splits.lock().unwrap_or_else(|e| e.into_inner()).append(&mut self.splits);
        }
    }
}

impl Checkpoints<'_, '_> {
    fn has_unsaved(&self, worker: usize) -> bool {
        !self.runs.unsaved(Some(worker)).is_empty() || !self.table_runs.unsaved(Some(worker)).is_empty()
    }

    /// Saves the checkpoint of some splits, whose records are all in runs that `worker` wrote; without one, in those of
    /// all workers.
    fn save(&self, worker: Option<usize>, splits: Vec<u32>) -> Result<()> {
        let (runs, table_runs) = (self.runs.unsaved(worker), self.table_runs.unsaved(worker));
        if self.journal.is_durable() {
            self.scratch.sync()?;
        }
        let sorted = runs.iter().map(|run| (run, self.journal.record(run, false)));
        let tables = table_runs.iter().map(|run| (run, self.journal.record(run, true)));
        let numbered: Vec<_> = sorted.chain(tables).collect();
        let running = self.running;
        let counters = running.settle(worker);
        self.journal.append(&Frame::Checkpoint {
            splits: splits.iter().map(|&number| self.journal.split(number)).collect(),
            runs: numbered.iter().map(|(_, record)| record.clone()).collect(),
            counters: rows_of(&counters),
            bad_records: running.job.bad_records.kept_of(&splits).into_iter().map(Into::into).collect(),
        })?;
        numbered.iter().for_each(|(run, record)| run.set_number(record.number));
        Ok(())
    }

    /// Ends the map phase: saves what the workers left in runs. Records in memory are not saved.
    pub fn finish(&self) -> Result<()> {
        if self.runs.is_empty() && self.table_runs.is_empty() {
            return Ok(());
        }
        let splits = std::mem::take(&mut *self.open_splits.lock().unwrap_or_else(|e| e.into_inner()));
        if !splits.is_empty() || !self.runs.unsaved(None).is_empty() || !self.table_runs.unsaved(None).is_empty() {
            self.save(None, splits)?;
        }
        self.journal.append(&Frame::Mapped { runs: [self.runs.numbers(), self.table_runs.numbers()].concat() })
    }
}
