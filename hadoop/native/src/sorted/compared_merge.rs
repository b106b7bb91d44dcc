//! Merge of sources in the order of the job's comparator, which gets a window of keys of each source.
//!
//! ```text
//!   source 0   | records | window: k k k k | records         |        keys of windows --> KeyMerge (the host)
//!   source 1   | window: k k k | records                     |        0 1 1 0 1 ..   <--  sources in order
//! ```
//!
//! Equal neighbours of a source are one key of its window, so repeated keys cost one comparison for all.

use std::sync::Arc;

use yunti_base::{Error, Result};
use yunti_engine::bytes::{KeyOrder, Record};
use yunti_engine::run::BlockSource;
use yunti_engine::run::block::{Block, Entry, Position};

use super::comparator::{Comparator, KeyMerge};
use crate::key::KeyBatch;

/// Bytes of the keys in all windows together: they lie in the heap of the host.
const WINDOWS_BYTES: usize = 4 << 20;
const WINDOW_BYTES_MIN: usize = 2 << 10;
/// Some hundred keys, so that a call takes little of their time. Records in memory are read for their keys and again
/// when they are passed on; with larger windows of many sources, they have left the caches by then.
const WINDOW_BYTES_MAX: usize = 8 << 10;
/// Records passed on at once, about.
const BATCH_RECORDS: usize = 256;
/// Records of a block that are decoded at once.
const DECODED_RECORDS: usize = 64;

/// A source of records in the comparator's order.
///
/// Call order: `load`, then `take` once for each key of the window; repeat until a window is empty.
pub trait KeyedSource: Send {
    /// Puts the keys of the next window, about `limit` bytes and at least one key, into `keys`, which is empty. None at
    /// the end.
    fn load(&mut self, keys: &mut KeyBatch, limit: usize) -> Result<()>;
    /// Passes on the records of the window's next key; returns their number.
    fn take(&mut self, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<usize>;
}

/// Records of several sources in the comparator's order.
pub struct ComparedMerge<'s> {
    sources: Vec<Box<dyn KeyedSource + 's>>,
    /// None for a single source, which needs no comparison.
    merge: Option<Box<dyn KeyMerge>>,
    keys: KeyBatch,
    window_bytes: usize,
    /// Sources of the next keys; the ones before `at` were passed on.
    sequence: Vec<u32>,
    at: usize,
    /// First error; the merge stops there.
    failed: Option<Error>,
}

