//! Keys of a batch: values of expressions, their hashes, and words of 64 bits.
//!
//! ```text
//!   key                                                              form
//!   one column of whole numbers, dates, floats, small decimals ..    Word: i64
//!   two of them                                                      Pair: two i64
//!   all others: texts, wide decimals, more columns, equal nulls      General: hash, then columns are compared
//! ```
//!
//! Equal keys have equal words and equal hashes whatever their shape in memory: a decimal of 64 bits and one of 128, a
//! text and its code, -0.0 and 0.0, any two NaN.

use std::borrow::Cow;
use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::vector::{Bytes, Data, Vector};
use yunti_sql_plan::{Batch, Expression, Operation};

use crate::expression::Evaluator;
use crate::store::column::{Column, Values};
use crate::store::wrong_shape;

/// Keys of one worker.
pub struct Keys(Vec<Key>);

enum Key {
    Column(usize),
    Computed(Box<Evaluator>),
}

impl Keys {
    pub fn new(expressions: &[Expression]) -> Result<Keys> {
        let one = |of: &Expression| {
            Ok(match of.operation {
                Operation::Column(column) => Key::Column(column),
                _ => Key::Computed(Box::new(Evaluator::new(of)?)),
            })
        };
        Ok(Keys(expressions.iter().map(one).collect::<Result<_>>()?))
    }

    /// Returns the keys of a batch. A column is shared.
    pub fn of(&mut self, batch: &Batch) -> Result<Vec<Arc<Vector>>> {
        let one = |key: &mut Key| match key {
            Key::Column(column) => batch.columns.get(*column).cloned().ok_or_else(wrong_shape),
            Key::Computed(evaluator) => evaluator.evaluate(batch),
        };
        self.0.iter_mut().map(one).collect()
    }

    /// Returns the keys that are no columns.
    pub fn computed(&mut self, batch: &Batch) -> Result<Vec<Arc<Vector>>> {
        let mut all = Vec::new();
        for key in &mut self.0 {
            if let Key::Computed(evaluator) = key {
                all.push(evaluator.evaluate(batch)?);
            }
        }
        Ok(all)
    }
}

/// Returns a float as a word: equal for equal floats, and for all NaN.
#[inline(always)]
pub fn float_word(value: f64) -> i64 {
    if value.is_nan() { f64::NAN.to_bits() as i64 } else { (value + 0.0).to_bits() as i64 }
}

/// Returns the words of values whose shape has words; None for others.
pub fn words(data: &Data) -> Option<Cow<'_, [i64]>> {
    Some(match data {
        Data::Ints(v) | Data::SmallDecimals(v) => Cow::Borrowed(v),
        Data::Floats(v) => Cow::Owned(v.iter().map(|&v| float_word(v)).collect()),
        Data::Bools(v) => Cow::Owned(v.iter().map(|&v| v.into()).collect()),
        Data::NumberCodes(codes, values) => {
            let values = words(values)?;
            Cow::Owned(codes.iter().map(|&code| values[code as usize]).collect())
        }
        Data::Decimals(_) | Data::Bytes(_) | Data::Codes(..) => return None,
    })
}

/// Words of the keys of a batch.
pub struct Words<'a> {
    pub words: Cow<'a, [i64]>,
    /// True for each key that a word cannot hold: no such key is in the table. None: all have words.
    pub misfits: Option<Vec<bool>>,
}

/// Returns the words of keys that look into a table of words.
pub fn probe_words(vector: &Vector) -> Result<Words<'_>> {
    if let Some(words) = words(&vector.data) {
        return Ok(Words { words, misfits: vector.nulls.clone() });
    }
    let decoded = vector.decoded();
    let Data::Decimals(values) = &decoded.data else { return Err(wrong_shape()) };
    let mut misfits: Vec<bool> = values.iter().map(|&v| i64::try_from(v).is_err()).collect();
    if let Some(nulls) = &vector.nulls {
        misfits.iter_mut().zip(nulls).for_each(|(misfit, null)| *misfit |= null);
    }
    Ok(Words { words: Cow::Owned(values.iter().map(|&v| v as i64).collect()), misfits: Some(misfits) })
}

const S0: u64 = 0x243f_6a88_85a3_08d3;
const S1: u64 = 0x1319_8a2e_0370_7344 | 1;
const FINAL: u64 = 0xd6e8_feb8_6659_fd93;
/// Hash of a null.
const NULL: u64 = 0xa409_3822_299f_31d0;

#[inline(always)]
fn fold_multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// Returns the hash of a word.
#[inline(always)]
pub fn hash_word(word: i64) -> u64 {
    let hash = fold_multiply(word as u64 ^ S0, S1);
    (hash ^ hash >> 32).wrapping_mul(FINAL)
}

