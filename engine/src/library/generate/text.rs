//! Text with few distinct words: lines of about 680 bytes whose words are drawn uniformly from a vocabulary.
//!
//! The default of 1,000 distinct words gives about 92 million words in 1.47 million lines for 1 GB, the proportions of
//! Hadoop's RandomTextWriter. The vocabulary does not depend on the seed.

use super::random::Random;
use super::words::Word;
use super::{Blocks, lines};
use yunti_base::{Code, Error, Result};

/// Uniform text, in blocks.
pub struct TextBlocks {
    seed: u64,
    vocabulary: Vec<Word>,
}

impl TextBlocks {
    /// Default number of distinct words.
    pub const DISTINCT_WORDS: u32 = 1_000;
    /// Limit of distinct words: the vocabulary takes 17 bytes a word, and the memory budget does not count it.
    pub const DISTINCT_WORDS_MAX: u32 = 1_000_000;

    /// Makes a generator. Errors: `Usage` if `distinct_words` is not in `1..=DISTINCT_WORDS_MAX`.
    pub fn new(seed: u64, distinct_words: u32) -> Result<Self> {
        if !(1..=Self::DISTINCT_WORDS_MAX).contains(&distinct_words) {
            return Err(Error::new(Code::Usage, format!("text cannot have {distinct_words} distinct words"))
                .hint(format!("give 1 to {}, or generate zipf with exponent 0", Self::DISTINCT_WORDS_MAX)));
        }
        let vocabulary = (0..distinct_words).map(|i| Word::new(u64::from(i), letters_of(i))).collect();
        Ok(TextBlocks { seed, vocabulary })
    }
}

impl Blocks for TextBlocks {
    fn block(&self, index: u64, bytes_max: usize, out: &mut Vec<u8>) {
        let mut random = Random::of_block(self.seed, index);
        let words = self.vocabulary.len() as u32;
        lines::fill(&mut random, bytes_max, out, |random| self.vocabulary[random.below(words) as usize]);
    }
}

/// Words of 3, 4, .. 16 letters in a thousand; the mean is 9.87 letters.
const LENGTHS: [u32; 14] = [20, 30, 40, 75, 85, 110, 100, 110, 105, 90, 75, 75, 55, 30];

/// Returns the length of a word. Any thousand consecutive words have exactly the lengths of `LENGTHS`, well mixed.
fn letters_of(word: u32) -> usize {
    let mut place = word % 1000 * 617 % 1000;
    for (i, &share) in LENGTHS.iter().enumerate() {
        if place < share {
            return i + 3;
        }
        place -= share;
    }
    unreachable!("the shares are a thousand")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::generate::BLOCK_BYTES;
    use crate::library::generate::testing::{check_blocks, fnv64};
    use std::collections::{HashMap, HashSet};

    fn first_blocks(blocks: &TextBlocks, n: u64) -> Vec<u8> {
        let (mut all, mut one) = (Vec::new(), Vec::new());
        for index in 0..n {
            blocks.block(index, BLOCK_BYTES, &mut one);
            all.extend_from_slice(&one);
        }
        all
    }

    #[test]
    fn blocks_are_independent_and_end_at_lines() {
        check_blocks(&TextBlocks::new(1, 1000).unwrap(), 17);
        check_blocks(&TextBlocks::new(1, 1).unwrap(), 17);
    }

    #[test]
    fn defaults_match_hadoops_random_text_writer() {
        let text = first_blocks(&TextBlocks::new(0, TextBlocks::DISTINCT_WORDS).unwrap(), 8);
        let mut counts = HashMap::new();
        for word in text.split(|b| matches!(b, b' ' | b'\n')).filter(|w| !w.is_empty()) {
            assert!((3..=16).contains(&word.len()));
            *counts.entry(word).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 1000);
        let words: u32 = counts.values().sum();
        let (least, most) = (counts.values().min().unwrap(), counts.values().max().unwrap());
        assert!(*least * 4 > words / 1000 * 3 && *most * 3 < words / 1000 * 4, "{least} {most} of {words}");
        let in_gigabyte = f64::from(words) / text.len() as f64 * 1e9;
        assert!((91e6..93e6).contains(&in_gigabyte), "{in_gigabyte} words");
        let line_bytes = text.len() / text.iter().filter(|&&b| b == b'\n').count();
        assert!((650..710).contains(&line_bytes), "{line_bytes}");
    }

    #[test]
    fn bytes_are_pinned() {
        for (seed, distinct_words, expect) in [(0, 1000, 0x9e2c68aca503f5be), (1, 20, 0x9282d95f1d1d8122)] {
            assert_eq!(
                fnv64(&first_blocks(&TextBlocks::new(seed, distinct_words).unwrap(), 2)),
                expect,
                "seed {seed}, {distinct_words} words"
            );
        }
    }

    #[test]
    fn vocabularies_have_no_duplicates() {
        for n in [1, 2, 999, 1001, 200_000] {
            let text = TextBlocks::new(0, n).unwrap();
            let words: HashSet<&[u8]> = text.vocabulary.iter().map(Word::as_bytes).collect();
            assert_eq!(words.len(), n as usize);
        }
    }

    #[test]
    fn refuses_impossible_vocabularies() {
        for n in [0, TextBlocks::DISTINCT_WORDS_MAX + 1, u32::MAX] {
            assert_eq!(TextBlocks::new(0, n).err().unwrap().code(), Code::Usage);
        }
    }
}
