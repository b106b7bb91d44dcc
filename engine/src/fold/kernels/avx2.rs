//! Kernels for AVX2 with AES: keys are loaded whole and cut by a table of masks.
//! One of the listed files with `unsafe`: vector instructions.

use std::arch::x86_64::*;

use super::{Extent, plain, walk};
use crate::fold::hash::Hasher;
use crate::fold::key::Key;
use crate::fold::slot::{SHORT_BYTES, Slots, load_key};
use crate::operator::folder::FOLD_BATCH;

/// `kernels::extent`, four spans at a time.
#[target_feature(enable = "avx2")]
pub(super) fn extent(spans: &[[u32; 2]]) -> Extent {
    let (fours, rest) = spans.as_chunks::<4>();
    let (mut ends, mut most, mut sums) = (_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256());
    for four in fours {
        // SAFETY: an unaligned load of four spans, 32 bytes.
        let span = unsafe { _mm256_loadu_si256(four.as_ptr().cast()) };
        // Each half of a span plus the other half. A sum that overflows becomes u32::MAX, since at most the distance
        // to u32::MAX is added.
        let other = _mm256_shuffle_epi32::<0b10_11_00_01>(span);
        let missing = _mm256_xor_si256(span, _mm256_set1_epi32(-1));
        ends = _mm256_max_epu32(ends, _mm256_add_epi32(span, _mm256_min_epu32(other, missing)));
        most = _mm256_max_epu32(most, span);
        sums = _mm256_add_epi32(sums, span);
    }
    let (mut end, mut maxima, mut all) = ([0u32; 8], [0u32; 8], [0u32; 8]);
    // SAFETY: unaligned stores into arrays of 32 bytes.
    unsafe {
        _mm256_storeu_si256(end.as_mut_ptr().cast(), ends);
        _mm256_storeu_si256(maxima.as_mut_ptr().cast(), most);
        _mm256_storeu_si256(all.as_mut_ptr().cast(), sums);
    }
    let end = end.into_iter().max().unwrap_or(0);
    if end == u32::MAX {
        return plain::extent(spans);
    }
    let last = plain::extent(rest);
    // Lengths are in the odd halves.
    let len_max = maxima.into_iter().skip(1).step_by(2).fold(last.len_max, u32::max);
    let len_sum = all.into_iter().skip(1).step_by(2).fold(last.len_sum, u32::wrapping_add);
    Extent { end: last.end.max(u64::from(end)), len_max, len_sum }
}

/// 16 bytes of ones, then 16 zeros: the 16 bytes before place 16 - n keep the first n bytes of a key.
static KEEP: [u8; 32] = {
    let mut keep = [0; 32];
    let mut i = 0;
    while i < 16 {
        keep[i] = 255;
        i += 1;
    }
    keep
};

/// `kernels::hash_short`.
///
/// # Safety
/// The spans are within the data.
#[target_feature(enable = "avx2,aes,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn hash_short(
    keys: &mut [Key; FOLD_BATCH],
    spans: &[[u32; 2]],
    data: &[u8],
    hasher: &Hasher,
    slots: &Slots,
) {
    let seed = seed(hasher);
    walk::hash_short(keys, spans, hasher, slots, |key, [offset, len]| {
        let offset = offset as usize;
        let bytes = if offset + SHORT_BYTES <= data.len() {
            let kept = (len as usize).min(SHORT_BYTES);
            // SAFETY: 16 bytes of the data, and 16 of the 32 bytes of KEEP.
            unsafe {
                let whole = _mm_loadu_si128(data.as_ptr().add(offset).cast());
                _mm_and_si128(whole, _mm_loadu_si128(KEEP.as_ptr().add(SHORT_BYTES - kept).cast()))
            }
        } else {
            let (k0, k1) = load_key(data, offset, len as usize);
            _mm_set_epi64x(k1 as i64, k0 as i64)
        };
        store(key, bytes);
        hash(bytes, seed, len)
    });
}

/// Sets the two words of a key.
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn store(key: &mut Key, bytes: __m128i) {
    // SAFETY: the first 16 bytes of a Key are its two words.
    unsafe { _mm_store_si128(std::ptr::from_mut(key).cast(), bytes) };
}

#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn seed(hasher: &Hasher) -> __m128i {
    let [low, high] = hasher.seeds();
    _mm_set_epi64x(high as i64, low as i64)
}

/// Hashes a key, padded with zeros, by three rounds of AES: every bit of the result depends on every bit of the key,
/// for a quarter of the instructions of `Hasher::short_by_multiplying`. The length is in the first round's key:
/// zeros at the end of a key count.
#[inline]
#[target_feature(enable = "aes")]
pub(super) fn hash(key: __m128i, seed: __m128i, len: u32) -> u64 {
    let once = _mm_aesenc_si128(key, _mm_xor_si128(seed, _mm_cvtsi32_si128(len as i32)));
    _mm_cvtsi128_si64(_mm_aesenc_si128(_mm_aesenc_si128(once, seed), seed)) as u64
}

/// `kernels::short_at_home`: the three numbers of a key are compared at once with those of each slot.
///
/// # Safety
/// The keys were hashed for these slots.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn short_at_home(
    slots: &Slots,
    keys: &[Key],
    found: &mut [u32; FOLD_BATCH],
    others: &mut [u8; FOLD_BATCH],
) -> usize {
    // SAFETY: the caller vouches for the homes.
    unsafe {
        walk::at_home(slots, keys, found, others, |key, pair| {
            let key = _mm256_load_si256(std::ptr::from_ref(key).cast());
            [0, 1].map(|i| {
                let slot = _mm256_load_si256(std::ptr::from_ref(&pair[i]).cast());
                // Without the fourth number, the state.
                _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(slot, key))) & 0b0111 == 0b0111
            })
        })
    }
}
