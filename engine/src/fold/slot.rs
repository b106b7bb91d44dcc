//! Slots: the open-addressed array of keys and states.
//! One of the listed files with `unsafe`: it sees a buffer's bytes as slots.
//!
//! ```text
//!   bytes 0..16                         16..20    20..24    24..32
//!   | key, padded with zeros           | length | order   | state, or its place in the states' arena |
//!   | hash (8) | place of the key (8)  | > 16   | order   | the same                                 |
//!                                                  0: the slot is empty
//!   line 0              line 1
//!   | slot 0 | slot 1 | slot 2 | slot 3 | ..   a key's home is a line of two slots: the leading bits of its order
//! ```
//!
//! A key is at its home or in the next free slot behind it; the last slot is followed by the first. Keys are never
//! removed one by one, so no slot between a key's home and its slot is empty.

use std::sync::Arc;

use super::arena::mapped_bytes;
use crate::memory::{Budget, Buffer};
use yunti_base::Result;

/// Bytes of a key that is stored in the slot, at most.
pub(super) const SHORT_BYTES: usize = 16;
pub(super) const SLOT_BYTES: usize = size_of::<Slot>();

#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Slot {
    /// First eight bytes of a short key, little-endian; the hash of a long key.
    pub k0: u64,
    /// Next eight bytes of a short key; the place of a long key.
    pub k1: u64,
    /// Length of the key, order << 32.
    pub meta: u64,
    /// State of up to 8 bytes, or the place of a wide state.
    pub state: u64,
}

impl Slot {
    #[inline(always)]
    /// Returns the meta of a key.
    pub fn meta_of(order: u32, len: u32) -> u64 {
        u64::from(order) << 32 | u64::from(len)
    }
    #[inline(always)]
    /// Returns true if the slot has no key.
    pub fn is_empty(&self) -> bool {
        self.meta == 0
    }
    #[inline(always)]
    /// Returns the order of the key's hash.
    pub fn order(&self) -> u32 {
        (self.meta >> 32) as u32
    }
    #[inline(always)]
    /// Returns the length of the key in bytes.
    pub fn len(&self) -> usize {
        self.meta as u32 as usize
    }
    #[inline(always)]
    /// Returns true for keys of more than 16 bytes.
    pub fn is_long(&self) -> bool {
        self.len() > SHORT_BYTES
    }

    /// Returns the key of a slot that is not long.
    #[inline(always)]
    pub fn short_key(&self) -> &[u8] {
        debug_assert!(!self.is_long());
        // SAFETY: k0 and k1 are 16 initialised bytes one behind the other (repr(C)), and len() is at most 16 here.
        unsafe { std::slice::from_raw_parts((&raw const *self).cast(), self.len().min(SHORT_BYTES)) }
    }
}

// Keys are compared and handed out as the bytes of integers.
const _: () = assert!(cfg!(target_endian = "little") && SLOT_BYTES == 32);

pub(super) struct Slots {
    buffer: Buffer,
    log2: u32,
}

/// Returns the bytes that an array of 1 << log2 slots takes from the budget.
pub(super) fn bytes_of(log2: u32) -> u64 {
    mapped_bytes(SLOT_BYTES << log2) as u64
}

impl Slots {
    /// Returns 1 << log2 empty slots, or None if the budget has too little.
    pub fn try_new(log2: u32, budget: &Arc<Budget>) -> Result<Option<Slots>> {
        debug_assert!((1..=32).contains(&log2));
        let Some(grant) = budget.try_grant(bytes_of(log2)) else { return Ok(None) };
        Ok(Some(Slots { buffer: Buffer::new(SLOT_BYTES << log2, Some(grant))?, log2 }))
    }

    #[inline(always)]
    /// Returns log2 of the number of slots.
    pub fn log2(&self) -> u32 {
        self.log2
    }
    #[inline(always)]
    /// Returns the number of slots.
    pub fn capacity(&self) -> usize {
        1 << self.log2
    }

    /// Returns the first slot of the home of a key with this meta.
    #[inline(always)]
    pub fn home(&self, meta: u64) -> usize {
        // log2 is at least 1: the shift is at most 63.
        (meta >> (64 - self.log2)) as usize & !1
    }

    #[inline(always)]
    /// Returns all slots.
    pub fn as_slice(&self) -> &[Slot] {
        // SAFETY: the buffer is page-aligned and has exactly capacity() slots of plain integers; all bytes are valid
        // for them.
        unsafe { std::slice::from_raw_parts(self.buffer.as_ptr().cast(), self.capacity()) }
    }

    #[inline(always)]
    /// Returns all slots, for writing.
    pub fn as_mut_slice(&mut self) -> &mut [Slot] {
        let capacity = self.capacity();
        // SAFETY: as in `as_slice`; self is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.as_mut_ptr().cast(), capacity) }
    }

