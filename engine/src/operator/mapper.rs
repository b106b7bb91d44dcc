//! Mappers: batches of input records in, emitted records out.

use super::{Batch, Out};
use yunti_base::Result;

/// A mapper of one split. Call order: `map` for each batch in the order of the split, then `flush` once.
pub trait Mapper: Send {
    /// Maps one batch: emits any number of records.
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()>;
    /// Ends the split; may still emit, by copy only.
    fn flush(&mut self, _out: &mut Out) -> Result<()> {
        Ok(())
    }
    /// Prepares another attempt after `map` or `flush` failed: the split comes again from its first record, and records
    /// that the mapper emitted before are not emitted again. Returns false if this mapper cannot do that.
    fn restart(&mut self) -> bool {
        false
    }
}
