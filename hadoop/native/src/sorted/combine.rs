//! The user's combiner over sorted records. It pulls: it is Java code that iterates, and asks for the next records when it has
//! none left; what it emits comes back in batches.

use yunti_base::{Code, Error, Result};
use yunti_engine::bytes::{KeyOrder, Record};
use yunti_engine::operator::cursor::{HEADER_BYTES, copied};

use super::{Frames, Sorted};
use crate::key::KeyForm;

/// A combiner of the user's.
pub trait Combine: Send {
    /// Combines the records of one partition, which `feed` has, and gives it what comes out.
    fn combine(&mut self, feed: &mut Feed<'_>) -> Result<()>;
}

/// What sorted records go through.
pub enum Combining {
    Nothing,
    /// Values are numbers, and those of a key are added.
    Sum,
    User(Box<dyn Combine>),
}

/// One partition on its way through a combiner.
pub struct Feed<'f> {
    order: KeyOrder,
    from: &'f mut dyn Sorted,
    to: &'f mut dyn FnMut(Record<'_>) -> Result<()>,
    frames: Frames,
    last_key: Option<Vec<u8>>,
}

impl<'f> Feed<'f> {
    pub fn new(
        form: KeyForm,
        order: KeyOrder,
        from: &'f mut dyn Sorted,
        to: &'f mut dyn FnMut(Record<'_>) -> Result<()>,
    ) -> Feed<'f> {
        Feed { order, from, to, frames: Frames::new(form), last_key: None }
    }

    /// The next records, as `Frames::next_batch` has them.
    pub fn next_batch(&mut self, room: usize) -> Result<std::result::Result<&[u8], usize>> {
        self.frames.next_batch(self.from, room)
    }

    /// Takes combined records in normal form, as the collector takes a mapper's. Their keys must ascend: what comes out is
    /// merged, not sorted again.
    pub fn put(&mut self, records: &[u8]) -> Result<()> {
        for (at, klen, vlen) in copied(records) {
            let bytes = &records[at + HEADER_BYTES..at + HEADER_BYTES + klen + vlen];
            let record = Record { bytes, key_len: klen as u32, split: 0 };
            let last_key = self.last_key.get_or_insert_with(|| record.key().to_vec());
            if self.order.compare(record.key(), last_key).is_lt() {
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
