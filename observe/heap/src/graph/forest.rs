//! Forest of objects below their single referrers, numbered so that each subtree is one range.
//!
//! Nearly all objects (98 % of a usual heap) have one referrer, which is then their dominator. An object with several
//! is a join. Roots, joins and objects without a referrer are heads of trees; every other object hangs below its
//! referrer. Places are preorder numbers:
//!
//! ```text
//!   place     0      1     2     3      4      5          heads: 0 and 4
//!   above     HEAD   0     1     0      HEAD   4          a referrer comes before what it refers to
//! ```
//!
//! Trees of joins come first, each kind in the order of addresses: the tree of a join is its rank among joins.
//!
//! The lowest common ancestor of places a < b of one tree is the minimum of `above[a + 1..=b]`. So an ancestor needs
//! neither depths nor jump pointers (rejected: 8 bytes an object, and 20 cache misses where this takes three), and the
//! ancestor of a whole set is the ancestor of its least and greatest place.

use std::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Relaxed},
};

use super::bits::Bits;
use super::minimum::Minimum;
use super::side_by_side::side_by_side;

/// No referrer was found.
const NONE: u32 = u32::MAX;
/// Object is a root.
const ROOT: u32 = u32::MAX - 1;
/// Object has several referrers.
const JOIN: u32 = u32::MAX - 2;
/// Least number with a meaning of its own.
const SPECIAL: u32 = JOIN;
/// Entry of `above` for a head.
pub const HEAD: u32 = u32::MAX;

/// Single referrer of each object, collected by several threads at once.
pub struct Referrers(Vec<AtomicU32>);

impl Referrers {
    /// Returns the state before the first reference.
    pub fn new(objects: usize) -> Referrers {
        Referrers((0..objects).map(|_| AtomicU32::new(NONE)).collect())
    }

    /// Marks a root. Comes before all references.
    pub fn root(&self, object: u32) {
        self.0[object as usize].store(ROOT, Relaxed);
    }

    /// Adds a reference, and calls `joined(from, to)` for the references into joins. The referrers do not depend on the
    /// order of references.
    #[inline]
    pub fn add(&self, from: u32, to: u32, mut joined: impl FnMut(u32, u32)) {
        let state = &self.0[to as usize];
        let mut now = state.load(Relaxed);
        if from == to || now == ROOT || now == from {
            return;
        }
        if now == NONE {
            match state.compare_exchange(NONE, from, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(other) => now = other,
            }
        }
        if now < SPECIAL && now != from {
            now = state.swap(JOIN, Relaxed);
            if now < SPECIAL {
                joined(now, to);
            }
        }
        if now != from {
            joined(from, to);
        }
    }

    /// Returns the state of an object, so that it is in the cache when it changes.
    #[inline]
    pub fn touch(&self, object: u32) -> u32 {
        self.0[object as usize].load(Relaxed)
    }

    /// Returns true for an object that needs no further reference: a root or a join.
    pub fn is_settled(&self, object: u32) -> bool {
        matches!(self.0[object as usize].load(Relaxed), ROOT | JOIN)
    }
}

/// Forest with its places.
pub struct Forest {
    /// Place of each object.
    pub places: Vec<u32>,
    /// Place of the referrer of each place; `HEAD` for a head.
    pub above: Vec<u32>,
    /// Places of heads, ascending, and the number of objects behind them.
    pub heads: Vec<u32>,
    /// Places of heads as a set.
    head_bits: Bits,
    /// Objects that are joins.
    pub joins: Bits,
    minimum: Minimum,
}

