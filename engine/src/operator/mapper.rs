//! Mappers: batches of input records in, emitted records out.

use super::{Batch, Out};
use yunti_base::Result;

/// Made for one split. Call order: `map` for each batch in the order of the split, then `flush` once.
pub trait Mapper: Send {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()>;
    /// The split is at its end; may still emit, by copy only.
    fn flush(&mut self, _out: &mut Out) -> Result<()> {
        Ok(())
    }
}
