//! Sizes of objects by place, in units of 8 bytes: 4 bytes each, 8 where a dump may exceed 32 GB.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Bytes of a unit.
pub const UNIT_BYTES: u64 = 8;
/// Bytes of a dump from which a total may need more than 32 bits.
const LARGE_DUMP_BYTES: u64 = 8 << 30;

/// Sizes that several threads set.
pub struct Sizes {
    low: Vec<AtomicU32>,
    /// Upper halves; empty for a small dump.
    high: Vec<AtomicU32>,
}

impl Sizes {
    /// Returns zeros.
    pub fn new(objects: usize, dump_bytes: u64) -> Sizes {
        let zeros = |n: usize| (0..n).map(|_| AtomicU32::new(0)).collect();
        Sizes { low: zeros(objects), high: zeros(if dump_bytes < LARGE_DUMP_BYTES { 0 } else { objects }) }
    }

    /// Returns a size in bytes.
    #[inline]
    pub fn get(&self, place: u32) -> u64 {
        self.units(place) * UNIT_BYTES
    }

    /// Adds the size at one place to the size at another. One thread alone does so.
    #[inline]
    pub fn add(&self, to: u32, from: u32) {
        self.set_units(to, self.units(to).saturating_add(self.units(from)));
    }

    #[inline]
    fn units(&self, place: u32) -> u64 {
        let low = u64::from(self.low[place as usize].load(Relaxed));
        self.high.get(place as usize).map_or(low, |high| low | u64::from(high.load(Relaxed)) << 32)
    }

    /// Sets a size in units.
    #[inline]
    pub fn set_units(&self, place: u32, units: u64) {
        match self.high.get(place as usize) {
            Some(high) => {
                self.low[place as usize].store(units as u32, Relaxed);
                high.store((units >> 32) as u32, Relaxed);
            }
            // Only a forged dump exceeds this: no object has more than some times the bytes of its record.
            None => self.low[place as usize].store(units.min(u64::from(u32::MAX)) as u32, Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_widths_keep_sizes() {
        for (dump, big) in [(1, 1 << 34), (LARGE_DUMP_BYTES, 1 << 45)] {
            let sizes = Sizes::new(2, dump);
            sizes.set_units(0, big / UNIT_BYTES);
            sizes.set_units(1, 3);
            sizes.add(1, 0);
            assert_eq!((sizes.get(0), sizes.get(1)), (big, big + 24));
        }
    }
}
