//! Groups: many objects of one class that hold much together, although no single object among them does; and what
//! refers to them. Two maps that share their entries are the usual case: neither of them dominates an entry.
//!
//! ```text
//!   first pass     each object whose dominator is one of the owners: sums by owner and class, and a sample of objects
//!   second pass    all references to the sampled objects
//! ```

use std::collections::{BinaryHeap, HashMap};

use yunti_base::Result;

use super::object::{Named, held_in, is_inner};
use super::path::{kind_name, way};
use crate::file::records::RootKind;
use crate::graph::hash;
use crate::heap::{Dominator, Heap};
use crate::pass::batch::Batch;
use crate::pass::references::{Objects, Receiver, pass};

/// Share of the heap that makes a group, in percent.
const GROUP_PERCENT: u64 = 10;
/// Objects of a group whose referrers are looked for.
pub const SAMPLED: usize = 24;
/// Referrers of a sampled object that are read.
const REFERRERS_MAX: usize = 64;
/// Share of the sampled objects that a holder must hold to be named, in percent.
const HOLDER_PERCENT: usize = 25;

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
    let objects = objects(heap);
    let by_owner: HashMap<u32, usize> = owners.iter().enumerate().map(|(i, &owner)| (key(owner), i)).collect();
    let mut sums: HashMap<(usize, u32), Sum> = HashMap::new();
    for counter in pass(&objects, || Counter { heap, by_owner: &by_owner, large, sums: HashMap::new() })? {
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
            class: heap.classes.list[class as usize].name.clone(),
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

/// Returns what refers to most of each sample, the most frequent first.
pub fn holders_of(heap: &Heap, samples: &[Vec<u32>]) -> Result<Vec<Vec<String>>> {
    let mut all: Vec<u32> = samples.concat();
    all.sort_unstable();
    all.dedup();
    let referrers = all_referrers(heap, &objects(heap), &all)?;
    samples.iter().map(|sample| holders(heap, sample, &referrers)).collect()
}

fn objects(heap: &Heap) -> Objects<'_> {
    Objects {
        source: &heap.source,
        units: &heap.units,
        ids: &heap.ids,
        classes: &heap.classes,
        roots: &heap.roots,
        threads: heap.threads,
    }
}

fn key(owner: Dominator) -> u32 {
    match owner {
        Dominator::Place(place) => place,
        Dominator::Roots | Dominator::Garbage => u32::MAX,
    }
}

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

impl FromIterator<(u32, u32)> for Sample {
    fn from_iter<I: IntoIterator<Item = (u32, u32)>>(all: I) -> Sample {
        Sample(all.into_iter().collect())
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
        // That one is a suspect by itself.
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

/// Referrers of the sampled objects, by number, at most `REFERRERS_MAX` of each by a thread.
fn all_referrers(heap: &Heap, objects: &Objects, sampled: &[u32]) -> Result<HashMap<u32, Vec<u32>>> {
    let mut all: HashMap<u32, Vec<u32>> = HashMap::new();
    if sampled.is_empty() {
        return Ok(all);
    }
    let mut model = Finder { heap, sampled, found: HashMap::new() };
    objects.model_references(|from, to| model.refer(from, to));
    let finders = pass(objects, || Finder { heap, sampled, found: HashMap::new() })?;
    for finder in finders.into_iter().chain([model]) {
        for (to, from) in finder.found {
            all.entry(to).or_default().extend(from);
        }
    }
    Ok(all)
}

struct Finder<'a> {
    heap: &'a Heap,
    sampled: &'a [u32],
    found: HashMap<u32, Vec<u32>>,
}

impl Finder<'_> {
    fn refer(&mut self, from: u32, to: u32) {
        if self.sampled.binary_search(&to).is_ok() {
            let referrers = self.found.entry(to).or_default();
            if referrers.len() < REFERRERS_MAX && !referrers.contains(&from) {
                referrers.push(from);
            }
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

/// Returns what refers to most of the objects, the most frequent first.
fn holders(heap: &Heap, sampled: &[u32], referrers: &HashMap<u32, Vec<u32>>) -> Result<Vec<String>> {
    let place = |number: u32| heap.forest.places[number as usize];
    let mut ways = Vec::new();
    for number in sampled {
        for &from in referrers.get(number).map_or(&[][..], |from| from) {
            // The referrer, and what holds it.
            ways.push((*number, way(heap, place(from)).places));
        }
    }
    let places: Vec<u32> = ways.iter().flat_map(|(_, places)| places).copied().collect();
    let named = Named::of(heap, &places)?;
    let mut of: HashMap<String, Vec<u32>> = HashMap::new();
    for (number, places) in &ways {
        let holder = holder(heap, &named, *number, places)?;
        of.entry(holder).or_default().push(*number);
    }
    for number in sampled {
        if let Some(&kind) = heap.roots.kinds.get(number) {
            of.entry(kind_name(kind).to_owned()).or_default().push(*number);
        }
    }
    let mut counts: Vec<(usize, String)> = of
        .into_iter()
        .map(|(holder, mut numbers)| {
            numbers.sort_unstable();
            numbers.dedup();
            (numbers.len(), holder)
        })
        .filter(|(count, _)| count * 100 >= sampled.len() * HOLDER_PERCENT)
        .collect();
    counts.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    Ok(counts.into_iter().map(|(_, holder)| holder).collect())
}

/// Returns the collection, or the field, in which a way from a referrer upwards holds an object.
fn holder(heap: &Heap, named: &Named, number: u32, places: &[u32]) -> Result<String> {
    let name = |place: u32| {
        let id = named.id(place);
        match heap.classes.index(id) {
            Some(_) => None,
            None => Some(&*heap.classes.list[heap.class_of(id, named.bodies.get(&id)) as usize].name),
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
