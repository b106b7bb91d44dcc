//! Some thousand rows that pass from one operator to the next.

use std::sync::Arc;

use yunti_engine::columns::vector::Vector;

/// Rows of an operator, as columns. A column is shared, never copied, where an operator passes it on.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub columns: Vec<Arc<Vector>>,
    /// Number of rows; a batch can have rows without a column.
    pub rows: usize,
}

impl Batch {
    /// Returns a batch of new columns.
    pub fn of(columns: Vec<Vector>, rows: usize) -> Batch {
        Batch { columns: columns.into_iter().map(Arc::new).collect(), rows }
    }

    /// Returns some of the rows, in the order of `rows`.
    pub fn select(&self, rows: &[u32]) -> Batch {
        Batch { columns: self.columns.iter().map(|column| Arc::new(column.select(rows))).collect(), rows: rows.len() }
    }

    /// Returns some of the columns.
    pub fn project(&self, columns: &[usize]) -> Batch {
        Batch { columns: columns.iter().map(|&n| self.columns[n].clone()).collect(), rows: self.rows }
    }
}
