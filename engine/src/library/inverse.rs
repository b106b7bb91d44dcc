//! The mapper that makes a count the key: what comes from a job that counts, to be sorted by how often.

use crate::operator::{Batch, Mapper, Out};
use yunti_base::Result;
use yunti_base::{Code, Error};

/// Keys of any bytes and values of eight, as they come from one job of a chain to the next.
pub struct Inverse;

impl Mapper for Inverse {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        for i in 0..batch.len() {
            let (key, value) = batch.record(i);
            if batch.keys().is_none() || value.len() != 8 {
                return Err(Error::new(Code::UserCode, "Yunti.InverseMapper takes keys with numbers of eight bytes")
                    .hint("name it in a [[then]] behind a job that counts"));
            }
            out.emit(value, key)?;
        }
        Ok(())
    }
}
