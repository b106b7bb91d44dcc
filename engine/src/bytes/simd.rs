//! Vector instruction sets that the engine may use; the only file that queries the CPU.
//!
//! `YUNTI_SIMD=avx2` or `plain` masks the levels above it, so that a machine with AVX-512 runs the code of a machine
//! without it. Use it for tests, for measurements, and for CPUs that slow down under wide vectors.
//!
//! The variable is read once, at the first query, and kept for the process. Queries come from the innermost loops,
//! class libraries included. This is why this file may read a process setting and hold a static.
//!
//! Limitation: libraries with their own detection (memchr, the checksums, zstd) are not masked.

use std::sync::OnceLock;

/// Name of the environment variable that masks instruction sets.
pub const VARIABLE: &str = "YUNTI_SIMD";

/// Instruction sets for which the engine has code; each level includes the levels before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The target's baseline, without further vector instructions.
    Plain,
    /// AVX2.
    Avx2,
    /// AVX-512, the extensions as each kernel requires them.
    Avx512,
}

impl Level {
    /// Returns the level's name in `YUNTI_SIMD`.
    pub fn name(self) -> &'static str {
        match self {
            Level::Plain => "plain",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }

    /// Returns the level of a name, or None if there is none.
    pub fn parse(name: &str) -> Option<Level> {
        [Level::Plain, Level::Avx2, Level::Avx512].into_iter().find(|level| level.name() == name)
    }
}

/// Returns the highest level that the mask allows, whatever the CPU has. An unknown value masks nothing: see
/// [`mask_is_known`].
pub fn allowed() -> Level {
    static ALLOWED: OnceLock<Level> = OnceLock::new();
    *ALLOWED.get_or_init(|| std::env::var(VARIABLE).ok().and_then(|v| Level::parse(&v)).unwrap_or(Level::Avx512))
}

/// Returns true if the variable is unset, empty or the name of a level.
pub fn mask_is_known() -> bool {
    std::env::var_os(VARIABLE).is_none_or(|v| v.is_empty() || v.to_str().and_then(Level::parse).is_some())
}

/// True if a level is allowed and the CPU has all of the features.
#[cfg(target_arch = "x86_64")]
macro_rules! has {
    ($level:expr, $($feature:tt),+) => { allowed() >= $level && $(is_x86_feature_detected!($feature))&&+ };
}
#[cfg(not(target_arch = "x86_64"))]
macro_rules! has {
    ($level:expr, $($feature:tt),+) => {
        false
    };
}

/// Returns true if the AVX2 kernels of masks may be used. All CPUs with AVX2 have the other features too.
#[inline]
pub fn avx2() -> bool {
    has!(Level::Avx2, "avx2", "bmi1", "bmi2", "lzcnt", "popcnt")
}

/// Returns true if the AVX2 kernel of the entry sort may be used.
#[inline]
pub fn avx2_sort() -> bool {
    has!(Level::Avx2, "avx2", "popcnt")
}

/// Returns true if 64-byte comparisons into masks (AVX-512BW) may be used.
#[inline]
pub fn avx512_bytes() -> bool {
    has!(Level::Avx512, "avx512bw")
}

/// Returns true if `avx512_bytes` and compression of bytes by a mask (VBMI2) may be used.
#[inline]
pub fn avx512_compress() -> bool {
    has!(Level::Avx512, "avx512vbmi2", "avx512bw")
}

/// Returns true if the AVX-512 kernel of the entry sort may be used: Intel servers since Skylake, AMD since Zen 4.
#[inline]
pub fn avx512_sort() -> bool {
    has!(Level::Avx512, "avx512f", "avx512dq", "avx512bw", "avx512vl", "popcnt")
}

/// Returns the instruction set of fold tables: masked loads need AVX-512, and AVX2 comes with AES rounds.
#[inline]
pub fn fold() -> Level {
    if avx2() && has!(Level::Avx512, "avx512f", "avx512bw", "avx512vl", "aes") {
        Level::Avx512
    } else if avx2() && has!(Level::Avx2, "aes") {
        Level::Avx2
    } else {
        Level::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_parse_by_name_and_have_an_order() {
        for level in [Level::Plain, Level::Avx2, Level::Avx512] {
            assert_eq!(Level::parse(level.name()), Some(level));
        }
        assert_eq!(Level::parse("sse9"), None);
        assert!(Level::Plain < Level::Avx2 && Level::Avx2 < Level::Avx512);
    }

    /// Holds under any mask; the suite runs with each.
    #[test]
    fn uses_no_level_above_the_mask() {
        let above = |level, used: &[bool]| assert!(allowed() >= level || !used.contains(&true), "{level:?}: {used:?}");
        above(Level::Avx2, &[avx2(), avx2_sort()]);
        above(Level::Avx512, &[avx512_bytes(), avx512_compress(), avx512_sort()]);
        assert!(fold() <= allowed());
    }
}
