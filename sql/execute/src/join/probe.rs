//! Step of the probe side: each batch looks into the table.

use std::sync::Arc;

use yunti_base::Result;
use yunti_sql_plan::Batch;

use super::keys::Keys;
use super::pairs::Pairs;
use super::shape::Shape;
use super::table::{Scratch, Table};
use crate::pipeline::{LocalStep, Next, Step};

/// Looks up the rows of batches in a table.
pub struct Probe {
    pub shape: Arc<Shape>,
    pub table: Arc<Table>,
}

/// Look-ups of one worker.
pub struct Lookup {
    keys: Keys,
    scratch: Scratch,
    pairs: Pairs,
    matched: Vec<bool>,
}

impl Lookup {
    pub fn new(shape: &Arc<Shape>) -> Result<Lookup> {
        Ok(Lookup {
            keys: Keys::new(&shape.probe_keys)?,
            scratch: Scratch::default(),
            pairs: Pairs::new(shape)?,
            matched: Vec::new(),
        })
    }

    /// Joins a batch with its only table.
    pub fn join(&mut self, batch: &Batch, table: &Table, next: Next<'_>) -> Result<()> {
        let keys = self.keys.of(batch)?;
        table.find(&keys, batch.rows, &mut self.scratch)?;
        self.matched.clear();
        self.pairs.join((batch, &self.scratch.heads), table, (&mut self.matched, true), next)
    }
}

struct LocalProbe {
    table: Arc<Table>,
    lookup: Lookup,
}

impl Step for Probe {
    fn local(&self) -> Result<Box<dyn LocalStep>> {
        Ok(Box::new(LocalProbe { table: self.table.clone(), lookup: Lookup::new(&self.shape)? }))
    }
}

impl LocalStep for LocalProbe {
    fn push(&mut self, batch: Batch, next: Next<'_>) -> Result<()> {
        self.lookup.join(&batch, &self.table, next)
    }
}
