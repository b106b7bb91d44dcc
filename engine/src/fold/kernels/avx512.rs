//! Kernels for AVX-512: masked loads, and both slots of a home compared at once.
//! One of the listed files with `unsafe`: vector instructions.

use std::arch::x86_64::*;

use super::avx2::{hash, seed};
use super::{Extent, plain};
use crate::bytes::prefetch::prefetch;
use crate::fold::hash::Hasher;
use crate::fold::key::Key;
use crate::fold::slot::{SHORT_BYTES, Slot, Slots};
use crate::operator::folder::FOLD_BATCH;

/// `kernels::extent`, compiled to vector instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn extent(spans: &[[u32; 2]]) -> Extent {
    plain::extent(spans)
}

/// `kernels::hash_short` with masked loads, which touch no byte behind a key.
///
/// # Safety
/// The spans are within the data.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,aes,bmi2")]
pub(super) unsafe fn hash_short(
    keys: &mut [Key; FOLD_BATCH],
    spans: &[[u32; 2]],
    data: &[u8],
    hasher: &Hasher,
    slots: &Slots,
) {
    let homes = slots.as_slice().as_ptr();
    let seed = seed(hasher);
    for (key, &[offset, len]) in keys.iter_mut().zip(spans) {
        let mask = _bzhi_u32(0xffff, len.min(SHORT_BYTES as u32)) as __mmask16;
        // SAFETY: the span is within the data, and the load reads only its bytes.
        let bytes = unsafe { _mm_maskz_loadu_epi8(mask, data.as_ptr().wrapping_add(offset as usize).cast()) };
        let meta = Slot::meta_of(hasher.order(hash(bytes, seed, len)), len);
        let home = slots.home(meta);
        prefetch(homes.wrapping_add(home));
        // SAFETY: the first 16 bytes of a Key are its two words.
        unsafe { _mm_store_si128(std::ptr::from_mut(key).cast(), bytes) };
        key.meta = meta;
        key.home = home as u64;
    }
}

/// `kernels::short_at_home`: the two slots of a home, one vector of eight numbers, against the key twice. The fourth
/// number of each (the state) is masked out.
///
/// # Safety
/// The keys were hashed for these slots.
#[target_feature(enable = "avx512f,avx512vl,avx2")]
pub(super) unsafe fn short_at_home(
    slots: &Slots,
    keys: &[Key],
    found: &mut [u32; FOLD_BATCH],
    others: &mut [u8; FOLD_BATCH],
) -> usize {
    let mut n_others = 0;
    let all = slots.as_slice();
    for (i, (key, found)) in keys.iter().zip(found).enumerate() {
        let home = key.home as usize;
        debug_assert!(home == slots.home(key.meta) && home + 1 < all.len());
        // SAFETY: a home is even and less than the capacity, which is even too; a Slot and a Key have 32 bytes.
        let differ = unsafe {
            let key = _mm512_broadcast_i64x4(_mm256_load_si256(std::ptr::from_ref(key).cast()));
            let pair = _mm512_loadu_si512(all.as_ptr().add(home).cast());
            u32::from(_mm512_mask_cmpneq_epi64_mask(0b0111_0111, pair, key))
        };
        let (in_a, in_b) = (differ & 0b1111 == 0, differ >> 4 == 0);
        *found = home as u32 + u32::from(in_b);
        others[n_others % FOLD_BATCH] = i as u8;
        n_others += usize::from(!(in_a | in_b));
    }
    n_others
}
