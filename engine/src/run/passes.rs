//! Merge passes: they merge runs until few enough remain to be read at once.
//!
//! ```text
//!   runs      0 1 2 3 4 5 6 7 8 9         fan-in 4: 6 runs too many, a merge of 4 takes 3 away
//!   merge                6 7 8 9   ->     0 1 2 3 4 5 6'       the 4 neighbours with the fewest bytes
//!   merge     0 1 2 3              ->     0' 4 5 6'            8/10 of the bytes were rewritten, none twice
//! ```
//!
//! Only neighbours are merged: for records with equal key and split, an earlier run has the earlier ones. The first
//! merge takes as many runs as make all later merges full (Knuth 3, 5.4.9). Each merge takes the cheapest neighbours;
//! for runs of one size this is within a tenth of the fewest bytes. Rejected: the optimum by dynamic programming, for a
//! case that large fan-ins make rare.
//!
//! A merge is cut into key ranges that workers take in any order; each becomes a slice of the new run. Source blocks
//! are freed as they are read. Scratch therefore holds the intermediate data once, plus the blocks at the edges of
//! ranges.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::index::{KeyRange, Run, RunTotals};
use super::merge::Merger;
use super::reader::{BlockSource, ReadContext, RunReader, reader_memory_bytes};
use super::scratch::ScratchSpace;
use super::writer::{RunBuilder, RunSettings, Slice, writer_memory_bytes};
use crate::env::Threads;
use crate::env::sync::Mutex;
use crate::memory::Grant;
use yunti_base::error::of_panic;
use yunti_base::{Code, Error, Result};

/// Blocks of each run in a range, at least on average; the blocks at its edges are read twice.
const RANGE_BLOCKS_MIN: u64 = 8;
/// Ranges per worker, so that workers end at about the same time.
const RANGES_A_WORKER: u64 = 4;

/// Settings and services of the merge passes.
pub struct MergePasses<'a> {
    /// Scratch space of the runs.
    pub scratch: Arc<ScratchSpace>,
    /// Settings of the merged runs.
    pub settings: RunSettings,
    /// Budget and cancellation of the readers.
    pub context: ReadContext,
    /// Threads of the job.
    pub threads: &'a dyn Threads,
    /// Workers, at most; fewer if the budget is short.
    pub workers: usize,
    /// Called after each merge.
    pub on_merge: &'a (dyn Fn(&FinishedMerge) + Sync),
    /// Journal of the merges. Without one, blocks are freed while they are merged.
    pub journal: Option<&'a dyn MergeJournal>,
    /// Runs that may remain, and runs merged at once, at most; at least 2. Fewer are merged at once if the budget is
    /// short.
    pub fan_in: usize,
}

/// A journal of merges, for a job that can be resumed.
pub trait MergeJournal: Sync {
    /// Notes that a run took the place of several, which are freed afterwards.
    fn merged(&self, of: &[Arc<Run>], run: &Run) -> Result<()>;
    /// Notes the runs that could not be read.
    fn failed(&self, runs: &[Arc<Run>]) -> Result<()>;
}

/// Amounts and times of one merge. Times are on the job's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FinishedMerge {
    /// Runs that were merged.
    pub runs: usize,
    pub start_ns: u64,
    pub end_ns: u64,
    /// Totals of the new run.
    pub written: RunTotals,
    /// Partitions with records.
    pub segments: u32,
}

/// Returns the number of runs that can be merged in `bytes` of memory, beside the consumer of the merged records.
pub fn fan_in_of(bytes: u64, block_bytes: usize) -> usize {
    (bytes / reader_memory_bytes(block_bytes)).saturating_sub(1) as usize
}

/// Memory of a merge beyond its blocks, for large records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LargeRecords {
    /// Bytes for the largest record of all runs.
    pub largest_bytes: u64,
    /// Bytes for the largest record of each run, all at once.
    pub sum_bytes: u64,
}

impl LargeRecords {
    /// Returns the extra memory for these runs.
    pub fn of(runs: &[Arc<Run>], block_bytes: usize) -> LargeRecords {
        let mut large = LargeRecords::default();
        for run in runs {
            let largest = run.blocks().iter().map(|b| u64::from(b.raw_len)).max().unwrap_or(0);
            let beyond = largest.saturating_sub(block_bytes as u64);
            large.largest_bytes = large.largest_bytes.max(beyond);
            large.sum_bytes += beyond;
        }
        large
    }

