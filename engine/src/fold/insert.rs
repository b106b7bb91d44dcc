//! The fused path: an operator written in Rust pushes the keys that it finds straight into the table's batches.

use super::batch::Batch;
use super::table::FoldTable;
use crate::base::{Code, Error, Result};
use crate::operator::Batch as Input;
use crate::operator::folder::{FOLD_BATCH, Folder};

/// A mapper that can push its keys, each with the value 1, instead of emitting them.
///
/// Call order: `map_into` for each batch of the split, in the order of the split. What it pushes are slices of
/// `batch.data()`; nothing is emitted when the split ends.
pub trait FusedMapper: Send {
    fn map_into(&mut self, batch: &Input<'_>, into: &mut Inserter<'_>) -> Result<()>;
}

/// Takes keys that are slices of one piece of data. Call order: `push` or `room` and `advance`, then `finish` once.
pub struct Inserter<'a> {
    /// Filled up to `n`; from 64 on, the first 64 can go.
    spans: [[u32; 2]; 2 * FOLD_BATCH],
    n: usize,
    table: &'a mut FoldTable,
    folder: &'a mut dyn Folder,
    data: &'a [u8],
    /// Called when the table is full: drains it.
    evict: &'a mut dyn FnMut(&mut FoldTable) -> Result<()>,
    batches: Option<Box<[Batch; 2]>>,
    turn: usize,
}

impl<'a> Inserter<'a> {
    /// `evict` is called as often as the table is full, and must drain it.
    pub fn new(
        table: &'a mut FoldTable,
        folder: &'a mut dyn Folder,
        data: &'a [u8],
        evict: &'a mut dyn FnMut(&mut FoldTable) -> Result<()>,
    ) -> Self {
        let mut batches = table.take_batches();
        batches.iter_mut().for_each(|b| b.n = 0);
        let spans = [[0; 2]; 2 * FOLD_BATCH];
        Inserter { spans, n: 0, table, folder, data, evict, batches: Some(batches), turn: 0 }
    }

    /// The key is `data[offset..][..len]`.
    #[inline(always)]
    pub fn push(&mut self, offset: u32, len: u32) -> Result<()> {
        // `n` is below 64 here: masked, so that no check is left.
        self.spans[self.n % (2 * FOLD_BATCH)] = [offset, len];
        self.n += 1;
        if self.n >= FOLD_BATCH { self.flush() } else { Ok(()) }
    }

    /// Room for 64 keys (offset, length), of which `advance` says how many were written: for loops that have found
    /// several keys before they ask whether there is room.
    #[inline(always)]
    pub fn room(&mut self) -> &mut [[u32; 2]; FOLD_BATCH] {
        let n = self.n % FOLD_BATCH;
        let (_, rest) = self.spans.split_at_mut(n);
        rest.first_chunk_mut().expect("n is below 64: 64 of 128 are left")
    }

    #[inline(always)]
    pub fn advance(&mut self, n: usize) -> Result<()> {
        debug_assert!(n <= FOLD_BATCH);
        self.n += n.min(FOLD_BATCH);
        if self.n >= FOLD_BATCH { self.flush() } else { Ok(()) }
    }

    /// The first 64, of up to 127.
    #[inline(never)]
    fn flush(&mut self) -> Result<()> {
        self.submit(FOLD_BATCH)?;
        self.spans.copy_within(FOLD_BATCH.., 0);
        self.n -= FOLD_BATCH;
        Ok(())
    }

    /// Hashes the first `n`, and folds the batch before, whose homes are in the cache by now.
    fn submit(&mut self, n: usize) -> Result<()> {
        let Some(batches) = &mut self.batches else {
            return Err(Error::new(Code::Internal, "a key was pushed after a failure"));
        };
        let [a, b] = batches.each_mut();
        let (fresh, hashed) = if self.turn == 0 { (a, b) } else { (b, a) };
        fresh.set_ones(&self.spans[..n]);
        self.table.hash(fresh, self.data)?;
        while !self.table.settle(self.folder, hashed, self.data)? {
            (self.evict)(self.table)?;
            if !self.table.is_empty() {
                return Err(Error::new(Code::Internal, "a full table was not drained"));
            }
        }
        self.turn ^= 1;
        Ok(())
    }

    /// Folds the rest. An Inserter that is dropped without it has lost what was pushed last.
    pub fn finish(mut self) -> Result<()> {
        self.submit(self.n)?;
        self.n = 0;
        self.submit(0)?;
        if let Some(batches) = self.batches.take() {
            self.table.put_batches(batches);
        }
        Ok(())
    }
}
