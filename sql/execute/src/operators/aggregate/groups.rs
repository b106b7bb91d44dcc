//! Groups of one table, numbered in the order in which they come, and found by their keys: open addressing.
//!
//! ```text
//!   hash     | partition | slot          ..              |        tag (32 bits)         |
//!   slots    | tag, group + 1 | 0 | tag, group + 1 | ..       a place in the order of hashes, or the next free one
//!   groups   words of the key, hash                           texts of more than 12 bytes: one behind the other
//! ```
//!
//! The bits that chose the partition do not choose the slot. A table never grows by itself: the caller must have memory
//! for it.

use std::sync::Arc;

use yunti_engine::bytes::prefetch::prefetch;

use super::keys::{Keys, Layout};

/// Rows whose slots are loaded before their keys are compared.
const CHUNK: usize = 128;
/// Slots of the smallest table: 1 << bits.
const BITS_MIN: u32 = 4;

/// Groups and their keys.
pub struct Groups {
    layout: Arc<Layout>,
    /// Leading bits of a hash that all groups share.
    shared_bits: u32,
    /// Slots: 1 << bits; none if `bits` is 0.
    bits: u32,
    slots: Vec<u64>,
    words: Vec<u64>,
    hashes: Vec<u64>,
    arena: Vec<u8>,
    arena_max: usize,
}

/// The room that a table lacks for the next group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shortage {
    /// Bytes for its texts; 0: it lacks slots.
    pub text_bytes: usize,
}

impl Keys for Groups {
    #[inline(always)]
    fn words(&self) -> &[u64] {
        &self.words
    }

    #[inline(always)]
    fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    #[inline]
    fn text(&self, _column: usize, place: u64, len: usize) -> &[u8] {
        &self.arena[place as usize..][..len]
    }
}

/// Returns the groups that a number of slots may have.
fn capacity_of(bits: u32) -> usize {
    if bits == 0 { 0 } else { (1 << bits) / 8 * 5 }
}

impl Groups {
    /// Returns no groups, without memory.
    pub fn new(layout: &Arc<Layout>, shared_bits: u32) -> Groups {
        let layout = layout.clone();
        let (slots, words, hashes, arena) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Groups { layout, shared_bits, bits: 0, slots, words, hashes, arena, arena_max: 0 }
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the number of groups.
    #[inline]
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns the number of groups that it has room for.
    pub fn capacity(&self) -> usize {
        capacity_of(self.bits)
    }

    /// Returns the capacity, and the bytes of slots and keys, of a table with the next number of slots.
    pub fn next_size(&self) -> (usize, usize) {
        let bits = (self.bits + 1).max(BITS_MIN);
        let capacity = capacity_of(bits);
        (capacity, (8 << bits) + capacity * 8 * (1 + self.layout.width))
    }

    /// Returns the bytes of slots and keys, and those of texts.
    pub fn used_bytes(&self) -> (usize, usize) {
        let slots = if self.bits == 0 { 0 } else { 8 << self.bits };
        (slots + self.capacity() * 8 * (1 + self.layout.width), self.arena_max)
    }

    /// Returns the bytes for texts that a table should have to hold `more`.
    pub fn next_text_bytes(&self, more: usize) -> usize {
        (2 * self.arena_max).max(self.arena.len() + more).max(256)
    }

    /// Takes the memory of the next number of slots.
    pub fn grow(&mut self) {
        self.bits = (self.bits + 1).max(BITS_MIN);
        let capacity = self.capacity();
        self.hashes.reserve_exact(capacity - self.hashes.len());
        self.words.reserve_exact(capacity * self.layout.width - self.words.len());
        self.slots = Vec::new();
        self.slots.resize(1 << self.bits, 0);
        let mask = self.slots.len() - 1;
        for (number, &hash) in (1..).zip(&self.hashes) {
            let mut at = place(hash, self.shared_bits, self.bits);
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = hash << 32 | number;
        }
    }

    /// Takes memory for `bytes` of texts in all.
    pub fn grow_texts(&mut self, bytes: usize) {
        self.arena.reserve_exact(bytes.saturating_sub(self.arena.len()));
        self.arena_max = bytes;
    }

    /// Forgets all groups, and keeps the memory.
    pub fn clear(&mut self) {
        self.slots.fill(0);
        self.words.clear();
        self.hashes.clear();
        self.arena.clear();
    }

    /// Appends the group of each row to `to`, as far as there is room. Returns what the table lacks if a row is left.
    pub fn assign(&mut self, keys: &impl Keys, rows: &[u32], to: &mut Vec<u32>) -> Option<Shortage> {
        match (self.layout.width, self.layout.texts.is_empty()) {
            (0, _) => self.assign_all(rows, to),
            (1, _) => self.assign_as::<_, 1>(keys, rows, to),
            (2, true) => self.assign_as::<_, 2>(keys, rows, to),
            (3, true) => self.assign_as::<_, 3>(keys, rows, to),
            _ => self.assign_as::<_, 0>(keys, rows, to),
        }
    }

    /// Makes all rows of one group.
    fn assign_all(&mut self, rows: &[u32], to: &mut Vec<u32>) -> Option<Shortage> {
        if self.bits == 0 {
            return Some(Shortage::default());
        }
        if self.hashes.is_empty() {
            self.hashes.push(0);
        }
        to.resize(to.len() + rows.len(), 0);
        None
    }

    fn assign_as<K: Keys, const W: usize>(&mut self, keys: &K, rows: &[u32], to: &mut Vec<u32>) -> Option<Shortage> {
        if self.bits == 0 {
            return (!rows.is_empty()).then(Shortage::default);
        }
        let width = if W == 0 { self.layout.width } else { W };
        let hashes = keys.hashes();
        let mut found = [0u64; CHUNK];
        for rows in rows.chunks(CHUNK) {
            for (found, &row) in found.iter_mut().zip(rows) {
                let slot = self.slots[place(hashes[row as usize], self.shared_bits, self.bits)];
                prefetch(self.words.as_ptr().wrapping_add((slot as u32 as usize).wrapping_sub(1).wrapping_mul(width)));
                *found = slot;
            }
            for (&slot, &row) in found.iter().zip(rows) {
                let hash = hashes[row as usize];
                let group = (slot as u32).wrapping_sub(1);
                let is_found = slot as u32 != 0
                    && slot >> 32 == hash & 0xffff_ffff
                    && self.layout.equal::<K, Groups, W>((keys, row as usize), (self, group as usize));
                if is_found {
                    to.push(group);
                    continue;
                }
                match self.find_or_add::<K, W>(keys, row as usize) {
                    Ok(group) => to.push(group),
                    Err(shortage) => return Some(shortage),
                }
            }
        }
        None
    }

    fn find_or_add<K: Keys, const W: usize>(&mut self, keys: &K, row: usize) -> Result<u32, Shortage> {
        let hash = keys.hashes()[row];
        let mask = self.slots.len() - 1;
        let mut at = place(hash, self.shared_bits, self.bits);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            let group = (slot as u32 - 1) as usize;
            if slot >> 32 == hash & 0xffff_ffff && self.layout.equal::<K, Groups, W>((keys, row), (self, group)) {
                return Ok(group as u32);
            }
            at = (at + 1) & mask;
        }
        if self.hashes.len() == self.capacity() {
            return Err(Shortage::default());
        }
        let width = self.layout.width;
        let words = &keys.words()[row * width..][..width];
        let mut text_bytes = 0;
        for &at in &self.layout.texts {
            text_bytes += Layout::long_len(words[at]).unwrap_or(0);
        }
        if text_bytes > self.arena_max - self.arena.len() {
            return Err(Shortage { text_bytes });
        }
        let start = self.words.len();
        self.words.extend_from_slice(words);
        if text_bytes > 0 {
            for &at in &self.layout.texts {
                if let Some(len) = Layout::long_len(words[at]) {
                    self.words[start + at + 1] = self.arena.len() as u64;
                    self.arena.extend_from_slice(keys.text(at, words[at + 1], len));
                }
            }
        }
        self.hashes.push(hash);
        self.slots[at] = hash << 32 | self.hashes.len() as u64;
        Ok(self.hashes.len() as u32 - 1)
    }