    /// Returns how many of the runs can be merged in `bytes` of memory, whatever their records.
    pub fn fan_in_of(&self, bytes: u64, block_bytes: usize) -> usize {
        let all_at_once = fan_in_of(bytes.saturating_sub(self.sum_bytes), block_bytes);
        all_at_once.max(fan_in_of(bytes, block_bytes + self.largest_bytes as usize))
    }
}

/// Returns the memory that a merge of `sources` runs takes, in bytes.
pub fn merge_memory_bytes(sources: usize, block_bytes: usize) -> u64 {
    (sources as u64 + 1) * reader_memory_bytes(block_bytes)
}

impl MergePasses<'_> {
    /// Merges neighbours until at most `fan_in` runs remain. The given runs are used up: no one else holds or reads
    /// them, and after an error they are gone.
    ///
    /// Fails with `Code::Memory` if the budget is too small, or with the error of a read or write.
    pub fn reduce(&self, mut runs: Vec<Arc<Run>>) -> Result<Vec<Arc<Run>>> {
        assert!(self.fan_in >= 2 && self.workers >= 1);
        let mut memory = None;
        loop {
            let sizes: Vec<u64> = runs.iter().map(|run| run.totals().stored_bytes).collect();
            if sizes.len() <= self.fan_in {
                return Ok(runs);
            }
            let (_, workers, at_once) = match &memory {
                Some(taken) => taken,
                None => memory.insert(self.take_memory()?),
            };
            let group = next_group(&sizes, self.fan_in, *at_once);
            let start_ns = self.scratch.clock().now_ns();
            let merged = self.merge(&runs[group.clone()], *workers);
            if let Some(journal) = self.journal {
                match &merged {
                    Ok(merged) => journal.merged(&runs[group.clone()], merged)?,
                    Err(_) => journal.failed(&runs)?,
                }
                runs[group.clone()].iter().filter(|_| merged.is_ok()).for_each(|run| run.free_rest());
            }
            let merged = merged?;
            (self.on_merge)(&FinishedMerge {
                runs: group.len(),
                start_ns,
                end_ns: self.scratch.clock().now_ns(),
                written: merged.totals(),
                segments: merged.segments() as u32,
            });
            runs.splice(group, [Arc::new(merged)]);
        }
    }

    /// Tries fewer workers first, then fewer runs at once: another pass costs more than a core.
    fn take_memory(&self) -> Result<(Grant, usize, usize)> {
        let block_bytes = self.settings.block_bytes;
        let need = |workers: usize, fan_in: usize| {
            workers as u64 * (merge_memory_bytes(fan_in, block_bytes) + writer_memory_bytes(block_bytes))
        };
        let budget = &self.context.budget;
        let fewer_workers = (1..=self.workers).rev().map(|workers| (workers, self.fan_in));
        let fewer_runs = (2..self.fan_in).rev().map(|fan_in| (1, fan_in));
        for (workers, fan_in) in fewer_workers.chain(fewer_runs) {
            if let Some(grant) = budget.try_grant(need(workers, fan_in)) {
                return Ok((grant, workers, fan_in));
            }
        }
        Err(budget.too_small(need(1, 2), "merging spilled runs"))
    }

    fn merge(&self, runs: &[Arc<Run>], workers: usize) -> Result<Run> {
        let tasks = ranges(runs, workers, self.settings.block_bytes);
        let builder = RunBuilder::new(self.scratch.clone(), self.settings);
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let slices = Mutex::new(Ok(Vec::with_capacity(tasks.len())));
        self.threads.run(workers.min(tasks.len()), &|_| {
            while !failed.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(task) = tasks.get(number) else { return };
                let slice =
                    catch_unwind(AssertUnwindSafe(|| self.merge_ranges(runs, task, &builder, number as u32, &failed)))
                        .unwrap_or_else(|panic| Err(of_panic(&*panic)));
                let mut slices = slices.lock().unwrap_or_else(|e| e.into_inner());
                match (slice, &mut *slices) {
                    (Ok(slice), Ok(all)) => all.push(slice),
                    (Err(e), Ok(_)) => {
                        failed.store(true, Ordering::Relaxed);
                        *slices = Err(e);
                    }
                    (_, Err(_)) => {}
                }
            }
        });
        Ok(builder.finish(slices.into_inner().unwrap_or_else(|e| e.into_inner())?))
    }

    fn merge_ranges(
        &self,
        runs: &[Arc<Run>],
        task: &[KeyRange],
        builder: &RunBuilder,
        number: u32,
        failed: &AtomicBool,
    ) -> Result<Slice> {
        let mut writer = builder.slice(number);
        for &range in task {
            let sources = runs
                .iter()
                .filter(|run| !run.blocks_of(&range).is_empty())
                .map(|run| {
                    Box::new(RunReader::open(run, range, self.journal.is_none(), &self.context)) as Box<dyn BlockSource>
                })
                .collect();
            let mut merger = Merger::new(sources, self.settings.order)?;
            while let Some(batch) = merger.next_batch()? {
                for &record in &*batch {
                    writer.append(range.partition, record)?;
                }
                if failed.load(Ordering::Relaxed) {
                    return Err(Error::new(Code::Cancelled, "another worker failed"));
                }
            }
        }
        writer.finish()
    }
}

