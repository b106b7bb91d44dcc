//! Suspects: single objects that hold a tenth of the heap or more, and where their memory accumulates.
//!
//! From each large child of the roots walks go down the dominator tree (`walk.rs`): below their ends the memory is many
//! small things. A chain of objects of one class is a list; the walk ends at its owner.

use std::collections::HashSet;

use yunti_base::Result;

use super::contents::contents;
use super::groups::{Group, groups};
use super::object::{LOCAL, Named, class_name, held_in, is_inner};
use super::path::{Way, steps, way};
use super::walk::{SAME_PERCENT, SUSPECT_PERCENT, Tree, Walks};
use crate::heap::{Dominator, Heap};
use crate::model::name::is_of_the_jdk;

/// Objects of the JDK between a suspect and a field of the application.
const WRAPPERS_MAX: usize = 8;
const LOADER: &str = "java.lang.ClassLoader";
/// Objects of one class in a row that make a chain.
const CHAIN: usize = 6;
/// Steps of a walk whose classes are read.
const STEPS_READ: usize = 64;

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
    /// Objects of one class that hold each other below it: class, field, number of large ones.
    pub chain: Option<(String, String, u64)>,
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
    let mut places: Vec<u32> = tops.iter().map(|top| top.1).collect();
    for walk in &walks {
        places.extend(walk.iter().take(STEPS_READ).chain(walk.last()));
    }
    let mut named = Named::of(heap, &places)?;
    let mut found = Large::default();
    let (mut ends, mut ways, mut chains, mut seen) = (Vec::new(), Vec::new(), Vec::new(), HashSet::new());
    for walk in walks {
        let (place, chain) = accumulation(heap, &walk, &named)?;
        if seen.insert(place) {
            // Where the memory spreads, which may be in an inner part of what is named.
            ends.push(walk.last().copied().unwrap_or(place));
            ways.push(way(heap, place));
            chains.push(chain);
        }
    }
    named.add(heap, &ways.iter().flat_map(|way| &way.places).copied().collect::<Vec<_>>())?;
    for (way, chain) in ways.iter().zip(chains) {
        let suspect = suspect(heap, way, &named)?;
        // Nodes of a collection are its entries.
        let chain = chain.filter(|_| suspect.entries.is_none());
        found.suspects.push(Suspect { chain, ..suspect });
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

/// Chain of objects: class, field, number.
type Chain = Option<(String, String, u64)>;

/// Returns the last place of a walk that is not inside a collection or a chain, and the chain.
fn accumulation(heap: &Heap, walk: &[u32], named: &Named) -> Result<(u32, Chain)> {
    let class = |place: u32| {
        let id = named.id(place);
        (heap.classes.index(id).is_none()).then(|| heap.class_of(id, named.bodies.get(&id)))
    };
    let known = &walk[..walk.len().min(STEPS_READ)];
    let (mut end, mut chain) = (walk.len() - 1, None);
    for begin in 0..known.len().saturating_sub(CHAIN) {
        let first = class(known[begin]);
        if let Some(first) = first
            && known[begin..begin + CHAIN].iter().all(|&place| class(place) == Some(first))
        {
            let [id, next] = [known[begin], known[begin + 1]].map(|place| named.id(place));
            let field = heap.reference_name(id, named.bodies.get(&id), next)?;
            chain = Some((class_name(heap, first).to_owned(), field, (walk.len() - begin) as u64));
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
    Ok((walk[end], chain))
}

fn is_loader(heap: &Heap, class: u32) -> bool {
    heap.classes.hierarchy(class).any(|class| class.name == LOADER)
}

/// Returns what is known of the suspect at the begin of a way.
fn suspect(heap: &Heap, way: &Way, named: &Named) -> Result<Suspect> {
    let place = way.places[0];
    let id = named.id(place);
    let steps = steps(heap, way, named)?;
    let body = named.bodies.get(&id);
    let mut suspect = Suspect {
        name: heap.name_of(id, body),
        id,
        bytes: heap.retained(place),
        steps,
        is_loader: is_loader(heap, heap.class_of(id, body)),
        ..Suspect::default()
    };
    suspect.held_in = field_of_the_application(heap, way, named)?;
    if let Some(body) = body {
        let contents = contents(heap, body)?;
        (suspect.entries, suspect.entry_class) = (contents.entries, contents.class);
    }
    Ok(suspect)
}

/// Returns the field, static field or variable that holds the begin of a way. Objects of the JDK between it and the
/// application are skipped: what a synchronized map wraps is known by the field that has the synchronized map.
fn field_of_the_application(heap: &Heap, way: &Way, named: &Named) -> Result<Option<String>> {
    let mut nearest = None;
    for pair in way.places.windows(2).take(WRAPPERS_MAX) {
        let [id, holder] = [pair[0], pair[1]].map(|place| named.id(place));
        let own = match heap.classes.index(holder) {
            Some(class) => class,
            None => heap.class_of(holder, named.bodies.get(&holder)),
        };
        let name = held_in(heap, named, holder, id)?;
        let own = class_name(heap, own);
        if name.starts_with(LOCAL) || !is_of_the_jdk(own) && !own.ends_with("[]") {
            return Ok(Some(name));
        }
        nearest.get_or_insert(name);
    }
    Ok(nearest)
}
