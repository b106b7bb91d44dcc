//! Yunti.KeyHashPartitioner: the partition by the hash of the whole key, for keys that a class orders. The engine's own
//! hash partitioner keeps the keys of one group together then; Hadoop's HashPartitioner does not.

use crate::collect::partition::hash_bytes;
use crate::operator::{Batch, Partitioner};
use yunti_base::Result;

/// Hadoop's HashPartitioner for keys of class Text.
pub struct KeyHashPartitioner;

impl Partitioner for KeyHashPartitioner {
    fn partition(&mut self, batch: &Batch<'_>, parts: u32, part: &mut [u32]) -> Result<()> {
        for (i, part) in part.iter_mut().enumerate() {
            *part = (hash_bytes(batch.record(i).0) & i32::MAX) as u32 % parts;
        }
        Ok(())
    }
}
