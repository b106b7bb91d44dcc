//! Rows in memory, within a budget, and as a table that may be read more than once.

use std::sync::{Arc, Mutex};

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_engine::memory::{Budget, Grant};
use yunti_sql_plan::{Batch, Bounds, Field, Morsel, MorselReader, Statistics, Table, TableSource};

use super::size::{Dictionaries, batch_bytes};
use crate::pipeline::rows::Once;

/// Rows in memory.
pub struct Held {
    pub batches: Vec<Batch>,
    pub rows: usize,
    pub budget: Arc<Budget>,
    pub grant: Option<Grant>,
    dictionaries: Dictionaries,
}

impl Held {
    /// Returns no rows, whose memory will come from a budget.
    pub fn new(budget: &Arc<Budget>) -> Held {
        let dictionaries = Dictionaries::default();
        Held { batches: Vec::new(), rows: 0, dictionaries, grant: None, budget: budget.clone() }
    }

    /// Adds rows. Fails with their bytes if there is too little memory.
    pub fn push(&mut self, batch: Batch) -> std::result::Result<(), u64> {
        let bytes = batch_bytes(&batch) + self.dictionaries.add(&batch) + size_of::<Batch>() as u64;
        if !self.budget.try_add(&mut self.grant, bytes) {
            return Err(bytes);
        }
        self.rows += batch.rows;
        self.batches.push(batch);
        Ok(())
    }

    /// Returns the rows as a table, which keeps their memory.
    pub fn into_table(self, name: &str, types: &[DataType]) -> Arc<Table> {
        let field =
            |(n, of): (usize, &DataType)| Field { name: format!("column {n}"), data_type: of.clone(), nullable: true };
        let fields = types.iter().enumerate().map(field).collect();
        let statistics = Statistics { rows: Some(self.rows as u64), columns: Vec::new() };
        let source = Arc::new(Rows { batches: self.batches, _grant: self.grant.map(Mutex::new) });
        Arc::new(Table { name: name.into(), fields, statistics, source })
    }
}

/// Rows as a table; each batch is a morsel.
struct Rows {
    batches: Vec<Batch>,
    _grant: Option<Mutex<Grant>>,
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} batches in memory", self.batches.len())
    }
}

impl TableSource for Rows {
    fn morsels(&self, _columns: &[usize], _bounds: &[Bounds]) -> Result<Vec<Morsel>> {
        let morsel = |(unit, batch): (usize, &Batch)| Morsel {
            file: 0,
            unit: unit as u64,
            rows: batch.rows as u64,
            bytes: batch_bytes(batch),
        };
        Ok(self.batches.iter().enumerate().map(morsel).collect())
    }

    fn open(&self, morsel: &Morsel, columns: &[usize], _bounds: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        Ok(Box::new(Once(self.batches.get(morsel.unit as usize).map(|batch| batch.project(columns)))))
    }
}
