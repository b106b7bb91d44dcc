//! Merge of sorted runs: the first row of all runs, again and again.
//!
//! ```text
//!   runs    | block | block | ..    one block of each in memory; key of a row: nulls, word of the first level
//!   heap    run with the first row on top; keys that are equal: the rows are compared, level by level
//! ```
//!
//! Runs beyond those whose blocks fit in memory are merged into longer ones first. Limitation: one worker merges.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use yunti_base::Result;
use yunti_engine::columns::normal::ordered_float;
use yunti_engine::columns::vector::Data;
use yunti_sql_plan::{Batch, MorselReader};

use super::collect::{BLOCK_BYTES_MAX, BLOCK_BYTES_MIN, Layout, Run};
use super::order::{Level, decimal_word, int_word, text_word};
use crate::context::Context;
use crate::pipeline::Source;
use crate::spill::{Block, Spill, concat};
use crate::store::Rows;
use crate::store::column::{Column, Values};

/// Rows of a batch.
const BATCH_ROWS: usize = 4096;

/// Runs that are merged when they are read.
pub struct Merge {
    reader: Mutex<Option<Merged>>,
}

impl Merge {
    /// Merges runs until the blocks of the rest fit in memory together.
    pub fn new(
        mut runs: Vec<Run>,
        layout: Layout,
        limit: Option<usize>,
        spill: Arc<Spill>,
        context: &Context,
    ) -> Result<Merge> {
        let bytes = context.budget.limit_bytes();
        let block = (bytes / 64).clamp(BLOCK_BYTES_MIN, BLOCK_BYTES_MAX);
        let most = (bytes / (8 * block)).clamp(8, 256) as usize;
        let layout = Arc::new(layout);
        while runs.len() > most {
            // Only as many as needed, the shortest first.
            runs.sort_by_key(|run| std::cmp::Reverse(run.iter().map(|block| block.rows).sum::<usize>()));
            let count = (runs.len() - most + 1).min(most);
            let short = runs.split_off(runs.len() - count);
            let mut merged = Merged::new(short, &layout, limit, &spill, context.clone())?;
            let mut blocks = Vec::new();
            while let Some(batch) = merged.next_rows()? {
                spill.write(&batch, (), &mut blocks)?;
            }
            runs.push(blocks.into_iter().map(|((), block)| block).collect());
        }
        let merged = Merged::new(runs, &layout, limit, &spill, context.clone())?;
        Ok(Merge { reader: Mutex::new(Some(merged)) })
    }
}

impl Source for Merge {
    fn morsels(&self) -> Result<usize> {
        Ok(1)
    }

    fn open(&self, _morsel: usize) -> Result<Box<dyn MorselReader>> {
        Ok(Box::new(Reader(self.reader.lock().unwrap_or_else(|e| e.into_inner()).take())))
    }
}

struct Reader(Option<Merged>);

impl MorselReader for Reader {
    fn next(&mut self) -> Result<Option<Batch>> {
        let Some(merged) = &mut self.0 else { return Ok(None) };
        let columns: Vec<usize> = (0..merged.layout.columns).collect();
        Ok(merged.next_rows()?.map(|batch| batch.project(&columns)))
    }
}

/// Rows of runs in order.
struct Merged {
    cursors: Vec<Cursor>,
    /// Cursors that have rows: a heap, the one with the first row on top.
    heap: Vec<usize>,
    layout: Arc<Layout>,
    left: usize,
    /// Rows of a batch.
    together: usize,
    spill: Arc<Spill>,
    context: Context,
}

/// Place in a run.
struct Cursor {
    blocks: VecDeque<Block>,
    rows: Arc<Rows>,
    /// Key of each row of the block.
    keys: Vec<u128>,
    at: usize,
}

impl Cursor {
    /// Reads the next block; false if there is none.
    fn advance(&mut self, layout: &Layout, spill: &Spill) -> Result<bool> {
        let Some(block) = self.blocks.pop_front() else { return Ok(false) };
        let rows = Rows::of(vec![spill.read(&block, &layout.kinds)?], &layout.kinds, 1)?;
        spill.free(&block);
        self.keys = match layout.levels.first() {
            Some(level) => keys(rows.column(level.place), *level, rows.len()),
            None => vec![0; rows.len()],
        };
        (self.rows, self.at) = (Arc::new(rows), 0);
        Ok(true)
    }
}

impl Merged {
    fn new(
        runs: Vec<Run>,
        layout: &Arc<Layout>,
        limit: Option<usize>,
        spill: &Arc<Spill>,
        context: Context,
    ) -> Result<Merged> {
        let mut cursors = Vec::new();
        let mut together = BATCH_ROWS;
        for run in runs {
            together = together.min(run.iter().map(|block| block.rows).max().unwrap_or(together).max(1));
            let mut cursor = Cursor { blocks: run.into(), rows: Arc::default(), keys: Vec::new(), at: 0 };
            if cursor.advance(layout, spill)? {
                cursors.push(cursor);
            }
        }
        let heap = (0..cursors.len()).collect();
        let (layout, spill) = (layout.clone(), spill.clone());
        let left = limit.unwrap_or(usize::MAX);
        let mut merged = Merged { cursors, heap, layout, left, together, spill, context };
        (0..merged.heap.len() / 2).rev().for_each(|n| merged.sift(n));
        Ok(merged)
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        let (x, y) = (&self.cursors[a], &self.cursors[b]);
        x.keys[x.at]
            .cmp(&y.keys[y.at])
            .then_with(|| compare((&x.rows, x.at), (&y.rows, y.at), &self.layout.levels))
            .then(a.cmp(&b))
    }

