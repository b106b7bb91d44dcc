//! The user's combiner over sorted records. It pulls: Java code iterates and requests the next records when it has none
//! left. Its output comes back in batches.

use yunti_base::{Code, Error, Result};
use yunti_engine::bytes::{KeyOrder, Record};
use yunti_engine::operator::cursor::{HEADER_BYTES, copied};

use super::{Frames, SortedRecords};
use crate::key::KeyForm;

/// A user's combiner.
pub trait Combine: Send {
    /// Combines the records of one partition: reads them from `feed` and puts the results into it. Fails with the
    /// combiner's error.
    fn combine(&mut self, feed: &mut Feed<'_>) -> Result<()>;
}

/// Combining of sorted records.
pub enum CombineMode {
    /// Records pass unchanged.
    Nothing,
    /// Values are numbers; those of equal keys are added.
    Sum,
    /// The user's combiner.
    User(Box<dyn Combine>),
}

/// One partition on its way through a combiner.
pub struct Feed<'f> {
    /// Order in which keys must come back; None: not checked.
    order: Option<KeyOrder>,
    from: &'f mut dyn SortedRecords,
    to: &'f mut dyn FnMut(Record<'_>) -> Result<()>,
    frames: Frames,
    last_key: Option<Vec<u8>>,
}

impl<'f> Feed<'f> {
    /// Returns a feed from the sorted records `from` to `to`.
    pub fn new(
        form: KeyForm,
        order: Option<KeyOrder>,
        from: &'f mut dyn SortedRecords,
        to: &'f mut dyn FnMut(Record<'_>) -> Result<()>,
    ) -> Feed<'f> {
        Feed { order, from, to, frames: Frames::new(form), last_key: None }
    }

    /// Returns the next records, as `Frames::next_batch` does.
    pub fn next_batch(&mut self, room: usize) -> Result<std::result::Result<&[u8], usize>> {
        self.frames.next_batch(self.from, room)
    }

    /// Takes combined records in normal form and form COPY.
    ///
    /// If there is an order, their keys must ascend, because the output is merged and not sorted again. Fails with
    /// `Code::UserCode` otherwise.
    pub fn put(&mut self, records: &[u8]) -> Result<()> {
        for (at, klen, vlen) in copied(records) {
            let bytes = &records[at + HEADER_BYTES..at + HEADER_BYTES + klen + vlen];
            let record = Record { bytes, key_len: klen as u32, split: 0 };
            let Some(order) = self.order else {
                (self.to)(record)?;
                continue;
            };
            let last_key = self.last_key.get_or_insert_with(|| record.key().to_vec());
            if order.compare(record.key(), last_key).is_lt() {
                return Err(Error::new(
                    Code::UserCode,
                    "the combiner gave a key that comes before the one it gave last",
                )
                .hint("a combiner must emit its keys in the order in which it is given them"));
            }
            last_key.clear();
            last_key.extend_from_slice(record.key());
            (self.to)(record)?;
        }
        Ok(())
    }
}
