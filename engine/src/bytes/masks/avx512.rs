//! Kernels for AVX-512: 64 bytes at a time.
//! One of the listed files with `unsafe`: vector instructions.

use std::arch::x86_64::*;

use super::SET_MAX;
use super::nibble_table::NibbleTable;
use super::walk;

/// `masks::mask_any`.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn mask_any(bytes: &[u8], set: &[u8], bits: &mut [u64]) {
    walk::mask_any(bytes, bits, compared(set));
}

/// `masks::edges`.
///
/// # Safety
/// `to` has room for `bytes.len() + EDGES_SLACK` numbers.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt,bmi2")]
pub(super) unsafe fn edges(bytes: &[u8], set: &[u8], base: u32, before: &mut bool, to: &mut [u32]) -> usize {
    // SAFETY: `walk::edges` has room for 64 more numbers.
    let put = |edge, base, to| unsafe { put_all(edge, base, to) };
    // SAFETY: the caller grants the room.
    unsafe {
        match NibbleTable::of(set) {
            Some(table) => walk::edges(bytes, base, before, to, looked_up(table), put),
            None => walk::edges(bytes, base, before, to, compared(set), put),
        }
    }
}

/// `masks::line_ends`.
#[target_feature(enable = "avx512f,avx512bw,popcnt,bmi2")]
pub(super) fn line_ends(bytes: &[u8]) -> u64 {
    let (lf, cr) = (_mm512_set1_epi8(b'\n' as i8), _mm512_set1_epi8(b'\r' as i8));
    walk::line_ends(bytes, |chunk| {
        let v = load(chunk);
        (_mm512_cmpeq_epi8_mask(v, lf), _mm512_cmpeq_epi8_mask(v, cr))
    })
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(chunk: &[u8; 64]) -> __m512i {
    // SAFETY: an unaligned load of 64 bytes.
    unsafe { _mm512_loadu_si512(chunk.as_ptr().cast()) }
}

/// Returns the mask of a chunk by one shuffle.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn looked_up(table: NibbleTable) -> impl Fn(&[u8; 64]) -> u64 {
    // SAFETY: the table has 16 bytes.
    let table = _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(table.0.as_ptr().cast()) });
    move |chunk| {
        let v = load(chunk);
        // A byte from 128 on is looked up as 0, so it never matches.
        _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(table, v), v)
    }
}

/// Returns the mask of a chunk by one comparison for each byte of the set.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn compared(set: &[u8]) -> impl Fn(&[u8; 64]) -> u64 {
    let mut wanted = [_mm512_setzero_si512(); SET_MAX];
    for (w, &s) in wanted.iter_mut().zip(set) {
        *w = _mm512_set1_epi8(s as i8);
    }
    let n = set.len();
    move |chunk| {
        let v = load(chunk);
        wanted[..n].iter().fold(0, |mask, w| mask | _mm512_cmpeq_epi8_mask(v, *w))
    }
}

/// The numbers 0 to 63.
const IOTA: [u8; 64] = {
    let mut iota = [0; 64];
    let mut i = 0;
    while i < 64 {
        iota[i] = i as u8;
        i += 1;
    }
    iota
};

/// Compresses the numbers 0 to 63 by the mask: no branch depends on where the edges are.
///
/// # Safety
/// `to` has room for 64 numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
unsafe fn put_all(edge: u64, base: u32, to: *mut u32) -> usize {
    let at = _mm512_set1_epi32(base as i32);
    let count = edge.count_ones() as usize;
    // SAFETY: IOTA has 64 bytes; the caller grants room for 64 numbers.
    unsafe {
        let packed = _mm512_maskz_compress_epi8(edge, _mm512_loadu_si512(IOTA.as_ptr().cast()));
        let first = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(packed));
        let second = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<1>(packed));
        _mm512_storeu_si512(to.cast(), _mm512_add_epi32(at, first));
        _mm512_storeu_si512(to.add(16).cast(), _mm512_add_epi32(at, second));
        if count > 32 {
            let third = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<2>(packed));
            let fourth = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<3>(packed));
            _mm512_storeu_si512(to.add(32).cast(), _mm512_add_epi32(at, third));
            _mm512_storeu_si512(to.add(48).cast(), _mm512_add_epi32(at, fourth));
        }
    }
    count
}
