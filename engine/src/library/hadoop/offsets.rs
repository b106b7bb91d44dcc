//! Yunti.OffsetMapper: lines with their offsets in the file as keys, as Hadoop's TextInputFormat emits them.

use crate::operator::{Batch, Mapper, Out};
use yunti_base::Result;

/// Mapper of lines: the key is the offset of the line. Records that have keys pass unchanged.
pub struct OffsetMapper;

impl Mapper for OffsetMapper {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        for (i, &offset) in batch.values().offsets.iter().enumerate() {
            let offset = batch.first_position() + u64::from(offset);
            out.emit(&offset.to_le_bytes(), batch.record(i).1)?;
        }
        Ok(())
    }
}