impl Forest {
    /// Builds the forest on some threads.
    pub fn grow(referrers: Referrers, threads: usize) -> Forest {
        let mut parents = referrers.0;
        let objects = parents.len();
        let (sizes, mut counts) = weigh(&mut parents, threads);
        let mut joins = Bits::new(objects);
        let parents: Vec<u32> = parents.into_iter().map(AtomicU32::into_inner).collect();
        let all = parents.iter().enumerate().filter(|(_, parent)| **parent == JOIN);
        all.for_each(|(object, _)| joins.set(object as u32));
        joins.count();
        let (offsets, heads) = order(&parents, sizes, counts.as_mut_slice());
        let places = climb(&parents, offsets, counts, threads);
        let above = turn(&parents, &places, threads);
        drop(parents);
        let mut head_bits = Bits::new(objects);
        heads[..heads.len() - 1].iter().for_each(|&head| head_bits.set(head));
        head_bits.count();
        let minimum = Minimum::of(&above);
        Forest { places, above, heads, head_bits, joins, minimum }
    }

    /// Returns the number of trees.
    pub fn trees(&self) -> usize {
        self.heads.len() - 1
    }

    /// Returns the tree of a place: the rank of its head.
    #[inline]
    pub fn tree(&self, place: u32) -> u32 {
        self.head_bits.rank(place) + u32::from(self.head_bits.get(place)) - 1
    }

    /// Returns the tree that a join is the head of, or `None` for another object.
    #[inline]
    pub fn join_tree(&self, object: u32) -> Option<u32> {
        self.joins.get(object).then(|| self.joins.rank(object))
    }

    /// Returns the lowest common ancestor of two places of one tree.
    pub fn ancestor(&self, a: u32, b: u32) -> u32 {
        let (a, b) = (a.min(b), a.max(b));
        if a == b { a } else { self.minimum.within(&self.above, a as usize + 1, b as usize + 1) }
    }
}

fn filled(value: u32, objects: usize) -> Vec<AtomicU32> {
    (0..objects).map(|_| AtomicU32::new(value)).collect()
}

/// Returns the size of each subtree, from the leaves up, and an array to reuse. Objects on a cycle, which nothing else
/// refers to, become heads.
fn weigh(parents: &mut [AtomicU32], threads: usize) -> (Vec<u32>, Vec<u32>) {
    // Twice the children that are not yet weighed, and 1 for an object with children: a leaf alone has 0.
    const CHILD: u32 = 2;
    let objects = parents.len();
    let (sizes, waiting) = (filled(1, objects), filled(0, objects));
    let referrers: &[AtomicU32] = parents;
    side_by_side(threads, objects, |own| {
        for parent in referrers[own].iter().map(|parent| parent.load(Relaxed)).filter(|&parent| parent < SPECIAL) {
            let waiting = &waiting[parent as usize];
            // Fewer than 2^31 children are usual; the count of more wraps around, and reaches 1 all the same.
            if waiting.fetch_add(CHILD, Relaxed) & 1 == 0 {
                waiting.fetch_or(1, Relaxed);
            }
        }
    });
    side_by_side(threads, objects, |own| {
        for leaf in own {
            let mut object = leaf;
            // The thread that weighs the last child goes on with the parent.
            while waiting[object].load(Relaxed) == u32::from(object != leaf) {
                let parent = referrers[object].load(Relaxed);
                if parent >= SPECIAL {
                    break;
                }
                let parent = parent as usize;
                sizes[parent].fetch_add(sizes[object].load(Relaxed), Relaxed);
                if waiting[parent].fetch_sub(CHILD, AcqRel) != CHILD + 1 {
                    break;
                }
                object = parent;
            }
        }
    });
    for (parent, waiting) in parents.iter_mut().zip(&waiting) {
        if waiting.load(Relaxed) > 1 {
            *parent.get_mut() = NONE;
        }
        waiting.store(0, Relaxed);
    }
    let plain = |values: Vec<AtomicU32>| values.into_iter().map(AtomicU32::into_inner).collect();
    (plain(sizes), plain(waiting))
}
/// Turns sizes into places: of heads, joins first, and of each other object relative to its referrer, behind the
/// subtrees of that referrer before it. `next` has zeros. Returns the places, and those of the heads.
fn order(parents: &[u32], mut sizes: Vec<u32>, next: &mut [u32]) -> (Vec<u32>, Vec<u32>) {
    let (mut heads, mut head) = (Vec::new(), 0);
    for is_turn in [|parent: u32| parent == JOIN, |parent: u32| parent == ROOT || parent == NONE] {
        for (size, _) in sizes.iter_mut().zip(parents).filter(|(_, parent)| is_turn(**parent)) {
            heads.push(head);
            head += std::mem::replace(size, head);
        }
    }
    heads.push(head);
    for (size, &parent) in sizes.iter_mut().zip(parents).filter(|(_, parent)| **parent < SPECIAL) {
        let next = &mut next[parent as usize];
        let before = *next + 1;
        *next += std::mem::replace(size, before);
    }
    (sizes, heads)
}

