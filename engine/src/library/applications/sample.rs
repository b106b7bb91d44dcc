//! Sample of the records, each with the same probability; the same records for any splits and threads.

use super::selected::pass_on;
use crate::library::settings;
use crate::operator::{Batch, Mapper, Out, TaskContext};
use yunti_base::{Code, Error, Result};

/// Mapper that passes a random sample.
pub struct Sample {
    /// Records whose random number is below this are passed.
    below: u64,
    seed: u64,
}

impl Sample {
    /// Reads the settings `sample.fraction` and `sample.seed`. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<Self> {
        let fraction: f64 = settings::value(context, "sample.fraction", 0.01)?;
        if !(0.0..=1.0).contains(&fraction) {
            return Err(Error::new(Code::Usage, format!("the setting sample.fraction is {fraction}"))
                .hint("use a number from 0 to 1"));
        }
        Ok(Sample { below: (fraction * u64::MAX as f64) as u64, seed: settings::value(context, "sample.seed", 1)? })
    }

    /// Returns true if the record is in the sample: SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
    /// Generators, 2014) of its file and position.
    fn takes(&self, file: u32, position: u64) -> bool {
        self.below == u64::MAX || mix(mix(self.seed ^ u64::from(file)) ^ position) < self.below
    }
}

fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

impl Mapper for Sample {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let (file, first) = (batch.file_index(), batch.first_position());
        let keyed = batch.keys();
        for (i, &offset) in batch.values().offsets.iter().enumerate() {
            let at = keyed.map_or(offset, |keys| keys.offsets[i]);
            if self.takes(file, first + u64::from(at)) {
                pass_on(batch, i, out)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_requested_fraction() {
        for fraction in [0.0, 0.001, 0.1, 0.5, 1.0] {
            let sample = Sample { below: (fraction * u64::MAX as f64) as u64, seed: 7 };
            let n = 200_000;
            let taken = (0..n).filter(|i| sample.takes(3, i * 17)).count() as f64;
            let expect = fraction * n as f64;
            assert!((taken - expect).abs() <= 4.0 * (expect * (1.0 - fraction)).sqrt(), "{fraction}: {taken}");
        }
    }
}
