//! A program as a mapper: one program for the records of each file in a split.

use std::sync::Arc;

use super::command_line::Program;
use super::environment::Place;
use super::output::ProgramOutput;
use super::process::Process;
use super::protocol::{Datum, Form, RecordReader, RecordWriter};
use crate::operator::mapper::Restart;
use crate::operator::{Batch, Mapper, Out, TaskContext};
use yunti_base::{Error, Result};

/// Mapper whose records come from a program.
pub struct ProgramMapper {
    program: Program,
    context: Arc<TaskContext>,
    input: RecordWriter,
    output: ProgramOutput,
    /// True if the program sees no keys. Without the setting, it sees the keys of a format that has keys.
    ignores_keys: Option<bool>,
    /// First file of the split, and the offset there.
    first: (u32, u64),
    /// The program, and the number of the file that it reads.
    running: Option<(u32, Process)>,
    /// True if a program has run, so that an empty split needs no other.
    has_run: bool,
    lines: Vec<u8>,
}

impl ProgramMapper {
    /// Returns the mapper of a split. The program starts with the first record. Errors: `Usage` for a bad setting.
    pub fn new(program: Program, context: &Arc<TaskContext>) -> Result<ProgramMapper> {
        Ok(ProgramMapper {
            input: RecordWriter::of(context, "map")?,
            // Without a reduce, the mapper's records are the output.
            output: ProgramOutput::new(RecordReader::of(context, "map", context.partitions == 0)?),
            ignores_keys: context.setting("stream.map.input.ignoreKey").map(|text| text.trim() != "false"),
            first: (0, 0),
            program,
            context: context.clone(),
            running: None,
            has_run: false,
            lines: Vec::new(),
        })
    }

    fn start_program(&mut self, file: u32, start: u64) -> Result<()> {
        let name = self.context.job.inputs.get(file as usize);
        let place = Place { file: name.map(String::as_str), start };
        self.running = Some((file, Process::start(&self.program, &self.context, place)?));
        Ok(())
    }

    fn end_program(&mut self, out: &mut Out) -> Result<()> {
        let ProgramMapper { running, output, .. } = self;
        if let Some((_, process)) = running {
            process.finish(&mut |bytes, ended| output.emit(bytes, ended, out))?;
        }
        *running = None;
        Ok(())
    }
}

impl Mapper for ProgramMapper {
    fn begin(&mut self, file_index: u32, start: u64) {
        self.first = (file_index, start);
    }

    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        if self.running.as_ref().is_some_and(|(file, _)| *file != batch.file_index()) {
            // A program may take its file from the environment, so each file has its own.
            self.end_program(out)?;
        }
        if self.running.is_none() {
            self.start_program(batch.file_index(), batch.first_position())?;
        }
        self.has_run = true;
        let ProgramMapper { running, input, output, ignores_keys, lines: text, .. } = self;
        let Some((_, process)) = running else { return Ok(()) };
        // Only text may be without keys.
        let has_keys = input.form != Form::Text || !ignores_keys.unwrap_or(batch.keys().is_none());
        let bytes = match whole_lines(batch).filter(|_| !has_keys) {
            Some(bytes) => bytes,
            None => {
                text.clear();
                append_records(batch, input, has_keys, text);
                text
            }
        };
        process.feed(bytes, &mut |bytes, ended| output.emit(bytes, ended, out))
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        if !self.has_run {
            let (file, start) = self.first;
            self.start_program(file, start)?;
        }
        self.end_program(out)?;
        self.output.replay.finish()
    }

    fn restart(&mut self, _: &Error) -> Restart {
        (self.running, self.has_run) = (None, false);
        self.output.replay.restart();
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

/// Appends the records of a batch. The key of a line is its offset in the file.
fn append_records(batch: &Batch<'_>, input: &RecordWriter, has_keys: bool, to: &mut Vec<u8>) {
    for (i, &offset) in batch.values().offsets.iter().enumerate() {
        let (key, value) = batch.record(i);
        let key = match batch.keys() {
            Some(_) => Datum::Text(key),
            None => Datum::Offset(batch.first_position() + u64::from(offset)),
        };
        input.append(has_keys.then_some(key), Datum::Text(value), to);
    }
}
