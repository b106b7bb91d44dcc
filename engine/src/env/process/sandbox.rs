//! The sandbox of a job: programs that are started through `yunti sandboxed`, with one directory to write to.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use super::{Command, Launcher, PipedProcess, Processes, WorkerProcess};
use crate::env::Env;
use yunti_base::process::unique_token;
use yunti_base::{Code, Error, Result};

/// Sandbox of a job's user code. Dropping it removes its directory.
pub struct Sandbox {
    /// The program `yunti`.
    yunti: PathBuf,
    scratch: PathBuf,
}

impl Sandbox {
    /// Creates the directory that user code may write to, in `scratch` or the system's temporary directory. Shows what
    /// the kernel cannot do. `yunti`: the program of that name.
    ///
    /// Errors: `Output` if the directory cannot be created; `Internal` if `yunti` cannot be started.
    pub fn create(yunti: PathBuf, scratch: Option<&PathBuf>, env: &Env) -> Result<Sandbox> {
        let scratch = scratch.unwrap_or(&env.temp_dir).join(format!(".yunti-sandbox-{}", unique_token()));
        std::fs::create_dir_all(&scratch).map_err(|e| {
            Error::io(Code::Output, "cannot create a directory for user code", &e).at_path(scratch.to_string_lossy())
        })?;
        let sandbox = Sandbox { yunti, scratch };
        let probe = std::process::Command::new(&sandbox.yunti).arg("sandboxed").stdin(Stdio::null()).output();
        let probe = probe.map_err(|e| {
            Error::io(Code::Internal, "cannot start the sandbox", &e).at_path(sandbox.yunti.to_string_lossy())
        })?;
        for lack in String::from_utf8_lossy(&probe.stdout).lines() {
            env.messages.show(&format!("sandbox: {lack}"));
        }
        Ok(sandbox)
    }

    /// Returns a launcher that starts the same program in the sandbox.
    pub fn wrap(&self, launcher: Launcher) -> Launcher {
        let mut arguments = self.prefix(launcher.program).to_vec();
        arguments.extend(launcher.arguments);
        let mut variables = launcher.variables;
        variables.push(("TMPDIR".into(), self.scratch.clone().into()));
        Launcher { program: self.yunti.clone(), arguments, variables, memory_bytes: launcher.memory_bytes }
    }

    /// Returns the arguments of `yunti` that start another program in the sandbox; the other's arguments follow.
    fn prefix(&self, program: PathBuf) -> [OsString; 5] {
        ["sandboxed".into(), "--scratch".into(), self.scratch.clone().into(), "--".into(), program.into()]
    }
}

/// Programs of a job, each started in the sandbox.
pub struct SandboxedProcesses {
    inner: Arc<dyn Processes>,
    sandbox: Arc<Sandbox>,
}

impl SandboxedProcesses {
    /// Returns the same processes, in the sandbox.
    pub fn new(inner: Arc<dyn Processes>, sandbox: Arc<Sandbox>) -> SandboxedProcesses {
        SandboxedProcesses { inner, sandbox }
    }
}

impl Processes for SandboxedProcesses {
    fn find(&self, name: &str) -> Option<PathBuf> {
        self.inner.find(name)
    }
    fn directory(&self) -> Option<&Path> {
        self.inner.directory()
    }
    fn passes_on(&self, variable: &str) -> bool {
        self.inner.passes_on(variable)
    }
    fn start(&self, command: &Command) -> io::Result<Box<dyn PipedProcess>> {
        let mut wrapped = command.clone();
        wrapped.arguments = self.sandbox.prefix(command.executable.clone()).to_vec();
        wrapped.arguments.extend(command.arguments.iter().cloned());
        wrapped.executable = self.sandbox.yunti.clone();
        wrapped.variables.push(("TMPDIR".into(), self.sandbox.scratch.clone().into()));
        self.inner.start(&wrapped)
    }
    /// Starts a worker, whose launcher `Sandbox::wrap` has wrapped.
    fn start_worker(&self, launcher: &Launcher) -> io::Result<WorkerProcess> {
        self.inner.start_worker(launcher)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's cleaning of temporary files.
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}
