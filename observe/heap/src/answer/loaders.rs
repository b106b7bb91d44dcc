//! Class loaders: what each holds, and which have the same classes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use yunti_base::Result;

use super::threads::string;
use crate::heap::{Dominator, Heap};

/// Class loader with its classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loader {
    /// Name, such as `'app' jdk.internal.loader.ClassLoaders$AppClassLoader @0x740e36cc0`.
    pub name: String,
    /// Id of the loader.
    pub id: u64,
    /// Number of its classes.
    pub classes: u64,
    /// Objects of these classes.
    pub objects: u64,
    /// Bytes of these objects themselves.
    pub bytes: u64,
    /// Bytes that the loader and its classes retain, what their static fields hold with it.
    pub retained: u64,
    /// Number of loaders that have a class of the same name as one of this loader, with itself.
    pub alike: u64,
}

/// Class loaders that have the same classes as others of their kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameClasses {
    /// Number of loaders.
    pub loaders: usize,
    /// Classes that all of them have.
    pub classes: usize,
    /// One of these classes.
    pub example: String,
    /// Bytes that all of these loaders retain.
    pub bytes: u64,
}

/// Returns the class loaders, without the JVM's own, the one that retains most first.
pub fn loaders(heap: &Heap) -> Result<Vec<Loader>> {
    let loader_of = loaders_of(heap);
    let mut sums: BTreeMap<u64, Loader> = BTreeMap::new();
    for (class, total) in heap.classes.list.iter().zip(&heap.totals) {
        let id = class.record.loader;
        if id == 0 || class.is_array() || heap.ids.number(id).is_none() {
            continue;
        }
        let sum = sums.entry(id).or_insert_with(|| Loader {
            name: String::new(),
            id,
            classes: 0,
            objects: 0,
            bytes: 0,
            retained: retained(heap, id),
            alike: 1,
        });
        sum.retained += beside(heap, class.record.id, id, &loader_of);
        sum.classes += 1;
        sum.objects += total.objects;
        sum.bytes += total.bytes;
    }
    for same in by_name(heap).into_values() {
        for id in &same {
            if let Some(sum) = sums.get_mut(id) {
                sum.alike = sum.alike.max(same.len() as u64);
            }
        }
    }
    let mut loaders: Vec<Loader> = sums.into_values().collect();
    loaders.sort_by_key(|loader| (std::cmp::Reverse(loader.retained), loader.id));
    let bodies = heap.bodies(&loaders.iter().map(|loader| loader.id).collect::<Vec<_>>())?;
    for loader in &mut loaders {
        let body = bodies.get(&loader.id);
        let text = match body.map(|body| heap.field(body, "name")).transpose()?.flatten() {
            Some((2, id)) if id != 0 => heap.bodies(&[id])?.get(&id).map(|body| string(heap, body)).transpose()?,
            _ => None,
        };
        let text = text.flatten().filter(|text| !text.is_empty());
        let quoted = text.map_or_else(String::new, |text| format!("'{text}' "));
        loader.name = format!("{quoted}{}", heap.name_of(loader.id, body));
    }
    Ok(loaders)
}

fn retained(heap: &Heap, id: u64) -> u64 {
    heap.ids.number(id).map_or(0, |number| heap.retained(heap.forest.places[number as usize]))
}

/// Dominators above a class that are read.
const ABOVE_MAX: usize = 1000;

/// Returns the bytes that a class retains, or 0 if its loader, or another class of the loader, retains them too: a
/// `Class` object that others keep is not below its loader. `loader_of`: the loader of each class and of itself, by
/// place.
fn beside(heap: &Heap, class: u64, loader: u64, loader_of: &HashMap<u32, u64>) -> u64 {
    let Some(number) = heap.ids.number(class) else { return 0 };
    let own = heap.forest.places[number as usize];
    let mut above = heap.dominator(own);
    for _ in 0..ABOVE_MAX {
        match above {
            Dominator::Garbage => return 0,
            Dominator::Place(at) if loader_of.get(&at) == Some(&loader) => return 0,
            Dominator::Place(at) => above = heap.dominator(at),
            Dominator::Roots => break,
        }
    }
    heap.retained(own)
}

/// Returns the loader of each class, and of each loader itself, by place.
fn loaders_of(heap: &Heap) -> HashMap<u32, u64> {
    let place = |id: u64| heap.ids.number(id).map(|number| heap.forest.places[number as usize]);
    let records = heap.classes.list.iter().map(|class| &class.record);
    records
        .flat_map(|record| [(record.id, record.loader), (record.loader, record.loader)])
        .filter_map(|(id, loader)| Some((place(id)?, loader)))
        .collect()
}

/// Loaders of each name of a class.
fn by_name(heap: &Heap) -> BTreeMap<&str, BTreeSet<u64>> {
    let mut loaders: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for class in &heap.classes.list {
        // Hidden classes have a slash or an address in their name; each is alone.
        if class.record.loader != 0 && !class.is_array() && !class.name.contains("$$Lambda") {
            loaders.entry(&class.name).or_default().insert(class.record.loader);
        }
    }
    loaders.retain(|_, loaders| loaders.len() > 1);
    loaders
}

/// Returns the largest group of loaders with the same classes: an application that was loaded again and never freed.
pub fn same_classes(heap: &Heap, loaders: &[Loader]) -> Option<SameClasses> {
    let mut groups: HashMap<BTreeSet<u64>, (usize, &str)> = HashMap::new();
    for (name, loaders) in by_name(heap) {
        groups.entry(loaders).or_insert((0, name)).0 += 1;
    }
    let most = groups.into_iter().max_by_key(|(loaders, (classes, name))| (loaders.len(), *classes, *name));
    most.map(|(same, (classes, name))| SameClasses {
        loaders: same.len(),
        classes,
        example: name.to_owned(),
        bytes: loaders.iter().filter(|loader| same.contains(&loader.id)).map(|loader| loader.retained).sum(),
    })
}
