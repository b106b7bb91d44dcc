//! Waste: memory that the same data would not need. Equal strings, empty and sparse collections, boxes, arrays of
//! zeros; and memory outside the heap that its objects hold.
//!
//! Three walks: the first one marks the arrays of strings and collections, the second one looks into them, the third
//! one finds what refers to a sample of each kind. Of many
//! strings a share is compared, chosen by their hashes, so that equal ones are chosen together; the totals are then
//! estimates.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use yunti_base::Result;

use super::referrers::{SAMPLED, Sample, holders_of};
use super::threads::text_of;
use crate::file::map::{be_id, be32};
use crate::file::records::{Blocks, OBJECT, Visitor, value_bytes, walk};
use crate::graph::contract::UNREACHED;
use crate::heap::Heap;
use crate::pass::crew;
use crate::pass::locate::{Body, values};

/// Strings that are compared at most.
const COMPARED_MAX: u64 = if cfg!(debug_assertions) { 1 << 12 } else { 1 << 20 };
/// Least bytes of an array of zeros that counts.
const ZEROS_BYTES_MIN: u64 = 16;

/// One kind of waste.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waste {
    /// Kind, as text.
    pub kind: String,
    /// Objects concerned.
    pub objects: u64,
    /// Bytes that would be saved, or that are held outside the heap.
    pub bytes: u64,
    /// True if the numbers are estimates from a sample.
    pub is_estimate: bool,
    /// Fields that refer to most of these objects, by a sample: `shop.Order.country`.
    pub holders: Vec<String>,
    /// Texts with most bytes, and their copies; of equal strings alone.
    pub texts: Vec<(String, u64)>,
}

/// Kinds of waste besides empty collections, by their place in samples.
const STRINGS: usize = COLLECTIONS.len();
const SPARSE: usize = STRINGS + 1;
const SPARSE_ARRAYS: usize = STRINGS + 2;
const SINGLE: usize = STRINGS + 3;
const ZEROS: usize = STRINGS + 4;
const DIRECT: usize = STRINGS + 5;
const BOXED: usize = STRINGS + 6;
const KINDS: usize = STRINGS + 7;
/// Texts of equal strings that are shown.
const TEXTS_SHOWN: usize = 3;

/// Classes of boxes.
const BOXES: [&str; 8] = ["Boolean", "Byte", "Character", "Double", "Float", "Integer", "Long", "Short"];
/// Collections: class, field of the size, field of the array.
const COLLECTIONS: [(&str, &str, &str); 13] = [
    ("java.util.ArrayDeque", "", "elements"),
    ("java.util.ArrayList", "size", "elementData"),
    ("java.util.HashMap", "size", "table"),
    ("java.util.Hashtable", "count", "table"),
    ("java.util.IdentityHashMap", "size", "table"),
    ("java.util.LinkedList", "size", ""),
    ("java.util.PriorityQueue", "size", "queue"),
    ("java.util.TreeMap", "size", ""),
    ("java.util.Vector", "elementCount", "elementData"),
    ("java.util.WeakHashMap", "size", "table"),
    ("java.util.concurrent.ArrayBlockingQueue", "count", "items"),
    ("java.util.concurrent.ConcurrentHashMap", "baseCount", "table"),
    ("java.util.concurrent.PriorityBlockingQueue", "size", "queue"),
];
/// Field of a map that many threads fill: where it is set, the size is spread over cells, and `baseCount` is a part.
const CELLS: &str = "counterCells";