    /// Empties all slots.
    pub fn clear(&mut self) {
        self.buffer.fill(0);
    }

    /// Puts a slot with a new key into its position and returns it. At least one slot must be empty.
    #[inline(always)]
    pub fn put_new(&mut self, slot: &Slot) -> usize {
        let mut at = self.home(slot.meta);
        let mask = self.capacity() - 1;
        let slots = self.as_mut_slice();
        while !slots[at].is_empty() {
            at = (at + 1) & mask;
        }
        slots[at] = *slot;
        at
    }

    /// Clears the array and sets its size to 1 << log2 slots, at most its original size.
    pub fn reuse(&mut self, log2: u32) {
        assert!(log2 >= 1 && SLOT_BYTES << log2 <= self.buffer.len());
        self.log2 = log2;
        self.buffer[..SLOT_BYTES << log2].fill(0);
    }

    /// Returns the slots of keys with `first <= order <= last`: a stretch that may wrap to the start of the array.
    pub fn of_range(&self, first: u32, last: u32) -> impl Iterator<Item = &Slot> {
        let slots = self.as_slice();
        let start = self.home(Slot::meta_of(first, 0));
        let end = self.home(Slot::meta_of(last, 0)) + 2;
        let (before, behind) = slots.split_at(end);
        // Keys of the last homes may be behind them, up to the first empty slot.
        let rest = behind.iter().chain(&before[..start]).take_while(|slot| !slot.is_empty());
        before[start..]
            .iter()
            .chain(rest)
            .filter(move |slot| (first..=last).contains(&slot.order()) && !slot.is_empty())
    }
}

static MASKS: [[u64; 2]; SHORT_BYTES + 1] = {
    let mut masks = [[0; 2]; SHORT_BYTES + 1];
    let mut len = 0;
    while len <= SHORT_BYTES {
        masks[len] = [ones(len), ones(len.saturating_sub(8))];
        len += 1;
    }
    masks
};

const fn ones(bytes: usize) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

/// Returns the key `data[offset..][..len]` of at most 16 bytes as two integers, padded with zeros; the first 16 bytes
/// of a longer key.
#[inline(always)]
pub(super) fn load_key(data: &[u8], offset: usize, len: usize) -> (u64, u64) {
    let [mask0, mask1] = MASKS[len.min(SHORT_BYTES)];
    match data.get(offset..).and_then(|rest| rest.first_chunk::<SHORT_BYTES>()) {
        Some(bytes) => {
            let both = u128::from_le_bytes(*bytes);
            (both as u64 & mask0, (both >> 64) as u64 & mask1)
        }
        None => load_key_near_end(&data[offset..][..len]),
    }
}

/// `load_key` with fewer than 16 bytes left in the data.
#[cold]
fn load_key_near_end(key: &[u8]) -> (u64, u64) {
    let mut padded = [0u8; SHORT_BYTES];
    padded[..key.len()].copy_from_slice(key);
    let both = u128::from_le_bytes(padded);
    (both as u64, (both >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_padded_with_zeros() {
        let bytes: Vec<u8> = (1..=40).collect();
        for len in 0..=SHORT_BYTES {
            let mut padded = [0; 16];
            padded[..len].copy_from_slice(&bytes[..len]);
            let expect = [&padded[..8], &padded[8..]].map(|w| u64::from_le_bytes(w.try_into().unwrap()));
            let words = load_key(&bytes, 0, len);
            assert_eq!([words.0, words.1], expect);
            assert_eq!(load_key(&bytes[..len], 0, len), words);
            let slot = Slot { k0: words.0, k1: words.1, meta: Slot::meta_of(1, len as u32), state: 0 };
            assert_eq!(slot.short_key(), &bytes[..len]);
        }
    }

    #[test]
    fn ranges_cut_the_array_without_loss() {
        let budget = Budget::new(1 << 20);
        for log2 in [1, 2, 3, 6] {
            let mut slots = Slots::try_new(log2, &budget).unwrap().unwrap();
            // Crowded at the end, so that keys wrap to the first slots.
            let n = (slots.capacity() - 1) as u32;
            let orders: Vec<u32> = (0..n).map(|i| if i % 3 == 0 { i * 2 + 1 } else { u32::MAX - 2 * i }).collect();
            for &order in &orders {
                slots.put_new(&Slot { k0: 0, k1: 0, meta: Slot::meta_of(order, 5), state: 0 });
            }
            let cuts = [0, 1, 5, 1 << 30, u32::MAX - 40, u32::MAX - 3, u32::MAX];
            let mut seen: Vec<u32> = Vec::new();
            for pair in cuts.windows(2) {
                seen.extend(slots.of_range(pair[0] + 1, pair[1]).map(Slot::order));
            }
            seen.sort_unstable();
            let mut orders = orders;
            orders.sort_unstable();
            assert_eq!(seen, orders, "log2 {log2}");
        }
    }
}
