//! Dominators of all objects from a small graph: heads of trees, and the ancestors in which references into joins meet.
//!
//! ```text
//!   tree of objects        kept
//!     h                    h            kept: the head, the ancestors of the references into j and into k,
//!     +- a -> .. -> j      +- a -> j    and where kept places meet; an edge to the nearest kept place above
//!     |  +- b -> .. -> k      +- b -> k
//! ```
//!
//! A path from the roots to a kept place passes the kept places above it, so dominators among kept nodes are those of
//! the whole graph. Every other object hangs below its single referrer.

use std::collections::VecDeque;

use super::bits::Bits;
use super::dominators::{Graph, dominators};
use super::forest::{Forest, HEAD};
use super::pairs::{JoinPairs, NONE, Pair};

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

/// Returns the dominators of heads. `roots`: the trees whose heads are roots, or act like roots.
/// `threads`: those of threads, through which a way goes only if there is no other.
pub fn head_dominators(forest: &Forest, mut pairs: JoinPairs, mut roots: Bits, threads: &Bits) -> HeadDominators {
    act_like_roots(&mut pairs, &mut roots, threads);
    let leaves = Leaves::of(forest, &pairs);
    let mut roots: Vec<u32> = roots.iter().collect();
    roots.sort_by_key(|&tree| threads.get(tree));
    let rooted = roots.partition_point(|&tree| !threads.get(tree));
    let mut rest = pairs.further;
    let inner = (0..forest.trees() as u32).filter(|&join| !leaves.all.get(join));
    rest.extend(inner.filter(|&join| pairs.trees[join as usize] != NONE).map(|join| Pair {
        tree: pairs.trees[join as usize],
        join,
        least: pairs.least[join as usize],
        greatest: pairs.greatest[join as usize],
    }));
    rest.sort_unstable_by_key(|pair| (pair.tree, pair.join));
    let mut heads = inner_dominators(forest, &rest, roots.split_at(rooted), &leaves.all);
    // A root refers to these; their own path goes on to it.
    pairs.like_roots.iter().for_each(|&(join, place)| heads.referrers[join as usize] = place);
    // Outer leaves first, so that each is behind the tree that it hangs in.
    for &join in leaves.rounds.iter().rev().flatten() {
        let (tree, least) = (pairs.trees[join as usize] as usize, pairs.least[join as usize]);
        if heads.of[tree] != UNREACHED {
            heads.of[join as usize] = forest.ancestor(least, pairs.greatest[join as usize]);
            heads.referrers[join as usize] = least;
            heads.order.push(join);
        }
    }
    heads
}

/// Makes roots of the joins to which two trees of roots refer: nothing but the roots as a whole dominates both. Such a
/// join needs no pairs, and a reference from the roots to it changes no other dominator.
fn act_like_roots(pairs: &mut JoinPairs, roots: &mut Bits, threads: &Bits) {
    let is_root_tree = roots.clone();
    // Root trees of each join with further trees, and a place in each.
    let mut of_roots: Vec<(u32, u32, u32)> = pairs
        .further
        .iter()
        .filter(|pair| is_root_tree.get(pair.tree))
        .flat_map(|pair| {
            let first = pairs.trees[pair.join as usize];
            let also = is_root_tree.get(first).then(|| (pair.join, first, pairs.least[pair.join as usize]));
            [Some((pair.join, pair.tree, pair.least)), also].into_iter().flatten()
        })
        .collect();
    of_roots.sort_unstable_by_key(|&(join, tree, place)| (join, threads.get(tree), tree, place));
    of_roots.dedup();
    let twice = of_roots.windows(2).filter(|two| two[0].0 == two[1].0 && two[0].1 != two[1].1);
    let mut joins: Vec<(u32, u32)> = twice.map(|two| (two[0].0, two[0].2)).collect();
    joins.dedup_by_key(|(join, _)| *join);
    pairs.act_like_roots(&joins, roots);
}

