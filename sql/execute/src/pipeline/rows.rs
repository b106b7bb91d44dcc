//! Sources of rows that are in memory already.

use std::sync::{Arc, Mutex};

use yunti_base::Result;
use yunti_sql_plan::{Batch, MorselReader};

use super::Source;

/// Batches, each of them a morsel. A batch leaves memory when it has been read.
pub struct Batches(Mutex<Vec<Option<Batch>>>);

impl Batches {
    pub fn of(batches: impl IntoIterator<Item = Batch>) -> Arc<Batches> {
        Arc::new(Batches(Mutex::new(batches.into_iter().map(Some).collect())))
    }
}

impl Source for Batches {
    fn morsels(&self) -> Result<usize> {
        Ok(self.0.lock().unwrap_or_else(|e| e.into_inner()).len())
    }

    fn open(&self, morsel: usize) -> Result<Box<dyn MorselReader>> {
        let batch = self.0.lock().unwrap_or_else(|e| e.into_inner())[morsel].take();
        Ok(Box::new(Once(batch)))
    }
}

/// A reader of one batch.
pub struct Once(pub Option<Batch>);

impl MorselReader for Once {
    fn next(&mut self) -> Result<Option<Batch>> {
        Ok(self.0.take())
    }
}
