//! Partitioners: user code that chooses the part of each record.

use super::Class;
use super::reducer::key_of;
use crate::error::{Result, fail};
use crate::layout::Batch;
use crate::types::{Type, View};

/// A partitioner: a function from a record to a partition. Equal keys must get equal numbers.
pub trait Partitioner: Class {
    /// Type of the keys.
    type InKey: Type;

    /// Returns the partition of a record, from 0 to parts - 1. For an output that is sorted over all partitions, the
    /// numbers must not fall as keys rise.
    fn partition(&mut self, key: View<'_, Self::InKey>, value: &[u8], parts: u32) -> Result<u32>;
}

/// Sets the partition of each record.
pub fn partition<P: Partitioner>(partitioner: &mut P, batch: &Batch<'_>, parts: u32, to: &mut [u32]) -> Result<()> {
    if !batch.has_keys() {
        return fail("a partitioner needs records with keys");
    }
    for (i, part) in to.iter_mut().enumerate() {
        *part = partitioner.partition(key_of::<P::InKey>(batch.key(i))?, batch.value(i), parts)?;
        if *part >= parts {
            return fail(format!(
                "the partitioner returned {part} for {parts} partitions: return 0 to {}",
                parts.saturating_sub(1)
            ));
        }
    }
    Ok(())
}
