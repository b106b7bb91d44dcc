//! Texts of a `dict` column. Threads give them numbers as they come; the file has them sorted, so that the same rows
//! give the same file.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use yunti_base::{Code, Error, Result};

#[derive(Default)]
struct Texts {
    numbers: HashMap<Vec<u8>, u32>,
    bytes: u64,
}

/// Texts of a column, shared by all threads.
#[derive(Default)]
pub struct Dictionary {
    texts: Mutex<Texts>,
}

/// Texts that a thread has seen: most are found here.
#[derive(Default)]
pub struct Seen {
    numbers: HashMap<Vec<u8>, u32>,
}

/// Most texts that a thread remembers.
const SEEN: usize = 1 << 16;

impl Dictionary {
    /// Returns the number of a text.
    pub fn number(&self, seen: &mut Seen, text: &[u8]) -> Result<u32> {
        if let Some(number) = seen.numbers.get(text) {
            return Ok(*number);
        }
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let next = texts.numbers.len() as u32;
        let number = match texts.numbers.get(text) {
            Some(number) => *number,
            None => {
                texts.bytes += text.len() as u64;
                if texts.bytes > u64::from(u32::MAX) || next == u32::MAX {
                    let what = "a dictionary has more than 4 GiB of text";
                    return Err(Error::new(Code::Usage, what).hint("give the column the type utf8"));
                }
                texts.numbers.insert(text.to_vec(), next);
                next
            }
        };
        drop(texts);
        if seen.numbers.len() < SEEN {
            seen.numbers.insert(text.to_vec(), number);
        }
        Ok(number)
    }

    /// Returns the bytes of the dictionary in the file, and the new number of each old one.
    pub fn sorted(self) -> (Vec<u8>, Vec<u32>) {
        let texts = self.texts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut sorted: Vec<(Vec<u8>, u32)> = texts.numbers.into_iter().collect();
        sorted.sort_unstable();
        let mut ranks = vec![0; sorted.len()];
        let mut out = (sorted.len() as u64).to_le_bytes().to_vec();
        out.extend_from_slice(&texts.bytes.to_le_bytes());
        let mut end = 0_u32;
        for (rank, (text, number)) in sorted.iter().enumerate() {
            ranks[*number as usize] = rank as u32;
            end += text.len() as u32;
            out.extend_from_slice(&end.to_le_bytes());
        }
        sorted.iter().for_each(|(text, _)| out.extend_from_slice(text));
        out.resize(out.len().div_ceil(8) * 8, 0);
        (out, ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_sorted_in_the_file() {
        let dictionary = Dictionary::default();
        let (mut one, mut other) = (Seen::default(), Seen::default());
        let numbers = ["b", "a", "b", ""].map(|text| dictionary.number(&mut one, text.as_bytes()).unwrap());
        assert_eq!(numbers, [0, 1, 0, 2]);
        assert_eq!(dictionary.number(&mut other, b"a").unwrap(), 1);
        let (bytes, ranks) = dictionary.sorted();
        assert_eq!(ranks, [2, 1, 0]);
        assert_eq!(
            bytes,
            [3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, b'a', b'b', 0, 0]
        );
    }
}
