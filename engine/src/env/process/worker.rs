//! A worker process and the memory that it shares with this process.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::pipes::ended;
use super::{Ended, SharedMemory};

/// How worker processes are started.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// Program, an absolute path.
    pub program: PathBuf,
    /// Arguments that make it serve classes. Its standard input is the shared memory.
    pub arguments: Vec<OsString>,
    /// Variables to set.
    pub variables: Vec<(String, OsString)>,
    /// Bytes of memory that a worker may allocate (RLIMIT_DATA); None: any.
    pub memory_bytes: Option<u64>,
}

/// A running worker. Dropping it kills the process.
pub struct WorkerProcess {
    child: Child,
    pub memory: SharedMemory,
}

impl WorkerProcess {
    /// Starts a worker. Fails if the system cannot start it or has no memory for it.
    pub fn start(launcher: &Launcher) -> io::Result<WorkerProcess> {
        let memory = SharedMemory::create()?;
        // What user code prints is for the user, and the engine's standard output may be the job's output.
        let output = rustix::io::dup(rustix::stdio::stderr())?;
        let input = memory.descriptor().try_clone()?;
        let mut command = Command::new(&launcher.program);
        command.args(&launcher.arguments).stdin(Stdio::from(input)).stdout(Stdio::from(output));
        // A group of its own: ctrl-C in a terminal ends the job, which then ends its workers.
        command.process_group(0);
        command.envs(launcher.variables.iter().map(|(name, value)| (name, value)));
        let process = WorkerProcess { child: command.spawn()?, memory };
        if let Some(bytes) = launcher.memory_bytes {
            let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
            // The worker waits for its first request, so it has no class yet.
            prlimit(process.id(), Resource::Data, limit)?;
        }
        Ok(process)
    }

    fn id(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// Returns how the worker ended, if it did.
    pub fn ended(&mut self) -> Option<Ended> {
        self.child.try_wait().ok().flatten().map(ended)
    }

    /// Kills the worker.
    pub fn kill(&mut self) {
        // It fails if the worker has ended.
        let _ = self.child.kill();
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}
