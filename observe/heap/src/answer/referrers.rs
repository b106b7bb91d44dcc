//! Referrers of a sample of objects, and the fields and collections that hold most of it: one walk over all references.

use std::collections::{BTreeSet, BinaryHeap, HashMap};

use yunti_base::Result;

use super::object::{Named, class_name, held_in, is_inner};
use super::path::{kind_name, way};
use crate::graph::hash;
use crate::heap::Heap;
use crate::pass::batch::Batch;
use crate::pass::references::{Receiver, pass};

/// Objects of a sample.
pub const SAMPLED: usize = 24;
/// Referrers of a sampled object that are read.
pub const REFERRERS_MAX: usize = 64;
/// Share of the sampled objects that a holder must hold to be named, in percent.
const HOLDER_PERCENT: usize = 25;

/// Sample of objects: those with the least hashes of their numbers.
#[derive(Clone, Default)]
pub struct Sample(BinaryHeap<(u32, u32)>);

impl Sample {
    /// Adds an object, if it is one of those.
    pub fn add(&mut self, number: u32) {
        self.add_hashed((hash::fold(u64::from(number)) as u32, number));
    }

    fn add_hashed(&mut self, one: (u32, u32)) {
        if self.0.len() < SAMPLED {
            self.0.push(one);
        } else if self.0.peek().is_some_and(|most| one < *most) {
            self.0.pop();
            self.0.push(one);
        }
    }

    /// Adds another sample.
    pub fn join(&mut self, other: Sample) {
        other.0.into_iter().for_each(|one| self.add_hashed(one));
    }

    /// Returns the numbers of its objects.
    pub fn numbers(&self) -> Vec<u32> {
        self.0.iter().map(|&(_, number)| number).collect()
    }
}

/// Returns what refers to most of each sample, the most frequent first.
pub fn holders_of(heap: &Heap, samples: &[Vec<u32>]) -> Result<Vec<Vec<String>>> {
    let mut all: Vec<u32> = samples.concat();
    all.sort_unstable();
    all.dedup();
    // Of each object the ways from its referrers upwards.
    let ways: HashMap<u32, Vec<Vec<u32>>> = all_referrers(heap, &all)?
        .into_iter()
        .map(|(number, from)| {
            let place = |number: u32| heap.forest.places[number as usize];
            (number, from.into_iter().map(|from| way(heap, place(from)).places).collect())
        })
        .collect();
    let named = Named::of(heap, &ways.values().flatten().flatten().copied().collect::<Vec<_>>())?;
    samples.iter().map(|sample| holders(heap, &named, sample, &ways)).collect()
}

/// Returns what refers to most of the objects, the most frequent first.
fn holders(heap: &Heap, named: &Named, sampled: &[u32], ways: &HashMap<u32, Vec<Vec<u32>>>) -> Result<Vec<String>> {
    let mut of: HashMap<String, usize> = HashMap::new();
    for number in sampled {
        let mut own: Vec<String> = ways
            .get(number)
            .into_iter()
            .flatten()
            .map(|places| holder(heap, named, *number, places))
            .collect::<Result<_>>()?;
        own.extend(heap.roots.kinds.get(number).map(|&kind| kind_name(kind).to_owned()));
        own.sort_unstable();
        own.dedup();
        own.into_iter().for_each(|holder| *of.entry(holder).or_default() += 1);
    }
    let mut counts: Vec<(String, usize)> =
        of.into_iter().filter(|(_, count)| count * 100 >= sampled.len() * HOLDER_PERCENT).collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(counts.into_iter().map(|(holder, _)| holder).collect())
}

/// Returns the collection, or the field, in which a way from a referrer upwards holds an object.
fn holder(heap: &Heap, named: &Named, number: u32, places: &[u32]) -> Result<String> {
    let name = |place: u32| {
        let id = named.id(place);
        match heap.classes.index(id) {
            Some(_) => None,
            None => Some(class_name(heap, heap.class_of(id, named.bodies.get(&id)))),
        }
    };
    let inner = places.iter().take_while(|&&place| name(place).is_some_and(is_part)).count();
    let to = if inner == 0 { heap.ids.id(number) } else { named.id(places[inner - 1]) };
    let Some(&owner) = places.get(inner) else { return Ok("arrays".to_owned()) };
    let is_collection = name(owner).is_some_and(|name| name.starts_with("java.util."));
    match (places.get(inner + 1), name(owner)) {
        (Some(&above), Some(class)) if is_collection => {
            Ok(format!("{class} in {}", held_in(heap, named, named.id(above), named.id(owner))?))
        }
        _ => held_in(heap, named, named.id(owner), to),
    }
}

/// Returns true for parts of collections, and for strings, whose arrays are known by the field with the string.
fn is_part(class: &str) -> bool {
    is_inner(class) || class == "java.lang.String"
}

/// Returns the referrers of some objects, whose numbers are sorted: by number, at most `REFERRERS_MAX` of each.
pub fn all_referrers(heap: &Heap, sampled: &[u32]) -> Result<HashMap<u32, BTreeSet<u32>>> {
    let mut all: HashMap<u32, BTreeSet<u32>> = HashMap::new();
    if sampled.is_empty() {
        return Ok(all);
    }
    let objects = heap.objects();
    let mut model = Finder { heap, sampled, found: HashMap::new() };
    objects.model_references(|from, to| model.refer(from, to));
    let finders = pass(&objects, || Finder { heap, sampled, found: HashMap::new() })?;
    for finder in finders.into_iter().chain([model]) {
        for (to, from) in finder.found {
            let all = all.entry(to).or_default();
            from.into_iter().for_each(|from| add(all, from));
        }
    }
    Ok(all)
}

struct Finder<'a> {
    heap: &'a Heap,
    sampled: &'a [u32],
    found: HashMap<u32, BTreeSet<u32>>,
}

/// Adds a referrer. The least numbers stay, whichever thread comes first.
fn add(referrers: &mut BTreeSet<u32>, from: u32) {
    if referrers.len() < REFERRERS_MAX || referrers.last().is_some_and(|last| from < *last) {
        referrers.insert(from);
        if referrers.len() > REFERRERS_MAX {
            referrers.pop_last();
        }
    }
}

impl Finder<'_> {
    fn refer(&mut self, from: u32, to: u32) {
        if self.sampled.binary_search(&to).is_ok() {
            add(self.found.entry(to).or_default(), from);
        }
    }
}

impl Receiver for Finder<'_> {
    fn object(&mut self, _number: u32, _class: u32, _bytes: u64) {}

    fn references(&mut self, batch: &mut Batch) {
        for (from, to) in batch.take() {
            if let Some(to) = self.heap.ids.number(to) {
                self.refer(from, to);
            }
        }
    }
}
