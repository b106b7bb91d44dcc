//! Values of a key: bits of a small range, else a Bloom filter.
//!
//! ```text
//!   Bits     value - least -> 1 if it is a key             exact
//!   Bloom    hash of the value -> three bits of a word     about one value in 30 passes that is no key
//! ```

use std::sync::{Arc, OnceLock};

use yunti_engine::columns::expression::{bits_of, list_of};
use yunti_engine::columns::vector::Data;
use yunti_engine::memory::{Budget, Grant};

use crate::store::column::{Column, Values};

/// Values of the range for each key, at most, for bits; the range may always have `BITS_MIN`.
const RANGE_A_KEY: u64 = 64;
const BITS_MIN: u64 = 1 << 16;
/// Values of the range, at most: 16 MiB of bits.
const BITS_MAX: u64 = 1 << 27;
/// Keys that are kept one by one, at most.
const FEW_KEYS: usize = 1 << 12;
/// Words of bits that are worth a text: 1.4 MiB of it.
const TEXT_WORDS: usize = 1 << 17;
/// Keys for each word of a Bloom filter.
const WORD_KEYS: usize = 5;

/// Values of a key that is a whole number in memory: numbers, dates, times, decimals of 64 bits.
pub struct KeySet {
    least: i64,
    most: i64,
    form: Form,
    /// Different keys, or a few more.
    count: u64,
    /// All keys in ascending order, if they are few.
    few: Vec<i64>,
    text: OnceLock<Option<Arc<str>>>,
    _grant: Grant,
}

enum Form {
    Bits(Vec<u64>),
    Bloom(Vec<u64>),
}

impl KeySet {
    /// Returns the values of a column without nulls. None: they are no whole numbers, there is none, or memory is
    /// short.
    pub fn of(column: &Column, budget: &Arc<Budget>) -> Option<KeySet> {
        let Values::Fixed(Data::Ints(values) | Data::SmallDecimals(values)) = &column.values else { return None };
        let (mut least, mut most, mut keys) = (i64::MAX, i64::MIN, values.len());
        match &column.nulls {
            None => values.iter().for_each(|&value| (least, most) = (least.min(value), most.max(value))),
            Some(nulls) => {
                keys = 0;
                for (&value, _) in values.iter().zip(nulls).filter(|(_, null)| !**null) {
                    (least, most) = (least.min(value), most.max(value));
                    keys += 1;
                }
            }
        }
        if keys == 0 {
            return None;
        }
        let range = (i128::from(most) - i128::from(least) + 1) as u128;
        let has_bits = range <= u128::from((keys as u64).saturating_mul(RANGE_A_KEY).clamp(BITS_MIN, BITS_MAX));
        let words = if has_bits { (range as usize).div_ceil(64) } else { keys / WORD_KEYS + 1 };
        let grant = budget.try_grant(8 * words as u64)?;
        let mut all = vec![0u64; words];
        let mut add = |value: i64| {
            if has_bits {
                let place = value.wrapping_sub(least) as u64;
                all[(place / 64) as usize] |= 1 << (place % 64);
            } else {
                let hash = hash(value);
                all[word_of(hash, words)] |= pattern(hash);
            }
        };
        match &column.nulls {
            None => values.iter().for_each(|&value| add(value)),
            Some(nulls) => {
                values.iter().zip(nulls).filter(|(_, null)| !**null).for_each(|(&value, _)| add(value));
            }
        }
        let mut few = Vec::new();
        if keys <= FEW_KEYS {
            let is_key = |row: usize| column.nulls.as_ref().is_none_or(|nulls| !nulls[row]);
            few.extend(values.iter().enumerate().filter(|(row, _)| is_key(*row)).map(|(_, value)| *value));
            few.sort_unstable();
            few.dedup();
        }
        let count = match (has_bits, few.len()) {
            (true, _) => all.iter().map(|word| u64::from(word.count_ones())).sum(),
            (false, 0) => keys as u64,
            (false, few) => few as u64,
        };
        let form = if has_bits { Form::Bits(all) } else { Form::Bloom(all) };
        Some(KeySet { least, most, form, count, few, text: OnceLock::new(), _grant: grant })
    }

    /// Returns the least and the largest value.
    pub fn range(&self) -> (i64, i64) {
        (self.least, self.most)
    }

    /// Returns the number of different values, or a few more.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the values as a text for the source of a table; None if they are too many.
    pub fn text(&self) -> Option<Arc<str>> {
        let make = || match &self.form {
            _ if !self.few.is_empty() => Some(list_of(&self.few).into()),
            Form::Bits(bits) if bits.len() <= TEXT_WORDS => Some(bits_of(self.least, bits).into()),
            _ => None,
        };
        self.text.get_or_init(make).clone()
    }

