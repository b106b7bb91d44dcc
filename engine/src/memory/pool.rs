//! The pool of blocks that hold emitted records: one reserved range of addresses, committed block by block.
//! One of the listed files with `unsafe`: it turns positions into bytes.
//!
//! ```text
//!   base                                                            base + reserved
//!    |  block 0  |  block 1  |  block 2  | ...  fresh (not committed)       | slack |
//!         ^ a place is an offset from base in units of 4 bytes
//! ```
//!
//! A place is a number and never a pointer, so that a pool can become shared memory later. Returned blocks stay
//! committed and are reused first: a reused block is twice as fast to fill as a fresh one.

use std::sync::Arc;

use super::budget::Budget;
use super::buffer::{SLACK_BYTES, advise_huge, discard, map, unmap};
use crate::env::sync::Mutex;
use yunti_base::Result;

/// Bytes of one unit of a place.
pub const UNIT_BYTES: usize = 4;

/// A pool of equal blocks; threads share it.
pub struct Pool {
    base: *mut u8,
    reserved: usize,
    block_bytes: usize,
    /// log2 of `block_bytes`.
    block_shift: u32,
    budget: Arc<Budget>,
    state: Mutex<State>,
}

struct State {
    free: Vec<u32>,
    /// Blocks whose memory went back to the system.
    bare: Vec<u32>,
    /// First block that was never handed out.
    fresh: u32,
    blocks: u32,
}

// SAFETY: the Pool owns the range. A block's bytes are reached through its only Block while it is written, and through
// `bytes` once it is filled and no longer written (see there).
unsafe impl Send for Pool {}
// SAFETY: as above; the lists are behind a mutex.
unsafe impl Sync for Pool {}

/// One block, owned: its holder may write it. A Block does not return to the pool on drop; call `Pool::put`.
#[derive(Debug)]
pub struct Block {
    index: u32,
}

impl Block {
    /// Returns the block's number in the pool.
    pub fn index(&self) -> u32 {
        self.index
    }
}

impl Pool {
    /// Returns a pool of blocks of `block_bytes` (a power of two, at least 4096); each block is taken from `budget`.
    ///
    /// Fails with `Code::Memory` if the range cannot be reserved.
    pub fn new(budget: Arc<Budget>, block_bytes: usize) -> Result<Pool> {
        assert!(block_bytes.is_power_of_two() && block_bytes >= 4096);
        let blocks = (budget.limit_bytes() as usize / block_bytes).clamp(1, u32::MAX as usize);
        let reserved = blocks * block_bytes + 4096;
        let base = map(reserved)?;
        advise_huge(base, reserved);
        let state = Mutex::new(State { free: Vec::new(), bare: Vec::new(), fresh: 0, blocks: blocks as u32 });
        Ok(Pool { base, reserved, block_bytes, block_shift: block_bytes.trailing_zeros(), budget, state })
    }

    /// Returns the size of a block in bytes.
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Returns the bytes of addresses reserved: all blocks, and the slack behind the last.
    pub fn reserved(&self) -> usize {
        self.reserved
    }

    /// Returns the number of bits of a place.
    pub fn place_bits(&self) -> u32 {
        usize::BITS - (self.reserved / UNIT_BYTES).leading_zeros()
    }

    /// Returns a block with unspecified bytes, or None if the budget has too little.
    pub fn try_block(&self) -> Option<Block> {
        let mut state = self.lock();
        if let Some(index) = state.free.pop() {
            return Some(Block { index });
        }
        if (state.bare.is_empty() && state.fresh == state.blocks) || !self.budget.try_take(self.block_bytes as u64) {
            return None;
        }
        let index = state.bare.pop().unwrap_or_else(|| {
            state.fresh += 1;
            state.fresh - 1
        });
        Some(Block { index })
    }

    /// Takes blocks back for reuse. Places in them are not read afterwards.
    pub fn put(&self, blocks: impl IntoIterator<Item = Block>) {
        let mut state = self.lock();
        state.free.extend(blocks.into_iter().map(|b| b.index));
    }

