//! Approximate quantiles with a relative error of 1 %: counts of values in buckets whose bounds grow by a factor
//! (C. Masson and others, "DDSketch: a fast and fully-mergeable quantile sketch with relative-error guarantees", 2019).
//! A sketch depends on the values alone, and not on their order.

use std::collections::BTreeMap;

/// Relative error.
const ERROR: f64 = 0.01;
/// Values nearer to zero count as zero.
const LEAST: f64 = 1e-300;

/// Counts of values, by bucket.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuantileSketch {
    /// Buckets by their number: those of negative values mirrored below zero's.
    counts: BTreeMap<i32, u64>,
    nans: u64,
}

/// Bucket of zero; those of positive values are above.
const ZERO: i32 = 0;
/// Added to the number of a positive bucket, so that it is above zero's.
const ABOVE: i32 = 1 << 20;

fn factor() -> f64 {
    (1.0 + ERROR) / (1.0 - ERROR)
}

impl QuantileSketch {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        if value.is_nan() {
            self.nans += 1;
            return;
        }
        let bucket = match value.abs() {
            size if size < LEAST => ZERO,
            size => {
                let number = (size.min(f64::MAX).ln() / factor().ln()).ceil() as i32 + ABOVE;
                if value < 0.0 { -number } else { number }
            }
        };
        *self.counts.entry(bucket).or_default() += 1;
    }

    /// Adds all values of another sketch.
    pub fn merge(&mut self, other: &QuantileSketch) {
        self.nans += other.nans;
        other.counts.iter().for_each(|(&bucket, &n)| *self.counts.entry(bucket).or_default() += n);
    }

    /// Returns the value below which a share of the values lies; None without a value.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let n: u64 = self.counts.values().sum();
        if n == 0 {
            return (self.nans > 0).then_some(f64::NAN);
        }
        let rank = (share * (n - 1) as f64).round() as u64;
        let mut below = 0;
        let bucket = self.counts.iter().find(|(_, count)| {
            below += **count;
            below > rank
        });
        let size = |number: i32| 2.0 * factor().powi(number - ABOVE) / (1.0 + factor());
        bucket.map(|(&bucket, _)| match bucket {
            ZERO => 0.0,
            ..ZERO => -size(-bucket),
            _ => size(bucket),
        })
    }

    /// Appends the state.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.nans.to_le_bytes());
        out.extend_from_slice(&(self.counts.len() as u32).to_le_bytes());
        for (bucket, n) in &self.counts {
            out.extend_from_slice(&bucket.to_le_bytes());
            out.extend_from_slice(&n.to_le_bytes());
        }
    }

    /// Takes a state from the front of `from`; None if it is none.
    pub fn decode(from: &mut &[u8]) -> Option<QuantileSketch> {
        let (nans, rest) = from.split_first_chunk::<8>()?;
        let (n, rest) = rest.split_first_chunk::<4>()?;
        let (counts, rest) = rest.split_at_checked(12usize.checked_mul(u32::from_le_bytes(*n) as usize)?)?;
        *from = rest;
        let one = |bytes: &[u8; 12]| {
            let (bucket, n) = bytes.split_at(4);
            let bucket = i32::from_le_bytes(bucket.try_into().expect("four bytes"));
            (bucket, u64::from_le_bytes(n.try_into().expect("eight bytes")))
        };
        Some(QuantileSketch {
            counts: counts.as_chunks::<12>().0.iter().map(one).collect(),
            nans: u64::from_le_bytes(*nans),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::random::Random;

    #[test]
    fn quantiles_are_within_the_error() {
        let random = &mut Random::new(5);
        for scale in [1e-9, 1.0, 1e12] {
            let mut values: Vec<f64> = (0..5000).map(|_| (random.below(2001) as f64 - 700.0) * scale).collect();
            let mut parts = [QuantileSketch::default(), QuantileSketch::default()];
            values.iter().enumerate().for_each(|(n, &value)| parts[n % 2].add(value));
            let [mut whole, other] = parts;
            let mut bytes = Vec::new();
            other.encode(&mut bytes);
            whole.merge(&QuantileSketch::decode(&mut &bytes[..]).unwrap());
            values.sort_by(f64::total_cmp);
            for share in [0.0, 0.01, 0.25, 0.5, 0.9, 0.999, 1.0] {
                let exact = values[(share * 4999.0f64).round() as usize];
                let found = whole.quantile(share).unwrap();
                assert!((found - exact).abs() <= 0.0101 * exact.abs(), "{share}: {found} for {exact}");
            }
        }
        let mut few = QuantileSketch::default();
        assert_eq!(few.quantile(0.5), None);
        few.add(f64::NAN);
        assert!(few.quantile(0.5).unwrap().is_nan());
        [f64::MAX, f64::INFINITY, f64::NEG_INFINITY, 5e-324].into_iter().for_each(|value| few.add(value));
        assert_eq!(few.quantile(0.3), Some(0.0));
    }
}
