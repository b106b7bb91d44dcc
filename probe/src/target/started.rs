//! Target that was running, or that is started here and ends with this process.

use std::cell::Cell;
use std::ffi::OsString;
use std::io;
use std::process::{Child, Command};

use rustix::process::Pid;
use yunti_base::{Code, Error, Result};

use super::{Process, choose, entry};

/// Target of a measurement.
pub struct Target {
    /// Its process.
    pub process: Process,
    child: Option<Child>,
    /// True while it is held at its entry point.
    is_held: Cell<bool>,
}

/// Start of a command.
#[derive(Clone, Copy)]
pub enum Start {
    /// It runs at once.
    Running,
    /// It waits at its entry point for [`Target::go`] if this function returns true.
    Held(fn(&Process) -> bool),
}

impl Target {
    /// Returns the target by number or name, or starts it. Exactly one of the three is given.
    pub fn find(pid: Option<u32>, name: Option<&str>, command: &[OsString], start: Start) -> Result<Target> {
        let found = Target::found(pid, name, command, start)?;
        // The started program keeps its own priority.
        be_prompt();
        Ok(found)
    }

    fn found(pid: Option<u32>, name: Option<&str>, command: &[OsString], start: Start) -> Result<Target> {
        if let Some((program, arguments)) = command.split_first() {
            return Target::start(program, arguments, start);
        }
        let process = match (pid, name) {
            (Some(pid), _) => Process::of(pid)?,
            (None, Some(name)) => choose(name)?,
            (None, None) => {
                let error = Error::new(Code::Usage, "no process is named");
                return Err(error.hint("give -p PID, a name, or `-- COMMAND`"));
            }
        };
        Ok(Target { process, child: None, is_held: Cell::new(false) })
    }

    fn start(program: &OsString, arguments: &[OsString], start: Start) -> Result<Target> {
        let command = || {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        };
        let run = || command().spawn().map(|child| (child, false));
        let started = match start {
            Start::Running => run(),
            // A program that may not be traced runs at once.
            Start::Held(_) => match entry::start(&mut command()) {
                Err(e) if e.kind() == io::ErrorKind::PermissionDenied => run(),
                started => started,
            },
        };
        let (child, is_held) = started.map_err(|e| {
            let what = if e.kind() == io::ErrorKind::NotFound { "no such program" } else { "cannot start the program" };
            Error::io(Code::Input, what, &e).at_path(program.to_string_lossy())
        })?;
        let process = Process::of(child.id())?;
        let target = Target { process, child: Some(child), is_held: Cell::new(is_held) };
        match start {
            Start::Held(is_wanted) if !is_wanted(&target.process) => target.go()?,
            _ => {}
        }
        Ok(target)
    }

    /// Lets it run.
    pub fn go(&self) -> Result<()> {
        match Pid::from_raw(self.process.pid as i32) {
            Some(pid) if self.is_held.replace(false) => entry::release(pid).map_err(|_| self.process.has_ended()),
            _ => Ok(()),
        }
    }

    /// Returns true while it is held at its entry point.
    pub fn is_held(&self) -> bool {
        self.is_held.get()
    }

    /// Returns true if this process started it.
    pub fn is_ours(&self) -> bool {
        self.child.is_some()
    }
}

/// Raises the priority, so that a measurement is not delayed by a thousand threads in the run queue. Without the
/// rights it is slower.
fn be_prompt() {
    const NICE: i32 = -10;
    let _ = rustix::process::setpriority_process(None, NICE);
}

impl Drop for Target {
    /// Ends a started program: first by SIGTERM, then by SIGKILL.
    fn drop(&mut self) {
        let Some(child) = self.child.as_mut() else { return };
        if !self.is_held.get() && matches!(child.try_wait(), Ok(None)) {
            if let Some(pid) = Pid::from_raw(child.id() as i32) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
            for _ in 0..50 {
                if !matches!(child.try_wait(), Ok(None)) {
                    return;
                }
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}
