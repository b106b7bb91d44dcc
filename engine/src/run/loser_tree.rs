//! A tree of losers (Knuth, The Art of Computer Programming 3, 5.4.1): the smallest of k heads in log2(k) comparisons.
//!
//! ```text
//!              winner                  inner node i holds the loser of the match played there: its rank
//!                |                     source s plays first at node (k + s) / 2, then at half of that, up to node 1
//!             [ 1 ]                    any k will do; the tree need not be full
//!            /     \
//!        [ 2 ]     [ 3 ]      rank, 128 bits:
//!        /   \     /   \        | key prefix 64 | key length 0-9: 4 | split 32 | source 27 | key is in the prefix: 1 |
//!       s0   s1   s2   s3
//! ```
//!
//! Ranks are in the tree's own array and compare as the heads do. A match reads no record and has no branch to
//! mispredict. The exception is two keys longer than their equal prefixes: these are compared in full.
//!
//! Rejected:
//!
//! * a binary heap: benches/merge.rs has it as the peer, 1.5-2.7 times slower for 64 and more runs of 100-byte records;
//! * prefixes alone with all ties in a function: 1.5 times slower for words, because most of their matches are ties;
//! * branches instead of selects: 1.6 times slower.

use std::hint::select_unpredictable;

use crate::bytes::KeyOrder;

/// Sources of a tree, at most.
pub const SOURCES_MAX: usize = 1 << 27;

/// Rank of a source's head: ranks compare as the heads do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank(u128);

impl Rank {
    /// Returns the rank of a source without a head; it comes after all others.
    #[inline]
    pub fn exhausted(source: usize) -> Rank {
        Rank(u128::from(u64::MAX) << 64 | 15 << 60 | (source as u128) << 1 | 1)
    }

    /// Returns the rank of a head. `prefix` is `order.prefix` of a key of `key_len` bytes.
    #[inline(always)]
    pub fn new(prefix: u64, key_len: u32, split: u32, source: usize, order: KeyOrder) -> Rank {
        let len = u64::from(key_len.min(9));
        // Equal prefixes: the key that ends first is the smaller one, because the other continues with zeros.
        let len = if order.reversed() { 9 - len } else { len };
        let low = len << 60 | u64::from(split) << 28 | (source as u64) << 1 | u64::from(key_len <= 8);
        Rank(u128::from(prefix) << 64 | u128::from(low))
    }

    #[inline(always)]
    /// Returns the source.
    pub fn source(self) -> usize {
        (self.0 as u32 >> 1) as usize & (SOURCES_MAX - 1)
    }

    #[inline(always)]
    /// Returns true if the source has no head.
    pub fn is_exhausted(self) -> bool {
        self.0 as u64 >> 60 == 15
    }

    /// Returns true if two ranks of one source certainly have equal keys.
    #[inline(always)]
    pub fn is_same(self, other: Rank) -> bool {
        self.0 == other.0 && self.0 as u64 & 1 == 1
    }

    /// Returns true if ranks cannot decide: keys longer than their equal prefixes.
    #[inline(always)]
    fn ties(self, other: Rank) -> bool {
        ((self.0 ^ other.0) >> 64) as u64 | (self.0 | other.0) as u64 & 1 == 0
    }
}

/// The tree of k sources; it needs k ranks of memory.
pub struct LoserTree {
    /// Losers of the nodes; node 0 is the winner.
    nodes: Vec<Rank>,
}

impl LoserTree {
    /// Plays the first matches, of source `i` with `ranks[i]`; there must be at least one source.
    ///
    /// `full(a, b)` returns true if the head of source `a` comes before the head of `b`. It is called for keys longer
    /// than their equal prefixes and must be a total order.
    pub fn new(ranks: &[Rank], mut full: impl FnMut(usize, usize) -> bool) -> Self {
        let k = ranks.len();
        assert!((1..=SOURCES_MAX).contains(&k));
        let mut nodes = ranks.to_vec();
        // Winners of the nodes, with the sources' own heads behind them.
        let mut winners = [ranks, ranks].concat();
        for i in (1..k).rev() {
            let (a, b) = (winners[2 * i], winners[2 * i + 1]);
            (winners[i], nodes[i]) = if comes_first(a, b, &mut full) { (a, b) } else { (b, a) };
        }
        nodes[0] = winners[1];
        LoserTree { nodes }
    }

