//! Groups of rows by the values of several columns: each row gets the number of its group.
//!
//! ```text
//!   text column     each distinct text has a number; of a dictionary, each code once     u64
//!   other columns   the value itself, a decimal in two words                             u64
//!   nulls           a word of flags behind them
//!   the words of a row --> hash --> slot --> group          few texts: their numbers side by side --> group
//! ```
//!
//! Columns that are all codes of small dictionaries need no words: the codes of a row side by side are a place, which
//! has its group after the first row. So has the number of an only column if the numbers are of a small range.

use std::ops::Range;
use std::sync::Arc;

use super::kind::Kind;
use super::normal;
use super::vector::{Bytes, Data, Dictionary, Value, Vector};

/// Bits of the direct index of groups.
const DIRECT_BITS: u32 = 16;

/// Combinations of codes, at most, that have a place of their own.
const CODE_PLACES_MAX: usize = 1 << 16;

/// Groups of combinations of codes, in the dictionaries of the last rows.
#[derive(Default)]
pub struct CodeIndex {
    dictionaries: Vec<Dictionary>,
    /// Group of each place, plus one; 0: not known.
    groups: Vec<u32>,
    /// Places of the rows of a call.
    places: Vec<u32>,
}

impl CodeIndex {
    /// Returns the places of the rows of the last call, and of each place its group plus one; 0: not known.
    pub fn parts(&mut self) -> (&[u32], &mut [u32]) {
        (&self.places, &mut self.groups)
    }

    /// Finds the place of each row; false if a column has no codes, or the dictionaries are large.
    pub fn find(&mut self, columns: &[&Vector]) -> bool {
        let codes: Option<Vec<_>> = columns.iter().map(|column| column.data.codes()).collect();
        let Some(codes) = codes else { return false };
        // A null is one more value.
        let places = codes.iter().try_fold(1usize, |n, (_, of)| n.checked_mul(of.len() + 1));
        let Some(places) = places.filter(|places| *places <= CODE_PLACES_MAX) else { return false };
        let is_known = self.dictionaries.len() == codes.len()
            && self.dictionaries.iter().zip(&codes).all(|(before, (_, of))| before.is(of));
        if !is_known {
            self.groups.clear();
            self.groups.resize(places, 0);
            self.dictionaries = codes.iter().map(|(_, of)| of.clone()).collect();
        }
        self.places.clear();
        let mut stride = 1;
        for ((codes, of), column) in codes.iter().zip(columns) {
            let null = of.len() as u32;
            let code = |row: usize| if column.is_null(row) { null } else { codes[row] };
            match (stride, &column.nulls) {
                (1, None) => self.places.extend_from_slice(codes),
                (1, Some(_)) => self.places.extend((0..codes.len()).map(code)),
                (_, None) => self.places.iter_mut().zip(*codes).for_each(|(place, code)| *place += stride * code),
                (_, Some(_)) => {
                    self.places.iter_mut().enumerate().for_each(|(row, place)| *place += stride * code(row));
                }
            }
            stride *= null + 1;
        }
        true
    }
}

/// Numbers of a range, at most, that have a place of their own, and for each group.
const NUMBER_PLACES_MAX: u64 = 1 << 22;
const NUMBER_PLACES_A_GROUP: u64 = 16;
/// Places that are worth a try with few groups.
const NUMBER_PLACES_MIN: u64 = 1 << 18;
/// Ranges that turn out to be too large, until numbers have no places any more.
const LARGE_RANGES_MAX: u32 = 8;

/// Groups of the numbers of an only column, if they are of a small range.
#[derive(Default)]
pub struct NumberIndex {
    /// Number of the first place.
    base: i64,
    /// Group of each place, plus one; 0: not known.
    groups: Vec<u32>,
    large_ranges: u32,
}

impl NumberIndex {
    /// Returns the number of the first place, and of each place its group plus one; 0: not known.
    pub fn parts(&mut self) -> (i64, &mut [u32]) {
        (self.base, &mut self.groups)
    }

