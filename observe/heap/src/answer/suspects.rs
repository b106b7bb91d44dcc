//! Suspects: single objects that hold a tenth of the heap or more, and where their memory accumulates.
//!
//! From each large child of the roots walks go down the dominator tree (`walk.rs`): below their ends the memory is many
//! small things. A chain of objects of one class is a list; the walk ends at its owner.

use std::collections::{HashMap, HashSet};

use yunti_base::Result;

use super::groups::{Group, groups};
use super::object::Named;
use super::path::{Way, steps, way};
use super::walk::{SAME_PERCENT, SUSPECT_PERCENT, Tree, Walks};
use crate::heap::{Dominator, Heap};
use crate::pass::locate::{Body, elements};

const LOADER: &str = "java.lang.ClassLoader";
/// Objects of one class in a row that make a chain.
const CHAIN: usize = 6;
/// Steps of a walk whose classes are read.
const STEPS_READ: usize = 64;
/// Elements of a collection that are read for their class.
const SAMPLED: usize = 24;

/// Object that holds much.
#[derive(Clone, Debug, Default)]
pub struct Suspect {
    /// Name of the object in which the memory accumulates.
    pub name: String,
    /// Its id.
    pub id: u64,
    /// Bytes that it retains.
    pub bytes: u64,
    /// Static field, field or variable that holds it, as `static field shop.Cache.ENTRIES`.
    pub held_in: Option<String>,
    /// Number of entries, if it is a collection.
    pub entries: Option<u64>,
    /// Class of most entries.
    pub entry_class: Option<String>,
    /// Steps from the object to a root.
    pub steps: Vec<String>,
    /// True if it is a class loader.
    pub is_loader: bool,
    /// Objects of one class below it that hold most of this together, if it is no collection.
    pub groups: Vec<Group>,
}

/// Object that nothing but the roots dominates.
#[derive(Clone, Debug)]
pub struct Top {
    /// Name.
    pub name: String,
    /// Id.
    pub id: u64,
    /// Class.
    pub class: String,
    /// Retained bytes.
    pub bytes: u64,
}

/// Large objects of a heap.
#[derive(Default)]
pub struct Large {
    /// Suspects, the largest first.
    pub suspects: Vec<Suspect>,
    /// Dominators below the roots, the largest first.
    pub tops: Vec<Top>,
    /// Objects of one class that nothing but the roots dominates, and that hold much together.
    pub groups: Vec<Group>,
}

/// Finds the large objects; `tops_max` of those below the roots.
pub fn large(heap: &Heap, tops_max: usize) -> Result<Large> {
    let all = Walks::of(heap, heap.total().bytes);
    let tops = tops(heap, tops_max);
    let large = tops.iter().take_while(|(_, place)| all.is_suspect(*place));
    let of_suspects: u64 = large.clone().map(|(bytes, _)| bytes).sum();
    let walks: Vec<Vec<u32>> = large.flat_map(|(_, place)| all.from(*place)).collect();
    drop(all);
    let ways: Vec<Way> = walks.iter().map(|walk| way(heap, *walk.last().unwrap_or(&0))).collect();
    let mut places: Vec<u32> = tops.iter().map(|top| top.1).collect();
    for walk in &walks {
        places.extend(walk.iter().take(STEPS_READ).chain(walk.last()));
    }
    places.extend(ways.iter().flat_map(|way| &way.places));
    let named = Named::of(heap, &places)?;
    let mut found = Large::default();
    let (mut ends, mut seen) = (Vec::new(), HashSet::new());
    for walk in walks {
        let place = accumulation(heap, &walk, &named)?;
        if !seen.insert(place) {
            continue;
        }
        // Where the memory spreads, which may be in an inner part of what is named.
        ends.push(walk.last().copied().unwrap_or(place));
        found.suspects.push(suspect(heap, place)?);
    }
    for (bytes, place) in tops {
        let id = named.id(place);
        let body = named.bodies.get(&id);
        let class = heap.classes.list[heap.class_of(id, body) as usize].name.clone();
        found.tops.push(Top { name: heap.name_of(id, body), id, class, bytes });
    }
    find_groups(heap, &ends, of_suspects, &mut found)?;
    found.suspects.sort_by_key(|suspect| (std::cmp::Reverse(suspect.bytes), suspect.id));
    Ok(found)
}

