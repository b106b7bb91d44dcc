//! References into joins by tree, and objects and bytes by class.
//!
//! References of objects to their classes come from the kinds of objects, the others from the list of the pass before,
//! or from a third reading of the dump if the list had no room for all.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use yunti_base::Result;

use super::batch::Batch;
use super::crew;
use super::references::{Objects, Receiver, pass};
use crate::graph::bits::Bits;
use crate::graph::contract::{HeadDominators, UNREACHED};
use crate::graph::forest::Forest;
use crate::graph::ids::Subset;
use crate::graph::join_references::Piece;
use crate::graph::pairs::{FirstTrees, JoinPairs, NONE, Pair, Pairs};
use crate::model::class::Class;
use crate::model::kinds::FrozenKinds;

/// Objects of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassTotal {
    /// Number of objects.
    pub objects: u64,
    /// Their shallow bytes.
    pub bytes: u64,
}

impl ClassTotal {
    fn add(&mut self, bytes: u64) {
        self.objects += 1;
        self.bytes += bytes;
    }
}

/// Result of the pass.
pub struct Weights {
    /// Totals by class.
    pub totals: Vec<ClassTotal>,
    /// References into joins.
    pub pairs: JoinPairs,
}

/// Weighs all objects. Classes that act like roots join the `root_trees`.
pub fn weigh(
    objects: &Objects,
    forest: &Forest,
    kinds: &FrozenKinds,
    into_joins: Option<Vec<Piece>>,
    root_trees: &mut Bits,
) -> Result<Weights> {
    let number = |class: &Class| objects.ids.number(class.record.id);
    let joins: Vec<Option<u32>> =
        objects.classes.list.iter().map(|class| number(class).and_then(|class| forest.join_tree(class))).collect();
    let first = FirstTrees::new(forest.trees());
    let shared: Vec<SharedClass> = joins.iter().map(|_| SharedClass::default()).collect();
    let is_root_tree = root_trees.clone();
    let new = || Collector {
        forest,
        shared: &shared,
        is_root_tree: &is_root_tree,
        first: &first,
        near: Near::default(),
        class_joins: joins.iter().map(|&join| ClassJoin { join, ..ClassJoin::default() }).collect(),
        further: Pairs::default(),
    };
    let ranges = kinds.ranges();
    let state = || (new(), vec![ClassTotal::default(); joins.len()]);
    let crew = crew::share(objects.threads, ranges.len(), state, |(collector, totals), item| {
        for object in ranges[item].clone() {
            let Some(kind) = kinds.get(object) else { continue };
            totals[kind.class as usize].add(kind.bytes);
            if collector.class_joins[kind.class as usize].join.is_some() {
                collector.class_reference(kind.class, forest.places[object as usize]);
            }
        }
        Ok(())
    })?;
    let mut totals = vec![ClassTotal::default(); joins.len()];
    let mut collectors = Vec::new();
    for (collector, own) in crew {
        collectors.push(collector);
        for (sum, own) in totals.iter_mut().zip(own) {
            sum.objects += own.objects;
            sum.bytes += own.bytes;
        }
    }
    match into_joins {
        Some(pieces) => collectors.extend(crew::share(objects.threads, pieces.len(), new, |collector, item| {
            collector.references(&pieces[item]);
            Ok(())
        })?),
        None => collectors.extend(read_again(objects, &new)?),
    }
    let mut further = Pairs::default();
    for mut collector in collectors {
        collector.finish();
        further.join(collector.further);
    }
    let like_roots: Vec<(u32, u32)> = joins
        .iter()
        .zip(&shared)
        .filter(|(_, shared)| shared.is_root.load(Relaxed))
        .filter_map(|(join, shared)| join.map(|join| (join, forest.heads[shared.root_tree.load(Relaxed) as usize])))
        .collect();
    let mut pairs = first.finish(further, objects.threads);
    pairs.act_like_roots(&like_roots, root_trees);
    Ok(Weights { totals, pairs })
}

