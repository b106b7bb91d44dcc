//! Kind of each object, by number: its class and its shallow bytes, in 2 bytes.
//!
//! A heap has few thousand kinds: one of each class, and one of each length of its arrays. Objects of kinds beyond the
//! first 65,534 are in a map; a dump with that many lengths of arrays has gigabytes in them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::sizes::{Sizes, UNIT_BYTES};
use crate::graph::hash::{self, NumberMap};

/// Class and shallow bytes of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Index of the class.
    pub class: u32,
    /// Shallow bytes.
    pub bytes: u64,
}

/// Object without a known class.
const NONE: u16 = 0;
/// Object in the map.
const RARE: u16 = u16::MAX;
/// Kinds with a number of their own.
const KINDS_MAX: usize = if cfg!(debug_assertions) { 5 } else { RARE as usize };
/// Objects of a chunk, whose memory is free as soon as it is read.
const CHUNK: usize = if cfg!(debug_assertions) { 4 } else { 1 << 20 };

/// Kinds of all objects, which several threads set.
pub struct Kinds {
    of: Vec<Vec<AtomicU16>>,
    objects: usize,
    common: Mutex<Common>,
}

#[derive(Default)]
struct Common {
    /// Kinds by number, the first of which stands for none.
    list: Vec<Kind>,
    numbers: HashMap<Kind, u16>,
    rare: NumberMap<Kind>,
}

impl Kinds {
    /// Returns objects without kinds.
    pub fn new(objects: usize) -> Kinds {
        let chunk = |begin: usize| (begin..objects.min(begin + CHUNK)).map(|_| AtomicU16::new(NONE)).collect();
        let common = Common { list: vec![Kind::default()], ..Common::default() };
        Kinds { of: (0..objects).step_by(CHUNK).map(chunk).collect(), objects, common: Mutex::new(common) }
    }

    /// Sets the kind of an object.
    #[inline]
    pub fn set(&self, object: u32, kind: Kind, recent: &mut RecentKinds) {
        let entry = &mut recent.0[hash::fold(hash::fold(u64::from(kind.class)) ^ kind.bytes) as usize % RECENT];
        if entry.0 != kind || entry.1 == NONE {
            *entry = (kind, self.number(kind));
        }
        self.of[object as usize / CHUNK][object as usize % CHUNK].store(entry.1, Relaxed);
        if entry.1 == RARE {
            self.common.lock().unwrap_or_else(PoisonError::into_inner).rare.insert(object, kind);
        }
    }

    fn number(&self, kind: Kind) -> u16 {
        let Common { list, numbers, .. } = &mut *self.common.lock().unwrap_or_else(PoisonError::into_inner);
        let next = list.len();
        *numbers.entry(kind).or_insert_with(|| {
            if next >= KINDS_MAX {
                return RARE;
            }
            list.push(kind);
            next as u16
        })
    }

    /// Returns the kinds for reading.
    pub fn freeze(self) -> FrozenKinds {
        let Common { list, rare, .. } = self.common.into_inner().unwrap_or_else(PoisonError::into_inner);
        FrozenKinds { of: self.of, objects: self.objects, list, rare }
    }
}

/// Kinds that a thread has set before.
pub struct RecentKinds(Vec<(Kind, u16)>);

/// Entries of the table of recent kinds; a power of two.
const RECENT: usize = if cfg!(debug_assertions) { 2 } else { 1 << 10 };

impl Default for RecentKinds {
    fn default() -> RecentKinds {
        RecentKinds(vec![(Kind::default(), NONE); RECENT])
    }
}

/// Kinds of all objects.
pub struct FrozenKinds {
    of: Vec<Vec<AtomicU16>>,
    objects: usize,
    list: Vec<Kind>,
    rare: NumberMap<Kind>,
}

impl FrozenKinds {
    /// Returns the kind of an object, or `None` for one without a known class.
    #[inline]
    pub fn get(&self, object: u32) -> Option<Kind> {
        match self.of[object as usize / CHUNK][object as usize % CHUNK].load(Relaxed) {
            NONE => None,
            RARE => self.rare.get(&object).copied(),
            kind => Some(self.list[usize::from(kind)]),
        }
    }

    /// Returns ranges of objects for threads to share.
    pub fn ranges(&self) -> Vec<Range<u32>> {
        let range = |begin: usize| begin as u32..self.objects.min(begin + CHUNK) as u32;
        (0..self.objects).step_by(CHUNK).map(range).collect()
    }

    /// Returns the shallow sizes by place.
    pub fn sizes(self, places: &[u32], dump_bytes: u64, threads: usize) -> Sizes {
        let sizes = Sizes::new(places.len(), dump_bytes);
        let units: Vec<u64> = self.list.iter().map(|kind| kind.bytes / UNIT_BYTES).collect();
        let chunks = Mutex::new(self.of.into_iter().zip(places.chunks(CHUNK)));
        let work = || {
            loop {
                let next = chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((kinds, places)) = next else { break };
                for (kind, &place) in kinds.into_iter().zip(places) {
                    sizes.set_units(place, units.get(usize::from(kind.into_inner())).copied().unwrap_or(0));
                }
            }
        };
        thread::scope(|scope| (0..threads.max(1)).for_each(|_| drop(scope.spawn(work))));
        self.rare.iter().for_each(|(&object, kind)| sizes.set_units(places[object as usize], kind.bytes / UNIT_BYTES));
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_and_rare_kinds_are_kept() {
        for dump_bytes in [1, 1 << 40] {
            let kinds = Kinds::new(12);
            let mut recent = RecentKinds::default();
            let kind = |object: u32| Kind { class: object % 4, bytes: u64::from(object / 2) * 8 };
            (1..12).for_each(|object| kinds.set(object, kind(object), &mut recent));
            let frozen = kinds.freeze();
            assert_eq!(frozen.get(0), None);
            assert!(!frozen.rare.is_empty());
            assert!((1..12).all(|object| frozen.get(object) == Some(kind(object))));
            assert!(frozen.ranges().into_iter().flatten().eq(0..12));
            let places: Vec<u32> = (0..12).rev().collect();
            let sizes = frozen.sizes(&places, dump_bytes, 2);
            assert_eq!(sizes.get(11), 0);
            assert!((1..12).all(|object| sizes.get(11 - object) == kind(object).bytes));
        }
    }
}
