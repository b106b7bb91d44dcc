//! Order of kept rows: words that sort as the values do, column by column.
//!
//! ```text
//!   whole number, date, float     exact word
//!   decimal of 128 bits           exact word if it fits 64 bits; the few others are compared
//!   text                          rank in the dictionary, exact; or the first 8 bytes, then the texts are compared
//! ```
//!
//! Rows are sorted by the word of a column; stretches of equal words by the next column, after the keys by all columns
//! of the row. Rows that are equal then have the same content, so that the order never depends on where a row came
//! from.
//!
//! Rejected: one key of bytes for each row. It costs a copy of all columns, where the first word decides nearly always.

use std::cmp::Ordering;
use std::sync::OnceLock;

use yunti_engine::columns::normal::ordered_float;
use yunti_engine::columns::vector::Data;
use yunti_sql_plan::SortKey;

use crate::store::Rows;
use crate::store::column::{Column, Values};
use crate::store::texts::Texts;

/// A column of the order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Place of the column among the kept ones.
    pub place: usize,
    pub descending: bool,
    pub nulls_first: bool,
}

/// Returns the order of keys, whose places are given, and then of `columns` columns.
pub fn levels(keys: &[SortKey], places: &[usize], columns: usize) -> Vec<Level> {
    let mut all: Vec<Level> = Vec::new();
    for (key, &place) in keys.iter().zip(places) {
        if !all.iter().any(|level| level.place == place) {
            all.push(Level { place, descending: key.descending, nulls_first: key.nulls_first });
        }
    }
    for place in 0..columns {
        if !all.iter().any(|level| level.place == place) {
            all.push(Level { place, descending: false, nulls_first: false });
        }
    }
    all
}

/// Word of a row, and its number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    pub word: u64,
    pub row: u32,
}

/// A level of the order over some rows.
struct Sorted<'r> {
    column: &'r Column,
    level: Level,
    rows: usize,
    ranks: &'r Ranks,
}

/// Rank of each code of a column, once it is needed; None if the texts have no small dictionary.
type Ranks = OnceLock<Option<Vec<u32>>>;

/// Ranks of all levels of an order: several orders over the same rows share them.
pub struct LevelRanks(Vec<Ranks>);

impl LevelRanks {
    pub fn new(levels: &[Level]) -> LevelRanks {
        LevelRanks(levels.iter().map(|_| OnceLock::new()).collect())
    }
}

/// Order over some rows.
pub struct Order<'r> {
    levels: Vec<Sorted<'r>>,
}

#[inline(always)]
pub fn int_word(value: i64) -> u64 {
    value as u64 ^ 1 << 63
}

/// Returns the word of a decimal, which is exact for all but the ends.
#[inline(always)]
pub fn decimal_word(value: i128) -> u64 {
    int_word(value.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
}

/// Returns the first eight bytes of a text.
#[inline(always)]
pub fn text_word(text: &[u8]) -> u64 {
    if let Some(first) = text.first_chunk::<8>() {
        return u64::from_be_bytes(*first);
    }
    let mut word = [0; 8];
    word[..text.len()].copy_from_slice(text);
    u64::from_be_bytes(word)
}

impl Sorted<'_> {
    fn ranks(&self) -> Option<&[u32]> {
        match &self.column.values {
            Values::Texts(texts) => self.ranks.get_or_init(|| ranks(texts, self.rows)).as_deref(),
            Values::Fixed(_) => None,
        }
    }

    /// Calls `put` with the word of each entry's row; nulls have any word.
    #[inline(always)]
    fn each_word(&self, entries: &mut [Entry]) {
        let flip = if self.level.descending { u64::MAX } else { 0 };
        macro_rules! each {
            ($word:expr) => {
                entries.iter_mut().for_each(|entry| entry.word = $word(entry.row as usize) ^ flip)
            };
        }
        match &self.column.values {
            Values::Fixed(Data::Ints(v) | Data::SmallDecimals(v)) => each!(|row: usize| int_word(v[row])),
            Values::Fixed(Data::Floats(v)) => each!(|row: usize| ordered_float(v[row])),
            Values::Fixed(Data::Bools(v)) => each!(|row: usize| u64::from(v[row])),
            Values::Fixed(Data::Decimals(v)) => each!(|row: usize| decimal_word(v[row])),
            Values::Fixed(_) => {}
            Values::Texts(texts) => match (texts, self.ranks()) {
                (Texts::Coded { codes, .. }, Some(ranks)) => each!(|row: usize| u64::from(ranks[codes[row] as usize])),
                _ => each!(|row: usize| text_word(texts.get(row))),
            },
        }
    }

    /// Returns true if equal words are equal values.
    fn is_exact(&self) -> bool {
        match &self.column.values {
            Values::Fixed(data) => !matches!(data, Data::Decimals(_)),
            Values::Texts(_) => self.ranks().is_some(),
        }
    }

    /// Compares two values that are no nulls and have the same word.
    fn compare(&self, a: u32, b: u32) -> Ordering {
        let (a, b) = (a as usize, b as usize);
        let order = match &self.column.values {
            Values::Fixed(Data::Decimals(v)) => v[a].cmp(&v[b]),
            Values::Texts(texts) => texts.get(a).cmp(texts.get(b)),
            Values::Fixed(_) => Ordering::Equal,
        };
        if self.level.descending { order.reverse() } else { order }
    }
}

