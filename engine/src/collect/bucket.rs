//! Buckets: entries scattered by partition and key range, each bucket small enough to be sorted in cache. Each record
//! moves as 8 bytes: the key bits above the bucket's base, and the place.
//!
//! With routes from a sample of the input, each worker chains its entries while it collects them (`chains.rs`). Without
//! routes, entries are listed and scattered at the end, in two passes. The first pass counts, so that the second can
//! write into one array without locks.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::chains::Chains;
use super::collector::CollectedRecords;
use super::entries::{Entry, EntryBlock, Numbers};
use super::routes::{Routes, Shape};
use super::splitters::Splitters;
use super::store::Store;
use crate::env::Crew;
use crate::env::sync::Mutex;
use crate::memory::{Grant, Pool};
use yunti_base::Result;

/// The buckets of the collected records, in the order of partitions and keys.
pub struct Buckets<'c> {
    source: Source<'c>,
    partition: Vec<u32>,
    shapes: Vec<Shape>,
    pool: &'c Pool,
    _grants: Vec<Grant>,
}

enum Source<'c> {
    /// Bucket b is entries[bounds[b]..bounds[b + 1]].
    Array {
        entries: Numbers,
        bounds: Vec<usize>,
    },
    Chains(&'c [Chains]),
}

/// One bucket; the worker that takes it sorts it.
pub struct Bucket<'a> {
    /// Number of the bucket.
    pub number: usize,
    /// Partition of its entries.
    pub partition: u32,
    /// Layout of its entries.
    pub shape: Shape,
    entries: Entries<'a>,
    pool: &'a Pool,
}

enum Entries<'a> {
    Slice(&'a mut [u64]),
    Chained(&'a [Chains]),
    Own(Vec<u64>),
}

impl Bucket<'_> {
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        match &self.entries {
            Entries::Slice(entries) => entries.len(),
            Entries::Chained(chains) => chains.iter().map(|c| c.len(self.number)).sum(),
            Entries::Own(entries) => entries.len(),
        }
    }

    /// Returns the entries side by side; chained entries are copied into `buffer`.
    pub fn entries<'b>(&'b mut self, buffer: &'b mut Vec<u64>) -> &'b mut [u64] {
        let len = self.len();
        match &mut self.entries {
            Entries::Slice(entries) => entries,
            Entries::Own(entries) => entries,
            Entries::Chained(chains) => {
                buffer.clear();
                buffer.reserve_exact(len);
                chains.iter().for_each(|c| c.copy(self.number, self.pool, buffer));
                buffer
            }
        }
    }

    /// Returns the entries side by side; chained entries are copied into the bucket.
    pub fn keep(&mut self) -> &mut [u64] {
        if matches!(self.entries, Entries::Chained(_)) {
            let mut own = Vec::new();
            self.entries(&mut own);
            self.entries = Entries::Own(own);
        }
        match &mut self.entries {
            Entries::Slice(entries) => entries,
            Entries::Own(entries) => entries,
            Entries::Chained(_) => unreachable!("they were just copied"),
        }
    }
}

impl<'c> Buckets<'c> {
    /// Returns the bytes that sorting `records` entries takes, beyond the bytes that hold them.
    pub fn memory_bytes(records: u64) -> u64 {
        records * 8
    }

