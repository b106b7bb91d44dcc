//! Objects by place: ids, classes, fields, and the names of references between them.

use std::collections::HashMap;

use yunti_base::Result;

use super::threads::{frames, thread_name};
use crate::file::map::be_id;
use crate::file::records::{OBJECT, value_bytes};
use crate::graph::bits::Bits;
use crate::graph::side_by_side::side_by_side;
use crate::heap::Heap;
use crate::pass::locate::{Body, elements, locate};

/// Beginning of a reference by a thread's local variable.
pub const LOCAL: &str = "local variable";

/// Objects that an answer names, by place.
#[derive(Default)]
pub struct Named {
    /// Id of each place.
    pub ids: HashMap<u32, u64>,
    /// Body of each id; classes and the boot loader have none.
    pub bodies: HashMap<u64, Body>,
}

impl Named {
    /// Finds the objects of some places: one look over all places by all threads, then the units that have them.
    pub fn of(heap: &Heap, places: &[u32]) -> Result<Named> {
        let mut named = Named::default();
        named.add(heap, places)?;
        Ok(named)
    }

    /// Finds further objects.
    pub fn add(&mut self, heap: &Heap, places: &[u32]) -> Result<()> {
        let mut wanted = Bits::new(heap.ids.count());
        let mut is_any = false;
        for &place in places.iter().filter(|place| !self.ids.contains_key(place)) {
            wanted.set(place);
            is_any = true;
        }
        if !is_any {
            return Ok(());
        }
        // Places have no table of numbers: that would be 4 bytes an object.
        let found = side_by_side(heap.threads, heap.forest.places.len(), |numbers| {
            let numbers = numbers.clone().zip(&heap.forest.places[numbers]).filter(|(_, place)| wanted.get(**place));
            numbers.map(|(number, &place)| (place, heap.ids.id(number as u32))).collect::<Vec<_>>()
        })
        .concat();
        let ids: Vec<u64> = found.iter().map(|(_, id)| *id).collect();
        self.ids.extend(found);
        self.bodies.extend(heap.bodies(&ids)?);
        Ok(())
    }

    /// Returns the id of a place.
    pub fn id(&self, place: u32) -> u64 {
        self.ids.get(&place).copied().unwrap_or(0)
    }
}

impl Heap {
    /// Returns the bodies of some ids.
    pub fn bodies(&self, ids: &[u64]) -> Result<HashMap<u64, Body>> {
        locate(&self.source, &self.units, self.map.id_bytes, self.threads, ids)
    }

    /// Returns the index of an object's class.
    pub fn class_of(&self, id: u64, body: Option<&Body>) -> u32 {
        match body {
            Some(Body::Instance { class, .. } | Body::Array { class, .. }) => self.classes.index(*class).unwrap_or(0),
            Some(Body::Primitive { kind, .. }) => {
                self.classes.primitive_arrays[crate::model::name::primitive_index(*kind)]
            }
            None if id == 0 => self.classes.loader,
            None => self.classes.class,
        }
    }

    /// Returns the name of an object: `class shop.Cache`, or `shop.Order @0x740e36cc0`.
    pub fn name_of(&self, id: u64, body: Option<&Body>) -> String {
        match self.classes.index(id) {
            Some(class) => format!("class {}", self.classes.list[class as usize].name),
            None if id == 0 => "the boot class loader".to_owned(),
            None => format!("{} @{id:#x}", self.classes.list[self.class_of(id, body) as usize].name),
        }
    }

    /// Returns a string of the dump's names.
    pub fn text(&self, id: u64) -> Result<String> {
        Ok(self.map.string(&self.source, id)?.unwrap_or_else(|| "?".to_owned()))
    }

