//! A table of several parts: each has its own files, perhaps in another format or of an older schema, and values of its
//! own for the keys of its partition.

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use yunti_base::Result;
use yunti_engine::columns::vector::Vector;
use yunti_sql_plan::{Batch, Bounds, Field, Morsel, MorselReader, Statistics, Table, TableSource};

use super::types::{HiveType, converted, values};
use crate::{arrow, failure};

/// Where the values of a column come from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Column of the part's own table, of the same type.
    Same(usize),
    /// Column of another type: the type there.
    Converted(usize, DataType),
    /// One value for all rows.
    Value(ScalarValue),
}

/// Files of a table that are read alike.
#[derive(Debug)]
pub struct Part {
    pub table: Arc<Table>,
    /// Number of its files.
    pub files: usize,
    /// Origin of each column of the whole table.
    pub columns: Vec<Origin>,
}

#[derive(Debug)]
struct Parts {
    parts: Vec<Arc<Part>>,
    /// Number of the first file of each part.
    first_files: Vec<u32>,
    types: Arc<[HiveType]>,
}

/// Returns the table of parts, whose files are numbered on.
pub fn table(name: &str, columns: &[(String, HiveType)], parts: Vec<Part>) -> Table {
    let field =
        |(name, of): &(String, HiveType)| Field { name: name.clone(), data_type: of.data_type(), nullable: true };
    let rows = parts.iter().map(|part| part.table.statistics.rows).sum::<Option<u64>>();
    let mut next = 0;
    let first = |part: &Part| {
        next += part.files as u32;
        next - part.files as u32
    };
    let first_files = parts.iter().map(first).collect();
    let types = columns.iter().map(|(_, of)| of.clone()).collect();
    let source = Parts { parts: parts.into_iter().map(Arc::new).collect(), first_files, types };
    Table {
        name: name.into(),
        fields: columns.iter().map(field).collect(),
        statistics: Statistics { rows, columns: Vec::new() },
        source: Arc::new(source),
    }
}

impl Part {
    /// Returns the columns of the part's own table that some columns need.
    fn own(&self, columns: &[usize]) -> Vec<usize> {
        let mut own: Vec<usize> = columns
            .iter()
            .filter_map(|&column| match self.columns[column] {
                Origin::Same(own) | Origin::Converted(own, _) => Some(own),
                Origin::Value(_) => None,
            })
            .collect();
        own.sort_unstable();
        own.dedup();
        own
    }

    fn bounds(&self, bounds: &[Bounds]) -> Vec<Bounds> {
        let own = |of: &Bounds| match self.columns[of.column] {
            Origin::Same(column) => Some(Bounds { column, ..of.clone() }),
            _ => None,
        };
        bounds.iter().filter_map(own).collect()
    }
}

impl TableSource for Parts {
    fn morsels(&self, columns: &[usize], bounds: &[Bounds]) -> Result<Vec<Morsel>> {
        let mut all = Vec::new();
        for (part, first) in self.parts.iter().zip(&self.first_files) {
            let own = part.table.source.morsels(&part.own(columns), &part.bounds(bounds))?;
            all.extend(own.into_iter().map(|morsel| Morsel { file: morsel.file + first, ..morsel }));
        }
        Ok(all)
    }

    fn open(&self, morsel: &Morsel, columns: &[usize], bounds: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        // Parts without files have the number of the next one: the last that begins so is meant.
        let number = self.first_files.partition_point(|&first| first <= morsel.file).saturating_sub(1);
        let (part, first) = (self.parts[number].clone(), self.first_files[number]);
        let own = part.own(columns);
        let inner = Morsel { file: morsel.file - first, ..morsel.clone() };
        let inner = part.table.source.open(&inner, &own, &part.bounds(bounds))?;
        Ok(Box::new(Reader { inner, part, own, columns: columns.to_vec(), types: self.types.clone() }))
    }
}

struct Reader {
    inner: Box<dyn MorselReader>,
    part: Arc<Part>,
    /// Columns of the part's own table, in the order of its batches.
    own: Vec<usize>,
    columns: Vec<usize>,
    types: Arc<[HiveType]>,
}

impl Reader {
    fn column(&self, column: usize, batch: &Batch) -> Result<Arc<Vector>> {
        let of = &self.types[column];
        let own = |own: usize| &batch.columns[self.own.binary_search(&own).unwrap_or_default()];
        let array: ArrayRef = match &self.part.columns[column] {
            Origin::Same(number) => return Ok(own(*number).clone()),
            Origin::Converted(number, data_type) => {
                let array = arrow::arrays::array(own(*number), data_type)?;
                match (of, data_type) {
                    (HiveType::Plain(_), _) => converted(&array, &of.data_type())?,
                    _ => values(converted(&array, &DataType::Utf8)?, of)?,
                }
            }
            Origin::Value(value) => value.to_array_of_size(batch.rows).map_err(failure::plain)?,
        };
        Ok(Arc::new(arrow::arrays::vector(&array)?))
    }
}

impl MorselReader for Reader {
    fn next(&mut self) -> Result<Option<Batch>> {
        let Some(batch) = self.inner.next()? else { return Ok(None) };
        let columns = self.columns.iter().map(|&column| self.column(column, &batch)).collect::<Result<_>>()?;
        Ok(Some(Batch { columns, rows: batch.rows }))
    }
}