/// Returns the hash of a key of several parts.
#[inline(always)]
pub fn combine(first: u64, second: u64) -> u64 {
    let hash = fold_multiply(first ^ S1, second ^ S0);
    (hash ^ first.rotate_left(29)).wrapping_mul(FINAL)
}

#[inline(always)]
fn hash_decimal(value: i128) -> u64 {
    match i64::try_from(value) {
        Ok(word) => hash_word(word),
        Err(_) => combine(hash_word(value as i64), hash_word((value >> 64) as i64)),
    }
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    let word = |part: &[u8]| part.try_into().map_or(0, u64::from_le_bytes);
    let n = bytes.len();
    let (mut a, mut b) = (S0 ^ n as u64, S1);
    let mut rest = bytes;
    while rest.len() > 16 {
        let (step, behind) = rest.split_at(16);
        a = fold_multiply(a ^ word(&step[..8]), b ^ word(&step[8..])) ^ a.rotate_left(23);
        b = b.rotate_left(7);
        rest = behind;
    }
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    let hash = fold_multiply(a ^ word(&last[..8]), b ^ word(&last[8..]));
    (hash ^ hash >> 32).wrapping_mul(FINAL)
}

/// Hashes of dictionaries' values. A scan gives the same dictionary with many batches.
#[derive(Default)]
pub struct CodeHashes {
    /// Dictionary of each column of the key, with the hash of each value.
    known: Vec<Option<(Arc<Bytes>, Vec<u64>)>>,
    /// Dictionary of each column at the last batch.
    last: Vec<Option<Arc<Bytes>>>,
}

impl CodeHashes {
    /// Returns the hashes of the values, if it pays to compute all of them.
    fn of(&mut self, column: usize, values: &Arc<Bytes>, rows: usize) -> Option<&[u64]> {
        if self.known.len() <= column {
            self.known.resize_with(column + 1, || None);
            self.last.resize_with(column + 1, || None);
        }
        let is_known = self.known[column].as_ref().is_some_and(|(of, _)| Arc::ptr_eq(of, values));
        if !is_known {
            let came_before = self.last[column].as_ref().is_some_and(|of| Arc::ptr_eq(of, values));
            self.last[column] = Some(values.clone());
            // A dictionary larger than the batch pays with the batches that follow.
            if values.len() > rows && !(came_before && values.len() <= 64 * rows.max(1024)) {
                return None;
            }
            self.known[column] = Some((values.clone(), values.iter().map(hash_bytes).collect()));
        }
        self.known[column].as_ref().map(|(_, hashes)| &hashes[..])
    }
}

/// Sets the hash of each key. Nulls have a hash of their own.
pub fn hash_columns(columns: &[Arc<Vector>], rows: usize, codes: &mut CodeHashes, hashes: &mut Vec<u64>) {
    hashes.clear();
    hashes.resize(rows, 0);
    for (n, column) in columns.iter().enumerate() {
        let data = &column.data;
        let nulls = column.nulls.as_deref();
        match data {
            Data::Ints(v) | Data::SmallDecimals(v) => put(hashes, n, nulls, |row| hash_word(v[row])),
            Data::Floats(v) => put(hashes, n, nulls, |row| hash_word(float_word(v[row]))),
            Data::Bools(v) => put(hashes, n, nulls, |row| hash_word(v[row].into())),
            Data::Decimals(v) => put(hashes, n, nulls, |row| hash_decimal(v[row])),
            Data::Bytes(v) => put(hashes, n, nulls, |row| hash_bytes(v.get(row))),
            Data::Codes(of, values) => match codes.of(n, values, rows) {
                Some(known) => put(hashes, n, nulls, |row| known[of[row] as usize]),
                None => put(hashes, n, nulls, |row| hash_bytes(values.get(of[row] as usize))),
            },
            Data::NumberCodes(of, values) => match &**values {
                Data::Ints(v) | Data::SmallDecimals(v) => put(hashes, n, nulls, |row| hash_word(v[of[row] as usize])),
                Data::Floats(v) => put(hashes, n, nulls, |row| hash_word(float_word(v[of[row] as usize]))),
                Data::Bools(v) => put(hashes, n, nulls, |row| hash_word(v[of[row] as usize].into())),
                Data::Decimals(v) => put(hashes, n, nulls, |row| hash_decimal(v[of[row] as usize])),
                _ => {}
            },
        }
    }
}

#[inline(always)]
fn put(hashes: &mut [u64], column: usize, nulls: Option<&[bool]>, of: impl Fn(usize) -> u64) {
    let of = |row: usize| match nulls {
        Some(nulls) if nulls[row] => NULL,
        _ => of(row),
    };
    if column == 0 {
        hashes.iter_mut().enumerate().for_each(|(row, hash)| *hash = of(row));
    } else {
        hashes.iter_mut().enumerate().for_each(|(row, hash)| *hash = combine(*hash, of(row)));
    }
}

