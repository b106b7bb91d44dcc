//! First pass: ids of all objects, classes, roots, and units of about a megabyte in which objects are found again.

use yunti_base::Result;

use super::crew;
use crate::file::map::DumpMap;
use crate::file::records::{Blocks, Damage, Root, Visitor, walk};
use crate::file::source::Source;
use crate::graph::hash::{self, IdMap};
use crate::graph::ids::IdSet;
use crate::model::class::{ClassRecord, Usage};

/// Bytes after which a unit ends.
const UNIT_BYTES: u64 = if cfg!(debug_assertions) { 200 } else { 1 << 20 };

/// Range of whole records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Offset of the first record.
    pub begin: u64,
    /// Offset behind the last record.
    pub end: u64,
    /// Least id of an object.
    pub least: u64,
    /// Greatest id of an object.
    pub greatest: u64,
}

/// Result of the pass.
pub struct Scan {
    /// Ids of all objects.
    pub ids: IdSet,
    /// Records of classes in the order of the file.
    pub classes: Vec<ClassRecord>,
    /// Roots in the order of the file.
    pub roots: Vec<Root>,
    /// Units in the order of the file.
    pub units: Vec<Unit>,
    /// Use of classes by id.
    pub usage: IdMap<Usage>,
    /// True if references have 4 bytes though ids have 8.
    pub is_compressed: bool,
    /// Places where segments are damaged.
    pub damages: Vec<Damage>,
}

/// Scans all segments.
pub fn scan(source: &Source, map: &DumpMap, threads: usize) -> Result<Scan> {
    let scan = scan_at(source, map, threads, 3)?;
    let shift = scan.ids.fitting_shift();
    if shift < 3 { scan_at(source, map, threads, shift) } else { Ok(scan) }
}

fn scan_at(source: &Source, map: &DumpMap, threads: usize, shift: u32) -> Result<Scan> {
    let state = || (Blocks::new(source), Collector::new(map.id_bytes, shift), Vec::new());
    let crew = crew::share(threads, map.segments.len(), state, |(blocks, collector, parts), item| {
        let segment = map.segments[item];
        let damage = walk(blocks, map.id_bytes, segment.begin, segment.end, collector)?;
        let end = damage.as_ref().map_or(segment.end, |damage| damage.at);
        parts.push((item, collector.part(segment.begin, end, damage)));
        Ok(())
    })?;
    let mut scan = Scan {
        ids: IdSet::new(shift),
        classes: Vec::new(),
        roots: Vec::new(),
        units: Vec::new(),
        usage: IdMap::default(),
        is_compressed: false,
        damages: Vec::new(),
    };
    let mut parts = Vec::new();
    for (_, mut collector, own) in crew {
        for (id, usage) in collector.usage() {
            scan.usage.entry(id).or_default().add(&usage);
        }
        scan.ids.join(collector.ids);
        scan.is_compressed |= collector.is_compressed;
        parts.extend(own);
    }
    parts.sort_unstable_by_key(|(item, _)| *item);
    let mut last = None;
    for (_, part) in parts {
        scan.classes.extend(part.classes);
        scan.roots.extend(part.roots);
        scan.units.extend(part.units);
        scan.damages.extend(part.damage);
        scan.is_compressed |= part.first_array.is_some_and(|id| overlaps(last, id));
        last = part.last_array.or(last);
    }
    scan.is_compressed &= map.id_bytes == 8;
    Ok(scan)
}

/// Array of references and the end that it has with references of 8 bytes.
type ArrayEnd = (u64, u64);

/// Returns true for an array that begins where the array before would lie, were its references not compressed.
fn overlaps(last: Option<ArrayEnd>, id: u64) -> bool {
    last.is_some_and(|(begin, end)| id > begin && id < end)
}

