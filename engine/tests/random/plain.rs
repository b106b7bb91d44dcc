//! Reference results by simple code: a stable sort, a map from keys to numbers.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use yunti_engine::operator::Type;

use crate::shapes::Record;

/// Compares keys of a type.
pub fn compare(kind: Type, a: &[u8], b: &[u8]) -> Ordering {
    let four = |k: &[u8]| u32::from_le_bytes(k.try_into().unwrap());
    let eight = |k: &[u8]| u64::from_le_bytes(k.try_into().unwrap());
    match kind {
        Type::I32 => (four(a) as i32).cmp(&(four(b) as i32)),
        Type::U32 => four(a).cmp(&four(b)),
        Type::F32 => f32::from_bits(four(a)).total_cmp(&f32::from_bits(four(b))),
        Type::I64 => (eight(a) as i64).cmp(&(eight(b) as i64)),
        Type::U64 => eight(a).cmp(&eight(b)),
        Type::F64 => f64::from_bits(eight(a)).total_cmp(&f64::from_bits(eight(b))),
        _ => a.cmp(b),
    }
}

/// Returns the part of Hadoop's HashPartitioner with the Writable of the type.
pub fn hash_part(kind: Type, key: &[u8], parts: u32) -> usize {
    let hash = match kind.fixed_bytes() {
        Some(_) => i32::from_le_bytes(key[..4].try_into().unwrap()),
        None => key.iter().fold(1i32, |h, &b| h.wrapping_mul(31).wrapping_add(i32::from(b as i8))),
    };
    ((hash & i32::MAX) % parts as i32) as usize
}

pub fn first_byte_part(key: &[u8], parts: u32) -> usize {
    key.first().map_or(0, |&b| (u32::from(b) % parts) as usize)
}

pub fn sorted(mut records: Vec<Record>, kind: Type, descending: bool) -> Vec<Record> {
    records.sort_by(|a, b| {
        let order = compare(kind, &a.0, &b.0);
        if descending { order.reverse() } else { order }
    });
    records
}

/// Returns one folded number a key.
pub fn folded(records: &[Record], first: fn(i64) -> i64, fold: fn(i64, i64) -> i64) -> Vec<Record> {
    let mut all: BTreeMap<&[u8], i64> = BTreeMap::new();
    for (key, value) in records {
        let value = i64::from_le_bytes(value[..].try_into().unwrap());
        all.entry(key).and_modify(|state| *state = fold(*state, value)).or_insert(first(value));
    }
    all.into_iter().map(|(key, n)| (key.to_vec(), n.to_le_bytes().to_vec())).collect()
}

pub fn words(text: &[u8]) -> Vec<Record> {
    let one = 1i64.to_le_bytes().to_vec();
    let words = text.split(|b| b" \t\n\r\x0c".contains(b)).filter(|w| !w.is_empty());
    words.map(|word| (word.to_vec(), one.clone())).collect()
}