/// Sets the hash of each key of kept rows, from a row on; the same hashes as `hash_columns` gives.
pub fn hash_kept(columns: &[&Column], first: usize, hashes: &mut [u64]) {
    for (n, column) in columns.iter().enumerate() {
        let nulls = column.nulls.as_ref().map(|nulls| &nulls[first..first + hashes.len()]);
        match &column.values {
            Values::Fixed(Data::Ints(v) | Data::SmallDecimals(v)) => put(hashes, n, nulls, |i| hash_word(v[first + i])),
            Values::Fixed(Data::Floats(v)) => put(hashes, n, nulls, |i| hash_word(float_word(v[first + i]))),
            Values::Fixed(Data::Bools(v)) => put(hashes, n, nulls, |i| hash_word(v[first + i].into())),
            Values::Fixed(Data::Decimals(v)) => put(hashes, n, nulls, |i| hash_decimal(v[first + i])),
            Values::Fixed(_) => {}
            Values::Texts(texts) => put(hashes, n, nulls, |i| hash_bytes(texts.get(first + i))),
        }
    }
}

/// Returns true if two kept rows have the same key.
pub fn same_kept(columns: &[&Column], a: usize, b: usize) -> bool {
    columns.iter().all(|column| {
        let (x, y) = (column.is_null(a), column.is_null(b));
        if x | y {
            return x & y;
        }
        match &column.values {
            Values::Fixed(Data::Ints(v) | Data::SmallDecimals(v)) => v[a] == v[b],
            Values::Fixed(Data::Floats(v)) => float_word(v[a]) == float_word(v[b]),
            Values::Fixed(Data::Bools(v)) => v[a] == v[b],
            Values::Fixed(Data::Decimals(v)) => v[a] == v[b],
            Values::Fixed(_) => false,
            Values::Texts(texts) => texts.get(a) == texts.get(b),
        }
    })
}

/// Keeps the pairs (row of the batch, kept row) whose values in one column are the same; `same` has a flag for each.
pub fn compare_kept(probe: &Vector, kept: &Column, pairs: &[(u32, u32)], same: &mut [bool]) {
    let decoded = probe.decoded();
    let probe = &*decoded;
    match (&probe.data, &kept.values) {
        (Data::Ints(a) | Data::SmallDecimals(a), Values::Fixed(Data::Ints(b) | Data::SmallDecimals(b))) => {
            compare(probe, kept, pairs, same, |x, y| a[x] == b[y]);
        }
        (Data::Decimals(a), Values::Fixed(Data::Decimals(b))) => compare(probe, kept, pairs, same, |x, y| a[x] == b[y]),
        (Data::SmallDecimals(a), Values::Fixed(Data::Decimals(b))) => {
            compare(probe, kept, pairs, same, |x, y| i128::from(a[x]) == b[y]);
        }
        (Data::Decimals(a), Values::Fixed(Data::SmallDecimals(b))) => {
            compare(probe, kept, pairs, same, |x, y| a[x] == i128::from(b[y]));
        }
        (Data::Floats(a), Values::Fixed(Data::Floats(b))) => {
            compare(probe, kept, pairs, same, |x, y| float_word(a[x]) == float_word(b[y]));
        }
        (Data::Bools(a), Values::Fixed(Data::Bools(b))) => compare(probe, kept, pairs, same, |x, y| a[x] == b[y]),
        (Data::Bytes(a), Values::Texts(b)) => compare(probe, kept, pairs, same, |x, y| a.get(x) == b.get(y)),
        (Data::Codes(codes, values), Values::Texts(b)) => {
            compare(probe, kept, pairs, same, |x, y| values.get(codes[x] as usize) == b.get(y));
        }
        _ => same.fill(false),
    }
}

#[inline(always)]
fn compare(
    probe: &Vector,
    kept: &Column,
    pairs: &[(u32, u32)],
    same: &mut [bool],
    equal: impl Fn(usize, usize) -> bool,
) {
    let of = |&(x, y): &(u32, u32)| equal(x as usize, y as usize);
    if probe.nulls.is_none() && kept.nulls.is_none() {
        pairs.iter().zip(same).for_each(|(pair, same)| *same &= of(pair));
        return;
    }
    pairs.iter().zip(same).for_each(|(pair, same)| {
        let (a, b) = (probe.is_null(pair.0 as usize), kept.is_null(pair.1 as usize));
        *same &= if a | b { a & b } else { of(pair) };
    });
}
