//! Rows of the table that a join gives when all rows have looked into it: those with a match, those without, or all.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::vector::{Data, Vector};
use yunti_sql_plan::{Batch, MorselReader};

use super::pairs::{PIECE_ROWS, nulls};
use super::shape::{Choice, Shape};
use super::table::Table;
use super::{TableSlot, table_of};
use crate::pipeline::Source;

/// Rows of a morsel.
const MORSEL_ROWS: usize = 16 * PIECE_ROWS;

/// Rows of a table by whether they have a match.
pub struct Rest {
    pub shape: Arc<Shape>,
    pub table: TableSlot,
}

impl Source for Rest {
    fn morsels(&self) -> Result<usize> {
        let table = table_of(&self.table)?;
        if self.shape.condition.is_none() {
            table.mark_chains();
        }
        Ok(table.rows.len().div_ceil(MORSEL_ROWS))
    }

    fn open(&self, morsel: usize) -> Result<Box<dyn MorselReader>> {
        let first = morsel * MORSEL_ROWS;
        let table = table_of(&self.table)?;
        let end = (first + MORSEL_ROWS).min(table.rows.len());
        Ok(Box::new(RestReader { shape: self.shape.clone(), table, next: first, end }))
    }
}

/// Reads a stretch of a table's rows.
pub struct RestReader {
    pub shape: Arc<Shape>,
    pub table: Arc<Table>,
    pub next: usize,
    pub end: usize,
}

impl MorselReader for RestReader {
    fn next(&mut self) -> Result<Option<Batch>> {
        let (shape, table) = (&self.shape, &*self.table);
        let Some(choice) = shape.build else { return Ok(None) };
        while self.next < self.end {
            let stretch = self.next as u32..(self.next + PIECE_ROWS).min(self.end) as u32;
            self.next = stretch.end as usize;
            let rows: Vec<u32> = match choice {
                Choice::Mark => stretch.collect(),
                Choice::Matched => stretch.filter(|&row| table.is_marked(row)).collect(),
                Choice::Unmatched => stretch.filter(|&row| !table.is_marked(row)).collect(),
            };
            if rows.is_empty() {
                continue;
            }
            let own = shape.build_out.iter().map(|of| Arc::new(table.rows.column(of.place).gather(&rows)));
            let mut columns: Vec<Arc<Vector>> = own.collect();
            if choice == Choice::Mark {
                let marks = rows.iter().map(|&row| table.is_marked(row)).collect();
                columns.push(Arc::new(Vector::of(Data::Bools(marks))));
            }
            if shape.pairs {
                let kinds: Vec<_> = shape.probe_out.iter().map(|&n| shape.probe_kinds[n]).collect();
                let others = nulls(&kinds, rows.len());
                columns = if shape.build_first {
                    columns.into_iter().chain(others).collect()
                } else {
                    others.into_iter().chain(columns).collect()
                };
            }
            return Ok(Some(Batch { columns, rows: rows.len() }));
        }
        Ok(None)
    }
}
