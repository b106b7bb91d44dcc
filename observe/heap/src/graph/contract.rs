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
use super::pairs::{First, JoinPairs, NONE, Pair};
use super::side_by_side::side_by_side;

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
/// `crew`: threads to use.
pub fn head_dominators(
    forest: &Forest,
    mut pairs: JoinPairs,
    mut roots: Bits,
    threads: &Bits,
    crew: usize,
) -> HeadDominators {
    act_like_roots(&mut pairs, &mut roots, threads);
    let leaves = Leaves::of(forest, &pairs);
    let mut roots: Vec<u32> = roots.iter().collect();
    roots.sort_by_key(|&tree| threads.get(tree));
    let (rooted, threads) = roots.split_at(roots.partition_point(|&tree| !threads.get(tree)));
    let JoinPairs { first, further, like_roots } = pairs;
    let mut pairs = ByTree::new(first, further);
    let mut referrers = referrers(&pairs, [rooted, threads], &leaves.all);
    // A root refers to these; their own path goes on to it.
    like_roots.iter().for_each(|&(join, place)| referrers[join as usize] = place);
    pairs.meet(forest);
    let mut of = vec![UNREACHED; forest.trees()];
    let rounds = leaves.rounds.iter().flatten().map(|&join| (join as usize, pairs.first[join as usize]));
    for (join, first) in rounds {
        (of[join], referrers[join]) = (first.greatest, first.least);
    }
    let mut order = inner_dominators(forest, pairs, &roots, &leaves.all, &mut of, crew);
    // Outer leaves first, so that each is behind the tree that it hangs in.
    for &join in leaves.rounds.iter().rev().flatten() {
        if of[forest.tree(of[join as usize]) as usize] == UNREACHED {
            (of[join as usize], referrers[join as usize]) = (UNREACHED, UNREACHED);
        } else {
            order.push(join);
        }
    }
    HeadDominators { of, order, referrers }
}

/// Pairs by the tree that refers.
struct ByTree {
    first: Vec<First>,
    /// Joins by their first tree.
    joins: Vec<u32>,
    joins_begin: Vec<u32>,
    further: Vec<Pair>,
    further_begin: Vec<u32>,
}

impl ByTree {
    fn new(first: Vec<First>, further: Vec<Pair>) -> ByTree {
        let trees = first.len();
        let mut joins_begin = vec![0_u32; trees + 1];
        let with_tree = || first.iter().enumerate().filter(|(_, first)| first.tree != NONE);
        with_tree().for_each(|(_, first)| joins_begin[first.tree as usize] += 1);
        (1..=trees).for_each(|tree| joins_begin[tree] += joins_begin[tree - 1]);
        let mut joins = vec![0; joins_begin[trees] as usize];
        for (join, first) in with_tree() {
            let at = &mut joins_begin[first.tree as usize];
            *at -= 1;
            joins[*at as usize] = join as u32;
        }
        let mut further_begin = vec![0_u32; trees + 1];
        further.iter().for_each(|pair| further_begin[pair.tree as usize + 1] += 1);
        (0..trees).for_each(|tree| further_begin[tree + 1] += further_begin[tree]);
        ByTree { first, joins, joins_begin, further, further_begin }
    }

