//! Bytes of a key, and its hash.

use twox_hash::XxHash64;

use crate::format::schema::{Kind, Schema};

/// Returns the hash of a key's bytes: XXH64.
#[inline(always)]
pub fn hash(key: &[u8], seed: u64) -> u64 {
    match key.try_into() {
        Ok(eight) => finish(with_eight(seed.wrapping_add(P5).wrapping_add(8), eight)),
        Err(_) => hash_of_others(key, seed),
    }
}

/// Returns the shard of a key, from 0. A table's first seed gives the same hash, so that a shard of a whole table is
/// one stretch of its rows.
pub fn shard(key: &[u8], shards: u32) -> u32 {
    (((hash(key, 0) >> 32) * u64::from(shards)) >> 32) as u32
}

fn hash_of_others(key: &[u8], seed: u64) -> u64 {
    // Texts that are not long: a call of the library would take as long as the hash.
    if key.len() < 32 { hash_of_short(key, seed) } else { XxHash64::oneshot(seed, key) }
}

const P1: u64 = 0x9E37_79B1_85EB_CA87;
const P2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const P3: u64 = 0x1656_67B1_9E37_79F9;
const P4: u64 = 0x85EB_CA77_C2B2_AE63;
const P5: u64 = 0x27D4_EB2F_1656_67C5;

/// XXH64 of less than 32 bytes.
fn hash_of_short(key: &[u8], seed: u64) -> u64 {
    let mut h = seed.wrapping_add(P5).wrapping_add(key.len() as u64);
    let (eights, rest) = key.as_chunks::<8>();
    for eight in eights {
        h = with_eight(h, *eight);
    }
    let rest = match rest.split_first_chunk::<4>() {
        Some((four, rest)) => {
            h ^= u64::from(u32::from_le_bytes(*four)).wrapping_mul(P1);
            h = h.rotate_left(23).wrapping_mul(P2).wrapping_add(P3);
            rest
        }
        None => rest,
    };
    for byte in rest {
        h ^= u64::from(*byte).wrapping_mul(P5);
        h = h.rotate_left(11).wrapping_mul(P1);
    }
    finish(h)
}

#[inline(always)]
fn with_eight(h: u64, eight: [u8; 8]) -> u64 {
    let mixed = u64::from_le_bytes(eight).wrapping_mul(P2).rotate_left(31).wrapping_mul(P1);
    (h ^ mixed).rotate_left(27).wrapping_mul(P1).wrapping_add(P4)
}

#[inline(always)]
fn finish(mut h: u64) -> u64 {
    h = (h ^ h >> 33).wrapping_mul(P2);
    h = (h ^ h >> 29).wrapping_mul(P3);
    h ^ h >> 32
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

    #[test]
    fn short_hashes_are_the_standards() {
        let bytes: Vec<u8> = (0..100_u8).map(|byte| byte.wrapping_mul(37)).collect();
        for length in 0..100 {
            for seed in [0, 7, u64::MAX] {
                assert_eq!(hash(&bytes[..length], seed), XxHash64::oneshot(seed, &bytes[..length]));
            }
        }
        // From the reference implementation: xxhsum of nothing, and of "xxhash" with the seed 20141025.
        assert_eq!(hash(b"", 0), 0xef46_db37_51d8_e999);
        assert_eq!(hash(b"xxhash", 20_141_025), 0xb559_b98d_844e_0635);
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