/// Finds the groups below the ends of the suspects' walks, and below the roots, where there may be some.
/// `of_suspects`: bytes that the objects retain in which the suspects are.
fn find_groups(heap: &Heap, ends: &[u32], of_suspects: u64, found: &mut Large) -> Result<()> {
    let total = heap.total().bytes;
    let mut owners = Vec::new();
    if total.saturating_sub(of_suspects) * 100 >= total * SUSPECT_PERCENT {
        owners.push(Dominator::Roots);
    }
    let unclear = found.suspects.iter().zip(ends).filter(|(suspect, _)| suspect.entries.is_none());
    owners.extend(unclear.map(|(_, &end)| Dominator::Place(end)));
    let mut groups = groups(heap, &owners)?.into_iter();
    if owners.first() == Some(&Dominator::Roots) {
        found.groups = groups.next().unwrap_or_default();
    }
    for suspect in found.suspects.iter_mut().filter(|suspect| suspect.entries.is_none()) {
        suspect.groups = groups.next().unwrap_or_default();
    }
    // A class loader holds all that only its classes hold: that says nothing.
    let (suspects, of_loaders) = std::mem::take(&mut found.suspects).into_iter().partition(|suspect| {
        let held: u64 = suspect.groups.iter().map(|group| group.bytes).sum();
        !suspect.is_loader || held * 100 < suspect.bytes * SAME_PERCENT
    });
    found.suspects = suspects;
    found.groups.extend(of_loaders.into_iter().flat_map(|suspect: Suspect| suspect.groups));
    found.groups.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.class.cmp(&b.class)));
    Ok(())
}

/// Returns the largest places that only the roots dominate, with their retained bytes.
fn tops(heap: &Heap, most: usize) -> Vec<(u64, u32)> {
    let mut tops: Vec<(u64, u32)> = heap
        .forest
        .heads
        .iter()
        .zip(&heap.heads.of)
        .filter(|(_, of)| **of == crate::graph::contract::TOP)
        .map(|(&place, _)| (heap.retained(place), place))
        .collect();
    tops.sort_unstable_by_key(|&(bytes, place)| (std::cmp::Reverse(bytes), place));
    tops.truncate(most);
    tops
}

impl Tree for Heap {
    fn places(&self) -> impl Iterator<Item = u32> {
        0..self.ids.count() as u32
    }

    fn retained(&self, place: u32) -> u64 {
        self.retained.get(place)
    }

    fn above(&self, place: u32) -> Option<u32> {
        match self.dominator(place) {
            Dominator::Place(above) => Some(above),
            Dominator::Roots | Dominator::Garbage => None,
        }
    }
}

/// Returns the last place of a walk that is not inside a collection or a chain.
fn accumulation(heap: &Heap, walk: &[u32], named: &Named) -> Result<u32> {
    let class = |place: u32| {
        let id = named.id(place);
        (heap.classes.index(id).is_none()).then(|| heap.class_of(id, named.bodies.get(&id)))
    };
    let known = &walk[..walk.len().min(STEPS_READ)];
    let mut end = walk.len() - 1;
    for begin in 0..known.len().saturating_sub(CHAIN) {
        let first = class(known[begin]);
        if first.is_some() && known[begin..begin + CHAIN].iter().all(|&place| class(place) == first) {
            end = begin.saturating_sub(1);
            break;
        }
    }
    // An array or a node belongs to the collection above it.
    while end > 0 && end < known.len() && class(walk[end]).is_some_and(|class| is_inner(class_name(heap, class))) {
        end -= 1;
    }
    // Behind the inner parts of a collection there may be a class that only holds it.
    if class(walk[end]).is_none() && end + 1 < known.len() {
        end += 1;
    }
    // The list of a loader's classes belongs to it.
    if (1..known.len()).contains(&end) && class(walk[end - 1]).is_some_and(|class| is_loader(heap, class)) {
        let [loader, id] = [walk[end - 1], walk[end]].map(|place| named.id(place));
        if heap.reference_name(loader, named.bodies.get(&loader), id)? == ".classes" {
            end -= 1;
        }
    }
    Ok(walk[end])
}

fn is_loader(heap: &Heap, class: u32) -> bool {
    heap.classes.hierarchy(class).any(|class| class.name == LOADER)
}

