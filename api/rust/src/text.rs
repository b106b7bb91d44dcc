//! Cutting of text: words as Hadoop's word count cuts them, lines as Hadoop reads them.
//!
//! Both are slices of the text. `words` looks at 16 bytes at a time; `Out::words` emits the words of long texts by the
//! engine's vector instructions, which is faster still.
//! One of the listed files with `unsafe`: vector instructions.

/// Separators of words: space, tab, LF, form feed, CR, as in java.util.StringTokenizer.
pub(crate) const SPACES: [u8; 5] = *b" \t\n\x0c\r";

/// Bits of the bytes of a block that separate words.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn space_mask(block: &[u8; 64]) -> u64 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8};
    let mut mask = 0;
    for (i, part) in block.chunks_exact(16).enumerate() {
        // SAFETY: SSE2 belongs to every x86-64; 16 bytes are read.
        let found = unsafe {
            let bytes = _mm_loadu_si128(part.as_ptr().cast());
            let [a, b, c, d, e] = SPACES.map(|space| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(space as i8)));
            _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d)), e))
        };
        mask |= u64::from(found as u16) << (16 * i);
    }
    mask
}

/// Bits of the bytes of a block that separate words.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn space_mask(block: &[u8; 64]) -> u64 {
    let is_space = |byte: u8| byte == b' ' || (byte.wrapping_sub(9) < 5 && byte != 11);
    block.iter().rev().fold(0, |mask, &byte| mask << 1 | u64::from(is_space(byte)))
}

/// Words of a text, in order.
#[derive(Clone)]
pub struct Words<'a> {
    text: &'a [u8],
    /// Start of the block that the masks are of.
    at: usize,
    /// Start of the word that goes on.
    start: usize,
    ends: u64,
    starts: u64,
    /// 1: the last byte of the block belongs to a word.
    in_word: u64,
}

/// Returns the words of a text: what stands between spaces, tabs, line ends and form feeds. All other bytes belong to
/// words, also 0 and invalid UTF-8.
///
/// ```
/// let text = b"to be\tor\r\nnot";
/// assert_eq!(yunti_api::words(text).collect::<Vec<_>>(), [&b"to"[..], b"be", b"or", b"not"]);
/// ```
#[inline]
pub fn words(text: &[u8]) -> Words<'_> {
    let mut words = Words { text, at: 0, start: 0, ends: 0, starts: 0, in_word: 0 };
    words.find();
    words
}

impl<'a> Words<'a> {
    /// Sets the masks of the block at `at`.
    #[inline(always)]
    fn find(&mut self) {
        let rest = &self.text[self.at..];
        let separators = match rest.first_chunk::<64>() {
            Some(block) => space_mask(block),
            None => {
                // Bytes behind the end separate: they end the last word.
                let mut block = [b' '; 64];
                block[..rest.len()].copy_from_slice(rest);
                space_mask(&block)
            }
        };
        let letters = !separators;
        let after_letter = letters << 1 | self.in_word;
        self.ends = separators & after_letter;
        self.starts = letters & !after_letter;
        if self.in_word == 0 {
            self.next_start();
        }
        self.in_word = letters >> 63;
    }

    #[inline(always)]
    fn next_start(&mut self) {
        if self.starts != 0 {
            self.start = self.at + self.starts.trailing_zeros() as usize;
            self.starts &= self.starts - 1;
        }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    #[inline(always)]
    fn next(&mut self) -> Option<&'a [u8]> {
        while self.ends == 0 {
            if self.text.len() - self.at < 64 {
                return None;
            }
            self.at += 64;
            self.find();
        }
        let end = self.at + self.ends.trailing_zeros() as usize;
        self.ends &= self.ends - 1;
        let word = &self.text[self.start..end];
        self.next_start();
        Some(word)
    }
}

/// Lines of a text, in order.
#[derive(Clone)]
pub struct Lines<'a> {
    rest: &'a [u8],
}

/// Returns the lines of a text without their ends: LF, CR LF or CR; the last line may lack its end.
///
/// ```
/// assert_eq!(yunti_api::lines(b"a\r\n\nb\rc").collect::<Vec<_>>(), [&b"a"[..], b"", b"b", b"c"]);
/// ```
pub fn lines(text: &[u8]) -> Lines<'_> {
    Lines { rest: text }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&byte| byte == b'\n' || byte == b'\r').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = match rest {
            [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
            [] => rest,
        };
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_a_split_finds() {
        // A generator of texts with few letters; the seed is fixed.
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        for round in 0..2000 {
            let letters = if round % 2 == 0 { &b"ab\0\xff \t\n\x0b\x0c\r"[..] } else { b"abcdefghijklmnopqrstuvwxyz " };
            let text: Vec<u8> = (0..next() % 300).map(|_| letters[next() % letters.len()]).collect();
            let expect: Vec<&[u8]> = text.split(|b| SPACES.contains(b)).filter(|word| !word.is_empty()).collect();
            assert_eq!(words(&text).collect::<Vec<_>>(), expect, "{text:?}");
        }
        for n in [0, 1, 63, 64, 65, 127, 128, 129, 1000] {
            assert_eq!(words(&vec![b'x'; n]).map(<[u8]>::len).sum::<usize>(), n);
            assert_eq!(words(&vec![b' '; n]).count(), 0);
        }
    }

    #[test]
    fn lines_end_as_in_hadoop() {
        let check = |text: &str, expect: &[&str]| {
            let found: Vec<&[u8]> = lines(text.as_bytes()).collect();
            assert_eq!(found, expect.iter().map(|line| line.as_bytes()).collect::<Vec<_>>(), "{text:?}");
        };
        check("", &[]);
        check("\n", &[""]);
        check("a", &["a"]);
        check("a\n", &["a"]);
        check("a\r", &["a"]);
        check("a\r\n\r\nb", &["a", "", "b"]);
        check("a\n\rb\r\rc", &["a", "", "b", "", "c"]);
    }
}
