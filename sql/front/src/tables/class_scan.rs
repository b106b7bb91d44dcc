//! Rows that a class of the library reads, for the general executor: each partition reads the morsels of one stretch of
//! the table, so that a plan that runs again reads them again.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use futures::stream;
use yunti_sql_plan::{Batch, Morsel, MorselReader, Table};

use super::world::DataFile;
use crate::{arrow, failure};

/// Rows of some files of a table.
pub struct Rows<'t> {
    pub table: &'t Arc<Table>,
    /// Columns of the files, then those of directories.
    pub schema: &'t SchemaRef,
    pub files: &'t [DataFile],
    /// Numbers of the files that are read, in order.
    pub kept: &'t [usize],
}

/// Returns the operator that reads columns of the rows.
pub fn plan(
    rows: &Rows<'_>,
    projection: Option<&Vec<usize>>,
    limit: Option<usize>,
    partitions: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    let own = rows.table.fields.len();
    let wanted: Vec<usize> = match projection {
        Some(columns) => columns.clone(),
        None => (0..rows.schema.fields().len()).collect(),
    };
    let schema = Arc::new(rows.schema.project(&wanted)?);
    let columns: Vec<usize> = wanted.iter().copied().filter(|&column| column < own).collect();
    let mut morsels = rows.table.source.morsels(&columns, &[]).map_err(failure::wrapped)?;
    morsels.retain(|morsel| rows.kept.binary_search(&(morsel.file as usize)).is_ok());
    if morsels.is_empty() {
        return Ok(Arc::new(EmptyExec::new(schema)));
    }
    let mut next = 0;
    let origin = |&column: &usize| match column.checked_sub(own) {
        Some(directory) => Origin::Directory(rows.files.iter().map(|file| file.values[directory].clone()).collect()),
        None => {
            next += 1;
            Origin::Block(next - 1)
        }
    };
    let origins: Arc<[Origin]> = wanted.iter().map(origin).collect();
    let stretch = |morsels: Vec<Morsel>| -> Arc<dyn PartitionStream> {
        let (table, schema, columns) = (rows.table.clone(), schema.clone(), columns.clone());
        Arc::new(Stretch(Arc::new(Read { table, schema, columns, origins: origins.clone(), morsels })))
    };
    let parts = stretches(morsels, partitions.max(1)).into_iter().map(stretch).collect();
    Ok(Arc::new(StreamingTableExec::try_new(schema, parts, None, [], false, limit)?))
}

/// Cuts morsels into stretches of similar bytes, at most `count` and none empty.
fn stretches(morsels: Vec<Morsel>, count: usize) -> Vec<Vec<Morsel>> {
    let weight = |morsel: &Morsel| u128::from(morsel.bytes.max(1));
    let total: u128 = morsels.iter().map(weight).sum();
    let mut all = vec![Vec::new(); count];
    let mut before = 0;
    for morsel in morsels {
        // The middle of a morsel decides.
        let middle = before * 2 + weight(&morsel);
        before += weight(&morsel);
        all[(middle * count as u128 / (total * 2)) as usize].push(morsel);
    }
    all.retain(|stretch| !stretch.is_empty());
    all
}

/// Where the values of a column come from.
enum Origin {
    /// Column of the blocks.
    Block(usize),
    /// Value of each file.
    Directory(Vec<ScalarValue>),
}

/// Morsels that one partition reads, and their columns.
struct Read {
    table: Arc<Table>,
    schema: SchemaRef,
    /// Columns of the files.
    columns: Vec<usize>,
    /// Origin of each column of the schema.
    origins: Arc<[Origin]>,
    morsels: Vec<Morsel>,
}

struct Stretch(Arc<Read>);

impl fmt::Debug for Stretch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} morsels", self.0.morsels.len())
    }
}

impl PartitionStream for Stretch {
    fn schema(&self) -> &SchemaRef {
        &self.0.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let batches = Batches { read: self.0.clone(), next: 0, open: None, is_done: false };
        Box::pin(RecordBatchStreamAdapter::new(self.0.schema.clone(), stream::iter(batches)))
    }
}

/// Batches of morsels, one morsel after the other.
struct Batches {
    read: Arc<Read>,
    /// Number of the next morsel.
    next: usize,
    /// The morsel before it, with the number of its file.
    open: Option<(u32, Box<dyn MorselReader>)>,
    /// True at the end, and after an error.
    is_done: bool,
}

impl Batches {
    fn batch(&mut self) -> yunti_base::Result<Option<RecordBatch>> {
        loop {
            if let Some((file, reader)) = &mut self.open {
                if let Some(batch) = reader.next()? {
                    return self.read.record_batch(&batch, *file as usize).map(Some);
                }
                self.open = None;
            }
            let Some(morsel) = self.read.morsels.get(self.next) else { return Ok(None) };
            self.open = Some((morsel.file, self.read.table.source.open(morsel, &self.read.columns, &[])?));
            self.next += 1;
        }
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        if self.is_done {
            return None;
        }
        let batch = self.batch().map_err(failure::wrapped).transpose();
        self.is_done = !matches!(batch, Some(Ok(_)));
        batch
    }
}

impl Read {
    fn record_batch(&self, batch: &Batch, file: usize) -> yunti_base::Result<RecordBatch> {
        let column = |(origin, data_type)| -> yunti_base::Result<ArrayRef> {
            match origin {
                &Origin::Block(column) => arrow::arrays::array(&batch.columns[column], data_type),
                Origin::Directory(values) => values[file].to_array_of_size(batch.rows).map_err(failure::plain),
            }
        };
        let types = self.schema.fields().iter().map(|field| field.data_type());
        let columns = self.origins.iter().zip(types).map(column).collect::<yunti_base::Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.rows));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options).map_err(|e| failure::plain(e.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_keep_order_and_are_of_similar_size() {
        for (bytes, count, expect) in [
            (&[10, 10, 10, 10][..], 2, &[&[0u64, 1][..], &[2, 3]][..]),
            (&[0, 0, 0], 8, &[&[0], &[1], &[2]]),
            (&[100, 1, 1], 2, &[&[0], &[1, 2]]),
            (&[u64::MAX, u64::MAX], 3, &[&[0], &[1]]),
            (&[5], 4, &[&[0]]),
        ] {
            let morsel = |(unit, &bytes): (usize, &u64)| Morsel { file: 0, unit: unit as u64, rows: 1, bytes };
            let cut = stretches(bytes.iter().enumerate().map(morsel).collect(), count);
            let units: Vec<Vec<u64>> = cut.iter().map(|of| of.iter().map(|morsel| morsel.unit).collect()).collect();
            assert_eq!(units, expect, "{bytes:?} {count}");
        }
    }
}
