//! The hash of a key: a 64 x 64 -> 128 bit multiplication folded to 64 bits and mixed once more, with a seed of the
//! job.
//!
//! ```text
//!   key of 0..16 bytes, padded with zeros to two words       longer keys
//!   (k0 ^ s0) x (k1 ^ s1 ^ length)  = high : low             the same, chained over steps of 16 bytes
//!   h = high ^ low;  hash = (h ^ h >> 32) x constant
//!   | order: upper 32 bits, the lowest of them set | lower 32 bits: only for telling long keys apart |
//! ```
//!
//! A table keeps `order` in the slot and places keys by its leading bits, whatever its capacity. Growing and merging
//! never hash a key again, and a range of `order` is a stretch of slots in every table.
//!
//! The slot compares the key itself, so short keys need no tag. Long keys compare all 64 bits of the hash first.
//!
//! Rejected: the first multiplication alone. It is linear in a key of one word. For one seed in ten, some arithmetic
//! sequence of keys fell on a lattice (11 % of the cells filled; random hashing fills 63 %). The second multiplication
//! costs 0.3 ns.
//!
//! The hash is not cryptographic: an attacker who knows the seed can make keys collide. Collisions cost time, never a
//! wrong result.

use crate::bytes::simd::{self, Level};
use crate::env::random::Random;

/// Hash function of keys, with the seed of a job.
#[derive(Clone, Copy)]
pub struct Hasher {
    s0: u64,
    s1: u64,
    level: Level,
    /// Bits of `order` that tests keep, to make keys collide.
    #[cfg(test)]
    pub(super) order_mask: u32,
}

impl Hasher {
    /// Returns the function of a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        Hasher {
            s0: random.next_u64(),
            s1: random.next_u64(),
            level: simd::fold(),
            #[cfg(test)]
            order_mask: u32::MAX,
        }
    }

    #[inline(always)]
    pub(super) fn seeds(&self) -> [u64; 2] {
        [self.s0, self.s1]
    }

    /// Returns the instruction set of the kernels. Those for AVX2 and AVX-512 hash short keys by rounds of AES.
    #[inline(always)]
    pub(super) fn level(&self) -> Level {
        self.level
    }

    /// Returns the hash of one key. The kernels of the fold hash short keys otherwise, in batches.
    #[inline]
    pub fn of(&self, key: &[u8]) -> u64 {
        if key.len() > 16 {
            return self.long(key);
        }
        let (k0, k1) = two_words(key);
        self.short_by_multiplying(k0, k1, key.len() as u32)
    }

    /// Hashes a key of at most 16 bytes, padded with zeros to `k0` and `k1`.
    #[inline(always)]
    pub(super) fn short_by_multiplying(&self, k0: u64, k1: u64, len: u32) -> u64 {
        let hash = fold_mul(k0 ^ self.s0, k1 ^ self.s1 ^ u64::from(len));
        (hash ^ hash >> 32).wrapping_mul(FINAL)
    }

    /// Hashes a key of more than 16 bytes.
    #[inline]
    pub(super) fn long(&self, key: &[u8]) -> u64 {
        #[cfg(test)]
        if self.order_mask == 0 {
            return 0;
        }
        let mut hash = self.s0 ^ (key.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut steps = key.chunks_exact(16);
        for step in &mut steps {
            hash = self.step(hash, step);
        }
        // The last 16 bytes again, overlapping: there are at least 17.
        let hash = self.step(hash, &key[key.len() - 16..]);
        fold_mul(hash ^ self.s1, 0xa076_1d64_78bd_642f)
    }

    #[inline(always)]
    fn step(&self, hash: u64, bytes: &[u8]) -> u64 {
        let (a, b) = bytes.split_at(8);
        let word = |w: &[u8]| w.try_into().map_or(0, u64::from_le_bytes);
        // The rotation keeps earlier steps if a factor is zero.
        fold_mul(hash ^ word(a), self.s1 ^ word(b)) ^ hash.rotate_left(23)
    }

    /// Returns the order of slots of a hash; never zero.
    #[inline(always)]
    pub(super) fn order(&self, hash: u64) -> u32 {
        let order = (hash >> 32) as u32;
        #[cfg(test)]
        let order = order & self.order_mask;
        order | 1
    }
}