    /// Returns the groups in the order of their hashes; groups of one hash in the order of their keys.
    pub fn in_order(&self) -> Vec<u32> {
        if self.layout.width == 0 {
            return (0..self.len() as u32).collect();
        }
        let mut order: Vec<u32> = Vec::with_capacity(self.len());
        // Groups that found no place at the end stand at the beginning.
        let home = |group: u32| place(self.hashes[group as usize], self.shared_bits, self.bits);
        let mut behind = Vec::new();
        for (at, slot) in self.slots.iter().enumerate().filter(|(_, slot)| **slot != 0) {
            let group = *slot as u32 - 1;
            if home(group) > at { behind.push(group) } else { order.push(group) }
        }
        order.append(&mut behind);
        // Nearly sorted: only neighbours of one stretch of slots are out of order.
        let hash = |group: u32| self.hashes[group as usize];
        let mut ties = false;
        for n in 1..order.len() {
            let group = order[n];
            let mut at = n;
            while at > 0 && hash(order[at - 1]) > hash(group) {
                order[at] = order[at - 1];
                at -= 1;
            }
            order[at] = group;
            ties |= at > 0 && hash(order[at - 1]) == hash(group);
        }
        if ties {
            let mut key = (Vec::new(), Vec::new());
            order.chunk_by_mut(|a, b| hash(*a) == hash(*b)).filter(|tied| tied.len() > 1).for_each(|tied| {
                tied.sort_by(|&a, &b| {
                    key.0.clear();
                    key.1.clear();
                    super::keys::put_key(&self.layout, self, a as usize, &mut key.0);
                    super::keys::put_key(&self.layout, self, b as usize, &mut key.1);
                    key.0.cmp(&key.1)
                });
            });
        }
        order
    }
}

/// Returns the slot where the search for a hash begins.
#[inline(always)]
fn place(hash: u64, shared_bits: u32, bits: u32) -> usize {
    (hash << shared_bits >> (64 - bits)) as usize
}
