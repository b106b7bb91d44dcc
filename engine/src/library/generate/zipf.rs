//! Text with very many distinct words: the word of rank *r* is drawn with a probability proportional to r^-s.
//!
//! Common words are short and rare ones long, as in natural language: 2 letters at rank 1, 12 at rank two million. With
//! the defaults, 2 GB have about 5 million distinct words of 12 letters. The words of the text have 7 letters on
//! average, because common words are short. A word is computed from its rank, so no memory grows with the number of
//! distinct words.

use super::random::{Random, scale};
use super::words::{WORD_LETTERS_MAX, Word};
use super::{Blocks, lines};
use yunti_base::{Code, Error, Result};

/// Text with Zipf's distribution, in blocks.
pub struct ZipfBlocks {
    seed: u64,
    ranks: ZipfRanks,
}

impl ZipfBlocks {
    /// Default number of distinct words.
    pub const DISTINCT_WORDS: u32 = 5_000_000;
    /// Default exponent s.
    pub const EXPONENT: f64 = 1.0;

    /// Makes a generator. Errors: `Usage` if `distinct_words` is zero, or `exponent` is not in `0.0..=20.0`.
    pub fn new(seed: u64, distinct_words: u32, exponent: f64) -> Result<Self> {
        Ok(ZipfBlocks { seed, ranks: ZipfRanks::new(distinct_words, exponent)? })
    }
}

impl Blocks for ZipfBlocks {
    fn block(&self, index: u64, bytes_max: usize, out: &mut Vec<u8>) {
        let mut random = Random::of_block(self.seed, index);
        lines::fill(&mut random, bytes_max, out, |random| word_of_rank(self.ranks.draw(random)));
    }
}

/// Returns the word of a rank from 1: half a letter longer each time the rank doubles, give or take one letter.
#[inline]
fn word_of_rank(rank: u32) -> Word {
    let doublings = rank.ilog2() as usize;
    let more_or_less = [0, 1, 1, 2][(rank.wrapping_mul(0x9e3779b9) >> 30) as usize];
    let letters = (doublings + 4) / 2 + more_or_less - 1;
    Word::new(u64::from(rank), letters.clamp(2, WORD_LETTERS_MAX))
}

/// Generator of ranks from 1 to n with probability proportional to rank^-s, exact and in constant time.
///
/// ```text
///   weight |_                            Ranks below 128 have a step of their own; a later step is
///          | |__                         1/64 of its first rank wide. A step is drawn by its area
///          |    |____                    from an alias table (Walker 1977); its height is the weight
///          |         |_______            of its first rank. A rank in it is drawn uniformly and kept
///          +---------------------> rank  with probability (first / rank)^s, above 98 % for s = 1.
/// ```
///
/// Rejected: inversion with rejection (Hoermann and Derflinger 1996). It needs an exponential for each draw, whose last
/// bit differs between C libraries and processors. A rank in the millions depends on that bit, so the same seed could
/// give other text on another machine. Here powers are compared with 32 random bits only, which hides their last bit,
/// and only for one draw in 65 (s = 1). The table has 16 KB for 5 million ranks.
struct ZipfRanks {
    steps: Vec<Step>,
    exponent: f64,
}

#[derive(Clone, Copy)]
struct Step {
    first: u32,
    width: u32,
    /// 2^32 times the weight of the step's last rank as a share of its first: a smaller coin keeps any rank.
    keep_all: u32,
    /// A coin below it takes this step, any other the step `other`.
    take: u32,
    other: u32,
}

impl ZipfRanks {
    fn new(ranks: u32, exponent: f64) -> Result<Self> {
        if ranks == 0 {
            return Err(Error::new(Code::Usage, "zipf needs words").hint("give at least 1 distinct word"));
        }
        if !(0.0..=20.0).contains(&exponent) {
            return Err(Error::new(Code::Usage, format!("zipf cannot have the exponent {exponent}"))
                .hint("give 0 (all words alike) to 20; natural text has about 1"));
        }
        let mut steps = Vec::new();
        let mut hats = Vec::new();
        let mut first = 1;
        while first <= ranks {
            let width = (first / 64).max(1).min(ranks - first + 1);
            let last = f64::from(first + (width - 1));
            let keep_all = scaled((f64::from(first) / last).powf(exponent));
            steps.push(Step { first, width, keep_all, take: u32::MAX, other: steps.len() as u32 });
            hats.push(f64::from(width) * f64::from(first).powf(-exponent));
            match first.checked_add(width) {
                Some(next) => first = next,
                None => break,
            }
        }
        make_alias_table(&mut steps, hats);
        Ok(ZipfRanks { steps, exponent })
    }

    #[inline]
    fn draw(&self, random: &mut Random) -> u32 {
        loop {
            let (place, coin) = halves(random.draw());
            let mut step = &self.steps[scale(place, self.steps.len() as u32) as usize];
            if coin >= step.take {
                step = &self.steps[step.other as usize];
            }
            let (place, coin) = halves(random.draw());
            let rank = step.first + scale(place, step.width);
            if coin < step.keep_all || self.keeps(coin, step.first, rank) {
                return rank;
            }
        }
    }

    #[cold]
    fn keeps(&self, coin: u32, first: u32, rank: u32) -> bool {
        coin <= scaled((f64::from(first) / f64::from(rank)).powf(self.exponent))
    }
}

