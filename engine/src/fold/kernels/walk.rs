//! The loops over the records of a batch that all instruction sets share. A kernel passes in what it does with vectors;
//! all is inlined into the kernel and compiled for its instruction set.
//! One of the listed files with `unsafe`: it indexes slots without checks.

use crate::bytes::prefetch::prefetch;
use crate::fold::hash::Hasher;
use crate::fold::key::Key;
use crate::fold::slot::{Slot, Slots};
use crate::operator::folder::FOLD_BATCH;

/// `kernels::hash_short`. `load` sets the two words of a key from its span and returns their hash.
#[inline(always)]
pub(super) fn hash_short(
    keys: &mut [Key; FOLD_BATCH],
    spans: &[[u32; 2]],
    hasher: &Hasher,
    slots: &Slots,
    load: impl Fn(&mut Key, [u32; 2]) -> u64,
) {
    let homes = slots.as_slice().as_ptr();
    for (key, &span) in keys.iter_mut().zip(spans) {
        let meta = Slot::meta_of(hasher.order(load(key, span)), span[1]);
        let home = slots.home(meta);
        prefetch(homes.wrapping_add(home));
        key.meta = meta;
        key.home = home as u64;
    }
}

/// `kernels::short_at_home`. `matches` compares a key with the two slots of its home.
///
/// # Safety
/// The keys were hashed for these slots.
#[inline(always)]
pub(super) unsafe fn at_home(
    slots: &Slots,
    keys: &[Key],
    found: &mut [u32; FOLD_BATCH],
    others: &mut [u8; FOLD_BATCH],
    matches: impl Fn(&Key, &[Slot; 2]) -> [bool; 2],
) -> usize {
    let mut n_others = 0;
    let all = slots.as_slice();
    for (i, (key, found)) in keys.iter().zip(found).enumerate() {
        let home = key.home as usize;
        debug_assert!(home == slots.home(key.meta) && home + 1 < all.len());
        // SAFETY: a home is even and less than the capacity, which is even too.
        let [in_a, in_b] = matches(key, unsafe { &*all.as_ptr().add(home).cast() });
        *found = home as u32 + u32::from(in_b);
        // At most i others so far; the remainder avoids a bounds check.
        others[n_others % FOLD_BATCH] = i as u8;
        n_others += usize::from(!(in_a | in_b));
    }
    n_others
}