    /// Returns the value of an instance's field: its type and its bytes as a number.
    pub fn field(&self, body: &Body, name: &str) -> Result<Option<(u8, u64)>> {
        let Body::Instance { class, data } = body else { return Ok(None) };
        let Some(index) = self.classes.index(*class) else { return Ok(None) };
        let mut at = 0;
        for field in self.classes.hierarchy(index).flat_map(|class| &class.record.fields) {
            let bytes = value_bytes(field.kind, self.map.id_bytes).unwrap_or(0);
            let Some(value) = data.get(at..at + bytes) else { return Ok(None) };
            at += bytes;
            if self.text(field.name)? == name {
                return Ok(Some((field.kind, value.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))));
            }
        }
        Ok(None)
    }

    /// Returns the name of the first reference from one object to another: `.table`, `[17]`, `static ENTRIES`.
    pub fn reference_name(&self, from: u64, body: Option<&Body>, to: u64) -> Result<String> {
        let id_bytes = self.map.id_bytes;
        match body {
            Some(Body::Instance { class, data }) => {
                let index = self.classes.index(*class).unwrap_or(0);
                let mut at = 0;
                for field in self.classes.hierarchy(index).flat_map(|class| &class.record.fields) {
                    let value = data.get(at..).unwrap_or_default();
                    if field.kind == OBJECT && value.len() >= id_bytes && be_id(value, id_bytes) == to {
                        return Ok(format!(".{}", self.text(field.name)?));
                    }
                    at += value_bytes(field.kind, id_bytes).unwrap_or(0);
                }
                Ok(match local_variable(self, from, to)? {
                    Some(variable) => variable,
                    None if *class == to => " class".to_owned(),
                    None => " ?".to_owned(),
                })
            }
            Some(Body::Array { length, values_at, .. }) => {
                let mut found = None;
                elements(&self.source, id_bytes, *values_at, *length, |index, id| {
                    found = found.or((id == to).then_some(index));
                    found.is_none()
                })?;
                Ok(found.map_or_else(|| " class".to_owned(), |index| format!("[{index}]")))
            }
            Some(Body::Primitive { .. }) => Ok(" class".to_owned()),
            None => {
                let Some(class) = self.classes.index(from) else { return Ok(" ?".to_owned()) };
                let record = &self.classes.list[class as usize].record;
                let mut fields = record.statics.iter().filter(|field| field.kind == OBJECT && field.value == to);
                Ok(match fields.next() {
                    Some(field) => format!(" static {}", self.text(field.name)?),
                    None if record.super_id == to => " super class".to_owned(),
                    None if record.loader == to => " loader".to_owned(),
                    None => " class".to_owned(),
                })
            }
        }
    }
}

/// Returns the local variable by which a thread holds an object, with its frame and the thread's name.
fn local_variable(heap: &Heap, thread: u64, object: u64) -> Result<Option<String>> {
    let Some(number) = heap.ids.number(thread) else { return Ok(None) };
    let locals = heap.roots.locals_of(number);
    let Some(local) = locals.iter().find(|local| heap.ids.id(local.object) == object) else { return Ok(None) };
    let trace = heap.roots.threads.iter().find(|thread| thread.object == number).map(|thread| thread.trace);
    let frames = trace.map(|trace| frames(heap, trace)).transpose()?.unwrap_or_default();
    let frame = frames.get(local.frame as usize).map_or_else(String::new, |frame| format!(" in {frame}"));
    let name = heap.bodies(&[thread])?.get(&thread).map(|body| thread_name(heap, body)).transpose()?.flatten();
    let name = name.map_or_else(String::new, |name| format!(" of thread '{name}'"));
    Ok(Some(format!(" {LOCAL}{frame}{name}")))
}

/// Returns the name of a class.
pub fn class_name(heap: &Heap, class: u32) -> &str {
    &heap.classes.list[class as usize].name
}

/// Returns true for classes of which a collection consists.
pub fn is_inner(name: &str) -> bool {
    name.ends_with("[]") || name.starts_with("java.util.") && name.contains('$')
}

/// Returns the reference by which a holder holds an object: `static field shop.Cache.ENTRIES`, `shop.Order.lines`.
pub fn held_in(heap: &Heap, named: &Named, holder: u64, id: u64) -> Result<String> {
    let reference = heap.reference_name(holder, named.bodies.get(&holder), id)?;
    if let Some(variable) = reference.strip_prefix(' ').filter(|reference| reference.starts_with(LOCAL)) {
        return Ok(variable.to_owned());
    }
    Ok(match (heap.classes.index(holder), reference.strip_prefix(" static ")) {
        (Some(class), Some(field)) => format!("static field {}.{field}", class_name(heap, class)),
        _ => {
            let class = heap.class_of(holder, named.bodies.get(&holder));
            format!("{}{reference}", class_name(heap, class))
        }
    })
}
