//! Mappers: batches of input records in, emitted records out.

use super::{Batch, Out};
use yunti_base::{Error, Result};

/// Answer of a mapper to a failure.
pub enum Restart {
    /// It cannot begin again.
    Impossible,
    /// It begins again.
    Attempt,
    /// It begins again to find the record that it failed at, which is no attempt.
    Search,
    /// It begins again without a bad record. Attempts are counted from the first again.
    LeftOut,
    /// It has found the record, and the job may not leave it out. The error names it.
    Found(Error),
}

/// A mapper of one split. Call order: `begin`, `map` for each batch in the order of the split, then `flush` once.
pub trait Mapper: Send {
    /// Begins the split, which may have no record: `file_index` is its first file, as in batches, `start` its offset
    /// there.
    fn begin(&mut self, _file_index: u32, _start: u64) {}
    /// Maps one batch: emits any number of records.
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()>;
    /// Ends the split; may still emit, by copy only.
    fn flush(&mut self, _out: &mut Out) -> Result<()> {
        Ok(())
    }
    /// Prepares another attempt after `map` or `flush` failed: the split comes again from its first record, and records
    /// that the mapper emitted before are not emitted again.
    fn restart(&mut self, _error: &Error) -> Restart {
        Restart::Impossible
    }
}