fn class_name(heap: &Heap, class: u32) -> &str {
    &heap.classes.list[class as usize].name
}

/// Returns true for classes of which a collection consists.
pub fn is_inner(name: &str) -> bool {
    name.ends_with("[]") || name.starts_with("java.util.") && name.contains('$')
}

fn suspect(heap: &Heap, place: u32) -> Result<Suspect> {
    let way = way(heap, place);
    let mut named = Named::of(heap, &way.places)?;
    let id = named.id(place);
    let steps = steps(heap, &way, &named)?;
    let body = named.bodies.remove(&id);
    let mut suspect = Suspect {
        name: heap.name_of(id, body.as_ref()),
        id,
        bytes: heap.retained(place),
        steps,
        is_loader: is_loader(heap, heap.class_of(id, body.as_ref())),
        ..Suspect::default()
    };
    if let Some(&holder) = way.places.get(1) {
        let holder_id = named.id(holder);
        suspect.held_in = Some(held_in(heap, &named, holder_id, id)?);
    }
    if let Some(body) = &body {
        (suspect.entries, suspect.entry_class) = contents(heap, body)?;
    }
    Ok(suspect)
}

/// Returns the reference by which a holder holds an object: `static field shop.Cache.ENTRIES`, `shop.Order.lines`.
pub fn held_in(heap: &Heap, named: &Named, holder: u64, id: u64) -> Result<String> {
    let reference = heap.reference_name(holder, named.bodies.get(&holder), id)?;
    Ok(match (heap.classes.index(holder), reference.strip_prefix(" static ")) {
        (Some(class), Some(field)) => format!("static field {}.{field}", heap.classes.list[class as usize].name),
        _ => {
            let class = heap.class_of(holder, named.bodies.get(&holder));
            format!("{}{reference}", heap.classes.list[class as usize].name)
        }
    })
}

/// Returns the number of entries of a collection or an array, and the class of most of them.
fn contents(heap: &Heap, body: &Body) -> Result<(Option<u64>, Option<String>)> {
    let mut entries = None;
    let mut array = matches!(body, Body::Array { .. }).then(|| body.clone());
    // A set has a map, a map has a table.
    let mut at = body.clone();
    for _ in 0..4 {
        if array.is_some() {
            break;
        }
        for name in ["size", "count", "elementCount"] {
            if let Some((10, size)) = heap.field(&at, name)? {
                entries = entries.or(Some(size));
            }
        }
        let mut next = None;
        for name in ["map", "m", "table", "elementData", "elements", "queue", "array", "tab", "al"] {
            if let Some((2, id)) = heap.field(&at, name)?
                && id != 0
            {
                next = heap.bodies(&[id])?.remove(&id);
                break;
            }
        }
        match next {
            Some(next @ Body::Array { .. }) => array = Some(next),
            Some(next) => at = next,
            None => break,
        }
    }
    let Some(Body::Array { length, values_at, .. }) = array else { return Ok((entries, None)) };
    let mut sampled = Vec::new();
    let mut some = 0_u64;
    elements(&heap.source, heap.map.id_bytes, values_at, length, |_, id| {
        some += u64::from(id != 0);
        if id != 0 && sampled.len() < SAMPLED {
            sampled.push(id);
        }
        true
    })?;
    let mut classes: HashMap<u32, usize> = HashMap::new();
    let bodies = heap.bodies(&sampled)?;
    let mut values = Vec::new();
    for id in &sampled {
        let mut value = *id;
        if let Some(body) = bodies.get(id)
            && is_inner(class_name(heap, heap.class_of(*id, Some(body))))
        {
            for name in ["value", "val", "key", "item"] {
                if let Some((2, id)) = heap.field(body, name)?
                    && id != 0
                {
                    value = id;
                    break;
                }
            }
        }
        values.push(value);
    }
    let value_bodies = heap.bodies(&values)?;
    for value in values {
        *classes.entry(heap.class_of(value, value_bodies.get(&value))).or_default() += 1;
    }
    let most = classes.into_iter().max_by_key(|&(class, count)| (count, class));
    Ok((entries.or(Some(some)), most.map(|(class, _)| heap.classes.list[class as usize].name.clone())))
}