/// Returns the rank of each value of a dictionary: equal texts have the same.
fn ranks(texts: &Texts, rows: usize) -> Option<Vec<u32>> {
    let Texts::Coded { values, .. } = texts else { return None };
    if values.len() > rows.max(16) {
        return None;
    }
    let mut codes: Vec<u32> = (0..values.len() as u32).collect();
    codes.sort_unstable_by(|&a, &b| values.get(a as usize).cmp(values.get(b as usize)));
    let mut ranks = vec![0; codes.len()];
    for pair in 1..codes.len() {
        let (before, code) = (codes[pair - 1] as usize, codes[pair] as usize);
        ranks[code] = ranks[before] + u32::from(values.get(before) != values.get(code));
    }
    Some(ranks)
}

impl<'r> Order<'r> {
    /// Returns the order of `levels` over rows.
    pub fn new(rows: &'r Rows, levels: &[Level], ranks: &'r LevelRanks) -> Order<'r> {
        let one = |(&level, ranks): (&Level, &'r Ranks)| Sorted {
            column: rows.column(level.place),
            level,
            rows: rows.len(),
            ranks,
        };
        Order { levels: levels.iter().zip(&ranks.0).map(one).collect() }
    }

    /// Sorts all rows of a stretch of the first level.
    pub fn sort(&self, entries: &mut [Entry]) {
        let mut work = vec![(0, entries.len(), 0)];
        while let Some((first, end, level)) = work.pop() {
            let Some(sorted) = self.levels.get(level) else { continue };
            let stretch = &mut entries[first..end];
            if stretch.len() < 2 {
                continue;
            }
            let nulls = split_nulls(stretch, sorted);
            let (nulls, values) = if sorted.level.nulls_first {
                (0..nulls, nulls..stretch.len())
            } else {
                (stretch.len() - nulls..stretch.len(), 0..stretch.len() - nulls)
            };
            work.push((first + nulls.start, first + nulls.end, level + 1));
            let first = first + values.start;
            let stretch = &mut stretch[values];
            if stretch.len() < 2 {
                continue;
            }
            sorted.each_word(stretch);
            stretch.sort_unstable_by_key(|entry| entry.word);
            each_run(
                stretch,
                |a, b| a.word == b.word,
                |run, at| {
                    if sorted.is_exact() {
                        work.push((first + at, first + at + run.len(), level + 1));
                        return;
                    }
                    run.sort_unstable_by(|a, b| sorted.compare(a.row, b.row));
                    let same = |a: &Entry, b: &Entry| sorted.compare(a.row, b.row).is_eq();
                    each_run(run, same, |run, inner| {
                        work.push((first + at + inner, first + at + inner + run.len(), level + 1));
                    });
                },
            );
        }
    }

    /// Sets the word of the first level of each entry, which must not be null there.
    pub fn first_words(&self, entries: &mut [Entry]) {
        if let Some(sorted) = self.levels.first() {
            sorted.each_word(entries);
        }
    }

    /// Returns true if the row is null in the first level.
    pub fn is_null_first(&self, row: u32) -> bool {
        self.levels.first().is_some_and(|sorted| sorted.column.is_null(row as usize))
    }
}

/// Moves nulls of a level to their end; returns their number.
fn split_nulls(entries: &mut [Entry], sorted: &Sorted<'_>) -> usize {
    let Some(nulls) = &sorted.column.nulls else { return 0 };
    let is_first = |entry: &Entry| nulls[entry.row as usize] == sorted.level.nulls_first;
    let mut len = 0;
    for n in 0..entries.len() {
        if is_first(&entries[n]) {
            entries.swap(len, n);
            len += 1;
        }
    }
    if sorted.level.nulls_first { len } else { entries.len() - len }
}

/// Calls `f` with each stretch of two or more entries that are the same, and its place.
fn each_run(entries: &mut [Entry], same: impl Fn(&Entry, &Entry) -> bool, mut f: impl FnMut(&mut [Entry], usize)) {
    let mut first = 0;
    while first < entries.len() {
        let mut end = first + 1;
        while end < entries.len() && same(&entries[first], &entries[end]) {
            end += 1;
        }
        if end - first > 1 {
            f(&mut entries[first..end], first);
        }
        first = end;
    }
}
