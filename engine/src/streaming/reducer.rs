//! A program as a reducer or combiner: it gets a line for each value, in the order of the keys.

use std::sync::Arc;

use super::command_line::Program;
use super::environment::Place;
use super::process::Process;
use super::protocol::{KeyFields, lines};
use crate::operator::replay::Replay;
use crate::operator::{Groups, Kind, Out, Reducer, TaskContext};
use yunti_base::Result;

/// Reducer or combiner whose records come from a program.
pub struct ProgramReducer {
    program: Program,
    context: Arc<TaskContext>,
    input: KeyFields,
    output: KeyFields,
    running: Option<Process>,
    replay: Replay,
    lines: Vec<u8>,
}

impl ProgramReducer {
    /// Returns the reducer of a partition, or the combiner of a task. The program starts with the first record.
    ///
    /// Errors: `Usage` for a bad setting.
    pub fn new(program: Program, kind: Kind, context: &Arc<TaskContext>) -> Result<ProgramReducer> {
        // The records of a combiner are records of the map output.
        let (separator, fields) = if kind == Kind::Combiner {
            ("stream.map.output.field.separator", "stream.num.map.output.key.fields")
        } else {
            ("stream.reduce.output.field.separator", "stream.num.reduce.output.key.fields")
        };
        Ok(ProgramReducer {
            input: KeyFields::of(context, "stream.reduce.input.field.separator", "")?,
            output: KeyFields::of(context, separator, fields)?,
            program,
            context: context.clone(),
            running: None,
            replay: Replay::default(),
            lines: Vec::new(),
        })
    }
}

impl Reducer for ProgramReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        let ProgramReducer { program, context, input, output, running, replay, lines: text } = self;
        let process = match running {
            Some(process) => process,
            None => running.insert(Process::start(program, context, Place::default())?),
        };
        text.clear();
        for i in 0..groups.len() {
            let key = groups.key(i);
            for v in groups.range(i) {
                input.append(groups.value_key(v).unwrap_or(key), groups.value(v), text);
            }
        }
        process.feed(text, &mut |bytes, ended| {
            lines(bytes, ended, |line| {
                let (key, value) = output.split(line);
                if replay.is_fresh(key, value)? { Ok(out.emit(key, value)?) } else { Ok(()) }
            })
        })
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        let ProgramReducer { output, running, replay, .. } = self;
        let Some(process) = running else { return Ok(()) };
        process.finish(&mut |bytes, ended| {
            lines(bytes, ended, |line| {
                let (key, value) = output.split(line);
                if replay.is_fresh(key, value)? { Ok(out.emit(key, value)?) } else { Ok(()) }
            })
        })?;
        replay.finish()
    }

    fn restart(&mut self) -> bool {
        self.running = None;
        self.replay.restart();
        true
    }
}
