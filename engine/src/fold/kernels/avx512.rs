//! Kernels for AVX-512: masked loads, and both slots of a home compared at once.
//! One of the listed files with `unsafe`: vector instructions.

use std::arch::x86_64::*;

use super::avx2::{hash, seed, store};
use super::{Extent, plain, walk};
use crate::fold::hash::Hasher;
use crate::fold::key::Key;
use crate::fold::slot::{SHORT_BYTES, Slots};
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
    let seed = seed(hasher);
    walk::hash_short(keys, spans, hasher, slots, |key, [offset, len]| {
        let mask = _bzhi_u32(0xffff, len.min(SHORT_BYTES as u32)) as __mmask16;
        // SAFETY: the span is within the data, and the load reads only its bytes.
        let bytes = unsafe { _mm_maskz_loadu_epi8(mask, data.as_ptr().wrapping_add(offset as usize).cast()) };
        store(key, bytes);
        hash(bytes, seed, len)
    });
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
    // SAFETY: the caller vouches for the homes; a Slot and a Key have 32 bytes.
    unsafe {
        walk::at_home(slots, keys, found, others, |key, pair| {
            let key = _mm512_broadcast_i64x4(_mm256_load_si256(std::ptr::from_ref(key).cast()));
            let pair = _mm512_loadu_si512(pair.as_ptr().cast());
            let differ = u32::from(_mm512_mask_cmpneq_epi64_mask(0b0111_0111, pair, key));
            [differ & 0b1111 == 0, differ >> 4 == 0]
        })
    }
}
