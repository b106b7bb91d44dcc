//! Hash table of kept rows: compact slots in regions.
//!
//! ```text
//!   hash    | region | .. place in the region .. |          tag            |
//!             top bits    bits 16..48                bits 0..32
//!   slots   | tag, row + 1 | empty: 0 | tag, row + 1 | ..     8 bytes each, two of three are used
//!   next    row -> next row with the same key                 only if a key has several rows
//!   filter  a word of 64 bits for each four rows or so, of which a key sets three bits
//! ```
//!
//! A slot has the first row of its key; the others follow in the order of rows. A region and its rows' hashes fit the
//! cache, so that a build never misses it, and regions are built on all workers. The table is the same for any number.
//!
//! Keys are not in the slots: a row of the batch is compared with the kept row once their tags are equal. Both loads
//! are prefetched over the batch. Rejected: 16 bytes a slot with an i64 key. One miss less for a match, but twice the
//! table, which costs more where matches are rare.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use yunti_engine::bytes::prefetch::prefetch;

use crate::parallel::parallel;
use crate::store::NO_ROW;

/// Rows of a region: 256 KiB of slots.
const REGION_ROWS: usize = 1 << 14;
const REGION_BITS_MAX: u32 = 12;
/// Rows of a table that are worth a filter.
const FILTER_ROWS: usize = 1 << 13;
/// Look-ups between the prefetch of a line and its use.
const AHEAD: usize = 24;

/// Rows with equal keys behind the first; shared by the workers of a build.
#[derive(Default)]
pub struct Chains(OnceLock<Vec<AtomicU32>>);

impl Chains {
    /// Sets the row that follows `row`. `rows`: number of all rows.
    pub fn set(&self, row: usize, next: u32, rows: usize) {
        let all = self.0.get_or_init(|| (0..rows).map(|_| AtomicU32::new(NO_ROW)).collect());
        all[row].store(next, Ordering::Relaxed);
    }

    /// Returns true if no key has several rows.
    pub fn is_empty(&self) -> bool {
        self.0.get().is_none()
    }

    /// Returns the row behind `row`, or `NO_ROW`.
    #[inline]
    pub fn next(&self, row: u32) -> u32 {
        self.0.get().map_or(NO_ROW, |all| all[row as usize].load(Ordering::Relaxed))
    }
}

#[derive(Clone, Copy, Default)]
struct Region {
    first: usize,
    slots: usize,
}

/// Slots by hash.
pub struct HashTable {
    regions: Vec<Region>,
    region_bits: u32,
    slots: Vec<u64>,
    filter: Vec<u64>,
}

/// Hashes of a stretch of rows, in the order of regions.
struct Stretch {
    hashes: Vec<u64>,
    rows: Vec<u32>,
    /// First hash of each region, and the end of the last.
    starts: Vec<usize>,
}

#[inline(always)]
fn slot_of(hash: u64, row: u32) -> u64 {
    hash << 32 | (u64::from(row) + 1)
}

#[inline(always)]
fn place(hash: u64, region: Region) -> usize {
    ((u64::from((hash >> 16) as u32) * region.slots as u64) >> 32) as usize
}

