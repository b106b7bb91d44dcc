//! Which vector instructions the engine may use: the one place that asks the processor.
//!
//! `YUNTI_SIMD=avx2` or `plain` masks what is above it, so that a machine with AVX-512 runs the code of a machine without: for tests,
//! for measurements, and where a processor slows down under wide vectors. It is read once, at the first question, and kept for the
//! process, as the standard library keeps what it found of the processor. That is why this file reads a setting of the process and
//! holds a static where no other may: the questions come from the innermost loops, of the callbacks of class libraries too.
//!
//! Limitations: libraries that find out by themselves (memchr, the checksums, zstd) are not masked; a machine that lacks the
//! instructions still differs there.

use std::sync::OnceLock;

/// The variable that masks.
pub const VARIABLE: &str = "YUNTI_SIMD";

/// Instruction sets by what the engine has code for; each holds the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Plain,
    Avx2,
    Avx512,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Level::Plain => "plain",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }

    pub fn parse(name: &str) -> Option<Level> {
        [Level::Plain, Level::Avx2, Level::Avx512].into_iter().find(|level| level.name() == name)
    }
}

/// The highest level that the mask allows, whatever this machine has. A value that is none masks nothing: see [`mask_is_known`].
pub fn allowed() -> Level {
    static ALLOWED: OnceLock<Level> = OnceLock::new();
    *ALLOWED.get_or_init(|| std::env::var(VARIABLE).ok().and_then(|v| Level::parse(&v)).unwrap_or(Level::Avx512))
}

/// Whether the variable is unset, empty or the name of a level.
pub fn mask_is_known() -> bool {
    std::env::var_os(VARIABLE).is_none_or(|v| v.is_empty() || v.to_str().and_then(Level::parse).is_some())
}

/// Whether a level is allowed and the processor has all of the features.
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

/// Compares of 32 bytes.
#[inline]
pub fn avx2() -> bool {
    has!(Level::Avx2, "avx2")
}

/// The AVX2 kernel of the entry sort.
#[inline]
pub fn avx2_sort() -> bool {
    has!(Level::Avx2, "avx2", "popcnt")
}

/// Compares of 64 bytes into masks.
#[inline]
pub fn avx512_bytes() -> bool {
    has!(Level::Avx512, "avx512bw")
}

/// The same, and bytes compressed by a mask.
#[inline]
pub fn avx512_compress() -> bool {
    has!(Level::Avx512, "avx512vbmi2", "avx512bw")
}

/// The AVX-512 kernel of the entry sort: Intel servers since Skylake, AMD since Zen 4.
#[inline]
pub fn avx512_sort() -> bool {
    has!(Level::Avx512, "avx512f", "avx512dq", "avx512bw", "avx512vl", "popcnt")
}

/// Keys loaded by a mask and hashed by AES, in the tables of folds.
#[inline]
pub fn masked_loads() -> bool {
    has!(Level::Avx512, "avx512bw", "avx512vl", "aes", "bmi2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_names_and_an_order() {
        for level in [Level::Plain, Level::Avx2, Level::Avx512] {
            assert_eq!(Level::parse(level.name()), Some(level));
        }
        assert_eq!(Level::parse("sse9"), None);
        assert!(Level::Plain < Level::Avx2 && Level::Avx2 < Level::Avx512);
    }

    /// Holds under any mask: the suite runs with each.
    #[test]
    fn nothing_above_the_mask_is_used() {
        let above = |level, used: &[bool]| assert!(allowed() >= level || !used.contains(&true), "{level:?}: {used:?}");
        above(Level::Avx2, &[avx2(), avx2_sort()]);
        above(Level::Avx512, &[avx512_bytes(), avx512_compress(), avx512_sort(), masked_loads()]);
    }
}