    /// Makes places for some numbers; false if their range is too large. Groups without a place are found by words.
    pub fn covers(&mut self, values: &[i64], groups: usize) -> bool {
        let (Some(least), Some(most)) = (values.iter().min(), values.iter().max()) else { return false };
        if self.large_ranges > LARGE_RANGES_MAX {
            return false;
        }
        let (mut from, mut to) = (i128::from(*least), i128::from(*most) + 1);
        let (base, len) = (i128::from(self.base), self.groups.len() as i128);
        if len > 0 && from >= base && to <= base + len {
            return true;
        }
        if len > 0 {
            // Twice as many at once, so that numbers in order do not cost a copy each time.
            from = if from < base { (base - len).min(from).max(i64::MIN.into()) } else { base };
            to = if to > base + len { (base + 2 * len).max(to).min(i128::from(i64::MAX) + 1) } else { base + len };
        }
        let most = ((groups + values.len()) as u64 * NUMBER_PLACES_A_GROUP).max(NUMBER_PLACES_MIN);
        if to - from > i128::from(NUMBER_PLACES_MAX.min(most)) {
            *self = NumberIndex { large_ranges: self.large_ranges + 1, ..NumberIndex::default() };
            return false;
        }
        let mut all = vec![0; (to - from) as usize];
        let start = if len > 0 { (base - from) as usize } else { 0 };
        all[start..start + self.groups.len()].copy_from_slice(&self.groups);
        (self.base, self.groups) = (from as i64, all);
        true
    }
}

/// Groups of rows.
pub struct Grouping {
    kinds: Vec<Kind>,
    texts: Vec<Texts>,
    /// Words of a row's key.
    width: usize,
    table: Table,
    /// Words of the keys of all groups.
    keys: Vec<u64>,
    groups: usize,
    /// Group of each combination of small numbers, plus one; 0: not known. Empty if a column is no text.
    direct: Vec<u32>,
    codes: CodeIndex,
    numbers: NumberIndex,
    /// Words of the rows of a call.
    words: Vec<u64>,
}

/// Entries numbered in the order in which they are added, found by their hashes: open addressing.
#[derive(Default)]
struct Table {
    /// Number of an entry plus one, and 32 bits of its hash that do not choose the slot.
    slots: Vec<(u32, u32)>,
    hashes: Vec<u64>,
}

