//! A log-linear histogram of durations. Each bucket is a 64th of its value wide, as in HdrHistogram.

use std::collections::BTreeMap;

const SUB_BITS: u32 = 6;
const SUBS: u64 = 1 << SUB_BITS;

/// Durations in nanoseconds: exact count, sum and maximum, and a histogram for percentiles.
#[derive(Clone, Debug, Default)]
pub struct Durations {
    buckets: BTreeMap<u16, u64>,
    pub count: u64,
    pub sum: u64,
    pub max: u64,
}

impl Durations {
    pub fn add(&mut self, nanos: u64) {
        *self.buckets.entry(bucket(nanos)).or_default() += 1;
        self.count += 1;
        self.sum = self.sum.saturating_add(nanos);
        self.max = self.max.max(nanos);
    }

    pub fn mean(&self) -> u64 {
        self.sum / self.count.max(1)
    }

    /// Returns a percentile in nanoseconds, within a 64th of its value; 0 without durations.
    pub fn percentile(&self, percent: u64) -> u64 {
        let rank = (self.count * percent).div_ceil(100).max(1);
        let mut below = 0;
        for (bucket, count) in &self.buckets {
            below += count;
            if below >= rank {
                return middle(*bucket).min(self.max);
            }
        }
        0
    }
}

fn bucket(nanos: u64) -> u16 {
    if nanos < SUBS {
        return nanos as u16;
    }
    let shift = 63 - nanos.leading_zeros() - SUB_BITS;
    ((u64::from(shift + 1) << SUB_BITS) + (nanos >> shift) - SUBS) as u16
}

fn middle(bucket: u16) -> u64 {
    let (octave, sub) = (u32::from(bucket) >> SUB_BITS, u64::from(bucket) & (SUBS - 1));
    match octave {
        0 => sub,
        _ => ((SUBS + sub) << (octave - 1)) + ((1 << (octave - 1)) >> 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_narrow_and_ordered() {
        let mut last = 0;
        for shift in 0..63 {
            for nanos in [1u64 << shift, (1 << shift) + (1 << shift) / 3, (2 << shift) - 1] {
                let at = bucket(nanos);
                assert!(at >= last, "{nanos}");
                last = at;
                assert!(middle(at).abs_diff(nanos) <= nanos / 64, "{nanos}: {}", middle(at));
            }
        }
    }

    #[test]
    fn percentiles() {
        let mut durations = Durations::default();
        assert_eq!((durations.percentile(50), durations.mean()), (0, 0));
        (1..=100).for_each(|ms| durations.add(ms * 1_000_000));
        assert!(durations.percentile(50).abs_diff(50_000_000) < 1_000_000);
        assert!(durations.percentile(99).abs_diff(99_000_000) < 2_000_000);
        assert_eq!((durations.max, durations.mean(), durations.count), (100_000_000, 50_500_000, 100));
    }
}
