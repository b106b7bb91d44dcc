//! Kernels for AVX2: 32 bytes at a time.
//! One of the listed files with `unsafe`: vector instructions.

use std::arch::x86_64::*;

use super::SET_MAX;
use super::nibble_table::NibbleTable;
use super::walk;

/// `masks::mask_any`.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn mask_any(bytes: &[u8], set: &[u8], bits: &mut [u64]) {
    match NibbleTable::of(set) {
        Some(table) => walk::mask_any(bytes, bits, looked_up(table)),
        None => walk::mask_any(bytes, bits, compared(set)),
    }
}

/// `masks::edges`.
///
/// # Safety
/// `to` has room for `bytes.len() + EDGES_SLACK` numbers.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) unsafe fn edges(bytes: &[u8], set: &[u8], base: u32, before: &mut bool, to: &mut [u32]) -> usize {
    // SAFETY: `walk::edges` has room for all positions of a mask and eight more.
    let put =
        |edge, base, to| walk::put_by_bytes(edge, base, to, |eight, base, to| unsafe { put_eight(eight, base, to) });
    // SAFETY: the caller grants the room.
    unsafe {
        match NibbleTable::of(set) {
            Some(table) => walk::edges(bytes, base, before, to, looked_up(table), put),
            None => walk::edges(bytes, base, before, to, compared(set), put),
        }
    }
}

/// `masks::line_ends`.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn line_ends(bytes: &[u8]) -> u64 {
    let (lf, cr) = (_mm256_set1_epi8(b'\n' as i8), _mm256_set1_epi8(b'\r' as i8));
    walk::line_ends(bytes, |chunk| {
        let halves = halves(chunk);
        let equal = |wanted| bits_of(halves.map(|half| _mm256_cmpeq_epi8(half, wanted)));
        (equal(lf), equal(cr))
    })
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(chunk: &[u8; 64]) -> [__m256i; 2] {
    // SAFETY: unaligned loads of the two halves of 64 bytes.
    unsafe { [_mm256_loadu_si256(chunk.as_ptr().cast()), _mm256_loadu_si256(chunk.as_ptr().add(32).cast())] }
}

#[inline]
#[target_feature(enable = "avx2")]
fn bits_of([low, high]: [__m256i; 2]) -> u64 {
    u64::from(_mm256_movemask_epi8(low) as u32) | u64::from(_mm256_movemask_epi8(high) as u32) << 32
}

/// Returns the mask of a chunk by one shuffle for 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn looked_up(table: NibbleTable) -> impl Fn(&[u8; 64]) -> u64 {
    // SAFETY: the table has 16 bytes.
    let table = _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.0.as_ptr().cast()) });
    // A byte from 128 on is looked up as 0, so it never matches.
    move |chunk| bits_of(halves(chunk).map(|half| _mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, half), half)))
}

/// Returns the mask of a chunk by one comparison for each byte of the set.
#[inline]
#[target_feature(enable = "avx2")]
fn compared(set: &[u8]) -> impl Fn(&[u8; 64]) -> u64 {
    let mut wanted = [_mm256_setzero_si256(); SET_MAX];
    for (w, &s) in wanted.iter_mut().zip(set) {
        *w = _mm256_set1_epi8(s as i8);
    }
    let n = set.len();
    move |chunk| {
        bits_of(halves(chunk).map(|half| {
            let equal = |any, w: &_| _mm256_or_si256(any, _mm256_cmpeq_epi8(half, *w));
            wanted[..n].iter().fold(_mm256_setzero_si256(), equal)
        }))
    }
}

/// Writes eight positions, each plus `base`.
///
/// # Safety
/// `to` has room for eight numbers.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn put_eight(positions: &[u8; 8], base: u32, to: *mut u32) {
    // SAFETY: a load of eight bytes, and stores for which the caller grants the room.
    unsafe {
        let wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(positions.as_ptr().cast()));
        _mm256_storeu_si256(to.cast(), _mm256_add_epi32(wide, _mm256_set1_epi32(base as i32)));
    }
}
