//! Heap of a dump: all passes in their order, and what they found of each object.

use std::path::Path;

use yunti_base::Result;

use crate::file::map::DumpMap;
use crate::file::source::Source;
use crate::graph::bits::Bits;
use crate::graph::contract::{HeadDominators, TOP, UNREACHED, head_dominators};
use crate::graph::forest::{Forest, HEAD};
use crate::graph::ids::Ids;
use crate::model::class::{Classes, Memory};
use crate::model::roots::Roots;
use crate::model::sizes::Sizes;
use crate::pass::references::{Found, Objects, references};
use crate::pass::scan::{Unit, scan};
use crate::pass::weigh::{ClassTotal, Weights, weigh, without_garbage};

/// Settings of an analysis.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// Threads that passes use.
    pub threads: usize,
    /// Directory where a compressed dump is unpacked.
    pub scratch: &'a Path,
}

/// Dominator of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dominator {
    /// Object at a place.
    Place(u32),
    /// No single object: the roots as a whole.
    Roots,
    /// None, because no root reaches the object.
    Garbage,
}

/// Analysed heap. Objects have a number, in the order of addresses, and a place, in the order of the forest.
pub struct Heap {
    /// Bytes of the dump.
    pub source: Source,
    /// Top-level records.
    pub map: DumpMap,
    /// Units in which objects are found again.
    pub units: Vec<Unit>,
    /// Classes.
    pub classes: Classes,
    /// Numbers of objects.
    pub ids: Ids,
    /// Roots.
    pub roots: Roots,
    /// Forest of single referrers.
    pub forest: Forest,
    /// Dominators of heads.
    pub heads: HeadDominators,
    /// Retained bytes by place.
    pub retained: Sizes,
    /// Objects and bytes by class, without garbage.
    pub totals: Vec<ClassTotal>,
    /// Objects that no root reaches.
    pub garbage: ClassTotal,
    /// Remarks about missing and damaged parts.
    pub notes: Vec<String>,
    /// Threads that passes use.
    pub threads: usize,
}

impl Heap {
    /// Reads and analyses a dump.
    pub fn read(path: &Path, settings: Settings) -> Result<Heap> {
        let source = Source::open(path, settings.scratch)?;
        let threads = settings.threads.max(1);
        let map = DumpMap::read(&source)?;
        let mut notes: Vec<String> = source.note.iter().chain(&map.notes).cloned().collect();
        let mut scan = scan(&source, &map, threads)?;
        notes.extend(scan.damages.iter().map(|damage| {
            format!("The dump is damaged at byte {}: {}. The rest of this segment is left out.", damage.at, damage.what)
        }));
        let pointer = map.id_bytes as u64;
        let reference = if scan.is_compressed { 4 } else { pointer };
        let memory = Memory { pointer, reference, alignment: scan.ids.alignment() };
        let classes = Classes::build(scan.classes, &scan.usage, memory, &map, &source, |id| scan.ids.has(id))?;
        // The boot loader has no object in the dump; its stand-in is at 0. Stand-ins of classes have addresses, too.
        scan.ids.add(0);
        classes.list.iter().for_each(|class| scan.ids.add(class.record.id));
        let ids = scan.ids.freeze().map_err(|error| error.at_path(source.path()))?;
        let roots = Roots::build(&scan.roots, &classes, |id| ids.number(id));
        let units = scan.units;
        let objects = Objects { source: &source, units: &units, ids: &ids, classes: &classes, roots: &roots, threads };
        let Found { referrers, kinds, into_joins } = references(&objects)?;
        let forest = Forest::grow(referrers, threads);
        let mut root_trees = Bits::new(forest.trees());
        roots.kinds.keys().for_each(|&root| root_trees.set(forest.tree(forest.places[root as usize])));
        let Weights { mut totals, pairs } = weigh(&objects, &forest, &kinds, into_joins, &mut root_trees)?;
        let mut threads_of = Bits::new(forest.trees());
        for thread in &roots.threads {
            threads_of.set(forest.tree(forest.places[thread.object as usize]));
        }
        let heads = head_dominators(&forest, pairs, root_trees, &threads_of, threads);
        let garbage = without_garbage(&forest, &heads, &kinds, &mut totals);
        let retained = kinds.sizes(&forest.places, source.bytes(), threads);
        retain(&forest, &heads, &retained);
        Ok(Heap { source, map, units, classes, ids, roots, forest, heads, retained, totals, garbage, notes, threads })
    }

    /// Returns the objects, for a further pass over them.
    pub fn objects(&self) -> Objects<'_> {
        Objects {
            source: &self.source,
            units: &self.units,
            ids: &self.ids,
            classes: &self.classes,
            roots: &self.roots,
            threads: self.threads,
        }
    }

    /// Returns the sum of all classes.
    pub fn total(&self) -> ClassTotal {
        self.totals.iter().fold(ClassTotal::default(), |sum, class| ClassTotal {
            objects: sum.objects + class.objects,
            bytes: sum.bytes + class.bytes,
        })
    }

    /// Returns the immediate dominator of a place.
    pub fn dominator(&self, place: u32) -> Dominator {
        let tree = self.forest.tree(place) as usize;
        let of = match (self.heads.of[tree], self.forest.above[place as usize]) {
            (UNREACHED, _) => return Dominator::Garbage,
            (of, HEAD) => of,
            (_, above) => above,
        };
        if of == TOP { Dominator::Roots } else { Dominator::Place(of) }
    }

    /// Returns the retained bytes of an object: its own, and of all that only it holds.
    pub fn retained(&self, place: u32) -> u64 {
        self.retained.get(place)
    }
}

/// Turns shallow sizes into retained ones: within each tree from the leaves up, trees behind their dominators first.
fn retain(forest: &Forest, heads: &HeadDominators, sizes: &Sizes) {
    for &tree in heads.order.iter().rev() {
        let (begin, end) = (forest.heads[tree as usize], forest.heads[tree as usize + 1]);
        for place in (begin + 1..end).rev() {
            sizes.add(forest.above[place as usize], place);
        }
        let of = heads.of[tree as usize];
        if of < TOP {
            sizes.add(of, begin);
        }
    }
}
