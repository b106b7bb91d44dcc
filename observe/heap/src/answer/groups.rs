//! Groups: many objects of one class that hold much together, although no single object among them does; and what
//! refers to them. Two maps that share their entries are the usual case: neither of them dominates an entry.
//!
//! ```text
//!   first pass     each object whose dominator is one of the owners: sums by owner and class, and a sample of objects
//!   second pass    all references to the sampled objects
//! ```

use std::collections::HashMap;

use yunti_base::Result;

use super::object::class_name;
use super::path::kind_name;
use super::referrers::{Sample, holders_of};
use crate::file::records::RootKind;
use crate::heap::{Dominator, Heap};
use crate::pass::batch::Batch;
use crate::pass::references::{Receiver, pass};

/// Share of the heap that makes a group, in percent.
const GROUP_PERCENT: u64 = 10;

/// Objects of one class with the same dominator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Class of the objects.
    pub class: String,
    /// Number of objects.
    pub objects: u64,
    /// Bytes that they retain, together.
    pub bytes: u64,
    /// Holders of most of them, such as `java.util.HashMap in static field shop.Cache.BY_ID`.
    pub holders: Vec<String>,
}

/// Returns the groups below each owner, the largest first: an object at a place, or the roots.
pub fn groups(heap: &Heap, owners: &[Dominator]) -> Result<Vec<Vec<Group>>> {
    let mut found: Vec<Vec<Group>> = owners.iter().map(|_| Vec::new()).collect();
    if owners.is_empty() {
        return Ok(found);
    }
    let large = heap.total().bytes * GROUP_PERCENT / 100;
    let by_owner: HashMap<u32, usize> = owners.iter().enumerate().map(|(i, &owner)| (key(owner), i)).collect();
    let mut sums: HashMap<(usize, u32), Sum> = HashMap::new();
    for counter in pass(&heap.objects(), || Counter { heap, by_owner: &by_owner, large, sums: HashMap::new() })? {
        for (of, sum) in counter.sums {
            sums.entry(of).or_default().join(sum);
        }
    }
    sums.retain(|_, sum| sum.bytes >= large.max(1) && sum.objects > 1);
    let (keys, sums): (Vec<_>, Vec<_>) = sums.into_iter().unzip();
    let samples: Vec<Vec<u32>> = sums.iter().map(|sum| sum.sample.numbers()).collect();
    for (((owner, class), sum), holders) in keys.into_iter().zip(sums).zip(holders_of(heap, &samples)?) {
        // What refers to a thread does not matter while it lives.
        let is_thread = heap.classes.hierarchy(class).any(|class| class.name == "java.lang.Thread");
        let holders = if is_thread { vec![kind_name(RootKind::Thread).to_owned()] } else { holders };
        found[owner].push(Group {
            class: class_name(heap, class).to_owned(),
            objects: sum.objects,
            bytes: sum.bytes,
            holders,
        });
    }
    for groups in &mut found {
        groups.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.class.cmp(&b.class)));
    }
    Ok(found)
}

fn key(owner: Dominator) -> u32 {
    match owner {
        Dominator::Place(place) => place,
        Dominator::Roots | Dominator::Garbage => u32::MAX,
    }
}

/// Objects of one owner and class.
#[derive(Default)]
struct Sum {
    objects: u64,
    bytes: u64,
    sample: Sample,
}

impl Sum {
    fn join(&mut self, other: Sum) {
        self.objects += other.objects;
        self.bytes += other.bytes;
        self.sample.join(other.sample);
    }
}

struct Counter<'a> {
    heap: &'a Heap,
    by_owner: &'a HashMap<u32, usize>,
    large: u64,
    sums: HashMap<(usize, u32), Sum>,
}

impl Receiver for Counter<'_> {
    fn object(&mut self, number: u32, class: u32, _bytes: u64) {
        let place = self.heap.forest.places[number as usize];
        let owner = match self.heap.dominator(place) {
            Dominator::Garbage => return,
            owner => key(owner),
        };
        let Some(&owner) = self.by_owner.get(&owner) else { return };
        let bytes = self.heap.retained(place);
        // An object of this size is a suspect by itself.
        if bytes >= self.large {
            return;
        }
        let sum = self.sums.entry((owner, class)).or_default();
        sum.objects += 1;
        sum.bytes += bytes;
        sum.sample.add(number);
    }

    fn references(&mut self, batch: &mut Batch) {
        batch.take().for_each(drop);
    }
}
