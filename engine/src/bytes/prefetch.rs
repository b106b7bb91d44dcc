//! Prefetch hints: they load memory into the cache before it is needed.
//! One of the listed files with `unsafe`: a prefetch is an intrinsic. It is harmless at any address.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_ET0 as TO_WRITE, _MM_HINT_T0 as TO_READ};
#[cfg(not(target_arch = "x86_64"))]
const TO_READ: i32 = 0;
#[cfg(not(target_arch = "x86_64"))]
const TO_WRITE: i32 = 1;

/// Prefetches the cache line at `p` for reading.
#[inline(always)]
pub fn prefetch<T>(p: *const T) {
    hint::<TO_READ>(p.cast());
}

/// Prefetches the cache line at `p` for writing.
#[inline(always)]
pub fn prefetch_to_write<T>(p: *mut T) {
    hint::<TO_WRITE>(p.cast());
}

#[inline(always)]
fn hint<const HINT: i32>(p: *const i8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address is harmless, and SSE is part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<HINT>(p);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}
