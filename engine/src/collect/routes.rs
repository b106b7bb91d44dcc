//! Routes: the bucket of an entry, and the 8-byte number that represents the entry there.

use super::entries::Entry;
use super::splitters::Splitters;

/// The splitters of a job with each bucket's number layout.
pub struct Routes {
    splitters: Splitters,
    /// Each bucket's smallest prefix, and the right shift that leaves room for the place.
    ranges: Vec<(u64, u32)>,
    place_bits: u32,
}

/// Layout of the 8-byte numbers of a bucket.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// True if the key bits hold all 8 bytes of the prefix; equal key bits then mean equal prefixes.
    pub whole_prefix: bool,
    /// Low bits that hold the place.
    pub place_bits: u32,
}

impl Routes {
    /// Returns routes for places of `place_bits` bits.
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

    /// Returns the number of buckets.
    pub fn buckets(&self) -> usize {
        self.ranges.len()
    }

    #[inline(always)]
    /// Returns the bucket of an entry.
    pub fn bucket(&self, entry: Entry) -> usize {
        self.splitters.bucket(entry)
    }

    /// Returns the number of an entry in its bucket: the key bits above the bucket's base, and the place.
    #[inline(always)]
    pub fn number(&self, bucket: usize, entry: Entry) -> u64 {
        let (low, shift) = self.ranges[bucket];
        ((entry.prefix - low) >> shift) << self.place_bits | entry.place()
    }

    /// Returns the layout of a bucket's numbers.
    pub fn shape(&self, bucket: usize) -> Shape {
        Shape { whole_prefix: self.ranges[bucket].1 == 0, place_bits: self.place_bits }
    }

    /// Returns the partition of each bucket.
    pub fn partition_of_buckets(&self) -> Vec<u32> {
        self.splitters.partition_of_buckets()
    }
}
