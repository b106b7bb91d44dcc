//! References into joins, one entry for each tree and join: the least and greatest place that refers.
//!
//! The references from one tree into a join act on dominators like one reference from their lowest common ancestor.
//! That is the ancestor of the least and the greatest place, so millions of references take 16 bytes. Most joins have
//! all their referrers in one tree: the first tree of each has 12 bytes in an array, and only further ones are in a
//! list.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

use super::bits::Bits;
use crate::graph::hash;

/// No tree refers.
pub const NONE: u32 = u32::MAX;

/// References from one tree into one join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Tree of the references.
    pub tree: u32,
    /// Tree of the join, which is its head.
    pub join: u32,
    /// Least place that refers.
    pub least: u32,
    /// Greatest place that refers.
    pub greatest: u32,
}

/// First tree that refers to a join, and the least and greatest place in it.
#[derive(Clone, Copy, Debug)]
pub struct First {
    /// Tree; `NONE` for what is no join.
    pub tree: u32,
    /// Least place that refers.
    pub least: u32,
    /// Greatest place that refers.
    pub greatest: u32,
}

/// First trees of all joins, collected by several threads at once.
pub struct FirstTrees(Vec<[AtomicU32; 3]>);

impl FirstTrees {
    /// Returns the state before the first reference.
    pub fn new(trees: usize) -> FirstTrees {
        FirstTrees((0..trees).map(|_| [NONE, u32::MAX, 0].map(AtomicU32::new)).collect())
    }

    /// Returns the first tree of a join, so that the entry is in the cache when it changes.
    #[inline]
    pub fn touch(&self, join: u32) -> u32 {
        self.0[join as usize][0].load(Relaxed)
    }

    /// Adds a pair: to the first tree of its join, or to `further`.
    #[inline]
    pub fn add(&self, pair: Pair, further: &mut Pairs) {
        let [tree, least, greatest] = &self.0[pair.join as usize];
        let mut first = tree.load(Relaxed);
        if first == NONE {
            first = tree.compare_exchange(NONE, pair.tree, Relaxed, Relaxed).err().unwrap_or(pair.tree);
        }
        if first != pair.tree {
            further.add(pair);
            return;
        }
        if least.load(Relaxed) > pair.least {
            least.fetch_min(pair.least, Relaxed);
        }
        if greatest.load(Relaxed) < pair.greatest {
            greatest.fetch_max(pair.greatest, Relaxed);
        }
    }

    /// Returns the pairs: first ones by join, further ones by tree and join.
    pub fn finish(self, further: Pairs, threads: usize) -> JoinPairs {
        let plain = |[tree, least, greatest]: [AtomicU32; 3]| First {
            tree: tree.into_inner(),
            least: least.into_inner(),
            greatest: greatest.into_inner(),
        };
        JoinPairs {
            first: self.0.into_iter().map(plain).collect(),
            further: further.finish(threads),
            like_roots: Vec::new(),
        }
    }
}

/// References into all joins.
pub struct JoinPairs {
    /// First tree that refers, by the tree of the join.
    pub first: Vec<First>,
    /// Pairs with further trees.
    pub further: Vec<Pair>,
    /// Joins that act like roots, and a place in the tree of a root that refers to each.
    pub like_roots: Vec<(u32, u32)>,
}

impl JoinPairs {
    /// Makes joins act like roots: they join the `roots`, and need no pairs.
    pub fn act_like_roots(&mut self, joins: &[(u32, u32)], roots: &mut Bits) {
        joins.iter().for_each(|(join, _)| roots.set(*join));
        self.like_roots.extend_from_slice(joins);
        self.further.retain(|pair| !roots.get(pair.join));
        let joins = self.first.iter_mut().enumerate().filter(|(join, _)| roots.get(*join as u32));
        joins.for_each(|(_, first)| first.tree = NONE);
    }
}

/// Entries that are collected before equal ones are merged.
const MERGE_PAIRS: usize = if cfg!(debug_assertions) { 4 } else { 1 << 16 };
/// Entries of the table of recent pairs; a power of two.
const RECENT: usize = if cfg!(debug_assertions) { 2 } else { 1 << 12 };

/// Collected pairs.
pub struct Pairs {
    pairs: Vec<Pair>,
    /// Indexes of recent pairs, by a hash: most references repeat one of them.
    recent: Vec<u32>,
    has_repeats: bool,
}

impl Default for Pairs {
    fn default() -> Pairs {
        Pairs { pairs: Vec::with_capacity(MERGE_PAIRS), recent: vec![0; RECENT], has_repeats: true }
    }
}

impl Pairs {
    /// Adds a pair.
    #[inline]
    pub fn add(&mut self, pair: Pair) {
        let slot = hash::fold(u64::from(pair.tree) << 32 | u64::from(pair.join)) as usize % RECENT;
        if let Some(known) = self.pairs.get_mut(self.recent[slot] as usize)
            && (known.tree, known.join) == (pair.tree, pair.join)
        {
            merge(known, &pair);
            return;
        }
        if self.pairs.len() == self.pairs.capacity() {
            self.make_room();
        }
        self.recent[slot] = self.pairs.len() as u32;
        self.pairs.push(pair);
    }

    #[cold]
    fn make_room(&mut self) {
        if self.has_repeats {
            let before = self.pairs.len();
            self.merge(1);
            // Without many equal pairs more sorting would cost time and save little.
            self.has_repeats = self.pairs.len() < before / 8 * 7;
        }
        self.pairs.reserve_exact((self.pairs.len() / 2).max(MERGE_PAIRS));
    }

    /// Adds all pairs of another collection.
    pub fn join(&mut self, other: Pairs) {
        if self.pairs.is_empty() {
            self.pairs = other.pairs;
        } else {
            self.pairs.reserve_exact(other.pairs.len());
            self.pairs.extend(other.pairs);
        }
    }

    /// Returns the pairs by tree and join, each once.
    pub fn finish(mut self, threads: usize) -> Vec<Pair> {
        self.merge(threads);
        self.pairs
    }

    fn merge(&mut self, threads: usize) {
        self.recent.fill(u32::MAX);
        sort(&mut self.pairs, threads);
        self.pairs.dedup_by(|pair, kept| {
            let is_same = (pair.tree, pair.join) == (kept.tree, kept.join);
            if is_same {
                merge(kept, pair);
            }
            is_same
        });
    }
}

/// Sorts by tree and join: parts on each side of the middle side by side.
fn sort(pairs: &mut [Pair], threads: usize) {
    let key = |pair: &Pair| u64::from(pair.tree) << 32 | u64::from(pair.join);
    if threads <= 1 || pairs.len() < 2 {
        pairs.sort_unstable_by_key(key);
        return;
    }
    let (low, _, high) = pairs.select_nth_unstable_by_key(pairs.len() / 2, key);
    thread::scope(|scope| {
        scope.spawn(|| sort(low, threads / 2));
        sort(high, threads - threads / 2);
    });
}

fn merge(into: &mut Pair, pair: &Pair) {
    into.least = into.least.min(pair.least);
    into.greatest = into.greatest.max(pair.greatest);
}
