//! Splitters: they find the bucket of an entry, by its partition and the prefix of its key.
//!
//! The buckets of a partition follow each other in key order. A table over the leading bits of the prefix finds the
//! bucket at once if a cell is within one bucket: 1 ns, against 45 ns for a binary search over 1,023 splitters. If one
//! splitter is in the cell, a comparison without a branch decides. With several splitters, a search between the cell's
//! first and last bucket decides.

use super::entries::Entry;
use crate::env::random::Random;

/// Entries of a bucket: at 8 bytes each, a bucket fits in L2 while it is sorted.
pub const BUCKET_ENTRIES: usize = if cfg!(debug_assertions) { 64 } else { 8 << 10 };
const BUCKETS_MAX: usize = 4096;
const SAMPLES_A_BUCKET: usize = 32;

/// Bucket boundaries of all partitions.
pub struct Splitters {
    partitions: Vec<Part>,
    /// Lower bound of each bucket's prefixes, inclusive.
    low: Vec<u64>,
    table: Vec<u16>,
}

struct Part {
    first_bucket: u32,
    buckets: u32,
    /// Table cells of this partition: cell = (prefix - base) >> shift, at most `cells` - 1, with one extra cell behind
    /// them.
    first_cell: u32,
    cells: u32,
    base: u64,
    shift: u32,
}

impl Splitters {
    /// Returns splitters from a seeded sample of `total` entries; `at(i)` returns entry i.
    pub fn sample(partitions: u32, total: usize, seed: u64, at: impl Fn(usize) -> Entry) -> Splitters {
        let wanted = Self::wanted(total as u64);
        let mut random = Random::new(seed);
        let samples = if wanted == 1 && partitions == 1 {
            Vec::new()
        } else {
            let n = (wanted * SAMPLES_A_BUCKET).min(total);
            (0..n)
                .map(|_| {
                    let e = at(random.below(total as u64) as usize);
                    (e.partition(), e.prefix)
                })
                .collect()
        };
        Self::of(samples, partitions, wanted)
    }

    /// Returns the number of buckets for this many records.
    pub fn wanted(records: u64) -> usize {
        (records / BUCKET_ENTRIES as u64).clamp(1, BUCKETS_MAX as u64) as usize
    }

    /// Returns splitters for about `wanted` buckets, from samples of (partition, prefix).
    pub fn of(mut samples: Vec<(u32, u64)>, partitions: u32, wanted: usize) -> Splitters {
        samples.sort_unstable();
        let mut result =
            Splitters { partitions: Vec::with_capacity(partitions as usize), low: Vec::new(), table: Vec::new() };
        let mut rest = &samples[..];
        for p in 0..partitions {
            let n = rest.iter().take_while(|s| s.0 == p).count();
            let (own, behind) = rest.split_at(n);
            rest = behind;
            result.add_partition(own, wanted, samples.len());
        }
        result
    }

    /// Returns splitters of one partition at these prefixes, which ascend and are not 0.
    pub fn at(prefixes: &[u64]) -> Splitters {
        let mut result = Splitters { partitions: Vec::new(), low: vec![0], table: Vec::new() };
        result.low.extend_from_slice(prefixes);
        result.add_table(0);
        result
    }

    fn add_partition(&mut self, samples: &[(u32, u64)], wanted: usize, all: usize) {
        let buckets = (samples.len() * wanted).div_ceil(all.max(1)).max(1);
        let first_bucket = self.low.len() as u32;
        self.low.push(0);
        for b in 1..buckets {
            let splitter = samples[b * samples.len() / buckets].1;
            // Equal splitters would make empty buckets; a heavy key makes one large bucket instead.
            if splitter > self.low[self.low.len() - 1] {
                self.low.push(splitter);
            }
        }
        self.add_table(first_bucket);
    }

