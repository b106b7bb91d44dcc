//! Blocks whose checksums were found right, so that each is computed once a process.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use yunti_base::{Code, Error, Result};

use crate::format::sums::{self, BLOCK};

/// A bit for each block.
pub struct Checked {
    bits: Vec<AtomicU64>,
    left: AtomicU64,
    /// All blocks are right: nothing is left to look at.
    is_done: AtomicBool,
}

impl Checked {
    /// Returns bits for `bytes`; all are set if the checksums do not count.
    pub fn of(bytes: u64, is_trusted: bool) -> Checked {
        let blocks = sums::blocks(bytes);
        Checked {
            bits: (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            left: AtomicU64::new(blocks),
            is_done: AtomicBool::new(is_trusted),
        }
    }

    /// Returns true if the bytes of a range are known to be right. False says nothing.
    #[inline(always)]
    pub fn has(&self, begin: usize, length: usize) -> bool {
        // Relaxed: the bytes do not change, so that it does not matter who sees the bit when.
        self.is_done.load(Ordering::Relaxed) || self.has_bits(begin, length)
    }

    /// Returns true once all bytes are known to be right.
    #[inline(always)]
    pub fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Relaxed)
    }

    #[inline(always)]
    fn has_bits(&self, begin: usize, length: usize) -> bool {
        let (first, last) = (begin / BLOCK as usize, (begin + length.max(1) - 1) / BLOCK as usize);
        first == last && self.has_block(first)
    }

    #[inline(always)]
    fn has_block(&self, block: usize) -> bool {
        self.bits.get(block / 64).is_some_and(|word| word.load(Ordering::Relaxed) >> (block % 64) & 1 == 1)
    }

    /// Checks the blocks of a range that were not checked before. `bytes` are all before the sums.
    #[cold]
    #[inline(never)]
    pub fn check(&self, bytes: &[u8], sums: &[u8], begin: usize, length: usize) -> Result<()> {
        let (first, last) = (begin / BLOCK as usize, (begin + length.max(1) - 1) / BLOCK as usize);
        for number in (first..=last).filter(|number| !self.has_block(*number)) {
            let begin = number * BLOCK as usize;
            let block = bytes.get(begin..bytes.len().min(begin + BLOCK as usize)).unwrap_or_default();
            if block.is_empty() || !sums::is_right(block, number, sums) {
                let what = "the table is damaged: a checksum is wrong";
                return Err(Error::new(Code::Corrupt, what).at_offset(begin as u64).hint("build it again"));
            }
            let bit = 1 << (number % 64);
            let is_first = self.bits[number / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0;
            if is_first && self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
                self.is_done.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}
