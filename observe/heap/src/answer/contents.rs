//! Contents of a collection: the number of its entries, and the class of most of them.
//!
//! Collections are known by the names of their fields, which the JDK's have in common: a set has a map, a map has a
//! table or a root, a queue has a head. Some entries are read.

use std::collections::HashMap;

use yunti_base::Result;

use super::object::{class_name, is_inner};
use crate::file::records::OBJECT;
use crate::heap::Heap;
use crate::pass::locate::{Body, elements};

/// Entries that are read.
const SAMPLED: usize = 24;
/// Nodes that are read for these.
const NODES_MAX: usize = 100;
/// Collections within each other: a set has a map, which has another one.
const DEPTH_MAX: usize = 4;
const INT: u8 = 10;
const LONG: u8 = 11;

/// Fields with an inner collection, or with the array or the node of its entries.
const INNER: [&str; 10] = ["map", "m", "table", "elementData", "elements", "items", "queue", "array", "tab", "al"];
const FIRST_NODE: [&str; 4] = ["head", "first", "root", "header"];
const NEXT_NODE: [&str; 5] = ["next", "left", "right", "node", "down"];
const VALUES: [&str; 4] = ["value", "val", "item", "key"];
const KEYS: [&str; 2] = ["key", "item"];

/// Contents of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Number of entries.
    pub entries: Option<u64>,
    /// Class of most entries; of references what they refer to: `java.lang.ref.SoftReference of shop.Picture`.
    pub class: Option<String>,
}

/// Returns what is in a collection or an array; nothing for another object.
pub fn contents(heap: &Heap, body: &Body) -> Result<Contents> {
    let mut found = Contents::default();
    let is_set = class(heap, body).contains("Set");
    let mut at = body.clone();
    for _ in 0..DEPTH_MAX {
        if matches!(at, Body::Array { .. }) {
            break;
        }
        if found.entries.is_none() {
            found.entries = entries(heap, &at)?;
        }
        match next(heap, &at, &INNER)? {
            Some(inner) => at = inner,
            None => break,
        }
    }
    let is_array = matches!(at, Body::Array { .. });
    let sampled = match at {
        Body::Array { length, values_at, .. } => {
            let (mut some, mut sampled) = (0, Vec::new());
            elements(&heap.source, heap.map.id_bytes, values_at, length, |_, id| {
                some += u64::from(id != 0);
                if id != 0 && sampled.len() < SAMPLED {
                    sampled.push(id);
                }
                true
            })?;
            found.entries = found.entries.or(Some(some));
            sampled
        }
        // Only what counts its entries is a collection.
        at if found.entries.is_some() => nodes(heap, &at)?,
        _ => return Ok(found),
    };
    found.class = most(heap, &sampled, if is_set { &KEYS } else { &VALUES }, is_array)?;
    Ok(found)
}

fn class<'a>(heap: &'a Heap, body: &Body) -> &'a str {
    let (Body::Instance { class, .. } | Body::Array { class, .. }) = body else { return "" };
    heap.classes.index(*class).map_or("", |class| class_name(heap, class))
}

fn next(heap: &Heap, body: &Body, fields: &[&str]) -> Result<Option<Body>> {
    for name in fields {
        if let Some((OBJECT, id)) = heap.field(body, name)?
            && id != 0
        {
            return Ok(heap.bodies(&[id])?.remove(&id));
        }
    }
    Ok(None)
}

