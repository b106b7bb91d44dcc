//! The end of a job whose records are all in memory: sort bucket by bucket, reduce, write.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::map_output::MapOutput;
use super::super::running_job::{RunningJob, show_output};
use super::task::{ReduceTask, is_pure};
use crate::collect::Buckets;
use crate::collect::bucket::Bucket;
use crate::collect::sort::sort_bucket;
use crate::collect::vsort::Simd;
use crate::job::control::ProgressStage;
use crate::job::report::meter::StageKind;
use crate::operator::reducer::fold_reduce::FoldInput;
use crate::write::{FinishedWriter, Output, OutputWriter};
use yunti_base::Result;

/// Sorts, reduces and writes the records of `map_output`.
pub fn run(running: &RunningJob<'_>, mapped: MapOutput, fold_input: FoldInput, output: &Output) -> Result<()> {
    let MapOutput { store, mut collected, .. } = mapped;
    let clock = &*running.env.clock;
    running.enter(ProgressStage::Sort);
    let start = clock.now_ns();
    let grants = std::mem::take(&mut collected.grants);
    let partitions = running.plan.partitions;
    let mut buckets = Buckets::build(&store, &collected, partitions, running.seed(), grants, &running.crew)?;
    let scattered = clock.now_ns();
    // All workers scatter together.
    running.meter.add(0, StageKind::Sort, (scattered - start) * running.crew.workers as u64, 0, 0);
    running.meter.span(0, "sort", 0, start, scattered, 0, collected.records);

    let simd = Simd::detect();
    let pure = is_pure(running);
    let ranges: Vec<Range<usize>> = (0..partitions).map(|p| buckets.of_partition(p)).collect();
    // A stream takes all parts one after the other.
    let stream = matches!(output, Output::Stream(_));
    let bytes_a_record = collected.bytes.checked_div(collected.records).unwrap_or(0);
    let taken = buckets.take();
    let member_bytes = if running.compressors.is_some() { MEMBER_BYTES } else { 0 };
    let (groups, parts) = group(&ranges, member_bytes, |bucket| {
        let bucket = taken[bucket].lock().unwrap_or_else(|e| e.into_inner());
        bucket.as_ref().map_or(0, |b| b.len() as u64 * bytes_a_record)
    });
    let order = interleave(&parts, if stream { 1 } else { running.crew.workers });
    if !pure {
        // One reducer sees a whole partition, so all workers share at least the sorting.
        running.crew.each(taken.len(), |worker, b| {
            let mut bucket = taken[b].lock().unwrap_or_else(|e| e.into_inner());
            let start = clock.now_ns();
            if let Some(bucket) = bucket.as_mut() {
                let shape = bucket.shape;
                let entries = bucket.keep();
                sort_bucket(&store, simd, shape, entries, &mut Vec::new());
                running.meter.add(worker, StageKind::Sort, clock.now_ns() - start, 0, entries.len() as u64);
            }
            Ok(())
        })?;
    }
    running.enter(ProgressStage::Reduce);
    let tasks = if pure { groups.len() } else { partitions as usize };
    let next = AtomicUsize::new(0);
    running.crew.together(running.crew.workers.min(tasks), |worker, stop| {
        let (mut scratch, mut buffer) = (Vec::new(), Vec::new());
        let mut staging = Vec::new();
        let setup = running.writer_setup(output, stop);
        let from_ns = clock.now_ns();
        let (mut span_bytes, mut span_records) = (0, 0);
        loop {
            running.crew.cancel.check()?;
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= tasks || stop() {
                if pure {
                    // One span on the timeline for all buckets of a worker.
                    running.meter.span(
                        worker,
                        "reduce",
                        worker as u64,
                        from_ns,
                        clock.now_ns(),
                        span_bytes,
                        span_records,
                    );
                }
                return Ok(());
            }
            let (numbers, part, ticket) = if pure {
                let (part, number) = order[task];
                (groups[number].clone(), part, if stream { number } else { number - parts[part].start })
            } else {
                (ranges[task].clone(), task, if stream { task } else { 0 })
            };
            let writer = OutputWriter::new(setup, part, Some(ticket), std::mem::take(&mut staging));
            let mut reduce = ReduceTask::new(running, part as u32, fold_input, writer)?;
            let mut sort_ns = 0;
            let start = clock.now_ns();
            let take = |b: usize| -> Option<Bucket<'_>> { taken[b].lock().unwrap_or_else(|e| e.into_inner()).take() };
            let mut own: Vec<Bucket<'_>> = numbers.filter_map(take).collect();
            let records = reduce.attempt(running, |reduce| {
                let mut records = 0;
                for bucket in &mut own {
                    let start = clock.now_ns();
                    let shape = bucket.shape;
                    let entries = bucket.entries(&mut buffer);
                    if pure {
                        sort_bucket(&store, simd, shape, entries, &mut scratch);
                        sort_ns += clock.now_ns() - start;
                    }
                    records += entries.len() as u64;
                    reduce.push_places(&store, entries, bytes_a_record)?;
                }
                store.check_input()?;
                Ok(records)
            })?;
            let FinishedWriter { staging: back, write_ns, .. } = reduce.finish(running, worker)?;
            staging = back;
            let all_ns = clock.now_ns() - start;
            let bytes = records * bytes_a_record;
            span_bytes += bytes;
            span_records += records;
            running.partitions.add(part, records, bytes);
            if pure {
                running.meter.add(worker, StageKind::Sort, sort_ns, bytes, records);
            } else {
                running.meter.span(worker, "reduce", task as u64, start, start + all_ns, bytes, records);
            }
            running.meter.add(worker, StageKind::Reduce, all_ns.saturating_sub(sort_ns + write_ns), bytes, records);
            running.meter.add(worker, StageKind::Write, write_ns, bytes, records);
            if collected.bytes > 0 {
                let share = bytes as f64 / collected.bytes as f64 * running.plan.input_bytes as f64;
                running.advance(share as u64);
            }
            show_output(running);
        }
    })?;
    drop(taken);
    drop(buckets);
    store.check_whole_input()?;
    collected.release(&store);
    Ok(())
}