    /// Sorts the collected entries into buckets.
    ///
    /// `grants` hold `memory_bytes` for them, taken during collecting. Fails with `Code::Cancelled` if the job was
    /// cancelled, or `Code::Memory` if the system cannot map the array.
    pub fn build(
        store: &'c Store,
        collected: &'c CollectedRecords,
        partitions: u32,
        seed: u64,
        grants: Vec<Grant>,
        crew: &Crew<'_>,
    ) -> Result<Buckets<'c>> {
        if let Some(first) = collected.chains.first() {
            debug_assert!(collected.entries.is_empty());
            let routes = first.routes();
            return Ok(Buckets {
                source: Source::Chains(&collected.chains),
                partition: routes.partition_of_buckets(),
                shapes: (0..routes.buckets()).map(|b| routes.shape(b)).collect(),
                pool: store.pool(),
                _grants: grants,
            });
        }
        Self::scatter(store, &collected.entries, partitions, seed, grants, crew)
    }

    /// Scatters the listed entries of all blocks.
    fn scatter(
        store: &'c Store,
        blocks: &[EntryBlock],
        partitions: u32,
        seed: u64,
        grants: Vec<Grant>,
        crew: &Crew<'_>,
    ) -> Result<Buckets<'c>> {
        let pool = store.pool();
        let total: usize = blocks.iter().map(EntryBlock::len).sum();
        let starts: Vec<usize> = blocks
            .iter()
            .scan(0, |at, b| {
                let start = *at;
                *at += b.len();
                Some(start)
            })
            .collect();
        let splitters = Splitters::sample(partitions, total, seed, |i| {
            let block = starts.partition_point(|&s| s <= i) - 1;
            // Blocks without entries share their start with the next one; the last of them holds the entry.
            blocks[block].entries(pool)[i - starts[block]]
        });
        let routes = Routes::new(splitters, store.place_bits());
        let n = routes.buckets();

        // Each worker counts and scatters its own stretch of blocks.
        let stretches = stretches(blocks, crew.workers);
        let counts: Vec<Vec<AtomicU32>> =
            stretches.iter().map(|_| (0..n).map(|_| AtomicU32::new(0)).collect()).collect();
        crew.each(stretches.len(), |_, s| {
            let mut local = vec![0u32; n];
            for block in &blocks[stretches[s].clone()] {
                for e in block.entries(pool) {
                    local[routes.bucket(*e)] += 1;
                }
            }
            for (to, from) in counts[s].iter().zip(local) {
                to.store(from, Ordering::Relaxed);
            }
            Ok(())
        })?;

        let mut bounds = Vec::with_capacity(n + 1);
        let mut next: Vec<Vec<usize>> = stretches.iter().map(|_| vec![0; n]).collect();
        let mut at = 0;
        for b in 0..n {
            bounds.push(at);
            for s in 0..stretches.len() {
                next[s][b] = at;
                at += counts[s][b].load(Ordering::Relaxed) as usize;
            }
        }
        bounds.push(at);

        debug_assert!(grants.iter().map(Grant::bytes).sum::<u64>() >= Self::memory_bytes(total as u64));
        let entries = Numbers::new(total)?;
        let next: Vec<Mutex<Vec<usize>>> = next.into_iter().map(Mutex::new).collect();
        crew.each(stretches.len(), |_, s| {
            let mut next = next[s].lock().unwrap_or_else(|e| e.into_inner());
            let to: &[AtomicU64] = entries.shared();
            for block in &blocks[stretches[s].clone()] {
                for &e in block.entries(pool) {
                    let b = routes.bucket(e);
                    to[next[b]].store(routes.number(b, e), Ordering::Relaxed);
                    next[b] += 1;
                }
            }
            Ok(())
        })?;
        Ok(Buckets {
            source: Source::Array { entries, bounds },
            partition: routes.partition_of_buckets(),
            shapes: (0..n).map(|b| routes.shape(b)).collect(),
            pool,
            _grants: grants,
        })
    }

    /// Returns the number of buckets.
    pub fn len(&self) -> usize {
        self.partition.len()
    }
    /// Returns true if there are no buckets.
    pub fn is_empty(&self) -> bool {
        self.partition.is_empty()
    }

    /// Returns all buckets in order; each may be taken once.
    pub fn take(&mut self) -> Vec<Mutex<Option<Bucket<'_>>>> {
        let mut result = Vec::with_capacity(self.partition.len());
        let mut put = |number: usize, entries| {
            let (partition, shape) = (self.partition[number], self.shapes[number]);
            result.push(Mutex::new(Some(Bucket { number, partition, shape, entries, pool: self.pool })));
        };
        match &mut self.source {
            Source::Chains(chains) => {
                (0..self.partition.len()).for_each(|b| put(b, Entries::Chained(chains)));
            }
            Source::Array { entries, bounds } => {
                let mut rest = entries.numbers_mut();
                for (b, bound) in bounds.windows(2).enumerate() {
                    let (own, behind) = rest.split_at_mut(bound[1] - bound[0]);
                    rest = behind;
                    put(b, Entries::Slice(own));
                }
            }
        }
        result
    }

    /// Returns the numbers of a partition's buckets.
    pub fn of_partition(&self, partition: u32) -> std::ops::Range<usize> {
        let first = self.partition.partition_point(|&p| p < partition);
        let end = self.partition.partition_point(|&p| p <= partition);
        first..end
    }
}

/// Returns ranges of consecutive blocks with about equal numbers of entries.
fn stretches(blocks: &[EntryBlock], workers: usize) -> Vec<std::ops::Range<usize>> {
    let total: usize = blocks.iter().map(EntryBlock::len).sum();
    let target = total.div_ceil(workers.max(1)).max(1);
    let mut result = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (i, block) in blocks.iter().enumerate() {
        sum += block.len();
        if sum >= target {
            result.push(start..i + 1);
            (start, sum) = (i + 1, 0);
        }
    }
    if start < blocks.len() {
        result.push(start..blocks.len());
    }
    result
}

// Entries are read in the order of emission and written once; docs/decisions lists the rejected alternatives.
const _: () = assert!(size_of::<Entry>() == 16);
