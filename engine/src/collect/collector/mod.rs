//! The collector: the sink that keeps a worker's emitted records where the mapper wrote them, and indexes them by
//! entries.
//!
//! ```text
//!   mapper --cursor--> block | block | block ..      records, in the order of emission
//!                        \ filled: walk the headers while the block is in cache
//!                         entry block | entry block ..      or, if the input was sampled, chains by bucket
//! ```
//!
//! Where keys repeat, the mapper writes into a block that is used again and again, and its records go on as bundles:
//! fewer bytes, fewer entries (`staging.rs`).
//!
//! A full budget, or a used-up share of the worker, makes `Spill` sort the records into a run. The blocks are then
//! reused.

mod collected;
mod staging;
mod walk;

use std::sync::Arc;

pub use self::collected::{CollectedRecords, Spill};
use self::staging::Staging;
use self::walk::Walk;
use super::chains::{BATCH, Chains};
use super::entries::{Entry, EntryBlock};
use super::partition::Partition;
use super::routes::Routes;
use super::store::{Layout, STUB, Store};
use crate::bytes::{KeyOrder, RecordBytes};
use crate::memory::Block;
use crate::memory::buffer::SLACK_BYTES;
use crate::memory::pool::UNIT_BYTES;
use crate::operator::cursor::{HEADER_BYTES, LARGE_BYTES, copied};
use crate::operator::types::wrong_length;
use crate::operator::{Sink, Type};
use yunti_base::{Code, Error, Result};

/// Blocks that a worker may hold, at least, however little memory the job should keep to.
const BLOCKS_LEAST: usize = 8;

/// The records of one worker, and the `Spill` for a full memory.
pub struct Collector<'a> {
    store: Arc<Store>,
    order: KeyOrder,
    partition: Partition,
    routes: Option<Arc<Routes>>,
    spill: Box<dyn Spill + 'a>,
    collected: CollectedRecords,
    staging: Staging,
    /// Bytes used of the block being filled (the last of `collected.blocks`).
    used: usize,
    split: u32,
    /// Blocks of this split so far.
    number: u32,
    /// Blocks that this worker may hold.
    blocks_max: usize,
    /// Bytes that it may fill, and true once spills beside it have a half of them.
    share_bytes: u64,
    is_sharing: bool,
    /// Types of the records' keys and values.
    types: (Type, Type),
    scratch: Vec<u8>,
    /// Records over all splits, for the counters.
    pub records: u64,
    /// Bytes of keys and values over all splits, for the counters.
    pub bytes: RecordBytes,
}

/// Returns the blocks of a share; the last entry block, with the memory to sort it, may come on top.
fn blocks_of(store: &Store, share_bytes: u64) -> usize {
    (share_bytes as usize / store.pool().block_bytes()).saturating_sub(3).max(4)
}

