//! Mapper that swaps key and count, so that a job can sort the output of a counting job by count.

use crate::operator::{Batch, Mapper, Out};
use yunti_base::Result;
use yunti_base::{Code, Error};

/// Swaps keys of any bytes and values of eight bytes, as one job of a chain feeds them to the next.
pub struct Inverse;

impl Mapper for Inverse {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        for i in 0..batch.len() {
            let (key, value) = batch.record(i);
            if batch.keys().is_none() || value.len() != 8 {
                return Err(Error::new(Code::UserCode, "Yunti.InverseMapper needs keys, and values of 8 bytes")
                    .hint("name it in a [[then]] after a job that counts"));
            }
            out.emit(value, key)?;
        }
        Ok(())
    }
}
