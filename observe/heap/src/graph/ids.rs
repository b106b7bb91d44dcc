//! Numbers of objects: 0, 1, 2 .. in the order of their addresses, by bits and counts instead of a table of ids.
//!
//! ```text
//!   id = address:  | page           | bit of 384 | 000 |
//!   page -> leaf:  384 bits, and a rank: objects before the leaf, and before each of its words; a cache line
//! ```
//!
//! A heap takes 1.4 bits for 8 bytes. A page exists only if it has an object, so ids that are strewn over the whole
//! address space cost 72 bytes each, in the order of their records. Rejected: a hash table of ids (16 bytes an object),
//! and a sorted list with binary search (8 bytes, and 25 cache misses a reference).

use yunti_base::{Code, Error, Result};

use super::bits::Bits;

const WORDS: usize = 6;
const LEAF_BITS: u64 = 64 * WORDS as u64;
/// No leaf.
const NONE: u32 = u32::MAX;
/// Entries of the direct table for a page.
const TABLE_ENTRIES_A_PAGE: u64 = 16;
/// Pages that are collected before equal ones are merged.
const MERGE_PAGES: usize = if cfg!(debug_assertions) { 4 } else { 1 << 14 };

type Words = [u64; WORDS];

/// Ids of objects as they are found.
#[derive(Default)]
pub struct IdSet {
    shift: u32,
    pages: Vec<(u64, Words)>,
    /// Length at which equal pages are merged.
    merge_at: usize,
    /// Bits of all ids.
    mixed: u64,
}

impl IdSet {
    /// Returns an empty set for ids that are multiples of `1 << shift`.
    pub fn new(shift: u32) -> IdSet {
        IdSet { shift, pages: Vec::new(), merge_at: MERGE_PAGES, mixed: 0 }
    }

    /// Adds an id.
    #[inline]
    pub fn add(&mut self, id: u64) {
        self.mixed |= id;
        let unit = id >> self.shift;
        let (page, bit) = (unit / LEAF_BITS, (unit % LEAF_BITS) as u32);
        match self.pages.last_mut() {
            Some((last, leaf)) if *last == page => leaf[bit as usize / 64] |= 1 << (bit % 64),
            _ => {
                if self.pages.len() >= self.merge_at {
                    self.merge();
                    self.merge_at = (self.pages.len() * 2).max(MERGE_PAGES);
                }
                let mut leaf = [0; WORDS];
                leaf[bit as usize / 64] |= 1 << (bit % 64);
                self.pages.push((page, leaf));
            }
        }
    }

    /// Adds all ids of another set.
    pub fn join(&mut self, other: IdSet) {
        self.mixed |= other.mixed;
        self.pages.extend(other.pages);
    }

    /// Returns the greatest shift that fits all ids, at most 3.
    pub fn fitting_shift(&self) -> u32 {
        self.mixed.trailing_zeros().min(3)
    }

    fn merge(&mut self) {
        self.pages.sort_unstable_by_key(|(page, _)| *page);
        self.pages.dedup_by(|(page, leaf), (kept, into)| {
            let is_same = page == kept;
            if is_same {
                into.iter_mut().zip(leaf).for_each(|(into, word)| *into |= *word);
            }
            is_same
        });
    }

    /// Returns the greatest common divisor of the distances between objects, at least 8 and at most 256.
    pub fn alignment(&mut self) -> u64 {
        self.merge();
        let (mut divisor, mut previous) = (0, 0);
        for (page, leaf) in &self.pages {
            for (i, &word) in leaf.iter().enumerate() {
                let mut word = word;
                while word != 0 {
                    let unit = page * LEAF_BITS + i as u64 * 64 + u64::from(word.trailing_zeros());
                    let id = unit << self.shift;
                    word &= word - 1;
                    if id != 0 && previous != 0 {
                        divisor = greatest_common_divisor(id - previous, divisor);
                        if divisor <= 8 {
                            return 8;
                        }
                    }
                    previous = id;
                }
            }
        }
        divisor.clamp(8, 256)
    }

    /// Returns true for an id in the set; `alignment` has been called before.
    pub fn has(&self, id: u64) -> bool {
        let unit = id >> self.shift;
        let (page, bit) = (unit / LEAF_BITS, (unit % LEAF_BITS) as u32);
        let at = self.pages.partition_point(|(other, _)| *other < page);
        self.pages.get(at).is_some_and(|(other, leaf)| *other == page && leaf[bit as usize / 64] >> (bit % 64) & 1 == 1)
    }

