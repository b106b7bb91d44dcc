//! Sorted records as Java code reads them: its own bytes, a batch at a time.
//!
//! ```text
//!   | key length: u32 | value length: u32 | key | value | ...       lengths big-endian
//! ```

use yunti_base::Result;

use super::Sorted;
use crate::key::KeyForm;

/// Bytes of records that are handed over at once, about.
const BATCH_BYTES: usize = 64 << 10;

pub struct Frames {
    form: KeyForm,
    pending: Vec<u8>,
    /// What is pending was asked for with too little room.
    again: bool,
}

impl Frames {
    pub fn new(form: KeyForm) -> Frames {
        Frames { form, pending: Vec::new(), again: false }
    }

    /// The next records of the partition that `from` is in; none: it is at its end. `Err`: the bytes that they need, if it is more
    /// than `room`; they are given again.
    pub fn next_batch(&mut self, from: &mut dyn Sorted, room: usize) -> Result<std::result::Result<&[u8], usize>> {
        if !std::mem::take(&mut self.again) {
            self.fill(from)?;
        }
        self.again = self.pending.len() > room;
        Ok(if self.again { Err(self.pending.len()) } else { Ok(&self.pending) })
    }

    fn fill(&mut self, from: &mut dyn Sorted) -> Result<()> {
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
