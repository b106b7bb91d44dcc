//! Random numbers of the generators: SplitMix64 (Steele, Lea, Flood 2014), seeded for each block.

/// A stream of random numbers: a mixed counter. A number costs two multiplications, and a new stream nothing.
#[derive(Clone, Debug)]
pub struct Random(u64);

/// Finaliser of SplitMix64: a bijection of 64 bits in which every input bit affects all output bits.
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d049bb133111eb);
    x ^ (x >> 31)
}

impl Random {
    /// Starts the stream of block `index` under `seed`. Streams of different blocks are independent.
    pub fn of_block(seed: u64, index: u64) -> Self {
        Random(mix(mix(seed.wrapping_add(0x9e3779b97f4a7c15)) ^ index))
    }

    /// Returns the next 64 random bits.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        mix(self.0)
    }

    /// Returns a random number in `0..bound`.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        scale((self.draw() >> 32) as u32, bound)
    }
}

/// Maps 32 random bits to `0..bound` by a multiplication. The bias is below bound / 2^32.
#[inline]
pub fn scale(bits: u32, bound: u32) -> u32 {
    ((u64::from(bits) * u64::from(bound)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_reference_values_of_splitmix64() {
        // Seed 1234567, as on rosettacode.org (from the authors' C program).
        let mut random = Random(1234567);
        let got: Vec<u64> = (0..5).map(|_| random.draw()).collect();
        assert_eq!(
            got,
            [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]
        );
    }

    #[test]
    fn below_reaches_every_value_and_no_other() {
        let mut random = Random::of_block(1, 2);
        let mut seen = [0u32; 7];
        for _ in 0..7000 {
            seen[random.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (800..1200).contains(&n)), "{seen:?}");
    }

    #[test]
    fn blocks_and_seeds_have_different_streams() {
        let first = |seed, index| Random::of_block(seed, index).draw();
        let mut all: Vec<u64> = (0..30).flat_map(|s| (0..30).map(move |i| first(s, i))).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 900);
    }
}
