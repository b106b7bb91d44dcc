//! References into joins, as far as a single reading of the dump finds them.
//!
//! The second referrer of an object makes it a join, and shows the first one again. So the list is complete without a
//! second reading. Most heaps have few references into joins, because those of objects to their classes are left out.
//! A heap with more than the list may hold is read again.
//!
//! ```text
//!   reference:  from - previous from | join - from     each in 7 bits a byte, the sign in the lowest bit
//! ```
//!
//! A walk follows addresses, and objects lie near what they refer to: a reference takes 4 bytes instead of 8.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::hash;

/// Bytes of a piece of the list.
const PIECE_BYTES: usize = if cfg!(debug_assertions) { 24 } else { 1 << 17 };
/// Bytes that a reference takes at most.
const REFERENCE_BYTES_MAX: usize = 10;
/// Entries of the table of recent references; a power of two.
const RECENT: usize = if cfg!(debug_assertions) { 2 } else { 1 << 12 };

/// Room for the references of all threads together.
pub struct Room {
    bytes: AtomicUsize,
}

impl Room {
    /// Returns room of some bytes.
    pub fn new(bytes: usize) -> Room {
        Room { bytes: AtomicUsize::new(bytes) }
    }

    fn take(&self, bytes: usize) -> bool {
        self.bytes.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// Piece of the list.
#[derive(Default)]
pub struct Piece {
    bytes: Vec<u8>,
    from: u32,
}

impl Piece {
    #[inline]
    fn add(&mut self, from: u32, join: u32) {
        self.put(from.wrapping_sub(self.from));
        self.put(join.wrapping_sub(from));
        self.from = from;
    }

    #[inline]
    fn put(&mut self, difference: u32) {
        let mut rest = difference << 1 ^ (difference as i32 >> 31) as u32;
        while rest >= 0x80 {
            self.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    /// Returns the references, from object to join.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut bytes = self.bytes.iter();
        let mut next = move || {
            let (mut all, mut shift) = (0, 0);
            loop {
                let byte = *bytes.next()?;
                all |= u32::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return Some(all >> 1 ^ (all & 1).wrapping_neg());
                }
            }
        };
        let mut from = 0_u32;
        std::iter::from_fn(move || {
            from = from.wrapping_add(next()?);
            Some((from, from.wrapping_add(next()?)))
        })
    }
}

/// References of one thread into joins.
pub struct JoinReferences<'a> {
    room: &'a Room,
    pieces: Vec<Piece>,
    recent: Vec<(u32, u32)>,
    is_complete: bool,
}

impl<'a> JoinReferences<'a> {
    /// Returns an empty list.
    pub fn new(room: &'a Room) -> JoinReferences<'a> {
        JoinReferences { room, pieces: Vec::new(), recent: vec![(u32::MAX, u32::MAX); RECENT], is_complete: true }
    }

    /// Adds a reference.
    #[inline]
    pub fn add(&mut self, from: u32, join: u32) {
        let recent = &mut self.recent[hash::fold(u64::from(join)) as usize % RECENT];
        if *recent == (from, join) || !self.is_complete {
            return;
        }
        *recent = (from, join);
        match self.pieces.last_mut().filter(|piece| piece.bytes.len() + REFERENCE_BYTES_MAX <= PIECE_BYTES) {
            Some(piece) => piece.add(from, join),
            None => self.grow(from, join),
        }
    }

    #[cold]
    fn grow(&mut self, from: u32, join: u32) {
        if self.room.take(PIECE_BYTES) {
            let mut piece = Piece { bytes: Vec::with_capacity(PIECE_BYTES), from: 0 };
            piece.add(from, join);
            self.pieces.push(piece);
        } else {
            self.is_complete = false;
            self.pieces = Vec::new();
        }
    }

    /// Returns the list in pieces, or `None` if there was no room for all.
    pub fn finish(self) -> Option<Vec<Piece>> {
        self.is_complete.then_some(self.pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_come_back_while_there_is_room() {
        let references: Vec<(u32, u32)> =
            (0..40_u32).flat_map(|i| [(i * 7, i), (i * 7, u32::MAX - 20), (u32::MAX - i, i * i * 1_000_003)]).collect();
        for (bytes, is_complete) in [(2000, true), (200, false)] {
            let room = Room::new(bytes);
            let mut list = JoinReferences::new(&room);
            references.iter().for_each(|&(from, join)| list.add(from, join));
            let pieces = list.finish();
            assert_eq!(pieces.is_some(), is_complete);
            let Some(pieces) = pieces else { continue };
            assert!(pieces.len() > 5);
            assert!(pieces.iter().flat_map(Piece::iter).eq(references.iter().copied()));
        }
    }
}
