//! Chains: one worker's entries, put into buckets as records are collected.
//! One of the listed files with `unsafe`: it sees pool blocks as numbers.
//!
//! ```text
//!   bucket 0   chunk 0 ------> chunk 9 --> ..       chunks of 64 entries, cut from pool blocks in the order of need:
//!   bucket 1   chunk 1 --> chunk 4 ..               entries written at about the same time are close together
//! ```
//!
//! An entry is as in a sorted bucket: key bits above the bucket's base, place.

use std::ops::Range;
use std::sync::Arc;

use super::entries::Entry;
use super::routes::Routes;
use crate::bytes::prefetch::prefetch_to_write;
use crate::memory::{Block, Pool};

/// Entries of a chunk: a few cache lines, so that the chunks being filled (one a bucket) fit in L2 and few pages.
const CHUNK: u64 = 64;
const CHUNK_BYTES: usize = CHUNK as usize * size_of::<u64>();
/// Entries that `add` takes at once, at most.
pub const BATCH: usize = 64;

/// One worker's entries, chained by bucket.
pub struct Chains {
    routes: Arc<Routes>,
    blocks: Vec<Block>,
    /// Chunks of each bucket, numbered from the pool's base.
    chunks: Vec<Vec<u32>>,
    /// Position of each bucket's next entry, in entries from the pool's base. At a multiple of CHUNK, a new chunk is
    /// needed.
    next: Vec<u64>,
    /// Unused chunks of the last block.
    fresh: Range<u32>,
    batch: Box<Batch>,
}

/// Entries to be added, with their buckets and their 8-byte numbers there.
struct Batch {
    entries: [Entry; BATCH],
    buckets: [u32; BATCH],
    numbers: [u64; BATCH],
}

impl Chains {
    /// Returns chains without entries or blocks.
    pub fn new(routes: Arc<Routes>) -> Chains {
        let n = routes.buckets();
        let batch = Batch { entries: [Entry::default(); BATCH], buckets: [0; BATCH], numbers: [0; BATCH] };
        Chains {
            routes,
            blocks: Vec::new(),
            chunks: vec![Vec::new(); n],
            next: vec![0; n],
            fresh: 0..0,
            batch: Box::new(batch),
        }
    }

    /// Returns the routes from entries to buckets.
    pub fn routes(&self) -> &Arc<Routes> {
        &self.routes
    }

    /// Returns the number of pool blocks held.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the pool blocks; the entries are lost.
    pub fn into_blocks(self) -> Vec<Block> {
        self.blocks
    }

    /// Returns the number of entries that fit, whatever their buckets.
    pub fn room(&self) -> usize {
        self.fresh.len()
    }

    /// Returns the bytes in use once each bucket has its first entry.
    pub fn least_bytes(buckets: usize) -> u64 {
        (buckets * CHUNK_BYTES) as u64
    }

    /// Returns the number of entries that a block holds, at most.
    pub fn capacity(pool: &Pool) -> usize {
        pool.block_bytes() / size_of::<u64>()
    }

    /// Adds a pool block to an instance without room.
    pub fn extend(&mut self, block: Block, pool: &Pool) {
        debug_assert!(self.fresh.is_empty() && pool.block_bytes().is_multiple_of(CHUNK_BYTES));
        let chunks = (pool.block_bytes() / CHUNK_BYTES) as u32;
        self.fresh = block.index() * chunks..(block.index() + 1) * chunks;
        self.blocks.push(block);
    }

    /// Returns the slots for the next entries; `add` then adds them.
    pub fn batch(&mut self) -> &mut [Entry; BATCH] {
        &mut self.batch.entries
    }

    /// Puts the first `n` entries of the batch into their buckets; there must be room.
    ///
    /// Each step runs over all entries at once. Reading a block from a file evicts tables and chunks from the cache, so
    /// their cache misses are overlapped.
    #[inline]
    pub fn add(&mut self, n: usize, pool: &Pool) {
        let base = pool.block_base().cast::<u64>();
        let Batch { entries, buckets, numbers } = &mut *self.batch;
        let entries = &entries[..n];
        for (bucket, &entry) in buckets.iter_mut().zip(entries) {
            *bucket = self.routes.bucket(entry) as u32;
        }
        for ((number, &bucket), &entry) in numbers.iter_mut().zip(&*buckets).zip(entries) {
            *number = self.routes.number(bucket as usize, entry);
            prefetch_to_write(base.wrapping_add(self.next[bucket as usize] as usize));
        }
        for i in 0..n {
            let bucket = self.batch.buckets[i] as usize;
            let mut at = self.next[bucket];
            if at % CHUNK == 0 {
                at = self.chunk(bucket);
            }
            // SAFETY: `at` is in a chunk of a block that this instance alone holds; the pool's base is page-aligned.
            unsafe { base.add(at as usize).write(self.batch.numbers[i]) };
            self.next[bucket] = at + 1;
        }
    }

    #[inline(never)]
    fn chunk(&mut self, bucket: usize) -> u64 {
        let Some(chunk) = self.fresh.next() else { panic!("an entry is added without room") };
        self.chunks[bucket].push(chunk);
        u64::from(chunk) * CHUNK
    }

    /// Returns the number of entries of a bucket.
    pub fn len(&self, bucket: usize) -> usize {
        // The last chunk may be full: its end looks like a start.
        let missing = self.next[bucket].next_multiple_of(CHUNK) - self.next[bucket];
        self.chunks[bucket].len() * CHUNK as usize - missing as usize
    }

    /// Appends the entries of a bucket to `to`, in the order of emission.
    pub fn copy(&self, bucket: usize, pool: &Pool, to: &mut Vec<u64>) {
        let mut left = self.len(bucket);
        for &chunk in &self.chunks[bucket] {
            let n = left.min(CHUNK as usize);
            // SAFETY: `add` took the chunk and filled all chunks but the last to the end; nothing is added during this
            // call.
            let entries = unsafe {
                std::slice::from_raw_parts(pool.base().cast::<u64>().add(chunk as usize * CHUNK as usize), n)
            };
            to.extend_from_slice(entries);
            left -= n;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::splitters::Splitters;
    use super::*;
    use crate::memory::Budget;

    #[test]
    fn copies_the_entries_of_each_bucket() {
        let pool = Pool::new(Budget::new(1 << 20), 4096).unwrap();
        let samples = (0..100).map(|i| (0, i << 50)).collect();
        let routes = Arc::new(Routes::new(Splitters::of(samples, 1, 10), pool.place_bits()));
        for n in [0u64, 1, 63, 64, 65, 128, 3000] {
            let mut chains = Chains::new(routes.clone());
            let mut expect = vec![Vec::new(); routes.buckets()];
            for i in 0..n {
                if chains.room() == 0 {
                    chains.extend(pool.try_block().unwrap(), &pool);
                }
                let entry = Entry::new((i * 7 % 100) << 50, 0, i);
                chains.batch()[0] = entry;
                chains.add(1, &pool);
                let bucket = routes.bucket(entry);
                expect[bucket].push(routes.number(bucket, entry));
            }
            for (bucket, expect) in expect.iter().enumerate() {
                let mut got = Vec::new();
                chains.copy(bucket, &pool, &mut got);
                assert_eq!((&got, got.len()), (expect, chains.len(bucket)), "{n}");
            }
            pool.put(chains.into_blocks());
        }
    }
}
