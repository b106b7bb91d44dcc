//! Rows of a result on their way to a terminal, a file, or a table in memory.

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use yunti_base::Result;

/// Takes the rows of a result.
pub trait Rows: Send {
    /// Takes the columns, once, before the rows.
    fn begin(&mut self, schema: &SchemaRef) -> Result<()>;

    /// Takes some rows.
    fn rows(&mut self, batch: &RecordBatch) -> Result<()>;
}
