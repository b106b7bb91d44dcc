//! Spilling: collected records become a run on the task's local disks, sorted and combined, while the mapper goes on.
//!
//! ```text
//!   collector   | fills all | - - - - | fills half   | fills half   | ..    the mapper's thread
//!   Spiller                 | spills  |  | spills      | spills           its own, from the second one on
//! ```
//!
//! The first spill makes the mapper wait, because the memory is full. Outputs that fit in memory are never spilled only
//! to have a spill run in the background.

use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use yunti_base::{Code, Error, Result};
use yunti_engine::collect::collector::Spill;
use yunti_engine::collect::{CollectedRecords, Store};

use crate::sorted::{CombineMode, Counts, RunSource, TaskSpace};

/// The background spill, and the state for the next one.
pub struct BackgroundSpill {
    space: Arc<TaskSpace>,
    combine_mode: Mutex<CombineMode>,
    under_way: Mutex<Option<JoinHandle<Result<()>>>>,
}

impl BackgroundSpill {
    /// Returns a state without a spill. `combine_mode` applies to the spills.
    pub fn new(space: Arc<TaskSpace>, combine_mode: CombineMode) -> Arc<BackgroundSpill> {
        Arc::new(BackgroundSpill { space, combine_mode: Mutex::new(combine_mode), under_way: Mutex::default() })
    }

    fn under_way(&self) -> MutexGuard<'_, Option<JoinHandle<Result<()>>>> {
        self.under_way.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits for the background spill and returns its result; true if there was one.
    pub fn wait(&self) -> Result<bool> {
        // The lock is not held while the thread runs.
        let Some(thread) = self.under_way().take() else { return Ok(false) };
        thread.join().unwrap_or_else(|_| Err(Error::new(Code::Internal, "a spill ended in a panic")))?;
        Ok(true)
    }

    /// Runs `act` and counts its time as time that the mapper waits for spills.
    pub fn time_wait<T>(self: &Arc<Self>, act: impl FnOnce(&Arc<Self>) -> Result<T>) -> Result<T> {
        let clock = &self.space.env.clock;
        let start = clock.now_ns();
        let done = act(self);
        Counts::add(&self.space.counts.spill_ns, clock.now_ns() - start);
        done
    }

    fn spill(&self, store: &Store, mut collected: CollectedRecords) -> Result<()> {
        let mut combine_mode = self.combine_mode.lock().unwrap_or_else(|e| e.into_inner());
        let space = &self.space;
        let source = RunSource::Spill { records: collected.records, bytes: collected.bytes };
        let done = space.sorted(store, &mut collected, |sorted| {
            space.write_run(source, |to| space.drain(sorted, &mut combine_mode, to))
        });
        collected.release(store);
        done
    }

    fn begin(self: &Arc<Self>, store: Arc<Store>, collected: CollectedRecords) -> Result<()> {
        let own = self.clone();
        // Without a thread the records would be lost with the closure, so they wait beside it.
        let waiting = Arc::new(Mutex::new(Some(collected)));
        let taken = waiting.clone();
        let take = |waiting: &Mutex<Option<CollectedRecords>>| waiting.lock().unwrap_or_else(|e| e.into_inner()).take();
        let spilled = store.clone();
        let body = move || take(&taken).map_or(Ok(()), |collected| own.spill(&spilled, collected));
        match std::thread::Builder::new().name("yunti spill".into()).spawn(body) {
            Ok(thread) => {
                *self.under_way() = Some(thread);
                Ok(())
            }
            Err(_) => take(&waiting).map_or(Ok(()), |collected| self.spill(&store, collected)),
        }
    }
}

/// `Spill` of a collector: in the background from the second one on.
pub struct Spiller {
    /// The background spill.
    pub spilling: Arc<BackgroundSpill>,
    /// Store of the records.
    pub store: Arc<Store>,
}

impl Drop for Spiller {
    fn drop(&mut self) {
        // The task failed and needs no result, but nothing may be written after it has ended.
        let _ = self.spilling.wait();
    }
}

impl Spill for Spiller {
    fn spill(&mut self, store: &Store, collected: &mut CollectedRecords) -> Result<()> {
        self.spilling.time_wait(|spilling| {
            spilling.wait()?;
            let collected = std::mem::take(collected);
            match spilling.space.runs.is_empty() {
                true => spilling.spill(store, collected),
                false => spilling.begin(self.store.clone(), collected),
            }
        })
    }

    fn wait(&mut self) -> Result<bool> {
        self.spilling.time_wait(|spilling| spilling.wait())
    }
}
