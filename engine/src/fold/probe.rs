//! From a batch of hashed keys to their slots, and the fold over their states.
//! One of the listed files with `unsafe`: it indexes slots without checks.
//!
//! The fold has three loops over at most 64 records, each short enough for the CPU to overlap its iterations:
//! 1. Compare both slots of the key's home, without a branch; nearly all records match there. For long keys, compare
//!    the hash, then the keys themselves once they are prefetched.
//! 2. Probe the other records one by one along the slots; insert at the first empty one.
//! 3. Fold each value into its state, in the order of the records.

use super::arena::Arena;
use super::batch::{Batch, Values, slice};
use super::kernels;
use super::key::Key;
use super::slot::{SHORT_BYTES, Slot, Slots};
use crate::bytes::prefetch::prefetch;
use crate::bytes::simd::Level;
use crate::operator::folder::{FOLD_BATCH, FoldValues, Folder, KnownFold};
use yunti_base::Result;

/// Bits of `order` that number the ranges in which a table counts its keys. A merge is planned by these counts.
pub(super) const RANGE_BITS: u32 = 10;

/// The parts of a table that records change.
pub(super) struct Store {
    /// Keys and states.
    pub slots: Slots,
    /// Keys of more than 16 bytes.
    pub keys: Arena,
    /// States of more than 8 bytes.
    pub states: Arena,
    /// Bytes of a state in `states`; 0: states are in the slots.
    pub wide_bytes: usize,
    /// State of a new key: the fold's identity.
    pub first: u64,
    /// Set in tables that number keys: a key's state is the number of keys before it.
    pub numbering: bool,
    /// Number of keys.
    pub used: usize,
    /// Instruction set of the kernels.
    pub level: Level,
    /// Number of keys in each range of `order`.
    pub counts: Box<[u32; 1 << RANGE_BITS]>,
}

/// Returns the identity of a fold: merging it with a state leaves the state unchanged.
pub(super) fn identity(known: KnownFold) -> u64 {
    match known {
        KnownFold::Count | KnownFold::SumI64 => 0,
        KnownFold::MinI64 => i64::MAX as u64,
        KnownFold::MaxI64 => i64::MIN as u64,
        // -0.0 + x is x, also for -0.0; 0.0 is not.
        KnownFold::SumF64 => (-0.0f64).to_bits(),
    }
}

impl Store {
    /// Folds the first `n` records of a batch. There must be room for `n` new keys.
    #[inline(never)]
    pub fn fold_known(&mut self, known: KnownFold, batch: &Batch, n: usize, data: &[u8]) {
        let at = self.find_all(batch, n, data, |_| ());
        match known {
            KnownFold::Count => self.apply(&at[..n], batch, |state, _| state.wrapping_add(1)),
            KnownFold::SumI64 => self.apply(&at[..n], batch, |state, v| KnownFold::SumI64.merge(state, v)),
            KnownFold::MinI64 => self.apply(&at[..n], batch, |state, v| KnownFold::MinI64.merge(state, v)),
            KnownFold::MaxI64 => self.apply(&at[..n], batch, |state, v| KnownFold::MaxI64.merge(state, v)),
            KnownFold::SumF64 => self.apply(&at[..n], batch, |state, v| KnownFold::SumF64.merge(state, v)),
        }
    }

    #[inline(always)]
    fn apply(&mut self, at: &[u32], batch: &Batch, fold: impl Fn(u64, u64) -> u64) {
        let slots = self.slots.as_mut_slice();
        for (&at, &value) in at.iter().zip(&batch.numbers) {
            // SAFETY: `find_all` returns numbers of slots.
            let state = unsafe { &mut slots.get_unchecked_mut(at as usize).state };
            *state = fold(*state, value);
        }
    }

    /// Merges the first `n` records of a batch, whose values are states. There must be room for `n` new keys.
    #[inline(never)]
    pub fn merge_known(&mut self, known: KnownFold, batch: &Batch, n: usize, data: &[u8]) {
        let at = self.find_all(batch, n, data, |_| ());
        let slots = self.slots.as_mut_slice();
        for (&at, &span) in at.iter().zip(&batch.value_spans[..n]) {
            let state = slice(data, span).try_into().map_or(0, u64::from_le_bytes);
            let there = &mut slots[at as usize].state;
            *there = known.merge(*there, state);
        }
    }

