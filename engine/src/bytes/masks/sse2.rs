//! Kernels for SSE2, which every x86-64 CPU has: 16 bytes at a time.
//! One of the listed files with `unsafe`: vector instructions.

use std::arch::x86_64::*;

use super::SET_MAX;
use super::walk;

/// `masks::mask_any`.
#[target_feature(enable = "sse2")]
pub(super) fn mask_any(bytes: &[u8], set: &[u8], bits: &mut [u64]) {
    match set.len() {
        0 => walk::mask_any(bytes, bits, |_| 0),
        1 => walk::mask_any(bytes, bits, compared::<1>(set)),
        2 => walk::mask_any(bytes, bits, compared::<2>(set)),
        3..=5 => walk::mask_any(bytes, bits, compared::<5>(set)),
        _ => walk::mask_any(bytes, bits, compared::<SET_MAX>(set)),
    }
}

/// `masks::edges`.
///
/// # Safety
/// `to` has room for `bytes.len() + EDGES_SLACK` numbers.
#[target_feature(enable = "sse2")]
pub(super) unsafe fn edges(bytes: &[u8], set: &[u8], base: u32, before: &mut bool, to: &mut [u32]) -> usize {
    // SAFETY: `walk::edges` has room for all positions of a mask and eight more.
    let put =
        |edge, base, to| walk::put_by_bytes(edge, base, to, |eight, base, to| unsafe { put_eight(eight, base, to) });
    // SAFETY: the caller grants the room.
    unsafe {
        match set.len() {
            0 => walk::edges(bytes, base, before, to, |_| 0, put),
            1 => walk::edges(bytes, base, before, to, compared::<1>(set), put),
            2 => walk::edges(bytes, base, before, to, compared::<2>(set), put),
            3..=5 => walk::edges(bytes, base, before, to, compared::<5>(set), put),
            _ => walk::edges(bytes, base, before, to, compared::<SET_MAX>(set), put),
        }
    }
}

/// `masks::line_ends`.
#[target_feature(enable = "sse2")]
pub(super) fn line_ends(bytes: &[u8]) -> u64 {
    let (lf, cr) = (compared::<1>(b"\n"), compared::<1>(b"\r"));
    walk::line_ends(bytes, |chunk| (lf(chunk), cr(chunk)))
}

/// Returns the mask of a chunk by N comparisons, a number that the compiler knows: SSE2 has no shuffle of bytes. `set`
/// has 1 to N bytes.
#[inline]
#[target_feature(enable = "sse2")]
fn compared<const N: usize>(set: &[u8]) -> impl Fn(&[u8; 64]) -> u64 {
    let wanted: [__m128i; N] = std::array::from_fn(|i| _mm_set1_epi8(set[i.min(set.len() - 1)] as i8));
    move |chunk| {
        let mut mask = 0;
        for (at, quarter) in chunk.as_chunks::<16>().0.iter().enumerate() {
            // SAFETY: an unaligned load of 16 bytes from an array of 16.
            let quarter = unsafe { _mm_loadu_si128(quarter.as_ptr().cast()) };
            let equal = |any, w: &_| _mm_or_si128(any, _mm_cmpeq_epi8(quarter, *w));
            let found = _mm_movemask_epi8(wanted.iter().fold(_mm_setzero_si128(), equal));
            mask |= u64::from(found as u32) << (16 * at);
        }
        mask
    }
}

/// Writes eight positions, each plus `base`.
///
/// # Safety
/// `to` has room for eight numbers.
#[inline]
#[target_feature(enable = "sse2")]
unsafe fn put_eight(positions: &[u8; 8], base: u32, to: *mut u32) {
    // SAFETY: a load of eight bytes, and stores for which the caller grants the room.
    unsafe {
        let (zero, base) = (_mm_setzero_si128(), _mm_set1_epi32(base as i32));
        let wide = _mm_unpacklo_epi8(_mm_loadl_epi64(positions.as_ptr().cast()), zero);
        _mm_storeu_si128(to.cast(), _mm_add_epi32(_mm_unpacklo_epi16(wide, zero), base));
        _mm_storeu_si128(to.add(4).cast(), _mm_add_epi32(_mm_unpackhi_epi16(wide, zero), base));
    }
}
