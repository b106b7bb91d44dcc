//! Asks the processor for a cache line before it is needed. One of the listed files with `unsafe`: the instruction takes a pointer.

/// Prefetches the line of `bytes[at]`; nothing where that lies beyond the end.
#[inline(always)]
pub fn prefetch(bytes: &[u8], at: usize) {
    if let Some(byte) = bytes.get(at) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the pointer is of a live byte, and prefetching reads nothing that a program can see.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = byte;
    }
}