/// Finds the waste of a heap, the most bytes first.
pub fn wastes(heap: &Heap) -> Result<Vec<Waste>> {
    let interests: Vec<Option<Interest>> =
        (0..heap.classes.list.len() as u32).map(|class| Interest::of(heap, class)).collect::<Result<_>>()?;
    let marks = Marks::new(heap.ids.count());
    let firsts = run(heap, || First { heap, interests: &interests, marks: &marks, found: Found::default() })?;
    let mut found = Found::default();
    firsts.into_iter().for_each(|first| found.join(first.found));
    let mut shift = 0;
    while found.strings >> shift > COMPARED_MAX {
        shift += 1;
    }
    let seconds = run(heap, || Second { heap, marks: &marks, shift, array: None, found: Found::default() })?;
    seconds.into_iter().for_each(|second| found.join(second.found));
    let boxes = heap.classes.list.iter().zip(&heap.totals).filter(|(class, _)| is_box(&class.name));
    found.boxed = boxes.fold((0, 0), |sum, (_, total)| (sum.0 + total.objects, sum.1 + total.bytes));
    let equal = found.most_equal();
    let mut wastes = found.wastes(shift);
    let mut samples: Vec<Vec<u32>> = found.samples.iter().map(Sample::numbers).collect();
    samples[STRINGS] = equal.iter().map(|&(_, number)| number).collect();
    for (waste, holders) in wastes.iter_mut().zip(holders_of(heap, &samples)?) {
        waste.holders = holders;
    }
    let mut texts = Vec::new();
    for &(copies, number) in equal.iter().take(TEXTS_SHOWN) {
        let id = heap.ids.id(number);
        let text = heap.bodies(&[id])?.get(&id).map(|array| text_of_unknown(heap, array)).transpose()?.flatten();
        texts.extend(text.map(|text| (text, u64::from(copies) << shift)));
    }
    wastes[STRINGS].texts = texts;
    wastes.retain(|waste| waste.objects > 0);
    wastes.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.kind.cmp(&b.kind)));
    Ok(wastes)
}

fn is_box(class: &str) -> bool {
    class.strip_prefix("java.lang.").is_some_and(|name| BOXES.contains(&name))
}

/// Fields of a class that the first walk reads: their offsets.
#[derive(Clone, Copy, Debug)]
enum Interest {
    String { value: usize },
    Collection { kind: usize, size: Option<Size>, array: Option<usize> },
    DirectBuffer { capacity: usize, cleaner: usize },
    Box,
}

/// Field that has the size of a collection.
#[derive(Clone, Copy, Debug)]
struct Size {
    at: usize,
    is_long: bool,
    /// Field that must be null, else the size is another.
    unless: Option<usize>,
}

impl Interest {
    fn of(heap: &Heap, class: u32) -> Result<Option<Interest>> {
        let is_heir = |name: &str| heap.classes.hierarchy(class).any(|class| class.name == name);
        let offset = |name: &str| -> Result<Option<usize>> {
            let mut at = 0;
            for field in heap.classes.hierarchy(class).flat_map(|class| &class.record.fields) {
                if heap.text(field.name)? == name {
                    return Ok(Some(at));
                }
                at += value_bytes(field.kind, heap.map.id_bytes).unwrap_or(0);
            }
            Ok(None)
        };
        if heap.totals[class as usize].objects == 0 {
            return Ok(None);
        }
        if is_box(&heap.classes.list[class as usize].name) {
            return Ok(Some(Interest::Box));
        }
        if is_heir("java.lang.String") {
            return Ok(offset("value")?.map(|value| Interest::String { value }));
        }
        if is_heir("java.nio.DirectByteBuffer") {
            let (capacity, cleaner) = (offset("capacity")?, offset("cleaner")?);
            return Ok(capacity.zip(cleaner).map(|(capacity, cleaner)| Interest::DirectBuffer { capacity, cleaner }));
        }
        for (kind, (name, size, array)) in COLLECTIONS.iter().enumerate() {
            if is_heir(name) {
                let of = |field: &str| if field.is_empty() { Ok(None) } else { offset(field) };
                let unless = offset(CELLS)?;
                let size = of(size)?.map(|at| Size { at, is_long: *size == "baseCount", unless });
                return Ok(Some(Interest::Collection { kind, size, array: of(array)? }));
            }
        }
        Ok(None)
    }
}

