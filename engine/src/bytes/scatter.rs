//! Scattered keys: a reversible mix of the key's bytes. Equal keys meet after a sort of the first eight bytes, whatever
//! prefix the keys share.
//!
//! ```text
//!   key of 8 bytes or more   | mix(first 8 ^ hash of the rest) | the rest as it is |
//!   shorter                  | mix, of as many bits             |
//! ```
//!
//! `mix` is two odd multiplications with a shift between them, so it can be undone. Keys made to collide force the sort
//! to compare them in full. This costs time, never a wrong group.

const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// Returns y with x * y = 1 modulo 2^64, for odd x (Newton's iteration).
const fn inverse(x: u64) -> u64 {
    let mut y = x;
    let mut bits = 3;
    while bits < 64 {
        y = y.wrapping_mul(2u64.wrapping_sub(x.wrapping_mul(y)));
        bits *= 2;
    }
    y
}

const INVERSES: [u64; 2] = [inverse(FACTORS[0]), inverse(FACTORS[1])];

#[inline]
fn mix(x: u64, bits: u32, [first, second]: [u64; 2]) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    let x = x.wrapping_mul(first) & mask;
    (x ^ x >> (bits / 2)).wrapping_mul(second) & mask
}

#[inline]
fn hash(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    let mut step = |word: u64| {
        let product = u128::from(hash ^ word ^ FACTORS[1]) * u128::from(FACTORS[0]);
        hash = product as u64 ^ (product >> 64) as u64;
    };
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|word| step(u64::from_le_bytes(*word)));
    if !rest.is_empty() {
        step(rest.iter().fold(0, |word, &b| word << 8 | u64::from(b)));
    }
    hash
}

/// Scatters a key in place; its length stays.
pub fn scatter(key: &mut [u8]) {
    match key.split_first_chunk_mut::<8>() {
        Some((first, rest)) => *first = mix(u64::from_be_bytes(*first) ^ hash(rest), 64, FACTORS).to_be_bytes(),
        None => short(key, FACTORS),
    }
}

/// Restores a key that `scatter` changed.
pub fn gather(key: &mut [u8]) {
    match key.split_first_chunk_mut::<8>() {
        Some((first, rest)) => {
            *first = (mix(u64::from_be_bytes(*first), 64, [INVERSES[1], INVERSES[0]]) ^ hash(rest)).to_be_bytes();
        }
        None => short(key, [INVERSES[1], INVERSES[0]]),
    }
}

fn short(key: &mut [u8], factors: [u64; 2]) {
    if !key.is_empty() {
        let number = key.iter().fold(0, |x, &b| x << 8 | u64::from(b));
        let mixed = mix(number, 8 * key.len() as u32, factors);
        for (i, byte) in key.iter_mut().rev().enumerate() {
            *byte = (mixed >> (8 * i)) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn gather_restores_keys_and_scattered_keys_differ() {
        let mut keys: Vec<Vec<u8>> = (0..=255).map(|b| vec![b]).collect();
        keys.extend((2..70).map(|len| b"https://example.org/".repeat(4)[..len].to_vec()));
        keys.extend((0u64..3000).map(|i| [&b"a common beginning of "[..], &i.to_be_bytes()[2..]].concat()));
        keys.extend((0u64..3000).map(|i| (i << 20).to_be_bytes().to_vec()));
        let mut seen = BTreeSet::new();
        for key in &keys {
            let mut scattered = key.clone();
            scatter(&mut scattered);
            assert!(seen.insert(scattered.clone()), "{key:?}");
            gather(&mut scattered);
            assert_eq!(&scattered, key);
        }
    }

    #[test]
    fn spreads_the_first_bytes() {
        // Keys that differ only at their ends, or in a few bits.
        for make in [
            (|i: u64| format!("https://example.org/items/{i:09}").into_bytes()) as fn(u64) -> Vec<u8>,
            |i| (i << 40).to_be_bytes().to_vec(),
            |i| i.to_be_bytes()[4..].to_vec(),
            |i| i.to_le_bytes().to_vec(),
        ] {
            let mut counts = [0u32; 256];
            let mut prefixes = BTreeSet::new();
            for i in 0..65_536 {
                let mut key = make(i);
                scatter(&mut key);
                counts[key[0] as usize] += 1;
                prefixes.insert(key[..key.len().min(8)].to_vec());
            }
            assert_eq!(prefixes.len(), 65_536);
            assert!(counts.iter().all(|n| (128..=400).contains(n)), "{counts:?}");
        }
    }
}
