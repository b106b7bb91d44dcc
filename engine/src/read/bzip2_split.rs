//! A stretch of a bzip2 file: the data of the blocks that begin in it, and then that of the blocks behind, for as long as it is asked for.
//!
//! ```text
//!   bytes of the file:    start                         end
//!                    ..block ][ block ][ block ][ block   ][ block ..
//!                             |<----- this split's ------->|
//!                                                          boundary, known when it is reached
//! ```
//!
//! A block belongs to the split in which its mark begins, as with Hadoop's BZip2Codec; the first one of the file to the split that begins
//! the file. What looks like a mark and is none is passed over where that is proven: by a block that begins before it and ends behind
//! it. Without that proof the block is damaged: no data is lost in silence.

use super::bzip2_walk::{Event, INPUT_BYTES, MEMORY_BYTES, Walk, first_block};
use crate::codec::bzip2_blocks::{BLOCK_BYTES_MAX, Mark, find_mark};
use crate::env::NamedFile;
use crate::memory::Budget;
use crate::memory::budget::Grant;
use std::sync::Arc;
use yunti_base::{Error, Result};

/// Data that is only looked at goes here.
const DISCARD_BYTES: usize = 64 << 10;

/// Marks before a doubtful one that are tried for the block that holds it.
const PROOFS_MAX: usize = 16;

pub struct Bzip2Split {
    file: NamedFile,
    /// None: no block begins here.
    walk: Option<Walk>,
    end_bit: u64,
    given: u64,
    boundary: Option<u64>,
    ended: bool,
    _grant: Grant,
}

impl Bzip2Split {
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

    pub fn file(&self) -> &NamedFile {
        &self.file
    }

    /// How many bytes are of this split's own blocks; none before the last of them was given out.
    pub fn boundary(&self) -> Option<u64> {
        self.boundary
    }

    /// Nothing follows in the file.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Reads into `to`, as much as it takes; less at the end, and once at the boundary.
    pub fn read(&mut self, to: &mut [u8]) -> Result<usize> {
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

/// The first block that begins in [from, to).
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

/// The first mark of a block that begins in [from, to), by its bits alone.
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

/// Whether a block that ends somewhere begins at this bit.
fn is_block(file: &NamedFile, bit: u64) -> Result<()> {
    let mut walk = Walk::new(file.clone(), bit, false)?;
    let mut discard = vec![0; DISCARD_BYTES];
    while let Event::Data(_) = walk.next(&mut discard)? {}
    Ok(())
}

/// Nothing if a block that begins before `candidate` ends behind it; else `damage`, which was found at it.
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
                // It is none itself, or damaged.
                Err(_) => break,
            }
        }
    }
    Err(damage)
}

#[cfg(test)]
#[path = "bzip2_split_test.rs"]
mod tests;
