//! Part, bucket and slot of a hash.

/// Sizes of an index: equal for all parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    pub parts: u32,
    /// Slots of a part.
    pub slots: u32,
    /// Buckets of a part: two to this power.
    bucket_bits: u32,
    /// Buckets of all parts.
    pub all_buckets: u64,
}

/// Slots of a part, at most about: the pilots and slots of one are built in the processor's cache.
const PART_SLOTS: f64 = 300_000.0;
/// Keys of a bucket, at most. More would need less room for pilots, but longer to find them.
const BUCKET_KEYS: f64 = 2.5;
/// Part of the slots that has keys, by attempt. More would need less room, but longer to find pilots. Few keys in a row
/// spread so evenly that no bucket has one key alone, which would fit anywhere: they need more room.
const FILLED: [f64; 8] = [0.98, 0.98, 0.95, 0.95, 0.9, 0.85, 0.75, 0.6];
/// Odd numbers with as many ones as zeros: each pilot changes all bits of a hash, and the upper bits of the product
/// depend on all of them.
const OF_PILOTS: u64 = 0x4D5A_2DA5_1DE1_AA47;
const OF_SLOTS: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the upper half of a product: for a hash, a number below `count`.
#[inline(always)]
pub fn scaled(hash: u64, count: u64) -> u64 {
    ((u128::from(hash) * u128::from(count)) >> 64) as u64
}

impl Sizes {
    /// Returns sizes for a number of keys after `attempt` others had no pilots. Parts do not have equally many keys:
    /// each has room for a few more.
    pub fn of(keys: u64, attempt: u64) -> Sizes {
        let filled = FILLED[FILLED.len().min(attempt as usize + 1) - 1];
        if keys == 0 {
            return Sizes::default();
        }
        let parts = (keys as f64 / filled / PART_SLOTS).ceil().max(1.0);
        let each = keys as f64 / parts;
        // Five standard deviations of the number of keys in a part: one of two million parts has more.
        let most = if parts > 1.0 { each + 5.0 * each.sqrt() } else { each };
        let slots = (most / filled).ceil().max((each + 1.0).floor()) as u32;
        // Whole words of bits, and whole groups of rows, in each part but a single one.
        let slots = if parts > 1.0 { slots.next_multiple_of(64) } else { slots };
        let buckets = ((each / BUCKET_KEYS).ceil() as u32).next_power_of_two();
        Sizes::with(parts as u32, buckets, slots).unwrap_or_default()
    }

    /// Returns sizes with these numbers of each part; `None` if they are those of no index.
    pub fn with(parts: u32, buckets: u32, slots: u32) -> Option<Sizes> {
        if parts == 0 {
            return (buckets == 0 && slots == 0).then(Sizes::default);
        }
        let all_buckets = u64::from(parts) * u64::from(buckets);
        let sizes = Sizes { parts, slots, bucket_bits: buckets.trailing_zeros(), all_buckets };
        (buckets.is_power_of_two() && slots > 0).then_some(sizes)
    }

    /// Returns the buckets of a part.
    pub fn buckets(&self) -> u32 {
        if self.parts == 0 { 0 } else { 1 << self.bucket_bits }
    }

    /// Returns the number of a hash's bucket, of those of all parts. The table is not empty.
    #[inline(always)]
    pub fn bucket(&self, hash: u64) -> u64 {
        scaled(hash, self.all_buckets)
    }

    /// Returns the number of a hash's bucket within its part.
    #[inline(always)]
    pub fn bucket_in_part(&self, hash: u64) -> u32 {
        self.bucket(hash) as u32 & ((1 << self.bucket_bits) - 1)
    }

    /// Returns the part of a hash: it never falls with the hash.
    pub fn part(&self, hash: u64) -> u32 {
        self.part_of_bucket(self.bucket(hash)) as u32
    }

    /// Returns the part of a bucket, of those of all parts.
    #[inline(always)]
    pub fn part_of_bucket(&self, bucket: u64) -> u64 {
        bucket >> self.bucket_bits
    }

    /// Returns the slot of a hash whose bucket has this pilot, of those of all parts.
    #[inline(always)]
    pub fn slot(&self, hash: u64, bucket: u64, pilot: u8) -> u64 {
        let slots = u64::from(self.slots);
        self.part_of_bucket(bucket) * slots + u64::from(self.slot_of_step(hash, Sizes::step(pilot)))
    }

    /// Returns what a pilot changes in hashes.
    #[inline(always)]
    pub fn step(pilot: u8) -> u64 {
        u64::from(pilot).wrapping_mul(OF_PILOTS)
    }

    /// Returns the slot within its part of a hash that a pilot's step changes.
    #[inline(always)]
    pub fn slot_of_step(&self, hash: u64, step: u64) -> u32 {
        scaled((hash ^ step).wrapping_mul(OF_SLOTS), u64::from(self.slots)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_room() {
        for keys in [0, 1, 2, 3, 10, 1000, 262_143, 300_000, 1_000_000, 100_000_000, 5_000_000_000] {
            let sizes = Sizes::of(keys, 0);
            let slots = u64::from(sizes.parts) * u64::from(sizes.slots);
            assert!(slots >= keys && slots as f64 <= 1.04 * keys as f64 + 2.0, "{keys}: {sizes:?}");
            assert!(sizes.all_buckets as f64 <= keys as f64 / 1.2 + 1.0, "{keys}: {sizes:?}");
            assert_eq!(Sizes::with(sizes.parts, sizes.buckets(), sizes.slots), Some(sizes));
        }
    }

    #[test]
    fn places_are_within() {
        let sizes = Sizes::of(1_000_000, 0);
        for hash in [0, 1, u64::MAX, 0xffff_ffff, 0xffff_ffff_0000_0000] {
            let bucket = sizes.bucket(hash);
            assert!(bucket < sizes.all_buckets && sizes.part(hash) < sizes.parts);
            assert_eq!(
                bucket,
                u64::from(sizes.part(hash)) * u64::from(sizes.buckets()) + u64::from(sizes.bucket_in_part(hash))
            );
            for pilot in 0..=255 {
                let slot = sizes.slot(hash, bucket, pilot);
                let first = u64::from(sizes.part(hash)) * u64::from(sizes.slots);
                assert_eq!(slot, first + u64::from(sizes.slot_of_step(hash, Sizes::step(pilot))));
                assert!(slot - first < u64::from(sizes.slots));
            }
        }
    }

    #[test]
    fn other_numbers_are_no_sizes() {
        for (parts, buckets, slots) in [(0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 3, 1), (1, 4, 0)] {
            assert_eq!(Sizes::with(parts, buckets, slots), None);
        }
        assert_eq!(Sizes::with(0, 0, 0), Some(Sizes::default()));
    }
}