/// Builds Walker's alias table: every step gets the same share of the draws, and passes what it does not need to one
/// larger step.
fn make_alias_table(steps: &mut [Step], mut hats: Vec<f64>) {
    let mean = hats.iter().sum::<f64>() / hats.len() as f64;
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..hats.len()).partition(|&i| hats[i] < mean);
    while let (Some(&giver), Some(&taker)) = (small.last(), large.last()) {
        small.pop();
        steps[giver].take = scaled(hats[giver] / mean);
        steps[giver].other = taker as u32;
        hats[taker] -= mean - hats[giver];
        if hats[taker] < mean {
            large.pop();
            small.push(taker);
        }
    }
}

/// Returns a probability times 2^32; one becomes the largest number.
fn scaled(probability: f64) -> u32 {
    (probability * 4294967296.0) as u32
}

#[inline]
fn halves(bits: u64) -> (u32, u32) {
    ((bits >> 32) as u32, bits as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::generate::BLOCK_BYTES;
    use crate::library::generate::testing::{check_blocks, fnv64};
    use std::collections::HashSet;

    #[test]
    fn blocks_are_independent_and_end_at_lines() {
        check_blocks(&ZipfBlocks::new(1, ZipfBlocks::DISTINCT_WORDS, ZipfBlocks::EXPONENT).unwrap(), 17);
        check_blocks(&ZipfBlocks::new(1, 1, 1.0).unwrap(), 17);
    }

    #[test]
    fn bytes_are_pinned() {
        for (seed, distinct_words, exponent, expect) in
            [(0, 5_000_000, 1.0, 0x8513365cd4bec544), (1, 1000, 0.7, 0xedcc194da4d16d95)]
        {
            let mut out = Vec::new();
            ZipfBlocks::new(seed, distinct_words, exponent).unwrap().block(3, BLOCK_BYTES, &mut out);
            assert_eq!(fnv64(&out), expect, "seed {seed}, {distinct_words} words, exponent {exponent}");
        }
    }

    /// Chi-square test of ranges of ranks against the exact probabilities.
    #[test]
    fn ranks_follow_zipfs_law() {
        const DRAWS: u32 = 1_000_000;
        for (ranks, exponent) in
            [(1, 1.0), (2, 1.0), (63, 1.0), (1000, 0.0), (1000, 0.5), (5000, 1.0), (100_000, 1.3), (100, 20.0)]
        {
            let weights: Vec<f64> = (1..=ranks).map(|r| f64::from(r).powf(-exponent)).collect();
            let total: f64 = weights.iter().sum();
            let zipf = ZipfRanks::new(ranks, exponent).unwrap();
            let mut random = Random::of_block(7, u64::from(ranks));
            let mut seen = vec![0u32; ranks as usize];
            for _ in 0..DRAWS {
                seen[zipf.draw(&mut random) as usize - 1] += 1;
            }
            // Ranges of ranks that expect at least 1,000 draws each.
            let (mut chi, mut cells, mut expect, mut got) = (0.0, 0, 0.0, 0.0);
            for (i, (&n, weight)) in seen.iter().zip(&weights).enumerate() {
                expect += weight / total * f64::from(DRAWS);
                got += f64::from(n);
                if expect >= 1000.0 || i + 1 == seen.len() {
                    chi += (got - expect) * (got - expect) / expect.max(1.0);
                    cells += 1;
                    (expect, got) = (0.0, 0.0);
                }
            }
            let limit = f64::from(cells) + 5.0 * (2.0 * f64::from(cells)).sqrt();
            assert!(chi < limit, "{ranks} ranks, exponent {exponent}: chi-square {chi:.1} of {cells} cells");
        }
    }

    #[test]
    fn reaches_the_last_ranks_and_no_further() {
        let zipf = ZipfRanks::new(u32::MAX, 0.0).unwrap();
        let mut random = Random::of_block(0, 0);
        let most = (0..100_000).map(|_| zipf.draw(&mut random)).max().unwrap();
        assert!(most > u32::MAX - u32::MAX / 1000, "{most}");
        assert_eq!(zipf.steps.iter().map(|s| u64::from(s.width)).sum::<u64>(), u64::from(u32::MAX));
    }

    #[test]
    fn no_two_ranks_have_the_same_word() {
        let ranks = || (1..300_000).chain(9_900_000..10_000_000).chain(u32::MAX - 1000..=u32::MAX);
        let words: HashSet<[u8; 17]> = ranks()
            .map(|rank| {
                let mut padded = [0; 17];
                let word = word_of_rank(rank);
                padded[..word.as_bytes().len()].copy_from_slice(word.as_bytes());
                padded
            })
            .collect();
        assert_eq!(words.len(), ranks().count());
    }

    #[test]
    fn rare_words_are_longer() {
        for (from, to, least, most) in [(1, 10, 2.0, 4.0), (100, 200, 4.0, 6.0), (1 << 20, 5_100_000, 11.5, 12.5)] {
            let letters: u64 = (from..to).map(|rank| u64::from(word_of_rank(rank).len)).sum();
            let mean = letters as f64 / f64::from(to - from);
            assert!((least..most).contains(&mean), "ranks {from} to {to}: {mean} letters");
        }
    }

    #[test]
    fn refuses_impossible_arguments() {
        for (ranks, exponent) in [(0, 1.0), (9, -0.1), (9, 20.1), (9, f64::NAN), (9, f64::INFINITY)] {
            assert_eq!(ZipfBlocks::new(0, ranks, exponent).err().unwrap().code(), Code::Usage);
        }
    }
}
