//! A program as a mapper: one program for the records of each file in a split.

use std::sync::Arc;

use super::command_line::Program;
use super::environment::Place;
use super::process::Process;
use super::protocol::{KeyFields, lines};
use crate::operator::mapper::Restart;
use crate::operator::replay::Replay;
use crate::operator::{Batch, Mapper, Out, TaskContext};
use yunti_base::{Error, Result};

/// Mapper whose records come from a program.
pub struct ProgramMapper {
    program: Program,
    context: Arc<TaskContext>,
    input: KeyFields,
    output: KeyFields,
    /// True if the program sees the offsets of lines, as keys.
    with_offsets: bool,
    /// The program, and the number of the file that it reads.
    running: Option<(u32, Process)>,
    /// True if a program has run, so that an empty split needs no other.
    has_run: bool,
    replay: Replay,
    lines: Vec<u8>,
}

impl ProgramMapper {
    /// Returns the mapper of a split. The program starts with the first record. Errors: `Usage` for a bad setting.
    pub fn new(program: Program, context: &Arc<TaskContext>) -> Result<ProgramMapper> {
        Ok(ProgramMapper {
            input: KeyFields::of(context, "stream.map.input.field.separator", "")?,
            output: KeyFields::of(context, "stream.map.output.field.separator", "stream.num.map.output.key.fields")?,
            with_offsets: context.setting("stream.map.input.ignoreKey").is_some_and(|text| text.trim() == "false"),
            program,
            context: context.clone(),
            running: None,
            has_run: false,
            replay: Replay::default(),
            lines: Vec::new(),
        })
    }

    fn end_program(&mut self, out: &mut Out) -> Result<()> {
        let ProgramMapper { running, replay, output, .. } = self;
        if let Some((_, process)) = running {
            process.finish(&mut |bytes, ended| {
                lines(bytes, ended, |line| {
                    let (key, value) = output.split(line);
                    if replay.is_fresh(key, value)? { Ok(out.emit(key, value)?) } else { Ok(()) }
                })
            })?;
        }
        *running = None;
        Ok(())
    }
}

impl Mapper for ProgramMapper {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        if self.running.as_ref().is_some_and(|(file, _)| *file != batch.file_index()) {
            // A program may take its file from the environment, so each file has its own.
            self.end_program(out)?;
        }
        if self.running.is_none() {
            let file = self.context.job.inputs.get(batch.file_index() as usize);
            let place = Place { file: file.map(String::as_str), start: batch.first_position() };
            self.running = Some((batch.file_index(), Process::start(&self.program, &self.context, place)?));
        }
        self.has_run = true;
        let ProgramMapper { running, replay, input, output, with_offsets, lines: text, .. } = self;
        let Some((_, process)) = running else { return Ok(()) };
        let bytes = match whole_lines(batch).filter(|_| !*with_offsets) {
            Some(bytes) => bytes,
            None => {
                text.clear();
                append_records(batch, input, *with_offsets, text);
                text
            }
        };
        process.feed(bytes, &mut |bytes, ended| {
            lines(bytes, ended, |line| {
                let (key, value) = output.split(line);
                if replay.is_fresh(key, value)? { Ok(out.emit(key, value)?) } else { Ok(()) }
            })
        })
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        if !self.has_run {
            self.running = Some((0, Process::start(&self.program, &self.context, Place::default())?));
        }
        self.end_program(out)?;
        self.replay.finish()
    }

    fn restart(&mut self, _: &Error) -> Restart {
        (self.running, self.has_run) = (None, false);
        self.replay.restart();
        Restart::Attempt
    }
}

/// Returns the bytes of a batch if they are lines with LF ends, as the program must get them.
fn whole_lines<'b>(batch: &Batch<'b>) -> Option<&'b [u8]> {
    let (data, values) = (batch.data(), batch.values());
    if batch.keys().is_some() {
        return None;
    }
    let start = *values.offsets.first()? as usize;
    let mut next = start;
    for (&offset, &len) in values.offsets.iter().zip(values.lengths) {
        let end = offset as usize + len as usize;
        if offset as usize != next || data.get(end) != Some(&b'\n') {
            return None;
        }
        next = end + 1;
    }
    Some(&data[start..next])
}

/// Appends the records of a batch as lines.
fn append_records(batch: &Batch<'_>, form: &KeyFields, with_offsets: bool, to: &mut Vec<u8>) {
    for (i, &offset) in batch.values().offsets.iter().enumerate() {
        let (key, value) = batch.record(i);
        if batch.keys().is_some() {
            form.append(key, value, to);
        } else if with_offsets {
            let offset = batch.first_position() + u64::from(offset);
            form.append(offset.to_string().as_bytes(), value, to);
        } else {
            to.extend_from_slice(value);
            to.push(b'\n');
        }
    }
}
