//! Sink of the build side: keeps the columns that the join needs, with the keys that are no columns.
//!
//! Once the budget refuses memory, rows are split into partitions by the hash of their keys. The largest partition
//! that is in memory leaves it, as often as memory is needed; all its rows go to the spill file from then on. A worker
//! sees at its next batch which partitions have left.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use yunti_base::{Code, Error, Result};
use yunti_engine::memory::{Budget, Grant};
use yunti_sql_plan::Batch;

use super::keys::Keys;
use super::partition::{PARTITIONS, Splitter, Waiting};
use super::shape::Shape;
use crate::pipeline::{LocalSink, Sink};
use crate::spill::{Block, Spill};
use crate::store::NO_ROW;
use crate::store::size::{Dictionaries, granted_bytes};

/// Bytes of a row in the table, while it is built: hash, row, two slots, chain, filter.
pub const TABLE_ROW_BYTES: u64 = 48;

/// Returns the bytes of a batch in a table.
pub fn table_bytes(batch: &Batch) -> u64 {
    granted_bytes(batch) + TABLE_ROW_BYTES * batch.rows as u64
}

/// Collects the rows of the build side.
pub struct Build {
    shape: Arc<Shape>,
    budget: Arc<Budget>,
    spill: Arc<Spill>,
    threads: usize,
    /// True once rows are in partitions.
    is_split: AtomicBool,
    partitions: Vec<Partition>,
    state: Mutex<State>,
}

#[derive(Default)]
struct Partition {
    has_left: AtomicBool,
    /// Bytes of its rows in memory, of all workers.
    bytes: AtomicU64,
}

#[derive(Default)]
struct State {
    grant: Option<Grant>,
    dictionaries: Dictionaries,
    /// Bytes of the dictionaries.
    dictionary_bytes: u64,
    /// Bytes that the grant does not have yet.
    owed_bytes: u64,
    rows: u64,
    /// Batches of the workers that have ended, with their partition if rows are split.
    batches: Vec<(Option<usize>, Kept)>,
    blocks: Vec<Vec<(usize, Block)>>,
}

/// Rows of the build side.
pub struct Built {
    /// Rows in memory, in the order of morsels.
    pub batches: Vec<Batch>,
    /// For the batches and their table.
    pub grant: Option<Grant>,
    pub dictionary_bytes: u64,
    /// Rows of each partition that left memory; empty if none did.
    pub left: Vec<Option<Vec<Block>>>,
}

impl Build {
    pub fn new(shape: &Arc<Shape>, budget: &Arc<Budget>, spill: &Arc<Spill>, threads: usize) -> Build {
        Build {
            shape: shape.clone(),
            budget: budget.clone(),
            spill: spill.clone(),
            threads,
            is_split: AtomicBool::new(false),
            partitions: (0..PARTITIONS).map(|_| Partition::default()).collect(),
            state: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns the rows, once the pipeline has run.
    pub fn into_built(self) -> Result<Built> {
        if self.is_split.load(Ordering::Relaxed) {
            self.settle()?;
        }
        let mut state = self.state.into_inner().unwrap_or_else(|e| e.into_inner());
        // Batches of a morsel come from one worker, in order.
        state.batches.sort_by_key(|(_, (morsel, ..))| *morsel);
        let mut left = Vec::new();
        if self.partitions.iter().any(|of| of.has_left.load(Ordering::Relaxed)) {
            state.blocks.resize_with(PARTITIONS, Vec::new);
            for (of, mut blocks) in self.partitions.iter().zip(state.blocks) {
                blocks.sort_by_key(|(morsel, _)| *morsel);
                let blocks = blocks.into_iter().map(|(_, block)| block).collect();
                left.push(of.has_left.load(Ordering::Relaxed).then_some(blocks));
            }
        }
        let batches = state.batches.into_iter().map(|(_, (_, batch, _))| batch).collect();
        Ok(Built { batches, grant: state.grant, dictionary_bytes: state.dictionary_bytes, left })
    }

    /// Splits the rows of workers that ended early, and writes those whose partition left memory later.
    fn settle(&self) -> Result<()> {
        let batches = std::mem::take(&mut self.lock().batches);
        let mut local = Local::new(self)?;
        for (partition, (morsel, batch, bytes)) in batches {
            match partition {
                Some(n) => local.parts[n].push((morsel, batch, bytes)),
                None => local.whole.push((morsel, batch, bytes)),
            }
        }
        local.leave()?;
        Box::new(local).finish()
    }

    /// Takes memory for a batch; None if there is too little.
    fn grant(&self, batch: &Batch) -> Option<u64> {
        let mut state = self.lock();
        if state.rows + batch.rows as u64 >= u64::from(NO_ROW) {
            return None;
        }
        let bytes = table_bytes(batch);
        let new = state.dictionaries.add(batch);
        state.dictionary_bytes += new;
        state.owed_bytes += new;
        let all = bytes + state.owed_bytes;
        let done = self.budget.try_add(&mut state.grant, all);
        if done {
            state.owed_bytes = 0;
            state.rows += batch.rows as u64;
        }
        done.then_some(bytes)
    }

    fn give_back(&self, bytes: u64, rows: u64) {
        let mut state = self.lock();
        state.rows = state.rows.saturating_sub(rows);
        if let Some(grant) = &mut state.grant {
            let left = grant.bytes().saturating_sub(bytes);
            grant.try_resize(left);
        }
    }

    fn has_left(&self, partition: usize) -> bool {
        self.partitions[partition].has_left.load(Ordering::Relaxed)
    }

    /// Makes the largest partition leave memory. Returns false if all have left.
    fn evict(&self) -> bool {
        let in_memory = (0..PARTITIONS).filter(|&n| !self.has_left(n));
        let largest = in_memory.max_by_key(|&n| self.partitions[n].bytes.load(Ordering::Relaxed));
        largest.is_some_and(|n| {
            self.partitions[n].has_left.store(true, Ordering::Relaxed);
            true
        })
    }
}

impl Sink for Build {
    fn local<'s>(&'s self) -> Result<Box<dyn LocalSink + 's>> {
        Ok(Box::new(Local::new(self)?))
    }
}