/// Returns the number of entries by the fields of a collection.
fn entries(heap: &Heap, body: &Body) -> Result<Option<u64>> {
    for name in ["size", "count", "elementCount"] {
        match heap.field(body, name)? {
            Some((INT, size)) => return Ok(Some(size)),
            // A counter of many threads.
            Some((OBJECT, id)) => {
                if let Some(counter) = heap.bodies(&[id])?.get(&id)
                    && let Some((INT, value)) = heap.field(counter, "value")?
                {
                    return Ok(Some(value));
                }
            }
            _ => {}
        }
    }
    if let Some((LONG, base)) = heap.field(body, "baseCount")? {
        return Ok(Some(base.wrapping_add(cells(heap, body, "counterCells")?)));
    }
    if let Some((OBJECT, id)) = heap.field(body, "adder")?
        && let Some(adder) = heap.bodies(&[id])?.get(&id)
        && let Some((LONG, base)) = heap.field(adder, "base")?
    {
        return Ok(Some(base.wrapping_add(cells(heap, adder, "cells")?)));
    }
    Ok(None)
}

/// Returns the sum of a counter's cells, which it has if threads were in each other's way.
fn cells(heap: &Heap, body: &Body, field: &str) -> Result<u64> {
    let Some(Body::Array { length, values_at, .. }) = next(heap, body, &[field])? else { return Ok(0) };
    let mut ids = Vec::new();
    elements(&heap.source, heap.map.id_bytes, values_at, length, |_, id| {
        ids.extend((id != 0).then_some(id));
        true
    })?;
    let mut sum = 0_u64;
    for cell in heap.bodies(&ids)?.values() {
        if let Some((LONG, value)) = heap.field(cell, "value")? {
            sum = sum.wrapping_add(value);
        }
    }
    Ok(sum)
}

/// Returns some nodes of a list or a tree.
fn nodes(heap: &Heap, body: &Body) -> Result<Vec<u64>> {
    let mut open = ids(heap, body, &FIRST_NODE)?;
    let mut found: Vec<u64> = Vec::new();
    while !open.is_empty() && found.len() < NODES_MAX {
        open.retain(|id| !found.contains(id));
        found.extend(&open);
        let mut further = Vec::new();
        for node in heap.bodies(&open)?.values() {
            further.extend(ids(heap, node, &NEXT_NODE)?);
        }
        further.sort_unstable();
        further.dedup();
        further.truncate(SAMPLED);
        open = further;
    }
    Ok(found)
}

fn ids(heap: &Heap, body: &Body, fields: &[&str]) -> Result<Vec<u64>> {
    let mut found = Vec::new();
    for name in fields {
        if let Some((OBJECT, id)) = heap.field(body, name)? {
            found.extend((id != 0).then_some(id));
        }
    }
    Ok(found)
}

/// Returns the class of most entries. Of nodes their values count, `fields` in their order. What has none is an entry
/// itself, such as a task in the array of an executor, or else a node that leads to others.
fn most(heap: &Heap, sampled: &[u64], fields: &[&str], is_array: bool) -> Result<Option<String>> {
    let bodies = heap.bodies(sampled)?;
    let mut values = Vec::new();
    for id in sampled {
        match bodies.get(id) {
            Some(body) if is_inner(class(heap, body)) => {
                values.extend(ids(heap, body, fields)?.first().copied().or(is_array.then_some(*id)));
            }
            _ => values.push(*id),
        }
    }
    let bodies = heap.bodies(&values)?;
    let mut classes: HashMap<String, usize> = HashMap::new();
    // What a damaged dump lacks has no class.
    for value in values.into_iter().filter(|value| heap.ids.number(*value).is_some()) {
        let body = bodies.get(&value);
        let own = heap.class_of(value, body);
        let mut name = class_name(heap, own).to_owned();
        let is_reference = heap.classes.hierarchy(own).any(|class| class.name == "java.lang.ref.Reference");
        if is_reference
            && let Some((OBJECT, id)) = body.map(|body| heap.field(body, "referent")).transpose()?.flatten()
            && heap.ids.number(id).is_some()
        {
            let referent = heap.bodies(&[id])?.remove(&id);
            let of = heap.class_of(id, referent.as_ref());
            name = format!("{name} of {}", class_name(heap, of));
        }
        *classes.entry(name).or_default() += 1;
    }
    Ok(classes.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0))).map(|(class, _)| class))
}
