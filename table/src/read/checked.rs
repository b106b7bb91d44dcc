//! Blocks whose checksums were found right, so that each is computed once a process.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use yunti_base::Result;

use crate::format::sums::{self, BLOCK};

/// A bit for each block.
pub struct Checked {
    bits: Vec<AtomicU64>,
    /// Blocks that lookups read. Those of walks alone, such as the bits of used slots, may never be read.
    of_lookups: [Range<u64>; 2],
    /// Blocks of lookups that are not known to be right.
    left: AtomicU64,
    /// All blocks of lookups are right: nothing is left to look at.
    is_done: AtomicBool,
}

impl Checked {
    /// Returns bits for `bytes`; all are set if the checksums do not count. `lookups` are the bytes that lookups read,
    /// in two stretches.
    pub fn of(bytes: u64, is_trusted: bool, lookups: [Range<u64>; 2]) -> Checked {
        let blocks = sums::blocks(bytes);
        let whole = |of: Range<u64>| if of.is_empty() { 0..0 } else { of.start / BLOCK..of.end.div_ceil(BLOCK) };
        let [first, second] = lookups.map(whole);
        // A block that both have counts once.
        let second = second.start.max(first.end)..second.end.max(first.end);
        let left = first.end - first.start + second.end - second.start;
        let every = if is_trusted { u64::MAX } else { 0 };
        Checked {
            bits: (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(every)).collect(),
            of_lookups: [first, second],
            left: AtomicU64::new(left),
            is_done: AtomicBool::new(is_trusted),
        }
    }

    /// Returns true once all bytes that lookups read are known to be right.
    #[inline(always)]
    pub fn is_done(&self) -> bool {
        // Relaxed: the bytes do not change, so that it does not matter who sees the flag or a bit when.
        self.is_done.load(Ordering::Relaxed)
    }

    /// Returns true if the bytes of a range are known to be right. False says nothing.
    #[inline(always)]
    pub fn has(&self, begin: usize, length: usize) -> bool {
        let (first, last) = (begin / BLOCK as usize, (begin + length.max(1) - 1) / BLOCK as usize);
        first == last && self.has_block(first)
    }

    #[inline(always)]
    fn has_block(&self, block: usize) -> bool {
        self.bits.get(block / 64).is_some_and(|word| word.load(Ordering::Relaxed) >> (block % 64) & 1 == 1)
    }

    /// Yields the bytes of the blocks of a range that were not checked before. The last block may end behind the file.
    pub fn missing(&self, begin: usize, length: usize) -> impl Iterator<Item = Range<usize>> {
        let (first, last) = (begin / BLOCK as usize, (begin + length.max(1) - 1) / BLOCK as usize);
        let numbers = (first..=last).filter(|number| !self.has_block(*number));
        numbers.map(|number| number * BLOCK as usize..(number + 1) * BLOCK as usize)
    }

    /// Checks the blocks of a range that were not checked before. `bytes` are all before the sums.
    #[cold]
    #[inline(never)]
    pub fn check(&self, bytes: &[u8], sums: &[u8], begin: usize, length: usize) -> Result<()> {
        for Range { start: begin, end } in self.missing(begin, length) {
            let number = begin / BLOCK as usize;
            let block = bytes.get(begin..bytes.len().min(end)).unwrap_or_default();
            if block.is_empty() || !sums::is_right(block, number, sums) {
                return Err(sums::wrong(begin as u64));
            }
            let bit = 1 << (number % 64);
            let is_first = self.bits[number / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0;
            let is_of_lookups = self.of_lookups.iter().any(|of| of.contains(&(number as u64)));
            if is_first && is_of_lookups && self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
                self.is_done.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookups_are_done_with_their_own_blocks() {
        let bytes = vec![7_u8; 10 * BLOCK as usize];
        let sums: Vec<u8> = bytes.chunks(BLOCK as usize).flat_map(|b| crc32c::crc32c(b).to_le_bytes()).collect();
        let at = |block: f64| (block * BLOCK as f64) as u64;
        // A block that both stretches have counts once.
        let checked = Checked::of(bytes.len() as u64, false, [at(1.5)..at(2.5), at(2.5)..at(3.0)]);
        assert_eq!(checked.left.load(Ordering::Relaxed), 2);
        let checked = Checked::of(bytes.len() as u64, false, [at(1.5)..at(2.5), at(5.0)..at(7.0)]);
        for block in [0, 1, 2, 2, 5, 9] {
            checked.check(&bytes, &sums, block * BLOCK as usize, 1).unwrap();
            assert!(!checked.is_done());
        }
        assert!(!checked.has(at(6.0) as usize, 1) && checked.has(at(5.0) as usize, 1));
        checked.check(&bytes, &sums, at(6.5) as usize, 1).unwrap();
        assert!(checked.is_done() && !checked.has(at(3.0) as usize, 1));
        assert!(Checked::of(100, true, [0..0, 0..0]).is_done());
    }
}