/// Returns a key of at most 16 bytes as two words, padded with zeros. Loads overlap instead of a loop over bytes.
#[inline(always)]
fn two_words(key: &[u8]) -> (u64, u64) {
    let n = key.len();
    let eight = |at: usize| key[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
    let four = |at: usize| key[at..at + 4].try_into().map_or(0, u32::from_le_bytes);
    match n {
        0 => (0, 0),
        1..=3 => {
            let byte = |at: usize| u64::from(key[at]) << (8 * at);
            (byte(0) | byte(n / 2) | byte(n - 1), 0)
        }
        4..=7 => (u64::from(four(0)) | u64::from(four(n - 4)) << (8 * (n - 4)), 0),
        8 => (eight(0), 0),
        _ => (eight(0), eight(n - 8) >> (8 * (16 - n))),
    }
}

const FINAL: u64 = 0xd6e8_feb8_6659_fd93;

#[inline(always)]
fn fold_mul(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_keys_are_padded_with_zeros() {
        let bytes: Vec<u8> = (1..=16).collect();
        for n in 0..=16 {
            let mut padded = [0u8; 16];
            padded[..n].copy_from_slice(&bytes[..n]);
            let (k0, k1) = padded.split_at(8);
            let word = |w: &[u8]| u64::from_le_bytes(w.try_into().unwrap());
            assert_eq!(two_words(&bytes[..n]), (word(k0), word(k1)), "{n} bytes");
        }
    }

    /// Leading bits of `order` must spread clustered keys: (a name, the keys).
    #[test]
    fn clustered_keys_spread() {
        let h = Hasher::new(22);
        let text = |s: String| {
            let mut key = [0u8; 16];
            key[..s.len()].copy_from_slice(s.as_bytes());
            let words: Vec<u64> = key.chunks(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect();
            h.short_by_multiplying(words[0], words[1], s.len() as u32)
        };
        let n = 1u64 << 16;
        let cases: Vec<(&str, Vec<u64>)> = vec![
            ("numbers as text", (0..n).map(|i| text(i.to_string())).collect()),
            ("padded numbers", (0..n).map(|i| text(format!("user{i:012}"))).collect()),
            ("little endian", (0..n).map(|i| h.short_by_multiplying(i, 0, 8)).collect()),
            ("big endian", (0..n).map(|i| h.short_by_multiplying(i.swap_bytes(), 0, 8)).collect()),
            ("strided", (0..n).map(|i| h.short_by_multiplying(i << 20, 0, 8)).collect()),
            ("second word", (0..n).map(|i| h.short_by_multiplying(0, i, 16)).collect()),
            ("both words", (0..n).map(|i| h.short_by_multiplying(i & 255, i >> 8 << 56, 16)).collect()),
            ("both words alike", (0..n).map(|i| h.short_by_multiplying(i, i, 16)).collect()),
            ("lengths", (0..n).map(|i| h.long(&vec![0; 17 + i as usize % 3000])).collect()),
            ("long numbers", (0..n).map(|i| h.long(format!("http://example.org/a/page?{i}").as_bytes())).collect()),
            ("early difference", (0..n).map(|i| h.long(format!("{i}/http://example.org/a/page").as_bytes())).collect()),
        ];
        for (name, mut hashes) in cases {
            hashes.sort_unstable();
            hashes.dedup();
            // As many cells as keys: a random function fills 1 - 1/e of them.
            let mut full = vec![0u32; hashes.len()];
            for hash in &hashes {
                full[((u64::from(h.order(*hash)) * hashes.len() as u64) >> 32) as usize] += 1;
            }
            let filled = full.iter().filter(|&&n| n > 0).count() as f64 / hashes.len() as f64;
            let max = *full.iter().max().unwrap();
            assert!(filled > 0.5 && max <= 12, "{name}: {filled} of the cells filled, up to {max} keys in one");
        }
    }
}
