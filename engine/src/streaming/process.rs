//! A running program: one poll moves bytes to its standard input and from its standard output and error, so neither
//! side can block the other, and no thread is needed.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use super::command_line::Program;
use super::environment::{self, Place};
use super::report::Report;
use crate::env::process::{Command, Ended, PipedProcess};
use crate::operator::TaskContext;
use crate::operator::context::task_timeout;
use crate::operator::cursor::RECORD_BYTES_MAX;
use yunti_base::{Code, Error, Result};

/// Bytes of output read at once.
const READ_BYTES: usize = 256 << 10;
/// Interval at which a waiting task checks for cancellation.
const TICK: Duration = Duration::from_millis(50);
/// Time that children of an ended program may keep its output open without writing.
const ORPHAN_NS: u64 = 5_000_000_000;
/// Setting: whether an exit code other than 0 is an error.
const EXIT_IS_FAILURE: &str = "stream.non.zero.exit.is.failure";

/// Setting: start of the lines of standard error that are counters and the status.
const REPORTER_PREFIX: &str = "stream.stderr.reporter.prefix";

/// Takes output of a program: all bytes not taken yet, and true if no more follow. Returns the number of bytes taken.
pub type TakeOutput<'t> = dyn FnMut(&[u8], bool) -> Result<usize> + 't;

/// A program of one task. Call order: `feed` any number of times, then `finish` once. Dropping it kills the program.
pub struct Process {
    pipes: Box<dyn PipedProcess>,
    reads_input: bool,
    has_output: bool,
    has_errors: bool,
    /// Bytes `from..to` are read and not taken.
    output: Vec<u8>,
    from: usize,
    to: usize,
    report: Report,
    context: Arc<TaskContext>,
    program: String,
    /// Name of the task for messages, such as `map task 3 (logs/a.txt)`.
    task: String,
    /// Bytes of input that the program has been given.
    fed_bytes: u64,
    /// Time of the last progress in any pipe, in nanoseconds.
    progress_ns: u64,
    timeout: Option<Duration>,
    exit_is_failure: bool,
}

impl Process {
    /// Starts a program for a task.
    ///
    /// Errors: `UserCode` if the system cannot start it; `Usage` for a bad setting.
    pub fn start(program: &Program, context: &Arc<TaskContext>, place: Place<'_>) -> Result<Process> {
        let timeout = task_timeout(&context.job.settings)?;
        let variables = environment::variables(context, place)?.into_iter();
        let command = Command {
            executable: program.executable.clone(),
            arguments: program.arguments.clone(),
            variables: variables.map(|(name, value)| (name, value.into())).collect(),
            removed: vec![environment::UNBUFFERED],
        };
        let pipes = context.job.host.processes.start(&command).map_err(|e| {
            let error = Error::io(Code::UserCode, "cannot start the program", &e);
            let error = error.at_path(command.executable.to_string_lossy());
            match e.kind() {
                ErrorKind::NotFound => error.hint("check the interpreter in its first line"),
                _ => error,
            }
        })?;
        if context.job.host.processes.passes_on(environment::UNBUFFERED) {
            context.count("Yunti", "PYTHONUNBUFFERED_REMOVED", 1);
        }
        let kind = if context.is_reduce { "reduce" } else { "map" };
        let task = match place.file {
            Some(file) => format!("{kind} task {} ({file})", context.task),
            None => format!("{kind} task {}", context.task),
        };
        let mut process = Process {
            pipes,
            reads_input: true,
            has_output: true,
            has_errors: true,
            output: Vec::new(),
            from: 0,
            to: 0,
            report: Report::new(context.setting(REPORTER_PREFIX).unwrap_or("reporter:")),
            context: context.clone(),
            program: program.text.clone(),
            task,
            fed_bytes: 0,
            progress_ns: 0,
            timeout,
            exit_is_failure: context.setting(EXIT_IS_FAILURE).is_none_or(|text| text.trim() != "false"),
        };
        process.note_progress();
        Ok(process)
    }

    fn note_progress(&mut self) {
        self.progress_ns = self.context.job.host.clock.now_ns();
    }