/// Objects that the first walk marks.
struct Marks {
    strings: Vec<AtomicU64>,
    collections: Vec<AtomicU64>,
}

impl Marks {
    fn new(objects: usize) -> Marks {
        let none = || (0..objects.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Marks { strings: none(), collections: none() }
    }
}

/// Marks an object, and returns true if it had a mark.
fn mark(marks: &[AtomicU64], number: u32) -> bool {
    marks[number as usize / 64].fetch_or(1 << (number % 64), Relaxed) >> (number % 64) & 1 == 1
}

fn is_marked(marks: &[AtomicU64], number: u32) -> bool {
    marks[number as usize / 64].load(Relaxed) >> (number % 64) & 1 == 1
}

#[derive(Default)]
struct Found {
    strings: u64,
    /// Empty collections by kind: objects, and bytes with their arrays of the first walk.
    empty: [(u64, u64); COLLECTIONS.len()],
    single: u64,
    single_bytes: u64,
    direct: (u64, u64),
    /// Copies, bytes of a copy, and the first array of them by hash.
    hashes: HashMap<u64, (u32, u32, u32)>,
    sparse: (u64, u64),
    sparse_arrays: (u64, u64),
    zeros: (u64, u64),
    boxed: (u64, u64),
    /// Some objects of each kind.
    samples: [Sample; KINDS],
}

impl Found {
    fn join(&mut self, other: Found) {
        self.strings += other.strings;
        for (own, more) in self.empty.iter_mut().zip(other.empty) {
            *own = (own.0 + more.0, own.1 + more.1);
        }
        self.single += other.single;
        self.single_bytes += other.single_bytes;
        let pairs = [
            (&mut self.direct, other.direct),
            (&mut self.sparse, other.sparse),
            (&mut self.sparse_arrays, other.sparse_arrays),
            (&mut self.zeros, other.zeros),
        ];
        for (own, more) in pairs {
            *own = (own.0 + more.0, own.1 + more.1);
        }
        for (hash, (copies, bytes, array)) in other.hashes {
            self.add_string(hash, copies, bytes, array);
        }
        for (own, more) in self.samples.iter_mut().zip(other.samples) {
            own.join(more);
        }
    }

    /// Adds copies of a string. The first array does not depend on which thread comes first.
    fn add_string(&mut self, hash: u64, copies: u32, bytes: u32, array: u32) {
        let known = self.hashes.entry(hash).or_insert((0, bytes, array));
        known.0 += copies;
        known.2 = known.2.min(array);
    }

    /// Returns the copies and an array of those equal strings that waste most.
    fn most_equal(&self) -> Vec<(u32, u32)> {
        let mut equal: Vec<(u64, u32, u32)> = self
            .hashes
            .values()
            .filter(|(copies, ..)| *copies > 1)
            .map(|&(copies, bytes, array)| (u64::from(copies - 1) * u64::from(bytes), copies, array))
            .collect();
        equal.sort_unstable_by_key(|&(bytes, _, array)| (std::cmp::Reverse(bytes), array));
        equal.truncate(SAMPLED);
        equal.into_iter().map(|(_, copies, array)| (copies, array)).collect()
    }

