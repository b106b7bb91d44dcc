//! Walks down a dominator tree, from what the roots hold to where the memory spreads.
//!
//! A walk goes on as long as one child holds 70 % of its parent. Where a few children hold that together, each a tenth
//! of the heap or more, a walk goes on into each of them: two caches of one application are two findings, not one
//! class loader.

use std::collections::HashMap;

/// Share of the heap that makes a suspect, in percent.
pub const SUSPECT_PERCENT: u64 = 10;
/// Share of its parent that children hold where a walk goes on, in percent.
pub const SAME_PERCENT: u64 = 70;
/// Share of the heap that makes a place large, in percent of a percent.
const LARGE_PER_MILLE: u64 = 5;
/// Children that a walk parts into; more are entries of one thing.
const PARTS_MAX: usize = 4;
/// Places with a known child. A list of a million objects has as many large places, each within the one before.
const PLACES_MAX: usize = 1 << 20;

/// Dominator tree of a heap.
pub trait Tree {
    /// Returns all places that something holds.
    fn places(&self) -> impl Iterator<Item = u32>;
    /// Returns the bytes that a place retains.
    fn retained(&self, place: u32) -> u64;
    /// Returns the dominator of a place; `None` if the roots alone hold it.
    fn above(&self, place: u32) -> Option<u32>;
}

/// Large children of places.
pub struct Walks<'a, T> {
    tree: &'a T,
    total: u64,
    /// Largest child of each large place.
    largest: HashMap<u32, u32>,
    /// Children that are suspects by themselves.
    suspects: HashMap<u32, Vec<u32>>,
}

impl<'a, T: Tree> Walks<'a, T> {
    /// Finds the large places of a heap of some bytes.
    pub fn of(tree: &'a T, total: u64) -> Walks<'a, T> {
        let least = (total * LARGE_PER_MILLE / 1000).max(1);
        let (mut largest, mut suspects): (HashMap<u32, u32>, HashMap<u32, Vec<u32>>) = Default::default();
        for place in tree.places() {
            let bytes = tree.retained(place);
            if bytes < least {
                continue;
            }
            let Some(above) = tree.above(place) else { continue };
            if largest.len() < PLACES_MAX || largest.contains_key(&above) {
                let child = largest.entry(above).or_insert(place);
                if bytes > tree.retained(*child) {
                    *child = place;
                }
                // A child with most of its parent is the way on.
                if is_suspect(bytes, total) && bytes * 100 < tree.retained(above) * SAME_PERCENT {
                    suspects.entry(above).or_default().push(place);
                }
            }
        }
        Walks { tree, total, largest, suspects }
    }

    /// Returns the walks from a place: each from it down to where the memory spreads, the largest first.
    pub fn from(&self, top: u32) -> Vec<Vec<u32>> {
        let (mut open, mut ended) = (vec![vec![top]], Vec::new());
        while let Some(mut walk) = open.pop() {
            let mut at = walk.last().copied().unwrap_or(top);
            while let Some(&child) = self.largest.get(&at) {
                if self.tree.retained(child) * 100 < self.tree.retained(at) * SAME_PERCENT {
                    break;
                }
                walk.push(child);
                at = child;
            }
            let below = self.suspects.get(&at).map_or(&[][..], |below| below);
            let held: u64 = below.iter().map(|&place| self.tree.retained(place)).sum();
            if below.len() <= PARTS_MAX && held * 100 >= self.tree.retained(at) * SAME_PERCENT {
                open.extend(below.iter().map(|&place| walk.iter().copied().chain([place]).collect::<Vec<_>>()));
            } else {
                ended.push(walk);
            }
        }
        let held = |walk: &Vec<u32>| walk.last().map_or(0, |&end| self.tree.retained(end));
        ended.sort_by_key(|walk| (std::cmp::Reverse(held(walk)), walk.clone()));
        ended
    }

    /// Returns true if a place is a suspect by its size.
    pub fn is_suspect(&self, place: u32) -> bool {
        is_suspect(self.tree.retained(place), self.total)
    }
}

fn is_suspect(bytes: u64, total: u64) -> bool {
    bytes > 0 && bytes * 100 >= total * SUSPECT_PERCENT
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dominator and retained bytes by place.
    struct Plain(Vec<(Option<u32>, u64)>);

    impl Tree for Plain {
        fn places(&self) -> impl Iterator<Item = u32> {
            0..self.0.len() as u32
        }

        fn retained(&self, place: u32) -> u64 {
            self.0[place as usize].1
        }

        fn above(&self, place: u32) -> Option<u32> {
            self.0[place as usize].0
        }
    }

    #[test]
    fn walks_part_where_few_children_hold_all() {
        // 0 -> 1 -> {2 -> 4, 3, 5}: two of them hold most.
        let tree = Plain(vec![(None, 100), (Some(0), 98), (Some(1), 50), (Some(1), 40), (Some(2), 49), (Some(1), 3)]);
        let walks = Walks::of(&tree, 110);
        assert_eq!(walks.from(0), [vec![0, 1, 2, 4], vec![0, 1, 3]]);
        assert!(walks.is_suspect(3) && !walks.is_suspect(5));
        // Many small children: the memory spreads there.
        let tree = Plain((0..30).map(|n| if n == 0 { (None, 100) } else { (Some(0), 3) }).collect());
        assert_eq!(Walks::of(&tree, 100).from(0), [vec![0]]);
        // One large child among small ones does not hold most.
        let tree = Plain(vec![(None, 100), (Some(0), 30), (Some(0), 2)]);
        assert_eq!(Walks::of(&tree, 100).from(0), [vec![0]]);
    }
}