/// Finds the references into joins by reading the dump again.
fn read_again<'a>(objects: &Objects, new: &(impl Fn() -> Collector<'a> + Sync)) -> Result<Vec<Collector<'a>>> {
    let forest = new().forest;
    let joins = objects.ids.subset(&forest.joins);
    let readers = pass(objects, || Reader { joins: &joins, found: Vec::new(), pairs: Vec::new(), collector: new() })?;
    let mut collectors: Vec<Collector> = readers.into_iter().map(|reader| reader.collector).collect();
    let mut model = new();
    objects.model_references(|from, to| {
        if let Some(join) = forest.join_tree(to) {
            model.reference(from, join);
        }
    });
    collectors.push(model);
    Ok(collectors)
}

/// Subtracts objects that no root reaches, if there are any.
pub fn without_garbage(
    forest: &Forest,
    heads: &HeadDominators,
    kinds: &FrozenKinds,
    totals: &mut [ClassTotal],
) -> ClassTotal {
    let mut garbage = ClassTotal::default();
    if heads.of.iter().all(|&of| of != UNREACHED) {
        return garbage;
    }
    let mut places = Bits::new(forest.places.len());
    for tree in (0..forest.trees()).filter(|&tree| heads.of[tree] == UNREACHED) {
        (forest.heads[tree]..forest.heads[tree + 1]).for_each(|place| places.set(place));
    }
    for (object, _) in forest.places.iter().enumerate().filter(|(_, place)| places.get(**place)) {
        if let Some(kind) = kinds.get(object as u32) {
            totals[kind.class as usize].objects -= 1;
            totals[kind.class as usize].bytes -= kind.bytes;
            garbage.add(kind.bytes);
        }
    }
    garbage
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
    near: Near,
    class_joins: Vec<ClassJoin>,
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

    #[inline]
    fn reference(&mut self, from: u32, join: u32) {
        let place = self.forest.places[from as usize];
        let tree = self.near.tree(self.forest, place);
        if tree != join {
            self.first.add(Pair { tree, join, least: place, greatest: place }, &mut self.further);
        }
    }

    fn finish(&mut self) {
        for done in std::mem::take(&mut self.class_joins) {
            self.keep(&done);
        }
    }

    /// Adds a piece of the list of references, from object to join.
    fn references(&mut self, piece: &Piece) {
        let mut pairs = Vec::with_capacity(TOUCHED);
        let mut references = piece.iter();
        loop {
            let some = references.by_ref().take(TOUCHED);
            pairs.extend(some.filter_map(|(from, to)| Some((from, self.forest.join_tree(to)?))));
            if pairs.is_empty() {
                return;
            }
            self.pairs(&pairs);
            pairs.clear();
        }
    }

    /// Adds references, from object to the tree of a join.
    fn pairs(&mut self, pairs: &[(u32, u32)]) {
        let touch = |(from, join): &(u32, u32)| self.first.touch(*join) ^ self.forest.places[*from as usize];
        black_box(pairs.iter().map(touch).fold(0, |all, state| all ^ state));
        pairs.iter().for_each(|&(from, join)| self.reference(from, join));
    }
}

/// References whose entries are brought into the cache together.
const TOUCHED: usize = 128;

/// Receiver of references that leaves out all but those into joins.
struct Reader<'a, 'b> {
    /// Joins by id: three of four references lead to no join, and need no number.
    joins: &'b Subset<'b>,
    found: Vec<(u32, u64)>,
    pairs: Vec<(u32, u32)>,
    collector: Collector<'a>,
}

impl Receiver for Reader<'_, '_> {
    fn object(&mut self, _number: u32, _class: u32, _bytes: u64) {}

    fn references(&mut self, batch: &mut Batch) {
        self.found.clear();
        self.found.extend(batch.take().filter(|(_, to)| self.joins.has(*to)));
        self.pairs.clear();
        // The tree of a join is its rank.
        self.pairs.extend(self.found.iter().map(|&(from, to)| (from, self.joins.rank(to))));
        self.collector.pairs(&self.pairs);
    }
}
