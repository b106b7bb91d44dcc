//! Table of a join: kept rows, and the first row of each key.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use yunti_base::Result;
use yunti_engine::columns::vector::{Data, Vector};
use yunti_engine::memory::Grant;

use super::hash_table::{Chains, HashTable};
use super::keys::{self, CodeHashes};
use super::number_table::NumberTable;
use crate::store::column::{Column, Values};
use crate::store::{NO_ROW, Rows};
use yunti_engine::bytes::prefetch::prefetch;

/// Rows tested by a filter before it is judged, and rows that pass without it afterwards.
const JUDGED_ROWS: usize = 1 << 14;
const UNFILTERED_ROWS: usize = 1 << 20;

/// Kept rows and how they are found.
pub struct Table {
    pub rows: Rows,
    /// Places of the keys among the columns of the rows.
    key_places: Vec<usize>,
    nulls_equal: bool,
    index: Index,
    chains: Chains,
    /// Rows that something matched; if a join without a condition sets them, the first row of each key alone.
    matched: Vec<AtomicU64>,
    _grant: Option<Grant>,
}

enum Index {
    /// No key: each row matches all.
    All,
    Numbers(NumberTable),
    Words(HashTable, Words),
    Pairs(HashTable, [Words; 2]),
    General(HashTable),
}

/// Words of a key's column.
enum Words {
    /// The column has words.
    Kept(usize),
    Own(Vec<i64>),
}

impl Words {
    fn of(rows: &Rows, place: usize) -> Option<Words> {
        match &rows.column(place).values {
            Values::Fixed(Data::Ints(_) | Data::SmallDecimals(_)) => Some(Words::Kept(place)),
            Values::Fixed(data) => Some(Words::Own(keys::words(data)?.into_owned())),
            Values::Texts(_) => None,
        }
    }

    fn slice<'a>(&'a self, rows: &'a Rows) -> &'a [i64] {
        match self {
            Words::Own(words) => words,
            Words::Kept(place) => match &rows.column(*place).values {
                Values::Fixed(Data::Ints(v) | Data::SmallDecimals(v)) => v,
                _ => &[],
            },
        }
    }
}

/// Buffers that a worker keeps between batches.
#[derive(Default)]
pub struct Scratch {
    codes: CodeHashes,
    hashes: Vec<u64>,
    chosen: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    same: Vec<bool>,
    /// First row of each row of the batch, or `NO_ROW`.
    pub heads: Vec<u32>,
    /// Rows that the filter tested, and rows that passed.
    tested: usize,
    passed: usize,
    /// Rows that pass before the filter is tried again.
    unfiltered: usize,
}

impl Scratch {
    fn filters(&mut self, rows: usize) -> bool {
        if self.unfiltered > 0 {
            self.unfiltered = self.unfiltered.saturating_sub(rows);
            return false;
        }
        true
    }

    fn judge(&mut self, tested: usize, passed: usize) {
        self.tested += tested;
        self.passed += passed;
        if self.tested >= JUDGED_ROWS {
            if self.passed > self.tested / 4 * 3 {
                self.unfiltered = UNFILTERED_ROWS;
            }
            (self.tested, self.passed) = (0, 0);
        }
    }
}

impl Table {
    /// Builds the table on some workers.
    pub fn build(
        rows: Rows,
        (key_places, nulls_equal): (&[usize], bool),
        marks: bool,
        threads: usize,
        mut grant: Option<Grant>,
        dictionary_bytes: u64,
    ) -> Table {
        let chains = Chains::default();
        let threads = if rows.len() < 1 << 15 { 1 } else { threads };
        let index = index(&rows, key_places, nulls_equal, threads, &chains);
        let marks = if marks { rows.len().div_ceil(64) } else { 0 };
        let mut table = Table {
            index,
            chains,
            matched: (0..marks).map(|_| AtomicU64::new(0)).collect(),
            key_places: key_places.to_vec(),
            nulls_equal,
            rows,
            _grant: None,
        };
        // More was granted while the table was built.
        if let Some(grant) = &mut grant {
            let bytes = (table.bytes() + dictionary_bytes).min(grant.bytes());
            grant.try_resize(bytes);
        }
        table._grant = grant;
        table
    }

    /// Returns true if each row of the table is a partner of each row that looks into it.
    pub fn matches_all(&self) -> bool {
        matches!(self.index, Index::All)
    }

    /// Returns true if a key has several rows.
    pub fn has_chains(&self) -> bool {
        if self.matches_all() { self.rows.len() > 1 } else { !self.chains.is_empty() }
    }

    /// Returns the row behind a row with the same key, or `NO_ROW`.
    #[inline]
    pub fn next(&self, row: u32) -> u32 {
        match &self.index {
            Index::All => {
                if (row as usize) + 1 < self.rows.len() {
                    row + 1
                } else {
                    NO_ROW
                }
            }
            _ => self.chains.next(row),
        }
    }

