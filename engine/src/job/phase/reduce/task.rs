//! One reduce task: sorted records through a reducer or a folder, or unchanged, to the output.

use std::sync::Arc;

use super::super::map_setup::{JOB_COUNTERS, TASK_COUNTERS};
use super::super::running_job::RunningJob;
use crate::bytes::escape::escape;
use crate::bytes::{KeyOrder, OrderedRecord, Record};
use crate::collect::spill::AHEAD;
use crate::collect::{Grouper, Store};
use crate::env::Clock;
use crate::job::report::workload_stats::GroupMeter;
use crate::map::timed_sink::TimedSink;
use crate::operator::context::failed_attempt;
use crate::operator::cursor::RecordSink;
use crate::operator::reducer::fold_reduce::{FoldInput, FoldReduce};
use crate::operator::{Emitter, Groups, Reducer, TaskContext, Type};
use crate::write::{FinishedWriter, OutputWriter};
use yunti_base::{Code, Result};

/// A reduce task. Call order: `push` for each record in order, `end`, `finish`; or `attempt`, then `finish`.
pub enum ReduceTask<'a> {
    /// No reducer, or the identity.
    Identity { writer: OutputWriter<'a>, order: KeyOrder, key: Vec<u8>, records: u64 },
    /// The same for keys that a class orders.
    Ordered { writer: OutputWriter<'a>, records: u64 },
    Reduce {
        grouper: Grouper,
        /// Type of the values.
        values: Type,
        /// Set when the key order is a class.
        has_ordered_keys: bool,
        reducer: Box<dyn Reducer>,
        emitter: Emitter<TimedSink<RecordSink<OutputWriter<'a>>>>,
        context: Arc<TaskContext>,
        meter: Box<GroupMeter>,
        clock: Arc<dyn Clock>,
        partition: u32,
        records: u64,
    },
}

/// Reduces one batch and meters the time.
fn reduce_batch(
    groups: &Groups<'_>,
    reducer: &mut dyn Reducer,
    emitter: &mut Emitter<TimedSink<RecordSink<OutputWriter<'_>>>>,
    meter: &mut GroupMeter,
    clock: &dyn Clock,
) -> Result<()> {
    let (start, written) = (clock.now_ns(), emitter.sink().busy_ns);
    emitter.run(&[], |out| reducer.reduce(groups, out))?;
    let writing = emitter.sink().busy_ns - written;
    meter.note(groups, clock.now_ns().saturating_sub(start + writing));
    Ok(())
}

/// Returns true if ranges of a partition's keys may be reduced independently.
pub fn is_pure(running: &RunningJob<'_>) -> bool {
    let plan = running.plan;
    let passes_on = plan.folder.is_none() && plan.reducer.as_ref().is_none_or(|r| r.info().is_identity);
    if plan.key_order_class.as_ref().is_some_and(|a| a.info().flags.groups) && !passes_on {
        // Keys of one group may be in several ranges.
        return false;
    }
    if !running.spec.outputs.is_empty() && !passes_on {
        // Each partition has one file of each named output.
        return false;
    }
    if plan.writes_whole_parts() || running.spec.has_directories() {
        return false;
    }
    plan.folder.is_some() || plan.reducer.as_ref().is_none_or(|r| r.info().flags.pure || r.info().is_identity)
}

impl<'a> ReduceTask<'a> {
    /// Makes the task of one partition. `fold_input`: form of the records for a folder.
    pub fn new(
        running: &RunningJob<'_>,
        partition: u32,
        fold_input: FoldInput,
        writer: OutputWriter<'a>,
    ) -> Result<ReduceTask<'a>> {
        let plan = running.plan;
        let context = running.context_with_outputs(true, partition);
        let (reducer, values): (Box<dyn Reducer>, Type) = match (&plan.reducer, &plan.folder) {
            (Some(class), _) if !class.info().is_identity => (class.reducer(&context)?, plan.map_types.1),
            (_, Some(class)) => {
                let values = if fold_input == FoldInput::States { Type::Bytes } else { plan.map_types.1 };
                (Box::new(FoldReduce::new(class.folder(&context)?, fold_input)), values)
            }
            _ if plan.key_order_class.is_some() => return Ok(ReduceTask::Ordered { writer, records: 0 }),
            _ => return Ok(ReduceTask::Identity { writer, order: plan.order, key: Vec::new(), records: 0 }),
        };
        let sink = TimedSink::new(RecordSink::new(writer)?, running.env.clock.clone());
        Ok(ReduceTask::Reduce {
            grouper: Grouper::new(plan.order, values),
            values,
            has_ordered_keys: plan.key_order_class.is_some(),
            reducer,
            emitter: Emitter::new(sink, false, false)?,
            context,
            meter: Box::default(),
            clock: running.env.clock.clone(),
            partition,
            records: 0,
        })
    }

    /// Returns true if records pass unchanged, so that nothing finds their groups.
    pub fn passes_on(&self) -> bool {
        !matches!(self, ReduceTask::Reduce { .. })
    }

    #[inline]
    /// Takes the next record of the partition.
    pub fn push(&mut self, record: Record<'_>) -> Result<()> {
        match self {
            ReduceTask::Identity { writer, order, key, records } => {
                *records += 1;
                if order.is_bytes() {
                    return writer.write_adjacent(record.bytes, record.key_len as usize);
                }
                key.clear();
                key.extend_from_slice(record.key());
                order.denormalise(key);
                writer.write(key, record.value())
            }
            ReduceTask::Ordered { writer, records } => {
                *records += 1;
                let ordered = OrderedRecord::of(&record)?;
                writer.write(ordered.key, ordered.value)
            }
            ReduceTask::Reduce { grouper, has_ordered_keys, reducer, emitter, meter, clock, records, .. } => {
                *records += 1;
                let reduce = |groups: &Groups<'_>| reduce_batch(groups, &mut **reducer, emitter, meter, &**clock);
                if *has_ordered_keys { grouper.push_ordered(&record, reduce) } else { grouper.push(record, reduce) }
            }
        }
    }

    /// Takes the records at `places` of a store, in this order. `bytes_a_record`: their mean length.
    pub fn push_places(&mut self, store: &Store, places: &[u64], bytes_a_record: u64) -> Result<()> {
        if let ReduceTask::Identity { writer, order, records, .. } = self
            && order.is_bytes()
            && let Some(fixed) = store.fixed_records()
        {
            *records += places.len() as u64;
            return writer.write_fixed(places.len(), fixed.record_bytes, fixed.key_bytes, |i| {
                if let Some(&ahead) = places.get(i + AHEAD) {
                    fixed.prefetch(ahead);
                }
                fixed.at(places[i])
            });
        }
        let (whole, mut room) = (bytes_a_record as usize + 64, Vec::new());
        for (i, &place) in places.iter().enumerate() {
            if let Some(&ahead) = places.get(i + AHEAD) {
                store.prefetch_whole(ahead, whole);
            }
            store.each_record(place, &mut room, |record| self.push(record))?;
        }
        Ok(())
    }

    /// Feeds and ends the task. `feed` pushes all records; it is called again if the reducer fails and can restart.
    ///
    /// Errors: of `feed`; of the reducer after its last attempt.
    pub fn attempt<T>(&mut self, running: &RunningJob<'_>, mut feed: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        let max = running.plan.reduce_attempts_max;
        let mut attempt = 1;
        loop {
            let result = feed(self).and_then(|fed| self.end().map(|()| fed));
            match result {
                Err(e) if e.code() == Code::UserCode && attempt < max && self.restart(running) => {
                    running.count(JOB_COUNTERS, "NUM_FAILED_REDUCES", 1);
                    let ReduceTask::Reduce { partition, .. } = self else { return Err(e) };
                    let line = failed_attempt(true, *partition, (attempt, max), &e, "it");
                    running.env.messages.show(&line);
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    /// Prepares another attempt. Returns false if the reducer cannot restart.
    fn restart(&mut self, running: &RunningJob<'_>) -> bool {
        let ReduceTask::Reduce { grouper, reducer, meter, records, values, .. } = self else { return false };
        (*grouper, *meter, *records) = (Grouper::new(running.plan.order, *values), Box::default(), 0);
        reducer.restart()
    }

    /// Ends the groups.
    pub fn end(&mut self) -> Result<()> {
        let ReduceTask::Reduce { grouper, reducer, emitter, meter, clock, .. } = self else { return Ok(()) };
        grouper.finish(|groups| reduce_batch(groups, &mut **reducer, emitter, meter, &**clock))?;
        let start = clock.now_ns();
        emitter.run(&[], |out| reducer.flush(out))?;
        meter.note_flush(clock.now_ns().saturating_sub(start));
        Ok(())
    }

    /// Writes the last records, and adds the task's counters to those of `worker`.
    pub fn finish(self, running: &RunningJob<'_>, worker: usize) -> Result<FinishedWriter> {
        match self {
            ReduceTask::Identity { writer, records, .. } | ReduceTask::Ordered { writer, records } => {
                running.count_on(worker, TASK_COUNTERS, "REDUCE_INPUT_RECORDS", records);
                writer.finish()
            }
            ReduceTask::Reduce { grouper, reducer, emitter, context, meter, partition, records, .. } => {
                let result = emitter.finish()?.into_inner().into_target().finish()?;
                drop(reducer);
                running.absorb(worker, &context);
                let key = || running.plan.order.is_bytes().then(|| escape(grouper.largest_key()));
                running.workload_stats().add_groups(&meter, grouper.largest_records(), partition, key);
                running.count_on(worker, TASK_COUNTERS, "REDUCE_INPUT_RECORDS", records);
                running.count_on(worker, TASK_COUNTERS, "REDUCE_INPUT_GROUPS", grouper.groups);
                Ok(result)
            }
        }
    }
}