    /// `merge_known` for a user's folder.
    #[inline(never)]
    pub fn merge_user(&mut self, folder: &mut dyn Folder, batch: &Batch, n: usize, data: &[u8]) -> Result<()> {
        let mut is_new = 0u64;
        let mut fresh = [0u32; FOLD_BATCH];
        let mut n_fresh = 0;
        let at = self.find_all(batch, n, data, |at| {
            fresh[n_fresh] = at;
            n_fresh += 1;
        });
        for (i, at) in at[..n].iter().enumerate() {
            is_new |= u64::from(fresh[..n_fresh].contains(at)) << i;
        }
        let mut states = [std::ptr::null_mut::<u8>(); FOLD_BATCH];
        self.pointers(&at[..n], &mut states);
        let (mut into, mut from) = ([std::ptr::null_mut(); FOLD_BATCH], [std::ptr::null(); FOLD_BATCH]);
        let mut n_old = 0;
        for (i, &state) in states[..n].iter().enumerate() {
            let spilled = slice(data, batch.value_spans[i]);
            if is_new >> i & 1 == 1 {
                // SAFETY: `state` points to the state of this slot, which has room for a state. The caller checked the
                // length of the spilled state.
                unsafe { std::ptr::copy_nonoverlapping(spilled.as_ptr(), state, spilled.len()) };
            } else {
                (into[n_old], from[n_old]) = (state, spilled.as_ptr());
                n_old += 1;
            }
        }
        if n_old == 0 { Ok(()) } else { folder.merge(&into[..n_old], &from[..n_old]) }
    }

    /// Returns the key numbers of the first `n` records, in a table that numbers keys.
    #[inline(never)]
    pub fn numbers(&mut self, batch: &Batch, n: usize, data: &[u8]) -> [u32; FOLD_BATCH] {
        debug_assert!(self.numbering);
        let mut at = self.find_all(batch, n, data, |_| ());
        let slots = self.slots.as_slice();
        for at in &mut at[..n] {
            // SAFETY: `find_all` returns numbers of slots.
            *at = unsafe { slots.get_unchecked(*at as usize) }.state as u32;
        }
        at
    }

    /// `fold_known` for a user's folder.
    #[inline(never)]
    pub fn fold_user(
        &mut self,
        folder: &mut dyn Folder,
        eight: bool,
        batch: &Batch,
        n: usize,
        data: &[u8],
    ) -> Result<()> {
        let mut fresh = [0u32; FOLD_BATCH];
        let mut n_fresh = 0;
        let at = self.find_all(batch, n, data, |at| {
            fresh[n_fresh] = at;
            n_fresh += 1;
        });
        let mut states = [std::ptr::null_mut::<u8>(); FOLD_BATCH];
        if n_fresh > 0 {
            self.pointers(&fresh[..n_fresh], &mut states);
            folder.init(&states[..n_fresh])?;
        }
        self.pointers(&at[..n], &mut states);
        if batch.values == Values::Spans {
            let mut values = [&data[..0]; FOLD_BATCH];
            for (value, &span) in values.iter_mut().zip(&batch.value_spans[..n]) {
                *value = slice(data, span);
            }
            folder.fold(&states[..n], FoldValues::Slices(&values[..n]))
        } else if eight {
            folder.fold(&states[..n], FoldValues::Eight(&batch.numbers[..n]))
        } else {
            let bytes = batch.numbers.map(u64::to_le_bytes);
            let values: [&[u8]; FOLD_BATCH] = std::array::from_fn(|i| &bytes[i][..]);
            folder.fold(&states[..n], FoldValues::Slices(&values[..n]))
        }
    }

    /// Sets pointers to the states of slots; valid until the next slot is touched through `self`.
    fn pointers(&mut self, at: &[u32], states: &mut [*mut u8; FOLD_BATCH]) {
        let slots = self.slots.as_mut_slice();
        for (pointer, &at) in states.iter_mut().zip(at) {
            let state = &raw mut slots[at as usize].state;
            *pointer = if self.wide_bytes > 0 { self.states.ptr(slots[at as usize].state) } else { state.cast() };
        }
    }

    /// Returns the slots of the first `n` keys; new keys are inserted, and `inserted` gets their slots.
    #[inline(always)]
    fn find_all(&mut self, batch: &Batch, n: usize, data: &[u8], mut inserted: impl FnMut(u32)) -> [u32; FOLD_BATCH] {
        let mut found = [0u32; FOLD_BATCH];
        let mut others = [0u8; FOLD_BATCH];
        let n_others = if batch.n_long == 0 {
            // SAFETY: `settle` moved the batch to these slots.
            unsafe { kernels::short_at_home(self.level, &self.slots, &batch.keys[..n], &mut found, &mut others) }
        } else {
            let mut likely = [0u8; FOLD_BATCH];
            // SAFETY: as above.
            let n_likely = unsafe { kernels::any_at_home(&self.slots, &batch.keys[..n], &mut found, &mut likely) };
            self.check_long(batch, n, data, &found, &likely[..n_likely], &mut others)
        };
        let others = &others[..n_others];
        for &i in others {
            let home = batch.keys[usize::from(i)].home as usize;
            prefetch(self.slots.as_slice().as_ptr().wrapping_add(home + 2));
        }
        for &i in others {
            let i = usize::from(i);
            let (at, is_new) = self.find_or_insert(&batch.keys[i], batch.spans[i], data);
            found[i] = at as u32;
            if is_new {
                inserted(at as u32);
            }
        }
        found
    }