    /// Sets `scratch.heads`: the first row of each key of a batch.
    pub fn find(&self, probe: &[Arc<Vector>], n: usize, scratch: &mut Scratch) -> Result<()> {
        scratch.heads.clear();
        scratch.heads.resize(n, NO_ROW);
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut heads = std::mem::take(&mut scratch.heads);
        let done = self.find_heads(probe, n, scratch, &mut heads);
        scratch.heads = heads;
        done
    }

    fn find_heads(&self, probe: &[Arc<Vector>], n: usize, scratch: &mut Scratch, heads: &mut [u32]) -> Result<()> {
        match &self.index {
            Index::All => heads.fill(0),
            Index::Numbers(table) => {
                let of = keys::probe_words(&probe[0])?;
                let filters = table.has_filter() && scratch.filters(n);
                let passed = table.find(&of.words, filters, &mut scratch.chosen, heads);
                if filters {
                    scratch.judge(n, passed);
                }
                if let Some(misfits) = &of.misfits {
                    heads.iter_mut().zip(misfits).for_each(|(head, &misfit)| {
                        if misfit {
                            *head = NO_ROW;
                        }
                    });
                }
            }
            Index::Words(table, kept) => {
                let of = keys::probe_words(&probe[0])?;
                let (words, kept) = (&of.words[..], kept.slice(&self.rows));
                scratch.hashes.clear();
                scratch.hashes.extend(words.iter().map(|&word| keys::hash_word(word)));
                self.choose(table, n, of.misfits.as_deref(), scratch);
                let Scratch { hashes, chosen, .. } = scratch;
                table.find_tags(hashes, chosen, heads, |row| prefetch(kept.as_ptr().wrapping_add(row as usize)));
                for &i in &*chosen {
                    let i = i as usize;
                    if heads[i] != NO_ROW && kept[heads[i] as usize] != words[i] {
                        heads[i] = table.find(hashes[i], |row| kept[row as usize] == words[i]);
                    }
                }
            }
            Index::Pairs(table, kept) => {
                let (a, b) = (keys::probe_words(&probe[0])?, keys::probe_words(&probe[1])?);
                let kept = [kept[0].slice(&self.rows), kept[1].slice(&self.rows)];
                let misfits = yunti_engine::columns::vector::either(a.misfits.as_ref(), b.misfits.as_ref());
                let (a, b) = (&a.words[..], &b.words[..]);
                scratch.hashes.clear();
                let hash = |(&a, &b): (&i64, &i64)| keys::combine(keys::hash_word(a), keys::hash_word(b));
                scratch.hashes.extend(a.iter().zip(b).map(hash));
                self.choose(table, n, misfits.as_deref(), scratch);
                let Scratch { hashes, chosen, .. } = scratch;
                table.find_tags(hashes, chosen, heads, |row| {
                    prefetch(kept[0].as_ptr().wrapping_add(row as usize));
                    prefetch(kept[1].as_ptr().wrapping_add(row as usize));
                });
                let same = |row: u32, i: usize| kept[0][row as usize] == a[i] && kept[1][row as usize] == b[i];
                for &i in &*chosen {
                    let i = i as usize;
                    if heads[i] != NO_ROW && !same(heads[i], i) {
                        heads[i] = table.find(hashes[i], |row| same(row, i));
                    }
                }
            }
            Index::General(table) => self.find_general(table, probe, n, scratch, heads),
        }
        Ok(())
    }

    fn find_general(
        &self,
        table: &HashTable,
        probe: &[Arc<Vector>],
        n: usize,
        scratch: &mut Scratch,
        heads: &mut [u32],
    ) {
        let mut hashes = std::mem::take(&mut scratch.hashes);
        keys::hash_columns(probe, n, &mut scratch.codes, &mut hashes);
        scratch.hashes = hashes;
        let mut misfits = None;
        if !self.nulls_equal {
            for key in probe {
                misfits = yunti_engine::columns::vector::either(misfits.as_ref(), key.nulls.as_ref());
            }
        }
        self.choose(table, n, misfits.as_deref(), scratch);
        let Scratch { hashes, chosen, pairs, same, .. } = scratch;
        table.find_tags(hashes, chosen, heads, |_| ());
        pairs.clear();
        pairs.extend(chosen.iter().map(|&i| (i, heads[i as usize])).filter(|&(_, row)| row != NO_ROW));
        same.clear();
        same.resize(pairs.len(), true);
        let kept: Vec<&Column> = self.key_places.iter().map(|&place| self.rows.column(place)).collect();
        for (probe, kept) in probe.iter().zip(&kept) {
            keys::compare_kept(probe, kept, pairs, same);
        }
        for (&(i, _), same) in pairs.iter().zip(same) {
            if !*same {
                heads[i as usize] = table.find(hashes[i as usize], |row| {
                    let mut same = [true];
                    for (probe, kept) in probe.iter().zip(&kept) {
                        keys::compare_kept(probe, kept, &[(i, row)], &mut same);
                    }
                    same[0]
                });
            }
        }
    }