    /// Returns true for a value of the set, and for a few others.
    #[inline(always)]
    pub fn may_have(&self, value: i64) -> bool {
        match &self.form {
            Form::Bits(bits) => has_bit(bits, self.least, value),
            Form::Bloom(words) => has_hash(words, value),
        }
    }

    /// Moves the rows whose value may be in the set to the front of `rows`, in order. Returns how many they are.
    /// `value(row)` returns the value of a row.
    #[inline(always)]
    pub fn keep(&self, rows: &mut [u32], value: impl Fn(u32) -> i64) -> usize {
        match &self.form {
            Form::Bits(bits) => keep(rows, |row| has_bit(bits, self.least, value(row))),
            Form::Bloom(words) => keep(rows, |row| has_hash(words, value(row))),
        }
    }
}

/// Moves the rows that pass to the front, in order. Returns how many they are.
#[inline(always)]
pub fn keep(rows: &mut [u32], passes: impl Fn(u32) -> bool) -> usize {
    let mut kept = 0;
    for n in 0..rows.len() {
        let row = rows[n];
        rows[kept] = row;
        kept += usize::from(passes(row));
    }
    kept
}

#[inline(always)]
fn has_bit(bits: &[u64], least: i64, value: i64) -> bool {
    let place = value.wrapping_sub(least) as u64;
    bits.get((place / 64) as usize).is_some_and(|word| word >> (place % 64) & 1 == 1)
}

#[inline(always)]
fn has_hash(words: &[u64], value: i64) -> bool {
    let hash = hash(value);
    let bits = pattern(hash);
    words[word_of(hash, words.len())] & bits == bits
}

#[inline(always)]
fn hash(value: i64) -> u64 {
    let value = u128::from(value as u64 ^ 0x243f_6a88_85a3_08d3);
    let product = value.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    (product >> 64) as u64 ^ product as u64
}

#[inline(always)]
fn word_of(hash: u64, words: usize) -> usize {
    ((u128::from(hash) * words as u128) >> 64) as usize
}

#[inline(always)]
fn pattern(hash: u64) -> u64 {
    1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(values: &[i64], nulls: Option<Vec<bool>>) -> Option<KeySet> {
        let column = Column { values: Values::Fixed(Data::Ints(values.to_vec())), nulls };
        KeySet::of(&column, &Budget::new(1 << 24))
    }

    #[test]
    fn has_each_of_its_values_and_few_others() {
        let spread = |n: i64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15u64 as i64);
        let forms: [(&str, Vec<i64>); 5] = [
            ("one", vec![-7]),
            ("ends", vec![i64::MIN, i64::MAX, 0]),
            ("dense", (0..5000).map(|n| n * 3 - 900).collect()),
            ("spread", (0..5000).map(spread).collect()),
            ("far", (0..50).map(|n| i64::MAX - n * 1_000_003).collect()),
        ];
        for (name, values) in forms {
            let of = set(&values, None).unwrap();
            assert!(values.iter().all(|&value| of.may_have(value)), "{name}");
            let others: Vec<i64> = (0..20_000).map(|n| spread(n + 1_000_000)).filter(|n| !values.contains(n)).collect();
            let passed = others.iter().filter(|&&value| of.may_have(value)).count();
            assert!(passed < others.len() / 12, "{name}: {passed} of {} pass", others.len());
            let mut rows: Vec<u32> = (0..others.len() as u32).collect();
            let kept = of.keep(&mut rows, |row| others[row as usize]);
            let expect: Vec<u32> = (0..others.len() as u32).filter(|&n| of.may_have(others[n as usize])).collect();
            assert_eq!(rows[..kept], expect, "{name}");
            let mut different = values.clone();
            different.sort();
            assert!(of.count() == different.len() as u64 && (name == "spread") == of.text().is_none(), "{name}");
            assert_eq!(of.range(), (*values.iter().min().unwrap(), *values.iter().max().unwrap()), "{name}");
        }
    }

    #[test]
    fn nulls_are_no_keys() {
        let of = set(&[1, 2, 3], Some(vec![true, false, true])).unwrap();
        assert_eq!((of.may_have(1), of.may_have(2), of.range()), (false, true, (2, 2)));
        assert!(set(&[1], Some(vec![true])).is_none() && set(&[], None).is_none());
    }

    #[test]
    fn no_set_without_memory() {
        let column = Column { values: Values::Fixed(Data::Ints((0..100_000).collect())), nulls: None };
        assert!(KeySet::of(&column, &Budget::new(1000)).is_none());
    }
}
