//! The tables of all workers, merged range by range of the hash, each range by one worker.
//!
//! ```text
//!   order of the hashes   0 ......................................... 2^32
//!   table of worker 0     |  range 0   |  range 1   |  range 2   | ..      a stretch of slots each, read in order
//!   table of worker 1     |  range 0   |  range 1   |  range 2   | ..      (its capacity may differ)
//!                                       \          /
//!   scratch of a worker                  range 1            slots in the same order, in its cache
//! ```
//!
//! The tables are only read, except for wide states, which are merged where they are. A key keeps its position in the
//! order, so the scratch is also filled from one end to the other: no key is hashed again and no access is random.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::probe::RANGE_BITS;
use super::slot::{Slot, Slots, bytes_of};
use super::table::{FoldTable, StateBatch};
use crate::env::sync::Mutex;
use crate::memory::Budget;
use crate::operator::folder::{FOLD_BATCH, Folder, KnownFold};
use yunti_base::{Error, Result};

/// Keys of a range, at least, if there are enough: their slots fit a second-level cache.
const RANGE_KEYS: usize = if cfg!(debug_assertions) { 8 } else { 8192 };

struct Range {
    first: u32,
    last: u32,
    /// Keys of all tables in the range; equal keys count once in each table.
    keys: usize,
}

/// A merge with all its memory taken. Workers take ranges from it until none are left.
pub struct Merge {
    tables: Vec<FoldTable>,
    ranges: Vec<Range>,
    next: AtomicUsize,
    known: Option<KnownFold>,
    scratch: Mutex<Vec<Slots>>,
}

/// The tables of a merge that could not begin, and the error; `Code::Memory` if the budget is too small.
pub struct MergeFailure {
    /// The tables, unchanged.
    pub tables: Vec<FoldTable>,
    /// Cause of the failure.
    pub error: Error,
}

impl Merge {
    /// Returns a merge by at most `workers` workers. All tables have the same shape and seed; states of a key are
    /// merged in the order of the tables.
    ///
    /// Takes `needed_bytes` from the budget, and no more later.
    pub fn new(
        tables: Vec<FoldTable>,
        workers: usize,
        budget: &Arc<Budget>,
    ) -> std::result::Result<Merge, MergeFailure> {
        let ranges = plan(&tables);
        let mut scratch = Vec::new();
        if let Some(log2) = scratch_log2(&tables, &ranges) {
            for _ in 0..workers.min(ranges.len()) {
                match Slots::try_new(log2, budget) {
                    Ok(Some(slots)) => scratch.push(slots),
                    Ok(None) => {
                        let error = budget.too_small(bytes_of(log2), "merging the tables of the workers");
                        return Err(MergeFailure { tables, error });
                    }
                    Err(error) => return Err(MergeFailure { tables, error }),
                }
            }
        }
        let known = tables.first().and_then(|t| t.known());
        Ok(Merge { tables, ranges, next: AtomicUsize::new(0), known, scratch: Mutex::new(scratch) })
    }

    /// Returns the bytes that a merge takes from the budget beyond the tables themselves.
    pub fn needed_bytes(tables: &[FoldTable], workers: usize) -> u64 {
        let ranges = plan(tables);
        scratch_log2(tables, &ranges).map_or(0, |log2| bytes_of(log2) * workers.min(ranges.len()) as u64)
    }

    /// Returns the number of ranges; no two have a key in common.
    pub fn n_ranges(&self) -> usize {
        self.ranges.len()
    }

    /// Returns the part of one thread; one call per thread.
    pub fn worker(&self) -> Worker<'_> {
        let scratch = self.scratch.lock().unwrap_or_else(|e| e.into_inner()).pop();
        Worker { merge: self, scratch }
    }
}

/// Cuts the histograms of all tables into ranges of enough keys.
fn plan(tables: &[FoldTable]) -> Vec<Range> {
    let mut ranges = Vec::new();
    let (mut first, mut keys) = (0, 0);
    for cell in 0..1usize << RANGE_BITS {
        keys += tables.iter().map(|t| t.store().counts[cell] as usize).sum::<usize>();
        let last = cell + 1 == 1 << RANGE_BITS;
        if keys >= RANGE_KEYS || (last && keys > 0) {
            let end = (cell as u64 + 1) << (32 - RANGE_BITS);
            ranges.push(Range { first, last: (end - 1) as u32, keys });
            (first, keys) = (end as u32, 0);
        }
    }
    ranges
}

/// Returns the log2 of the slots for the largest range, at most 2/3 full; None with a single table.
fn scratch_log2(tables: &[FoldTable], ranges: &[Range]) -> Option<u32> {
    let keys = ranges.iter().map(|r| r.keys).max()?;
    (tables.len() > 1).then(|| slots_for(keys))
}

fn slots_for(keys: usize) -> u32 {
    (keys + keys / 2 + 1).next_power_of_two().ilog2().max(1)
}