/// Joins with all referrers in one tree that refer to no join but to other leaves. No path to another join passes one,
/// so the graph does not need them.
struct Leaves {
    all: Bits,
    /// Leaves; those of a round refer to leaves of rounds before only.
    rounds: Vec<Vec<u32>>,
}

/// Rounds in which leaves are taken away.
const ROUNDS_MAX: usize = 4;

impl Leaves {
    fn of(forest: &Forest, pairs: &JoinPairs) -> Leaves {
        let trees = forest.trees();
        let mut several = Bits::new(trees);
        pairs.further.iter().for_each(|pair| several.set(pair.join));
        let mut leaves = Leaves { all: Bits::new(trees), rounds: Vec::new() };
        for _ in 0..ROUNDS_MAX {
            let mut refers = Bits::new(trees);
            pairs.further.iter().for_each(|pair| refers.set(pair.tree));
            for (join, &tree) in pairs.trees.iter().enumerate() {
                if tree != NONE && !leaves.all.get(join as u32) {
                    refers.set(tree);
                }
            }
            let is_leaf = |join: &u32| {
                pairs.trees[*join as usize] != NONE
                    && !several.get(*join)
                    && !refers.get(*join)
                    && !leaves.all.get(*join)
            };
            let round: Vec<u32> = (0..trees as u32).filter(is_leaf).collect();
            if round.is_empty() {
                break;
            }
            round.iter().for_each(|&join| leaves.all.set(join));
            leaves.rounds.push(round);
        }
        leaves
    }
}

/// Returns the dominators of all heads but leaves.
fn inner_dominators(forest: &Forest, pairs: &[Pair], roots: (&[u32], &[u32]), leaves: &Bits) -> HeadDominators {
    let trees = forest.trees();
    let sources: Vec<u32> = pairs.iter().map(|pair| forest.ancestor(pair.least, pair.greatest)).collect();
    let kept = kept(forest, pairs, &sources, leaves);
    let number = |place: u32| kept.binary_search(&place).map_or(UNREACHED, |number| number as u32);
    let top = kept.len() as u32;
    let head = |tree: u32| number(forest.heads[tree as usize]);
    let mut edges: Vec<(u32, u32)> = roots.0.iter().chain(roots.1).map(|&tree| (top, head(tree))).collect();
    for (i, place) in kept.windows(2).enumerate() {
        if forest.above[place[1] as usize] != HEAD {
            edges.push((number(forest.ancestor(place[0], place[1])), i as u32 + 1));
        }
    }
    edges.extend(pairs.iter().zip(&sources).map(|(pair, &source)| (number(source), head(pair.join))));
    drop(sources);
    let graph = Graph::of(kept.len() + 1, &edges);
    drop(edges);
    let found = dominators(&graph, top);
    drop(graph);
    let mut of = vec![UNREACHED; trees];
    let mut order = Vec::with_capacity(trees);
    for node in found.order {
        if node != top && forest.above[kept[node as usize] as usize] == HEAD {
            let tree = forest.tree(kept[node as usize]);
            let idom = found.of[node as usize];
            of[tree as usize] = if idom == top { TOP } else { kept[idom as usize] };
            order.push(tree);
        }
    }
    HeadDominators { of, order, referrers: referrers(trees, pairs, roots) }
}

/// Returns the kept places, ascending.
fn kept(forest: &Forest, pairs: &[Pair], sources: &[u32], leaves: &Bits) -> Vec<u32> {
    let inner = (0..forest.trees() as u32).filter(|&tree| !leaves.get(tree));
    let mut kept: Vec<u32> = inner.map(|tree| forest.heads[tree as usize]).collect();
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

/// Returns a referrer of each head on a way over few trees from a root, from the first roots where they reach it.
fn referrers(trees: usize, pairs: &[Pair], roots: (&[u32], &[u32])) -> Vec<u32> {
    let mut referrers = vec![UNREACHED; trees];
    for roots in [roots.0, roots.1] {
        let mut queue = VecDeque::new();
        for &root in roots {
            referrers[root as usize] = TOP;
            queue.push_back(root);
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
    }
    referrers
}
