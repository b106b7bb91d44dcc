//! The end of a job that spilled: merge the runs range by range, reduce, write.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::map_output::{MapOutput, run_settings};
use super::super::resume::reduced::{self, ReducedRanges};
use super::super::running_job::{RunningJob, show_output};
use super::task::{ReduceTask, is_pure};
use crate::job::control::ProgressStage;
use crate::job::journal::Journal;
use crate::job::journal::frame::Frame;
use crate::job::report::DirectoryRow;
use crate::job::report::meter::StageKind;
use crate::operator::reducer::fold_reduce::FoldInput;
use crate::run::passes::{LargeRecords, MergeJournal, merge_memory_bytes};
use crate::run::scratch::DirectoryUse;
use crate::run::{BlockSource, KeyRange, MergePasses, Merger, ReadContext, Run, RunReader, ScratchSpace};
use crate::write::output::WriterSetup;
use crate::write::{FinishedWriter, Output, OutputWriter};
use yunti_base::Result;

/// Approximate bytes of records in a range: its output is staged while the range before is still merged.
const RANGE_BYTES_MAX: u64 = 8 << 20;

/// Merges the runs of `map_output`, reduces and writes.
pub fn run(running: &RunningJob<'_>, mapped: MapOutput, fold_input: FoldInput, output: &Output) -> Result<()> {
    let clock = &*running.env.clock;
    running.enter(ProgressStage::Merge);
    let MapOutput { store, mut collected, scratch, runs, .. } = mapped;
    collected.release(&store);
    // The merge gets the memory of the pool.
    drop(store);
    let block_bytes = running.sizing.run_block_bytes;
    let mut runs = runs.take();
    note_runs(running, &runs);

    // Fewer workers leave memory for a higher fan-in, which saves merge passes.
    let mut workers = running.crew.workers;
    let free = running.budget.free_bytes();
    let large = LargeRecords::of(&runs, block_bytes);
    let fan_in = loop {
        let fan_in = large.fan_in_of(free / workers as u64 * 3 / 4, block_bytes);
        if fan_in >= runs.len().min(16) {
            break fan_in;
        }
        if workers == 1 {
            break fan_in.max(2);
        }
        workers -= 1;
    };
    let context = ReadContext { budget: running.budget.clone(), cancelled: running.crew.cancel.flag() };
    let before = runs.len();
    let journal = running.journal.as_ref().map(|journal| SavedMerges { journal, scratch: &scratch });
    let passes = MergePasses {
        scratch: scratch.clone(),
        settings: run_settings(running),
        context: context.clone(),
        threads: running.crew.threads,
        workers,
        on_merge: &|merge| running.note_merge(merge),
        journal: journal.as_ref().map(|journal| journal as &dyn MergeJournal),
        fan_in,
    };
    let start = clock.now_ns();
    runs = passes.reduce(runs)?;
    if runs.len() < before {
        let now = clock.now_ns();
        running.meter.add(0, StageKind::Merge, now - start, 0, 0);
        running.meter.span(0, "merge", 0, start, now, 0, 0);
        running.spill.lock().unwrap_or_else(|e| e.into_inner()).merge_passes += (before - runs.len()) as u64;
    }

    running.enter(ProgressStage::Reduce);
    let total: u64 = runs.iter().map(|r| r.totals().record_bytes).sum();
    let memory = merge_memory_bytes(runs.len(), block_bytes);
    let staging = (running.budget.free_bytes() / workers as u64)
        .saturating_sub(memory + LargeRecords::of(&runs, block_bytes).sum_bytes + running.plan.formats_bytes())
        .clamp(64 << 10, RANGE_BYTES_MAX + (4 << 20));
    let pure = is_pure(running);
    let ranges = if pure {
        cut(&runs, running.plan.partitions, (staging * 2 / 3).min(RANGE_BYTES_MAX))
    } else {
        (0..running.plan.partitions).map(|p| (KeyRange::whole(p), 0)).collect()
    };
    let ranges = reduced::left(ranges, &running.kept);
    let reduced = ReducedRanges::new(running, output);
    let next = AtomicUsize::new(0);
    let done = running.crew.together(workers.min(ranges.len()), |worker, stop| {
        let _memory = running.budget.grant(memory, "merging runs")?;
        let _staging = running.budget.grant(staging, "merging runs")?;
        let setup = running.writer_setup(output, stop);
        // Compressed bytes are in a buffer that grows.
        let staging_bytes = if setup.compressors.is_some() { staging / 2 } else { staging } as usize;
        let setup = WriterSetup { staging_bytes, ..setup };
        let mut buffer = Vec::new();
        loop {
            running.crew.cancel.check()?;
            let task = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(range, ticket)) = ranges.get(task).filter(|_| !stop()) else { return Ok(()) };
            let start = clock.now_ns();
            let writer = OutputWriter::new(setup, range.partition as usize, Some(ticket), std::mem::take(&mut buffer));
            let mut reduce = ReduceTask::new(running, range.partition, fold_input, writer)?;
            let (records, bytes) = reduce.attempt(running, |reduce| {
                let sources = runs
                    .iter()
                    .map(|run| Box::new(RunReader::open(run, range, false, &context)) as Box<dyn BlockSource>)
                    .collect();
                let mut merger = Merger::new(sources, running.plan.order)?;
                let (mut records, mut bytes) = (0, 0);
                while let Some(batch) = merger.next_batch()? {
                    for record in batch.iter() {
                        bytes += record.bytes.len() as u64;
                        reduce.push(*record)?;
                    }
                    records += batch.len() as u64;
                    running.crew.cancel.check()?;
                }
                Ok((records, bytes))
            })?;
            let FinishedWriter { staging: back, write_ns, records: written } = reduce.finish(running, worker)?;
            buffer = back;
            if let Some(reduced) = &reduced {
                reduced.note(worker, range, ticket, written)?;
            }
            let now = clock.now_ns();
            running.meter.add(worker, StageKind::Merge, (now - start).saturating_sub(write_ns), bytes, records);
            running.meter.add(worker, StageKind::Write, write_ns, bytes, records);
            running.meter.span(worker, "merge", task as u64, start, now, bytes, records);
            running.partitions.add(range.partition as usize, records, bytes);
            if total > 0 {
                running.advance((bytes as f64 / total as f64 * running.plan.input_bytes as f64) as u64);
            }
            show_output(running);
        }
    });
    note_lost(running, &runs, done)?;
    reduced.map_or(Ok(()), |reduced| reduced.finish())?;
    note_scratch(running, &scratch);
    Ok(())
}

