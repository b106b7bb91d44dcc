//! Ascending in-place sort of `u64` entries: sorting a bucket is the inner loop of every sorted job.
//!
//! An entry is 36 key bits above a 28-bit position. Entries are close to unique and the order among equal ones does not
//! matter, so the sort is unstable. It is tuned for buckets of 1 Ki to 64 Ki entries that fit in L2.
//!
//! ```text
//! keys  -- pivot: median of 3 or 9 spread vectors -->  partition: [ < pivot | >= pivot ]  -->  each side again
//!          until a side has at most 128 (AVX2: 64) entries: one sorting network in registers
//! ```
//!
//! The sort is never quadratic. A quicksort that reaches its depth limit passes the slice to the standard library's
//! sort. A pivot that is the smallest entry peels off every equal entry. Nothing is allocated on the heap.
//!
//! # Measurements
//! Random keys, 2.7 GHz Sapphire Rapids, ns a key, fresh keys for every sort. Each figure is the best of 12 interleaved
//! runs' 10th percentiles, because the machine was shared. `benches/vsort.rs` measures medians against `std`.
//!
//! | AVX-512 kernel | 1,000 keys | 10,000 keys |
//! |---|---|---|
//! | this kernel | 2.4 | 3.3 |
//! | partition writes the block just read, not the one before | 2.5 | 3.8 |
//! | partition compresses in registers, whole store and masked store | 2.9 | 4.1 |
//! | partition compresses into memory | 5.5 | 10.7 |
//! | blocks of 2 vectors | 2.7 | 4.1 |
//! | blocks of 8 vectors (within the noise) | 2.3 | 3.2 |
//! | base case settles rows one at a time | 2.8 | 3.5 |
//! | base case by minimum with maximum, not exclusive or | 2.9 | 3.8 |
//!
//! Blocks of 4 were kept over 8 because 8 vectors need three quarters of the registers and a longer remainder.
//!
//! Limitations: there is no kernel for aarch64 yet; machines without AVX2 get the standard library's sort.

#[cfg(target_arch = "x86_64")]
#[macro_use]
mod frame;
#[cfg(target_arch = "x86_64")]
#[macro_use]
mod network;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;
#[cfg(test)]
mod tests;

/// Instruction set with a kernel for this sort.
///
/// Every variant exists on every platform; [`Simd::available`] returns the ones that this machine can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simd {
    /// AVX-512 F, DQ, BW and VL: Intel servers since Skylake, AMD since Zen 4.
    Avx512,
    /// AVX2: nearly every x86-64 machine in use.
    Avx2,
    /// The standard library's sort, on every machine.
    Plain,
}

impl Simd {
    const FASTEST_FIRST: [Simd; 3] = [Simd::Avx512, Simd::Avx2, Simd::Plain];

    /// Returns the fastest kernel that this machine can run.
    pub fn detect() -> Simd {
        Simd::FASTEST_FIRST.into_iter().find(|simd| simd.is_available()).unwrap_or(Simd::Plain)
    }

    /// Returns the kernels that this machine can run, the fastest first.
    pub fn available() -> Vec<Simd> {
        Simd::FASTEST_FIRST.into_iter().filter(|simd| simd.is_available()).collect()
    }

    /// Returns the name for logs and benchmarks: `avx512`, `avx2` or `plain`.
    pub fn name(self) -> &'static str {
        match self {
            Simd::Avx512 => "avx512",
            Simd::Avx2 => "avx2",
            Simd::Plain => "plain",
        }
    }

    /// Returns true if this machine can run the kernel. The standard library caches the answer: it costs a load and a
    /// test.
    #[cfg(target_arch = "x86_64")]
    fn is_available(self) -> bool {
        match self {
            Simd::Avx512 => avx512::is_available(),
            Simd::Avx2 => avx2::is_available(),
            Simd::Plain => true,
        }
    }

    /// Returns true if this machine can run the kernel.
    #[cfg(not(target_arch = "x86_64"))]
    fn is_available(self) -> bool {
        self == Simd::Plain
    }
}

/// Sorts `keys` ascending, in place, not stably, in O(n log n) for every input.
///
/// # Panics
/// Panics if this machine cannot run `simd`: take it from [`Simd::detect`] or [`Simd::available`].
pub fn sort_u64(simd: Simd, keys: &mut [u64]) {
    match simd {
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 => avx512::sort(keys, depth_max(keys.len())),
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 => avx2::sort(keys, depth_max(keys.len())),
        #[cfg(not(target_arch = "x86_64"))]
        Simd::Avx512 | Simd::Avx2 => panic!("this machine has no {}", simd.name()),
        Simd::Plain => plain::sort(keys),
    }
}

/// Returns how often a slice of `len` keys may be partitioned before the quicksort gives up: twice the depth of
/// halving.
#[cfg(target_arch = "x86_64")]
fn depth_max(len: usize) -> u32 {
    2 * (len / 64 + 1).ilog2() + 4
}
