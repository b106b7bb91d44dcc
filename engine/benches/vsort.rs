//! Nanoseconds an element of the entry sort, for every SIMD kernel of this machine, against the standard library.
//!
//! `cargo bench --bench vsort` runs in full; `YUNTI_BENCH_TINY=1`, or the argument `tiny` or `--test`, makes it short.
//! Each repeat sorts data that no sort has seen: a trained branch predictor would flatter every quicksort.

use std::hint::black_box;
use std::time::Instant;
use yunti_engine::collect::vsort::{Simd, sort_u64};

/// Fills `keys` with the next values of a splitmix64 stream.
fn fill(keys: &mut [u64], seed: &mut u64) {
    for key in keys {
        *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        *key = z ^ (z >> 31);
    }
}

/// Returns a sum that no permutation changes but a lost key does.
fn sum(keys: &[u64]) -> u64 {
    keys.iter().fold(0, |sum, key| sum.wrapping_add(*key))
}

/// The median over `repeats` of the time to sort `len` fresh random keys, in nanoseconds an element.
fn measure_ns(len: usize, repeats: usize, sort: impl Fn(&mut [u64])) -> f64 {
    let mut seed = 42;
    let mut keys = vec![0u64; len];
    let mut times_ns = Vec::with_capacity(repeats);
    for _ in 0..repeats {
        fill(&mut keys, &mut seed);
        let sum_before = sum(&keys);
        let start = Instant::now();
        sort(black_box(&mut keys));
        times_ns.push(start.elapsed().as_nanos() as f64);
        assert!(keys.is_sorted() && sum(&keys) == sum_before);
    }
    times_ns.sort_unstable_by(f64::total_cmp);
    times_ns[repeats / 2] / len as f64
}

fn main() {
    let tiny = std::env::var_os("YUNTI_BENCH_TINY").is_some()
        || std::env::args().any(|argument| argument == "tiny" || argument == "--test");
    let lens: &[usize] =
        if tiny { &[100, 1000] } else { &[64, 100, 128, 256, 1000, 3000, 10_000, 30_000, 65_536, 1_000_000] };
    let elements = if tiny { 4_000 } else { 10_000_000 };
    print!("{:>10}", "elements");
    for simd in Simd::available() {
        print!("{:>10}", simd.name());
    }
    println!("{:>10}   ns an element", "std");
    for &len in lens {
        let repeats = (elements / len).max(3);
        print!("{len:>10}");
        for simd in Simd::available() {
            print!("{:>10.2}", measure_ns(len, repeats, |keys| sort_u64(simd, keys)));
        }
        println!("{:>10.2}", measure_ns(len, repeats, |keys| keys.sort_unstable()));
    }
}
