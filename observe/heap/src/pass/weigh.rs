//! Third pass: shallow sizes by place, objects and bytes by class, and the references into joins.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use yunti_base::Result;

use super::crew;
use super::references::{Objects, Receiver, pass};
use super::scan::Unit;
use crate::file::records::{Blocks, Visitor, walk};
use crate::graph::bits::Bits;
use crate::graph::contract::{HeadDominators, UNREACHED};
use crate::graph::forest::Forest;
use crate::graph::pairs::{FirstTrees, JoinPairs, NONE, Pair, Pairs};
use crate::model::name;
use crate::model::sizes::Sizes;

/// Objects of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassTotal {
    /// Number of objects.
    pub objects: u64,
    /// Their shallow bytes.
    pub bytes: u64,
}

/// Result of the pass.
pub struct Weights {
    /// Shallow sizes by place.
    pub sizes: Sizes,
    /// Totals by class.
    pub totals: Vec<ClassTotal>,
    /// References into joins.
    pub pairs: JoinPairs,
}

/// Weighs all objects. Classes that act like roots join the `root_trees`.
pub fn weigh(objects: &Objects, forest: &Forest, root_trees: &mut Bits) -> Result<Weights> {
    let sizes = Sizes::new(objects.ids.count(), objects.source.bytes());
    let joins: Vec<Option<u32>> = objects
        .classes
        .list
        .iter()
        .map(|class| objects.ids.number(class.record.id).and_then(|number| forest.join_tree(number)))
        .collect();
    let first = FirstTrees::new(forest.trees());
    let shared: Vec<SharedClass> = joins.iter().map(|_| SharedClass::default()).collect();
    let is_root_tree = root_trees.clone();
    let new = || Collector {
        forest,
        shared: &shared,
        is_root_tree: &is_root_tree,
        first: &first,
        sizes: &sizes,
        near: Near::default(),
        class_joins: joins.iter().map(|&join| ClassJoin { join, ..ClassJoin::default() }).collect(),
        totals: vec![ClassTotal::default(); joins.len()],
        further: Pairs::default(),
    };
    let crew = pass(objects, new)?;
    let mut model = new();
    objects.model_references(|from, to| model.reference(from, to));
    let mut further = Pairs::default();
    let mut totals = vec![ClassTotal::default(); joins.len()];
    for mut collector in crew.into_iter().chain([model]) {
        collector.finish();
        further.join(collector.further);
        for (sum, own) in totals.iter_mut().zip(collector.totals) {
            sum.objects += own.objects;
            sum.bytes += own.bytes;
        }
    }
    model_objects(objects, |number, class, bytes| {
        sizes.set(forest.places[number as usize], bytes);
        totals[class as usize].objects += 1;
        totals[class as usize].bytes += bytes;
    });
    let like_roots: Vec<(u32, u32)> = joins
        .iter()
        .zip(&shared)
        .filter(|(_, shared)| shared.is_root.load(Relaxed))
        .filter_map(|(join, shared)| join.map(|join| (join, forest.heads[shared.root_tree.load(Relaxed) as usize])))
        .collect();
    let mut pairs = first.finish(further);
    pairs.act_like_roots(&like_roots, root_trees);
    Ok(Weights { sizes, totals, pairs })
}

/// Subtracts objects that no root reaches, if there are any.
pub fn without_garbage(
    objects: &Objects,
    forest: &Forest,
    heads: &HeadDominators,
    totals: &mut [ClassTotal],
) -> Result<ClassTotal> {
    let mut garbage = ClassTotal::default();
    if heads.of.iter().all(|&of| of != UNREACHED) {
        return Ok(garbage);
    }
    let mut places = Bits::new(objects.ids.count());
    for tree in (0..forest.trees()).filter(|&tree| heads.of[tree] == UNREACHED) {
        (forest.heads[tree]..forest.heads[tree + 1]).for_each(|place| places.set(place));
    }
    let mut numbers = Bits::new(objects.ids.count());
    let all = forest.places.iter().enumerate().filter(|(_, place)| places.get(**place));
    all.for_each(|(number, _)| numbers.set(number as u32));
    let new = || Garbage { objects, numbers: &numbers, totals: vec![ClassTotal::default(); totals.len()] };
    let mut model = new();
    model_objects(objects, |number, class, bytes| model.object(number, class, bytes));
    // Most dumps of live objects have a little garbage, in few units.
    let ids: Vec<u64> = numbers.iter().take(IDS_MAX + 1).map(|number| objects.ids.id(number)).collect();
    let has_garbage = |unit: &&Unit| {
        ids.len() > IDS_MAX
            || ids.get(ids.partition_point(|&id| id < unit.least)).is_some_and(|&id| id <= unit.greatest)
    };
    let units: Vec<&Unit> = objects.units.iter().filter(has_garbage).collect();
    let state = || (Blocks::new(objects.source), new());
    let crew = crew::share(objects.threads, units.len(), state, |(blocks, garbage), item| {
        walk(blocks, objects.classes.id_bytes, units[item].begin, units[item].end, garbage)?;
        Ok(())
    })?;
    for collector in crew.into_iter().map(|(_, collector)| collector).chain([model]) {
        for (sum, own) in totals.iter_mut().zip(collector.totals) {
            sum.objects = sum.objects.saturating_sub(own.objects);
            sum.bytes = sum.bytes.saturating_sub(own.bytes);
            garbage.objects += own.objects;
            garbage.bytes += own.bytes;
        }
    }
    Ok(garbage)
}

/// Ids of garbage by which units are chosen.
const IDS_MAX: usize = 1 << 16;