impl<'s> ComparedMerge<'s> {
    /// Loads the first window of each source and finds the order of the first records, so that a comparator that fails
    /// does so here, as in Hadoop. Fails with the error of a source or of the comparator.
    pub fn new(sources: Vec<Box<dyn KeyedSource + 's>>, comparator: &dyn Comparator) -> Result<ComparedMerge<'s>> {
        let k = sources.len();
        let merge = if k > 1 { Some(comparator.merge(k)?) } else { None };
        let window_bytes = (WINDOWS_BYTES / k.max(1)).clamp(WINDOW_BYTES_MIN, WINDOW_BYTES_MAX);
        let (keys, sequence) = (KeyBatch::default(), Vec::new());
        let mut this = ComparedMerge { sources, merge, keys, window_bytes, sequence, at: 0, failed: None };
        if this.merge.is_some() {
            (0..k).try_for_each(|source| this.load(source))?;
        }
        this.advance()?;
        Ok(this)
    }

    fn load(&mut self, source: usize) -> Result<()> {
        self.keys.clear();
        self.sources[source].load(&mut self.keys, self.window_bytes)?;
        match &mut self.merge {
            Some(merge) => merge.put(source, &self.keys),
            None => {
                self.sequence.clear();
                self.sequence.resize(self.keys.len(), 0);
                Ok(())
            }
        }
    }

    /// Finds the order of the next records; returns false at the end. Fails with the error of a source or of the
    /// comparator; after an error, every call returns this error.
    pub fn advance(&mut self) -> Result<bool> {
        if self.at < self.sequence.len() {
            return Ok(true);
        }
        match &self.failed {
            Some(error) => Err(error.clone()),
            None => self.load_next().inspect_err(|e| self.failed = Some(e.clone())),
        }
    }

    fn load_next(&mut self) -> Result<bool> {
        self.at = 0;
        if self.merge.is_none() {
            if !self.sources.is_empty() {
                self.load(0)?;
            }
            return Ok(!self.sequence.is_empty());
        }
        if let Some(starved) = self.sequence.pop() {
            self.sequence.clear();
            self.load(starved as usize)?;
        }
        if let Some(merge) = &mut self.merge {
            self.sequence = merge.next()?;
        }
        Ok(!self.sequence.is_empty())
    }

    /// Passes on records whose order `advance` found. Fails with the error of `each`.
    pub fn emit(&mut self, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<()> {
        let mut records = 0;
        while records < BATCH_RECORDS && self.at < self.sequence.len() {
            records += self.sources[self.sequence[self.at] as usize].take(each)?;
            self.at += 1;
        }
        Ok(())
    }
}

/// Returns the merge of sources of blocks that are in the comparator's order.
pub fn merge_blocks<'s>(
    sources: Vec<Box<dyn BlockSource + 's>>,
    comparator: &Arc<dyn Comparator>,
) -> Result<ComparedMerge<'s>> {
    let keyed = sources.into_iter().map(|source| Box::new(BlockWindow::new(source)) as Box<dyn KeyedSource + 's>);
    ComparedMerge::new(keyed.collect(), &**comparator)
}

/// Windows over the blocks of a source. A window is a part of one block.
struct BlockWindow<'s> {
    source: Box<dyn BlockSource + 's>,
    block: Block,
    spare: Vec<u8>,
    /// Position behind the window.
    next: Position,
    /// Records of the window; the ones before `at` were passed on.
    entries: Vec<Entry>,
    at: usize,
    /// Number of records of each key that was not passed on, the next one last.
    counts: Vec<u32>,
    ended: bool,
}

impl<'s> BlockWindow<'s> {
    fn new(source: Box<dyn BlockSource + 's>) -> BlockWindow<'s> {
        BlockWindow {
            source,
            block: Block::default(),
            spare: Vec::new(),
            next: Position::default(),
            entries: Vec::new(),
            at: 0,
            counts: Vec::new(),
            ended: false,
        }
    }

    /// Decodes the next records of the block, until their keys take `limit` bytes.
    fn decode(&mut self, limit: usize) {
        let BlockWindow { block, next, entries, .. } = self;
        entries.clear();
        self.at = 0;
        let mut key_bytes = 0;
        loop {
            let before = entries.len();
            block.decode(next, DECODED_RECORDS, KeyOrder::BYTES, |_, entry| {
                key_bytes += entry.key_len as usize;
                entries.push(entry);
            });
            if key_bytes >= limit || entries.len() == before {
                return;
            }
        }
    }
}

impl KeyedSource for BlockWindow<'_> {
    fn load(&mut self, keys: &mut KeyBatch, limit: usize) -> Result<()> {
        debug_assert!(self.at == self.entries.len() && self.counts.is_empty());
        while !self.ended {
            self.decode(limit);
            if !self.entries.is_empty() {
                break;
            }
            self.block.check_end(self.next).map_err(|e| self.source.locate(e))?;
            self.ended = !self.source.next_block(&mut self.block, &mut self.spare)?;
            self.next = self.block.start();
        }
        if self.ended {
            // Free the memory of an exhausted source.
            (self.block, self.spare, self.entries, self.at) = (Block::default(), Vec::new(), Vec::new(), 0);
        }
        for entry in &self.entries {
            let key = self.block.key(entry);
            match self.counts.last_mut() {
                Some(count) if keys.last() == Some(key) => *count += 1,
                _ => {
                    keys.push(key);
                    self.counts.push(1);
                }
            }
        }
        self.counts.reverse();
        Ok(())
    }

    fn take(&mut self, each: &mut dyn FnMut(Record<'_>) -> Result<()>) -> Result<usize> {
        let count = self.counts.pop().unwrap_or(0) as usize;
        for entry in &self.entries[self.at..self.at + count] {
            each(self.block.record(entry))?;
        }
        self.at += count;
        Ok(count)
    }
}