/// Part of one thread in a merge.
pub struct Worker<'m> {
    merge: &'m Merge,
    scratch: Option<Slots>,
}

impl Worker<'_> {
    /// Merges the next range that no worker has taken, and calls `each` with its keys and states, at most 64 at a time.
    ///
    /// Returns the range's number, or None if all ranges are taken. Fails with the error of the folder or of `each`.
    pub fn next(
        &mut self,
        folder: &mut dyn Folder,
        mut each: impl FnMut(&[&[u8]], &[*const u8]) -> Result<()>,
    ) -> Result<Option<usize>> {
        let Merge { tables, ranges, known, .. } = self.merge;
        if tables.len() > 1 && self.scratch.is_none() {
            return Ok(None);
        }
        let number = self.merge.next.fetch_add(1, Ordering::Relaxed);
        let Some(range) = ranges.get(number) else { return Ok(None) };
        let mut out = StateBatch::default();
        match &mut self.scratch {
            None => {
                for store in tables.iter().map(|t| t.store()) {
                    for slot in store.slots.of_range(range.first, range.last) {
                        out.push(store.key_of(slot), store.state_of(slot), &mut each)?;
                    }
                }
            }
            Some(scratch) => {
                scratch.reuse(slots_for(range.keys));
                let mut gather = Gather { tables, first: range.first, factor: 0, slots: scratch };
                gather.factor =
                    ((gather.slots.capacity() as u64 / 2) << 32) / (u64::from(range.last - range.first) + 1);
                for number in 0..tables.len() {
                    gather.add(number, range, *known, folder)?;
                }
                let slots = gather.slots.as_slice();
                for slot in slots.iter().filter(|slot| !slot.is_empty()) {
                    let store = tables[table_of(slot)].store();
                    out.push(store.key_of(slot), store.state_of(slot), &mut each)?;
                }
            }
        }
        out.flush(&mut each)?;
        Ok(Some(number))
    }
}

/// Slots of one range. Instead of `order`, which the range implies, they hold 1 + the number of the table with the long
/// key and the wide state.
struct Gather<'g> {
    tables: &'g [FoldTable],
    slots: &'g mut Slots,
    first: u32,
    /// Lines of `slots` per step of `order`, times 2^32.
    factor: u64,
}

fn table_of(slot: &Slot) -> usize {
    slot.order() as usize - 1
}

impl Gather<'_> {
    fn add(&mut self, number: usize, range: &Range, known: Option<KnownFold>, folder: &mut dyn Folder) -> Result<()> {
        let store = self.tables[number].store();
        let mut pairs = [(0, std::ptr::null()); FOLD_BATCH];
        let mut n = 0;
        for slot in store.slots.of_range(range.first, range.last) {
            let at = self.seek(slot, store.key_of(slot));
            let there = &mut self.slots.as_mut_slice()[at];
            if there.is_empty() {
                *there = Slot { meta: Slot::meta_of(number as u32 + 1, slot.len() as u32), ..*slot };
            } else if let Some(known) = known {
                there.state = known.merge(there.state, slot.state);
            } else {
                pairs[n] = (at, store.state_of(slot));
                n += 1;
                if n == FOLD_BATCH {
                    self.merge(&pairs, folder)?;
                    n = 0;
                }
            }
        }
        // The merge comes before the next table, so that no state occurs twice in a call.
        self.merge(&pairs[..n], folder)
    }

    /// Returns the slot of a key, or the empty slot where it belongs.
    #[inline(always)]
    fn seek(&self, slot: &Slot, key: &[u8]) -> usize {
        let slots = self.slots.as_slice();
        let mask = slots.len() - 1;
        let line = (u64::from(slot.order() - self.first) * self.factor) >> 32;
        let mut at = line as usize * 2;
        loop {
            let there = &slots[at];
            if there.is_empty() {
                return at;
            }
            if there.k0 == slot.k0 && there.len() == slot.len() {
                let same = if slot.is_long() {
                    self.tables[table_of(there)].store().key_of(there) == key
                } else {
                    there.k1 == slot.k1
                };
                if same {
                    return at;
                }
            }
            at = (at + 1) & mask;
        }
    }

    fn merge(&mut self, pairs: &[(usize, *const u8)], folder: &mut dyn Folder) -> Result<()> {
        if pairs.is_empty() {
            return Ok(());
        }
        let mut into = [std::ptr::null_mut(); FOLD_BATCH];
        let mut from = [std::ptr::null(); FOLD_BATCH];
        let slots = self.slots.as_mut_slice();
        for (i, &(at, state)) in pairs.iter().enumerate() {
            let slot = slots[at];
            let store = self.tables[table_of(&slot)].store();
            let state_there = &raw mut slots[at].state;
            into[i] = if store.wide_bytes > 0 { store.states.ptr(slot.state) } else { state_there.cast() };
            from[i] = state;
        }
        folder.merge(&into[..pairs.len()], &from[..pairs.len()])
    }
}
