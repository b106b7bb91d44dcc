//! Lengths of words, as in Hadoop's examples `wordmean` and `wordmedian`.

use crate::bytes::words::DELIMITERS;
use crate::operator::{Batch, Mapper, Out};
use yunti_base::Result;

/// Mapper that emits the length of each word in bytes, with the number 1.
pub struct WordLengths;

impl Mapper for WordLengths {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let values = batch.values();
        for (&offset, &length) in values.offsets.iter().zip(values.lengths) {
            let line = &batch.data()[offset as usize..][..length as usize];
            for word in line.split(|byte| DELIMITERS.contains(byte)).filter(|word| !word.is_empty()) {
                out.emit(&(word.len() as i64).to_le_bytes(), &1u64.to_le_bytes())?;
            }
        }
        Ok(())
    }
}
