//! Words as Hadoop's WordCount example splits them: by the defaults of java.util.StringTokenizer, over bytes.

use super::masks::{EDGES_SLACK, edges};

/// Bytes between words.
pub const DELIMITERS: &[u8] = b" \t\n\r\x0c";

/// Bytes split at a time: the positions stay in the first-level cache.
const STEP_BYTES: usize = 4096;

/// Word finder by edges: positions where a delimiter follows a byte of a word, or the reverse.
pub struct Edges {
    positions: Box<[u32; STEP_BYTES + EDGES_SLACK + 1]>,
}

impl Default for Edges {
    fn default() -> Self {
        Edges::new()
    }
}

impl Edges {
    /// Returns a finder for one stretch after the other.
    pub fn new() -> Self {
        Edges { positions: Box::new([0; STEP_BYTES + EDGES_SLACK + 1]) }
    }

    /// Calls `found` with start, end, start, end .. of the words in order, a few hundred at a time. `data` begins at
    /// position `from`.
    pub fn words<E>(
        &mut self,
        data: &[u8],
        from: u32,
        mut found: impl FnMut(&[u32]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        // True if the byte before was a delimiter.
        let mut before = true;
        // 1 if the first position is the start of a word from the step before.
        let mut open = 0;
        for (step, chunk) in data.chunks(STEP_BYTES).enumerate() {
            let base = from + (step * STEP_BYTES) as u32;
            let n = open + edges(chunk, DELIMITERS, base, &mut before, &mut self.positions[open..]);
            let whole = n & !1;
            found(&self.positions[..whole])?;
            open = n - whole;
            self.positions[0] = self.positions[whole];
        }
        if open == 1 {
            // The data ends within a word.
            found(&[self.positions[0], from + data.len() as u32])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_match_string_tokenizer() {
        let check = |text: &str| {
            let expect: Vec<&str> = text.split([' ', '\t', '\n', '\r', '\x0c']).filter(|w| !w.is_empty()).collect();
            let mut got = Vec::new();
            Edges::new()
                .words(text.as_bytes(), 7, |edges| {
                    got.extend(edges.chunks_exact(2).map(|w| &text[w[0] as usize - 7..w[1] as usize - 7]));
                    Ok::<(), ()>(())
                })
                .unwrap();
            assert_eq!(got, expect, "{text:?}");
        };
        for text in ["", " ", "a", " a", "a ", "a b", "\n\na\x0bb\tc\r\n", "x\x0cy"] {
            check(text);
        }
        for n in (0..200).chain(4000..4200) {
            check(&"w".repeat(n));
            check(&format!("{} {}", "w".repeat(n), "v".repeat(n % 70)));
            check(&format!("{}{} ", " ".repeat(n), "v".repeat(n % 3)));
        }
    }
}
