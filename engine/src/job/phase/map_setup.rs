//! Setup of map tasks: readers, mappers, key orders and partitioners of a split.

use std::sync::Arc;

use super::running_job::RunningJob;
use crate::collect::partition::Partition;
use crate::env::crew::Stop;
use crate::job::plan::Plan;
use crate::job::plan::source::Source;
use crate::job::report::LargeRecord;
use crate::job::report::meter::StageKind;
use crate::key_order::OrderedKeyEncoder;
use crate::map::MapTask;
use crate::map::identity::IdentityMapper;
use crate::operator::context::failed_attempt;
use crate::operator::{Flags, Mapper, TaskContext, Type};
use crate::read::ReadAhead;
use crate::read::class_parser::ReaderClass;
use crate::read::{ReadSetup, Split, SplitReader};
use yunti_base::{Error, Result};

pub use crate::operator::context::TASK_COUNTERS;

/// Hadoop's counter group of jobs.
pub const JOB_COUNTERS: &str = "org.apache.hadoop.mapreduce.JobCounter";

/// Returns the setup of readers for the splits of one source.
pub fn read_setup(running: &RunningJob<'_>, source: &Source) -> ReadSetup {
    ReadSetup {
        files: running.env.files.clone(),
        budget: running.budget.clone(),
        inputs: running.plan.files.clone(),
        format: source.format.clone(),
        spans: source.mapper.as_ref().is_some_and(|m| m.info().flags.wants_span) && source.format.has_lines(),
        read_bytes: running.sizing.read_bytes,
        read_ahead: None,
        reader: source.reader.clone().map(|class| ReaderClass {
            class,
            job: running.job.clone(),
            partitions: running.partitions_of_tasks(),
        }),
    }
}

/// Runs `map` on one worker a split. Other workers, and workers without splits, decode compressed files ahead.
pub fn map_together(
    running: &RunningJob<'_>,
    ahead: Option<&ReadAhead>,
    map: impl Fn(usize, Stop<'_>) -> Result<()> + Sync,
) -> Result<()> {
    let pieces = running.plan.splits.iter().flat_map(|split| &split.pieces);
    let files = &running.plan.files;
    let pieces: Vec<_> = pieces.map(|piece| (&*files[piece.file as usize].path, piece.start, piece.end)).collect();
    running.env.files.upcoming(&pieces);
    let mapping = running.crew.workers.min(running.plan.splits.len());
    let Some(ahead) = ahead else { return running.crew.together(mapping, map) };
    let clock = &*running.env.clock;
    running.crew.together(running.crew.workers.min(2 * mapping), |worker, stop| {
        if worker < mapping {
            let _mapping = ahead.begin_map();
            map(worker, stop)?;
        }
        ahead.help(stop, running.control.cancelled(), clock, |from_ns, to_ns, read_ns| {
            running.meter.add(worker, StageKind::Read, read_ns, 0, 0);
            running.meter.span(worker, "decode", worker as u64, from_ns, to_ns, 0, 0);
        });
        Ok(())
    })
}

/// Returns the read-ahead of a job that has a compressed file for one worker, and another worker.
pub fn read_ahead(running: &RunningJob<'_>) -> Option<Arc<ReadAhead>> {
    let whole = running.plan.whole_compressed() > 0;
    (whole && running.crew.workers > 1).then(Arc::default)
}

/// Adds the counters of a split's reader to the job: skipped CSV and JSON records, the largest record, counters of a
/// class.
pub fn count_read(running: &RunningJob<'_>, worker: usize, reader: &mut SplitReader) {
    let bad = reader.take_bad_records();
    if bad > 0 {
        running.count_on(worker, "Yunti", "BAD_RECORDS", bad);
    }
    if let Some((path, offset, bytes_least)) = reader.take_largest() {
        running.workload_stats().add_record(LargeRecord { path, offset, bytes_least });
    }
    if let Some(context) = reader.end_split() {
        running.absorb(worker, &context);
    }
}

/// Reader of one worker, reused for all splits of the same source.
pub struct Readers<'r> {
    running: &'r RunningJob<'r>,
    ahead: Option<Arc<ReadAhead>>,
    current: Option<(usize, SplitReader)>,
}

