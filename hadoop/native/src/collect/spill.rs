//! Spilling: what was collected becomes a run on the task's local disks, sorted and combined, while the mapper goes on.
//!
//! ```text
//!   collector   | fills all | - - - - | fills half   | fills half   | ..    the mapper's thread
//!   Spiller                 | spills  |  | spills      | spills           its own, from the second one on
//! ```
//!
//! The first spill keeps the mapper waiting: the memory is full. What fits is never spilled for the sake of a spill at the same time.

use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use yunti_base::{Code, Error, Result};
use yunti_engine::collect::collector::Spill;
use yunti_engine::collect::{CollectedRecords, Store};

use crate::sorted::{Combining, Counts, TaskSpace};

/// The spill that is under way, and what is needed for the next one.
pub struct Spilling {
    space: Arc<TaskSpace>,
    combining: Mutex<Combining>,
    under_way: Mutex<Option<JoinHandle<Result<()>>>>,
}

impl Spilling {
    pub fn new(space: Arc<TaskSpace>, combining: Combining) -> Arc<Spilling> {
        Arc::new(Spilling { space, combining: Mutex::new(combining), under_way: Mutex::default() })
    }

    fn under_way(&self) -> MutexGuard<'_, Option<JoinHandle<Result<()>>>> {
        self.under_way.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits for the spill that is under way, and returns how it ended; true if there was one.
    pub fn wait(&self) -> Result<bool> {
        // The lock is not held while the thread runs.
        let Some(thread) = self.under_way().take() else { return Ok(false) };
        thread.join().unwrap_or_else(|_| Err(Error::new(Code::Internal, "a spill ended in a panic")))?;
        Ok(true)
    }

    /// Waits for whatever `act` does with it: time that the mapper has to spare for spills.
    pub fn waiting<T>(self: &Arc<Self>, act: impl FnOnce(&Arc<Self>) -> Result<T>) -> Result<T> {
        let clock = &self.space.env.clock;
        let start = clock.now_ns();
        let done = act(self);
        Counts::add(&self.space.counts.spill_ns, clock.now_ns() - start);
        done
    }

    fn spill(&self, store: &Store, mut collected: CollectedRecords) -> Result<()> {
        let mut combining = self.combining.lock().unwrap_or_else(|e| e.into_inner());
        let space = &self.space;
        let done =
            space.sorted(store, &mut collected, |sorted| space.write_run(|to| space.drain(sorted, &mut combining, to)));
        collected.release(store);
        done
    }

    fn begin(self: &Arc<Self>, store: Arc<Store>, collected: CollectedRecords) -> Result<()> {
        let own = self.clone();
        // Should there be no thread, the records would be lost with the closure: they wait beside it.
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

/// Spills a collector's records.
pub struct Spiller {
    pub spilling: Arc<Spilling>,
    pub store: Arc<Store>,
}

impl Drop for Spiller {
    fn drop(&mut self) {
        // Of a task that failed: nobody asks how the spill ended, but nothing is written once the task is gone.
        let _ = self.spilling.wait();
    }
}

impl Spill for Spiller {
    fn spill(&mut self, store: &Store, collected: &mut CollectedRecords) -> Result<()> {
        self.spilling.waiting(|spilling| {
            spilling.wait()?;
            let collected = std::mem::take(collected);
            match spilling.space.runs.is_empty() {
                true => spilling.spill(store, collected),
                false => spilling.begin(self.store.clone(), collected),
            }
        })
    }

    fn wait(&mut self) -> Result<bool> {
        self.spilling.waiting(|spilling| spilling.wait())
    }
}
