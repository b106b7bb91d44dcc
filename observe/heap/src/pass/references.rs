//! Second pass: the single referrer of each object. References of classes, and of threads to their locals, come from
//! the model instead of the file.

use yunti_base::{Code, Error, Result};

use super::crew;
use super::scan::Unit;
use crate::file::map::be_id;
use crate::file::records::{Blocks, Visitor, walk};
use crate::file::source::Source;
use crate::graph::forest::Referrers;
use crate::graph::ids::Ids;
use crate::model::class::Classes;
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

/// Receiver of references in records: `refer(from, to)` with numbers of objects.
pub struct References<'a, R> {
    ids: &'a Ids,
    classes: &'a Classes,
    id_bytes: usize,
    last: (u64, Option<u32>),
    array: Option<u32>,
    /// Receiver.
    pub receiver: R,
}

/// Receiver of objects and their references.
pub trait Receiver {
    /// Receives an object: its number, the index of its class, and its shallow bytes.
    fn object(&mut self, number: u32, class: u32, bytes: u64);
    /// Receives a reference of the last object, other than to its class.
    fn reference(&mut self, from: u32, to: u32);
}

impl<'a, R: Receiver> References<'a, R> {
    /// Returns a visitor of records.
    pub fn new(objects: &Objects<'a>, receiver: R) -> References<'a, R> {
        let (ids, classes) = (objects.ids, objects.classes);
        References { ids, classes, id_bytes: classes.id_bytes, last: (0, None), array: None, receiver }
    }

    #[inline]
    fn class(&mut self, id: u64) -> Option<u32> {
        if self.last.0 != id {
            self.last = (id, self.classes.index(id));
        }
        self.last.1
    }
}

impl<R: Receiver> Visitor for References<'_, R> {
    const WANTS_ELEMENTS: bool = true;

    #[inline]
    fn instance(&mut self, _at: u64, id: u64, class: u64, data: &[u8]) {
        let (Some(class), Some(from)) = (self.class(class), self.ids.number(id)) else { return };
        let layout = &self.classes.list[class as usize];
        self.receiver.object(from, class, layout.shallow_bytes);
        for &offset in &layout.references {
            let to = data.get(offset as usize..).map_or(0, |value| be_id(value, self.id_bytes));
            if to != 0
                && let Some(to) = self.ids.number(to)
            {
                self.receiver.reference(from, to);
            }
        }
    }

    fn object_array(&mut self, _at: u64, id: u64, class: u64, length: u32) {
        self.array = self.ids.number(id);
        if let (Some(class), Some(from)) = (self.class(class), self.array) {
            self.receiver.object(from, class, self.classes.array_bytes(class, length));
        }
    }

    #[inline]
    fn elements(&mut self, ids: &[u8]) {
        let Some(from) = self.array else { return };
        for id in ids.chunks_exact(self.id_bytes) {
            let id = be_id(id, self.id_bytes);
            if id != 0
                && let Some(to) = self.ids.number(id)
            {
                self.receiver.reference(from, to);
            }
        }
    }

    fn primitive_array(&mut self, _at: u64, id: u64, kind: u8, length: u32, _values_at: u64) {
        let Some(from) = self.ids.number(id) else { return };
        let class = self.classes.primitive_arrays[name::primitive_index(kind)];
        self.receiver.object(from, class, self.classes.primitive_array_bytes(kind, length));
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
    Ok(crew.into_iter().map(|(_, references)| references.receiver).collect())
}

/// Finds the single referrers.
pub fn referrers(objects: &Objects) -> Result<Referrers> {
    let referrers = Referrers::new(objects.ids.count());
    objects.roots.kinds.keys().for_each(|&root| referrers.root(root));
    objects.model_references(|from, to| referrers.add(from, to));
    let numbers: Vec<Option<u32>> =
        objects.classes.list.iter().map(|class| objects.ids.number(class.record.id)).collect();
    pass(objects, || Collector { referrers: &referrers, classes: numbers.clone() })?;
    Ok(referrers)
}

struct Collector<'a> {
    referrers: &'a Referrers,
    /// Number of each class that may still get its first or second referrer.
    classes: Vec<Option<u32>>,
}

impl Receiver for Collector<'_> {
    #[inline]
    fn object(&mut self, number: u32, class: u32, _bytes: u64) {
        if let Some(to) = self.classes[class as usize] {
            self.referrers.add(number, to);
            if self.referrers.is_settled(to) {
                self.classes[class as usize] = None;
            }
        }
    }

    #[inline]
    fn reference(&mut self, from: u32, to: u32) {
        self.referrers.add(from, to);
    }
}
