//! Batch of references: from the number of an object to an id.
//!
//! Each reference costs some cache misses in arrays of all objects. A loop over a batch lets the processor wait for
//! many of them at once; between the records of a walk it waits for one after the other.

use crate::file::map::be_id;

/// References of a batch.
const REFERENCES: usize = if cfg!(debug_assertions) { 3 } else { 256 };

/// References that are not yet resolved.
pub struct Batch {
    from: Vec<u32>,
    to: Vec<u64>,
    count: usize,
}

impl Default for Batch {
    fn default() -> Batch {
        Batch { from: vec![0; REFERENCES], to: vec![0; REFERENCES], count: 0 }
    }
}

impl Batch {
    /// Adds a reference unless it is null. Returns true when the batch is full.
    #[inline]
    pub fn add(&mut self, from: u32, to: u64) -> bool {
        self.from[self.count] = from;
        self.to[self.count] = to;
        self.count += usize::from(to != 0);
        self.count == REFERENCES
    }

    /// Adds ids of an array's elements, and calls `full` with each full batch.
    #[inline]
    pub fn add_all(&mut self, from: u32, ids: &[u8], id_bytes: usize, mut full: impl FnMut(&mut Batch)) {
        for id in ids.chunks_exact(id_bytes) {
            if self.add(from, be_id(id, id_bytes)) {
                full(self);
            }
        }
    }

    /// Removes and returns all references.
    pub fn take(&mut self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let count = std::mem::take(&mut self.count);
        self.from[..count].iter().copied().zip(self.to[..count].iter().copied())
    }
}
