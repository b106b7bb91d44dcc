//! Sums of equal keys in sorted records. Values are eight bytes, little-endian, and wrap.

use yunti_base::Result;
use yunti_engine::bytes::Record;

use super::SortedRecords;

/// Sorted records in which records of equal keys become one, as a combiner does for merged spills.
pub struct SumByKey<'s> {
    from: &'s mut dyn SortedRecords,
    /// Last key, and room for its value.
    last: Vec<u8>,
    sum: u64,
    pending: bool,
}

impl<'s> SumByKey<'s> {
    /// Returns the sums of the records of `from`.
    pub fn new(from: &'s mut dyn SortedRecords) -> Self {
        SumByKey { from, last: Vec::new(), sum: 0, pending: false }
    }
}

fn give(last: &mut Vec<u8>, sum: u64, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<()> {
    let key_len = last.len() as u32;
    last.extend_from_slice(&sum.to_le_bytes());
    each(Record { bytes: last, key_len, split: 0 })
}

impl SortedRecords for SumByKey<'_> {
    fn next_partition(&mut self) -> Result<Option<u32>> {
        self.from.next_partition()
    }

    fn next_batch(&mut self, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<bool> {
        let SumByKey { from, last, sum, pending } = self;
        let more = from.next_batch(&mut |record| {
            let value = record.value().first_chunk().map_or(0, |v| u64::from_le_bytes(*v));
            if *pending && last[..] == *record.key() {
                *sum = sum.wrapping_add(value);
                return Ok(());
            }
            if *pending {
                give(last, *sum, each)?;
            }
            last.clear();
            last.extend_from_slice(record.key());
            (*sum, *pending) = (value, true);
            Ok(())
        })?;
        if more {
            return Ok(true);
        }
        if std::mem::take(pending) {
            give(last, *sum, each)?;
            return Ok(true);
        }
        Ok(false)
    }
}
