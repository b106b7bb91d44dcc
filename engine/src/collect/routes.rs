//! Routes: from an entry to its bucket, and to the 8 bytes that stand for it there.

use super::entries::Entry;
use super::splitters::Splitters;

pub struct Routes {
    splitters: Splitters,
    /// Of each bucket: the least prefix, and by how many bits those behind it are cut to leave room for the place.
    ranges: Vec<(u64, u32)>,
    place_bits: u32,
}

/// How the 8 bytes of a bucket's entries are to be read.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Whether all 8 bytes of the prefix are in the key bits: equal key bits then mean equal prefixes.
    pub whole_prefix: bool,
    pub place_bits: u32,
}

impl Routes {
    pub fn new(splitters: Splitters, place_bits: u32) -> Routes {
        let key_bits = 64 - place_bits;
        let ranges = (0..splitters.buckets())
            .map(|b| {
                let (low, bits) = splitters.range(b);
                (low, bits.saturating_sub(key_bits))
            })
            .collect();
        Routes { splitters, ranges, place_bits }
    }

    pub fn buckets(&self) -> usize {
        self.ranges.len()
    }

    #[inline(always)]
    pub fn bucket(&self, entry: Entry) -> usize {
        self.splitters.bucket(entry)
    }

    /// What stands for an entry in its bucket: the key bits behind the bucket's base, and the place.
    #[inline(always)]
    pub fn number(&self, bucket: usize, entry: Entry) -> u64 {
        let (low, shift) = self.ranges[bucket];
        ((entry.prefix - low) >> shift) << self.place_bits | entry.place()
    }

    pub fn shape(&self, bucket: usize) -> Shape {
        Shape { whole_prefix: self.ranges[bucket].1 == 0, place_bits: self.place_bits }
    }

    /// The partition of each bucket.
    pub fn partition_of_buckets(&self) -> Vec<u32> {
        self.splitters.partition_of_buckets()
    }
}
