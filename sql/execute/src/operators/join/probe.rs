//! Step of the probe side: each batch looks into the table.

use std::sync::{Arc, Mutex};

use yunti_base::Result;
use yunti_engine::memory::Budget;
use yunti_sql_plan::Batch;

use super::keys::Keys;
use super::pairs::Pairs;
use super::partition::{PARTITIONS, Splitter, Waiting};
use super::shape::Shape;
use super::table::{Scratch, Table};
use super::{TableSlot, table_of};
use crate::pipeline::{LocalStep, Next, Step};
use crate::spill::{Block, Spill};

/// Looks up the rows of batches in a table.
pub struct Probe {
    pub shape: Arc<Shape>,
    pub table: TableSlot,
    pub left: Option<Arc<Left>>,
}

/// Partitions of the build side that left memory, and the rows of the probe side that belong to them.
pub struct Left {
    pub build: Mutex<Vec<Option<Vec<Block>>>>,
    /// True for each partition that left.
    has_left: Vec<bool>,
    pub probe: Mutex<Vec<Vec<(usize, Block)>>>,
    pub spill: Arc<Spill>,
    limit_bytes: u64,
    threads: usize,
}

impl Left {
    pub fn new(build: Vec<Option<Vec<Block>>>, spill: &Arc<Spill>, budget: &Budget, threads: usize) -> Left {
        Left {
            has_left: build.iter().map(Option::is_some).collect(),
            build: Mutex::new(build),
            probe: Mutex::new((0..PARTITIONS).map(|_| Vec::new()).collect()),
            spill: spill.clone(),
            limit_bytes: budget.limit_bytes(),
            threads,
        }
    }
}

/// Look-ups of one worker.
pub struct Lookup {
    keys: Keys,
    scratch: Scratch,
    pairs: Pairs,
}

impl Lookup {
    pub fn new(shape: &Arc<Shape>) -> Result<Lookup> {
        Ok(Lookup { keys: Keys::new(&shape.probe_keys)?, scratch: Scratch::default(), pairs: Pairs::new(shape)? })
    }

    /// Joins a batch with a table; `matched` as in `Pairs::join`.
    pub fn join(
        &mut self,
        batch: &Batch,
        table: &Table,
        matched: (&mut Vec<bool>, bool),
        next: Next<'_>,
    ) -> Result<()> {
        let keys = self.keys.of(batch)?;
        table.find(&keys, batch.rows, &mut self.scratch)?;
        self.pairs.join((batch, &self.scratch.heads), table, matched, next)
    }
}

struct LocalProbe {
    table: Arc<Table>,
    lookup: Lookup,
    left: Option<LocalLeft>,
}

/// Rows of one worker that wait for the partitions that left.
struct LocalLeft {
    of: Arc<Left>,
    keys: Keys,
    splitter: Splitter,
    waiting: Waiting,
}

impl LocalLeft {
    /// Takes the rows of partitions that left; returns the others.
    fn take(&mut self, batch: Batch) -> Result<Batch> {
        let keys = self.keys.of(&batch)?;
        let mut others = Vec::new();
        for (n, rows) in self.splitter.split(&keys, batch.rows).into_iter().enumerate() {
            if !self.of.has_left[n] {
                others.extend(rows);
            } else if rows.len() == batch.rows {
                self.waiting.add(n, batch.clone(), 0)?;
            } else if !rows.is_empty() {
                self.waiting.add(n, batch.select(&rows), 0)?;
            }
        }
        if others.len() == batch.rows {
            return Ok(batch);
        }
        others.sort_unstable();
        Ok(batch.select(&others))
    }
}

impl Step for Probe {
    fn local(&self) -> Result<Box<dyn LocalStep>> {
        let left = match &self.left {
            None => None,
            Some(of) => Some(LocalLeft {
                of: of.clone(),
                keys: Keys::new(&self.shape.probe_keys)?,
                splitter: Splitter::new(0),
                waiting: Waiting::new(&of.spill, &self.shape.probe_kinds, of.limit_bytes, of.threads),
            }),
        };
        Ok(Box::new(LocalProbe { table: table_of(&self.table)?, lookup: Lookup::new(&self.shape)?, left }))
    }
}

impl LocalStep for LocalProbe {
    fn push(&mut self, mut batch: Batch, next: Next<'_>) -> Result<()> {
        if let Some(left) = &mut self.left {
            batch = left.take(batch)?;
            if batch.rows == 0 {
                return Ok(());
            }
        }
        self.lookup.join(&batch, &self.table, (&mut Vec::new(), true), next)
    }

    fn flush(&mut self, _morsel: usize, _next: Next<'_>) -> Result<()> {
        let Some(left) = &mut self.left else { return Ok(()) };
        left.waiting.flush(0)?;
        let mut all = left.of.probe.lock().unwrap_or_else(|e| e.into_inner());
        for (to, from) in all.iter_mut().zip(&mut left.waiting.blocks) {
            to.append(from);
        }
        Ok(())
    }
}