impl HashTable {
    /// Builds the table of `rows` rows on some workers.
    ///
    /// `hashes` sets the hashes of the rows from one on, and removes none; `has_key` is false for a row that no key
    /// finds; `same` compares the keys of two rows.
    pub fn build(
        rows: usize,
        threads: usize,
        hashes: &(dyn Fn(usize, &mut [u64]) + Sync),
        has_key: &(dyn Fn(usize) -> bool + Sync),
        same: &(impl Fn(usize, usize) -> bool + Sync),
        chains: &Chains,
    ) -> HashTable {
        let region_bits = (rows / REGION_ROWS).next_power_of_two().trailing_zeros().min(REGION_BITS_MAX);
        let regions = 1usize << region_bits;
        let stretch_rows = rows.div_ceil(threads.max(1)).max(1);
        let work: Vec<usize> = (0..rows).step_by(stretch_rows).collect();
        let stretches =
            parallel(&work, |&first| stretch(first, stretch_rows.min(rows - first), region_bits, hashes, has_key));
        let mut all = Vec::with_capacity(regions);
        let mut end = 0;
        for region in 0..regions {
            let rows: usize = stretches.iter().map(|of| of.starts[region + 1] - of.starts[region]).sum();
            let slots = rows + rows / 2 + 4;
            all.push(Region { first: end, slots });
            end += slots;
        }
        let mut slots = vec![0u64; end];
        // Each worker gets neighbouring regions.
        let mut parts = Vec::new();
        let mut rest = &mut slots[..];
        let each = regions.div_ceil(threads.max(1));
        for first in (0..regions).step_by(each) {
            let numbers = first..(first + each).min(regions);
            let len: usize = all[numbers.clone()].iter().map(|region| region.slots).sum();
            let (own, behind) = std::mem::take(&mut rest).split_at_mut(len);
            parts.push((numbers, own));
            rest = behind;
        }
        std::thread::scope(|scope| {
            let mut work = parts.into_iter().map(|(numbers, own)| {
                let (all, stretches) = (&all, &stretches);
                move || {
                    let base = all[numbers.start].first;
                    for number in numbers {
                        let region = Region { first: all[number].first - base, ..all[number] };
                        insert(region, number, stretches, own, same, (chains, rows));
                    }
                }
            });
            let own = work.next();
            work.for_each(|work| {
                scope.spawn(work);
            });
            own.into_iter().for_each(|work| work());
        });
        let filter = if rows >= FILTER_ROWS { filter(&stretches, rows) } else { Vec::new() };
        HashTable { regions: all, region_bits, slots, filter }
    }

    /// Returns true if a filter tells rows without a match from the others.
    pub fn has_filter(&self) -> bool {
        !self.filter.is_empty()
    }

    /// Returns false if no kept row has this hash; true if one may have it.
    #[inline(always)]
    pub fn may_have(&self, hash: u64) -> bool {
        let bits = filter_bits(hash);
        self.filter[filter_word(hash, self.filter.len())] & bits == bits
    }

    /// Prefetches the filter's word of a hash.
    #[inline(always)]
    pub fn prefetch_filter(&self, hash: u64) {
        prefetch(self.filter.as_ptr().wrapping_add(filter_word(hash, self.filter.len())));
    }

    #[inline(always)]
    fn home(&self, hash: u64) -> (Region, usize) {
        // A shift by 64 is none.
        let region = self.regions[(hash >> 1 >> (63 - self.region_bits)) as usize];
        (region, place(hash, region))
    }

    /// Sets the first row with the tag of the hash, for each of the rows `chosen` of a batch. `found(row)` is called
    /// with it, to prefetch its key.
    #[inline(always)]
    pub fn find_tags(&self, hashes: &[u64], chosen: &[u32], heads: &mut [u32], found: impl Fn(u32)) {
        for &i in chosen.iter().take(AHEAD) {
            self.prefetch_slot(hashes[i as usize]);
        }
        for (j, &i) in chosen.iter().enumerate() {
            if let Some(&later) = chosen.get(j + AHEAD) {
                self.prefetch_slot(hashes[later as usize]);
            }
            let hash = hashes[i as usize];
            let (region, mut at) = self.home(hash);
            let slots = &self.slots[region.first..region.first + region.slots];
            loop {
                let slot = slots[at];
                if slot == 0 {
                    break;
                }
                if (slot >> 32) as u32 == hash as u32 {
                    let row = slot as u32 - 1;
                    heads[i as usize] = row;
                    found(row);
                    break;
                }
                at += 1;
                if at == region.slots {
                    at = 0;
                }
            }
        }
    }

    #[inline(always)]
    fn prefetch_slot(&self, hash: u64) {
        let (region, at) = self.home(hash);
        prefetch(self.slots.as_ptr().wrapping_add(region.first + at));
    }