    /// Returns the rank of the smallest head.
    #[inline(always)]
    pub fn winner(&self) -> Rank {
        self.nodes[0]
    }

    /// Replaces the winner's head by one of this rank; returns the next winner.
    #[inline(always)]
    pub fn replay(&mut self, rank: Rank, mut full: impl FnMut(usize, usize) -> bool) -> Rank {
        debug_assert!(rank.source() == self.winner().source());
        let nodes = &mut self.nodes[..];
        let mut best = rank;
        let mut at = (nodes.len() + rank.source()) / 2;
        while at > 0 {
            let node = nodes[at];
            if node.ties(best) {
                if full(node.source(), best.source()) {
                    nodes[at] = std::mem::replace(&mut best, node);
                }
            } else {
                let node_first = node.0 < best.0;
                // Winners are unpredictable: a branch here would cost more than the rest of the merge.
                nodes[at] = select_unpredictable(node_first, best, node);
                best = select_unpredictable(node_first, node, best);
            }
            at /= 2;
        }
        nodes[0] = best;
        best
    }
}

#[inline(always)]
fn comes_first(a: Rank, b: Rank, full: &mut impl FnMut(usize, usize) -> bool) -> bool {
    if a.ties(b) { full(a.source(), b.source()) } else { a.0 < b.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::KeyKind;
    use crate::env::random::Random;

    type Head<'a> = Option<(&'a [u8], u32)>;

    /// Merges sorted lists of (key, split); equal ones in the order of the lists.
    fn check(lists: &[Vec<(Vec<u8>, u32)>], order: KeyOrder) {
        let head = |at: &[usize], s: usize| -> Head { lists[s].get(at[s]).map(|(key, split)| (&key[..], *split)) };
        let rank = |at: &[usize], s: usize| match head(at, s) {
            Some((key, split)) => Rank::new(order.prefix(key, 0), key.len() as u32, split, s, order),
            None => Rank::exhausted(s),
        };
        let full = |at: &[usize], a: usize, b: usize| {
            let ((key_a, split_a), (key_b, split_b)) = (head(at, a).unwrap(), head(at, b).unwrap());
            assert!(key_a.len() > 8 && key_b.len() > 8);
            order.compare(key_a, key_b).then((split_a, a).cmp(&(split_b, b))).is_lt()
        };
        let mut at = vec![0; lists.len()];
        let ranks: Vec<Rank> = (0..lists.len()).map(|s| rank(&at, s)).collect();
        let mut tree = LoserTree::new(&ranks, |a, b| full(&at, a, b));
        let mut expect: Vec<_> =
            lists.iter().enumerate().flat_map(|(s, l)| l.iter().map(move |(k, n)| (&k[..], *n, s))).collect();
        expect.sort_by(|a, b| order.compare(a.0, b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        for (i, &(key, split, s)) in expect.iter().enumerate() {
            let winner = tree.winner().source();
            assert_eq!((head(&at, winner), winner), (Some((key, split)), s), "record {i} of {} lists", lists.len());
            at[s] += 1;
            tree.replay(rank(&at, s), |a, b| full(&at, a, b));
        }
        assert!(tree.winner().is_exhausted());
    }

    #[test]
    fn merges_as_a_sort_does() {
        let mut random = Random::new(1);
        for descending in [false, true] {
            let order = KeyOrder { kind: KeyKind::Bytes, descending };
            for k in (1..20).chain([63, 64, 65, 200]) {
                // Few values and lengths about the prefix's, and the largest byte: many ties of every kind.
                for values in [&[0][..], &[0, 255], &[1, 2, 3, 4]] {
                    let lists: Vec<Vec<_>> = (0..k)
                        .map(|_| {
                            let mut record = || {
                                let len = [0, 1, 2, 7, 8, 9, 10][random.below(7) as usize];
                                let key = (0..len).map(|_| values[random.below(values.len() as u64) as usize]);
                                (key.collect::<Vec<u8>>(), [0, 1, u32::MAX][random.below(3) as usize])
                            };
                            let mut list: Vec<_> = (0..20).map(|_| record()).collect();
                            list.sort_by(|a, b| order.compare(&a.0, &b.0).then(a.1.cmp(&b.1)));
                            list
                        })
                        .collect();
                    check(&lists, order);
                }
            }
        }
    }
}