    /// Returns the memory of the free blocks to the system and the budget.
    pub fn shrink(&self) {
        let mut state = self.lock();
        let mut free = std::mem::take(&mut state.free);
        free.sort_unstable();
        for neighbours in free.chunk_by(|a, b| a + 1 == *b) {
            let start = neighbours[0] as usize * self.block_bytes;
            // The lock is held: no block of the range is handed out while its pages are discarded.
            discard(self.base.wrapping_add(start), neighbours.len() * self.block_bytes);
        }
        self.budget.give((free.len() * self.block_bytes) as u64);
        // Lowest first again, so that the pool stays dense.
        free.reverse();
        state.bare.append(&mut free);
    }

    /// Returns the place of the byte at `offset` (a multiple of `UNIT_BYTES`) of a block.
    pub fn place(&self, block: &Block, offset: usize) -> u64 {
        debug_assert!(offset.is_multiple_of(UNIT_BYTES) && offset < self.block_bytes);
        ((block.index as usize * self.block_bytes + offset) / UNIT_BYTES) as u64
    }

    /// Returns the number of the block of a place, and the offset in the block in bytes.
    pub fn locate(&self, place: u64) -> (u32, usize) {
        let at = place as usize * UNIT_BYTES;
        ((at >> self.block_shift) as u32, at & (self.block_bytes - 1))
    }

    /// Returns the bytes of a block to its holder.
    pub fn bytes_mut<'a>(&'a self, block: &'a mut Block) -> &'a mut [u8] {
        // SAFETY: the Block is unique and borrowed mutably, and its range is within the reserved one.
        unsafe {
            std::slice::from_raw_parts_mut(self.base.add(block.index as usize * self.block_bytes), self.block_bytes)
        }
    }

    /// Returns the address of a block's first byte, for a cursor that foreign code moves.
    pub fn block_ptr(&self, block: &Block) -> *mut u8 {
        self.base.wrapping_add(block.index as usize * self.block_bytes)
    }

    /// Returns the address of the pool's first byte; places count from it.
    pub fn base(&self) -> *const u8 {
        self.base
    }

    /// Returns the address of the pool's first byte for writing; only into blocks that the caller holds.
    pub fn block_base(&self) -> *mut u8 {
        self.base
    }

    /// Returns `len` bytes at a place.
    ///
    /// # Safety
    ///
    /// The range is within blocks that were handed out and not returned. They are not written while the slice lives.
    pub unsafe fn bytes(&self, place: u64, len: usize) -> &[u8] {
        let at = place as usize * UNIT_BYTES;
        debug_assert!(at + len <= self.reserved);
        // SAFETY: as the caller promises.
        unsafe { std::slice::from_raw_parts(self.base.add(at), len) }
    }

    fn lock(&self) -> crate::env::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let state = self.lock();
        let committed = state.fresh as usize - state.bare.len();
        drop(state);
        unmap(self.base, self.reserved);
        self.budget.give((committed * self.block_bytes) as u64);
    }
}

// The last block's slack is in the spare page behind it.
const _: () = assert!(SLACK_BYTES <= 4096);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_blocks_from_the_budget_and_reuses_them() {
        let budget = Budget::new(3 * 4096);
        let pool = Pool::new(budget.clone(), 4096).unwrap();
        let mut blocks: Vec<Block> = std::iter::from_fn(|| pool.try_block()).collect();
        assert_eq!(blocks.len(), 3);
        pool.bytes_mut(&mut blocks[1])[8] = 9;
        let place = pool.place(&blocks[1], 8);
        assert_eq!(pool.locate(place), (blocks[1].index(), 8));
        // SAFETY: the block is held and not written during the read.
        assert_eq!(unsafe { pool.bytes(place, 1) }, [9]);
        pool.put(blocks.drain(..2));
        assert_eq!(budget.used_bytes(), 3 * 4096);
        pool.shrink();
        // Blocks that are not at the end are returned too.
        assert_eq!(budget.used_bytes(), 4096);
        assert!(budget.try_take(4096));
        assert_eq!(pool.try_block().unwrap().index(), 0);
        assert!(pool.try_block().is_none());
        budget.give(4096);
        drop(pool);
        assert_eq!(budget.used_bytes(), 0);
    }
}
