//! Kernels without vector instructions.
//! One of the listed files with `unsafe`: the calls of a loop that indexes slots without checks.

use super::{Extent, walk};
use crate::fold::hash::Hasher;
use crate::fold::key::Key;
use crate::fold::slot::{Slot, Slots, load_key};
use crate::operator::folder::FOLD_BATCH;

/// `kernels::extent`.
#[inline(always)]
pub(super) fn extent(spans: &[[u32; 2]]) -> Extent {
    let (mut end, mut len_max, mut len_sum) = (0, 0, 0u32);
    for &[offset, len] in spans {
        end = end.max(u64::from(offset) + u64::from(len));
        len_max = len_max.max(len);
        len_sum = len_sum.wrapping_add(len);
    }
    Extent { end, len_max, len_sum }
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
    walk::hash_short(keys, spans, hasher, slots, |key, [offset, len]| {
        (key.k0, key.k1) = load_key(data, offset as usize, len as usize);
        hasher.short_by_multiplying(key.k0, key.k1, len)
    });
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
    // SAFETY: the caller vouches for the homes.
    unsafe {
        walk::at_home(slots, keys, found, others, |key, pair| {
            let k1_counts = if LONG && key.is_long() { 0 } else { u64::MAX };
            [same(&pair[0], key, k1_counts), same(&pair[1], key, k1_counts)]
        })
    }
}

#[inline(always)]
fn same(slot: &Slot, key: &Key, k1_counts: u64) -> bool {
    ((slot.k0 ^ key.k0) | ((slot.k1 ^ key.k1) & k1_counts) | (slot.meta ^ key.meta)) == 0
}
