//! Third pass: shallow sizes by place, objects and bytes by class, and the references into joins.

use yunti_base::Result;

use super::references::{Objects, Receiver, pass};
use crate::graph::contract::{HeadDominators, UNREACHED};
use crate::graph::forest::Forest;
use crate::graph::pairs::{FirstTrees, JoinPairs, Pair, Pairs};
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

/// Weighs all objects.
pub fn weigh(objects: &Objects, forest: &Forest) -> Result<Weights> {
    let sizes = Sizes::new(objects.ids.count(), objects.source.bytes());
    let joins: Vec<Option<u32>> = objects
        .classes
        .list
        .iter()
        .map(|class| objects.ids.number(class.record.id).and_then(|number| forest.join_tree(number)))
        .collect();
    let first = FirstTrees::new(forest.trees());
    let new = || Collector {
        forest,
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
    Ok(Weights { sizes, totals, pairs: first.finish(further) })
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
    let new = || Garbage { forest, heads, totals: vec![ClassTotal::default(); totals.len()] };
    let mut model = new();
    model_objects(objects, |number, class, bytes| model.object(number, class, bytes));
    for collector in pass(objects, new)?.into_iter().chain([model]) {
        for (sum, own) in totals.iter_mut().zip(collector.totals) {
            sum.objects -= own.objects;
            sum.bytes -= own.bytes;
            garbage.objects += own.objects;
            garbage.bytes += own.bytes;
        }
    }
    Ok(garbage)
}

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

struct Collector<'a> {
    forest: &'a Forest,
    first: &'a FirstTrees,
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

struct Garbage<'a> {
    forest: &'a Forest,
    heads: &'a HeadDominators,
    totals: Vec<ClassTotal>,
}

impl Receiver for Garbage<'_> {
    fn object(&mut self, number: u32, class: u32, bytes: u64) {
        let tree = self.forest.tree(self.forest.places[number as usize]);
        if self.heads.of[tree as usize] == UNREACHED {
            let total = &mut self.totals[class as usize];
            total.objects += 1;
            total.bytes += bytes;
        }
    }

    fn reference(&mut self, _from: u32, _to: u32) {}
}