    /// Moves an entry of the heap down to its place.
    fn sift(&mut self, mut n: usize) {
        loop {
            let mut first = n;
            for child in [2 * n + 1, 2 * n + 2] {
                if child < self.heap.len() && self.compare(self.heap[child], self.heap[first]).is_lt() {
                    first = child;
                }
            }
            if first == n {
                return;
            }
            self.heap.swap(n, first);
            n = first;
        }
    }

    /// Returns the next rows, with the keys that are no columns.
    fn next_rows(&mut self) -> Result<Option<Batch>> {
        self.context.check()?;
        // Blocks that the batch takes rows from, each with the rows' places in the batch.
        let mut sources: Vec<(Arc<Rows>, Vec<u32>, Vec<u32>)> = Vec::new();
        let mut source_of: Vec<Option<usize>> = vec![None; self.cursors.len()];
        let mut count = 0;
        while count < self.together && count < self.left {
            let Some(&top) = self.heap.first() else { break };
            let cursor = &mut self.cursors[top];
            let source = *source_of[top].get_or_insert_with(|| {
                sources.push((cursor.rows.clone(), Vec::new(), Vec::new()));
                sources.len() - 1
            });
            sources[source].1.push(cursor.at as u32);
            sources[source].2.push(count as u32);
            count += 1;
            cursor.at += 1;
            if cursor.at == cursor.rows.len() {
                source_of[top] = None;
                if !cursor.advance(&self.layout, &self.spill)? {
                    self.heap.swap_remove(0);
                }
            }
            if !self.heap.is_empty() {
                self.sift(0);
            }
        }
        if count == 0 {
            return Ok(None);
        }
        self.left -= count;
        let mut places = vec![0u32; count];
        let mut at = 0;
        let mut parts = Vec::new();
        for (rows, numbers, to) in sources {
            to.iter().for_each(|&place| {
                places[place as usize] = at;
                at += 1;
            });
            let columns = (0..rows.columns()).map(|n| Arc::new(rows.column(n).gather(&numbers))).collect();
            parts.push(Batch { columns, rows: numbers.len() });
        }
        Ok(Some(concat(parts, &self.layout.kinds)?.select(&places)))
    }
}

/// Returns a key of each row: nulls, then the word of the level.
fn keys(column: &Column, level: Level, rows: usize) -> Vec<u128> {
    let flip = if level.descending { u64::MAX } else { 0 };
    let null = if level.nulls_first { 0 } else { 2u128 << 64 };
    let key = |row: usize, word: u64| match &column.nulls {
        Some(nulls) if nulls[row] => null,
        _ => 1 << 64 | u128::from(word ^ flip),
    };
    match &column.values {
        Values::Fixed(Data::Ints(v) | Data::SmallDecimals(v)) => (0..rows).map(|n| key(n, int_word(v[n]))).collect(),
        Values::Fixed(Data::Floats(v)) => (0..rows).map(|n| key(n, ordered_float(v[n]))).collect(),
        Values::Fixed(Data::Bools(v)) => (0..rows).map(|n| key(n, v[n].into())).collect(),
        Values::Fixed(Data::Decimals(v)) => (0..rows).map(|n| key(n, decimal_word(v[n]))).collect(),
        Values::Fixed(_) => vec![0; rows],
        Values::Texts(texts) => (0..rows).map(|n| key(n, text_word(texts.get(n)))).collect(),
    }
}

/// Compares two rows of blocks in all levels.
fn compare((a, x): (&Rows, usize), (b, y): (&Rows, usize), levels: &[Level]) -> Ordering {
    for level in levels {
        let (left, right) = (a.column(level.place), b.column(level.place));
        let order = match (left.is_null(x), right.is_null(y)) {
            (true, true) => continue,
            (null, other) if null | other => {
                if null == level.nulls_first {
                    return Ordering::Less;
                }
                return Ordering::Greater;
            }
            _ => match (&left.values, &right.values) {
                (Values::Fixed(Data::Ints(v)), Values::Fixed(Data::Ints(w))) => v[x].cmp(&w[y]),
                (Values::Fixed(Data::Floats(v)), Values::Fixed(Data::Floats(w))) => {
                    ordered_float(v[x]).cmp(&ordered_float(w[y]))
                }
                (Values::Fixed(Data::Bools(v)), Values::Fixed(Data::Bools(w))) => v[x].cmp(&w[y]),
                (Values::Texts(v), Values::Texts(w)) => v.get(x).cmp(w.get(y)),
                (Values::Fixed(v), Values::Fixed(w)) => units(v, x).cmp(&units(w, y)),
                _ => Ordering::Equal,
            },
        };
        if order.is_ne() {
            return if level.descending { order.reverse() } else { order };
        }
    }
    Ordering::Equal
}

fn units(data: &Data, row: usize) -> i128 {
    match data {
        Data::SmallDecimals(v) => v[row].into(),
        Data::Decimals(v) => v[row],
        _ => 0,
    }
}
