//! Bytes of a key, and its hash.

use crate::format::schema::{Kind, Schema};
use crate::index::place::scaled;

/// Numbers of rapidhash, odd and with as many ones as zeros.
const OF_SEEDS: u64 = 0x2D35_8DCC_AA6C_78A5;
const OF_WORDS: u64 = 0x8BB8_4B93_962E_ACC9;
const OF_LENGTHS: u64 = 0x4B33_A62E_D433_D4A3;
/// The hash of shards begins here, whatever the seed of a table.
const OF_SHARDS: u64 = start(0);

/// Returns where the hashes of a table with this seed begin.
pub const fn start(seed: u64) -> u64 {
    fold(seed ^ OF_SEEDS, OF_WORDS)
}

/// Returns the hash of a key's bytes, from [`start`]. Folded products, as those of wyhash and rapidhash, mix 16 bytes
/// in few instructions; a lookup takes fewer than one dozen for 8 bytes.
#[inline(always)]
pub fn hash(key: &[u8], start: u64) -> u64 {
    match key.try_into() {
        Ok(eight) => hash_of_eight(eight, start),
        Err(_) => hash_of_others(key, start),
    }
}

/// Returns the hash of 8 bytes.
#[inline(always)]
pub fn hash_of_eight(key: &[u8; 8], start: u64) -> u64 {
    fold(u64::from_le_bytes(*key) ^ start, OF_WORDS)
}

/// Returns the hash of any other number of bytes.
#[inline(always)]
pub fn hash_of_others(key: &[u8], start: u64) -> u64 {
    let mut state = start ^ (key.len() as u64).wrapping_mul(OF_LENGTHS);
    let (first, second) = match (key.first_chunk(), key.last_chunk()) {
        (Some(first), Some(last)) if key.len() <= 16 => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        (Some(_), Some(last)) => {
            state = state_of_long(key, state);
            (
                key.get(key.len() - 16..).and_then(<[u8]>::first_chunk).map_or(0, |word| u64::from_le_bytes(*word)),
                u64::from_le_bytes(*last),
            )
        }
        _ => words_of_short(key),
    };
    fold(first ^ state, second ^ OF_WORDS)
}

/// Returns the state before the last 16 bytes of a key that has more.
fn state_of_long(mut key: &[u8], mut state: u64) -> u64 {
    while key.len() > 16 {
        let Some((two, rest)) = key.split_first_chunk::<16>() else { break };
        let words = u128::from_le_bytes(*two);
        state = fold(words as u64 ^ state, (words >> 64) as u64 ^ OF_WORDS);
        key = rest;
    }
    state
}

/// Returns the two words of fewer than 8 bytes.
fn words_of_short(key: &[u8]) -> (u64, u64) {
    match (key.first_chunk(), key.last_chunk(), key) {
        (Some(first), Some(last), _) => (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last))),
        (_, _, [first, .., last]) => {
            (u64::from(*first) | u64::from(key[key.len() / 2]) << 8 | u64::from(*last) << 16, 0)
        }
        (_, _, [one]) => (u64::from(*one) * 0x01_01_01, 0),
        _ => (0, 0),
    }
}

/// Returns the shard of a key, from 0. A table's first seed gives the same hash, so that a shard of a whole table is
/// one stretch of its rows.
pub fn shard(key: &[u8], shards: u32) -> u32 {
    scaled(hash(key, OF_SHARDS), u64::from(shards)) as u32
}

#[inline(always)]
const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// Returns true if several keys could have the same bytes without lengths: before all but the last value of variable
/// length is its length.
fn has_length(schema: &Schema, at: usize) -> bool {
    schema.columns[schema.keys[at]].kind.width().is_none() && at + 1 < schema.keys.len()
}

/// Appends the bytes of a key. `values` are those of the key's columns, as they are in a row.
pub fn encode<'a>(schema: &Schema, values: impl Iterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
    for (at, value) in values.enumerate() {
        if has_length(schema, at) {
            out.extend_from_slice(&(value.len() as u32).to_le_bytes());
        }
        let kind = schema.columns[schema.keys[at]].kind;
        match kind.width() {
            Some(_) => out.extend_from_slice(&widened(kind, value)),
            None => out.extend_from_slice(value),
        }
    }
}