    /// Writes `input` to the program, and passes its output to `take`. A program that has ended or closed its input
    /// gets no more: `finish` says how it ended.
    ///
    /// Errors: the errors of `take`; `Cancelled`; `UserCode` for a program without progress.
    pub fn feed(&mut self, mut input: &[u8], take: &mut TakeOutput<'_>) -> Result<()> {
        self.note_progress();
        while !input.is_empty() && self.reads_input {
            match self.pipes.write(input) {
                Ok(n) => {
                    input = &input[n..];
                    self.fed_bytes += n as u64;
                    self.note_progress();
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => self.wait(true)?,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.reads_input = false,
            }
            self.read_output(take)?;
            self.read_errors()?;
        }
        Ok(())
    }

    /// Closes the program's input, passes the rest of its output to `take`, and waits for its end. Adds its counters
    /// to the task.
    ///
    /// Errors: as `feed`, and `UserCode` for a program that was killed or ended with an exit code other than 0.
    pub fn finish(&mut self, take: &mut TakeOutput<'_>) -> Result<()> {
        self.pipes.close_input();
        self.note_progress();
        let clock = self.context.job.host.clock.clone();
        let mut ended_ns = None;
        while self.has_output || self.has_errors {
            self.wait(false)?;
            let moved = self.read_output(take)? | self.read_errors()?;
            if moved || self.ended()?.is_none() {
                ended_ns = None;
            } else if clock.now_ns().saturating_sub(*ended_ns.get_or_insert_with(|| clock.now_ns())) > ORPHAN_NS {
                self.pipes.kill();
                let what = format!("{} ended in {}, but left processes that hold its output", self.program, self.task);
                return Err(Error::new(Code::UserCode, what).hint("it must wait for the processes that it starts"));
            }
        }
        loop {
            if let Some(ended) = self.ended()? {
                self.settle(ended)?;
                self.from += take(&self.output[self.from..self.to], true)?;
                return Ok(());
            }
            self.check()?;
            clock.sleep_ms(1);
        }
    }

    /// Adds the report of an ended program to the task. Errors: `UserCode` if it failed.
    fn settle(&mut self, ended: Ended) -> Result<()> {
        let how = match ended {
            Ended::Signal(signal) => format!("was killed by signal {signal}"),
            Ended::Code(code) if code != 0 && self.exit_is_failure => format!("ended with exit code {code}"),
            _ => {
                for ((group, name), by) in std::mem::take(&mut self.report.counters) {
                    self.context.count(&group, &name, by);
                }
                return Ok(());
            }
        };
        let what = format!("{} {how} in {}, after {} bytes of input", self.program, self.task, self.fed_bytes);
        let error = Error::new(Code::UserCode, what);
        Err(match &self.report.last_line {
            Some(line) => error.hint(format!("its last message is '{line}'")),
            None => error.hint("it wrote no message on standard error"),
        })
    }

    /// Waits until a pipe is ready, or for a tick.
    fn wait(&mut self, writes: bool) -> Result<()> {
        self.check()?;
        self.pipes.wait(writes, TICK).map_err(|e| Error::io(Code::Internal, "cannot wait for a pipe", &e))
    }

    /// Fails if the job was cancelled, or the program moves no byte.
    fn check(&mut self) -> Result<()> {
        let host = &self.context.job.host;
        host.cancel.check()?;
        host.messages.note_waiting();
        let idle = Duration::from_nanos(host.clock.now_ns().saturating_sub(self.progress_ns));
        if let Some(timeout) = self.timeout.filter(|timeout| idle > *timeout) {
            self.pipes.kill();
            let what = format!(
                "{} neither read nor wrote for {} s in {}, after {} bytes of input",
                self.program,
                timeout.as_secs_f64(),
                self.task,
                self.fed_bytes
            );
            return Err(Error::new(Code::UserCode, what)
                .hint("it was killed; -D mapreduce.task.timeout=MILLISECONDS gives it more time"));
        }
        Ok(())
    }

    /// Reads what the output pipe has. Returns true if there was any.
    fn read_output(&mut self, take: &mut TakeOutput<'_>) -> Result<bool> {
        let mut moved = false;
        while self.has_output {
            if self.to - self.from > RECORD_BYTES_MAX {
                let what = format!("{} wrote a record of over {RECORD_BYTES_MAX} bytes in {}", self.program, self.task);
                return Err(Error::new(Code::UserCode, what).hint("check that it ends its lines"));
            }
            if self.output.len() - self.to < READ_BYTES / 2 {
                self.output.copy_within(self.from..self.to, 0);
                (self.to, self.from) = (self.to - self.from, 0);
                let room = (2 * self.to).max(READ_BYTES);
                self.output.resize(room, 0);
            }
            let n = match self.pipes.read_output(&mut self.output[self.to..]) {
                Ok(n) => n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(moved),
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(Error::io(Code::UserCode, "cannot read a program's output", &e)),
            };
            let full = self.to + n == self.output.len();
            self.to += n;
            self.has_output = n > 0;
            // A last line without an end is taken once the program has succeeded: it may be cut short.
            self.from += take(&self.output[self.from..self.to], false)?;
            moved = true;
            self.note_progress();
            if !full {
                return Ok(moved);
            }
        }
        Ok(moved)
    }

    fn read_errors(&mut self) -> Result<bool> {
        let mut moved = false;
        let mut bytes = [0; 4096];
        while self.has_errors {
            let n = match self.pipes.read_errors(&mut bytes) {
                Ok(n) => n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(Error::io(Code::UserCode, "cannot read a program's messages", &e)),
            };
            self.has_errors = n > 0;
            let (task, context) = (&self.task, &self.context);
            self.report.take(&bytes[..n], n == 0, |line| context.job.host.messages.show(&format!("{task}: {line}")));
            moved = true;
            self.note_progress();
        }
        if let Some(status) = self.report.status.take() {
            self.context.set_status(status);
        }
        Ok(moved)
    }

    fn ended(&mut self) -> Result<Option<Ended>> {
        self.pipes.ended().map_err(|e| Error::io(Code::UserCode, "cannot wait for a program", &e))
    }
}
