//! Bit masks of the bytes in a small set: one bit for each byte of a buffer. Tokenisers and line splitters walk these
//! masks.
//!
//! Each file beside this one has the kernels of one instruction set; they share the loops of `walk.rs`. The set is
//! chosen at run time, once for a call: AVX-512, AVX2 or SSE2 on x86-64, NEON on aarch64. Other CPUs run plain code.
//! One of the listed files with `unsafe`: the calls of these kernels.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod nibble_table;
#[cfg(target_arch = "x86_64")]
mod sse2;
mod walk;

#[cfg(target_arch = "x86_64")]
use super::simd;

/// Bytes in a set, at most.
pub const SET_MAX: usize = 8;

/// Sets bit `i % 64` of `bits[i / 64]` if `bytes[i]` is in `set`, and clears the other bits. Writes `ceil(len / 64)`
/// words; bits beyond the last byte are 0.
///
/// # Panics
///
/// Panics if `set` has more than `SET_MAX` bytes or `bits` is too short.
pub fn mask_any(bytes: &[u8], set: &[u8], bits: &mut [u64]) {
    assert!(set.len() <= SET_MAX && bits.len() >= bytes.len().div_ceil(64));
    #[cfg(target_arch = "x86_64")]
    {
        if simd::avx512_bytes() {
            // SAFETY: the features were just detected.
            unsafe { avx512::mask_any(bytes, set, bits) };
        } else if simd::avx2() {
            // SAFETY: as above.
            unsafe { avx2::mask_any(bytes, set, bits) };
        } else {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { sse2::mask_any(bytes, set, bits) };
        }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: NEON is part of aarch64.
    unsafe {
        neon::mask_any(bytes, set, bits)
    };
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    walk::mask_any(bytes, bits, |chunk| walk::mask_of(chunk, set));
}

/// Extra numbers that `edges` may overwrite beyond the last one that it returns.
pub const EDGES_SLACK: usize = 64;

/// Finds the edges of runs of bytes in `set`: positions where a byte is in the set and the byte before is not, or the
/// reverse.
///
/// Writes the positions to `to`, ascending, as `base` plus the index in `bytes`; returns their number. `before` is true
/// if the byte before the first one is in the set; afterwards it is true if the last byte is.
///
/// # Panics
///
/// Panics if `set` has more than `SET_MAX` bytes or `to` has room for fewer than `bytes.len() + EDGES_SLACK` numbers.
pub fn edges(bytes: &[u8], set: &[u8], base: u32, before: &mut bool, to: &mut [u32]) -> usize {
    assert!(set.len() <= SET_MAX && to.len() >= bytes.len() + EDGES_SLACK);
    #[cfg(target_arch = "x86_64")]
    {
        if simd::avx512_compress() {
            // SAFETY: the features were just detected, and the room asserted.
            unsafe { avx512::edges(bytes, set, base, before, to) }
        } else if simd::avx2() {
            // SAFETY: as above.
            unsafe { avx2::edges(bytes, set, base, before, to) }
        } else {
            // SAFETY: SSE2 is part of x86-64; the room was asserted.
            unsafe { sse2::edges(bytes, set, base, before, to) }
        }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: NEON is part of aarch64; the room was asserted.
    unsafe {
        neon::edges(bytes, set, base, before, to)
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    // SAFETY: the room was asserted.
    unsafe {
        let put = |edge, base, to| walk::put_plain(edge, base, to);
        walk::edges(bytes, base, before, to, |chunk| walk::mask_of(chunk, set), put)
    }
}

/// Returns the number of line ends (LF, CRLF, CR) in `bytes`.
pub fn line_ends(bytes: &[u8]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        if simd::avx512_bytes() {
            // SAFETY: the features were just detected.
            unsafe { avx512::line_ends(bytes) }
        } else if simd::avx2() {
            // SAFETY: as above.
            unsafe { avx2::line_ends(bytes) }
        } else {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { sse2::line_ends(bytes) }
        }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: NEON is part of aarch64.
    unsafe {
        neon::line_ends(bytes)
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    walk::line_ends(bytes, |chunk| (walk::mask_of(chunk, b"\n"), walk::mask_of(chunk, b"\r")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marsaglia's xorshift; `env::random` is on a higher floor.
    fn next(random: &mut u64) -> u64 {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        *random
    }

    /// A way to find edges.
    type Edges = fn(&[u8], &[u8], u32, &mut bool, &mut [u32]) -> usize;

    /// Returns the kernels that this CPU can run, whatever `YUNTI_SIMD` allows.
    fn edge_finders() -> Vec<(&'static str, Edges)> {
        let mut all: Vec<(&'static str, Edges)> = vec![("chosen", edges)];
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY, here and below: the features are detected; the tests give room.
            all.push(("sse2", |b, s, base, before, to| unsafe { sse2::edges(b, s, base, before, to) }));
            if is_x86_feature_detected!("avx2") {
                all.push(("avx2", |b, s, base, before, to| unsafe { avx2::edges(b, s, base, before, to) }));
            }
        }
        all
    }

    /// Returns the kernels that count line ends and that this CPU can run.
    fn line_end_counters() -> Vec<(&'static str, fn(&[u8]) -> u64)> {
        let mut all: Vec<(&'static str, fn(&[u8]) -> u64)> = vec![("chosen", line_ends)];
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY, here and below: the features are detected.
            all.push(("sse2", |bytes| unsafe { sse2::line_ends(bytes) }));
            if is_x86_feature_detected!("avx2") {
                all.push(("avx2", |bytes| unsafe { avx2::line_ends(bytes) }));
            }
        }
        all
    }

    #[test]
    fn finds_edges_of_runs_of_any_density() {
        let mut random = 88172645463325252u64;
        let mut bytes = vec![0u8; 700];
        for set in [&b"\t\n\x0c\r "[..], b"\0", b"\x01\x11", b"\x80a", b""] {
            for density in 1..6 {
                for byte in &mut bytes {
                    let random = next(&mut random);
                    let hit = random % (1 << density) == 0 && !set.is_empty();
                    *byte = if hit { set[(random >> 32) as usize % set.len()] } else { (random >> 40) as u8 };
                }
                for len in (0..140).chain([bytes.len()]) {
                    for start in [false, true] {
                        let inside = |i: usize| if i == 0 { start } else { set.contains(&bytes[i - 1]) };
                        let expect: Vec<u32> =
                            (0..len).filter(|&i| inside(i) != inside(i + 1)).map(|i| i as u32 + 1000).collect();
                        for (name, edges) in edge_finders() {
                            let (mut before, mut to) = (start, vec![7; len + EDGES_SLACK]);
                            let n = edges(&bytes[..len], set, 1000, &mut before, &mut to);
                            assert_eq!(to[..n], expect, "{name} {set:?} {len}");
                            assert_eq!(before, inside(len), "{name}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn counts_line_ends_as_hadoop_does() {
        let mut random = 88172645463325252u64;
        for n in (0..200).chain([1000, 5000]) {
            let bytes: Vec<u8> = (0..n).map(|_| b"a\r\n\n\r\0"[next(&mut random) as usize % 6]).collect();
            let lf =
                bytes.iter().enumerate().filter(|&(i, &b)| b == b'\n' && (i == 0 || bytes[i - 1] != b'\r')).count();
            let cr = bytes.iter().filter(|&&b| b == b'\r').count();
            for (name, line_ends) in line_end_counters() {
                assert_eq!(line_ends(&bytes), (lf + cr) as u64, "{name}");
            }
        }
    }

    #[test]
    fn all_instruction_sets_agree_at_every_length() {
        let bytes: Vec<u8> = (0..300u32).map(|i| (i * 7919 % 251) as u8).collect();
        for set in [&b""[..], b"\n", b"\r\n", b"\t\n\x0c\r ", &[0, 1, 2, 3, 4, 5, 6, 255]] {
            for len in 0..bytes.len() {
                let bytes = &bytes[..len];
                let mut bits = vec![u64::MAX; len.div_ceil(64)];
                mask_any(bytes, set, &mut bits);
                let mut expect = vec![u64::MAX; len.div_ceil(64)];
                walk::mask_any(bytes, &mut expect, |chunk| walk::mask_of(chunk, set));
                #[cfg(target_arch = "x86_64")]
                {
                    let mut found = vec![!0; expect.len()];
                    // SAFETY: SSE2 is part of x86-64.
                    unsafe { sse2::mask_any(bytes, set, &mut found) };
                    assert_eq!(found, expect, "sse2");
                    if is_x86_feature_detected!("avx2") {
                        // SAFETY: the feature was just detected.
                        unsafe { avx2::mask_any(bytes, set, &mut found) };
                        assert_eq!(found, expect, "avx2");
                    }
                }
                assert_eq!(bits, expect);
                for (i, b) in bytes.iter().enumerate() {
                    assert_eq!(bits[i / 64] >> (i % 64) & 1 == 1, set.contains(b));
                }
            }
        }
    }
}
