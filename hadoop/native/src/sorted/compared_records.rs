//! Records in memory in the order of the job's comparator.
//!
//! ```text
//!   engine      a partition's places, sorted by the bytes of the keys
//!   chunks      | 1 MiB of different keys | .. | .. |      each sorted by the comparator, in the host's caches
//!   sequences   chunks that follow each other become one
//!   merge       of the sequences (`compared_merge.rs`)
//! ```
//!
//! The engine's sort brings equal keys together, so the comparator sees each key of a chunk once. It also makes the
//! frequent orders cheap: if the comparator's order is the order of the bytes, or its opposite, every chunk is sorted
//! after one comparison a key, and all chunks are one sequence. No such order is assumed; the comparator confirms it.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::bytes::Record;
use yunti_engine::collect::{SortedBuckets, Store};
use yunti_engine::env::Clock;

use super::comparator::Comparator;
use super::compared_merge::{ComparedMerge, KeyedSource};
use super::{SortedRecords, TaskLog};
use crate::key::KeyBatch;

/// Bytes of the keys that are sorted at once.
const CHUNK_BYTES: usize = 1 << 20;
/// Keys sorted at once, at most.
const CHUNK_KEYS: usize = 64 << 10;
/// Mark of a place whose key differs from the one before; places have fewer bits.
const NEW_KEY: u64 = 1 << 63;
/// Places of one key that are passed on at once, at most.
const PLACES_A_KEY: usize = 64;

/// Bytes of the list of places, for each record in memory.
pub const PLACE_BYTES: u64 = size_of::<u64>() as u64;

/// Records of buckets, partition by partition.
pub struct ComparedRecords<'b> {
    store: &'b Store,
    buckets: SortedBuckets<'b>,
    comparator: Arc<dyn Comparator>,
    /// First bucket of the next partition.
    ahead: Option<(u32, Vec<u64>)>,
    merge: Option<ComparedMerge<'b>>,
    clock: &'b dyn Clock,
    /// Gets the time of sorting.
    log: &'b TaskLog,
}

impl<'b> ComparedRecords<'b> {
    /// Returns the records of `buckets` in the order of `comparator`.
    pub fn new(
        store: &'b Store,
        buckets: SortedBuckets<'b>,
        comparator: Arc<dyn Comparator>,
        clock: &'b dyn Clock,
        log: &'b TaskLog,
    ) -> Self {
        ComparedRecords { store, buckets, comparator, ahead: None, merge: None, clock, log }
    }

    /// Returns the next partition and its places, sorted by the bytes of their keys.
    fn gather(&mut self) -> Option<(u32, Vec<u64>)> {
        let next = |buckets: &mut SortedBuckets<'b>| buckets.next_bucket().map(|(p, places)| (p, places.to_vec()));
        let (partition, mut places) = self.ahead.take().or_else(|| next(&mut self.buckets))?;
        while let Some((other, more)) = self.buckets.next_bucket() {
            if other != partition {
                self.ahead = Some((other, more.to_vec()));
                break;
            }
            places.extend_from_slice(more);
        }
        Some((partition, places))
    }

    fn sort(&self, mut places: Vec<u64>) -> Result<ComparedMerge<'b>> {
        let chunks = Sorter { store: self.store, comparator: &*self.comparator, keys: KeyBatch::default() };
        let sequences = chunks.sort(&mut places)?;
        let places: Arc<[u64]> = places.into();
        let sources = sequences.into_iter().map(|chunks| {
            let window =
                PlaceWindow { store: self.store, places: places.clone(), chunks, groups: Vec::new(), room: Vec::new() };
            Box::new(window) as Box<dyn KeyedSource + 'b>
        });
        ComparedMerge::new(sources.collect(), &*self.comparator)
    }
}

impl SortedRecords for ComparedRecords<'_> {
    fn next_partition(&mut self) -> Result<Option<u32>> {
        let start = self.clock.now_ns();
        self.merge = None;
        let Some((partition, places)) = self.gather() else { return Ok(None) };
        self.merge = Some(self.sort(places)?);
        self.log.add_sort(self.clock.now_ns().saturating_sub(start));
        Ok(Some(partition))
    }

    fn next_batch(&mut self, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<bool> {
        let Some(merge) = &mut self.merge else { return Ok(false) };
        let start = self.clock.now_ns();
        let more = merge.advance()?;
        self.log.add_sort(self.clock.now_ns().saturating_sub(start));
        if more {
            merge.emit(each)?;
        }
        Ok(more)
    }
}

/// Chunks one behind the other, in the comparator's order.
type Sequence = VecDeque<Range<usize>>;

/// Sort of one partition's places.
struct Sorter<'a> {
    store: &'a Store,
    comparator: &'a dyn Comparator,
    keys: KeyBatch,
}

