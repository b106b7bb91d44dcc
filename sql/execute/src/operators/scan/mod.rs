//! Rows of a table: conditions first, then the columns of the rows that are left.

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_sql_plan::{Batch, Bounds, Expression, Morsel, MorselReader, Operation, Scan, Table, lookup};

use crate::context::Context;
use crate::expression::{Condition, Selection};
use crate::key_filter::KeyFilter;
use crate::key_filter::test::{Filters, Tester};
use crate::pipeline::steps::Stage;
use crate::pipeline::{Open, Source};

pub mod bounds;
pub mod files;
pub mod parts;
mod records;
mod statistics;

/// Returns the scan with the source of some keys, if its conditions name them.
fn by_keys(scan: &Scan) -> Option<Scan> {
    let (index, keys) = lookup::keys_of(scan)?;
    let table = Table { source: index.rows_of(&keys), ..(*scan.table).clone() };
    Some(Scan { table: Arc::new(table), ..scan.clone() })
}

/// Returns the rows of a scan. A row outside a filter, which numbers the columns of the scan, may be passed over.
pub fn source(scan: &Scan, context: &Context, filters: &[KeyFilter]) -> Result<Arc<dyn Source>> {
    let own = by_keys(scan);
    let scan = own.as_ref().unwrap_or(scan);
    let mut read = scan.columns.clone();
    scan.conditions.iter().for_each(|condition| {
        condition.visit_columns(&mut |column| {
            if !read.contains(&column) {
                read.push(column);
            }
        })
    });
    let place = |column: usize| read.iter().position(|&read| read == column).unwrap_or(0);
    let mut conditions = scan.conditions.clone();
    conditions.iter_mut().for_each(|condition| condition.renumber(&place));
    let filters = if scan.limit.is_none() { filters } else { &[] };
    let mut bounds = bounds::of(&scan.conditions);
    filters.iter().for_each(|filter| bounds.extend(bounds::of_set(scan, filter)));
    let morsels = scan.table.source.morsels(&read, &bounds)?;
    let filters = Arc::new(Filters::new(filters, Some(scan)));
    Ok(Arc::new(Scanned { scan: scan.clone(), read, conditions, bounds, filters, morsels, _context: context.clone() }))
}

struct Scanned {
    scan: Scan,
    /// Columns that are read: those of the scan, then others that conditions need.
    read: Vec<usize>,
    /// Over the columns that are read.
    conditions: Vec<Expression>,
    bounds: Vec<Bounds>,
    filters: Arc<Filters>,
    morsels: Vec<Morsel>,
    _context: Context,
}

impl Source for Scanned {
    fn morsels(&self) -> Result<usize> {
        Ok(self.morsels.len())
    }

    fn rows(&self) -> Option<u64> {
        // A morsel whose rows are not known has none.
        Some(self.morsels.iter().map(|morsel| morsel.rows).sum()).filter(|rows| *rows > 0)
    }

    fn own_range(&self, morsel: usize, column: usize) -> Option<(i64, i64)> {
        self.scan.table.source.own_range(self.morsels.get(morsel)?, *self.scan.columns.get(column)?)
    }

    fn without_conditions(&self) -> Option<Open> {
        if self.conditions.is_empty() {
            return None;
        }
        let types: Vec<DataType> =
            self.read.iter().map(|&column| self.scan.table.fields[column].data_type.clone()).collect();
        let condition = Expression::new(DataType::Boolean, Operation::And(self.conditions.clone()));
        let columns = (0..self.scan.columns.len()).map(|n| Expression::column(n, types[n].clone())).collect();
        let stages = vec![Stage::Filter(condition), Stage::Project(columns)];
        let source = Scanned {
            scan: Scan { columns: self.read.clone(), ..self.scan.clone() },
            read: self.read.clone(),
            conditions: Vec::new(),
            bounds: self.bounds.clone(),
            filters: self.filters.clone(),
            morsels: self.morsels.clone(),
            _context: self._context.clone(),
        };
        Some(Open { source: Arc::new(source), types, stages })
    }

    fn open(&self, morsel: usize) -> Result<Box<dyn MorselReader>> {
        let sets = self.filters.sets(&self.scan);
        let source = &self.scan.table.source;
        let reader = source.open_within(&self.morsels[morsel], &self.read, (&self.bounds, &sets))?;
        let always = |of: &Expression| matches!(of.operation, Operation::Literal(_));
        if self.conditions.iter().all(always)
            && self.read.len() == self.scan.columns.len()
            && self.conditions.is_empty()
            && self.filters.is_empty()
        {
            return Ok(reader);
        }
        Ok(Box::new(Chosen {
            reader,
            condition: Condition::new(&self.conditions)?,
            filters: self.filters.clone(),
            tester: Tester::default(),
            columns: self.scan.columns.len(),
        }))
    }
}

/// Rows of a morsel that meet the conditions.
struct Chosen {
    reader: Box<dyn MorselReader>,
    condition: Condition,
    filters: Arc<Filters>,
    tester: Tester,
    /// Columns that are passed on; others were read for the conditions.
    columns: usize,
}

impl MorselReader for Chosen {
    fn next(&mut self) -> Result<Option<Batch>> {
        while let Some(mut batch) = self.reader.next()? {
            let selection = self.condition.select(&batch)?;
            batch.columns.truncate(self.columns);
            let selection = self.tester.select(&self.filters, &batch, selection);
            match selection {
                Selection::All => return Ok(Some(batch)),
                Selection::Rows(rows) if rows.is_empty() => {}
                Selection::Rows(rows) => return Ok(Some(batch.select(&rows))),
            }
        }
        Ok(None)
    }
}