    /// Makes the last buckets, from `first_bucket` on, a partition.
    fn add_table(&mut self, first_bucket: u32) {
        let buckets = self.low.len() as u32 - first_bucket;
        let low = &self.low[first_bucket as usize..];
        // Cells between the first and the last splitter, about 8 a bucket: few enough for the cache, and rarely with
        // several splitters in one.
        let base = if buckets > 1 { low[1] } else { 0 };
        let span = low[low.len() - 1] - base;
        let wanted_cells = (u64::from(buckets) * 8).next_power_of_two();
        let shift = (64 - span.leading_zeros()).saturating_sub(wanted_cells.trailing_zeros());
        let cells = if buckets > 1 { (span >> shift) as u32 + 1 } else { 1 };
        let first_cell = self.table.len() as u32;
        let mut bucket = 0u16;
        for cell in 0..cells {
            // The bucket of the cell's first prefix.
            let first = base + (u64::from(cell) << shift);
            while (bucket as usize + 1) < low.len() && low[bucket as usize + 1] <= first {
                bucket += 1;
            }
            self.table.push(bucket);
        }
        self.table.push((low.len() - 1) as u16);
        self.partitions.push(Part { first_bucket, buckets, first_cell, cells, base, shift });
    }

    /// Returns the number of buckets.
    pub fn buckets(&self) -> usize {
        self.low.len()
    }

    #[inline(always)]
    /// Returns the bucket of an entry.
    pub fn bucket(&self, entry: Entry) -> usize {
        let part = &self.partitions[entry.partition() as usize];
        let cell = (entry.prefix.saturating_sub(part.base) >> part.shift).min(u64::from(part.cells) - 1);
        let first = part.first_bucket as usize;
        if entry.prefix < part.base {
            return first;
        }
        // The answer is between the bucket of the cell's first prefix and the bucket of the next cell's.
        let from = self.table[part.first_cell as usize + cell as usize] as usize;
        let to = self.table[part.first_cell as usize + cell as usize + 1] as usize;
        if to <= from + 1 {
            // The bucket behind the very last one is never requested.
            let next = self.low[(first + to).min(self.low.len() - 1)];
            return first + from + usize::from(to > from && next <= entry.prefix);
        }
        first + from + self.low[first + from + 1..=first + to].partition_point(|&low| low <= entry.prefix)
    }

    /// Returns the partition of each bucket.
    pub fn partition_of_buckets(&self) -> Vec<u32> {
        let mut result = vec![0; self.low.len()];
        for (p, part) in self.partitions.iter().enumerate() {
            result[part.first_bucket as usize..][..part.buckets as usize].fill(p as u32);
        }
        result
    }

    /// Returns the first prefix of a bucket, and the bits in which its prefixes differ.
    pub fn range(&self, bucket: usize) -> (u64, u32) {
        let low = self.low[bucket];
        // Buckets of the next partition start at 0 again.
        let high = match self.low.get(bucket + 1) {
            Some(&next) if next > low => next - 1,
            _ => u64::MAX,
        };
        (low, 64 - (high - low).leading_zeros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(partitions: u32, entries: &[Entry]) {
        let s = Splitters::sample(partitions, entries.len(), 1, |i| entries[i]);
        let parts = s.partition_of_buckets();
        for e in entries {
            let b = s.bucket(*e);
            assert_eq!(parts[b], e.partition());
            let (low, bits) = s.range(b);
            assert!(e.prefix >= low && (bits == 64 || (e.prefix - low) >> bits == 0), "{e:?} {low} {bits}");
        }
        let mut sorted = entries.to_vec();
        sorted.sort_by_key(|e| (e.partition(), e.prefix));
        assert!(sorted.windows(2).all(|w| s.bucket(w[0]) <= s.bucket(w[1])));
    }

    #[test]
    fn finds_buckets_by_partition_and_prefix() {
        let mut random = Random::new(3);
        for partitions in [1, 2, 7] {
            for shape in 0..6 {
                let entries: Vec<Entry> = (0..5000)
                    .map(|i| {
                        let r = random.next_u64();
                        let prefix = match shape {
                            0 => r,
                            1 => r % 3,
                            2 => u64::MAX - r % 2,
                            3 => 7,
                            4 => 0x6161_6161_0000_0000u64.wrapping_add(r >> (r % 60)),
                            _ => i,
                        };
                        Entry::new(prefix, (random.below(u64::from(partitions))) as u32, i)
                    })
                    .collect();
                check(partitions, &entries);
                check(partitions, &entries[..1]);
                check(partitions, &[]);
            }
        }
    }
}
