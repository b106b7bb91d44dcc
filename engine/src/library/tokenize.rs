//! Words, as Hadoop's WordCount example cuts them: java.util.StringTokenizer's defaults, over bytes.

use crate::base::Result;
use crate::base::masks::mask_any;
use crate::operator::{Batch, Form, Mapper, Out};

/// What lies between words.
pub const DELIMITERS: &[u8] = b" \t\n\r\x0c";

/// Emits each word with the number 1. Takes spans: line ends are delimiters like the others.
#[derive(Default)]
pub struct Tokenizer {
    bits: Vec<u64>,
}

impl Mapper for Tokenizer {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let data = batch.data();
        if out.form() == Form::Copy {
            words(data, &mut self.bits, |start, len| {
                out.emit(&data[start as usize..(start + len) as usize], &1u64.to_le_bytes())
            })?;
        } else {
            words(data, &mut self.bits, |start, len| out.emit_ref(start, len, 1))?;
        }
        Ok(())
    }
}

/// Calls `word(start, length)` for each word of `data`. `bits` is scratch.
#[inline]
pub fn words<E>(data: &[u8], bits: &mut Vec<u64>, mut word: impl FnMut(u32, u32) -> Result2<E>) -> Result2<E> {
    bits.resize(data.len().div_ceil(64), 0);
    mask_any(data, DELIMITERS, bits);
    // Bit i of `edges` is set where byte i and the one before differ in kind: starts and ends of words, in turn.
    let mut before = 1u64;
    let mut start = u32::MAX;
    for (w, &delimiters) in bits.iter().enumerate() {
        let mut edges = delimiters ^ (delimiters << 1 | before);
        before = delimiters >> 63;
        while edges != 0 {
            let at = (w * 64) as u32 + edges.trailing_zeros();
            edges &= edges - 1;
            if start == u32::MAX {
                start = at;
            } else {
                word(start, at - start)?;
                start = u32::MAX;
            }
        }
    }
    // Bits behind the end are 0, which reads as "no delimiter": a word that touches the end is still open, and one that seems to start at
    // the end is none.
    let len = data.len() as u32;
    if start != u32::MAX && start < len {
        word(start, len - start)?;
    }
    Ok(())
}

type Result2<E> = std::result::Result<(), E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_string_tokenizer() {
        let check = |text: &str| {
            let expect: Vec<&str> = text.split([' ', '\t', '\n', '\r', '\x0c']).filter(|w| !w.is_empty()).collect();
            let mut got = Vec::new();
            words(text.as_bytes(), &mut Vec::new(), |s, n| {
                got.push(&text[s as usize..(s + n) as usize]);
                Ok::<(), ()>(())
            })
            .unwrap();
            assert_eq!(got, expect, "{text:?}");
        };
        for text in ["", " ", "a", " a", "a ", "a b", "\n\na\x0bb\tc\r\n", "x\x0cy"] {
            check(text);
        }
        for n in 0..200 {
            check(&"w".repeat(n));
            check(&format!("{} {}", "w".repeat(n), "v".repeat(n % 70)));
            check(&format!("{}{} ", " ".repeat(n), "v".repeat(n % 3)));
        }
    }
}