/// Returns the place of each object. `offsets`: of heads their places, of others relative to their referrers.
fn climb(parents: &[u32], offsets: Vec<u32>, places: Vec<u32>, threads: usize) -> Vec<u32> {
    let places: Vec<AtomicU32> = places.into_iter().map(AtomicU32::new).collect();
    side_by_side(threads, parents.len(), |own| {
        places[own].iter().for_each(|place| place.store(NONE, Relaxed));
    });
    side_by_side(threads, parents.len(), |own| {
        let mut path = Vec::new();
        for mut object in own {
            // Threads that meet on a path find the same places.
            let mut place = places[object].load(Relaxed);
            while place == NONE {
                path.push(object);
                if parents[object] >= SPECIAL {
                    place = 0;
                } else {
                    object = parents[object] as usize;
                    place = places[object].load(Relaxed);
                }
            }
            while let Some(below) = path.pop() {
                place += offsets[below];
                places[below].store(place, Relaxed);
            }
        }
    });
    places.into_iter().map(AtomicU32::into_inner).collect()
}

/// Returns the place of the referrer by place.
fn turn(parents: &[u32], places: &[u32], threads: usize) -> Vec<u32> {
    let above = filled(HEAD, parents.len());
    side_by_side(threads, parents.len(), |own| {
        for (&parent, &place) in parents[own.clone()].iter().zip(&places[own]).filter(|(parent, _)| **parent < SPECIAL)
        {
            above[place as usize].store(places[parent as usize], Relaxed);
        }
    });
    above.into_iter().map(AtomicU32::into_inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtrees_are_ranges() {
        // 0 root -> 1 -> {2, 3}, 0 -> 4; 5 join of 2 and 4 -> 6; 7 <-> 8 alone; 9 refers to itself.
        let referrers = Referrers::new(10);
        referrers.root(0);
        let mut joined = Vec::new();
        for (from, to) in [(0, 1), (1, 2), (1, 3), (1, 3), (0, 4), (2, 5), (4, 5), (5, 6), (7, 8), (8, 7), (9, 9)] {
            referrers.add(from, to, |from, to| joined.push((from, to)));
        }
        assert!(referrers.is_settled(5) && referrers.is_settled(0) && !referrers.is_settled(1));
        assert_eq!(joined, [(2, 5), (4, 5)]);
        let forest = Forest::grow(referrers, 2);
        let place = |object: usize| forest.places[object];
        assert_eq!(forest.trees(), 5);
        assert_eq!(forest.heads.last(), Some(&10));
        for (object, parent) in [(1, 0), (2, 1), (3, 1), (4, 0), (6, 5)] {
            assert_eq!(forest.above[place(object) as usize], place(parent));
            assert!(place(parent) < place(object));
            assert_eq!(forest.tree(place(object)), forest.tree(place(parent)));
        }
        for head in [0, 5, 7, 8, 9] {
            assert_eq!(forest.above[place(head) as usize], HEAD);
        }
        assert_eq!((forest.join_tree(5), forest.join_tree(0)), (Some(forest.tree(place(6))), None));
        assert_eq!(forest.ancestor(place(3), place(2)), place(1));
        assert_eq!(forest.ancestor(place(3), place(4)), place(0));
        assert_eq!(forest.ancestor(place(1), place(2)), place(1));
    }
}
