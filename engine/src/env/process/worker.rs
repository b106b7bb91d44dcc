//! Worker processes of the operating system.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::pipes::ended;
use super::{Ended, SharedMemory, WorkerHandle, WorkerProcess};

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

/// Starts a worker. Fails if the system cannot start it or has no memory for it.
pub(super) fn start(launcher: &Launcher) -> io::Result<WorkerProcess> {
    let memory = SharedMemory::create()?;
    // What user code prints is for the user, and the engine's standard output may be the job's output.
    let output = rustix::io::dup(rustix::stdio::stderr())?;
    let input = memory.descriptor().try_clone()?;
    let mut command = Command::new(&launcher.program);
    command.args(&launcher.arguments).stdin(Stdio::from(input)).stdout(Stdio::from(output));
    // A group of its own: ctrl-C in a terminal ends the job, which then ends its workers.
    command.process_group(0);
    command.envs(launcher.variables.iter().map(|(name, value)| (name, value)));
    let process = Worker(command.spawn()?);
    if let Some(bytes) = launcher.memory_bytes {
        let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
        // The worker waits for its first request, so it has no class yet.
        prlimit(process.id(), Resource::Data, limit)?;
    }
    Ok(WorkerProcess { process: Box::new(process), memory })
}

struct Worker(Child);

impl Worker {
    fn id(&self) -> Option<Pid> {
        i32::try_from(self.0.id()).ok().and_then(Pid::from_raw)
    }
}

impl WorkerHandle for Worker {
    fn ended(&mut self) -> Option<Ended> {
        self.0.try_wait().ok().flatten().map(ended)
    }

    fn kill(&mut self) {
        // It fails if the worker has ended.
        let _ = self.0.kill();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
        let _ = self.0.wait();
    }
}
