//! Reducers and combiners: batches of groups in, emitted records out.

pub mod fold_reduce;
pub mod function;
pub mod groups;

use self::groups::Groups;
use super::Out;
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
    /// Prepares another attempt after `reduce` or `flush` failed: the groups come again from the first, and records
    /// that the reducer emitted before are not emitted again. Returns false if this reducer cannot do that.
    fn restart(&mut self) -> bool {
        false
    }
}
