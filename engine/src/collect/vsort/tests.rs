//! The entry sort against the standard library's, for every kernel that this machine can run.

use super::*;

/// Key of a pattern at a position, with the number of keys.
type Pattern = fn(usize, usize, &mut Random) -> u64;

/// The patterns that a quicksort is known to stumble over, by name.
const PATTERNS: &[(&str, Pattern)] = &[
    ("random", |_, _, random| random.next()),
    ("entries", |i, _, random| (random.next() & !0xfff_ffff) | i as u64),
    ("sorted", |i, _, _| i as u64),
    ("reversed", |i, len, _| (len - i) as u64),
    ("all equal", |_, _, _| 7),
    ("all largest", |_, _, _| u64::MAX),
    ("two values", |_, _, random| random.next() & 1),
    ("two far values", |_, _, random| if random.next() & 1 == 0 { 0 } else { u64::MAX }),
    ("few values", |_, _, random| (random.next() % 17) << 59),
    ("halving shares", |_, _, random| random.next().trailing_zeros() as u64),
    ("organ pipe", |i, len, _| i.min(len - i) as u64),
    ("sawtooth", |i, _, _| i as u64 % 61),
    ("long sawtooth", |i, _, _| i as u64 % 1000),
    ("mostly largest", |_, _, random| if random.next() % 8 == 0 { random.next() } else { u64::MAX }),
    ("mostly smallest", |_, _, random| if random.next() % 8 == 0 { random.next() } else { 0 }),
    ("around the sign bit", |_, _, random| (1 << 63) - 8 + random.next() % 16),
    ("sorted but the end", |i, len, random| if i + 10 < len { i as u64 } else { random.next() % len as u64 }),
];

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

fn make(pattern: Pattern, len: usize) -> Vec<u64> {
    let mut random = Random(len as u64);
    (0..len).map(|i| pattern(i, len, &mut random)).collect()
}

/// Sorts `keys` between canaries with `sort`, at `offset` keys into a buffer, and compares.
fn check(name: &str, keys: &[u64], offset: usize, sort: impl Fn(&mut [u64])) {
    const CANARY: u64 = 0x0123_4567_89ab_cdef;
    const MARGIN: usize = 24;
    let start = MARGIN + offset;
    let mut buffer = vec![CANARY; start + keys.len() + MARGIN];
    buffer[start..start + keys.len()].copy_from_slice(keys);
    sort(&mut buffer[start..start + keys.len()]);
    let mut expect = keys.to_vec();
    expect.sort_unstable();
    // No assert_eq: a million keys add nothing to the name.
    assert!(buffer[start..start + keys.len()] == expect, "{name}, {} keys", keys.len());
    let outside = buffer[..start].iter().chain(&buffer[start + keys.len()..]);
    assert!(outside.into_iter().all(|&key| key == CANARY), "{name}, {} keys: wrote outside", keys.len());
}

#[test]
fn sorts_every_short_length() {
    for simd in Simd::available() {
        for &(name, pattern) in PATTERNS {
            for len in 0..=600 {
                check(&format!("{simd:?} {name}"), &make(pattern, len), len % 8, |keys| sort_u64(simd, keys));
            }
        }
    }
}

#[test]
fn sorts_long_slices() {
    let lens: &[usize] = if cfg!(miri) { &[1000] } else { &[1000, 2047, 2048, 10_000, 65_536, 99_991, 1_000_000] };
    for simd in Simd::available() {
        for &(name, pattern) in PATTERNS {
            for &len in lens {
                check(&format!("{simd:?} {name}"), &make(pattern, len), len % 8, |keys| sort_u64(simd, keys));
            }
        }
    }
}

/// A network that sorts all rows of zeros and ones sorts everything: here one row for every length and count of ones.
#[test]
fn sorts_every_count_of_ones() {
    for simd in Simd::available() {
        for len in 0..=130 {
            for ones in 0..=len {
                let mut random = Random(ones as u64);
                let mut keys: Vec<u64> = (0..len).map(|i| if i < ones { u64::MAX } else { 0 }).collect();
                for i in (1..len).rev() {
                    keys.swap(i, (random.next() % (i as u64 + 1)) as usize);
                }
                check(&format!("{simd:?} ones"), &keys, ones % 8, |keys| sort_u64(simd, keys));
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn falls_back_to_the_plain_sort_at_the_depth_limit() {
    type Kernel = (&'static str, bool, fn(&mut [u64], u32));
    let kernels: [Kernel; 2] =
        [("avx512", avx512::is_available(), avx512::sort), ("avx2", avx2::is_available(), avx2::sort)];
    for (name, _, sort) in kernels.into_iter().filter(|kernel| kernel.1) {
        for depth in 0..4 {
            for &(pattern_name, pattern) in PATTERNS {
                check(&format!("{name} {pattern_name}"), &make(pattern, 5000), 3, |keys| sort(keys, depth));
            }
        }
    }
}

/// An adversarial input: the smallest keys are repeatedly at the fixed positions that the pivot samples.
#[test]
fn sorts_inputs_with_small_keys_at_the_pivot_samples() {
    for simd in Simd::available() {
        let len = 200_000;
        let mut keys: Vec<u64> = (0..len).map(|i| 1_000_000 + i as u64).collect();
        let mut next = 0;
        let mut start = 0;
        while len - start > 4096 {
            let step = (len - start) / 10;
            for vector in 1..=9 {
                for lane in 0..8 {
                    keys[start + vector * step + lane] = next;
                    next += 1;
                }
            }
            start += 72;
        }
        check(&format!("{simd:?} killer"), &keys, 1, |keys| sort_u64(simd, keys));
    }
}

#[test]
fn detects_the_first_available() {
    assert_eq!(Simd::available().first(), Some(&Simd::detect()));
    assert_eq!(Simd::available().last(), Some(&Simd::Plain));
}
