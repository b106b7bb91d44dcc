//! Bytes that do not fit in a slot: long keys and wide states. They are appended, never moved, and dropped all at once.
//!
//! ```text
//!   chunk 0        chunk 1                chunk 2 (of one huge item)
//!   | a | b |free| | c | d | e |  free  | | f                      |
//!   place = chunk << 40 | offset
//! ```
//!
//! Rejected: one buffer that doubles. It moves states that pointers name, and takes three times its size during growth.

use std::sync::Arc;

use crate::memory::buffer::SLACK_BYTES;
use crate::memory::{Budget, Buffer};
use yunti_base::Result;

const OFFSET_BITS: u32 = 40;
const FIRST_CHUNK_BYTES: usize = if cfg!(debug_assertions) { 1 } else { 64 << 10 };
const CHUNK_BYTES_MAX: usize = 16 << 20;

pub(super) struct Arena {
    chunks: Vec<Buffer>,
    /// Bytes used of the last chunk.
    used: usize,
    budget: Arc<Budget>,
}

impl Arena {
    /// Returns an empty arena that takes its memory from `budget`.
    pub fn new(budget: Arc<Budget>) -> Self {
        Arena { chunks: Vec::new(), used: 0, budget }
    }

    fn room(&self) -> usize {
        self.chunks.last().map_or(0, |c| c.len() - self.used)
    }

    /// Returns true if `bytes` are reserved.
    pub fn has_room(&self, bytes: usize) -> bool {
        bytes <= self.room()
    }

    /// Reserves room so that `bytes` can be appended in pieces of any size; returns false if the budget has too little.
    pub fn reserve(&mut self, bytes: usize) -> Result<bool> {
        if self.has_room(bytes) {
            return Ok(true);
        }
        let usual = (FIRST_CHUNK_BYTES << self.chunks.len().min(16)).min(CHUNK_BYTES_MAX);
        for len in [usual.max(bytes), bytes] {
            let mapped = mapped_bytes(len);
            if let Some(grant) = self.budget.try_grant(mapped as u64) {
                self.chunks.push(Buffer::new(mapped - SLACK_BYTES, Some(grant))?);
                self.used = 0;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the place of `len` reserved bytes, which read as zeros.
    pub fn take(&mut self, len: usize) -> u64 {
        assert!(len <= self.room(), "room must be reserved");
        let place = (self.chunks.len() as u64 - 1) << OFFSET_BITS | self.used as u64;
        self.used += len;
        place
    }

    /// Appends bytes into reserved room and returns their place.
    pub fn append(&mut self, bytes: &[u8]) -> u64 {
        let place = self.take(bytes.len());
        self.bytes_mut(place, bytes.len()).copy_from_slice(bytes);
        place
    }

    /// Returns `len` bytes at a place.
    pub fn bytes(&self, place: u64, len: usize) -> &[u8] {
        let (chunk, at) = split(place);
        &self.chunks[chunk][at..at + len]
    }

    /// Returns `len` bytes at a place, for writing.
    pub fn bytes_mut(&mut self, place: u64, len: usize) -> &mut [u8] {
        let (chunk, at) = split(place);
        &mut self.chunks[chunk][at..at + len]
    }

    /// Returns the address of the first byte at a place; it stays valid until the arena is cleared.
    pub fn ptr(&self, place: u64) -> *mut u8 {
        let (chunk, at) = split(place);
        self.chunks[chunk].as_ptr().wrapping_add(at).cast_mut()
    }

    /// Drops all items and returns their memory to the budget.
    pub fn clear(&mut self) {
        self.chunks.clear();
        self.used = 0;
    }
}

/// Returns the bytes that a buffer of `len` bytes takes from the system.
pub(super) fn mapped_bytes(len: usize) -> usize {
    (len + SLACK_BYTES).next_multiple_of(4096)
}

fn split(place: u64) -> (usize, usize) {
    ((place >> OFFSET_BITS) as usize, (place & ((1 << OFFSET_BITS) - 1)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_items_stay_readable() {
        let budget = Budget::new(98_304);
        let mut arena = Arena::new(budget.clone());
        let items: Vec<Vec<u8>> = (0..200usize).map(|i| vec![i as u8; 1 + i * 7 % 300]).collect();
        let places: Vec<u64> = items
            .iter()
            .map(|item| {
                assert!(arena.reserve(item.len()).unwrap());
                arena.append(item)
            })
            .collect();
        for (item, place) in items.iter().zip(places) {
            assert_eq!(arena.bytes(place, item.len()), item);
        }
        assert!(!arena.reserve(100_000).unwrap());
        arena.clear();
        assert_eq!(budget.used_bytes(), 0);
        assert!(arena.reserve(90_000).unwrap());
    }
}
