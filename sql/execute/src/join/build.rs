//! Sink of the build side: keeps the columns that the join needs, with the keys that are no columns.

use std::sync::{Arc, Mutex};

use yunti_base::{Code, Error, Result};
use yunti_engine::memory::{Budget, Grant};
use yunti_sql_plan::Batch;

use super::keys::Keys;
use super::shape::Shape;
use crate::pipeline::{LocalSink, Sink};
use crate::store::size::{Dictionaries, granted_bytes};

/// Bytes of a row in the table, while it is built: hash, row, two slots, chain, filter.
const TABLE_ROW_BYTES: u64 = 48;

/// Collects the rows of the build side.
pub struct Build {
    shape: Arc<Shape>,
    budget: Arc<Budget>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    grant: Option<Grant>,
    dictionaries: Dictionaries,
    /// Batches with their morsel.
    batches: Vec<(usize, Batch)>,
}

impl Build {
    pub fn new(shape: &Arc<Shape>, budget: &Arc<Budget>) -> Build {
        Build { shape: shape.clone(), budget: budget.clone(), state: Mutex::default() }
    }

    /// Returns the batches in the order of morsels, with the grant for them and for their table.
    pub fn into_batches(self) -> (Vec<Batch>, Option<Grant>) {
        let mut state = self.state.into_inner().unwrap_or_else(|e| e.into_inner());
        // Batches of a morsel come from one worker, in order.
        state.batches.sort_by_key(|(morsel, _)| *morsel);
        (state.batches.into_iter().map(|(_, batch)| batch).collect(), state.grant)
    }

    fn grant(&self, batch: &Batch) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let bytes = granted_bytes(batch) + TABLE_ROW_BYTES * batch.rows as u64 + state.dictionaries.add(batch);
        let purpose = "the table of a join";
        match &mut state.grant {
            Some(grant) => {
                let bytes = grant.bytes() + bytes;
                grant.grow(bytes, purpose)
            }
            none => {
                *none = Some(self.budget.grant(bytes, purpose)?);
                Ok(())
            }
        }
    }
}

impl Sink for Build {
    fn local<'s>(&'s self) -> Result<Box<dyn LocalSink + 's>> {
        Ok(Box::new(Local { of: self, keys: Keys::new(&self.shape.build_keys)?, batches: Vec::new() }))
    }
}

struct Local<'s> {
    of: &'s Build,
    keys: Keys,
    batches: Vec<(usize, Batch)>,
}

impl LocalSink for Local<'_> {
    fn push(&mut self, morsel: usize, batch: Batch) -> Result<()> {
        if batch.columns.len() != self.of.shape.build_kinds.len() {
            return Err(Error::new(Code::Internal, "a batch does not have the columns of its operator"));
        }
        let computed = self.keys.computed(&batch)?;
        let mut kept = batch.project(&self.of.shape.kept);
        kept.columns.extend(computed);
        self.of.grant(&kept)?;
        self.batches.push((morsel, kept));
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.of.state.lock().unwrap_or_else(|e| e.into_inner()).batches.extend(self.batches);
        Ok(())
    }
}