    /// Numbers the ids.
    pub fn freeze(mut self) -> Result<Ids> {
        self.merge();
        let words = self.pages.iter().flat_map(|(_, words)| words);
        let count: u64 = words.map(|word| u64::from(word.count_ones())).sum();
        let count = u32::try_from(count).ok().filter(|&count| count < OBJECTS_MAX).ok_or_else(|| {
            Error::new(Code::Input, format!("has {count} objects; at most {OBJECTS_MAX} can be analysed"))
        })?;
        // The stand-in of the boot loader at 0 is far from all other objects.
        let low = usize::from(self.pages.len() > 1 && self.pages[0].0 == 0);
        let first = self.pages.get(low).map_or(0, |page| page.0);
        let span = self.pages.last().map_or(0, |page| page.0 - first + 1);
        let mut table = Vec::new();
        if span <= self.pages.len() as u64 * TABLE_ENTRIES_A_PAGE {
            table = vec![NONE; span as usize];
            let pages = self.pages.iter().enumerate().skip(low);
            pages.for_each(|(i, (page, _))| table[(page - first) as usize] = i as u32);
        }
        let pages = self.pages.iter().map(|(page, _)| *page).collect();
        let leaves = Leaf::ranked(self.pages.iter().map(|(_, words)| *words));
        Ok(Ids { shift: self.shift, first, table, pages, leaves, count })
    }
}

/// Greatest number of objects: the numbers above have meanings of their own.
pub const OBJECTS_MAX: u32 = u32::MAX - 16;

/// Bits of a page, and the rank of each: one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Leaf {
    words: Words,
    /// Bits before the second and each later word, 9 bits each.
    within: u64,
    /// Bits of the leaves before.
    before: u32,
}

impl Leaf {
    /// Returns leaves that know their ranks.
    fn ranked(all: impl Iterator<Item = Words>) -> Vec<Leaf> {
        let mut before = 0;
        all.map(|words| {
            let (mut own, mut within) = (0, 0_u64);
            for (i, word) in words.iter().enumerate() {
                within |= if i > 0 { u64::from(own) << (9 * (i - 1)) } else { 0 };
                own += word.count_ones();
            }
            let leaf = Leaf { words, within, before };
            before += own;
            leaf
        })
        .collect()
    }

    #[inline]
    fn has(&self, bit: u32) -> bool {
        self.words[bit as usize / 64] >> (bit % 64) & 1 == 1
    }

    /// Returns the number of bits before one.
    #[inline]
    fn rank(&self, bit: u32) -> u32 {
        let (i, mask) = (bit as usize / 64, (1_u64 << (bit % 64)) - 1);
        // A shift by 9 before the first word: its count is 0.
        let within = (self.within << 9 >> (9 * i) & 511) as u32;
        self.before + within + (self.words[i] & mask).count_ones()
    }
}

/// Numbers of objects by id, and ids by number.
pub struct Ids {
    shift: u32,
    first: u64,
    /// Leaf of each page from the first on; empty if the pages are too far apart.
    table: Vec<u32>,
    pages: Vec<u64>,
    leaves: Vec<Leaf>,
    count: u32,
}

impl Ids {
    /// Returns the number of objects.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// Returns the number of an object, or `None` if there is none with this id.
    #[inline]
    pub fn number(&self, id: u64) -> Option<u32> {
        let (leaf, bit) = self.place(id)?;
        let leaf = &self.leaves[leaf];
        leaf.has(bit).then(|| leaf.rank(bit))
    }

    /// Returns the leaf and the bit of an id.
    #[inline]
    fn place(&self, id: u64) -> Option<(usize, u32)> {
        let unit = id >> self.shift;
        if unit << self.shift != id {
            return None;
        }
        let (page, bit) = (unit / LEAF_BITS, (unit % LEAF_BITS) as u32);
        match self.table.get(page.wrapping_sub(self.first) as usize) {
            Some(&NONE) => None,
            Some(&leaf) => Some((leaf as usize, bit)),
            None => self.far(page).map(|leaf| (leaf, bit)),
        }
    }

