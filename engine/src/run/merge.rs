//! Merges k sources of sorted blocks into one stream, handed out in batches that borrow from the blocks.
//!
//! ```text
//!   source 0   | block . . . x . . |                        x  the head: the next record of a source
//!   source 1   | block . x . . . . |  -> loser tree -> batch: records that point into these blocks
//!   source 2   | block . . . . . x |
//! ```
//!
//! The order is (key, split, source, position in the source). With runs as sources in the order of writing, this is the
//! order of one stable sort. A batch ends after `BATCH_RECORDS`, or when a source reaches the end of its block. The
//! block is replaced in the next call, when no batch borrows from it.
//!
//! Rejected: decoding each record when it becomes the head. It takes nearly twice the time, because decoding is then in
//! the chain from winner to winner.
//!
//! Rejected: batches as slices of a kept vector. That needs unsafe code and saves one allocation per 256 records.

use std::ops::Deref;

use super::block::{Block, Entry, Position};
use super::loser_tree::{LoserTree, Rank};
use super::reader::BlockSource;
use crate::bytes::{KeyOrder, Record};
use yunti_base::{Error, Result};

/// Records of a batch, at most.
pub const BATCH_RECORDS: usize = 256;

/// A batch of merged records; it borrows from the blocks.
pub struct MergedBatch<'a>(Vec<Record<'a>>);

impl<'a> Deref for MergedBatch<'a> {
    type Target = [Record<'a>];
    fn deref(&self) -> &[Record<'a>] {
        &self.0
    }
}

/// Merge of k sources into one stream.
pub struct Merger<'s> {
    sources: Vec<Box<dyn BlockSource + 's>>,
    order: KeyOrder,
    blocks: Vec<Block>,
    heads: Vec<Head>,
    /// Rank behind each source's head, which the next match may need; exhausted: not decoded yet.
    next_ranks: Vec<Rank>,
    /// The tree of losers; None without sources.
    tree: Option<LoserTree>,
    /// True if the winner is at the end of its block.
    starved: bool,
    spare: Vec<u8>,
    /// First error of a source; the merge stops there.
    failed: Option<Error>,
}

/// Next records of a source, decoded a window at a time. Their keys are read together, long before use, so that the
/// memory latency is outside the chain from winner to winner.
#[derive(Clone)]
struct Head {
    /// Decoded records; an exhausted rank follows the last one.
    window: [(Rank, Entry); WINDOW_RECORDS + 1],
    /// Index of the head in the window.
    at: usize,
    /// Position behind the window.
    next: Position,
}

const WINDOW_RECORDS: usize = 16;

impl<'s> Merger<'s> {
    /// Reads the first block of each source. Sources are in the order of equal records of one split.
    ///
    /// Fails with the error of a source.
    pub fn new(sources: Vec<Box<dyn BlockSource + 's>>, order: KeyOrder) -> Result<Self> {
        let k = sources.len();
        let none = Head {
            window: [(Rank::exhausted(0), Entry::default()); WINDOW_RECORDS + 1],
            at: 0,
            next: Position::default(),
        };
        let mut this = Merger {
            sources,
            order,
            blocks: Vec::new(),
            heads: vec![none; k],
            next_ranks: vec![Rank::exhausted(0); k],
            tree: None,
            starved: false,
            spare: Vec::new(),
            failed: None,
        };
        this.blocks.resize_with(k, Block::default);
        let ranks = (0..k).map(|s| this.load(s)).collect::<Result<Vec<Rank>>>()?;
        if k > 0 {
            let Merger { blocks, heads, .. } = &this;
            this.tree = Some(LoserTree::new(&ranks, |a, b| comes_first(blocks, heads, order, a, b)));
        }
        Ok(this)
    }

    /// Returns the next records, or None at the end; a batch is never empty. After an error, every call returns this
    /// error.
    pub fn next_batch(&mut self) -> Result<Option<MergedBatch<'_>>> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let order = self.order;
        let Some(winner) = self.tree.as_ref().map(|tree| tree.winner().source()) else { return Ok(None) };
        if std::mem::take(&mut self.starved) {
            let rank = self.load(winner).inspect_err(|e| self.failed = Some(e.clone()))?;
            let Merger { blocks, heads, tree, .. } = self;
            if let Some(tree) = tree {
                tree.replay(rank, |a, b| comes_first(blocks, heads, order, a, b));
            }
        }
        let Merger { blocks, heads, next_ranks, tree: Some(tree), starved, .. } = self else { return Ok(None) };
        let blocks: &[Block] = blocks;
        let mut winner = tree.winner();
        if winner.is_exhausted() {
            return Ok(None);
        }
        let mut batch = Vec::with_capacity(BATCH_RECORDS);
        while batch.len() < BATCH_RECORDS && !winner.is_exhausted() {
            let source = winner.source();
            let (block, head) = (&blocks[source], &mut heads[source]);
            batch.push(block.record(&head.entry()));
            let mut rank = next_ranks[source];
            head.at += 1;
            if rank.is_exhausted() {
                if !head.refill(block, source, order) {
                    *starved = true;
                    break;
                }
                rank = head.window[0].0;
            }
            next_ranks[source] = head.rank_behind();
            // A repeated key wins again.
            if !rank.is_same(winner) {
                winner = tree.replay(rank, |a, b| comes_first(blocks, heads, order, a, b));
            }
        }
        Ok(Some(MergedBatch(batch)))
    }

    /// Moves to the first record of a source's next non-empty block; returns its rank.
    #[cold]
    fn load(&mut self, s: usize) -> Result<Rank> {
        let (block, head) = (&mut self.blocks[s], &mut self.heads[s]);
        loop {
            block.check_end(head.next).map_err(|e| self.sources[s].locate(e))?;
            if !self.sources[s].next_block(block, &mut self.spare)? {
                // Free the memory of an exhausted source.
                *block = Block::default();
                return Ok(Rank::exhausted(s));
            }
            head.next = block.start();
            if head.refill(block, s, self.order) {
                self.next_ranks[s] = head.rank_behind();
                return Ok(head.window[0].0);
            }
        }
    }
}

impl Head {
    #[inline(always)]
    fn entry(&self) -> Entry {
        self.window[self.at].1
    }

    #[inline(always)]
    fn rank_behind(&self) -> Rank {
        self.window[self.at + 1].0
    }

    /// Moves to the next window of the block; returns false at its end.
    #[inline(never)]
    fn refill(&mut self, block: &Block, source: usize, order: KeyOrder) -> bool {
        let mut len = 0;
        block.decode(&mut self.next, WINDOW_RECORDS, order, |prefix, entry| {
            self.window[len] = (Rank::new(prefix, entry.key_len, entry.split, source, order), entry);
            len += 1;
        });
        self.at = 0;
        self.window[len].0 = Rank::exhausted(source);
        len > 0
    }
}

/// Returns true if the head of `a` comes before the head of `b`: keys longer than their equal prefixes.
#[inline]
fn comes_first(blocks: &[Block], heads: &[Head], order: KeyOrder, a: usize, b: usize) -> bool {
    let (head_a, head_b) = (heads[a].entry(), heads[b].entry());
    let keys = order.compare(blocks[a].key(&head_a), blocks[b].key(&head_b));
    keys.then_with(|| (head_a.split, a).cmp(&(head_b.split, b))).is_lt()
}
