//! A split of a bzip2 file: the data of the blocks that begin in it. The data of the following blocks comes after it,
//! as far as the caller reads.
//!
//! ```text
//!   bytes of the file:    start                         end
//!                    ..block ][ block ][ block ][ block   ][ block ..
//!                             |<----- this split's ------->|
//!                                                          boundary, known when reached
//! ```
//!
//! A block belongs to the split in which its mark begins, as with Hadoop's BZip2Codec; the first block of the file
//! belongs to the first split. A false mark is skipped only with proof: a block that begins before it and ends after
//! it. Without that proof the block counts as damaged, so that no data is lost silently.

use super::walk::{Event, INPUT_BYTES, MEMORY_BYTES, Walk, first_block};
use crate::codec::bzip2_blocks::{BLOCK_BYTES_MAX, Mark, find_mark};
use crate::env::NamedFile;
use crate::memory::Budget;
use crate::memory::budget::Grant;
use crate::read::byte_source::CutReader;
use std::sync::Arc;
use yunti_base::{Error, Result};

/// Bytes of the buffer for discarded data.
const DISCARD_BYTES: usize = 64 << 10;

/// Marks before a doubtful mark that are tried as the block containing it.
const PROOFS_MAX: usize = 16;

/// Decoded bytes of a split of a bzip2 file.
pub struct Bzip2Split {
    file: NamedFile,
    /// None if no block begins in the split.
    walk: Option<Walk>,
    end_bit: u64,
    given: u64,
    boundary: Option<u64>,
    ended: bool,
    _grant: Grant,
}

impl Bzip2Split {
    /// Finds the first block of the split [start, end), in bytes of the file. The decoder's memory is granted by
    /// `budget`.
    ///
    /// Errors: `Corrupt` for a mark that is neither a block nor proven false; `Input` for a failed read; `Memory`.
    pub fn new(file: NamedFile, start: u64, end: u64, budget: &Arc<Budget>) -> Result<Bzip2Split> {
        let grant = budget.grant(MEMORY_BYTES + DISCARD_BYTES as u64, "a bzip2 decoder")?;
        let first = first_block(&file)?;
        let own = match first {
            Some(first) if start > 0 => {
                find_block(&file, start.saturating_mul(8).max(first + 1), end.saturating_mul(8))?
            }
            first => first,
        };
        let walk = own.map(|block| Walk::new(file.clone(), block, Some(block) == first)).transpose()?;
        let ended = walk.is_none();
        let boundary = ended.then_some(0);
        Ok(Bzip2Split { file, walk, end_bit: end.saturating_mul(8), given: 0, boundary, ended, _grant: grant })
    }
}

impl CutReader for Bzip2Split {
    fn file(&self) -> &NamedFile {
        &self.file
    }

    fn boundary(&self) -> Option<u64> {
        self.boundary
    }

    fn ended(&self) -> bool {
        self.ended
    }

    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        let mut done = 0;
        while let Some(walk) = &mut self.walk
            && !self.ended
            && done < to.len()
        {
            match walk.next(&mut to[done..])? {
                Event::Data(n) => {
                    done += n;
                    self.given += n as u64;
                }
                Event::Block(bit) if bit < self.end_bit || self.boundary.is_some() => {}
                Event::Block(_) => {
                    self.boundary = Some(self.given);
                    break;
                }
                Event::End => {
                    self.boundary.get_or_insert(self.given);
                    self.ended = true;
                }
            }
        }
        Ok(done)
    }
}

/// Returns the first block that begins in bits [from, to).
fn find_block(file: &NamedFile, from: u64, to: u64) -> Result<Option<u64>> {
    let mut from = from;
    while let Some(candidate) = find_mark_in(file, from, to)? {
        match is_block(file, candidate) {
            Ok(()) => return Ok(Some(candidate)),
            Err(error) => prove_that_none_is(file, candidate, error)?,
        }
        from = candidate + 1;
    }
    Ok(None)
}

/// Returns the first mark of a block in bits [from, to), by its bits only.
fn find_mark_in(file: &NamedFile, mut from: u64, to: u64) -> Result<Option<u64>> {
    let mut input = vec![0; INPUT_BYTES];
    while from < to {
        let base = from / 8;
        let n = file.read_up_to(&mut input, base)?;
        match find_mark(&input[..n], from - base * 8) {
            Some((bit, mark)) => {
                let bit = base * 8 + bit;
                if bit >= to {
                    return Ok(None);
                }
                if mark == Mark::Block {
                    return Ok(Some(bit));
                }
                from = bit + 1;
            }
            None if n < input.len() => return Ok(None),
            // A mark may begin in the last bits.
            None => from = (base + n as u64 - 6) * 8,
        }
    }
    Ok(None)
}

/// Checks that a block begins at this bit and ends somewhere.
fn is_block(file: &NamedFile, bit: u64) -> Result<()> {
    let mut walk = Walk::new(file.clone(), bit, false)?;
    let mut discard = vec![0; DISCARD_BYTES];
    while let Event::Data(_) = walk.next(&mut discard)? {}
    Ok(())
}

/// Proves that `candidate` is no block: a block that begins before it ends after it. Otherwise returns `damage`, found
/// at it.
fn prove_that_none_is(file: &NamedFile, candidate: u64, damage: Error) -> Result<()> {
    let mut before = Vec::new();
    let mut from = candidate.saturating_sub(BLOCK_BYTES_MAX * 8);
    while let Some(mark) = find_mark_in(file, from, candidate)? {
        before.push(mark);
        from = mark + 1;
    }
    let mut discard = vec![0; DISCARD_BYTES];
    for &mark in before.iter().rev().take(PROOFS_MAX) {
        let Ok(mut walk) = Walk::new(file.clone(), mark, false) else { continue };
        loop {
            match walk.next(&mut discard) {
                Ok(Event::Block(bit)) if bit == candidate => return Err(damage),
                Ok(Event::Block(bit)) if bit > candidate => return Ok(()),
                Ok(Event::End) => return Ok(()),
                Ok(Event::Data(_) | Event::Block(_)) => {}
                // This mark is false too, or its block is damaged.
                Err(_) => break,
            }
        }
    }
    Err(damage)
}

#[cfg(test)]
#[path = "split_test.rs"]
mod tests;
