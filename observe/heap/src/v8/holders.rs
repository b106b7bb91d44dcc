//! Holders of the memory of a snapshot: suspects with their ways from the roots, the largest objects, and classes.

use std::collections::HashMap;

use super::graph::{ROOT, Snapshot};
use crate::answer::walk::{Tree, Walks};

/// Classes of what a suspect holds.
const CLASSES_NAMED: usize = 3;
/// Steps of a way at each end.
const STEPS_KEPT: usize = 12;

/// Object that holds a tenth of the heap or more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Name.
    pub name: String,
    /// Identity.
    pub id: u64,
    /// Bytes that it retains.
    pub bytes: u64,
    /// Classes below it where the memory spreads: class, objects, their bytes; the largest first.
    pub holds: Vec<(String, u64, u64)>,
    /// Steps up to a root, the object first: each object, and the edge by which the next one holds it.
    pub steps: Vec<String>,
}

/// Objects of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassOf {
    /// Name.
    pub name: String,
    /// Number of objects.
    pub objects: u64,
    /// Their own bytes.
    pub bytes: u64,
}

impl Tree for Snapshot {
    fn places(&self) -> impl Iterator<Item = u32> {
        self.reached().iter().copied().filter(|&node| node != ROOT && !self.is_heading(node))
    }

    fn retained(&self, node: u32) -> u64 {
        Snapshot::retained(self, node)
    }

    fn above(&self, node: u32) -> Option<u32> {
        let above = Snapshot::above(self, node);
        (above != ROOT && !self.is_heading(above)).then_some(above)
    }
}

impl Snapshot {
    /// Returns the bytes of all objects that the roots reach.
    pub fn total(&self) -> u64 {
        Snapshot::retained(self, ROOT)
    }

    /// Returns the largest objects that the roots alone hold.
    pub fn tops(&self, most: usize) -> Vec<u32> {
        let mut tops: Vec<u32> = self.places().filter(|&node| Tree::above(self, node).is_none()).collect();
        tops.sort_by_key(|&node| (std::cmp::Reverse(Snapshot::retained(self, node)), node));
        tops.truncate(most);
        tops
    }

    /// Returns the suspects, the largest first.
    pub fn holders(&self) -> Vec<Holder> {
        let walks = Walks::of(self, self.total());
        let tops = self.tops(usize::MAX);
        let found = tops.into_iter().take_while(|&top| walks.is_suspect(top)).flat_map(|top| walks.from(top));
        let mut holders: Vec<Holder> = Vec::new();
        for walk in found {
            // Tables and elements belong to the object above them.
            let named = walk.iter().rposition(|&node| !self.is_inner(node)).unwrap_or(0);
            let id = self.id(walk[named]);
            if holders.iter().all(|holder| holder.id != id) {
                holders.push(self.holder(walk[named], walk[walk.len() - 1]));
            }
        }
        holders.sort_by_key(|holder| (std::cmp::Reverse(holder.bytes), holder.id));
        holders
    }

    /// Returns what is known of a suspect, whose memory spreads at `end`.
    fn holder(&self, node: u32, end: u32) -> Holder {
        let mut classes: HashMap<String, (u64, u64)> = HashMap::new();
        for &child in self.reached().iter().filter(|&&child| child != ROOT && Snapshot::above(self, child) == end) {
            let sum = classes.entry(self.class(child)).or_default();
            *sum = (sum.0 + 1, sum.1 + Snapshot::retained(self, child));
        }
        let mut holds: Vec<_> = classes.into_iter().map(|(class, (count, bytes))| (class, count, bytes)).collect();
        holds.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(&b.0)));
        holds.truncate(CLASSES_NAMED);
        let (name, id, bytes) = (self.name(node), self.id(node), Snapshot::retained(self, node));
        Holder { name, id, bytes, holds, steps: self.steps(node) }
    }

    /// Returns the steps from an object up to a root.
    pub fn steps(&self, node: u32) -> Vec<String> {
        let mut steps = vec![self.name(node)];
        let mut at = node;
        while let Some((above, edge)) = self.held_by(at) {
            if above == ROOT || self.is_heading(above) {
                steps.push(format!("root: {}", if above == ROOT { edge } else { self.name(above) }));
                break;
            }
            steps.push(format!("{}{edge}", self.name(above)));
            at = above;
        }
        if steps.len() > 2 * STEPS_KEPT + 1 {
            let left_out = steps.len() - 2 * STEPS_KEPT;
            steps.splice(STEPS_KEPT..STEPS_KEPT + left_out, [format!(".. {left_out} objects ..")]);
        }
        steps
    }

    /// Returns the classes, the one with most bytes first.
    pub fn classes(&self) -> Vec<ClassOf> {
        let mut classes: HashMap<String, (u64, u64)> = HashMap::new();
        for &node in self.reached() {
            let sum = classes.entry(self.class(node)).or_default();
            *sum = (sum.0 + 1, sum.1 + self.bytes(node));
        }
        let mut classes: Vec<ClassOf> =
            classes.into_iter().map(|(name, (objects, bytes))| ClassOf { name, objects, bytes }).collect();
        classes.sort_by(|a, b| (b.bytes, b.objects).cmp(&(a.bytes, a.objects)).then_with(|| a.name.cmp(&b.name)));
        classes
    }
}