impl<'r> Readers<'r> {
    /// Makes an empty slot for a reader. `ahead`: read-ahead of the job, if any.
    pub fn new(running: &'r RunningJob<'r>, ahead: Option<Arc<ReadAhead>>) -> Readers<'r> {
        Readers { running, ahead, current: None }
    }

    /// Returns the reader for `split`. A split of another source gets a new reader.
    pub fn of(&mut self, split: &Split) -> Result<&mut SplitReader> {
        if self.current.as_ref().is_none_or(|(source, _)| *source != split.source) {
            // The buffers of the reader before are freed first.
            self.current = None;
            let source = self.running.plan.source(split);
            let setup = ReadSetup { read_ahead: self.ahead.clone(), ..read_setup(self.running, source) };
            self.current = Some((split.source, SplitReader::new(setup)?));
        }
        match &mut self.current {
            Some((_, reader)) => Ok(reader),
            None => unreachable!("it was just made"),
        }
    }
}

/// Makes the mapper of a source, or the identity. Returns it with its flags.
pub fn make_mapper(source: &Source, context: &Arc<TaskContext>) -> Result<(Box<dyn Mapper>, Flags)> {
    match &source.mapper {
        Some(class) => Ok((class.mapper(context)?, class.info().flags)),
        None => Ok((Box::new(IdentityMapper), Flags::default())),
    }
}

/// Returns the task of mapping a split.
pub fn map_task<'a>(running: &'a RunningJob<'_>, split: &'a Split, on_failure: &'a dyn Fn(&Error, u32)) -> MapTask<'a> {
    MapTask {
        split,
        clock: &*running.env.clock,
        cancel: running.control.cancelled(),
        attempts_max: running.plan.map_attempts_max,
        on_failure,
    }
}

/// Counts a failed attempt of a map task that another follows, and shows its error.
pub fn note_failed_attempt(running: &RunningJob<'_>, split: &Split, error: &Error, attempt: u32) {
    running.count(JOB_COUNTERS, "NUM_FAILED_MAPS", 1);
    let max = running.plan.map_attempts_max;
    running.env.messages.show(&failed_attempt(false, split.number, (attempt, max), error, "it"));
}

/// Makes the key order of one task, if a class orders the keys. `types`: types of the records.
pub fn make_key_encoder(
    plan: &Plan,
    context: &Arc<TaskContext>,
    types: (Type, Type),
) -> Result<Option<OrderedKeyEncoder>> {
    let Some(class) = &plan.key_order_class else { return Ok(None) };
    let info = class.info();
    OrderedKeyEncoder::new(class.key_orderer(context)?, &info.name, info.flags.groups, types).map(Some)
}

/// Makes the partitioner of one task. `bounds`: bounds of a total order.
pub fn make_partition(
    running: &RunningJob<'_>,
    context: &Arc<TaskContext>,
    bounds: &Arc<Vec<Vec<u8>>>,
) -> Result<Partition> {
    use crate::job::spec::Partitioning;
    let plan = running.plan;
    if plan.partitions == 1 {
        return Ok(Partition::One);
    }
    Ok(match (&running.spec.partitioning, &plan.partitioner) {
        (_, Some(class)) => Partition::Class {
            parts: plan.partitions,
            class: class.partitioner(context)?,
            name: class.info().name.clone(),
            chosen: Vec::new(),
        },
        (Partitioning::TotalOrder, _) => Partition::ranges(bounds.clone(), plan.order, plan.partitions),
        _ => Partition::Hash { parts: plan.partitions, key_type: plan.map_types.0 },
    })
}
