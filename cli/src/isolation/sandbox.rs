//! The sandbox of a job: programs that are started through `yunti sandboxed`, with one directory to write to.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use yunti_base::process::unique_token;
use yunti_base::{Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::env::process::{self, Launcher, PipedProcess, Processes, WorkerProcess};

use super::own_program;

/// Sandbox of a job's user code. Dropping it removes its directory.
pub struct Sandbox {
    scratch: PathBuf,
}

impl Sandbox {
    /// Creates the directory that user code may write to, in `scratch` or the system's temporary directory. Shows what
    /// the kernel cannot do.
    ///
    /// Errors: `Output` if the directory cannot be created.
    pub fn create(scratch: Option<&PathBuf>, env: &Env) -> Result<Sandbox> {
        let scratch = scratch.unwrap_or(&env.temp_dir).join(format!(".yunti-sandbox-{}", unique_token()));
        let failed = |e: std::io::Error| {
            Error::io(Code::Output, "cannot create a directory for user code", &e).at_path(scratch.to_string_lossy())
        };
        std::fs::create_dir_all(&scratch).map_err(failed)?;
        let sandbox = Sandbox { scratch: scratch.clone() };
        let probe = Command::new(own_program()?).arg("sandboxed").stdin(Stdio::null()).output().map_err(failed)?;
        for lack in String::from_utf8_lossy(&probe.stdout).lines() {
            env.messages.show(&format!("sandbox: {lack}"));
        }
        Ok(sandbox)
    }

    /// Returns a launcher that starts the same program in the sandbox.
    pub fn wrap(&self, launcher: Launcher) -> Result<Launcher> {
        let mut arguments = self.prefix(launcher.program).to_vec();
        arguments.extend(launcher.arguments);
        let variables = vec![("TMPDIR".into(), self.scratch.clone().into())];
        Ok(Launcher { program: own_program()?, arguments, variables, ..launcher })
    }

    /// Returns the arguments of this program that start another one in the sandbox; the other's arguments follow.
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
    fn start(&self, command: &process::Command) -> io::Result<Box<dyn PipedProcess>> {
        let mut wrapped = command.clone();
        wrapped.arguments = self.sandbox.prefix(command.executable.clone()).to_vec();
        wrapped.arguments.extend(command.arguments.iter().cloned());
        wrapped.executable = own_program().map_err(io::Error::other)?;
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
