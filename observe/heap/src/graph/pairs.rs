//! References into joins, one entry for each tree and join: the least and greatest place that refers.
//!
//! The references from one tree into a join act on dominators like one reference from their lowest common ancestor.
//! That is the ancestor of the least and the greatest place, so millions of references take 16 bytes. Most joins have
//! all their referrers in one tree: the first tree of each has 12 bytes in arrays, and only further ones are in a
//! list.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::bits::Bits;

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

/// First tree that refers to each join, collected by several threads at once.
pub struct FirstTrees {
    trees: Vec<AtomicU32>,
    least: Vec<AtomicU32>,
    greatest: Vec<AtomicU32>,
}

impl FirstTrees {
    /// Returns the state before the first reference.
    pub fn new(trees: usize) -> FirstTrees {
        let all = |value: u32| (0..trees).map(|_| AtomicU32::new(value)).collect();
        FirstTrees { trees: all(NONE), least: all(u32::MAX), greatest: all(0) }
    }

    /// Adds a pair: to the first tree of its join, or to `further`.
    #[inline]
    pub fn add(&self, pair: Pair, further: &mut Pairs) {
        let join = pair.join as usize;
        let mut first = self.trees[join].load(Relaxed);
        if first == NONE {
            first = self.trees[join].compare_exchange(NONE, pair.tree, Relaxed, Relaxed).err().unwrap_or(pair.tree);
        }
        if first != pair.tree {
            further.add(pair);
            return;
        }
        if self.least[join].load(Relaxed) > pair.least {
            self.least[join].fetch_min(pair.least, Relaxed);
        }
        if self.greatest[join].load(Relaxed) < pair.greatest {
            self.greatest[join].fetch_max(pair.greatest, Relaxed);
        }
    }

    /// Returns the pairs: first ones by join, further ones by tree and join.
    pub fn finish(self, further: Pairs) -> JoinPairs {
        let plain = |values: Vec<AtomicU32>| values.into_iter().map(AtomicU32::into_inner).collect();
        JoinPairs {
            trees: plain(self.trees),
            least: plain(self.least),
            greatest: plain(self.greatest),
            further: further.finish(),
            like_roots: Vec::new(),
        }
    }
}

/// References into all joins.
pub struct JoinPairs {
    /// First tree that refers, by the tree of the join; `NONE` for what is no join.
    pub trees: Vec<u32>,
    /// Least place in that tree.
    pub least: Vec<u32>,
    /// Greatest place in that tree.
    pub greatest: Vec<u32>,
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
        let joins = self.trees.iter_mut().enumerate().filter(|(join, _)| roots.get(*join as u32));
        joins.for_each(|(_, tree)| *tree = NONE);
    }
}

/// Entries that are collected before equal ones are merged.
const MERGE_PAIRS: usize = if cfg!(debug_assertions) { 4 } else { 1 << 16 };

/// Collected pairs.
#[derive(Default)]
pub struct Pairs {
    pairs: Vec<Pair>,
    merge_at: usize,
}

impl Pairs {
    /// Adds a pair.
    #[inline]
    pub fn add(&mut self, pair: Pair) {
        if let Some(last) = self.pairs.last_mut()
            && (last.tree, last.join) == (pair.tree, pair.join)
        {
            merge(last, &pair);
            return;
        }
        if self.pairs.len() >= self.merge_at.max(MERGE_PAIRS) {
            self.merge();
            self.merge_at = self.pairs.len() * 2;
        }
        self.pairs.push(pair);
    }

    /// Adds all pairs of another collection.
    pub fn join(&mut self, other: Pairs) {
        self.pairs.extend(other.pairs);
    }

    /// Returns the pairs by tree and join, each once.
    pub fn finish(mut self) -> Vec<Pair> {
        self.merge();
        self.pairs
    }

    fn merge(&mut self) {
        self.pairs.sort_unstable_by_key(|pair| (pair.tree, pair.join));
        self.pairs.dedup_by(|pair, kept| {
            let is_same = (pair.tree, pair.join) == (kept.tree, kept.join);
            if is_same {
                merge(kept, pair);
            }
            is_same
        });
    }
}

fn merge(into: &mut Pair, pair: &Pair) {
    into.least = into.least.min(pair.least);
    into.greatest = into.greatest.max(pair.greatest);
}
