//! The end of a grouped job whose tables are all in memory: merge hash range by hash range, finish the states, write.

use std::sync::Arc;

use super::super::map_output::MapOutput;
use super::super::map_setup::{TASK_COUNTERS, make_partition};
use super::super::running_job::{RunningJob, show_output};
use crate::collect::partition::Partition;
use crate::env::crew::Stop;
use crate::fold::Merge;
use crate::job::control::ProgressStage;
use crate::job::report::meter::StageKind;
use crate::operator::cursor::{HEADER_BYTES, Scratch, copied};
use crate::operator::{Emitter, Sink, TaskContext};
use crate::write::output::WriterSetup;
use crate::write::{Output, OutputWriter};
use yunti_base::Result;

/// Merges, finishes and writes the tables of `map_output`.
pub fn run(running: &RunningJob<'_>, mapped: MapOutput, output: &Output) -> Result<()> {
    let clock = &*running.env.clock;
    running.enter(ProgressStage::Reduce);
    let merge = Merge::new(mapped.tables, running.crew.workers, &running.budget).map_err(|unmerged| unmerged.error)?;
    let bounds = mapped.bounds;
    let each = running.plan.input_bytes / (merge.n_ranges().max(1) as u64);
    running.crew.together(running.crew.workers.min(merge.n_ranges()), |worker, stop| {
        let from_ns = clock.now_ns();
        let context = running.context(true, worker as u32);
        let Some(class) = &running.plan.folder else { return Ok(()) };
        // Two instances: one merges states while the other finishes them.
        let mut folder = class.folder(&context)?;
        let mut finisher = class.folder(&context)?;
        let mut emitter = Emitter::new(PartSink::new(running, &context, &bounds, output, stop)?, false, false)?;
        let mut worker_of_merge = merge.worker();
        let mut keys_seen = 0;
        while !stop() {
            running.crew.cancel.check()?;
            let taken = worker_of_merge.next(&mut *folder, |keys, states| {
                keys_seen += keys.len() as u64;
                emitter.run(&[], |out| finisher.finish(keys, states, out))
            })?;
            if taken.is_none() {
                break;
            }
            running.advance(each);
            show_output(running);
        }
        let write_ns = emitter.finish()?.finish()?;
        running.absorb(worker, &context);
        running.count_on(worker, TASK_COUNTERS, "REDUCE_INPUT_GROUPS", keys_seen);
        let to_ns = clock.now_ns();
        running.meter.add(worker, StageKind::Reduce, (to_ns - from_ns).saturating_sub(write_ns), 0, keys_seen);
        running.meter.add(worker, StageKind::Write, write_ns, 0, keys_seen);
        running.meter.span(worker, "reduce", worker as u64, from_ns, to_ns, 0, keys_seen);
        Ok(())
    })
}

/// Sink that distributes finished records to the parts.
pub(super) struct PartSink<'a> {
    writers: Vec<OutputWriter<'a>>,
    partition: Partition,
    order: crate::bytes::KeyOrder,
    block: Scratch,
}

impl<'a> PartSink<'a> {
    /// Makes a sink with one writer for each part of `output`.
    pub fn new(
        running: &'a RunningJob<'_>,
        context: &Arc<TaskContext>,
        bounds: &Arc<Vec<Vec<u8>>>,
        output: &'a Output,
        stop: Stop<'a>,
    ) -> Result<Self> {
        let setup = running.writer_setup(output, stop);
        let parts = running.plan.partitions as usize;
        let share = WriterSetup { staging_bytes: (setup.staging_bytes / parts).max(4 << 10), ..setup };
        let writers = (0..parts).map(|p| OutputWriter::new(share, p, None, Vec::new())).collect();
        let partition = make_partition(running, context, bounds)?;
        Ok(PartSink { writers, partition, order: running.plan.order, block: Scratch::new()? })
    }

    /// Writes the staged rest. Returns the nanoseconds spent in writes.
    pub fn finish(self) -> Result<u64> {
        let mut write_ns = 0;
        for writer in self.writers {
            write_ns += writer.finish()?.write_ns;
        }
        Ok(write_ns)
    }

    fn write(
        writers: &mut [OutputWriter<'_>],
        partition: &Partition,
        order: crate::bytes::KeyOrder,
        number: usize,
        key: &[u8],
        value: &[u8],
    ) -> Result<()> {
        let part = match partition {
            Partition::One => 0,
            p if order.is_bytes() => p.of(number, key, key, order.prefix(key, 0)),
            p => {
                let mut normal = key.to_vec();
                order.normalise(&mut normal);
                p.of(number, key, &normal, order.prefix(&normal, 0))
            }
        };
        writers[part as usize].write(key, value)
    }
}

impl Sink for PartSink<'_> {
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        Ok(self.block.block())
    }
    fn filled(&mut self, len: usize, _: usize, _: &[u8]) -> Result<(*mut u8, usize)> {
        let PartSink { writers, partition, order, block } = self;
        let bytes = block.bytes(len);
        partition.choose(bytes, copied(bytes))?;
        for (number, (at, klen, vlen)) in copied(bytes).enumerate() {
            let key = at + HEADER_BYTES;
            let value = key + klen;
            Self::write(writers, partition, *order, number, &bytes[key..value], &bytes[value..value + vlen])?;
        }
        Ok(block.block())
    }
    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        let PartSink { writers, partition, order, block } = self;
        partition.choose_one(key, value)?;
        Self::write(writers, partition, *order, 0, key, value)?;
        Ok(block.block())
    }
}
