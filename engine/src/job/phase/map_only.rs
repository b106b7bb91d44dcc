//! Mode none: each split through the mapper into a part of its own, without a barrier.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::map_setup::{Readers, count_read, make_mapper, map_task, map_together, note_failed_attempt, read_ahead};
use super::running_job::{RunningJob, show_output};
use crate::env::sync::Mutex;
use crate::job::control::ProgressStage;
use crate::job::journal::frame::{Frame, rows_of};
use crate::job::report::meter::StageKind;
use crate::map::map_split;
use crate::map::timed_sink::TimedSink;
use crate::operator::Emitter;
use crate::operator::cursor::RecordSink;
use crate::read::Split;
use crate::write::{FinishedWriter, Output, OutputWriter};
use yunti_base::{Code, Error, Result};

/// Maps all splits to `output`.
///
/// Errors: `Usage` if the writer makes whole parts and the input has several splits for one stream.
pub fn run(running: &RunningJob<'_>, output: &Output) -> Result<()> {
    let plan = running.plan;
    if plan.writes_whole_parts() && matches!(output, Output::Stream(_)) && plan.splits.len() > 1 {
        return Err(Error::new(Code::Usage, "the writer makes whole parts, but the input has several splits")
            .hint("name a directory with --output, or use --mode sorted"));
    }
    running.enter(ProgressStage::Map);
    let has_a_part = match output {
        Output::Parts(parts) => !parts.is_empty(),
        other => matches!(other, Output::Stream(_)),
    };
    if plan.splits.is_empty() && plan.writes_whole_parts() && has_a_part {
        // Without a record, the class writes the columns alone.
        OutputWriter::new(running.writer_setup(output, &|| false), 0, Some(0), Vec::new()).finish()?;
    }
    let ahead = read_ahead(running);
    let next = AtomicUsize::new(0);
    let spare: Vec<Mutex<Vec<u8>>> = (0..running.crew.workers).map(|_| Mutex::default()).collect();
    map_together(running, ahead.as_deref(), |worker, stop| {
        let mut readers = Readers::new(running, ahead.clone());
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(split) = plan.splits.get(number).filter(|_| !stop()) else { return Ok(()) };
            if running.kept.parts.contains_key(&split.number) {
                continue;
            }
            let clock = &*running.env.clock;
            let from_ns = clock.now_ns();
            let context = running.context_with_outputs(false, split.number);
            let (mut mapper, flags) = make_mapper(plan.source(split), &context)?;
            let reader = readers.of(split)?;
            let writer_setup = running.writer_setup(output, stop);
            let staging = std::mem::take(&mut *spare[worker].lock().unwrap_or_else(|e| e.into_inner()));
            let (part, ticket) = match output {
                Output::Parts(_) => (number, 0),
                _ => (0, number),
            };
            let writer = OutputWriter::new(writer_setup, part, Some(ticket), staging);
            let sink = TimedSink::new(RecordSink::new(writer)?, running.env.clock.clone());
            let mut emitter = Emitter::new(sink, flags.emits_refs, flags.emits_one)?;
            let before = reader.records;
            let on_failure = |e: &Error, attempt| note_failed_attempt(running, split, e, attempt);
            let task = map_task(running, split, &on_failure);
            let task = map_split(&task, reader, &mut *mapper, &mut emitter, |n| running.advance(n * 2))?;
            let sink = emitter.finish()?;
            let sink_ns = sink.busy_ns;
            let FinishedWriter { staging, write_ns, records: written } = sink.into_inner().into_target().finish()?;
            *spare[worker].lock().unwrap_or_else(|e| e.into_inner()) = staging;
            drop(mapper);
            running.absorb(worker, &context);
            let records = reader.records - before;
            running.meter.add(worker, StageKind::Read, task.read_ns, task.bytes, records);
            running.meter.add(worker, StageKind::Map, task.map_ns.saturating_sub(sink_ns), task.bytes, records);
            running.meter.add(worker, StageKind::Write, write_ns, 0, 0);
            running.meter.span(worker, "map", number as u64, from_ns, clock.now_ns(), task.bytes, records);
            running.partitions.add(number, records, task.bytes);
            running.control.records.fetch_add(records, Ordering::Relaxed);
            running.count_on(worker, super::map_setup::TASK_COUNTERS, "MAP_INPUT_RECORDS", records);
            count_read(running, worker, reader);
            save(running, output, worker, split, written)?;
            show_output(running);
        }
    })
}

/// Saves the part of a split in the job's journal. `records`: records of the part.
fn save(running: &RunningJob<'_>, output: &Output, worker: usize, split: &Split, records: u64) -> Result<()> {
    let (Some(journal), Output::Parts(parts)) = (&running.journal, output) else { return Ok(()) };
    let part = &parts[split.number as usize];
    if journal.is_durable() {
        part.sync()?;
    }
    journal.append(&Frame::Part {
        split: journal.split(split.number),
        bytes: part.len(),
        records,
        counters: rows_of(&running.settle(Some(worker))),
        bad_records: running.job.bad_records.kept_of(&[split.number]).into_iter().map(Into::into).collect(),
    })
}
