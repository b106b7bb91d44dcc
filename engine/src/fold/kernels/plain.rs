//! Kernels without vector instructions.
//! One of the listed files with `unsafe`: it indexes slots without checks.

use super::Extent;
use crate::bytes::prefetch::prefetch;
use crate::fold::hash::Hasher;
use crate::fold::key::Key;
use crate::fold::slot::{Slot, Slots, load_key};
use crate::operator::folder::FOLD_BATCH;

/// `kernels::extent`.
#[inline(always)]
pub(super) fn extent(spans: &[[u32; 2]]) -> Extent {
    let (mut end, mut len_max) = (0, 0);
    for &[offset, len] in spans {
        end = end.max(u64::from(offset) + u64::from(len));
        len_max = len_max.max(len);
    }
    Extent { end, len_max }
}

/// `kernels::hash_short`.
#[inline]
pub(super) fn hash_short(
    keys: &mut [Key; FOLD_BATCH],
    spans: &[[u32; 2]],
    data: &[u8],
    hasher: &Hasher,
    slots: &Slots,
) {
    let homes = slots.as_slice().as_ptr();
    for (key, &[offset, len]) in keys.iter_mut().zip(spans) {
        let (k0, k1) = load_key(data, offset as usize, len as usize);
        let meta = Slot::meta_of(hasher.order(hasher.short_by_multiplying(k0, k1, len)), len);
        let home = slots.home(meta);
        prefetch(homes.wrapping_add(home));
        *key = Key { k0, k1, meta, home: home as u64 };
    }
}

/// `kernels::short_at_home`, or with LONG `kernels::any_at_home`.
///
/// # Safety
/// The keys were hashed for these slots.
#[inline(always)]
pub(super) unsafe fn at_home<const LONG: bool>(
    slots: &Slots,
    keys: &[Key],
    found: &mut [u32; FOLD_BATCH],
    others: &mut [u8; FOLD_BATCH],
) -> usize {
    let mut n_others = 0;
    let all = slots.as_slice();
    for (i, (key, found)) in keys.iter().zip(found).enumerate() {
        let home = key.home as usize;
        debug_assert!(home == slots.home(key.meta));
        // SAFETY: a home is even and less than the capacity, which is even too.
        let (a, b) = unsafe { (all.get_unchecked(home), all.get_unchecked(home + 1)) };
        let k1_counts = if LONG && key.is_long() { 0 } else { u64::MAX };
        let in_a = same(a, key, k1_counts);
        let in_b = same(b, key, k1_counts);
        *found = home as u32 + u32::from(in_b);
        // At most i others so far; the remainder avoids a bounds check.
        others[n_others % FOLD_BATCH] = i as u8;
        n_others += usize::from(!(in_a | in_b));
    }
    n_others
}

#[inline(always)]
fn same(slot: &Slot, key: &Key, k1_counts: u64) -> bool {
    ((slot.k0 ^ key.k0) | ((slot.k1 ^ key.k1) & k1_counts) | (slot.meta ^ key.meta)) == 0
}
