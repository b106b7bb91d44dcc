//! Buckets: entries scattered by partition and key range, each bucket small enough to be sorted in cache.
//!
//! Two passes over the entries: the first counts, so that the second can scatter into one array without locks or chains. What
//! moves are 8 bytes a record: the key bits behind the bucket's base, and the place.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::entries::{Entry, EntryBlock, Numbers};
use super::splitters::Splitters;
use super::store::Store;
use crate::base::Result;
use crate::env::Crew;
use crate::memory::Grant;

pub struct Buckets {
    entries: Numbers,
    /// Bucket b is entries[bounds[b]..bounds[b + 1]].
    bounds: Vec<usize>,
    partition: Vec<u32>,
    /// Whether all 8 bytes of the prefix are in the key bits: equal key bits then mean equal prefixes.
    whole_prefix: Vec<bool>,
    place_bits: u32,
    _grants: Vec<Grant>,
}

/// One bucket, to be sorted by whoever takes it.
pub struct Bucket<'a> {
    pub number: usize,
    pub partition: u32,
    pub entries: &'a mut [u64],
    pub whole_prefix: bool,
    pub place_bits: u32,
}

impl Buckets {
    /// Bytes that `build` takes for `records` entries, beyond the entries themselves.
    pub fn memory_bytes(records: u64) -> u64 {
        records * 8
    }

    /// Scatters the entries of all blocks. `grants` hold `memory_bytes` for them, taken while they were collected.
    pub fn build(
        store: &Store,
        blocks: &[EntryBlock],
        partitions: u32,
        seed: u64,
        grants: Vec<Grant>,
        crew: &Crew<'_>,
    ) -> Result<Buckets> {
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
        let n = splitters.buckets();

        // Each worker counts and scatters a stretch of blocks of its own.
        let stretches = stretches(blocks, crew.workers);
        let counts: Vec<Vec<AtomicU32>> =
            stretches.iter().map(|_| (0..n).map(|_| AtomicU32::new(0)).collect()).collect();
        crew.each(stretches.len(), |_, s| {
            let mut local = vec![0u32; n];
            for block in &blocks[stretches[s].clone()] {
                for e in block.entries(pool) {
                    local[splitters.bucket(*e)] += 1;
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
        let place_bits = pool.place_bits();
        let key_bits = 64 - place_bits;
        let ranges: Vec<(u64, u32)> = (0..n)
            .map(|b| {
                let (low, bits) = splitters.range(b);
                (low, bits.saturating_sub(key_bits))
            })
            .collect();
        let next: Vec<Mutex<Vec<usize>>> = next.into_iter().map(Mutex::new).collect();
        crew.each(stretches.len(), |_, s| {
            let mut next = next[s].lock().unwrap_or_else(|e| e.into_inner());
            let to: &[AtomicU64] = entries.shared();
            for block in &blocks[stretches[s].clone()] {
                for &e in block.entries(pool) {
                    let b = splitters.bucket(e);
                    let (low, shift) = ranges[b];
                    to[next[b]].store(((e.prefix - low) >> shift) << place_bits | e.place(), Ordering::Relaxed);
                    next[b] += 1;
                }
            }
            Ok(())
        })?;
        let whole_prefix = ranges.iter().map(|r| r.1 == 0).collect();
        Ok(Buckets {
            entries,
            bounds,
            partition: splitters.partition_of_buckets(),
            whole_prefix,
            place_bits,
            _grants: grants,
        })
    }

    pub fn len(&self) -> usize {
        self.partition.len()
    }
    pub fn is_empty(&self) -> bool {
        self.partition.is_empty()
    }

    /// All buckets, in order, each to be taken once.
    pub fn take(&mut self) -> Vec<Mutex<Option<Bucket<'_>>>> {
        let mut rest = self.entries.numbers_mut();
        let mut result = Vec::with_capacity(self.partition.len());
        for b in 0..self.partition.len() {
            let (own, behind) = rest.split_at_mut(self.bounds[b + 1] - self.bounds[b]);
            rest = behind;
            result.push(Mutex::new(Some(Bucket {
                number: b,
                partition: self.partition[b],
                entries: own,
                whole_prefix: self.whole_prefix[b],
                place_bits: self.place_bits,
            })));
        }
        result
    }

    /// The buckets of each partition.
    pub fn of_partition(&self, partition: u32) -> std::ops::Range<usize> {
        let first = self.partition.partition_point(|&p| p < partition);
        let end = self.partition.partition_point(|&p| p <= partition);
        first..end
    }
}

/// Consecutive blocks with about the same number of entries each.
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

// Entries are read in the order of emission and written once; see the module text for what was rejected.
const _: () = assert!(size_of::<Entry>() == 16);
