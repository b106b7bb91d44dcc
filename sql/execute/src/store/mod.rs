//! Rows that an operator keeps: the batches of a pipeline as whole columns, from which rows are gathered by number.
//!
//! ```text
//!   batch 0   batch 1   batch 2          whole column            gather(rows)
//!   |a|b|c|   |d|e|     |f|g|h|   --->   |a|b|c|d|e|f|g|h|  ---> |c|a|h|
//! ```
//!
//! A fixed-size value is copied once, into one array, so that a gather is one load a row. Texts stay where they came
//! in and a row has a reference to its text. Columns are made one by one, and a batch loses each column as it is
//! copied: the peak is the rows and one column more (`size::granted_bytes`).

pub mod column;
pub mod held;
#[cfg(test)]
pub mod random;
pub mod size;
pub mod texts;

use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::Vector;
use yunti_sql_plan::{Batch, kind_of};

use arrow_schema::DataType;
use column::Column;

/// Row number that names no row: a gather gives null for it.
pub const NO_ROW: u32 = u32::MAX;

/// Rows as whole columns.
#[derive(Default)]
pub struct Rows {
    columns: Vec<Column>,
    rows: usize,
}

impl Rows {
    /// Returns the rows of batches, in their order. `kinds` has the shape of each column. There must be fewer than
    /// `NO_ROW` rows.
    ///
    /// Errors: `Internal` if a batch has other columns.
    pub fn of(mut batches: Vec<Batch>, kinds: &[Kind], threads: usize) -> Result<Rows> {
        let rows = batches.iter().map(|batch| batch.rows).sum::<usize>();
        if rows >= NO_ROW as usize || batches.iter().any(|batch| batch.columns.len() != kinds.len()) {
            return Err(Error::new(Code::Internal, "batches of an operator do not have the columns of its plan"));
        }
        let none = Arc::new(Vector::of(yunti_engine::columns::vector::Data::Bools(Vec::new())));
        let mut columns = Vec::with_capacity(kinds.len());
        for (n, &kind) in kinds.iter().enumerate() {
            let parts: Vec<Arc<Vector>> =
                batches.iter_mut().map(|batch| std::mem::replace(&mut batch.columns[n], none.clone())).collect();
            columns.push(Column::of(parts, kind, (rows, threads))?);
        }
        Ok(Rows { columns, rows })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns a column.
    pub fn column(&self, n: usize) -> &Column {
        &self.columns[n]
    }

    /// Returns all columns.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Returns the bytes that the rows take, without dictionaries that others share.
    pub fn bytes(&self) -> u64 {
        self.columns.iter().map(Column::bytes).sum()
    }
}

/// Returns an error for a value of another shape than its column's.
pub fn wrong_shape() -> Error {
    Error::new(Code::Internal, "a column of an operator does not have the shape of its type")
}

/// Returns the shapes of types. Errors: `Usage` for a type that has none.
pub fn kinds_of(types: &[DataType]) -> Result<Vec<Kind>> {
    let one = |data_type: &DataType| {
        kind_of(data_type).ok_or_else(|| crate::missing::not_native(&format!("rows with columns of {data_type}")))
    };
    types.iter().map(one).collect()
}
