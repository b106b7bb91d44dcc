//! Sorted records in batches of Hadoop's own bytes, for Java code.
//!
//! ```text
//!   | key length: u32 | value length: u32 | key | value | ...       lengths big-endian
//! ```

use yunti_base::Result;

use super::SortedRecords;
use crate::key::KeyForm;

/// Approximate bytes of a batch.
const BATCH_BYTES: usize = 64 << 10;

/// The batch being read.
pub struct Frames {
    form: KeyForm,
    pending: Vec<u8>,
    /// True if the pending batch was requested with too little room.
    again: bool,
}

impl Frames {
    /// Returns an empty batch for keys of this form.
    pub fn new(form: KeyForm) -> Frames {
        Frames { form, pending: Vec::new(), again: false }
    }

    /// Returns the next records of the current partition of `from`, or none at its end.
    ///
    /// The inner `Err` is the bytes that they need, if these exceed `room`; the next call returns them again.
    pub fn next_batch(
        &mut self,
        from: &mut dyn SortedRecords,
        room: usize,
    ) -> Result<std::result::Result<&[u8], usize>> {
        if !std::mem::take(&mut self.again) {
            self.fill(from)?;
        }
        self.again = self.pending.len() > room;
        Ok(if self.again { Err(self.pending.len()) } else { Ok(&self.pending) })
    }

    fn fill(&mut self, from: &mut dyn SortedRecords) -> Result<()> {
        let Frames { form, pending, .. } = self;
        pending.clear();
        while pending.len() < BATCH_BYTES {
            let more = from.next_batch(&mut |record| {
                let (key, value) = (record.key(), record.value());
                let (klen, vlen) = form.lengths(key, value);
                pending.extend_from_slice(&(klen as u32).to_be_bytes());
                pending.extend_from_slice(&(vlen as u32).to_be_bytes());
                form.put(key, value, pending);
                Ok(())
            })?;
            if !more {
                break;
            }
        }
        Ok(())
    }
}
