//! Partitioners: they choose the partition of each record.

use super::Batch;
use yunti_base::Result;

/// A partitioner of one task.
pub trait Partitioner: Send {
    /// Sets `part[i]` in `0..parts` for each record of the batch, which has keys and values. Equal keys must get equal
    /// partitions.
    fn partition(&mut self, batch: &Batch<'_>, parts: u32, part: &mut [u32]) -> Result<()>;
}