    /// Sets `scratch.chosen`: rows of the batch that may have a match.
    fn choose(&self, table: &HashTable, n: usize, misfits: Option<&[bool]>, scratch: &mut Scratch) {
        let filters = table.has_filter() && scratch.filters(n);
        let Scratch { hashes, chosen, .. } = &mut *scratch;
        chosen.clear();
        if !filters {
            match misfits {
                None => chosen.extend(0..n as u32),
                Some(misfits) => chosen.extend((0..n as u32).filter(|&i| !misfits[i as usize])),
            }
            return;
        }
        chosen.resize(n, 0);
        let mut len = 0;
        const AHEAD: usize = 24;
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&later) = hashes.get(i + AHEAD) {
                table.prefetch_filter(later);
            }
            chosen[len] = i as u32;
            len += usize::from(table.may_have(hash));
        }
        chosen.truncate(len);
        if let Some(misfits) = misfits {
            chosen.retain(|&i| !misfits[i as usize]);
        }
        scratch.judge(n, len);
    }

    /// Notes that something matched a row.
    #[inline]
    pub fn mark(&self, row: u32) {
        let (word, bit) = (&self.matched[row as usize / 64], 1 << (row % 64));
        // Most rows are matched more than once, and a load costs less than a write that other workers wait for.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Returns true if something matched the row.
    #[inline]
    pub fn is_marked(&self, row: u32) -> bool {
        self.matched[row as usize / 64].load(Ordering::Relaxed) >> (row % 64) & 1 == 1
    }

    /// Marks the rows that follow a marked first row: called once, after a join without a condition.
    pub fn mark_chains(&self) {
        if self.matched.is_empty() || !self.has_chains() {
            return;
        }
        let follow = |head: u32| {
            if self.is_marked(head) {
                let mut row = self.next(head);
                while row != NO_ROW {
                    self.mark(row);
                    row = self.next(row);
                }
            }
        };
        match &self.index {
            Index::All => {
                if !self.rows.is_empty() {
                    follow(0);
                }
            }
            Index::Numbers(table) => table.each_head(follow),
            Index::Words(table, _) | Index::Pairs(table, _) | Index::General(table) => table.each_head(follow),
        }
    }

    /// Returns the bytes that rows and index take.
    pub fn bytes(&self) -> u64 {
        let own = |words: &Words| match words {
            Words::Own(words) => 8 * words.len() as u64,
            Words::Kept(_) => 0,
        };
        let index = match &self.index {
            Index::All => 0,
            Index::Numbers(table) => table.bytes(),
            Index::Words(table, words) => table.bytes() + own(words),
            Index::Pairs(table, words) => table.bytes() + words.iter().map(own).sum::<u64>(),
            Index::General(table) => table.bytes(),
        };
        let chains = if self.chains.is_empty() { 0 } else { 4 * self.rows.len() as u64 };
        self.rows.bytes() + index + chains + 8 * self.matched.len() as u64
    }
}

fn index(rows: &Rows, places: &[usize], nulls_equal: bool, threads: usize, chains: &Chains) -> Index {
    if places.is_empty() {
        return Index::All;
    }
    let columns: Vec<&Column> = places.iter().map(|&place| rows.column(place)).collect();
    let has_nulls = columns.iter().any(|column| column.nulls.is_some());
    let not_null = |row: usize| columns.iter().all(|column| !column.is_null(row));
    let any = |_: usize| true;
    let has_key: &(dyn Fn(usize) -> bool + Sync) = if has_nulls && !nulls_equal { &not_null } else { &any };
    let len = rows.len();
    // A word holds no null.
    if !(has_nulls && nulls_equal) {
        if let [place] = places
            && let Some(words) = Words::of(rows, *place)
        {
            let slice = words.slice(rows);
            let is_whole = matches!(rows.column(*place).values, Values::Fixed(Data::Ints(_) | Data::SmallDecimals(_)));
            if is_whole && let Some(table) = NumberTable::build(slice, threads, has_nulls.then_some(has_key), chains) {
                return Index::Numbers(table);
            }
            let hashes = |first: usize, to: &mut [u64]| {
                to.iter_mut().zip(&slice[first..]).for_each(|(hash, &word)| *hash = keys::hash_word(word));
            };
            let table = HashTable::build(len, threads, &hashes, has_key, &|a, b| slice[a] == slice[b], chains);
            return Index::Words(table, words);
        }
        if let [first, second] = places
            && let (Some(a), Some(b)) = (Words::of(rows, *first), Words::of(rows, *second))
        {
            let (x, y) = (a.slice(rows), b.slice(rows));
            let hashes = |first: usize, to: &mut [u64]| {
                for (hash, (&x, &y)) in to.iter_mut().zip(x[first..].iter().zip(&y[first..])) {
                    *hash = keys::combine(keys::hash_word(x), keys::hash_word(y));
                }
            };
            let same = |a: usize, b: usize| x[a] == x[b] && y[a] == y[b];
            let table = HashTable::build(len, threads, &hashes, has_key, &same, chains);
            return Index::Pairs(table, [a, b]);
        }
    }
    let hashes = |first: usize, to: &mut [u64]| keys::hash_kept(&columns, first, to);
    let same = |a: usize, b: usize| keys::same_kept(&columns, a, b);
    Index::General(HashTable::build(len, threads, &hashes, has_key, &same, chains))
}
