//! Reducers and combiners: batches of groups in, emitted records out.

use super::{Groups, Out};
use yunti_base::Result;

/// A reducer of one partition; of one range of its keys if its class is PURE; a combiner is made for one task.
///
/// Call order: `reduce` for each batch in key order, then `flush` once.
pub trait Reducer: Send {
    /// Reduces one batch of groups: emits any number of records.
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()>;
    /// Ends the partition; may still emit.
    fn flush(&mut self, _out: &mut Out) -> Result<()> {
        Ok(())
    }
}
