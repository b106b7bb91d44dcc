//! Kernels for NEON, which every aarch64 CPU has: 16 bytes at a time.
//! One of the listed files with `unsafe`: vector instructions.

use std::arch::aarch64::*;

use super::SET_MAX;
use super::nibble_table::NibbleTable;
use super::walk;

/// `masks::mask_any`.
#[target_feature(enable = "neon")]
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
#[target_feature(enable = "neon")]
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
#[target_feature(enable = "neon")]
pub(super) fn line_ends(bytes: &[u8]) -> u64 {
    let (lf, cr) = (compared(b"\n"), compared(b"\r"));
    walk::line_ends(bytes, |chunk| (lf(chunk), cr(chunk)))
}

#[inline]
#[target_feature(enable = "neon")]
fn quarters(chunk: &[u8; 64]) -> [uint8x16_t; 4] {
    // SAFETY: loads of the four quarters of 64 bytes.
    std::array::from_fn(|i| unsafe { vld1q_u8(chunk.as_ptr().add(16 * i)) })
}

/// Returns one bit for each byte of four vectors of 0 and 255: NEON has no movemask. Each byte keeps the bit of its
/// place among eight, and three rounds of pairwise sums gather them.
#[inline]
#[target_feature(enable = "neon")]
fn bits_of(quarters: [uint8x16_t; 4]) -> u64 {
    const PLACES: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: a load of 16 bytes.
    let places = unsafe { vld1q_u8(PLACES.as_ptr()) };
    let [a, b, c, d] = quarters.map(|quarter| vandq_u8(quarter, places));
    let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
}

/// Returns the mask of a chunk by one table look-up for 16 bytes.
#[inline]
#[target_feature(enable = "neon")]
fn looked_up(table: NibbleTable) -> impl Fn(&[u8; 64]) -> u64 {
    // SAFETY: the table has 16 bytes.
    let (table, low) = (unsafe { vld1q_u8(table.0.as_ptr()) }, vdupq_n_u8(0x8f));
    // The index of a byte from 128 on is outside of the table: it is looked up as 0, so it never matches.
    move |chunk| bits_of(quarters(chunk).map(|q| vceqq_u8(vqtbl1q_u8(table, vandq_u8(q, low)), q)))
}

/// Returns the mask of a chunk by one comparison for each byte of the set.
#[inline]
#[target_feature(enable = "neon")]
fn compared(set: &[u8]) -> impl Fn(&[u8; 64]) -> u64 {
    let mut wanted = [vdupq_n_u8(0); SET_MAX];
    for (w, &s) in wanted.iter_mut().zip(set) {
        *w = vdupq_n_u8(s);
    }
    let n = set.len();
    move |chunk| {
        let equal = |q| wanted[..n].iter().fold(vdupq_n_u8(0), |any, w| vorrq_u8(any, vceqq_u8(q, *w)));
        bits_of(quarters(chunk).map(equal))
    }
}

/// Writes eight positions, each plus `base`.
///
/// # Safety
/// `to` has room for eight numbers.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn put_eight(positions: &[u8; 8], base: u32, to: *mut u32) {
    // SAFETY: a load of eight bytes, and stores for which the caller grants the room.
    unsafe {
        let wide = vmovl_u8(vld1_u8(positions.as_ptr()));
        let base = vdupq_n_u32(base);
        vst1q_u32(to, vaddw_u16(base, vget_low_u16(wide)));
        vst1q_u32(to.add(4), vaddw_u16(base, vget_high_u16(wide)));
    }
}