impl<'a> Collector<'a> {
    /// `share_bytes` is the part of the budget that this worker may fill before it spills. `types` are the types of the
    /// records' keys and values. `routes` lead to the buckets, if they are known; all collectors of a job have the
    /// same.
    pub fn new(
        store: Arc<Store>,
        types: (Type, Type),
        partition: Partition,
        routes: Option<Arc<Routes>>,
        spill: Box<dyn Spill + 'a>,
        share_bytes: u64,
    ) -> Collector<'a> {
        let order = store.order();
        let blocks_max = blocks_of(&store, share_bytes);
        Collector {
            store,
            order,
            partition,
            routes,
            spill,
            collected: CollectedRecords::default(),
            staging: Staging::default(),
            used: usize::MAX,
            split: 0,
            number: 0,
            blocks_max,
            share_bytes,
            is_sharing: false,
            types,
            scratch: Vec::new(),
            records: 0,
            bytes: RecordBytes::default(),
        }
    }

    /// Changes the worker's share of the budget.
    pub fn set_share(&mut self, bytes: u64) {
        self.blocks_max = blocks_of(&self.store, bytes);
    }

    /// Starts a split: later records belong to it.
    pub fn begin_split(&mut self, split: u32) {
        self.split = split;
        self.number = 0;
        if self.used == 0
            && let Some(block) = self.collected.blocks.last()
        {
            self.store.set_tag(block, split, 0);
            self.number = 1;
        } else {
            // A block belongs to one split, whose number breaks ties.
            self.used = usize::MAX;
        }
    }

    /// Returns the collected records.
    pub fn into_collected(mut self) -> CollectedRecords {
        self.staging.release(&self.store);
        self.collected
    }

    /// Returns the memory of this worker in blocks: records, large records, entries, and the memory for sorting the
    /// entries.
    fn held(&self) -> usize {
        let chained: usize = self.collected.chains.iter().map(Chains::blocks).sum();
        let large_blocks = self.collected.large_bytes.div_ceil(self.store.pool().block_bytes() as u64) as usize;
        self.collected.blocks.len()
            + self.collected.entries.len() * 3 / 2
            + chained * 2
            + large_blocks
            + self.staging.blocks()
    }

    /// Returns the blocks that this worker may hold now.
    fn blocks_allowed(&self) -> usize {
        let allowed = self.store.budget().allowed(self.blocks_max as u64) as usize;
        allowed.max(BLOCKS_LEAST.min(self.blocks_max))
    }

    fn room_of(&self) -> usize {
        self.store.pool().block_bytes() - SLACK_BYTES
    }

    /// Returns room for the cursor with at least `need` bytes.
    fn give(&mut self, need: usize) -> Result<(*mut u8, usize)> {
        if self.stages()? { Ok((self.staging.ptr(&self.store), self.room_of())) } else { self.give_direct(need) }
    }

    /// `give` in the block where the records stay.
    fn give_direct(&mut self, need: usize) -> Result<(*mut u8, usize)> {
        let room = self.room_of();
        debug_assert!(need <= room);
        // A remainder too small for most records would come back at once.
        if self.used > room || room - self.used < need.max(1024) {
            let block = self.block()?;
            self.store.set_tag(&block, self.split, self.number);
            self.number += 1;
            self.collected.blocks.push(block);
            self.used = 0;
        }
        let block = &self.collected.blocks[self.collected.blocks.len() - 1];
        Ok((self.store.pool().block_ptr(block).wrapping_add(self.used), room - self.used))
    }

    /// Returns a pool block, after a spill if none is free.
    fn block(&mut self) -> Result<Block> {
        if self.held() < self.blocks_allowed()
            && let Some(block) = self.store.pool().try_block()
        {
            return Ok(block);
        }
        self.spill_all()?;
        loop {
            if let Some(block) = self.store.pool().try_block() {
                return Ok(block);
            }
            if !self.spill.wait()? {
                return Err(self.too_small());
            }
        }
    }

    fn too_small(&self) -> Error {
        self.store.budget().too_small(2 * self.store.pool().block_bytes() as u64, "collecting records")
    }

    fn spill_all(&mut self) -> Result<()> {
        if self.collected.records > 0 {
            self.spill.spill(&self.store, &mut self.collected)?;
            if self.spill.shares_memory() && !std::mem::replace(&mut self.is_sharing, true) {
                self.set_share(self.share_bytes / 2);
            }
        }
        self.collected.release(&self.store);
        self.used = usize::MAX;
        if self.store.budget().is_reduced() {
            // Others need the memory now.
            self.store.pool().shrink();
        }
        Ok(())
    }

    /// Makes room for entries and returns their number; None if there is no memory.
    fn entry_room(&mut self) -> Option<usize> {
        let pool = self.store.pool();
        let capacity = match &self.routes {
            Some(routes) => {
                let CollectedRecords { chains, .. } = &mut self.collected;
                if chains.is_empty() {
                    chains.push(Chains::new(routes.clone()));
                }
                if chains[0].room() > 0 {
                    return Some(chains[0].room());
                }
                Chains::capacity(pool)
            }
            None => match self.collected.entries.last() {
                Some(last) if last.len() < EntryBlock::capacity(pool) => {
                    return Some(EntryBlock::capacity(pool) - last.len());
                }
                _ => EntryBlock::capacity(pool),
            },
        };
        if self.held() > self.blocks_allowed() {
            return None;
        }
        let grant = self.store.budget().try_grant(super::Buckets::memory_bytes(capacity as u64))?;
        let block = pool.try_block()?;
        self.collected.grants.push(grant);
        match self.collected.chains.first_mut() {
            Some(chains) => chains.extend(block, pool),
            None => self.collected.entries.push(EntryBlock::new(block)),
        }
        Some(match self.collected.chains.first() {
            Some(chains) => chains.room(),
            None => capacity,
        })
    }

    /// Takes the `len` bytes of records that the cursor wrote.
    fn index(&mut self, len: usize) -> Result<()> {
        if len == 0 {
            return Ok(());
        }
        if self.staging.is_open() {
            return self.index_staged(len);
        }
        let store = self.store.clone();
        let Some(block) = self.collected.blocks.last_mut() else { return Ok(()) };
        let bytes = &store.pool().bytes_mut(block)[self.used..self.used + len];
        self.partition.choose(bytes, copied(bytes))?;
        self.index_chosen(len)
    }

    /// Indexes the `len` bytes of records, bundles or a stub from `used` on. Their partitions are chosen.
    fn index_chosen(&mut self, len: usize) -> Result<()> {
        let store = self.store.clone();
        let pool = store.pool();
        let start = self.used;
        let Some(last) = self.collected.blocks.len().checked_sub(1) else { return Ok(()) };
        let (mut at, end) = (start, start + len);
        let mut number = 0;
        while at < end {
            let Some(room) = self.entry_room() else {
                // Records before `at` are indexed and can be spilled. The rest moves to a fresh block.
                self.partition.pass(number);
                return self.index_after_spill(at, end, Self::index_chosen);
            };
            let walk = Walk {
                store: &store,
                order: self.order,
                types: self.types,
                partition: &self.partition,
                scratch: &mut self.scratch,
                place: pool.place(&self.collected.blocks[last], 0),
                number,
            };
            let bytes = &mut pool.bytes_mut(&mut self.collected.blocks[last])[..end];
            let walked = match (self.collected.chains.first_mut(), self.collected.entries.last_mut()) {
                (Some(chains), _) => {
                    let batch = chains.batch();
                    let walked = walk.entries(bytes, at, room.min(BATCH), |i, entry| batch[i] = entry)?;
                    chains.add(walked.entries, pool);
                    walked
                }
                (None, Some(entries)) => {
                    let free = entries.free(pool);
                    let walked = walk.entries(bytes, at, room, |i, entry| free[i] = entry)?;
                    entries.add_len(walked.entries, pool);
                    walked
                }
                (None, None) => return Ok(()),
            };
            at = walked.at;
            number += walked.entries;
            self.count(walked.records, walked.bytes);
        }
        self.partition.pass(number);
        self.used = end;
        Ok(())
    }

    /// Takes `len` bytes of records with headers, each padded to 8 bytes, and the partition of each. `fill` writes the
    /// bytes.
    ///
    /// Callers use it for batches that they prepared in their own memory. Fails with `Code::Internal` if the batch is
    /// larger than a block, and with the error of `fill` or of a spill.
    pub fn put(&mut self, len: usize, partitions: &[u32], fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        if len == 0 {
            return Ok(());
        }
        if len > self.room_of() {
            return Err(Error::new(Code::Internal, format!("a batch of {len} bytes is larger than a block")));
        }
        self.partition.give(partitions)?;
        self.give(len)?;
        let store = self.store.clone();
        match self.staging.bytes_mut(&store) {
            Some(staged) => fill(&mut staged[..len])?,
            None => {
                let last = self.collected.blocks.len() - 1;
                fill(&mut store.pool().bytes_mut(&mut self.collected.blocks[last])[self.used..self.used + len])?;
            }
        }
        self.index(len)
    }

    /// Takes one large record. Fails with `Code::Memory` if the budget is too small for it.
    pub fn put_large(&mut self, key: &[u8], value: &[u8], partition: u32) -> Result<()> {
        self.partition.give(&[partition])?;
        self.large(key, value).map(drop)
    }

    /// `put_large` for a collector with given partitions: `fill` writes the key and then the value where they stay.
    pub fn fill_large(
        &mut self,
        key_len: usize,
        value_len: usize,
        partition: u32,
        mut fill: impl FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        self.partition.give(&[partition])?;
        while !self.try_put_large(key_len, key_len + value_len, &mut fill)? {
            self.make_room_for_large(key_len + value_len)?;
        }
        Ok(())
    }

    /// Frees memory by a spill of this collector, then by one that runs in the background.
    fn make_room_for_large(&mut self, len: usize) -> Result<()> {
        if self.collected.records > 0 {
            self.spill_all()?;
        } else if !self.spill.wait()? {
            return Err(self.store.budget().too_small(len as u64, "a record larger than a block"));
        }
        Ok(())
    }

    /// Spills all records, so that the budget is free for another use.
    pub fn spill(&mut self) -> Result<()> {
        self.spill_all()?;
        self.store.pool().shrink();
        Ok(())
    }

    /// Spills the records of finished splits. Their memory stays with this worker.
    pub fn spill_splits(&mut self) -> Result<()> {
        self.spill_all()
    }

    /// Returns the memory of the records in bytes, and the memory that they may take before they are spilled.
    pub fn fill(&self) -> (u64, u64) {
        let bytes = |blocks: usize| (blocks * self.store.pool().block_bytes()) as u64;
        (bytes(self.held()), bytes(self.blocks_allowed()))
    }

    fn count(&mut self, records: usize, bytes: RecordBytes) {
        self.collected.records += records as u64;
        self.collected.bytes += bytes.content;
        self.records += records as u64;
        self.bytes += bytes;
    }

    /// Reads records of the store's fixed layout into a block. `fill` gets the room and returns the bytes of whole
    /// records that it wrote; 0 ends the input.
    ///
    /// Returns the bytes written. Fails with `Code::Internal` if the store has headers.
    pub fn fill_fixed(&mut self, fill: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<usize> {
        let Layout::Fixed { record_bytes, .. } = self.store.layout() else {
            return Err(Error::new(Code::Internal, "records without headers in a store with headers"));
        };
        let record_bytes = record_bytes as usize;
        self.give_direct(record_bytes)?;
        let store = self.store.clone();
        let room = (self.room_of() - self.used) / record_bytes * record_bytes;
        let last = self.collected.blocks.len() - 1;
        let (from, to) = (self.used, self.used + room);
        let len = fill(&mut store.pool().bytes_mut(&mut self.collected.blocks[last])[from..to])?;
        debug_assert!(len.is_multiple_of(record_bytes));
        self.index_fixed(len)?;
        Ok(len)
    }

    /// `index` for records of the store's fixed layout.
    fn index_fixed(&mut self, len: usize) -> Result<()> {
        let Layout::Fixed { key_bytes, record_bytes } = self.store.layout() else { return Ok(()) };
        let (key_bytes, record_bytes) = (key_bytes as usize, record_bytes as usize);
        let store = self.store.clone();
        let pool = store.pool();
        let (mut at, end) = (self.used, self.used + len);
        while at < end {
            let Some(room) = self.entry_room() else {
                return self.index_after_spill(at, end, Self::index_fixed);
            };
            let Some(block) = self.collected.blocks.last_mut() else { return Ok(()) };
            let mut place = pool.place(block, at);
            let n = room.min((end - at) / record_bytes);
            // Chains take a batch at a time.
            let n = if self.routes.is_some() { n.min(BATCH) } else { n };
            let records = pool.bytes_mut(block)[at..at + n * record_bytes].chunks_exact(record_bytes);
            let records = records.map(|record| {
                let own = place;
                place += (record_bytes / UNIT_BYTES) as u64;
                (&record[..key_bytes], own)
            });
            put_entries(&mut self.collected.chains, &mut self.collected.entries, &store, &self.partition, records);
            at += n * record_bytes;
            self.count(n, RecordBytes::of_equal(n, key_bytes, record_bytes - key_bytes));
        }
        self.used = end;
        Ok(())
    }

    /// Indexes records of mapped files. `bytes` are whole records at the offset `at` of the files; lines come with
    /// their offsets and lengths in `bytes`.
    ///
    /// Fails with `Code::Internal` if the store has no mapped files, and with the error of a spill.
    pub fn index_mapped(&mut self, at: usize, bytes: &[u8], offsets: &[u32], lengths: &[u32]) -> Result<()> {
        let store = self.store.clone();
        match store.layout() {
            Layout::MappedFixed { record_bytes, key_bytes } => {
                let (record_bytes, key_bytes) = (record_bytes as usize, key_bytes as usize);
                self.index_places(bytes.len() / record_bytes, |own, from, n| {
                    let first = from * record_bytes;
                    let records = bytes[first..first + n * record_bytes].chunks_exact(record_bytes).enumerate();
                    let records = records.map(|(i, record)| {
                        (&record[..key_bytes], store.mapped_place(at + first + i * record_bytes, record_bytes))
                    });
                    put_entries(&mut own.collected.chains, &mut own.collected.entries, &store, &own.partition, records);
                    RecordBytes::of_equal(n, key_bytes, record_bytes - key_bytes)
                })
            }
            Layout::MappedLines { .. } => self.index_places(offsets.len(), |own, from, n| {
                let lines = offsets[from..from + n].iter().zip(&lengths[from..from + n]);
                let records = lines.clone().map(|(&offset, &len)| {
                    let (offset, len) = (offset as usize, len as usize);
                    (&bytes[offset..offset + len], store.mapped_place(at + offset, len))
                });
                put_entries(&mut own.collected.chains, &mut own.collected.entries, &store, &own.partition, records);
                let mut bytes = RecordBytes::default();
                lines.for_each(|(_, &len)| bytes.add(len as usize, 0));
                bytes
            }),
            _ => Err(Error::new(Code::Internal, "records of mapped files in a store without them")),
        }
    }

    /// Makes entries for `count` records that need no block. `put` gets the number of the first record and how many
    /// have room, and returns their bytes.
    fn index_places(&mut self, count: usize, put: impl Fn(&mut Self, usize, usize) -> RecordBytes) -> Result<()> {
        let mut done = 0;
        while done < count {
            let Some(room) = self.entry_room() else {
                // With nothing to spill, memory can only come back from a spill that runs beside this thread.
                if self.collected.records == 0 && !self.spill.wait()? {
                    return Err(self.too_small());
                }
                self.spill_all()?;
                continue;
            };
            let n = room.min(count - done);
            // Chains take a batch at a time.
            let n = if self.routes.is_some() { n.min(BATCH) } else { n };
            let bytes = put(self, done, n);
            self.count(n, bytes);
            done += n;
        }
        Ok(())
    }

    /// Without memory for entries: saves the records of [at, end), spills all records before them, and indexes them
    /// again.
    ///
    /// A stub never gets here: `try_put_large` makes room for its entry first.
    #[cold]
    fn index_after_spill(
        &mut self,
        at: usize,
        end: usize,
        again: impl FnOnce(&mut Self, usize) -> Result<()>,
    ) -> Result<()> {
        let store = self.store.clone();
        let Some(last) = self.collected.blocks.len().checked_sub(1) else { return Ok(()) };
        let rest = store.pool().bytes_mut(&mut self.collected.blocks[last])[at..end].to_vec();
        // With nothing to spill, memory can only come back from a spill that runs beside this thread.
        if self.collected.records == 0 && !self.spill.wait()? {
            return Err(self.too_small());
        }
        self.spill_all()?;
        self.give_direct(rest.len())?;
        let at = self.used;
        let last = self.collected.blocks.len() - 1;
        store.pool().bytes_mut(&mut self.collected.blocks[last])[at..at + rest.len()].copy_from_slice(&rest);
        again(self, rest.len())
    }

    /// Keeps a large record in its own buffer, with a stub and an entry. Returns false if there is no memory.
    ///
    /// The stub and the entry come first, so that a block is always left for the records behind.
    fn try_put_large(
        &mut self,
        key_len: usize,
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<bool> {
        let bytes = len as u64;
        let blocks = bytes.div_ceil(self.store.pool().block_bytes() as u64) as usize;
        // A record larger than the share is kept alone.
        if self.collected.records > 0 && self.held() + blocks > self.blocks_allowed() {
            return Ok(false);
        }
        self.give_direct(HEADER_BYTES)?;
        if self.entry_room().is_none() {
            return Ok(false);
        }
        let Some(number) = self.store.try_put_large(key_len, len, fill)? else { return Ok(false) };
        self.collected.large_numbers.push(number);
        self.collected.large_bytes += bytes;
        let (at, last) = (self.used, self.collected.blocks.len() - 1);
        let stub = u64::from(STUB) | u64::from(number) << 32;
        let store = self.store.clone();
        store.pool().bytes_mut(&mut self.collected.blocks[last])[at..at + 8].copy_from_slice(&stub.to_le_bytes());
        self.index_chosen(HEADER_BYTES)?;
        Ok(true)
    }
}

/// Adds the entries of records: the key and the place of each. There must be room, for at most `BATCH` in chains.
#[inline(always)]
fn put_entries<'k>(
    chains: &mut [Chains],
    blocks: &mut [EntryBlock],
    store: &Store,
    partition: &Partition,
    records: impl ExactSizeIterator<Item = (&'k [u8], u64)>,
) {
    let n = records.len();
    let (order, pool) = (store.order(), store.pool());
    let entries = records.enumerate().map(|(i, (key, place))| {
        let prefix = order.prefix(key, 0);
        Entry::new(prefix, partition.of(i, key, key, prefix), place)
    });
    match (chains.first_mut(), blocks.last_mut()) {
        (Some(chains), _) => {
            chains.batch().iter_mut().zip(entries).for_each(|(to, entry)| *to = entry);
            chains.add(n, pool);
        }
        (None, Some(block)) => {
            block.free(pool).iter_mut().zip(entries).for_each(|(to, entry)| *to = entry);
            block.add_len(n, pool);
        }
        (None, None) => debug_assert!(false, "entries without room"),
    }
}

impl Sink for Collector<'_> {
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        self.give(LARGE_BYTES)
    }

    fn filled(&mut self, len: usize, need: usize, _: &[u8]) -> Result<(*mut u8, usize)> {
        self.index(len)?;
        self.give(need)
    }

    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        if !self.types.0.fits(key.len()) || !self.types.1.fits(value.len()) {
            return Err(wrong_length(self.types, key.len(), value.len()));
        }
        self.partition.choose_one(key, value)?;
        let len = key.len() + value.len();
        let put = |to: &mut [u8]| {
            to[..key.len()].copy_from_slice(key);
            to[key.len()..].copy_from_slice(value);
            Ok(())
        };
        while !self.try_put_large(key.len(), len, put)? {
            self.make_room_for_large(len)?;
        }
        self.give(0)
    }
}
