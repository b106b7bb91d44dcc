//! Summary of a heap, small enough to compare with another one: classes, and what the largest holders of each class
//! hold.

use std::collections::BTreeMap;

use super::suspects::Large;
use crate::heap::Heap;
use crate::pass::weigh::ClassTotal;

/// Summary of one heap.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Objects and bytes by the name of the class.
    pub classes: BTreeMap<String, ClassTotal>,
    /// Bytes that the largest objects below the roots retain, by the name of their class or of the class they are.
    pub holders: BTreeMap<String, u64>,
    /// All objects.
    pub total: ClassTotal,
}

/// Change of a class between two heaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Name of the class.
    pub class: String,
    /// More objects than before.
    pub objects: i64,
    /// More bytes than before.
    pub bytes: i64,
    /// More bytes that its largest objects retain.
    pub held: i64,
}

impl Summary {
    /// Returns the summary of a heap and its large objects.
    pub fn of(heap: &Heap, large: &Large) -> Summary {
        let mut summary = Summary { total: heap.total(), ..Summary::default() };
        for (class, total) in heap.classes.list.iter().zip(&heap.totals).filter(|(_, total)| total.objects > 0) {
            let sum = summary.classes.entry(class.name.clone()).or_default();
            sum.objects += total.objects;
            sum.bytes += total.bytes;
        }
        for top in &large.tops {
            let is_class = top.name.starts_with("class ");
            *summary.holders.entry(if is_class { &top.name } else { &top.class }.clone()).or_default() += top.bytes;
        }
        summary
    }

    /// Returns the classes that differ from an older heap, the greatest growth first.
    pub fn changes(&self, old: &Summary) -> Vec<Change> {
        let names = [&self.classes, &old.classes].into_iter().flat_map(|classes| classes.keys());
        let holders = [&self.holders, &old.holders].into_iter().flat_map(|holders| holders.keys());
        let mut names: Vec<&String> = names.chain(holders).collect();
        names.sort_unstable();
        names.dedup();
        let mut changes: Vec<Change> = names
            .into_iter()
            .map(|class| {
                let [new, before] = [self, old].map(|heap| heap.classes.get(class).copied().unwrap_or_default());
                let [held, held_before] = [self, old].map(|heap| heap.holders.get(class).copied().unwrap_or(0));
                Change {
                    class: class.clone(),
                    objects: difference(new.objects, before.objects),
                    bytes: difference(new.bytes, before.bytes),
                    held: difference(held, held_before),
                }
            })
            .filter(|change| (change.objects, change.bytes, change.held) != (0, 0, 0))
            .collect();
        changes.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.class.cmp(&b.class)));
        changes
    }
}

fn difference(new: u64, old: u64) -> i64 {
    new.wrapping_sub(old) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_comes_first() {
        let summary = |classes: &[(&str, u64, u64)], holders: &[(&str, u64)]| Summary {
            classes: classes.iter().map(|&(n, objects, bytes)| (n.to_owned(), ClassTotal { objects, bytes })).collect(),
            holders: holders.iter().map(|&(n, bytes)| (n.to_owned(), bytes)).collect(),
            total: ClassTotal::default(),
        };
        let old = summary(&[("A", 5, 50), ("B", 1, 8), ("Same", 1, 1)], &[("class C", 100)]);
        let new = summary(&[("A", 3, 30), ("B", 10, 80), ("Same", 1, 1)], &[("class C", 160)]);
        let change = |class: &str, objects, bytes, held| Change { class: class.to_owned(), objects, bytes, held };
        assert_eq!(new.changes(&old), [change("B", 9, 72, 0), change("class C", 0, 0, 60), change("A", -2, -20, 0)]);
    }
}
