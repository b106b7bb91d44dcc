//! Chains: one worker's sorted-to-be entries, put into buckets as records are collected.
//! One of the listed files with `unsafe`: it sees pool blocks as numbers.
//!
//! ```text
//!   bucket 0   chunk 0 ------> chunk 9 --> ..       chunks of 64 entries, cut from pool blocks in the order in which
//!   bucket 1   chunk 1 --> chunk 4 ..               they are needed: what is written at a time lies close together
//! ```
//!
//! An entry is as in a sorted bucket: key bits behind the bucket's base, place.

use std::ops::Range;
use std::sync::Arc;

use super::entries::Entry;
use super::routes::Routes;
use crate::bytes::prefetch::prefetch_to_write;
use crate::memory::{Block, Pool};

/// Entries of a chunk: a few cache lines, so that the chunks being filled, one a bucket, fit in L2 and few pages.
const CHUNK: u64 = 64;
const CHUNK_BYTES: usize = CHUNK as usize * size_of::<u64>();
/// Entries that are added at a time.
pub const BATCH: usize = 64;

pub struct Chains {
    routes: Arc<Routes>,
    blocks: Vec<Block>,
    /// The chunks of each bucket, numbered from the pool's base on.
    chunks: Vec<Vec<u32>>,
    /// Where the next entry of each bucket goes, in entries from the pool's base on; a multiple of CHUNK: into a new chunk.
    next: Vec<u64>,
    /// Chunks of the last block that are not taken yet.
    fresh: Range<u32>,
    batch: Box<Batch>,
}

/// Entries on their way, with their buckets and what stands for them there.
struct Batch {
    entries: [Entry; BATCH],
    buckets: [u32; BATCH],
    numbers: [u64; BATCH],
}

impl Chains {
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

    pub fn routes(&self) -> &Arc<Routes> {
        &self.routes
    }

    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    pub fn into_blocks(self) -> Vec<Block> {
        self.blocks
    }

    /// How many entries there is room for, whatever buckets they go to.
    pub fn room(&self) -> usize {
        self.fresh.len()
    }

    /// Memory that is taken by the time each bucket has its first entry.
    pub fn least_bytes(buckets: usize) -> u64 {
        (buckets * CHUNK_BYTES) as u64
    }

    /// Entries that a block holds at most.
    pub fn capacity(pool: &Pool) -> usize {
        pool.block_bytes() / size_of::<u64>()
    }

    /// Adds a block of the pool to an instance without room.
    pub fn extend(&mut self, block: Block, pool: &Pool) {
        debug_assert!(self.fresh.is_empty() && pool.block_bytes().is_multiple_of(CHUNK_BYTES));
        let chunks = (pool.block_bytes() / CHUNK_BYTES) as u32;
        self.fresh = block.index() * chunks..(block.index() + 1) * chunks;
        self.blocks.push(block);
    }

    /// Where the next entries are to be put, to be added by `add`.
    pub fn batch(&mut self) -> &mut [Entry; BATCH] {
        &mut self.batch.entries
    }

    /// Puts the first `n` entries of the batch in their buckets. There must be room. Step by step for all of them: reading a block
    /// from a file drives tables and chunks out of the cache, and so their lines are waited for together.
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
            // SAFETY: `at` lies in a chunk of a block that this instance holds alone; the pool's base is page-aligned.
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

    /// Entries of a bucket.
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
            // SAFETY: the chunk was taken by `add`, which filled all but the last one to the end; nothing is added meanwhile.
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
    fn entries_come_back_from_their_buckets() {
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
