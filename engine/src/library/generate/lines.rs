//! Lines of random words in a block.

use super::random::Random;
use super::words::{WORD_LETTERS_MAX, Word};
use std::ops::RangeInclusive;

/// Words in a line, uniformly distributed: 62.5 on average, as in Hadoop's RandomTextWriter.
pub const LINE_WORDS: RangeInclusive<u32> = 15..=110;

/// Replaces `out` by lines of words, at most `bytes_max` bytes, ending with LF. The last line is cut after the last
/// word that fits.
pub fn fill(random: &mut Random, bytes_max: usize, out: &mut Vec<u8>, mut word: impl FnMut(&mut Random) -> Word) {
    // Each copy takes all 16 letters of a word, so there is room for one more word.
    out.resize(bytes_max + WORD_LETTERS_MAX, 0);
    let mut at = 0;
    let mut left = line_words(random);
    loop {
        let Word { letters, len } = word(random);
        let end = at + usize::from(len);
        if end >= bytes_max {
            break;
        }
        out[at..at + WORD_LETTERS_MAX].copy_from_slice(&letters);
        left -= 1;
        if left == 0 {
            out[end] = b'\n';
            left = line_words(random);
        } else {
            out[end] = b' ';
        }
        at = end + 1;
    }
    out.truncate(at);
    if let Some(last) = out.last_mut() {
        *last = b'\n';
    }
}

fn line_words(random: &mut Random) -> u32 {
    LINE_WORDS.start() + random.below(LINE_WORDS.end() - LINE_WORDS.start() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_ends_after_the_last_word_that_fits() {
        for (bytes_max, expect) in
            [(0, ""), (3, ""), (4, "tet\n"), (7, "tet\n"), (8, "tet tet\n"), (13, "tet tet tet\n")]
        {
            let mut out = b"something else".to_vec();
            fill(&mut Random::of_block(0, 0), bytes_max, &mut out, |_| Word::new(0, 3));
            assert_eq!(std::str::from_utf8(&out), Ok(expect));
        }
    }

    #[test]
    fn lines_have_15_to_110_words() {
        let mut out = Vec::new();
        fill(&mut Random::of_block(0, 0), 1 << 20, &mut out, |_| Word::new(0, 5));
        let lines: Vec<u32> = out.split(|&b| b == b'\n').map(|l| l.len().div_ceil(6) as u32).collect();
        let whole = &lines[..lines.len() - 2];
        assert!(whole.iter().all(|n| LINE_WORDS.contains(n)));
        assert!(whole.contains(&15) && whole.contains(&110));
        assert!((60..65).contains(&(whole.iter().sum::<u32>() / whole.len() as u32)));
    }
}