    /// Returns the first row of the key for which `same` is true, or `NO_ROW`.
    #[cold]
    pub fn find(&self, hash: u64, same: impl Fn(u32) -> bool) -> u32 {
        let (region, mut at) = self.home(hash);
        let slots = &self.slots[region.first..region.first + region.slots];
        loop {
            let slot = slots[at];
            if slot == 0 {
                return NO_ROW;
            }
            if (slot >> 32) as u32 == hash as u32 && same(slot as u32 - 1) {
                return slot as u32 - 1;
            }
            at += 1;
            if at == region.slots {
                at = 0;
            }
        }
    }

    /// Calls `f` with the first row of each key.
    pub fn each_head(&self, mut f: impl FnMut(u32)) {
        self.slots.iter().filter(|&&slot| slot != 0).for_each(|&slot| f(slot as u32 - 1));
    }

    /// Returns the bytes of slots and filter.
    pub fn bytes(&self) -> u64 {
        8 * (self.slots.len() + self.filter.len()) as u64
    }
}

fn stretch(
    first: usize,
    len: usize,
    region_bits: u32,
    hash: &(dyn Fn(usize, &mut [u64]) + Sync),
    has_key: &(dyn Fn(usize) -> bool + Sync),
) -> Stretch {
    let mut all = vec![0u64; len];
    hash(first, &mut all);
    let regions = 1usize << region_bits;
    let region = |hash: u64| (hash >> 1 >> (63 - region_bits)) as usize;
    let mut starts = vec![0usize; regions + 1];
    let mut keys = Vec::with_capacity(len);
    for (n, &hash) in all.iter().enumerate() {
        if has_key(first + n) {
            starts[region(hash) + 1] += 1;
            keys.push((first + n) as u32);
        }
    }
    if regions == 1 {
        starts[1] = keys.len();
        let hashes = if keys.len() == len { all } else { keys.iter().map(|&row| all[row as usize - first]).collect() };
        return Stretch { hashes, rows: keys, starts };
    }
    for n in 0..regions {
        starts[n + 1] += starts[n];
    }
    let mut at = starts.clone();
    let (mut hashes, mut rows) = (vec![0u64; keys.len()], vec![0u32; keys.len()]);
    for row in keys {
        let hash = all[row as usize - first];
        let to = &mut at[region(hash)];
        (hashes[*to], rows[*to]) = (hash, row);
        *to += 1;
    }
    Stretch { hashes, rows, starts }
}

/// Inserts the rows of a region, the last first, so that the first row of a key is in the slot in the end.
fn insert(
    region: Region,
    number: usize,
    stretches: &[Stretch],
    slots: &mut [u64],
    same: &impl Fn(usize, usize) -> bool,
    (chains, rows): (&Chains, usize),
) {
    let slots = &mut slots[region.first..region.first + region.slots];
    for stretch in stretches.iter().rev() {
        for n in (stretch.starts[number]..stretch.starts[number + 1]).rev() {
            let (hash, row) = (stretch.hashes[n], stretch.rows[n]);
            let mut at = place(hash, region);
            loop {
                let slot = slots[at];
                if slot == 0 {
                    break;
                }
                let head = slot as u32 - 1;
                if (slot >> 32) as u32 == hash as u32 && same(head as usize, row as usize) {
                    chains.set(row as usize, head, rows);
                    break;
                }
                at += 1;
                if at == slots.len() {
                    at = 0;
                }
            }
            slots[at] = slot_of(hash, row);
        }
    }
}

#[inline(always)]
fn filter_word(hash: u64, words: usize) -> usize {
    ((u128::from(hash) * words as u128) >> 64) as usize
}

#[inline(always)]
fn filter_bits(hash: u64) -> u64 {
    1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63)
}

fn filter(stretches: &[Stretch], rows: usize) -> Vec<u64> {
    let mut filter = vec![0u64; rows / 5 + 1];
    let words = filter.len();
    for stretch in stretches {
        for &hash in &stretch.hashes {
            filter[filter_word(hash, words)] |= filter_bits(hash);
        }
    }
    filter
}
