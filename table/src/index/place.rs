//! Part, bucket and slot of a hash.

/// Sizes of an index: equal for all parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    pub parts: u32,
    /// Buckets of a part.
    pub buckets: u32,
    /// Slots of a part.
    pub slots: u32,
}

/// Slots of a part, about: the pilots and slots of one are built in the processor's cache.
const PART_SLOTS: u64 = 1 << 18;
/// Keys of a bucket. More would need less room for pilots, but longer to find them.
const BUCKET_KEYS: f64 = 2.5;
/// Part of the slots that has keys. More would need less room, but longer to find pilots.
const FILLED: f64 = 0.98;
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

impl Sizes {
    /// Returns sizes for a number of keys. Parts do not have equally many keys: each has room for a few more.
    pub fn of(keys: u64) -> Sizes {
        let parts = (keys as f64 / FILLED / PART_SLOTS as f64).ceil().max(1.0);
        let each = keys as f64 / parts;
        // Five standard deviations of the number of keys in a part: one of two million parts has more.
        let most = if parts > 1.0 { each + 5.0 * each.sqrt() } else { each };
        let slots = (most / FILLED).ceil().max((each + 1.0).floor()) as u32;
        // Whole words of bits, and whole groups of rows, in each part but a single one.
        let slots = if parts > 1.0 { slots.next_multiple_of(64) } else { slots };
        let is_empty = keys == 0;
        Sizes {
            parts: if is_empty { 0 } else { parts as u32 },
            buckets: if is_empty { 0 } else { (each / BUCKET_KEYS).ceil() as u32 },
            slots: if is_empty { 0 } else { slots },
        }
    }

    #[inline]
    pub fn part(&self, hash: u64) -> u32 {
        (((hash >> 32) * u64::from(self.parts)) >> 32) as u32
    }

    /// Returns the bucket within the part.
    #[inline]
    pub fn bucket(&self, hash: u64) -> u32 {
        (((hash & 0xffff_ffff) * u64::from(self.buckets)) >> 32) as u32
    }

    /// Returns the slot within the part.
    #[inline]
    pub fn slot(&self, hash: u64, pilot: u8) -> u32 {
        self.slot_of_step(hash, Sizes::step(pilot))
    }

    /// Returns what a pilot changes in hashes.
    #[inline]
    pub fn step(pilot: u8) -> u64 {
        (u64::from(pilot) + 1).wrapping_mul(STEP)
    }

    /// Returns the slot of a hash that a pilot's step changes.
    #[inline]
    pub fn slot_of_step(&self, hash: u64, step: u64) -> u32 {
        let mixed = (hash ^ step).wrapping_mul(STEP);
        // The product's upper bits depend on all bits of the hash; a fold brings the part's own bits into play.
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(STEP);
        (((mixed >> 32) * u64::from(self.slots)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_room() {
        for keys in [0, 1, 2, 3, 10, 1000, 262_143, 1_000_000, 100_000_000, 5_000_000_000] {
            let sizes = Sizes::of(keys);
            let slots = u64::from(sizes.parts) * u64::from(sizes.slots);
            assert!(slots >= keys && slots as f64 <= 1.04 * keys as f64 + 2.0, "{keys}: {sizes:?}");
        }
    }

    #[test]
    fn places_are_within() {
        let sizes = Sizes::of(1_000_000);
        for hash in [0, 1, u64::MAX, 0xffff_ffff, 0xffff_ffff_0000_0000] {
            assert!(sizes.part(hash) < sizes.parts && sizes.bucket(hash) < sizes.buckets);
            assert!((0..=255).all(|pilot| sizes.slot(hash, pilot) < sizes.slots));
        }
    }
}
