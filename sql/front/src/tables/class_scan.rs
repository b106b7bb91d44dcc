//! Rows that a class of the library reads, for the general executor: each partition reads the morsels of one stretch of
//! the table, so that a plan that runs again reads them again.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use futures::stream;
use yunti_sql_plan::{Morsel, MorselReader, Table};

use crate::{arrow, failure};

/// Returns the operator that reads columns of a table.
pub fn plan(
    table: &Arc<Table>,
    schema: &SchemaRef,
    projection: Option<&Vec<usize>>,
    limit: Option<usize>,
    partitions: usize,
) -> Result<Arc<dyn ExecutionPlan>> {
    let columns: Vec<usize> = match projection {
        Some(columns) => columns.clone(),
        None => (0..schema.fields().len()).collect(),
    };
    let schema = Arc::new(schema.project(&columns)?);
    let morsels = table.source.morsels(&columns, &[]).map_err(failure::wrapped)?;
    if morsels.is_empty() {
        return Ok(Arc::new(EmptyExec::new(schema)));
    }
    let stretch = |morsels: Vec<Morsel>| -> Arc<dyn PartitionStream> {
        let (table, schema, columns) = (table.clone(), schema.clone(), columns.clone());
        Arc::new(Stretch(Arc::new(Read { table, schema, columns, morsels })))
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

/// Morsels that one partition reads, and their columns.
struct Read {
    table: Arc<Table>,
    schema: SchemaRef,
    /// Columns of the table, in the order of the schema.
    columns: Vec<usize>,
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
    /// The morsel before it.
    open: Option<Box<dyn MorselReader>>,
    /// True at the end, and after an error.
    is_done: bool,
}

impl Batches {
    fn batch(&mut self) -> yunti_base::Result<Option<RecordBatch>> {
        loop {
            if let Some(reader) = &mut self.open {
                if let Some(batch) = reader.next()? {
                    return arrow::arrays::record_batch(&batch, &self.read.schema).map(Some);
                }
                self.open = None;
            }
            let Some(morsel) = self.read.morsels.get(self.next) else { return Ok(None) };
            self.open = Some(self.read.table.source.open(morsel, &self.read.columns, &[])?);
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