impl Table {
    /// Returns the number of the entry for which `equal` holds, or adds one. The second value is true if it was added.
    #[inline]
    fn find_or_add(&mut self, hash: u64, equal: impl Fn(usize) -> bool) -> (usize, bool) {
        if self.slots.len() < 2 * (self.hashes.len() + 1) {
            self.grow();
        }
        let (mask, tag) = (self.slots.len() - 1, hash as u32);
        let mut at = (hash >> 32) as usize & mask;
        loop {
            let (number, other) = self.slots[at];
            if number == 0 {
                self.slots[at] = (self.hashes.len() as u32 + 1, tag);
                self.hashes.push(hash);
                return (self.hashes.len() - 1, true);
            }
            if other == tag && equal(number as usize - 1) {
                return (number as usize - 1, false);
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        self.slots = vec![(0, 0); (self.slots.len() * 2).max(64)];
        let mask = self.slots.len() - 1;
        for (number, &hash) in (1..).zip(&self.hashes) {
            let mut at = (hash >> 32) as usize & mask;
            while self.slots[at].0 != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = (number, hash as u32);
        }
    }

    fn used_bytes(&self) -> usize {
        8 * (self.slots.len() + self.hashes.len())
    }

    fn clear(&mut self) {
        self.slots.fill((0, 0));
        self.hashes.clear();
    }
}

/// Distinct texts of a column, numbered from 1; 0 is the null.
#[derive(Default)]
struct Texts {
    table: Table,
    texts: Bytes,
    /// Numbers of the codes of a dictionary, 0 for codes that have not occurred.
    codes: Option<(Arc<Bytes>, Vec<u32>)>,
}

impl Texts {
    fn number(&mut self, text: &[u8]) -> u32 {
        let texts = &self.texts;
        let (number, is_new) = self.table.find_or_add(hash_bytes(text), |n| texts.get(n) == text);
        if is_new {
            self.texts.push(text);
        }
        number as u32 + 1
    }

    /// Calls `put` with the number of each row's text.
    fn numbers(&mut self, column: &Vector, mut put: impl FnMut(usize, u32)) {
        match &column.data {
            Data::Codes(codes, values) => {
                let is_known = self.codes.as_ref().is_some_and(|(before, _)| Arc::ptr_eq(before, values));
                let (_, mut numbers) = match self.codes.take() {
                    Some(known) if is_known => known,
                    _ => (values.clone(), vec![0; values.len()]),
                };
                for (row, &code) in codes.iter().enumerate() {
                    if column.is_null(row) {
                        put(row, 0);
                        continue;
                    }
                    let mut number = numbers[code as usize];
                    if number == 0 {
                        number = self.number(values.get(code as usize));
                        numbers[code as usize] = number;
                    }
                    put(row, number);
                }
                self.codes = Some((values.clone(), numbers));
            }
            _ => {
                for row in 0..column.len() {
                    let number = if column.is_null(row) { 0 } else { self.number(column.bytes(row)) };
                    put(row, number);
                }
            }
        }
    }

    fn used_bytes(&self) -> usize {
        self.table.used_bytes() + self.texts.used_bytes() + self.codes.as_ref().map_or(0, |(_, n)| 4 * n.len())
    }

    fn clear(&mut self) {
        self.table.clear();
        self.texts = Bytes::default();
        self.codes = None;
    }
}

/// Returns the words of a value in a row's key.
fn words_of(kind: &Kind) -> usize {
    if matches!(kind, Kind::Decimal { .. }) { 2 } else { 1 }
}

impl Grouping {
    /// Returns no groups of columns of these types.
    pub fn new(kinds: &[Kind]) -> Grouping {
        let only_texts = !kinds.is_empty() && kinds.iter().all(|kind| *kind == Kind::Text);
        let is_direct = only_texts && kinds.len() as u32 <= DIRECT_BITS / 4;
        Grouping {
            texts: kinds.iter().map(|_| Texts::default()).collect(),
            width: kinds.iter().map(words_of).sum::<usize>() + usize::from(!only_texts),
            kinds: kinds.to_vec(),
            table: Table::default(),
            keys: Vec::new(),
            groups: 0,
            direct: if is_direct { vec![0; 1 << DIRECT_BITS] } else { Vec::new() },
            codes: CodeIndex::default(),
            numbers: NumberIndex::default(),
            words: Vec::new(),
        }
    }

    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Returns the bytes that the groups take.
    pub fn used_bytes(&self) -> usize {
        let index = 4 * self.numbers.groups.len();
        index + self.table.used_bytes() + 8 * self.keys.len() + self.texts.iter().map(Texts::used_bytes).sum::<usize>()
    }

    /// Forgets all groups.
    pub fn clear(&mut self) {
        self.texts.iter_mut().for_each(Texts::clear);
        self.table.clear();
        self.keys.clear();
        self.direct.fill(0);
        self.codes.dictionaries.clear();
        self.numbers = NumberIndex::default();
        self.groups = 0;
    }

    /// Sets `to` to the group of each row. Without a column, all rows are of one group.
    pub fn assign(&mut self, columns: &[&Vector], rows: usize, to: &mut Vec<u32>) {
        to.clear();
        if self.kinds.is_empty() {
            self.groups = 1;
            to.resize(rows, 0);
            return;
        }
        if let [column] = columns {
            let column = column.decoded();
            if let (Data::Ints(values) | Data::SmallDecimals(values), None) = (&column.data, &column.nulls) {
                let mut index = std::mem::take(&mut self.numbers);
                let is_found = index.covers(values, self.groups);
                if is_found {
                    let place = |row: usize| values[row].wrapping_sub(index.base) as usize;
                    self.assign_by(&mut index.groups, place, &[&column], rows, to);
                }
                self.numbers = index;
                if is_found {
                    return;
                }
            }
        }
        if self.codes.find(columns) {
            let mut index = std::mem::take(&mut self.codes);
            let places = &index.places;
            self.assign_by(&mut index.groups, |row| places[row] as usize, columns, rows, to);
            self.codes = index;
            return;
        }
        self.assign_words(columns, rows, to);
    }

    /// Appends the group of each row to `to`, by an index: a row's place has its group plus one, or 0.
    fn assign_by(
        &mut self,
        index: &mut [u32],
        place: impl Fn(usize) -> usize,
        columns: &[&Vector],
        rows: usize,
        to: &mut Vec<u32>,
    ) {
        let mut missing = Vec::new();
        to.extend((0..rows).map(|row| {
            let known = index[place(row)];
            if known == 0 {
                missing.push(row as u32);
            }
            known.wrapping_sub(1)
        }));
        if missing.is_empty() {
            return;
        }
        let columns: Vec<Vector> = columns.iter().map(|column| column.select(&missing)).collect();
        let mut found = Vec::with_capacity(missing.len());
        self.assign_words(&columns.iter().collect::<Vec<_>>(), missing.len(), &mut found);
        for (&row, group) in missing.iter().zip(found) {
            to[row as usize] = group;
            index[place(row as usize)] = group + 1;
        }
    }

    /// Appends the group of each row to `to`, by the words of its key.
    fn assign_words(&mut self, columns: &[&Vector], rows: usize, to: &mut Vec<u32>) {
        self.put_words(columns, rows);
        let bits = DIRECT_BITS / self.kinds.len() as u32;
        for row in 0..rows {
            let words = &self.words[row * self.width..][..self.width];
            let mut direct = None;
            if !self.direct.is_empty() && words.iter().all(|&word| word < 1 << bits) {
                let at = words.iter().fold(0, |at, &word| at << bits | word as usize);
                if self.direct[at] != 0 {
                    to.push(self.direct[at] - 1);
                    continue;
                }
                direct = Some(at);
            }
            let hash = words.iter().fold(0, |hash, &word| mix(hash ^ word));
            let (keys, width) = (&self.keys, self.width);
            let (group, is_new) = self.table.find_or_add(hash, |n| keys[n * width..][..width] == *words);
            if is_new {
                self.keys.extend_from_slice(words);
                self.groups += 1;
            }
            if let Some(at) = direct {
                self.direct[at] = group as u32 + 1;
            }
            to.push(group as u32);
        }
    }

    /// Sets the words of all rows.
    fn put_words(&mut self, columns: &[&Vector], rows: usize) {
        let Grouping { kinds, texts, width, words, .. } = self;
        let width = *width;
        words.clear();
        words.resize(rows * width, 0);
        let mut place = 0;
        for (number, ((column, kind), texts)) in columns.iter().zip(&*kinds).zip(texts).enumerate() {
            let mut put = |row: usize, word: u64| words[row * width + place] = word;
            let mut high = Vec::new();
            match &column.decoded().data {
                Data::Bytes(_) | Data::Codes(..) => texts.numbers(column, |row, number| put(row, number.into())),
                Data::Bools(values) => values.iter().enumerate().for_each(|(row, &v)| put(row, v.into())),
                Data::Ints(values) => values.iter().enumerate().for_each(|(row, &v)| put(row, v as u64)),
                Data::Floats(values) => {
                    values.iter().enumerate().for_each(|(row, &v)| put(row, normal::ordered_float(v)));
                }
                Data::SmallDecimals(values) => {
                    for (row, &v) in values.iter().enumerate() {
                        put(row, v as u64);
                        high.push((v >> 63) as u64);
                    }
                }
                // Decoded above.
                Data::NumberCodes(..) => {}
                Data::Decimals(values) => {
                    for (row, &v) in values.iter().enumerate() {
                        put(row, v as u64);
                        high.push((v >> 64) as u64);
                    }
                }
            }
            for (row, word) in high.into_iter().enumerate() {
                words[row * width + place + 1] = word;
            }
            let own = words_of(kind);
            if let (Some(nulls), false) = (&column.nulls, *kind == Kind::Text) {
                for (row, _) in nulls.iter().enumerate().filter(|(_, null)| **null) {
                    words[row * width + place..][..own].fill(0);
                    words[row * width + width - 1] |= 1 << (number % 64);
                }
            }
            place += own;
        }
    }

    /// Appends some columns of the key of a group, in normal form.
    pub fn put_key(&self, group: usize, columns: Range<usize>, out: &mut Vec<u8>) {
        if self.kinds.is_empty() {
            return;
        }
        let words = &self.keys[group * self.width..][..self.width];
        let mut place = 0;
        for (number, kind) in self.kinds.iter().enumerate() {
            let word = words[place];
            let is_null = match kind {
                Kind::Text => word == 0,
                _ => words[self.width - 1] >> (number % 64) & 1 == 1,
            };
            let value = match kind {
                _ if is_null => Value::Null,
                Kind::Text => Value::Bytes(self.texts[number].texts.get(word as usize - 1).to_vec()),
                Kind::Boolean => Value::Bool(word != 0),
                Kind::Float | Kind::Float32 => Value::Float(normal::float_of(word)),
                Kind::Decimal { .. } => Value::Decimal(i128::from(words[place + 1] as i64) << 64 | i128::from(word)),
                _ => Value::Int(word as i64),
            };
            if columns.contains(&number) {
                normal::put(value.cell(), out);
            }
            place += words_of(kind);
        }
    }
}

/// Returns a hash of bytes.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        hash = mix(hash ^ u64::from_le_bytes(*chunk));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(hash ^ u64::from_le_bytes(last))
}

/// Returns a number whose bits all depend on all bits of another.
#[inline]
pub fn mix(number: u64) -> u64 {
    let product = u128::from(number ^ 0xa076_1d64_78bd_642f) * u128::from(0xe703_7ed1_a0b4_28db_u64);
    let folded = (product >> 64) as u64 ^ product as u64;
    folded ^ folded.rotate_right(29)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::env::random::Random;

    fn random_column(kind: Kind, rows: usize, distinct: u64, random: &mut Random) -> Vector {
        let mut numbers = || random.below(distinct) as i64 - 3;
        let data = match kind {
            Kind::Boolean => Data::Bools((0..rows).map(|_| numbers() > 0).collect()),
            Kind::Float => {
                Data::Floats((0..rows).map(|_| if numbers() == 0 { -0.0 } else { numbers() as f64 / 2.0 }).collect())
            }
            Kind::Decimal { .. } => Data::Decimals((0..rows).map(|_| i128::from(numbers()) << 70).collect()),
            Kind::Text => {
                let texts: Vec<String> = (0..rows).map(|_| format!("text {}", numbers())).collect();
                Data::Bytes(texts.iter().map(|text| text.as_bytes()).collect())
            }
            _ => Data::Ints((0..rows).map(|_| numbers() << 40).collect()),
        };
        let nulls = (random.below(2) == 0).then(|| (0..rows).map(|_| random.below(5) == 0).collect());
        Vector { data, nulls }
    }

    /// Gives a column as codes, in a dictionary with values that no row has.
    fn coded(column: &Vector) -> Vector {
        if !matches!(column.data, Data::Bytes(_)) {
            let codes = (0..column.len() as u32).rev().collect();
            let backwards: Vec<u32> = (0..column.len() as u32).rev().collect();
            let values = match column.data.select(&backwards) {
                Data::Decimals(values) if values.iter().all(|v| i64::try_from(*v).is_ok()) => {
                    Data::SmallDecimals(values.iter().map(|v| *v as i64).collect())
                }
                values => values,
            };
            return Vector { data: Data::NumberCodes(codes, Arc::new(values)), nulls: column.nulls.clone() };
        }
        let texts: Vec<&[u8]> = (0..column.len()).map(|row| column.bytes(row)).collect();
        let mut values: Vec<&[u8]> = [texts.clone(), vec![b"unused"]].concat();
        values.sort_unstable();
        values.dedup();
        let codes = texts.iter().map(|text| values.binary_search(text).unwrap() as u32).collect();
        Vector { data: Data::Codes(codes, Arc::new(values.into_iter().collect())), nulls: column.nulls.clone() }
    }

    #[test]
    fn numbers_of_a_small_range_have_places() {
        let mut index = NumberIndex::default();
        assert!(index.covers(&[100, 90], 0));
        assert_eq!((index.base, index.groups.len()), (90, 11));
        index.groups[10] = 7;
        assert!(index.covers(&[80], 4) && index.covers(&[130], 4));
        assert_eq!(index.groups[(100 - index.base) as usize], 7);
        assert!(index.base <= 80 && index.base + index.groups.len() as i64 > 130);
        assert!(!index.covers(&[i64::MIN, i64::MAX], 1));
        // Another range begins anew, as long as there are few of them.
        assert!(index.covers(&[100], 1));
        for _ in 0..LARGE_RANGES_MAX {
            assert!(!index.covers(&[i64::MIN, i64::MAX], 1));
        }
        assert!(!index.covers(&[100], 1));
        let ends: Vec<i64> = (0..1000).map(|n| i64::MAX - n).collect();
        assert!(NumberIndex::default().covers(&ends, 0));
        let mut index = NumberIndex::default();
        assert!(index.covers(&[i64::MIN, i64::MIN + 9], 0) && index.covers(&[i64::MIN + 20], 4));
    }

    #[test]
    fn rows_of_a_group_have_the_same_key_and_others_another() {
        let random = &mut Random::new(7);
        let kinds = [Kind::Boolean, Kind::Int, Kind::Float, Kind::Decimal { scale: 1 }, Kind::Text, Kind::Text];
        for case in 0..60 {
            let n = random.below(4) as usize;
            let kinds: Vec<Kind> = (0..n).map(|_| kinds[random.below(6) as usize]).collect();
            let mut grouping = Grouping::new(&kinds);
            let mut groups_of: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
            let mut groups = Vec::new();
            for batch in 0..4 {
                if case % 7 == 0 && batch == 2 {
                    grouping.clear();
                    groups_of.clear();
                }
                let rows = random.below(300) as usize;
                let columns: Vec<Vector> = kinds
                    .iter()
                    .map(|&kind| {
                        let column = random_column(kind, rows, 1 + random.below(300), random);
                        if batch % 2 == 0 { coded(&column) } else { column }
                    })
                    .collect();
                grouping.assign(&columns.iter().collect::<Vec<_>>(), rows, &mut groups);
                assert_eq!(groups.len(), rows);
                for (row, &group) in groups.iter().enumerate() {
                    let mut key = Vec::new();
                    columns.iter().for_each(|column| normal::put(column.cell(row), &mut key));
                    let mut of_group = Vec::new();
                    grouping.put_key(group as usize, 0..n, &mut of_group);
                    assert_eq!(key, of_group, "{kinds:?}");
                    assert_eq!(*groups_of.entry(key).or_insert(group), group, "{kinds:?}");
                }
            }
            assert!(n == 0 || groups_of.len() <= grouping.groups());
        }
    }
}
