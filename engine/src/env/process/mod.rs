//! Processes, passed in: programs behind pipes, and workers behind shared memory.

pub mod pipes;
pub mod reaper;
mod sandbox;
pub mod shared_memory;
mod worker;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub use pipes::Command;
pub use reaper::Reaper;
pub use sandbox::{Sandbox, SandboxedProcesses};
pub use shared_memory::{Head, SharedMemory, Side};
pub use worker::Launcher;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Exit code.
    Code(i32),
    /// Number of the signal that ended it.
    Signal(i32),
}

/// Processes of the outside world.
pub trait Processes: Send + Sync {
    /// Returns the executable of this name in the directory of programs, else in the search path.
    fn find(&self, name: &str) -> Option<PathBuf>;
    /// Working directory of programs, if it is not this process's own.
    fn directory(&self) -> Option<&Path>;
    /// Returns true if programs get this variable from this process's environment.
    fn passes_on(&self, variable: &str) -> bool;
    /// Starts a program in the directory of programs, with pipes to its standard input, output and error. Fails if the
    /// system cannot start it.
    fn start(&self, command: &Command) -> io::Result<Box<dyn PipedProcess>>;
    /// Starts a worker. Fails if the system cannot start it or has no memory for it.
    fn start_worker(&self, launcher: &Launcher) -> io::Result<WorkerProcess>;
}

/// A worker and the memory that it shares with this process.
pub struct WorkerProcess {
    pub process: Box<dyn WorkerHandle>,
    pub memory: SharedMemory,
}

/// A running worker. Dropping it kills the process.
pub trait WorkerHandle: Send {
    /// Returns how the worker ended, if it did.
    fn ended(&mut self) -> Option<Ended>;
    /// Kills the worker.
    fn kill(&mut self);
}

/// A program behind pipes that never block. Dropping it kills the program and its children.
pub trait PipedProcess: Send {
    /// Writes to the standard input and returns the number of bytes taken. `WouldBlock`: the pipe is full; another
    /// error: the program reads no more.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Ends the standard input.
    fn close_input(&mut self);
    /// Reads standard output; 0: it has ended. `WouldBlock`: there is nothing yet.
    fn read_output(&mut self, to: &mut [u8]) -> io::Result<usize>;
    /// Reads standard error, as `read_output`.
    fn read_errors(&mut self, to: &mut [u8]) -> io::Result<usize>;
    /// Waits until a pipe is ready, at most for a time; `writes`: until there is room for input, too.
    fn wait(&mut self, writes: bool, at_most: Duration) -> io::Result<()>;
    /// Returns how the program ended, if it has.
    fn ended(&mut self) -> io::Result<Option<Ended>>;
    /// Kills the program and its children, and waits for its end.
    fn kill(&mut self);
}

/// The operating system's processes.
#[derive(Default)]
pub struct RealProcesses {
    /// Working directory of programs, an absolute path. None: this process's own.
    directory: Option<PathBuf>,
    reaper: Option<Launcher>,
    /// Reaper, once there is a program.
    running: Mutex<Option<Arc<Reaper>>>,
}

impl RealProcesses {
    /// Returns processes that start in `directory`. If this process is killed, `reaper` kills its programs.
    pub fn new(directory: Option<PathBuf>, reaper: Option<Launcher>) -> RealProcesses {
        RealProcesses { directory, reaper, running: Mutex::default() }
    }

    fn reaper(&self) -> io::Result<Option<Arc<Reaper>>> {
        let Some(launcher) = &self.reaper else { return Ok(None) };
        let mut running = self.running.lock().unwrap_or_else(|e| e.into_inner());
        if running.is_none() {
            *running = Some(Arc::new(Reaper::start(launcher)?));
        }
        Ok(running.clone())
    }
}

impl Processes for RealProcesses {
    fn find(&self, name: &str) -> Option<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let directories = self.directory.iter().cloned().chain(std::env::split_paths(&path));
        directories.map(|dir| dir.join(name)).find(|file| pipes::is_executable(file))
    }
    fn passes_on(&self, variable: &str) -> bool {
        std::env::var_os(variable).is_some()
    }
    fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }
    fn start(&self, command: &Command) -> io::Result<Box<dyn PipedProcess>> {
        Ok(Box::new(pipes::Pipes::start(command, self.directory(), self.reaper()?)?))
    }
    fn start_worker(&self, launcher: &Launcher) -> io::Result<WorkerProcess> {
        worker::start(launcher)
    }
}
