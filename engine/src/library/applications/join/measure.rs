//! The first pass over the small side of a hash join: how many rows each part of the table gets, and the memory of the
//! table.
//!
//! A row is staged as its lengths, its key and its other columns. Rows of one range of hashes are one partition of the
//! table. With the bytes of each chunk and partition, every chunk of the second pass knows where its rows go, in the
//! order of the file, and workers share nothing.

use std::ops::Range;
use std::sync::Arc;

use super::side_lines::{LineBuffer, SideLines, buffer_bytes};
use super::table::{bucket_of, directory_bytes, staged_bytes};
use super::{Cut, Side};
use crate::env::Crew;
use crate::env::sync::{Mutex, lock};
use crate::fold::Hasher;
use crate::memory::{Budget, Grant};
use crate::operator::TaskContext;
use yunti_base::Result;

/// Bytes of the file in a partition, about: it fits in a core's cache.
const PARTITION_BYTES: u64 = if cfg!(debug_assertions) { 256 } else { 256 << 10 };
const PARTITIONS_MAX: u64 = 1024;
/// Bytes of a row's hash and place, and of its bucket, while a partition is put in order.
pub(super) const ENTRY_BYTES: u64 = 32;

/// The small side, measured.
pub struct Measured {
    pub(super) lines: SideLines,
    pub(super) side: Side,
    pub(super) hasher: Hasher,
    pub(super) chunks: Vec<Range<u64>>,
    /// Bytes of the staged rows by chunk, then partition.
    pub(super) bytes: Vec<u64>,
    /// Rows by partition.
    pub(super) rows: Vec<u64>,
    /// Bytes of the largest buffer for lines.
    line_bytes: u64,
    /// Lines with fewer columns.
    pub short: u64,
    memory: Grant,
}

/// Sums of one worker.
struct Sums {
    rows: Vec<u64>,
    short: u64,
}

/// Measures the small side of a job. `workers`: how many share the chunks.
///
/// Errors: `Usage` for bad settings; `Input` for a file that cannot be read; `Memory` for too little to measure it.
pub fn measure(
    context: &TaskContext,
    lines: SideLines,
    budget: &Arc<Budget>,
    crew: &Crew<'_>,
    seed: u64,
) -> Result<Measured> {
    let side = Side::new(context, "join.right.column")?;
    let hasher = Hasher::new(seed);
    let chunks = lines.chunks();
    let partitions = (lines.len() / PARTITION_BYTES).clamp(1, PARTITIONS_MAX).next_power_of_two() as usize;
    let bits = partitions.trailing_zeros();
    let workers = crew.workers.clamp(1, chunks.len().max(1));
    // A count for each chunk and partition, and while the table is built the place of their rows.
    let counts = (chunks.len() * partitions * 24 + workers * partitions * 8) as u64;
    let memory = budget.grant(counts, "the counts of a hash join")?;
    let bytes: Vec<Mutex<Vec<u64>>> = chunks.iter().map(|_| Mutex::default()).collect();
    let sums: Vec<Mutex<Option<(Sums, LineBuffer)>>> = (0..workers).map(|_| Mutex::default()).collect();
    Crew { workers, ..*crew }.each(chunks.len(), |worker, number| {
        let mut own = lock(&sums[worker]);
        if own.is_none() {
            *own = Some((Sums { rows: vec![0; partitions], short: 0 }, LineBuffer::new(budget)?));
        }
        let Some((sums, buffer)) = &mut *own else { return Ok(()) };
        let mut here = vec![0; partitions];
        lines.each(&chunks[number], buffer, crew.cancel, |line| {
            let Some(cut) = side.cut(line) else {
                sums.short += 1;
                return Ok(());
            };
            let partition = bucket_of(hasher.of(cut.key), bits);
            here[partition] += row_bytes(&cut);
            sums.rows[partition] += 1;
            Ok(())
        })?;
        *lock(&bytes[number]) = here;
        Ok(())
    })?;
    let bytes = bytes.into_iter().flat_map(|b| b.into_inner().unwrap_or_else(|e| e.into_inner())).collect();
    let (mut rows, mut short, mut line_bytes) = (vec![0; partitions], 0, buffer_bytes());
    for own in sums {
        if let Some((own, buffer)) = own.into_inner().unwrap_or_else(|e| e.into_inner()) {
            rows.iter_mut().zip(own.rows).for_each(|(all, own)| *all += own);
            short += own.short;
            line_bytes = line_bytes.max(buffer.memory_bytes());
        }
    }
    Ok(Measured { lines, side, hasher, chunks, bytes, rows, line_bytes, short, memory })
}

fn row_bytes(cut: &Cut<'_>) -> u64 {
    staged_bytes(cut.key.len(), cut.rest_len()) as u64
}

impl Measured {
    /// Returns the bytes of the table.
    pub fn table_bytes(&self) -> u64 {
        self.bytes.iter().sum::<u64>() + directory_bytes(self.buckets_log2())
    }

    /// Returns the bytes beyond the table that `workers` need to build it.
    pub fn build_bytes(&self, workers: usize) -> u64 {
        let sorting = (0..self.rows.len()).map(|p| self.partition_bytes(p) + self.rows[p] * ENTRY_BYTES);
        let reading = self.line_bytes * workers as u64;
        // The largest partitions may be in work together.
        let mut sorting: Vec<u64> = sorting.collect();
        sorting.sort_unstable_by(|a, b| b.cmp(a));
        reading.max(sorting.iter().take(workers).sum())
    }

    /// Returns the number of rows.
    pub fn row_count(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// Returns the bytes of the side file.
    pub fn file_bytes(&self) -> u64 {
        self.lines.len()
    }

    /// Returns the bytes of the counts.
    pub fn counts_bytes(&self) -> u64 {
        self.memory.bytes()
    }

    /// Returns the number of chunks that workers share.
    pub fn chunk_count(&self) -> usize {
        self.chunks.len()
    }

    pub(super) fn partition_bits(&self) -> u32 {
        self.rows.len().trailing_zeros()
    }

    /// Returns the bytes of the staged rows of a partition.
    pub(super) fn partition_bytes(&self, partition: usize) -> u64 {
        self.bytes.iter().skip(partition).step_by(self.rows.len()).sum()
    }

    /// Returns log2 of the buckets: from 3/4 to 3/2 rows in each on average, and at least one a partition.
    pub(super) fn buckets_log2(&self) -> u32 {
        let buckets = (self.row_count() * 2 / 3).max(1).next_power_of_two();
        buckets.trailing_zeros().max(self.partition_bits())
    }
}
