//! The user's combiner over sorted records. It pulls: it is Java code that iterates, and asks for the next records when it has
//! none left; what it emits comes back in batches.

use yunti_engine::base::{Code, Error, KeyOrder, Record, Result};
use yunti_engine::operator::cursor::{HEADER_BYTES, copied};

use super::sorted::Sorted;
use crate::key::KeyForm;

/// Bytes of records that are handed to a combiner at once, about.
const FEED_BYTES: usize = 64 << 10;

/// A combiner of the user's.
pub trait Combine: Send {
    /// Combines the records of one partition, which `feed` has, and gives it what comes out.
    fn combine(&mut self, feed: &mut Feed<'_>) -> Result<()>;
}

/// One partition on its way through a combiner.
pub struct Feed<'f> {
    form: KeyForm,
    from: &'f mut dyn Sorted,
    to: &'f mut dyn FnMut(Record<'_>) -> Result<()>,
    pending: Vec<u8>,
    /// What is pending was asked for with too little room.
    again: bool,
    last_key: Vec<u8>,
}

impl<'f> Feed<'f> {
    pub fn new(form: KeyForm, from: &'f mut dyn Sorted, to: &'f mut dyn FnMut(Record<'_>) -> Result<()>) -> Feed<'f> {
        Feed { form, from, to, pending: Vec::new(), again: false, last_key: Vec::new() }
    }

    /// The next records as Hadoop has them, each behind its lengths (two big-endian u32); none: the partition is at its end.
    /// `Err`: the bytes that they need, if it is more than `room`; they are given again.
    pub fn next_batch(&mut self, room: usize) -> Result<std::result::Result<&[u8], usize>> {
        if !std::mem::take(&mut self.again) {
            self.fill()?;
        }
        self.again = self.pending.len() > room;
        Ok(if self.again { Err(self.pending.len()) } else { Ok(&self.pending) })
    }

    fn fill(&mut self) -> Result<()> {
        self.pending.clear();
        let Feed { form, from, pending, .. } = self;
        while pending.len() < FEED_BYTES {
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

    /// Takes combined records in normal form, as the collector takes a mapper's. Their keys must ascend: what comes out is
    /// merged, not sorted again.
    pub fn put(&mut self, records: &[u8]) -> Result<()> {
        for (at, klen, vlen) in copied(records) {
            let bytes = &records[at + HEADER_BYTES..at + HEADER_BYTES + klen + vlen];
            let record = Record { bytes, key_len: klen as u32, split: 0 };
            if KeyOrder::BYTES.compare(record.key(), &self.last_key).is_lt() {
                return Err(Error::new(
                    Code::UserCode,
                    "the combiner gave a key that comes before the one it gave last",
                )
                .hint("a combiner must emit its keys in the order in which it is given them"));
            }
            self.last_key.clear();
            self.last_key.extend_from_slice(record.key());
            (self.to)(record)?;
        }
        Ok(())
    }
}
