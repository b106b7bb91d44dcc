//! Tables that all workers share: one for each partition of the hash. A worker locks a table for many rows at once.
//!
//! ```text
//!   worker 1 --rows, groups--> | partition 0 | partition 1 | ..   | partition 63 |
//!   worker 2 --rows, groups-->       |                                   |
//!                                  memory is short: to files          to files again
//! ```
//!
//! If the budget is short, a partition goes to files, and its table begins anew. A partition that has gone before goes
//! first, so that the others stay whole in memory and their groups are written never. Among the others, the last
//! goes first: its rows come last, when the others have left memory.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use yunti_base::Result;
use yunti_engine::memory::Budget;
use yunti_engine::run::Run;

use super::calls::Calls;
use super::keys::{Keys, Layout};
use super::spill::Spill;
use super::table::{Feed, Table};
use crate::context::Context;

/// Bits of the hash that number a partition, in a budget that is not small.
const PARTITION_BITS: u32 = 6;
/// Bytes of a partition for which a file is worth it.
const PARTITION_BYTES: u64 = 64 << 10;

/// The parts of an aggregate.
pub struct Plan {
    pub layout: Arc<Layout>,
    pub calls: Calls,
    /// Types of the key columns, the number of the set among them.
    pub key_columns: usize,
}

/// Groups of one partition.
pub struct Partition {
    pub table: Table,
    /// Groups that went to files.
    pub runs: Vec<Arc<Run>>,
}

struct Slot {
    /// None once its rows are taken.
    partition: Mutex<Option<Partition>>,
    bytes: AtomicU64,
    has_runs: AtomicBool,
}

/// All partitions.
pub struct Partitions {
    pub plan: Arc<Plan>,
    pub context: Context,
    pub spill: Spill,
    slots: Vec<Slot>,
    pub bits: u32,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(|e| e.into_inner())
}

impl Partitions {
    pub fn new(plan: &Arc<Plan>, context: &Context) -> Result<Partitions> {
        let most = (context.budget.limit_bytes() / PARTITION_BYTES).max(1).ilog2();
        let bits = if plan.layout.width == 0 { 0 } else { most.min(PARTITION_BITS) };
        let mut slots = Vec::new();
        for _ in 0..1 << bits {
            let table = Table::new(&plan.layout, bits, &plan.calls, Some(&context.budget))?;
            slots.push(Slot {
                partition: Mutex::new(Some(Partition { table, runs: Vec::new() })),
                bytes: AtomicU64::new(0),
                has_runs: AtomicBool::new(false),
            });
        }
        let (plan, context, spill) = (plan.clone(), context.clone(), Spill::new(context));
        Ok(Partitions { plan, context, spill, slots, bits })
    }

    pub fn budget(&self) -> &Arc<Budget> {
        &self.context.budget
    }

    /// Returns the number of partitions.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the partition of a hash.
    #[inline(always)]
    fn of(&self, hash: u64) -> usize {
        if self.bits == 0 { 0 } else { (hash >> (64 - self.bits)) as usize }
    }

    /// Returns the groups of a partition in memory, and true if it has others in files.
    pub fn size(&self, number: usize) -> (usize, bool) {
        let slot = &self.slots[number];
        let groups = lock(&slot.partition).as_ref().map_or(0, |partition| partition.table.groups.len());
        (groups, slot.has_runs.load(Ordering::Relaxed))
    }

