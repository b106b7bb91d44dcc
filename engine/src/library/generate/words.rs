//! Invented words: a number and a length give a word of syllables. Two numbers never give the same word.
//!
//! A word is a number in base 64, written with 64 syllables (consonant, vowel) of six bits each. A word of odd length
//! ends with one of 16 consonants. The number is scrambled first, within the bits that its length can hold, so that
//! neighbours look different.

/// Letters of a word at most.
pub const WORD_LETTERS_MAX: usize = 16;

/// One word. The letters past `len` are filler, so that a copy can always take all 16.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub letters: [u8; WORD_LETTERS_MAX],
    pub len: u8,
}

impl Word {
    #[cfg(test)]
    pub fn as_bytes(&self) -> &[u8] {
        &self.letters[..usize::from(self.len)]
    }

    /// Makes the word of `number` with `letters` letters, or more if that number needs more. Two numbers never give the
    /// same word, for any lengths.
    ///
    /// # Panics
    /// When `number` has more than 48 bits, or `letters` is above 16.
    #[inline]
    pub fn new(number: u64, letters: usize) -> Word {
        let mut len = letters;
        while number >> bits_of(len) != 0 {
            len += 1;
            assert!(len <= WORD_LETTERS_MAX, "a word for the number {number}");
        }
        let mut rest = scramble(number, bits_of(len));
        let mut word = [0; WORD_LETTERS_MAX];
        let (pairs, _) = word.as_chunks_mut::<2>();
        for pair in pairs {
            *pair = SYLLABLES[(rest & 63) as usize];
            rest >>= 6;
        }
        Word { letters: word, len: len as u8 }
    }
}

/// Returns the bits that a word of `letters` letters can hold: 6 for a syllable, 4 for a last consonant.
#[inline]
fn bits_of(letters: usize) -> u32 {
    (letters / 2 * 6 + letters % 2 * 4) as u32
}

/// Maps the numbers of `bits` bits to each other, one to one.
#[inline]
fn scramble(x: u64, bits: u32) -> u64 {
    let mask = (1 << bits) - 1;
    let x = x.wrapping_mul(0x9e3779b97f4a7c15) & mask;
    let x = x ^ x >> bits.div_ceil(2);
    x.wrapping_mul(0xd1b54a32d192ed03) & mask
}

/// Syllables by number. The lower four bits choose the consonant, so a number below 16 begins with the last consonant
/// of an odd word, which saves `Word::new` a branch.
const SYLLABLES: [[u8; 2]; 64] = {
    let (consonants, vowels) = (b"tnshrdlcmfgpbvwk", b"eaoi");
    let mut table = [[0; 2]; 64];
    let mut i = 0;
    while i < 64 {
        table[i] = [consonants[i % 16], vowels[i / 16]];
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn words_of_one_length_differ() {
        for (letters, bits) in [(2, 6), (3, 10), (4, 12), (5, 16), (6, 18)] {
            let words: HashSet<Vec<u8>> = (0..1 << bits).map(|n| Word::new(n, letters).as_bytes().to_vec()).collect();
            assert_eq!(words.len(), 1 << bits);
            assert!(words.iter().all(|w| w.len() == letters && w.iter().all(u8::is_ascii_lowercase)));
        }
    }

    #[test]
    fn large_numbers_get_more_letters() {
        for (number, letters, expect) in
            [(0, 0, 0), (1, 0, 1), (63, 2, 2), (64, 2, 3), (1023, 3, 3), (1024, 3, 4), (1 << 40, 2, 14), (5, 16, 16)]
        {
            assert_eq!(Word::new(number, letters).as_bytes().len(), expect, "{number} in {letters} letters");
        }
    }

    #[test]
    fn every_length_is_a_bijection() {
        // An odd multiplication and a shift are a bijection for any number of bits.
        for letters in 2..=WORD_LETTERS_MAX {
            let bits = bits_of(letters);
            let top = (1u64 << bits) - 1;
            let some: HashSet<u64> = (0..1000).flat_map(|i| [i, top.saturating_sub(i)]).filter(|&n| n <= top).collect();
            let images: HashSet<u64> = some.iter().map(|&n| scramble(n, bits)).collect();
            assert_eq!(images.len(), some.len());
            assert!(images.iter().all(|&n| n <= top));
        }
    }

    #[test]
    #[should_panic(expected = "a word for the number")]
    fn number_beyond_48_bits_panics() {
        Word::new(1 << 48, 16);
    }
}