/// Merges of a job, for its journal.
struct SavedMerges<'m> {
    journal: &'m Journal,
    /// Scratch space of the new runs.
    scratch: &'m ScratchSpace,
}

impl MergeJournal for SavedMerges<'_> {
    fn merged(&self, of: &[Arc<Run>], run: &Run) -> Result<()> {
        if self.journal.is_durable() {
            self.scratch.sync()?;
        }
        let record = self.journal.record(run, false);
        let number = record.number;
        self.journal.append(&Frame::Merged { run: record, of: of.iter().filter_map(|run| run.number()).collect() })?;
        run.set_number(number);
        Ok(())
    }

    fn failed(&self, runs: &[Arc<Run>]) -> Result<()> {
        runs.iter().try_for_each(|run| self.journal.note_lost(run))
    }
}

/// Passes a result on. After a failure it notes in the job's journal the runs that cannot be read, so that the next
/// attempt maps their splits again.
pub(super) fn note_lost(running: &RunningJob<'_>, runs: &[Arc<Run>], result: Result<()>) -> Result<()> {
    if let (Err(_), Some(journal)) = (&result, &running.journal) {
        runs.iter().try_for_each(|run| journal.note_lost(run))?;
    }
    result
}

/// Copies the state of the scratch space to the report.
pub(super) fn note_scratch(running: &RunningJob<'_>, scratch: &ScratchSpace) {
    let mut spill = running.spill.lock().unwrap_or_else(|e| e.into_inner());
    spill.peak_bytes = scratch.usage().held_bytes_peak;
    let row = |used: DirectoryUse| DirectoryRow {
        path: used.path.to_string_lossy().into_owned(),
        written_bytes: used.written_bytes,
        mb_per_s: used.speed / 1e6,
    };
    spill.directory_use = scratch.by_directory().into_iter().map(row).collect();
    spill.failed_directories = scratch.retired().iter().map(|d| d.to_string_lossy().into_owned()).collect();
    for (path, reads) in scratch.bad_reads() {
        *spill.bad_reads.entry(path.to_string_lossy().into_owned()).or_insert(0) += reads;
    }
}

/// Copies the totals of the runs to the report.
pub(super) fn note_runs(running: &RunningJob<'_>, runs: &[Arc<Run>]) {
    let mut spill = running.spill.lock().unwrap_or_else(|e| e.into_inner());
    spill.runs = runs.len() as u64;
    for run in runs {
        let totals = run.totals();
        spill.records += totals.records;
        spill.raw_bytes += totals.record_bytes;
        spill.stored_bytes += totals.stored_bytes;
    }
    spill.directories = running.scratch_dirs.iter().map(|d| d.path.to_string_lossy().into_owned()).collect();
}

/// Cuts the partitions into key ranges of about `bytes` each. Returns the ranges with their tickets within the
/// partition.
fn cut(runs: &[Arc<Run>], partitions: u32, bytes: u64) -> Vec<(KeyRange, usize)> {
    let mut starts: Vec<(u32, u64, u64)> = runs
        .iter()
        .flat_map(|r| r.blocks().iter().map(|b| (b.partition, b.first_prefix, u64::from(b.raw_len))))
        .collect();
    starts.sort_unstable();
    let mut ranges = Vec::new();
    let mut starts = starts.into_iter().peekable();
    for partition in 0..partitions {
        let (mut lo, mut sum, mut ticket) = (0, 0, 0);
        while let Some((_, prefix, len)) = starts.next_if(|s| s.0 == partition) {
            if sum >= bytes && prefix > lo {
                ranges.push((KeyRange { partition, lo, hi: prefix - 1 }, ticket));
                (lo, sum) = (prefix, 0);
                ticket += 1;
            }
            sum += len;
        }
        ranges.push((KeyRange { partition, lo, hi: u64::MAX }, ticket));
    }
    ranges
}
