//! Second pass: the single referrer and the kind of each object, and the references into joins. References of classes,
//! and of threads to their locals, come from the model instead of the file.

use std::hint::black_box;

use yunti_base::{Code, Error, Result};

use super::batch::Batch;
use super::crew;
use super::scan::Unit;
use crate::file::map::be_id;
use crate::file::records::{Blocks, Visitor, walk};
use crate::file::source::Source;
use crate::graph::forest::Referrers;
use crate::graph::hash;
use crate::graph::ids::Ids;
use crate::graph::join_references::{JoinReferences, Piece, Room};
use crate::model::class::Classes;
use crate::model::kinds::{FrozenKinds, Kind, Kinds, RecentKinds};
use crate::model::name;
use crate::model::roots::Roots;

/// Objects of a dump with their classes and roots.
pub struct Objects<'a> {
    /// Bytes of the dump.
    pub source: &'a Source,
    /// Units of the dump.
    pub units: &'a [Unit],
    /// Numbers.
    pub ids: &'a Ids,
    /// Classes.
    pub classes: &'a Classes,
    /// Roots.
    pub roots: &'a Roots,
    /// Threads that passes may use.
    pub threads: usize,
}

impl Objects<'_> {
    /// Calls `object(number, class, bytes)` for what has no record of an object: classes, and the boot loader.
    fn model_objects(&self, mut object: impl FnMut(u32, u32, u64)) {
        let classes = self.classes;
        for class in &classes.list {
            if let Some(number) = self.ids.number(class.record.id) {
                object(number, classes.class, class.own_bytes);
            }
        }
        if let Some(number) = self.ids.number(0) {
            object(number, classes.loader, classes.list[classes.loader as usize].shallow_bytes);
        }
    }

    /// Calls `refer(from, to)` for the references that are not in records of objects: of classes and of threads.
    pub fn model_references(&self, mut refer: impl FnMut(u32, u32)) {
        let number = |id: u64| self.ids.number(id);
        let class_class = number(self.classes.list[self.classes.class as usize].record.id);
        let boot_loader = number(0);
        for class in &self.classes.list {
            let Some(from) = number(class.record.id) else { continue };
            let loader = number(class.record.loader).or(boot_loader);
            let above = Some(class.record.super_id).filter(|&id| id != 0).and_then(number);
            let statics = class.record.statics.iter();
            let values = statics
                .filter(|field| field.kind == crate::file::records::OBJECT && field.value != 0)
                .filter_map(|field| number(field.value));
            class_class.into_iter().chain(above).chain(loader).chain(values).for_each(|to| refer(from, to));
        }
        let loader_class = number(self.classes.list[self.classes.loader as usize].record.id);
        if let (Some(from), Some(to)) = (boot_loader, loader_class) {
            refer(from, to);
        }
        self.roots.locals.iter().for_each(|local| refer(local.thread, local.object));
    }
}

/// Visitor that finds the references in records.
pub struct References<'a, R> {
    ids: &'a Ids,
    classes: &'a Classes,
    id_bytes: usize,
    recent: RecentClasses,
    array: Option<u32>,
    batch: Batch,
    /// Receiver.
    pub receiver: R,
}

/// Receiver of objects and their references.
pub trait Receiver {
    /// Receives an object: its number, the index of its class, and its shallow bytes.
    fn object(&mut self, number: u32, class: u32, bytes: u64);
    /// Receives references other than to classes of objects, and removes them.
    fn references(&mut self, batch: &mut Batch);
}

impl<'a, R: Receiver> References<'a, R> {
    /// Returns a visitor of records.
    pub fn new(objects: &Objects<'a>, receiver: R) -> References<'a, R> {
        let (ids, classes) = (objects.ids, objects.classes);
        let (recent, batch) = (RecentClasses::default(), Batch::default());
        References { ids, classes, id_bytes: classes.id_bytes, recent, array: None, batch, receiver }
    }
}

impl<R: Receiver> Visitor for References<'_, R> {
    const WANTS_ELEMENTS: bool = true;

    #[inline]
    fn instance(&mut self, _at: u64, id: u64, class: u64, data: &[u8]) {
        let (Some(class), Some(from)) = (self.recent.index(self.classes, class), self.ids.number(id)) else { return };
        let layout = &self.classes.list[class as usize];
        self.receiver.object(from, class, layout.shallow_bytes);
        for &offset in &layout.references {
            let to = data.get(offset as usize..).map_or(0, |value| be_id(value, self.id_bytes));
            if self.batch.add(from, to) {
                self.receiver.references(&mut self.batch);
            }
        }
    }

    fn object_array(&mut self, _at: u64, id: u64, class: u64, length: u32) {
        self.array = self.ids.number(id);
        if let (Some(class), Some(from)) = (self.recent.index(self.classes, class), self.array) {
            self.receiver.object(from, class, self.classes.array_bytes(class, length));
        }
    }

    #[inline]
    fn elements(&mut self, ids: &[u8]) {
        let Some(from) = self.array else { return };
        let receiver = &mut self.receiver;
        self.batch.add_all(from, ids, self.id_bytes, |batch| receiver.references(batch));
    }