/// Returns true if these values give the bytes `key`. `values` are those of the key's columns, as they are in a row.
pub fn matches<'a>(schema: &Schema, values: impl Iterator<Item = &'a [u8]>, mut key: &[u8]) -> bool {
    for (at, value) in values.enumerate() {
        if has_length(schema, at) && key.split_off(..4) != Some(&(value.len() as u32).to_le_bytes()) {
            return false;
        }
        let kind = schema.columns[schema.keys[at]].kind;
        let is_same = match kind.width() {
            Some(_) => key.split_off(..8) == Some(&widened(kind, value)),
            None => key.split_off(..value.len()) == Some(value),
        };
        if !is_same {
            return false;
        }
    }
    key.is_empty()
}

/// Returns an integer of any width as 8 bytes, so that a reader needs one way to hash them.
pub fn widened(kind: Kind, value: &[u8]) -> [u8; 8] {
    let is_negative = kind.is_signed() && value.last().is_some_and(|byte| *byte >= 0x80);
    let mut wide = [if is_negative { 0xff } else { 0 }; 8];
    wide.iter_mut().zip(value).for_each(|(wide, byte)| *wide = *byte);
    wide
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::schema::Column;

    /// Hashes with the seed 1 of the first 0, 1, 3, .. bytes of a text.
    const VECTORS: [(usize, u64); 9] = [
        (0, 0x47e1_4248_5859_7e42),
        (1, 0x4cdc_eebc_26ac_2588),
        (3, 0x6d10_875f_f38c_ff46),
        (5, 0x4de4_bb83_4f15_c37b),
        (8, 0x7e62_a6a3_239e_3cc0),
        (12, 0xd76b_515e_4754_e0fb),
        (16, 0x7622_19c0_48a0_24ca),
        (17, 0x90d8_f54e_b57d_c0b0),
        (36, 0xa2a5_938d_4029_70cb),
    ];

    /// The hash as docs/formats/ytab.md has it, byte by byte.
    fn by_the_book(key: &[u8], start: u64) -> u64 {
        let word = |at: usize, bytes: usize| (0..bytes).map(|i| u64::from(key[at + i]) << (8 * i)).sum::<u64>();
        let n = key.len();
        if n == 8 {
            return fold(word(0, 8) ^ start, OF_WORDS);
        }
        let mut state = start ^ (n as u64).wrapping_mul(OF_LENGTHS);
        for at in (0..n.saturating_sub(16)).step_by(16) {
            state = fold(word(at, 8) ^ state, word(at + 8, 8) ^ OF_WORDS);
        }
        let (a, b) = match n {
            0 => (0, 0),
            1..4 => (u64::from(key[0]) + (u64::from(key[n / 2]) << 8) + (u64::from(key[n - 1]) << 16), 0),
            4..8 => (word(0, 4), word(n - 4, 4)),
            _ => (word(n.saturating_sub(16), 8), word(n - 8, 8)),
        };
        fold(a ^ state, b ^ OF_WORDS)
    }

    #[test]
    fn hashes_are_those_of_the_format() {
        let bytes: Vec<u8> = (0..100_u8).map(|byte| byte.wrapping_mul(37)).collect();
        for length in 0..100 {
            for seed in [0, 7, u64::MAX] {
                let start = start(seed);
                assert_eq!(hash(&bytes[..length], start), by_the_book(&bytes[..length], start), "{length}");
            }
        }
    }

    #[test]
    fn hashes_have_the_values_of_the_formats_page() {
        let text = b"0123456789abcdefghijklmnopqrstuvwxyz";
        for (length, expected) in VECTORS {
            assert_eq!(hash(&text[..length], start(1)), expected, "{length}");
        }
    }

    #[test]
    fn keys_of_several_columns_differ() {
        let column = |name: &str, kind| Column::new(name, kind, false);
        let columns = vec![column("a", Kind::Utf8), column("b", Kind::Utf8), column("c", Kind::I16)];
        let schema = Schema::new(columns, vec![0, 1, 2]).unwrap();
        let bytes = |a: &str, b: &str, c: i16| {
            let mut out = Vec::new();
            let values = || [a.as_bytes(), b.as_bytes(), &c.to_le_bytes()[..]].map(<[u8]>::to_vec);
            encode(&schema, values().iter().map(Vec::as_slice), &mut out);
            assert!(matches(&schema, values().iter().map(Vec::as_slice), &out));
            assert!(!matches(&schema, values().iter().map(Vec::as_slice), &out[..out.len() - 1]));
            assert!(!matches(&schema, values().iter().map(Vec::as_slice), &[&out[..], &[0]].concat()));
            out
        };
        assert_ne!(bytes("ab", "c", 1), bytes("a", "bc", 1));
        assert_eq!(bytes("", "", -2), [vec![0; 8], (-2_i64).to_le_bytes().to_vec()].concat());
    }
}
