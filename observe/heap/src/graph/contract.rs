//! Dominators of all objects from a small graph: heads of trees, and the ancestors in which references into joins meet.
//!
//! ```text
//!   tree of objects        kept
//!     h                    h            kept: the head, the ancestor of the references into j (a), of those into k (b),
//!     +- a -> .. -> j      +- a -> j    and where kept places meet; an edge to the nearest kept place above
//!     |  +- b -> .. -> k      +- b -> k
//! ```
//!
//! A path from the roots to a kept place passes the kept places above it, so dominators among kept nodes are those of the
//! whole graph. Every other object hangs below its single referrer.

use std::collections::VecDeque;

use super::dominators::{Graph, dominators};
use super::forest::Forest;
use super::pairs::Pair;

pub use super::dominators::UNREACHED;

/// Dominator of what only the roots as a whole hold.
pub const TOP: u32 = u32::MAX - 1;

/// Dominators of the heads.
pub struct HeadDominators {
    /// Place of the dominator of each tree's head, `TOP`, or `UNREACHED` for garbage.
    pub of: Vec<u32>,
    /// Reached trees, each behind the tree of its dominator.
    pub order: Vec<u32>,
    /// Place of a referrer of each tree's head on a way from a root; `TOP` for a root.
    pub referrers: Vec<u32>,
}

/// Returns the dominators of heads. `roots`: the trees whose heads are roots.
pub fn head_dominators(forest: &Forest, pairs: &[Pair], roots: &[u32]) -> HeadDominators {
    let trees = forest.trees();
    let sources: Vec<u32> = pairs.iter().map(|pair| forest.ancestor(pair.least, pair.greatest)).collect();
    let kept = kept(forest, pairs, &sources);
    let number = |place: u32| kept.binary_search(&place).map_or(UNREACHED, |number| number as u32);
    let top = kept.len() as u32;
    let heads: Vec<u32> = forest.heads[..trees].iter().map(|&head| number(head)).collect();
    let mut edges: Vec<(u32, u32)> = roots.iter().map(|&tree| (top, heads[tree as usize])).collect();
    for (i, place) in kept.windows(2).enumerate() {
        if forest.above[place[1] as usize] != super::forest::HEAD {
            edges.push((number(forest.ancestor(place[0], place[1])), i as u32 + 1));
        }
    }
    edges.extend(pairs.iter().zip(&sources).map(|(pair, &source)| (number(source), heads[pair.join as usize])));
    drop(sources);
    let graph = Graph::of(kept.len() + 1, &edges);
    drop(edges);
    let found = dominators(&graph, top);
    drop(graph);
    let of = heads.iter().map(|&head| match found.of[head as usize] {
        UNREACHED => UNREACHED,
        node if node == top => TOP,
        node => kept[node as usize],
    });
    let of = of.collect();
    let is_head = |node: &u32| *node != top && forest.above[kept[*node as usize] as usize] == super::forest::HEAD;
    let order = found.order.into_iter().filter(is_head).map(|node| forest.tree(kept[node as usize])).collect();
    HeadDominators { of, order, referrers: referrers(trees, pairs, roots) }
}

/// Returns the kept places, ascending.
fn kept(forest: &Forest, pairs: &[Pair], sources: &[u32]) -> Vec<u32> {
    let mut kept = Vec::with_capacity(forest.trees() + pairs.len() / 2);
    kept.extend_from_slice(&forest.heads[..forest.trees()]);
    let mut at = 0;
    let mut own = Vec::new();
    while at < pairs.len() {
        let tree = pairs[at].tree;
        let end = at + pairs[at..].partition_point(|pair| pair.tree == tree);
        own.clear();
        own.extend_from_slice(&sources[at..end]);
        own.sort_unstable();
        own.dedup();
        let meeting: Vec<u32> = own.windows(2).map(|two| forest.ancestor(two[0], two[1])).collect();
        let head = forest.heads[tree as usize];
        kept.extend(own.iter().copied().chain(meeting).filter(|&place| place != head));
        at = end;
    }
    kept.sort_unstable();
    kept.dedup();
    kept
}

/// Returns a referrer of each head on a way over few trees from a root.
fn referrers(trees: usize, pairs: &[Pair], roots: &[u32]) -> Vec<u32> {
    let mut referrers = vec![UNREACHED; trees];
    let mut queue = VecDeque::new();
    for &root in roots {
        if referrers[root as usize] == UNREACHED {
            referrers[root as usize] = TOP;
            queue.push_back(root);
        }
    }
    while let Some(tree) = queue.pop_front() {
        let begin = pairs.partition_point(|pair| pair.tree < tree);
        for pair in pairs[begin..].iter().take_while(|pair| pair.tree == tree) {
            if referrers[pair.join as usize] == UNREACHED {
                referrers[pair.join as usize] = pair.least;
                queue.push_back(pair.join);
            }
        }
    }
    referrers
}
