//! The table of one worker, with one state per key: it folds batches of records until its memory is used up.

use std::sync::Arc;

use super::arena::Arena;
use super::batch::{Batch, Share, Values, outside};
use super::hash::Hasher;
use super::probe::{RANGE_BITS, Store, identity};
use super::slot::{Slots, bytes_of};
use crate::bytes::RecordBytes;
use crate::memory::Budget;
use crate::operator::cursor::{HEADER_BYTES, RefEntry};
use crate::operator::folder::{FOLD_BATCH, FoldShape, Folder, KnownFold};
use yunti_base::{Code, Error, Result};

/// Progress of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct FoldProgress {
    /// Entries that were folded (form COPY: bytes of the block). Fewer than given: the table is full. Drain it and go
    /// on with the rest. A drained table always takes at least one entry, or fails with an error that it never will.
    pub done: usize,
}

/// log2 of the slots of a new table: a cache's size, so that few keys cost nothing. Debug builds use few, so that tests
/// see growth.
const FIRST_LOG2: u32 = if cfg!(debug_assertions) { 2 } else { 13 };
/// log2 of the slots up to which a table grows by four.
const SMALL_LOG2: u32 = 18;
const LOG2_MAX: u32 = 31;

/// Use of records whose slots are found.
pub(super) enum RecordUse<'f> {
    Fold(&'f mut dyn Folder),
    /// Values are states, to be merged.
    Merge(&'f mut dyn Folder),
    /// The table numbers its keys; the sink gets the records with these numbers.
    Number(&'f mut dyn GroupSink),
}

/// Takes records with the numbers of their keys.
pub(super) trait GroupSink {
    fn take(&mut self, numbers: &[u32], batch: &Batch, data: &[u8]);
}

/// One state per key. Keys are bytes; states have the shape of a folder.
pub struct FoldTable {
    store: Store,
    hasher: Hasher,
    known: Option<KnownFold>,
    eight: bool,
    state_bytes: usize,
    budget: Arc<Budget>,
    /// Two batches: one is hashed and its homes prefetched while the one before is folded.
    batches: Option<Box<[Batch; 2]>>,
    records: u64,
    bytes: RecordBytes,
}

/// Returns the keys that a table of this size holds: at 5/8, nearly all keys are in their home line.
fn limit(log2: u32) -> usize {
    (1usize << log2) * 5 / 8
}

impl FoldTable {
    /// Returns an empty table in which a key's state is the number of keys before it.
    pub(super) fn numbering(eight: bool, seed: u64, budget: &Arc<Budget>) -> Result<FoldTable> {
        let mut table = FoldTable::new(FoldShape { state_bytes: 8, known: None, exact: true, eight }, seed, budget)?;
        table.store.numbering = true;
        Ok(table)
    }

    /// Returns an empty table. Tables that are to be merged have the same seed. Fails with `Code::Memory` if the budget
    /// is too small.
    pub fn new(shape: FoldShape, seed: u64, budget: &Arc<Budget>) -> Result<FoldTable> {
        let Some(slots) = Slots::try_new(FIRST_LOG2, budget)? else {
            return Err(budget.too_small(bytes_of(FIRST_LOG2), "a table of states"));
        };
        let wide = shape.known.is_none() && shape.state_bytes > 8;
        let hasher = Hasher::new(seed);
        Ok(FoldTable {
            store: Store {
                slots,
                keys: Arena::new(budget.clone()),
                states: Arena::new(budget.clone()),
                wide_bytes: if wide { shape.state_bytes.next_multiple_of(8) } else { 0 },
                first: shape.known.map_or(0, identity),
                numbering: false,
                used: 0,
                level: hasher.level(),
                counts: Box::new([0; 1 << RANGE_BITS]),
            },
            hasher,
            known: shape.known,
            eight: shape.eight,
            state_bytes: shape.state_bytes,
            budget: budget.clone(),
            batches: None,
            records: 0,
            bytes: RecordBytes::default(),
        })
    }

    /// Returns true if the table has keys and more memory than its users should keep to.
    pub fn is_over(&self) -> bool {
        !self.is_empty() && self.budget.is_reduced() && self.budget.used_bytes() > self.budget.target_bytes()
    }

    /// Returns the number of records taken so far, drained ones included.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Returns the bytes of these records.
    pub fn bytes(&self) -> RecordBytes {
        self.bytes
    }

    /// Returns the number of keys in the table.
    pub fn len(&self) -> usize {
        self.store.used
    }
    /// Returns true if the table has no keys.
    pub fn is_empty(&self) -> bool {
        self.store.used == 0
    }

    /// Folds entries of form ONE: keys are slices of `data`, each value is the number 1.
    ///
    /// Fails with `Code::UserCode` if an entry is outside of `data`.
    pub fn fold_one(&mut self, folder: &mut dyn Folder, data: &[u8], entries: &[[u32; 2]]) -> Result<FoldProgress> {
        self.ones(RecordUse::Fold(folder), data, entries)
    }

    /// Folds entries of form REF: keys are slices of `data`, values are numbers. Fails as `fold_one` does.
    pub fn fold_ref(&mut self, folder: &mut dyn Folder, data: &[u8], entries: &[RefEntry]) -> Result<FoldProgress> {
        self.references(RecordUse::Fold(folder), data, entries)
    }

    /// Folds a block of form COPY of less than 4 GiB; `done` counts bytes.
    ///
    /// Fails with `Code::UserCode` if a record exceeds the block or a value has the wrong length.
    pub fn fold_copied(&mut self, folder: &mut dyn Folder, block: &[u8]) -> Result<FoldProgress> {
        self.copied(RecordUse::Fold(folder), block)
    }

    /// Merges spilled states. Each entry has the offset and length of the key, then of the state, in `data`. Only keys
    /// in `share` are taken; no key occurs twice.
    ///
    /// Returns false if the table is full; it then holds some of the states.
    pub fn merge_states(
        &mut self,
        folder: &mut dyn Folder,
        data: &[u8],
        entries: &[[[u32; 2]; 2]],
        share: Share,
    ) -> Result<bool> {
        for some in entries.chunks(FOLD_BATCH) {
            if self.merge_batch(folder, data, some, share)? > 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// `merge_states` for at most `FOLD_BATCH` states of all keys. Returns the number of states that it merged, from
    /// the first on. Fewer than given: the table is full.
    pub fn merge_some(&mut self, folder: &mut dyn Folder, data: &[u8], entries: &[[[u32; 2]; 2]]) -> Result<usize> {
        Ok(entries.len() - self.merge_batch(folder, data, entries, Share::ALL)?)
    }

    /// Merges a batch of states; returns the number of those left, which are the last.
    fn merge_batch(
        &mut self,
        folder: &mut dyn Folder,
        data: &[u8],
        entries: &[[[u32; 2]; 2]],
        share: Share,
    ) -> Result<usize> {
        let mut batches = self.take_batches();
        let batch = &mut batches[0];
        batch.n = entries.len();
        batch.values = Values::Spans;
        for (i, &[key, state]) in entries.iter().enumerate() {
            if state[1] as usize != self.state_bytes {
                return Err(Error::new(Code::Internal, "a spilled state has the wrong length"));
            }
            (batch.spans[i], batch.value_spans[i]) = (key, state);
        }
        self.hash(batch, data)?;
        if share != Share::ALL {
            batch.retain(share);
        }
        let all = self.settle(&mut RecordUse::Merge(folder), batch, data)?;
        let left = if all { 0 } else { batch.n };
        self.batches = Some(batches);
        Ok(left)
    }

    pub(super) fn ones(
        &mut self,
        record_use: RecordUse<'_>,
        data: &[u8],
        entries: &[[u32; 2]],
    ) -> Result<FoldProgress> {
        let mut next = 0;
        let left = self.run(record_use, data, |batch| {
            let n = (entries.len() - next).min(FOLD_BATCH);
            batch.set_ones(&entries[next..next + n]);
            next += n;
            Ok(())
        })?;
        Ok(FoldProgress { done: next - left.records })
    }

    pub(super) fn references(
        &mut self,
        record_use: RecordUse<'_>,
        data: &[u8],
        entries: &[RefEntry],
    ) -> Result<FoldProgress> {
        let mut next = 0;
        let left = self.run(record_use, data, |batch| {
            let n = (entries.len() - next).min(FOLD_BATCH);
            batch.n = n;
            batch.values = Values::Numbers;
            for (i, entry) in entries[next..next + n].iter().enumerate() {
                batch.spans[i] = [entry.koff, entry.klen];
                batch.numbers[i] = entry.value;
            }
            next += n;
            Ok(())
        })?;
        Ok(FoldProgress { done: next - left.records })
    }

    pub(super) fn copied(&mut self, record_use: RecordUse<'_>, block: &[u8]) -> Result<FoldProgress> {
        let takes = match self.known {
            Some(KnownFold::Count) => ValueUse::Nothing,
            _ if self.eight => ValueUse::Numbers,
            _ => ValueUse::Slices,
        };
        let mut next = 0;
        let left = self.run(record_use, block, |batch| {
            next = match takes {
                // Spans are for the count of bytes.
                ValueUse::Nothing | ValueUse::Slices => take_copied(batch, block, next, |batch, i, span| {
                    batch.value_spans[i] = span;
                    Ok(())
                })?,
                ValueUse::Numbers => take_copied(batch, block, next, |batch, i, span| {
                    batch.numbers[i] = number(block, span)?;
                    Ok(())
                })?,
            };
            batch.values = if takes == ValueUse::Numbers { Values::Numbers } else { Values::Spans };
            Ok(())
        })?;
        Ok(FoldProgress { done: if left.records > 0 { left.key_offset as usize - HEADER_BYTES } else { next } })
    }

    /// Folds the batches of `fill` until it gives an empty one or the table is full.
    fn run(
        &mut self,
        mut record_use: RecordUse<'_>,
        data: &[u8],
        mut fill: impl FnMut(&mut Batch) -> Result<()>,
    ) -> Result<Remainder> {
        let mut batches = self.take_batches();
        let [mut fresh, mut hashed] = batches.each_mut();
        hashed.n = 0;
        let left = loop {
            fill(fresh)?;
            self.hash(fresh, data)?;
            if !self.settle(&mut record_use, hashed, data)? {
                break Remainder { records: hashed.n + fresh.n, key_offset: hashed.spans[0][0] };
            }
            if fresh.n == 0 {
                break Remainder { records: 0, key_offset: 0 };
            }
            std::mem::swap(&mut fresh, &mut hashed);
        };
        self.batches = Some(batches);
        Ok(left)
    }

    fn take_batches(&mut self) -> Box<[Batch; 2]> {
        self.batches.take().unwrap_or_else(|| Box::new([Batch::new(), Batch::new()]))
    }

    pub(super) fn hash(&self, batch: &mut Batch, data: &[u8]) -> Result<()> {
        batch.hash(data, &self.hasher, &self.store.slots)
    }

    /// Folds a hashed batch; returns false, with the rest in the batch, if the table is full.
    fn settle(&mut self, record_use: &mut RecordUse<'_>, batch: &mut Batch, data: &[u8]) -> Result<bool> {
        while batch.n > 0 {
            let n = self.make_room(batch, data)?;
            if n == 0 {
                return Ok(false);
            }
            batch.move_to(&self.store.slots);
            match (&mut *record_use, self.known) {
                (RecordUse::Fold(_), Some(known)) => self.store.fold_known(known, batch, n, data),
                (RecordUse::Fold(folder), None) => self.store.fold_user(*folder, self.eight, batch, n, data)?,
                (RecordUse::Merge(_), Some(known)) => self.store.merge_known(known, batch, n, data),
                (RecordUse::Merge(folder), None) => self.store.merge_user(*folder, batch, n, data)?,
                (RecordUse::Number(taker), _) => taker.take(&self.store.numbers(batch, n, data)[..n], batch, data),
            }
            self.records += n as u64;
            self.bytes += batch.bytes(n);
            if n < batch.n { batch.skip(n) } else { batch.n = 0 }
        }
        Ok(true)
    }

    /// Returns the number of records of a batch that fit even if all their keys are new. 0: drain the table.
    #[inline]
    fn make_room(&mut self, batch: &Batch, data: &[u8]) -> Result<usize> {
        let store = &self.store;
        if store.used + batch.n <= limit(store.slots.log2())
            && store.keys.has_room(batch.long_bytes)
            && store.states.has_room(batch.n * store.wide_bytes)
        {
            return Ok(batch.n);
        }
        self.make_room_slowly(batch, data)
    }

    #[cold]
    fn make_room_slowly(&mut self, batch: &Batch, data: &[u8]) -> Result<usize> {
        let mut n = batch.n;
        while !self.room_for(batch, n, data)? {
            if !self.is_empty() {
                return Ok(0);
            }
            // An empty table must take at least one record.
            n /= 2;
            if n == 0 {
                let key_bytes = u64::from(batch.spans[0][1]);
                return Err(self.budget.too_small(
                    bytes_of(self.store.slots.log2() + 1) + key_bytes + self.store.wide_bytes as u64,
                    "a table of states",
                ));
            }
        }
        Ok(n)
    }

    fn room_for(&mut self, batch: &Batch, n: usize, data: &[u8]) -> Result<bool> {
        while self.store.used + n > limit(self.store.slots.log2()) {
            if !self.grow()? {
                return Ok(false);
            }
        }
        if !self.store.states.reserve(n * self.store.wide_bytes)? {
            return Ok(false);
        }
        if self.store.keys.has_room(batch.long_bytes) {
            return Ok(true);
        }
        // Only keys that are not in the table yet.
        let is_new = |i: &usize| self.store.find(&batch.keys[*i], batch.spans[*i], data).is_none();
        let long = (0..n).filter(|&i| batch.keys[i].is_long());
        let needed = long.filter(is_new).map(|i| batch.spans[i][1] as usize).sum();
        self.store.keys.reserve(needed)
    }

    /// Doubles the slots; returns false if the budget has too little.
    fn grow(&mut self) -> Result<bool> {
        let old = self.store.slots.log2();
        let steps = if old <= SMALL_LOG2 && !cfg!(debug_assertions) { [2, 1] } else { [1, 1] };
        for step in steps {
            if old + step > LOG2_MAX {
                return Ok(false);
            }
            if let Some(mut slots) = Slots::try_new(old + step, &self.budget)? {
                // Both arrays are in the order of the hashes: two sequential passes.
                for slot in self.store.slots.as_slice() {
                    if !slot.is_empty() {
                        slots.put_new(slot);
                    }
                }
                self.store.slots = slots;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Calls `each` with all keys and their states, at most 64 at a time, in no order.
    pub fn for_each_batch(&self, mut each: impl FnMut(&[&[u8]], &[*const u8]) -> Result<()>) -> Result<()> {
        let mut out = StateBatch::default();
        for slot in self.store.slots.as_slice() {
            if !slot.is_empty() {
                out.push(self.store.key_of(slot), self.store.state_of(slot), &mut each)?;
            }
        }
        out.flush(&mut each)
    }

    /// `for_each_batch`, then empties the table. It keeps its slots and returns the rest of its memory to the budget.
    pub fn drain(&mut self, each: impl FnMut(&[&[u8]], &[*const u8]) -> Result<()>) -> Result<()> {
        self.for_each_batch(each)?;
        self.clear();
        Ok(())
    }

    /// Removes all keys. The table keeps its slots and returns the rest of its memory to the budget.
    pub fn clear(&mut self) {
        if self.store.used > 0 {
            self.store.slots.clear();
        }
        self.store.keys.clear();
        self.store.states.clear();
        self.store.used = 0;
        self.store.counts.fill(0);
    }

    /// Returns the memory of an empty table to the budget, except the slots of a new table.
    pub fn shrink(&mut self) -> Result<()> {
        if self.is_empty()
            && self.store.slots.log2() > FIRST_LOG2
            && let Some(slots) = Slots::try_new(FIRST_LOG2, &self.budget)?
        {
            self.store.slots = slots;
        }
        Ok(())
    }

    /// Gives an empty table twice the slots, if the budget has them after the old slots are gone.
    pub fn enlarge(&mut self) -> Result<()> {
        let log2 = self.store.slots.log2();
        let more = bytes_of(log2 + 1) - bytes_of(log2);
        if !self.is_empty() || log2 == LOG2_MAX || self.budget.free_bytes() < more {
            return Ok(());
        }
        let Some(least) = Slots::try_new(1, &self.budget)? else { return Ok(()) };
        self.store.slots = least;
        for log2 in [log2 + 1, log2] {
            if let Some(slots) = Slots::try_new(log2, &self.budget)? {
                self.store.slots = slots;
                break;
            }
        }
        Ok(())
    }

    pub(super) fn state_bytes(&self) -> usize {
        self.state_bytes
    }

    pub(super) fn known(&self) -> Option<KnownFold> {
        self.known
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    #[cfg(test)]
    pub(super) fn weaken_hash(&mut self, order_mask: u32) {
        self.hasher.order_mask = order_mask;
    }
}

/// Records in batches that were not folded.
struct Remainder {
    records: usize,
    /// Offset of the first record's key.
    key_offset: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueUse {
    Nothing,
    Numbers,
    Slices,
}

/// Fills a batch with records of a block of form COPY, from `at` on; returns the offset of the next record. `value`
/// gets each record's number in the batch, and the offset and length of its value.
#[inline(always)]
fn take_copied(
    batch: &mut Batch,
    block: &[u8],
    mut at: usize,
    mut value: impl FnMut(&mut Batch, usize, [u32; 2]) -> Result<()>,
) -> Result<usize> {
    batch.n = 0;
    if block.len() > u32::MAX as usize {
        return Err(outside(block.len() as u64, u32::MAX as usize));
    }
    while batch.n < FOLD_BATCH && at < block.len() {
        let Some(header) = block[at..].first_chunk::<HEADER_BYTES>() else {
            return Err(outside((at + HEADER_BYTES) as u64, block.len()));
        };
        let header = u64::from_le_bytes(*header);
        let (klen, vlen) = (header as u32, (header >> 32) as u32);
        let key_at = at + HEADER_BYTES;
        let value_at = key_at + klen as usize;
        let end = value_at + vlen as usize;
        if end > block.len() {
            return Err(outside(end as u64, block.len()));
        }
        let i = batch.n;
        batch.spans[i] = [key_at as u32, klen];
        value(batch, i, [value_at as u32, vlen])?;
        batch.n += 1;
        at = end.next_multiple_of(8);
    }
    Ok(at)
}

#[inline(always)]
fn number(block: &[u8], [offset, len]: [u32; 2]) -> Result<u64> {
    match block[offset as usize..].first_chunk::<8>() {
        Some(bytes) if len == 8 => Ok(u64::from_le_bytes(*bytes)),
        _ => Err(Error::new(Code::UserCode, format!("a value of {len} bytes was emitted"))
            .hint("this folder takes numbers of eight bytes")),
    }
}

/// Keys and states passed on together.
pub(super) struct StateBatch<'t> {
    n: usize,
    keys: [&'t [u8]; FOLD_BATCH],
    states: [*const u8; FOLD_BATCH],
}

impl Default for StateBatch<'_> {
    fn default() -> Self {
        StateBatch { n: 0, keys: [&[]; FOLD_BATCH], states: [std::ptr::null(); FOLD_BATCH] }
    }
}

impl<'t> StateBatch<'t> {
    #[inline]
    /// Adds a key and its state; passes a full batch to `each`.
    pub fn push(
        &mut self,
        key: &'t [u8],
        state: *const u8,
        each: &mut impl FnMut(&[&[u8]], &[*const u8]) -> Result<()>,
    ) -> Result<()> {
        self.keys[self.n] = key;
        self.states[self.n] = state;
        self.n += 1;
        if self.n == FOLD_BATCH { self.flush(each) } else { Ok(()) }
    }

    /// Passes the batch to `each`.
    pub fn flush(&mut self, each: &mut impl FnMut(&[&[u8]], &[*const u8]) -> Result<()>) -> Result<()> {
        let n = std::mem::take(&mut self.n);
        if n > 0 { each(&self.keys[..n], &self.states[..n]) } else { Ok(()) }
    }
}