    /// Returns the pairs of a tree.
    fn of(&self, tree: u32) -> impl Iterator<Item = Pair> + '_ {
        let range = |begins: &[u32]| begins[tree as usize] as usize..begins[tree as usize + 1] as usize;
        let first = self.joins[range(&self.joins_begin)].iter().map(move |&join| {
            let First { least, greatest, .. } = self.first[join as usize];
            Pair { tree, join, least, greatest }
        });
        first.chain(self.further[range(&self.further_begin)].iter().copied())
    }

    /// Puts the place where the references of a pair meet in place of the greatest.
    fn meet(&mut self, forest: &Forest) {
        for first in self.first.iter_mut().filter(|first| first.tree != NONE) {
            first.greatest = forest.ancestor(first.least, first.greatest);
        }
        for pair in &mut self.further {
            pair.greatest = forest.ancestor(pair.least, pair.greatest);
        }
    }
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
            let first = pairs.first[pair.join as usize];
            let also = is_root_tree.get(first.tree).then_some((pair.join, first.tree, first.least));
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
            for (join, first) in pairs.first.iter().enumerate() {
                if first.tree != NONE && !leaves.all.get(join as u32) {
                    refers.set(first.tree);
                }
            }
            let is_leaf = |join: &u32| {
                pairs.first[*join as usize].tree != NONE
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

/// Sets the dominators of all heads but leaves, and returns the reached trees, each behind the tree of its dominator.
/// References of pairs have met.
fn inner_dominators(
    forest: &Forest,
    pairs: ByTree,
    roots: &[u32],
    leaves: &Bits,
    of: &mut [u32],
    crew: usize,
) -> Vec<u32> {
    let mut kept = kept(forest, &pairs, leaves, crew);
    let top = kept.count() as u32;
    let number = |place: u32| kept.rank(place);
    let head = |tree: u32| number(forest.heads[tree as usize]);
    // An edge is computed once, and the graph goes over all edges twice.
    let of_pairs: Vec<Vec<(u32, u32)>> = side_by_side(crew, forest.trees(), |own| {
        let pairs = own.flat_map(|tree| pairs.of(tree as u32)).filter(|pair| !leaves.get(pair.join));
        pairs.map(|Pair { join, greatest, .. }| (number(greatest), head(join))).collect()
    });
    drop(pairs);
    // Nearest kept place above each; for heads there is none.
    let places: Vec<u32> = kept.iter().collect();
    let above: Vec<Vec<u32>> = side_by_side(crew, places.len(), |own| {
        let nearest = |i: usize| match forest.above[places[i] as usize] {
            HEAD => UNREACHED,
            _ => number(forest.ancestor(places[i - 1], places[i])),
        };
        own.map(nearest).collect()
    });
    drop(places);
    let graph = Graph::of(top as usize + 1, |edge| {
        roots.iter().for_each(|&tree| edge(top, head(tree)));
        let above = above.iter().flatten().enumerate().filter(|(_, above)| **above != UNREACHED);
        above.for_each(|(i, &above)| edge(above, i as u32));
        of_pairs.iter().flatten().for_each(|&(from, to)| edge(from, to));
    });
    drop((of_pairs, above));
    let found = dominators(graph, top);
    // Places of nodes: their numbers follow the places.
    let kept: Vec<u32> = kept.iter().collect();
    let mut order = Vec::with_capacity(forest.trees());
    for node in found.order {
        if node != top && forest.above[kept[node as usize] as usize] == HEAD {
            let tree = forest.tree(kept[node as usize]);
            let idom = found.of[node as usize];
            of[tree as usize] = if idom == top { TOP } else { kept[idom as usize] };
            order.push(tree);
        }
    }
    order
}

/// Returns the places that the graph keeps.
fn kept(forest: &Forest, pairs: &ByTree, leaves: &Bits, crew: usize) -> Bits {
    let parts = side_by_side(crew, forest.trees(), |trees| {
        let mut kept = Bits::new(forest.places.len());
        let mut own = Vec::new();
        for tree in trees.map(|tree| tree as u32).filter(|&tree| !leaves.get(tree)) {
            kept.set(forest.heads[tree as usize]);
            own.clear();
            own.extend(pairs.of(tree).filter(|pair| !leaves.get(pair.join)).map(|pair| pair.greatest));
            own.sort_unstable();
            own.windows(2).filter(|two| two[0] != two[1]).for_each(|two| kept.set(forest.ancestor(two[0], two[1])));
            own.iter().for_each(|&place| kept.set(place));
        }
        kept
    });
    parts.into_iter().fold(Bits::new(forest.places.len()), |mut all, part| {
        all.join(&part);
        all
    })
}

/// Returns a referrer of each head but leaves on a way over few trees from a root, from the first roots where they
/// reach it.
fn referrers(pairs: &ByTree, roots: [&[u32]; 2], leaves: &Bits) -> Vec<u32> {
    let mut referrers = vec![UNREACHED; pairs.first.len()];
    for roots in roots {
        let mut queue = VecDeque::new();
        for &root in roots {
            referrers[root as usize] = TOP;
            queue.push_back(root);
        }
        while let Some(tree) = queue.pop_front() {
            for pair in pairs.of(tree).filter(|pair| !leaves.get(pair.join)) {
                if referrers[pair.join as usize] == UNREACHED {
                    referrers[pair.join as usize] = pair.least;
                    queue.push_back(pair.join);
                }
            }
        }
    }
    referrers
}