/// Approximate bytes of records compressed together: one member a bucket would compress worse.
const MEMBER_BYTES: u64 = if cfg!(debug_assertions) { 4 << 10 } else { 4 << 20 };

/// Groups neighbouring buckets of each partition up to about `bytes`. Returns the groups, and the range of groups of
/// each partition.
fn group(
    partitions: &[Range<usize>],
    bytes: u64,
    bytes_of: impl Fn(usize) -> u64,
) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (mut groups, mut parts) = (Vec::new(), Vec::new());
    for buckets in partitions {
        let first = groups.len();
        let (mut start, mut sum) = (buckets.start, 0);
        for bucket in buckets.clone() {
            sum += bytes_of(bucket);
            if sum >= bytes || bucket + 1 == buckets.end {
                groups.push(start..bucket + 1);
                (start, sum) = (bucket + 1, 0);
            }
        }
        parts.push(first..groups.len());
    }
    (groups, parts)
}

/// Returns (partition, group) in the order in which workers take them. As many partitions alternate as there are
/// workers, so that two workers rarely write to one file at once.
fn interleave(ranges: &[Range<usize>], workers: usize) -> Vec<(usize, usize)> {
    let mut order = Vec::new();
    for (group, first) in ranges.chunks(workers).zip((0..).step_by(workers)) {
        let longest = group.iter().map(Range::len).max().unwrap_or(0);
        for i in 0..longest {
            let row = group.iter().enumerate().filter(|(_, r)| i < r.len());
            order.extend(row.map(|(p, r)| (first + p, r.start + i)));
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_neighbours_within_a_partition_only() {
        let sizes = [5, 5, 1, 100, 0, 0, 3, 30];
        let grouped = |partitions: &[Range<usize>], bytes| group(partitions, bytes, |b| sizes[b]);
        assert_eq!(grouped(&[0..3, 3..3, 3..8], 0), ((0..8).map(|b| b..b + 1).collect(), vec![0..3, 3..3, 3..8]));
        assert_eq!(grouped(&[0..3, 3..3, 3..8], 10), (vec![0..2, 2..3, 3..4, 4..8], vec![0..2, 2..2, 2..4]));
    }

    #[test]
    fn takes_each_group_once_and_in_order_within_a_partition() {
        let ranges = [0..3, 3..4, 4..4, 4..9];
        assert_eq!(interleave(&ranges, 2), [(0, 0), (1, 3), (0, 1), (0, 2), (3, 4), (3, 5), (3, 6), (3, 7), (3, 8)]);
        for workers in 1..6 {
            let mut order = interleave(&ranges, workers);
            order.sort_unstable_by_key(|o| o.1);
            assert!(order.iter().map(|o| o.1).eq(0..9), "{workers}");
        }
    }
}
