//! Staging: where keys repeat, records are written into one block again and again, and go on as bundles.
//!
//! The block stays in the cache, and its memory is not fresh. If a stretch of records hardly repeats its keys, the
//! block itself becomes the block of the records, and nothing is copied.

use super::super::store::bundler::Bundler;
use super::super::store::{Layout, Store};
use super::Collector;
use crate::memory::Block;
use crate::operator::cursor::copied;
use yunti_base::Result;

/// Blocks of a share, at least, for one of them to be the staging block. Tests with little memory stage too.
const SHARE_BLOCKS_MIN: usize = if cfg!(debug_assertions) { 6 } else { 16 };

/// The staging block of a collector.
#[derive(Default)]
pub(super) struct Staging {
    bundler: Bundler,
    block: Option<Block>,
    /// True while the cursor writes into the block.
    is_open: bool,
}

impl Staging {
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns the number of blocks held.
    pub(super) fn blocks(&self) -> usize {
        usize::from(self.block.is_some())
    }

    /// Returns the block's first byte; null without a block.
    pub(super) fn ptr(&self, store: &Store) -> *mut u8 {
        self.block.as_ref().map_or(std::ptr::null_mut(), |block| store.pool().block_ptr(block))
    }

    /// Returns the block, if the cursor writes into it.
    pub(super) fn bytes_mut<'a>(&'a mut self, store: &'a Store) -> Option<&'a mut [u8]> {
        self.block.as_mut().filter(|_| self.is_open).map(|block| store.pool().bytes_mut(block))
    }

    /// Returns the block to the pool.
    pub(super) fn release(&mut self, store: &Store) {
        store.pool().put(self.block.take());
        self.is_open = false;
    }
}

impl Collector<'_> {
    /// Opens the staging block, if the next stretch of records should be tried for bundles.
    pub(super) fn stages(&mut self) -> Result<bool> {
        self.staging.is_open = false;
        // Only keys of bytes are as they were emitted.
        let is_possible = self.store.layout() == Layout::Headers && self.order.is_bytes();
        if !is_possible || self.blocks_max < SHARE_BLOCKS_MIN || !self.staging.bundler.wants_next() {
            return Ok(false);
        }
        if self.staging.block.is_none() {
            self.staging.block = Some(self.block()?);
        }
        self.staging.is_open = true;
        Ok(true)
    }

    /// Takes `len` bytes of records from the staging block.
    pub(super) fn index_staged(&mut self, len: usize) -> Result<()> {
        self.staging.is_open = false;
        let Some(mut block) = self.staging.block.take() else { return Ok(()) };
        let store = self.store.clone();
        let bytes = &store.pool().bytes_mut(&mut block)[..len];
        self.partition.choose(bytes, copied(bytes))?;
        let fits = |key: usize, value: usize| self.types.0.fits(key) && self.types.1.fits(value);
        if !self.staging.bundler.group(bytes, self.partition.chosen(), fits) {
            store.set_tag(&block, self.split, self.number);
            self.number += 1;
            self.collected.blocks.push(block);
            self.used = 0;
            return self.index_chosen(len);
        }
        let mut bundler = std::mem::take(&mut self.staging.bundler);
        let result = self.put_bundles(&mut bundler, bytes);
        (self.staging.bundler, self.staging.block) = (bundler, Some(block));
        result
    }

    fn put_bundles(&mut self, bundler: &mut Bundler, bytes: &[u8]) -> Result<()> {
        let store = self.store.clone();
        self.partition.set_chosen(bundler.partitions());
        let mut group = 0;
        while group < bundler.groups() {
            // Rooms of few bytes are left, as `give_direct` leaves them.
            self.give_direct(bundler.bytes(group))?;
            let (end, last) = (self.room_of(), self.collected.blocks.len() - 1);
            let to = &mut store.pool().bytes_mut(&mut self.collected.blocks[last])[self.used..end];
            let (next, len) = bundler.write(bytes, group, to);
            group = next;
            self.index_chosen(len)?;
        }
        Ok(())
    }
}