#[derive(Default)]
struct Part {
    classes: Vec<ClassRecord>,
    roots: Vec<Root>,
    units: Vec<Unit>,
    damage: Option<Damage>,
    first_array: Option<u64>,
    last_array: Option<ArrayEnd>,
}

struct Collector {
    id_bytes: usize,
    ids: IdSet,
    usage: IdMap<Usage>,
    /// Recent classes, and their use not yet added: the objects of a heap take turns among few classes.
    recent: Vec<(u64, Usage)>,
    is_compressed: bool,
    part: Part,
    unit: Option<Unit>,
}

impl Collector {
    fn new(id_bytes: usize, shift: u32) -> Collector {
        Collector {
            id_bytes,
            ids: IdSet::new(shift),
            usage: IdMap::default(),
            recent: vec![(0, Usage::default()); RECENT],
            is_compressed: false,
            part: Part::default(),
            unit: None,
        }
    }

    /// Returns what the last segment had.
    fn part(&mut self, begin: u64, end: u64, damage: Option<Damage>) -> Part {
        if let Some(unit) = self.unit.take() {
            self.part.units.push(Unit { end, ..unit });
        }
        // Roots alone make no unit; the first unit of a segment begins where the segment does.
        if let Some(first) = self.part.units.first_mut() {
            first.begin = begin;
        }
        self.part.damage = damage;
        std::mem::take(&mut self.part)
    }

    #[inline]
    fn object(&mut self, at: u64, id: u64) {
        self.ids.add(id);
        match &mut self.unit {
            Some(unit) if at - unit.begin < UNIT_BYTES => {
                unit.least = unit.least.min(id);
                unit.greatest = unit.greatest.max(id);
            }
            _ => {
                let next = Unit { begin: at, end: at, least: id, greatest: id };
                if let Some(unit) = self.unit.replace(next) {
                    self.part.units.push(Unit { end: at, ..unit });
                }
            }
        }
    }

    #[inline]
    fn used(&mut self, class: u64, data_bytes: u32, is_array: bool) {
        let slot = hash::fold(class) as usize % RECENT;
        if self.recent[slot].0 != class {
            self.add_recent(slot);
            self.recent[slot].0 = class;
        }
        let usage = &mut self.recent[slot].1;
        usage.objects += 1;
        usage.data_bytes_max = usage.data_bytes_max.max(data_bytes);
        usage.has_arrays |= is_array;
    }

    fn add_recent(&mut self, slot: usize) {
        let (class, usage) = std::mem::take(&mut self.recent[slot]);
        if usage.objects > 0 {
            self.usage.entry(class).or_default().add(&usage);
        }
    }

    /// Returns the use of all classes.
    fn usage(&mut self) -> IdMap<Usage> {
        (0..RECENT).for_each(|slot| self.add_recent(slot));
        std::mem::take(&mut self.usage)
    }
}

/// Entries of the table of recent classes; a power of two.
const RECENT: usize = if cfg!(debug_assertions) { 2 } else { 256 };

impl Visitor for Collector {
    fn root(&mut self, root: Root) {
        self.part.roots.push(root);
    }

    fn class(&mut self, at: u64, body: &[u8]) {
        let record = ClassRecord::parse(body, self.id_bytes);
        self.object(at, record.id);
        self.part.classes.push(record);
    }

    fn instance(&mut self, at: u64, id: u64, class: u64, data: &[u8]) {
        self.object(at, id);
        self.used(class, data.len() as u32, false);
    }

    fn object_array(&mut self, at: u64, id: u64, class: u64, length: u32) {
        self.object(at, id);
        self.used(class, 0, true);
        self.part.first_array.get_or_insert(id);
        self.is_compressed |= overlaps(self.part.last_array, id);
        self.part.last_array = Some((id, id.saturating_add(16 + u64::from(length) * 8)));
    }

    fn primitive_array(&mut self, at: u64, id: u64, _kind: u8, _length: u32, _values_at: u64) {
        self.object(at, id);
    }
}
