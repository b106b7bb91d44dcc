//! The sort without SIMD: the standard library's, in O(n log n) for every input, which the kernels fall back to.

/// Sorts `keys` ascending, in place.
pub(super) fn sort(keys: &mut [u64]) {
    keys.sort_unstable();
}