    /// Adds long keys whose hash matched but whose bytes differ to the list of the others, in the order of the records.
    fn check_long(
        &self,
        batch: &Batch,
        n: usize,
        data: &[u8],
        found: &[u32; FOLD_BATCH],
        not_home: &[u8],
        others: &mut [u8; FOLD_BATCH],
    ) -> usize {
        let slots = self.slots.as_slice();
        let not_home = not_home.iter().fold(0u64, |set, i| set | 1 << i);
        let long = batch.long[..batch.n_long].iter().filter(|&&i| usize::from(i) < n && not_home >> i & 1 == 0);
        for &i in long.clone() {
            prefetch(self.keys.ptr(slots[found[usize::from(i)] as usize].k1));
        }
        let mut set = not_home;
        for &i in long {
            let slot = &slots[found[usize::from(i)] as usize];
            let same = same_long(self.keys.bytes(slot.k1, slot.len()), slice(data, batch.spans[usize::from(i)]));
            set |= u64::from(!same) << i;
        }
        let mut n_others = 0;
        while set != 0 {
            others[n_others] = set.trailing_zeros() as u8;
            n_others += 1;
            set &= set - 1;
        }
        n_others
    }

    /// Returns the slot of a key, if it has one.
    pub fn find(&self, key: &Key, span: [u32; 2], data: &[u8]) -> Option<usize> {
        let at = self.seek(key, span, data);
        (!self.slots.as_slice()[at].is_empty()).then_some(at)
    }

    /// Returns the slot of a key, or the empty slot where it belongs.
    #[inline]
    fn seek(&self, key: &Key, span: [u32; 2], data: &[u8]) -> usize {
        let slots = self.slots.as_slice();
        let mask = slots.len() - 1;
        let mut at = self.slots.home(key.meta);
        loop {
            let slot = &slots[at];
            if slot.is_empty() {
                return at;
            }
            if slot.meta == key.meta && slot.k0 == key.k0 {
                let same = if slot.is_long() {
                    same_long(self.keys.bytes(slot.k1, slot.len()), slice(data, span))
                } else {
                    slot.k1 == key.k1
                };
                if same {
                    return at;
                }
            }
            at = (at + 1) & mask;
        }
    }

    #[inline]
    fn find_or_insert(&mut self, key: &Key, span: [u32; 2], data: &[u8]) -> (usize, bool) {
        let at = self.seek(key, span, data);
        if !self.slots.as_slice()[at].is_empty() {
            return (at, false);
        }
        let state = if self.numbering { self.used as u64 } else { self.first };
        let mut slot = Slot { k0: key.k0, k1: key.k1, meta: key.meta, state };
        if slot.is_long() {
            slot.k1 = self.keys.append(slice(data, span));
        }
        if self.wide_bytes > 0 {
            slot.state = self.states.take(self.wide_bytes);
        }
        self.slots.as_mut_slice()[at] = slot;
        self.used += 1;
        self.counts[(slot.order() >> (32 - RANGE_BITS)) as usize] += 1;
        (at, true)
    }

    /// Returns the key in a slot that is not empty.
    #[inline]
    pub fn key_of<'s>(&'s self, slot: &'s Slot) -> &'s [u8] {
        if slot.is_long() { self.keys.bytes(slot.k1, slot.len()) } else { slot.short_key() }
    }

    /// Returns the state in a slot that is not empty.
    #[inline]
    pub fn state_of(&self, slot: &Slot) -> *const u8 {
        if self.wide_bytes > 0 { self.states.ptr(slot.state) } else { (&raw const slot.state).cast() }
    }
}

/// Compares keys of more than 16 bytes; up to 32 bytes without a call.
#[inline(always)]
fn same_long(a: &[u8], b: &[u8]) -> bool {
    let len = a.len();
    if len != b.len() || len < SHORT_BYTES {
        return false;
    }
    let ends = a[..16] == b[..16] && a[len - 16..] == b[len - 16..];
    ends && (len <= 32 || a == b)
}
