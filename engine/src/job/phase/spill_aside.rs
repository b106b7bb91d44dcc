//! Spills beside the map of a task that has more than one processor: another worker sorts and writes what the map has
//! collected.
//!
//! ```text
//!   map     | fills all | - - - - | fills half   | fills half   | ..    worker 0
//!   aside               | spills  |  | spills      | spills           worker 1, from the second spill on
//! ```
//!
//! The first spill makes the map wait, because the memory is full. Outputs that fit in memory are never spilled only to
//! have a spill beside the map. Runs are written in the order of the spills, so the merged records are those of one
//! worker.

use std::sync::Arc;
use std::time::Duration;

use crate::collect::Store;
use crate::collect::collector::{CollectedRecords, Spill};
use crate::collect::spill::RunSpill;
use crate::env::crew::Stop;
use crate::env::sync::{Condvar, Mutex, MutexGuard};
use yunti_base::{Code, Error, Result};

/// Longest wait. A worker that failed sends no notification.
const WAIT: Duration = Duration::from_millis(20);

/// Meeting point of the map and the worker that spills.
#[derive(Default)]
pub struct SpillsAside {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Records of a spill that has not begun.
    waiting: Option<CollectedRecords>,
    /// True while the worker spills.
    is_busy: bool,
    /// Error of the last spill.
    failure: Option<Error>,
    /// True after the map.
    is_over: bool,
}

/// Mark of a spill under way. A spill that ends in a panic is a failure.
struct Spilling<'a> {
    aside: &'a SpillsAside,
    result: Result<()>,
}

impl Drop for Spilling<'_> {
    fn drop(&mut self) {
        let mut state = self.aside.lock();
        state.is_busy = false;
        state.failure = std::mem::replace(&mut self.result, Ok(())).err();
        drop(state);
        self.aside.changed.notify_all();
    }
}

impl SpillsAside {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn wait<'s>(&'s self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.changed.wait_timeout(state, WAIT).unwrap_or_else(|e| e.into_inner()).0
    }

    /// Spills what the map hands over, until the map is over. Fails with the error of a spill that the map did not get.
    pub fn serve(&self, stop: Stop<'_>, mut spill: impl FnMut(CollectedRecords) -> Result<()>) -> Result<()> {
        let mut state = self.lock();
        loop {
            if let Some(collected) = state.waiting.take() {
                state.is_busy = true;
                drop(state);
                let panicked = Err(Error::new(Code::Internal, "a spill ended in a panic"));
                let mut spilling = Spilling { aside: self, result: panicked };
                spilling.result = spill(collected);
                drop(spilling);
                state = self.lock();
            } else if state.is_over || stop() {
                return state.failure.take().map_or(Ok(()), Err);
            } else {
                state = self.wait(state);
            }
        }
    }

    /// Ends the map.
    pub fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }
}

/// `Spill` of the map: beside it from the second spill on.
pub struct AsideSpill<'a> {
    pub aside: &'a SpillsAside,
    pub store: Arc<Store>,
    /// Spill on the map's own worker.
    pub own: RunSpill<'a>,
    /// True after the first spill.
    pub has_spilled: bool,
}

impl AsideSpill<'_> {
    /// Waits for the spill that was handed over; returns true if there was one.
    fn settle(&mut self) -> Result<bool> {
        let mut state = self.aside.lock();
        if let Some(mut collected) = state.waiting.take() {
            // The other worker has not begun; it may have no thread.
            drop(state);
            self.own.spill(&self.store, &mut collected)?;
            return Ok(true);
        }
        let was_busy = state.is_busy;
        while state.is_busy {
            state = self.aside.wait(state);
        }
        state.failure.take().map_or(Ok(was_busy), Err)
    }
}

impl Spill for AsideSpill<'_> {
    fn spill(&mut self, store: &Store, collected: &mut CollectedRecords) -> Result<()> {
        self.settle()?;
        if !std::mem::replace(&mut self.has_spilled, true) {
            return self.own.spill(store, collected);
        }
        self.aside.lock().waiting = Some(std::mem::take(collected));
        self.aside.changed.notify_all();
        Ok(())
    }

    fn wait(&mut self) -> Result<bool> {
        self.settle()
    }

    fn shares_memory(&self) -> bool {
        self.has_spilled
    }
}
