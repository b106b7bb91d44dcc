//! Reducers and combiners: batches of groups in, emitted records out.

use super::{Groups, Out};
use yunti_base::Result;

/// Made for one partition (or for one range of its keys, if its class is PURE; a combiner: for one task).
/// Call order: `reduce` for each batch in key order, then `flush` once.
pub trait Reducer: Send {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()>;
    /// No group follows; may still emit.
    fn flush(&mut self, _out: &mut Out) -> Result<()> {
        Ok(())
    }
}
