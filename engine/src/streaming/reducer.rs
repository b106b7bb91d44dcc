//! A program as a reducer or combiner: it gets a line for each value, in the order of the keys.

use std::sync::Arc;

use super::command_line::Program;
use super::environment::Place;
use super::output::ProgramOutput;
use super::process::Process;
use super::protocol::{Datum, Form, RecordReader, RecordWriter};
use crate::operator::{Groups, Kind, Out, Reducer, TaskContext};
use yunti_base::Result;

/// Reducer or combiner whose records come from a program.
pub struct ProgramReducer {
    program: Program,
    context: Arc<TaskContext>,
    input: RecordWriter,
    /// Form in which the mapper wrote the records.
    mapped: Form,
    output: ProgramOutput,
    running: Option<Process>,
    lines: Vec<u8>,
}

impl ProgramReducer {
    /// Returns the reducer of a partition, or the combiner of a task. The program starts with the first record.
    ///
    /// Errors: `Usage` for a bad setting.
    pub fn new(program: Program, kind: Kind, context: &Arc<TaskContext>) -> Result<ProgramReducer> {
        // The records of a combiner are records of the map output. Hadoop reads them with the settings of the reducer.
        let output = match kind {
            Kind::Combiner => RecordReader::of(context, "map", false)?,
            _ => RecordReader::of(context, "reduce", true)?,
        };
        Ok(ProgramReducer {
            input: RecordWriter::of(context, "reduce")?,
            mapped: Form::of(context, "stream.map.output")?,
            output: ProgramOutput::new(output),
            program,
            context: context.clone(),
            running: None,
            lines: Vec::new(),
        })
    }
}

impl Reducer for ProgramReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        let ProgramReducer { program, context, input, mapped, output, running, lines: text } = self;
        let process = match running {
            Some(process) => process,
            None => running.insert(Process::start(program, context, Place::default())?),
        };
        text.clear();
        for i in 0..groups.len() {
            let key = groups.key(i);
            for v in groups.range(i) {
                let key = Datum::written(*mapped, groups.value_key(v).unwrap_or(key));
                input.append(Some(key), Datum::written(*mapped, groups.value(v)), text);
            }
        }
        process.feed(text, &mut |bytes, ended| output.emit(bytes, ended, out))
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        let ProgramReducer { output, running, .. } = self;
        let Some(process) = running else { return Ok(()) };
        process.finish(&mut |bytes, ended| output.emit(bytes, ended, out))?;
        output.replay.finish()
    }

    fn restart(&mut self) -> bool {
        self.running = None;
        self.output.replay.restart();
        true
    }
}