    /// Returns the waste of each kind, in the order of the samples.
    fn wastes(&self, shift: u32) -> Vec<Waste> {
        let waste = |kind: &str, (objects, bytes): (u64, u64)| Waste {
            kind: kind.to_owned(),
            objects,
            bytes,
            is_estimate: false,
            holders: Vec::new(),
            texts: Vec::new(),
        };
        let copies = self.hashes.values().filter(|(copies, ..)| *copies > 1);
        let equal = copies.fold((0, 0), |sum, &(copies, bytes, _)| {
            let more = u64::from(copies) - 1;
            (sum.0 + more, sum.1 + more * u64::from(bytes))
        });
        let empty = COLLECTIONS.iter().zip(&self.empty);
        let empty = empty.map(|((name, ..), &found)| waste(&format!("empty {name}"), found));
        let others = [
            Waste { is_estimate: shift > 0, ..waste("copies of equal strings", (equal.0 << shift, equal.1 << shift)) },
            waste("unused slots of collections less than a quarter full", self.sparse),
            waste("unused slots of other arrays of objects less than a quarter full", self.sparse_arrays),
            waste("collections of one element", (self.single, self.single_bytes)),
            waste("arrays of zeros", self.zeros),
            waste("outside the heap: direct buffers", self.direct),
            waste("boxed numbers", self.boxed),
        ];
        empty.chain(others).collect()
    }
}

/// Returns the text of a string's array, whose coder the string alone knows.
fn text_of_unknown(heap: &Heap, array: &Body) -> Result<Option<String>> {
    let Body::Primitive { kind, length, values_at } = array else { return Ok(None) };
    let bytes = values(&heap.source, *kind, (*length).min(64), *values_at)?;
    let is_wide = *kind == 8 && bytes.len() > 1 && bytes.len() % 2 == 0 && bytes.contains(&0);
    text_of(heap, u64::from(is_wide), array)
}

fn run<V: Visitor + Send>(heap: &Heap, visitor: impl Fn() -> V + Sync) -> Result<Vec<V>> {
    let state = || (Blocks::new(&heap.source), visitor());
    let crew = crew::share(heap.threads, heap.units.len(), state, |(blocks, visitor), item| {
        walk(blocks, heap.map.id_bytes, heap.units[item].begin, heap.units[item].end, visitor)?;
        Ok(())
    })?;
    Ok(crew.into_iter().map(|(_, visitor)| visitor).collect())
}

/// Returns the number of an object that a root reaches.
fn live(heap: &Heap, id: u64) -> Option<u32> {
    let number = heap.ids.number(id)?;
    let is_garbage = heap.garbage.objects > 0
        && heap.heads.of[heap.forest.tree(heap.forest.places[number as usize]) as usize] == UNREACHED;
    (!is_garbage).then_some(number)
}

/// First walk: instances.
struct First<'a> {
    heap: &'a Heap,
    interests: &'a [Option<Interest>],
    marks: &'a Marks,
    found: Found,
}

impl Visitor for First<'_> {
    fn instance(&mut self, _at: u64, id: u64, class: u64, data: &[u8]) {
        let Some(index) = self.heap.classes.index(class) else { return };
        let Some(interest) = self.interests[index as usize] else { return };
        let Some(number) = live(self.heap, id) else { return };
        let id_bytes = self.heap.map.id_bytes;
        let object = |at: usize| data.get(at..).filter(|d| d.len() >= id_bytes).map_or(0, |d| be_id(d, id_bytes));
        let int = |at: usize| data.get(at..).map_or(0, be32);
        match interest {
            Interest::String { value } => {
                let array = self.heap.ids.number(object(value));
                if let Some(array) = array
                    && !mark(&self.marks.strings, array)
                {
                    self.found.strings += 1;
                }
            }
            Interest::Collection { kind, size, array } => {
                let bytes = self.heap.classes.list[index as usize].shallow_bytes;
                let known = size.filter(|size| size.unless.is_none_or(|at| object(at) == 0));
                // The lower half of a long; no collection has more elements.
                let entries = known.map_or(u32::MAX, |size| int(size.at + if size.is_long { 4 } else { 0 }));
                match entries {
                    0 => {
                        self.found.empty[kind] = (self.found.empty[kind].0 + 1, self.found.empty[kind].1 + bytes);
                        self.found.samples[kind].add(number);
                    }
                    1 => {
                        self.found.samples[SINGLE].add(number);
                        self.found.single += 1;
                        self.found.single_bytes += bytes;
                    }
                    _ => {}
                }
                if let Some(array) = array.and_then(|array| self.heap.ids.number(object(array)).filter(|&n| n != 0)) {
                    mark(&self.marks.collections, array);
                }
            }
            Interest::Box => self.found.samples[BOXED].add(number),
            Interest::DirectBuffer { capacity, cleaner } if object(cleaner) != 0 => {
                self.found.samples[DIRECT].add(number);
                self.found.direct.0 += 1;
                self.found.direct.1 += u64::from(int(capacity));
            }
            Interest::DirectBuffer { .. } => {}
        }
    }
}

