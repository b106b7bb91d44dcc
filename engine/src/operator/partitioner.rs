//! Partitioners: which reduce a record goes to.

use super::Batch;
use yunti_base::Result;

pub trait Partitioner: Send {
    /// Sets `part[i]` in `0..parts` for each record of the batch (keys and values are stored in it).
    fn partition(&mut self, batch: &Batch<'_>, parts: u32, part: &mut [u32]) -> Result<()>;
}