impl Sorter<'_> {
    /// Sorts places that are in the order of their keys' bytes; marks the first place of each key.
    fn sort(mut self, places: &mut [u64]) -> Result<Vec<Sequence>> {
        let mut sequences: Vec<Sequence> = Vec::new();
        let mut start = 0;
        let mut heads = Vec::new();
        let mut moved = Vec::new();
        while start < places.len() {
            let end = self.fill(places, start, &mut heads);
            if heads.len() > 1 {
                let order = self.comparator.sort(&self.keys)?;
                assert_eq!(order.len(), heads.len(), "a comparator returns all keys");
                heads.push(end);
                moved.clear();
                for head in order.into_iter().map(|n| n as usize) {
                    let own = &places[heads[head]..heads[head + 1]];
                    moved.push(own[0] | NEW_KEY);
                    moved.extend_from_slice(&own[1..]);
                }
                places[start..end].copy_from_slice(&moved);
            } else {
                places[start] |= NEW_KEY;
            }
            self.join(places, start..end, &mut sequences)?;
            start = end;
        }
        Ok(sequences)
    }

    /// Puts the different keys from `start` on into `self.keys`, and where each begins into `heads`. Returns the end of
    /// the chunk.
    fn fill(&mut self, places: &[u64], start: usize, heads: &mut Vec<usize>) -> usize {
        self.keys.clear();
        heads.clear();
        for (at, place) in places.iter().enumerate().skip(start) {
            if let Some(ahead) = places.get(at + 8) {
                self.store.prefetch(*ahead);
            }
            let key = self.store.key(*place);
            if self.keys.last() != Some(key) {
                let is_full = self.keys.bytes.len() + key.len() > CHUNK_BYTES || self.keys.len() == CHUNK_KEYS;
                if is_full && !heads.is_empty() {
                    return at;
                }
                self.keys.push(key);
                heads.push(at);
            }
        }
        places.len()
    }

    /// Adds a chunk to the last sequence, at its end or its beginning; or else to a new one.
    fn join(&mut self, places: &[u64], chunk: Range<usize>, sequences: &mut Vec<Sequence>) -> Result<()> {
        let (first, last) = (places[chunk.start], places[chunk.end - 1]);
        if let Some(sequence) = sequences.last_mut()
            && let (Some(front), Some(back)) = (sequence.front(), sequence.back())
        {
            let (front, back) = (places[front.start], places[back.end - 1]);
            if self.is_before(back, first)? {
                sequence.push_back(chunk);
                return Ok(());
            }
            if self.is_before(last, front)? {
                sequence.push_front(chunk);
                return Ok(());
            }
        }
        sequences.push(VecDeque::from([chunk]));
        Ok(())
    }

    /// Returns true if the key of place `a` may come before the key of place `b`.
    fn is_before(&mut self, a: u64, b: u64) -> Result<bool> {
        self.keys.clear();
        self.keys.push(self.store.key(a & !NEW_KEY));
        self.keys.push(self.store.key(b & !NEW_KEY));
        Ok(self.comparator.sort(&self.keys)?.first() == Some(&0))
    }
}

/// Windows over the sorted places of a sequence.
struct PlaceWindow<'b> {
    store: &'b Store,
    places: Arc<[u64]>,
    /// Places that were not loaded yet.
    chunks: Sequence,
    /// Places of each key that was not passed on, the next one last.
    groups: Vec<Range<usize>>,
    /// Holds a record of a bundle.
    room: Vec<u8>,
}

impl KeyedSource for PlaceWindow<'_> {
    fn load(&mut self, keys: &mut KeyBatch, limit: usize) -> Result<()> {
        debug_assert!(self.groups.is_empty());
        let Some(chunk) = self.chunks.front_mut() else { return Ok(()) };
        while keys.bytes.len() < limit && keys.len() < CHUNK_KEYS && chunk.start < chunk.end {
            let own = &self.places[chunk.clone()];
            if let Some(ahead) = own.get(8) {
                self.store.prefetch(ahead & !NEW_KEY);
            }
            let more = own[1..].iter().take(PLACES_A_KEY - 1).take_while(|place| **place & NEW_KEY == 0).count();
            keys.push(self.store.key(own[0] & !NEW_KEY));
            let end = chunk.start + 1 + more;
            self.groups.push(chunk.start..end);
            chunk.start = end;
        }
        if chunk.start == chunk.end {
            self.chunks.pop_front();
        }
        self.groups.reverse();
        Ok(())
    }

    fn take(&mut self, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<usize> {
        let Some(group) = self.groups.pop() else { return Ok(0) };
        let mut records = 0;
        for at in group {
            if let Some(ahead) = self.places.get(at + 8) {
                self.store.prefetch(ahead & !NEW_KEY);
            }
            self.store.each_record_of_split(self.places[at] & !NEW_KEY, &mut self.room, |record| {
                records += 1;
                each(record)
            })?;
        }
        Ok(records)
    }
}
