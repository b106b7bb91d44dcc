//! Mapper of a job that names none: passes every record. A line becomes the key.

use crate::operator::{Batch, Mapper, Out};
use yunti_base::Result;

/// Mapper that passes every record unchanged.
pub struct IdentityMapper;

impl Mapper for IdentityMapper {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let data = batch.data();
        let values = batch.values();
        match batch.keys() {
            Some(keys) => {
                for i in 0..batch.len() {
                    let (k, n) = (keys.offsets[i] as usize, keys.lengths[i] as usize);
                    let (v, m) = (values.offsets[i] as usize, values.lengths[i] as usize);
                    if k + n == v {
                        out.emit_adjacent(&data[k..v + m], n)?;
                    } else {
                        out.emit(&data[k..k + n], &data[v..v + m])?;
                    }
                }
            }
            // A line becomes the key, so that it can be sorted, without a value.
            None => {
                for (&v, &m) in values.offsets.iter().zip(values.lengths) {
                    out.emit(&data[v as usize..(v + m) as usize], &[])?;
                }
            }
        }
        Ok(())
    }
}