    /// Adds rows of several feeds: numbers of rows of each, which are sorted by partition on the way.
    pub fn add<F: Feed>(&self, feeds: &[(&F, &[u32])]) -> Result<()> {
        let count = self.len();
        // Places of each partition in the sorted rows of each feed.
        let mut sorted = Vec::with_capacity(feeds.len());
        for (feed, rows) in feeds {
            let hashes = feed.keys().hashes();
            let mut ends = vec![0u32; count + 1];
            rows.iter().for_each(|&row| ends[self.of(hashes[row as usize]) + 1] += 1);
            for n in 1..=count {
                ends[n] += ends[n - 1];
            }
            let mut by_partition = vec![0u32; rows.len()];
            for &row in *rows {
                let end = &mut ends[self.of(hashes[row as usize])];
                by_partition[*end as usize] = row;
                *end += 1;
            }
            // Each has moved to the end of its partition, where the next begins.
            sorted.push((by_partition, ends));
        }
        for partition in 0..count {
            let start = |ends: &[u32]| if partition == 0 { 0 } else { ends[partition - 1] as usize };
            for ((feed, _), (rows, ends)) in feeds.iter().zip(&sorted) {
                let rows = &rows[start(ends)..ends[partition] as usize];
                if !rows.is_empty() {
                    self.add_to(partition, *feed, rows)?;
                }
            }
        }
        Ok(())
    }

    /// Adds rows to their partition.
    fn add_to(&self, number: usize, feed: &impl Feed, rows: &[u32]) -> Result<()> {
        let slot = &self.slots[number];
        let mut rest = rows;
        while !rest.is_empty() {
            let mut guard = lock(&slot.partition);
            let Some(partition) = &mut *guard else { return Ok(()) };
            let (done, shortage) = partition.table.absorb(feed, rest)?;
            rest = &rest[done..];
            if !partition.table.settle() {
                self.put_away(slot, partition)?;
                continue;
            }
            slot.bytes.store(partition.table.used_bytes() as u64, Ordering::Relaxed);
            if let Some(shortage) = shortage
                && !partition.table.grow(shortage)
            {
                drop(guard);
                self.make_room()?;
            }
        }
        Ok(())
    }

    /// Writes the table of a partition to a file, and returns its memory.
    fn put_away(&self, slot: &Slot, partition: &mut Partition) -> Result<()> {
        partition.runs.push(Arc::new(self.spill.write(&partition.table)?));
        partition.table = Table::new(&self.plan.layout, self.bits, &self.plan.calls, Some(self.budget()))?;
        slot.bytes.store(0, Ordering::Relaxed);
        slot.has_runs.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Writes one partition to a file; the caller holds no lock of a partition. Errors: `Memory` if none has groups.
    pub fn make_room(&self) -> Result<()> {
        self.context.check()?;
        if self.try_make_room()? {
            return Ok(());
        }
        // Another worker may be filling the only tables there are: the memory is then free again soon.
        let least = 4 * PARTITION_BYTES;
        if self.budget().free_bytes() >= least {
            return Ok(());
        }
        Err(self.budget().too_small(least, "an aggregate"))
    }

    /// Writes one partition to a file; false if none has groups.
    pub fn try_make_room(&self) -> Result<bool> {
        loop {
            let sizes = || self.slots.iter().map(|slot| slot.bytes.load(Ordering::Relaxed)).enumerate();
            let all: u64 = sizes().map(|(_, bytes)| bytes).sum();
            let enough = (all / (4 * self.len() as u64)).max(1);
            let has_runs = |n: usize| self.slots[n].has_runs.load(Ordering::Relaxed);
            let worth = || sizes().filter(|(_, bytes)| *bytes >= enough);
            let before = worth().filter(|(n, _)| has_runs(*n)).max_by_key(|(_, bytes)| *bytes);
            let Some((number, _)) = before.or_else(|| worth().last()) else { return Ok(false) };
            let slot = &self.slots[number];
            if let Some(partition) = &mut *lock(&slot.partition)
                && partition.table.groups.len() > 0
            {
                self.put_away(slot, partition)?;
                return Ok(true);
            }
            slot.bytes.store(0, Ordering::Relaxed);
        }
    }

    /// Returns a partition with all its groups; only once.
    pub fn take(&self, number: usize) -> Option<Partition> {
        let slot = &self.slots[number];
        let partition = lock(&slot.partition).take();
        slot.bytes.store(0, Ordering::Relaxed);
        partition
    }
}