/// A batch with its morsel and its bytes in the grant.
type Kept = (usize, Batch, u64);

struct Local<'s> {
    of: &'s Build,
    keys: Keys,
    splitter: Splitter,
    /// Batches before rows are split.
    whole: Vec<Kept>,
    /// Batches of each partition in memory.
    parts: Vec<Vec<Kept>>,
    waiting: Waiting,
    morsel: usize,
}

impl<'s> Local<'s> {
    fn new(of: &'s Build) -> Result<Local<'s>> {
        Ok(Local {
            of,
            keys: Keys::new(&of.shape.build_keys)?,
            splitter: Splitter::new(0),
            whole: Vec::new(),
            parts: (0..PARTITIONS).map(|_| Vec::new()).collect(),
            waiting: Waiting::new(&of.spill, &of.shape.kept_kinds, of.budget.limit_bytes(), of.threads),
            morsel: 0,
        })
    }

    /// Puts rows into their partitions.
    fn split(&mut self, morsel: usize, batch: &Batch) -> Result<()> {
        let keys: Vec<_> = self.of.shape.key_places.iter().map(|&place| batch.columns[place].clone()).collect();
        for (n, rows) in self.splitter.split(&keys, batch.rows).into_iter().enumerate() {
            if rows.is_empty() {
                continue;
            }
            let part = if rows.len() == batch.rows { batch.clone() } else { batch.select(&rows) };
            self.keep(n, morsel, part)?;
        }
        Ok(())
    }

    fn keep(&mut self, n: usize, morsel: usize, part: Batch) -> Result<()> {
        loop {
            if self.of.has_left(n) {
                return self.waiting.add(n, part, morsel);
            }
            if let Some(bytes) = self.of.grant(&part) {
                self.of.partitions[n].bytes.fetch_add(bytes, Ordering::Relaxed);
                self.parts[n].push((morsel, part, bytes));
                return Ok(());
            }
            // Other workers may hold rows of partitions that have left; this one gives what it has.
            if !self.of.evict() {
                return self.waiting.add(n, part, morsel);
            }
            self.leave()?;
        }
    }

    /// Writes the rows of partitions that have left memory.
    fn leave(&mut self) -> Result<()> {
        for n in 0..PARTITIONS {
            if !self.of.has_left(n) {
                continue;
            }
            for (morsel, batch, bytes) in std::mem::take(&mut self.parts[n]) {
                self.of.give_back(bytes, batch.rows as u64);
                self.of.partitions[n].bytes.fetch_sub(bytes, Ordering::Relaxed);
                self.waiting.add(n, batch, morsel)?;
            }
        }
        Ok(())
    }

    /// Splits the batches that came before.
    fn split_whole(&mut self) -> Result<()> {
        for (morsel, batch, bytes) in std::mem::take(&mut self.whole) {
            self.of.give_back(bytes, batch.rows as u64);
            self.split(morsel, &batch)?;
        }
        Ok(())
    }
}

impl LocalSink for Local<'_> {
    fn push(&mut self, morsel: usize, batch: Batch) -> Result<()> {
        if batch.columns.len() != self.of.shape.build_kinds.len() {
            return Err(Error::new(Code::Internal, "a batch does not have the columns of its operator"));
        }
        let computed = self.keys.computed(&batch)?;
        let mut kept = batch.project(&self.of.shape.kept);
        kept.columns.extend(computed);
        self.morsel = morsel;
        if !self.of.is_split.load(Ordering::Relaxed) {
            if let Some(bytes) = self.of.grant(&kept) {
                self.whole.push((morsel, kept, bytes));
                return Ok(());
            }
            self.of.is_split.store(true, Ordering::Relaxed);
        }
        self.split_whole()?;
        self.leave()?;
        self.split(morsel, &kept)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if self.of.is_split.load(Ordering::Relaxed) {
            self.split_whole()?;
            self.leave()?;
            self.waiting.flush(self.morsel)?;
        }
        let mut state = self.of.lock();
        for (n, parts) in self.parts.into_iter().enumerate() {
            state.batches.extend(parts.into_iter().map(|kept| (Some(n), kept)));
        }
        state.batches.extend(self.whole.into_iter().map(|kept| (None, kept)));
        state.blocks.resize_with(PARTITIONS, Vec::new);
        for (to, from) in state.blocks.iter_mut().zip(self.waiting.blocks) {
            to.extend(from);
        }
        Ok(())
    }
}