/// Calls `object(number, class, bytes)` for what has no record of an object: classes, and the boot loader.
fn model_objects(objects: &Objects, mut object: impl FnMut(u32, u32, u64)) {
    let classes = objects.classes;
    for class in &classes.list {
        if let Some(number) = objects.ids.number(class.record.id) {
            object(number, classes.class, class.own_bytes);
        }
    }
    if let Some(number) = objects.ids.number(0) {
        object(number, classes.loader, classes.list[classes.loader as usize].shallow_bytes);
    }
}

/// Tree of the last place.
#[derive(Default)]
struct Near {
    tree: u32,
    begin: u32,
    end: u32,
}

impl Near {
    #[inline]
    fn tree(&mut self, forest: &Forest, place: u32) -> u32 {
        if place.wrapping_sub(self.begin) >= self.end - self.begin {
            self.tree = forest.tree(place);
            self.begin = forest.heads[self.tree as usize];
            self.end = forest.heads[self.tree as usize + 1];
        }
        self.tree
    }
}

/// References from the instances of a class in one tree to the class.
#[derive(Clone, Default)]
struct ClassJoin {
    /// Tree of the class, if it is a join.
    join: Option<u32>,
    tree: u32,
    begin: u32,
    end: u32,
    least: u32,
    greatest: u32,
}

/// Class of which all threads know a tree of a root with an instance. Two such trees make it like a root: arrays of
/// bytes are in millions of trees, and their class is seldom a root.
struct SharedClass {
    root_tree: AtomicU32,
    is_root: AtomicBool,
}

impl Default for SharedClass {
    fn default() -> SharedClass {
        SharedClass { root_tree: AtomicU32::new(NONE), is_root: AtomicBool::new(false) }
    }
}

impl SharedClass {
    fn is_like_root(&self, tree: u32, is_root_tree: &Bits) -> bool {
        if is_root_tree.get(tree)
            && let Err(other) = self.root_tree.compare_exchange(NONE, tree, Relaxed, Relaxed)
            && other != tree
        {
            self.is_root.store(true, Relaxed);
        }
        self.is_root.load(Relaxed)
    }
}

struct Collector<'a> {
    forest: &'a Forest,
    first: &'a FirstTrees,
    shared: &'a [SharedClass],
    is_root_tree: &'a Bits,
    sizes: &'a Sizes,
    near: Near,
    class_joins: Vec<ClassJoin>,
    totals: Vec<ClassTotal>,
    further: Pairs,
}

impl Collector<'_> {
    fn class_reference(&mut self, class: u32, place: u32) {
        let own = &mut self.class_joins[class as usize];
        if place.wrapping_sub(own.begin) < own.end - own.begin {
            own.least = own.least.min(place);
            own.greatest = own.greatest.max(place);
            return;
        }
        let tree = self.near.tree(self.forest, place);
        let next = ClassJoin {
            join: own.join,
            tree,
            begin: self.near.begin,
            end: self.near.end,
            least: place,
            greatest: place,
        };
        let done = std::mem::replace(own, next);
        if self.shared[class as usize].is_like_root(tree, self.is_root_tree) {
            self.class_joins[class as usize] = ClassJoin::default();
            return;
        }
        self.keep(&done);
    }

    fn keep(&mut self, done: &ClassJoin) {
        if let Some(join) = done.join.filter(|&join| done.end > done.begin && join != done.tree) {
            let pair = Pair { tree: done.tree, join, least: done.least, greatest: done.greatest };
            self.first.add(pair, &mut self.further);
        }
    }

    fn finish(&mut self) {
        for done in std::mem::take(&mut self.class_joins) {
            self.keep(&done);
        }
    }
}

impl Receiver for Collector<'_> {
    #[inline]
    fn object(&mut self, number: u32, class: u32, bytes: u64) {
        let place = self.forest.places[number as usize];
        self.sizes.set(place, bytes);
        let total = &mut self.totals[class as usize];
        total.objects += 1;
        total.bytes += bytes;
        if self.class_joins[class as usize].join.is_some() {
            self.class_reference(class, place);
        }
    }

    #[inline]
    fn reference(&mut self, from: u32, to: u32) {
        let Some(join) = self.forest.join_tree(to) else { return };
        let place = self.forest.places[from as usize];
        let tree = self.near.tree(self.forest, place);
        if tree != join {
            self.first.add(Pair { tree, join, least: place, greatest: place }, &mut self.further);
        }
    }
}

/// Totals of the objects that no root reaches.
struct Garbage<'a> {
    objects: &'a Objects<'a>,
    numbers: &'a Bits,
    totals: Vec<ClassTotal>,
}

impl Garbage<'_> {
    fn object(&mut self, number: u32, class: u32, bytes: u64) {
        if self.numbers.get(number) {
            self.totals[class as usize].objects += 1;
            self.totals[class as usize].bytes += bytes;
        }
    }

    fn number(&self, id: u64) -> Option<u32> {
        self.objects.ids.number(id).filter(|&number| self.numbers.get(number))
    }
}

impl Visitor for Garbage<'_> {
    fn instance(&mut self, _at: u64, id: u64, class: u64, _data: &[u8]) {
        if let (Some(number), Some(class)) = (self.number(id), self.objects.classes.index(class)) {
            self.object(number, class, self.objects.classes.list[class as usize].shallow_bytes);
        }
    }

    fn object_array(&mut self, _at: u64, id: u64, class: u64, length: u32) {
        if let (Some(number), Some(class)) = (self.number(id), self.objects.classes.index(class)) {
            self.object(number, class, self.objects.classes.array_bytes(class, length));
        }
    }

    fn primitive_array(&mut self, _at: u64, id: u64, kind: u8, length: u32, _values_at: u64) {
        if let Some(number) = self.number(id) {
            let class = self.objects.classes.primitive_arrays[name::primitive_index(kind)];
            self.object(number, class, self.objects.classes.primitive_array_bytes(kind, length));
        }
    }
}
