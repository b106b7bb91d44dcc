//! The end of the last pipeline: rows in the order of morsels, whatever worker has them.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard};

use yunti_base::Result;
use yunti_sql_plan::Batch;

use super::{LocalSink, Sink};

/// Morsels that may be read before the one whose rows come next, for each worker.
const AHEAD: usize = 4;

/// Hands over batches in the order of their morsels: `count` rows behind the first `skip`.
pub struct Ordered<'f> {
    state: Mutex<State<'f>>,
    moved: Condvar,
    ahead: usize,
}

struct State<'f> {
    f: &'f mut (dyn FnMut(Batch) -> Result<()> + Send),
    /// Morsel whose rows come next.
    front: usize,
    /// Batches of later morsels, and true if the morsel has ended.
    waiting: BTreeMap<usize, (Vec<Batch>, bool)>,
    skip: usize,
    left: Option<usize>,
    is_dead: bool,
}

impl<'f> Ordered<'f> {
    pub fn new(
        f: &'f mut (dyn FnMut(Batch) -> Result<()> + Send),
        (skip, count): (usize, Option<usize>),
        threads: usize,
    ) -> Ordered<'f> {
        let state = State { f, front: 0, waiting: BTreeMap::new(), skip, left: count, is_dead: false };
        Ordered { state: Mutex::new(state), moved: Condvar::new(), ahead: AHEAD * threads }
    }

    fn lock(&self) -> MutexGuard<'_, State<'f>> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl State<'_> {
    fn hand_over(&mut self, mut batch: Batch) -> Result<()> {
        if self.skip > 0 {
            let from = self.skip.min(batch.rows);
            self.skip -= from;
            let rows: Vec<u32> = (from as u32..batch.rows as u32).collect();
            batch = batch.select(&rows);
        }
        if let Some(left) = &mut self.left {
            if batch.rows > *left {
                let rows: Vec<u32> = (0..*left as u32).collect();
                batch = batch.select(&rows);
            }
            *left -= batch.rows;
        }
        if batch.rows > 0 { (self.f)(batch) } else { Ok(()) }
    }

    /// Hands over what waits at the front.
    fn advance(&mut self) -> Result<()> {
        while let Some((batches, has_ended)) = self.waiting.get_mut(&self.front) {
            let (batches, has_ended) = (std::mem::take(batches), *has_ended);
            batches.into_iter().try_for_each(|batch| self.hand_over(batch))?;
            if !has_ended {
                break;
            }
            self.waiting.remove(&self.front);
            self.front += 1;
        }
        Ok(())
    }
}

impl Sink for Ordered<'_> {
    fn local<'s>(&'s self) -> Result<Box<dyn LocalSink + 's>> {
        Ok(Box::new(Local { of: self, is_done: false }))
    }

    fn is_full(&self) -> bool {
        let state = self.lock();
        state.left == Some(0) || state.is_dead
    }
}

struct Local<'s, 'f> {
    of: &'s Ordered<'f>,
    is_done: bool,
}

impl Local<'_, '_> {
    fn add(&self, morsel: usize, batch: Option<Batch>) -> Result<()> {
        let mut state = self.of.lock();
        // The morsel at the front is some worker's, so that it ends, and the others go on.
        while morsel > state.front + self.of.ahead && !state.is_dead && state.left != Some(0) {
            state = self.of.moved.wait(state).unwrap_or_else(|e| e.into_inner());
        }
        let ends = batch.is_none();
        let entry = state.waiting.entry(morsel).or_default();
        entry.0.extend(batch);
        entry.1 |= ends;
        let done = if morsel == state.front { state.advance() } else { Ok(()) };
        state.is_dead |= done.is_err();
        if ends || state.is_dead {
            self.of.moved.notify_all();
        }
        done
    }
}

impl LocalSink for Local<'_, '_> {
    fn push(&mut self, morsel: usize, batch: Batch) -> Result<()> {
        self.add(morsel, Some(batch))
    }

    fn end(&mut self, morsel: usize) -> Result<()> {
        self.add(morsel, None)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.is_done = true;
        Ok(())
    }
}

/// A worker that fails never ends its morsel: the others must not wait for it.
impl Drop for Local<'_, '_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.of.lock().is_dead = true;
            self.of.moved.notify_all();
        }
    }
}
