//! A target that was there, or one that we have started and that ends with us.

use std::cell::Cell;
use std::ffi::OsString;
use std::io;
use std::process::{Child, Command};

use rustix::process::Pid;
use yunti_base::{Code, Error, Result};

use super::{Process, choose, entry};

pub struct Target {
    pub process: Process,
    child: Option<Child>,
    /// At its entry point.
    is_held: Cell<bool>,
}

/// How a command is started.
#[derive(Clone, Copy)]
pub enum Start {
    /// It runs at once.
    Running,
    /// It waits at its entry point for [`Target::go`], if this says so then.
    Held(fn(&Process) -> bool),
}

impl Target {
    /// By number, by name, or by starting it; of the three one is given.
    pub fn find(pid: Option<u32>, name: Option<&str>, command: &[OsString], start: Start) -> Result<Target> {
        let found = Target::found(pid, name, command, start)?;
        // What is started is not: it is to run as it would without us.
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
                return Err(error.hint("-p PID, a name, or `-- COMMAND`"));
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
            // Who may not be traced runs at once.
            Start::Held(_) => match entry::start(&mut command()) {
                Err(e) if e.kind() == io::ErrorKind::PermissionDenied => run(),
                started => started,
            },
        };
        let (child, is_held) = started.map_err(|e| {
            let what = if e.kind() == io::ErrorKind::NotFound {
                "there is no such program"
            } else {
                "the program cannot be started"
            };
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

    pub fn is_held(&self) -> bool {
        self.is_held.get()
    }

    /// Whether it was started by us, just now.
    pub fn is_ours(&self) -> bool {
        self.child.is_some()
    }
}

/// Who looks at a machine with a thousand threads that want a processor must not stand in line behind them. Where that is not allowed,
/// it takes longer.
fn be_prompt() {
    const NICE: i32 = -10;
    let _ = rustix::process::setpriority_process(None, NICE);
}

impl Drop for Target {
    /// What we started does not outlive us: asked first, then made to.
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