    /// Returns a subset of the objects, by the set of their numbers.
    pub fn subset<'a>(&'a self, numbers: &Bits) -> Subset<'a> {
        let mut number = 0;
        let leaves = Leaf::ranked(self.leaves.iter().map(|leaf| {
            leaf.words.map(|word| {
                let objects = word.count_ones();
                let mut members = numbers.range(number, objects);
                number += objects;
                let (mut left, mut kept) = (word, 0);
                let mut before = 0;
                while members != 0 {
                    let next = members.trailing_zeros();
                    // The objects between two members have lower bits.
                    (before..next).for_each(|_| left &= left - 1);
                    kept |= left & left.wrapping_neg();
                    before = next;
                    members &= members - 1;
                }
                kept
            })
        }));
        Subset { ids: self, leaves }
    }

    /// Returns the leaf of a page outside the table.
    #[cold]
    fn far(&self, page: u64) -> Option<usize> {
        if self.table.is_empty() {
            self.pages.binary_search(&page).ok()
        } else {
            (page == 0 && self.pages[0] == 0).then_some(0)
        }
    }

    /// Returns the id of an object.
    pub fn id(&self, number: u32) -> u64 {
        let leaf = self.leaves.partition_point(|leaf| leaf.before <= number) - 1;
        let mut left = number - self.leaves[leaf].before;
        for (i, &word) in self.leaves[leaf].words.iter().enumerate() {
            let ones = word.count_ones();
            if left < ones {
                let mut word = word;
                (0..left).for_each(|_| word &= word - 1);
                let unit = self.pages[leaf] * LEAF_BITS + i as u64 * 64 + u64::from(word.trailing_zeros());
                return unit << self.shift;
            }
            left -= ones;
        }
        unreachable!("a number of no object")
    }
}

/// Some of the objects, in the same leaves: a member is found without its number.
pub struct Subset<'a> {
    ids: &'a Ids,
    leaves: Vec<Leaf>,
}

impl Subset<'_> {
    /// Returns true for a member.
    #[inline]
    pub fn has(&self, id: u64) -> bool {
        self.ids.place(id).is_some_and(|(leaf, bit)| self.leaves[leaf].has(bit))
    }

    /// Returns the number of members before one.
    #[inline]
    pub fn rank(&self, member: u64) -> u32 {
        self.ids.place(member).map_or(0, |(leaf, bit)| self.leaves[leaf].rank(bit))
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_addresses() {
        for (shift, ids) in [
            (3, vec![0, 8, 16, 4096, 4104, 0x7_4000_0000, 0x7_4000_0ff8, u64::MAX - 7]),
            (3, (0..3000).map(|i| 0x1000 + i * i % 977 * 8).collect()),
            (0, vec![5, 3, 1, 0, 1 << 40, 7]),
            (2, (0..500).map(|i| 4 * i).collect()),
        ] {
            let mut set = IdSet::new(shift);
            ids.iter().for_each(|&id| set.add(id));
            assert!(set.fitting_shift() >= shift);
            let frozen = set.freeze().unwrap();
            let mut sorted = ids.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(frozen.count(), sorted.len());
            for step in [1, 2, 7] {
                let mut members = Bits::new(sorted.len());
                (0..sorted.len()).step_by(step).for_each(|n| members.set(n as u32));
                let subset = frozen.subset(&members);
                for (n, &id) in sorted.iter().enumerate() {
                    assert_eq!(subset.has(id), n % step == 0);
                    assert!(n % step > 0 || subset.rank(id) as usize == n / step);
                }
            }
            for (n, &id) in sorted.iter().enumerate() {
                assert_eq!((frozen.number(id), frozen.id(n as u32)), (Some(n as u32), id));
                for other in [id.wrapping_add(1), id.wrapping_sub(8), id.wrapping_add(8)] {
                    assert_eq!(frozen.number(other), sorted.binary_search(&other).ok().map(|n| n as u32));
                }
            }
        }
    }

    #[test]
    fn alignment_is_a_common_divisor() {
        for (ids, want) in [(vec![32, 64, 128], 32), (vec![8, 16, 64], 8), (vec![48, 64, 96], 16), (vec![], 8)] {
            let mut set = IdSet::new(3);
            ids.iter().for_each(|&id| set.add(id));
            assert_eq!(set.alignment(), want);
        }
    }
}