/// Array that the second walk is in.
struct Open {
    number: u32,
    is_string: bool,
    is_of_collection: bool,
    /// Shallow bytes.
    bytes: u64,
    length: u64,
    kind: u8,
    hash: u64,
    is_zero: bool,
    /// Elements that are not null.
    used: u64,
}

/// Second walk: arrays.
struct Second<'a> {
    heap: &'a Heap,
    marks: &'a Marks,
    shift: u32,
    array: Option<Open>,
    found: Found,
}

impl Visitor for Second<'_> {
    const WANTS_ELEMENTS: bool = true;
    const WANTS_VALUES: bool = true;

    fn object_array(&mut self, _at: u64, id: u64, class: u64, length: u32) {
        self.array = live(self.heap, id).zip(self.heap.classes.index(class)).map(|(number, class)| Open {
            number,
            is_string: false,
            is_of_collection: is_marked(&self.marks.collections, number),
            bytes: self.heap.classes.array_bytes(class, length),
            length: u64::from(length),
            kind: OBJECT,
            hash: 0,
            is_zero: true,
            used: 0,
        });
    }

    fn elements(&mut self, ids: &[u8]) {
        if let Some(array) = &mut self.array {
            let id_bytes = self.heap.map.id_bytes;
            array.used += ids.chunks_exact(id_bytes).filter(|id| be_id(id, id_bytes) != 0).count() as u64;
        }
    }

    fn primitive_array(&mut self, _at: u64, id: u64, kind: u8, length: u32, _values_at: u64) {
        self.array = live(self.heap, id).map(|number| Open {
            number,
            is_string: is_marked(&self.marks.strings, number),
            is_of_collection: false,
            bytes: self.heap.classes.primitive_array_bytes(kind, length),
            length: u64::from(length),
            kind,
            hash: u64::from(kind) << 32 | u64::from(length),
            is_zero: true,
            used: 0,
        });
    }

    fn values(&mut self, values: &[u8]) {
        let Some(array) = &mut self.array else { return };
        if array.is_string {
            // Pieces end anywhere in an array that crosses a block, so its bytes are hashed one by one.
            for &byte in values {
                array.hash = (array.hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
            }
        }
        array.is_zero = array.is_zero && values.iter().all(|&byte| byte == 0);
    }

    fn array_end(&mut self) {
        let Some(array) = self.array.take() else { return };
        if array.kind == OBJECT {
            // A small array is no waste worth a sentence.
            if array.length >= 8 && array.used * 4 < array.length {
                let found = &mut self.found;
                let (sum, kind) = match array.is_of_collection {
                    true => (&mut found.sparse, SPARSE),
                    false => (&mut found.sparse_arrays, SPARSE_ARRAYS),
                };
                sum.0 += 1;
                sum.1 += (array.length - array.used) * self.heap.classes.memory.reference;
                found.samples[kind].add(array.number);
            }
            return;
        }
        if array.is_string {
            let hash = array.hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            if self.shift == 0 || hash >> (64 - self.shift) == 0 {
                self.found.add_string(hash, 1, array.bytes.min(u64::from(u32::MAX)) as u32, array.number);
            }
        } else if array.is_zero && array.length * value_bytes(array.kind, 0).unwrap_or(0) as u64 >= ZEROS_BYTES_MIN {
            self.found.zeros.0 += 1;
            self.found.zeros.1 += array.bytes;
            self.found.samples[ZEROS].add(array.number);
        }
    }
}
