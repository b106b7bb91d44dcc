//! References into joins, one entry for each tree and join: the least and greatest place that refers.
//!
//! The references from one tree into a join act on dominators like one reference from their lowest common ancestor. That
//! is the ancestor of the least and the greatest place, so millions of references take 16 bytes.

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
