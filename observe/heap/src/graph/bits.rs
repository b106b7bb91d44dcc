//! Set of numbers as bits, which counts the members below a number in constant time.

/// Words of a block with a count of its own.
const BLOCK_WORDS: usize = 8;

/// Set of numbers below a bound.
#[derive(Clone, Default)]
pub struct Bits {
    words: Vec<u64>,
    /// Members before each block; empty until `count`.
    before: Vec<u32>,
}

impl Bits {
    /// Returns an empty set of numbers below `bound`.
    pub fn new(bound: usize) -> Bits {
        Bits { words: vec![0; bound.div_ceil(64)], before: Vec::new() }
    }

    /// Adds a number.
    pub fn set(&mut self, number: u32) {
        self.words[number as usize / 64] |= 1 << (number % 64);
    }

    /// Adds the members of another set with the same bound.
    pub fn join(&mut self, other: &Bits) {
        self.words.iter_mut().zip(&other.words).for_each(|(own, other)| *own |= other);
    }

    /// Returns true for a member.
    #[inline]
    pub fn get(&self, number: u32) -> bool {
        self.words.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Returns membership of up to 64 numbers from `first` on, as bits.
    pub fn range(&self, first: u32, count: u32) -> u64 {
        let (word, bit) = (first as usize / 64, first % 64);
        let low = self.words.get(word).map_or(0, |word| word >> bit);
        let high = if bit > 0 { self.words.get(word + 1).map_or(0, |word| word << (64 - bit)) } else { 0 };
        let all = low | high;
        if count < 64 { all & ((1 << count) - 1) } else { all }
    }

    /// Prepares `rank`, and returns the number of members.
    pub fn count(&mut self) -> usize {
        let mut sum = 0;
        self.before = self
            .words
            .chunks(BLOCK_WORDS)
            .map(|block| {
                let before = sum;
                sum += block.iter().map(|word| word.count_ones()).sum::<u32>();
                before
            })
            .collect();
        sum as usize
    }

    /// Returns the number of members below a number.
    #[inline]
    pub fn rank(&self, number: u32) -> u32 {
        let word = number as usize / 64;
        let block = word / BLOCK_WORDS;
        let whole: u32 = self.words[block * BLOCK_WORDS..word].iter().map(|word| word.count_ones()).sum();
        self.before[block] + whole + (self.words[word] & ((1 << (number % 64)) - 1)).count_ones()
    }

    /// Returns the members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                (rest != 0).then(|| {
                    rest &= rest - 1;
                    i as u32 * 64 + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_members_below() {
        let mut bits = Bits::new(2000);
        let members: Vec<u32> = (0..2000).filter(|n| n % 7 == 3 || n % 64 == 63).collect();
        members.iter().for_each(|&n| bits.set(n));
        assert_eq!(bits.count(), members.len());
        assert!(bits.iter().eq(members.iter().copied()));
        for n in 0..2000 {
            assert_eq!(bits.rank(n) as usize, members.iter().filter(|&&m| m < n).count());
            assert_eq!(bits.get(n), members.contains(&n));
            for count in [0, 1, 17, 63, 64] {
                let want = (0..count).filter(|i| bits.get(n + i)).fold(0, |all, i| all | 1 << i);
                assert_eq!(bits.range(n, count), want);
            }
        }
    }
}
