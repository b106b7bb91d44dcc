//! Rows in memory by stretches of their first key. A stretch is a morsel of the sorted rows: workers sort them when
//! they are read, each within the cache.
//!
//! ```text
//!   rows --word of the first key--> | nulls | < s0 | s0 .. s1 | s1 .. | nulls |      s: splitters of a sample
//!                                               sort      sort     sort
//! ```

use std::sync::{Arc, Mutex};

use yunti_base::Result;
use yunti_engine::memory::Grant;
use yunti_sql_plan::{Batch, MorselReader};

use super::collect::Layout;
use super::order::{Entry, Level, LevelRanks, Order};
use crate::parallel::parallel;
use crate::pipeline::Source;
use crate::store::Rows;

/// Rows of a bucket.
const BUCKET_ROWS: usize = if cfg!(test) { 1 << 6 } else { 1 << 15 };
const BUCKETS_MAX: usize = 1 << 10;
/// Samples for a bucket.
const SAMPLES: usize = 16;
/// Rows of a batch.
const BATCH_ROWS: usize = 8192;

/// Rows in buckets.
pub struct Buckets {
    sorted: Arc<Shared>,
    /// Entries of each bucket, and the rows that it gives, at most.
    buckets: Vec<(Mutex<Vec<Entry>>, usize)>,
}

struct Shared {
    rows: Rows,
    levels: Vec<Level>,
    ranks: LevelRanks,
    columns: usize,
    _grant: Option<Grant>,
}

impl Buckets {
    /// Puts rows into buckets on some workers.
    pub fn new(rows: Rows, layout: Layout, grant: Option<Grant>, limit: Option<usize>, threads: usize) -> Buckets {
        let ranks = LevelRanks::new(&layout.levels);
        let mut buckets = split(&rows, &layout.levels, &ranks, threads);
        let mut left = limit.unwrap_or(usize::MAX);
        let mut all = Vec::new();
        for bucket in buckets.drain(..) {
            if left == 0 {
                break;
            }
            let count = bucket.len().min(left);
            left -= count;
            if count > 0 {
                all.push((Mutex::new(bucket), count));
            }
        }
        let sorted = Arc::new(Shared { rows, levels: layout.levels, ranks, columns: layout.columns, _grant: grant });
        Buckets { sorted, buckets: all }
    }
}

/// Returns the entries of each bucket, in their order.
fn split(rows: &Rows, levels: &[Level], ranks: &LevelRanks, threads: usize) -> Vec<Vec<Entry>> {
    let order = Order::new(rows, levels, ranks);
    let len = rows.len();
    let each = len.div_ceil(threads.max(1)).max(BUCKET_ROWS);
    let stretches: Vec<(usize, usize)> = (0..len).step_by(each).map(|first| (first, (first + each).min(len))).collect();
    if len <= BUCKET_ROWS {
        return vec![(0..len as u32).map(|row| Entry { word: 0, row }).collect()];
    }
    // Words of all rows, the nulls apart.
    let mut parts = parallel(&stretches, |&(first, end)| {
        let all = (first as u32..end as u32).map(|row| Entry { word: 0, row });
        let (nulls, mut values): (Vec<Entry>, Vec<Entry>) = all.partition(|entry| order.is_null_first(entry.row));
        order.first_words(&mut values);
        (nulls, values)
    });
    let nulls: Vec<Entry> = parts.iter_mut().flat_map(|(nulls, _)| std::mem::take(nulls)).collect();
    let count: usize = parts.iter().map(|(_, values)| values.len()).sum();
    let buckets = (count / BUCKET_ROWS).clamp(1, BUCKETS_MAX);
    let step = (count / (buckets * SAMPLES)).max(1);
    let mut samples: Vec<u64> =
        parts.iter().flat_map(|(_, values)| values.iter().step_by(step).map(|entry| entry.word)).collect();
    samples.sort_unstable();
    let mut splitters: Vec<u64> =
        (1..buckets).filter_map(|n| samples.get(n * samples.len() / buckets).copied()).collect();
    splitters.dedup();
    let scattered = parallel(&parts, |(_, values)| {
        let numbers: Vec<u16> = values.iter().map(|entry| number(&splitters, entry.word)).collect();
        let mut counts = vec![0usize; splitters.len() + 1];
        numbers.iter().for_each(|&number| counts[usize::from(number)] += 1);
        let mut all: Vec<Vec<Entry>> = counts.into_iter().map(Vec::with_capacity).collect();
        values.iter().zip(numbers).for_each(|(&entry, number)| all[usize::from(number)].push(entry));
        all
    });
    drop(parts);
    let mut all: Vec<Vec<Entry>> = (0..=splitters.len()).map(|_| Vec::new()).collect();
    for part in scattered {
        for (to, from) in all.iter_mut().zip(part) {
            if to.is_empty() {
                *to = from;
            } else {
                to.extend(from);
            }
        }
    }
    match levels.first() {
        Some(level) if level.nulls_first => all.insert(0, nulls),
        _ => all.push(nulls),
    }
    all
}

/// Returns the number of splitters at or below a word.
#[inline(always)]
fn number(splitters: &[u64], word: u64) -> u16 {
    let (mut first, mut len) = (0usize, splitters.len());
    while len > 0 {
        let half = len / 2;
        let is_above = splitters[first + half] <= word;
        first = if is_above { first + half + 1 } else { first };
        len = if is_above { len - half - 1 } else { half };
    }
    first as u16
}

impl Source for Buckets {
    fn morsels(&self) -> Result<usize> {
        Ok(self.buckets.len())
    }

    fn open(&self, morsel: usize) -> Result<Box<dyn MorselReader>> {
        let (bucket, count) = &self.buckets[morsel];
        let mut entries = std::mem::take(&mut *bucket.lock().unwrap_or_else(|e| e.into_inner()));
        Order::new(&self.sorted.rows, &self.sorted.levels, &self.sorted.ranks).sort(&mut entries);
        let rows = entries.iter().take(*count).map(|entry| entry.row).collect();
        Ok(Box::new(Reader { of: self.sorted.clone(), rows, next: 0 }))
    }
}

struct Reader {
    of: Arc<Shared>,
    rows: Vec<u32>,
    next: usize,
}

impl MorselReader for Reader {
    fn next(&mut self) -> Result<Option<Batch>> {
        let rows = &self.rows[self.next..(self.next + BATCH_ROWS).min(self.rows.len())];
        self.next += rows.len();
        if rows.is_empty() {
            return Ok(None);
        }
        let columns = (0..self.of.columns).map(|n| Arc::new(self.of.rows.column(n).gather(rows))).collect();
        Ok(Some(Batch { columns, rows: rows.len() }))
    }
}
