//! Table of whole numbers in a small range: the first row of each number, in an array.
//!
//! ```text
//!   heads   number - least -> row + 1, or 0
//!   bits    number - least -> 1 if there is a row         1/32 of the heads: in the cache where the heads are not
//! ```
//!
//! Keys of tables are usually such: with one number a row in order, not even the array is needed.

use yunti_engine::bytes::prefetch::prefetch;

use super::hash_table::Chains;
use crate::parallel::parallel;
use crate::store::NO_ROW;

/// Numbers of the range for each row, at most; a hash table takes about as many bytes.
const RANGE_A_ROW: u64 = 8;
const RANGE_MIN: u64 = 1 << 12;
/// Numbers of a range whose heads are not in the cache.
const BITS_RANGE: usize = 1 << 17;
const AHEAD: usize = 24;

/// Rows by number.
pub struct NumberTable {
    least: i64,
    range: u64,
    /// Empty if the row of a number is its distance from the least.
    heads: Vec<u32>,
    bits: Vec<u64>,
}

impl NumberTable {
    /// Builds the table of rows with these keys; None if their range is too large. `has_key` is false for a row that no
    /// key finds.
    pub fn build(
        words: &[i64],
        threads: usize,
        has_key: Option<&(dyn Fn(usize) -> bool + Sync)>,
        chains: &Chains,
    ) -> Option<NumberTable> {
        let (mut least, mut most, mut rows) = (i64::MAX, i64::MIN, words.len() as u64);
        match has_key {
            None => words.iter().for_each(|&word| (least, most) = (least.min(word), most.max(word))),
            Some(has_key) => {
                rows = 0;
                for (row, &word) in words.iter().enumerate() {
                    if has_key(row) {
                        (least, most) = (least.min(word), most.max(word));
                        rows += 1;
                    }
                }
            }
        }
        if rows == 0 {
            return Some(NumberTable { least: 0, range: 0, heads: Vec::new(), bits: Vec::new() });
        }
        let range = (i128::from(most) - i128::from(least) + 1) as u64;
        if range == 0 || range > (rows * RANGE_A_ROW).max(RANGE_MIN).min(u64::from(u32::MAX)) {
            return None;
        }
        let is_row = |(row, &word): (usize, &i64)| word.wrapping_sub(least) as u64 == row as u64;
        if has_key.is_none() && range == rows && words.iter().enumerate().all(is_row) {
            return Some(NumberTable { least, range, heads: Vec::new(), bits: Vec::new() });
        }
        let mut heads = vec![0u32; range as usize];
        // Each worker takes a stretch of numbers, so that no two write the same head.
        let each = (range as usize).div_ceil(threads.max(1)).max(1 << 16);
        let parts: Vec<(usize, std::sync::Mutex<&mut [u32]>)> =
            heads.chunks_mut(each).enumerate().map(|(n, part)| (n * each, std::sync::Mutex::new(part))).collect();
        parallel(&parts, |(first, part)| {
            let mut part = part.lock().unwrap_or_else(|e| e.into_inner());
            fill(words, (least, *first as u64), &mut part, has_key, chains);
        });
        drop(parts);
        let mut bits = Vec::new();
        if heads.len() >= BITS_RANGE {
            bits = heads
                .chunks(64)
                .map(|heads| heads.iter().enumerate().fold(0, |bits, (n, &head)| bits | u64::from(head != 0) << n))
                .collect();
        }
        Some(NumberTable { least, range, heads, bits })
    }

    /// Returns true if bits tell rows without a match from the others.
    pub fn has_filter(&self) -> bool {
        !self.bits.is_empty()
    }

    /// Sets the first row of each key of a batch. `filters`: true if the bits come first. Returns the number of keys
    /// that passed them.
    pub fn find(&self, words: &[i64], filters: bool, chosen: &mut Vec<u32>, heads: &mut [u32]) -> usize {
        let (least, range) = (self.least, self.range);
        if self.heads.is_empty() {
            for (head, &word) in heads.iter_mut().zip(words) {
                let distance = word.wrapping_sub(least) as u64;
                *head = if distance < range { distance as u32 } else { NO_ROW };
            }
            return words.len();
        }
        if filters && self.has_filter() {
            chosen.clear();
            chosen.resize(words.len(), 0);
            let mut len = 0;
            for (i, &word) in words.iter().enumerate() {
                let distance = word.wrapping_sub(least) as u64;
                let at = if distance < range { distance as usize } else { 0 };
                let bit = self.bits[at / 64] >> (at % 64) & 1 == 1 && distance < range;
                chosen[len] = i as u32;
                len += usize::from(bit);
            }
            chosen.truncate(len);
            for (j, &i) in chosen.iter().enumerate() {
                if let Some(&later) = chosen.get(j + AHEAD) {
                    let at = words[later as usize].wrapping_sub(least) as usize;
                    prefetch(self.heads.as_ptr().wrapping_add(at));
                }
                heads[i as usize] = self.heads[words[i as usize].wrapping_sub(least) as usize] - 1;
            }
            return len;
        }
        let far = self.heads.len() >= BITS_RANGE;
        for (i, &word) in words.iter().enumerate() {
            if far && let Some(later) = words.get(i + AHEAD) {
                prefetch(self.heads.as_ptr().wrapping_add(later.wrapping_sub(least) as usize));
            }
            let distance = word.wrapping_sub(least) as u64;
            if distance < range {
                // An empty head, 0, becomes `NO_ROW`.
                heads[i] = self.heads[distance as usize].wrapping_sub(1);
            }
        }
        words.len()
    }

    /// Calls `f` with the first row of each key.
    pub fn each_head(&self, mut f: impl FnMut(u32)) {
        if self.heads.is_empty() {
            (0..self.range as u32).for_each(f);
        } else {
            self.heads.iter().filter(|&&head| head != 0).for_each(|&head| f(head - 1));
        }
    }

    /// Returns the bytes of heads and bits.
    pub fn bytes(&self) -> u64 {
        4 * self.heads.len() as u64 + 8 * self.bits.len() as u64
    }
}

fn fill(
    words: &[i64],
    (least, first): (i64, u64),
    part: &mut [u32],
    has_key: Option<&(dyn Fn(usize) -> bool + Sync)>,
    chains: &Chains,
) {
    let len = part.len() as u64;
    // The last row first, so that the first row of a number is its head in the end.
    for (row, &word) in words.iter().enumerate().rev() {
        let at = (word.wrapping_sub(least) as u64).wrapping_sub(first);
        if at >= len || has_key.is_some_and(|has_key| !has_key(row)) {
            continue;
        }
        let head = &mut part[at as usize];
        if *head != 0 {
            chains.set(row, *head - 1, words.len());
        }
        *head = row as u32 + 1;
    }
}