    fn primitive_array(&mut self, _at: u64, id: u64, kind: u8, length: u32, _values_at: u64) {
        let Some(from) = self.ids.number(id) else { return };
        let class = self.classes.primitive_arrays[name::primitive_index(kind)];
        self.receiver.object(from, class, self.classes.primitive_array_bytes(kind, length));
    }
}

/// Classes found before: the objects of a heap take turns among few classes.
struct RecentClasses(Vec<(u64, Option<u32>)>);

/// Entries of the table of recent classes; a power of two.
const RECENT: usize = 256;

impl Default for RecentClasses {
    fn default() -> RecentClasses {
        RecentClasses(vec![(0, None); RECENT])
    }
}

impl RecentClasses {
    #[inline]
    fn index(&mut self, classes: &Classes, id: u64) -> Option<u32> {
        let entry = &mut self.0[hash::fold(id) as usize % RECENT];
        if entry.0 != id {
            *entry = (id, classes.index(id));
        }
        entry.1
    }
}

/// Runs a pass with a receiver of each thread, and returns the receivers.
pub fn pass<R: Receiver + Send>(objects: &Objects, receiver: impl Fn() -> R + Sync) -> Result<Vec<R>> {
    let state = || (Blocks::new(objects.source), References::new(objects, receiver()));
    let crew = crew::share(objects.threads, objects.units.len(), state, |(blocks, references), item| {
        let Unit { begin, end, .. } = objects.units[item];
        references.array = None;
        match walk(blocks, objects.classes.id_bytes, begin, end, references)? {
            None => Ok(()),
            Some(damage) => Err(Error::new(Code::Input, "the heap dump changed while it was read")
                .at_path(objects.source.path())
                .at_offset(damage.at)
                .hint("wait until the JVM has written it")),
        }
    })?;
    let finish = |(_, mut references): (_, References<R>)| {
        references.receiver.references(&mut references.batch);
        references.receiver
    };
    Ok(crew.into_iter().map(finish).collect())
}

/// Bytes of the list of references into joins: the dump's, divided by this.
const LIST_DIVISOR: u64 = if cfg!(debug_assertions) { 8 } else { 16 };
/// Bytes that the list may have in any case.
const LIST_BYTES_LEAST: u64 = if cfg!(debug_assertions) { 100 } else { 32 << 20 };

/// Result of the pass.
pub struct Found {
    /// Single referrers.
    pub referrers: Referrers,
    /// Kinds of all objects.
    pub kinds: FrozenKinds,
    /// References into joins in pieces, without those of objects to their classes; `None` if they are too many.
    pub into_joins: Option<Vec<Piece>>,
}

/// Finds the single referrers, the kinds of objects, and the references into joins.
pub fn references(objects: &Objects) -> Result<Found> {
    let count = objects.ids.count();
    let room = (objects.source.bytes() / LIST_DIVISOR).max(LIST_BYTES_LEAST);
    let (referrers, kinds, room) = (Referrers::new(count), Kinds::new(count), Room::new(room as usize));
    objects.roots.kinds.keys().for_each(|&root| referrers.root(root));
    let classes: Vec<Option<u32>> =
        objects.classes.list.iter().map(|class| objects.ids.number(class.record.id)).collect();
    let new = || Collector {
        ids: objects.ids,
        referrers: &referrers,
        classes: classes.clone(),
        kinds: &kinds,
        recent: RecentKinds::default(),
        joins: JoinReferences::new(&room),
        found: Vec::new(),
    };
    let mut model = new();
    objects.model_references(|from, to| model.reference(from, to));
    let mut crew = pass(objects, new)?;
    objects.model_objects(|object, class, bytes| kinds.set(object, Kind { class, bytes }, &mut model.recent));
    crew.push(model);
    let pieces: Option<Vec<_>> = crew.into_iter().map(|collector| collector.joins.finish()).collect();
    let into_joins = pieces.map(|pieces| pieces.into_iter().flatten().collect());
    Ok(Found { referrers, kinds: kinds.freeze(), into_joins })
}

struct Collector<'a> {
    ids: &'a Ids,
    referrers: &'a Referrers,
    /// Number of each class that may still get its first or second referrer.
    classes: Vec<Option<u32>>,
    kinds: &'a Kinds,
    recent: RecentKinds,
    joins: JoinReferences<'a>,
    found: Vec<(u32, u32)>,
}

impl Collector<'_> {
    #[inline]
    fn reference(&mut self, from: u32, to: u32) {
        self.referrers.add(from, to, |from, to| self.joins.add(from, to));
    }
}

impl Receiver for Collector<'_> {
    #[inline]
    fn object(&mut self, number: u32, class: u32, bytes: u64) {
        self.kinds.set(number, Kind { class, bytes }, &mut self.recent);
        if let Some(to) = self.classes[class as usize] {
            self.reference(number, to);
            if self.referrers.is_settled(to) {
                self.classes[class as usize] = None;
            }
        }
    }

    fn references(&mut self, batch: &mut Batch) {
        self.found.clear();
        self.found.extend(batch.take().filter_map(|(from, to)| Some((from, self.ids.number(to)?))));
        let touched = self.found.iter().fold(0, |all, &(_, to)| all ^ self.referrers.touch(to));
        black_box(touched);
        for i in 0..self.found.len() {
            let (from, to) = self.found[i];
            self.reference(from, to);
        }
    }
}