/// Returns the neighbours to merge next, at most `at_once`, so that `remain` runs remain in the end.
fn next_group(sizes: &[u64], remain: usize, at_once: usize) -> Range<usize> {
    let excess = sizes.len() - remain;
    let width = match excess % (at_once - 1) {
        0 => at_once,
        rest => rest + 1,
    };
    let start = (0..=sizes.len() - width).min_by_key(|&start| sizes[start..start + width].iter().sum::<u64>());
    let start = start.unwrap_or(0);
    start..start + width
}

/// Cuts the runs into tasks of about equal size, in order; a task may have several partitions.
fn ranges(runs: &[Arc<Run>], workers: usize, block_bytes: usize) -> Vec<Vec<KeyRange>> {
    let mut blocks: Vec<(u32, u64, u32)> =
        runs.iter().flat_map(|run| run.blocks().iter().map(|b| (b.partition, b.first_prefix, b.raw_len))).collect();
    blocks.sort_unstable();
    let total: u64 = blocks.iter().map(|b| u64::from(b.2)).sum();
    let least = RANGE_BLOCKS_MIN * runs.len() as u64 * block_bytes as u64;
    let target = if workers > 1 { (total / (workers as u64 * RANGES_A_WORKER)).max(least) } else { u64::MAX };
    let mut tasks: Vec<Vec<KeyRange>> = Vec::new();
    let mut bytes = target;
    let mut last = None;
    for (partition, prefix, raw_len) in blocks {
        let new_key = last != Some((partition, prefix));
        if bytes >= target && new_key {
            // End the task before here.
            let mut lo = 0;
            if let Some(before) = tasks.last_mut().and_then(|task| task.last_mut())
                && before.partition == partition
            {
                before.hi = prefix - 1;
                lo = prefix;
            }
            tasks.push(vec![KeyRange { lo, ..KeyRange::whole(partition) }]);
            bytes = 0;
        } else if let Some(task) = tasks.last_mut()
            && task.last().is_none_or(|range| range.partition != partition)
        {
            task.push(KeyRange::whole(partition));
        }
        bytes += u64::from(raw_len);
        last = Some((partition, prefix));
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes rewritten until `remain` are left.
    fn cost(mut sizes: Vec<u64>, fan_in: usize) -> u64 {
        let mut cost = 0;
        while sizes.len() > fan_in {
            let group = next_group(&sizes, fan_in, fan_in);
            let merged: u64 = sizes[group.clone()].iter().sum();
            cost += merged;
            sizes.splice(group, [merged]);
        }
        assert!(sizes.len() == fan_in || cost == 0);
        cost
    }

    /// The least that any way of merging neighbours rewrites.
    fn least(sizes: &[u64], fan_in: usize, known: &mut std::collections::HashMap<Vec<u64>, u64>) -> u64 {
        if sizes.len() <= fan_in {
            return 0;
        }
        if let Some(&cost) = known.get(sizes) {
            return cost;
        }
        let mut best = u64::MAX;
        for width in 2..=fan_in {
            for start in 0..=sizes.len() - width {
                let merged: u64 = sizes[start..start + width].iter().sum();
                let mut rest = sizes.to_vec();
                rest.splice(start..start + width, [merged]);
                best = best.min(merged + least(&rest, fan_in, known));
            }
        }
        known.insert(sizes.to_vec(), best);
        best
    }

    #[test]
    fn rewrites_runs_of_one_size_near_the_optimum() {
        for fan_in in 2..5 {
            for n in 1..11 {
                let best = least(&vec![1; n], fan_in, &mut Default::default());
                assert!(cost(vec![1; n], fan_in) * 10 <= best * 11, "{n} runs, fan-in {fan_in}");
            }
        }
        assert_eq!(cost(vec![1; 10], 4), 8);
        // A last small run, and a large one that was merged before.
        assert_eq!(cost(vec![9, 1, 1, 1], 3), 2);
        assert_eq!(cost(vec![100, 5, 5, 5, 5, 1], 4), 11);
    }
}
