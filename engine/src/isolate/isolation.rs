//! How a job isolates its user code: the programs that serve its classes, their limits and their sandbox.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::class::isolated;
use crate::env::Env;
use crate::env::process::{Launcher, Sandbox, SandboxedProcesses};
use crate::operator::ClassSource;
use crate::operator::context::{Settings, task_timeout};
use yunti_base::Result;

/// Isolation of a job's user code.
pub struct Isolation {
    /// Time for a class to handle one batch; None: any.
    timeout: Option<Duration>,
    /// Bytes of memory of a worker; None: any.
    memory_bytes: Option<u64>,
    /// Sandbox, if the job has one.
    sandbox: Option<Arc<Sandbox>>,
}

impl Isolation {
    /// Returns the isolation of a job with these settings. `env` gets the sandbox of its programs.
    ///
    /// Errors: `Usage` for a time-out that is no number.
    pub fn new(
        settings: &Settings,
        memory_bytes: Option<u64>,
        sandbox: Option<Sandbox>,
        env: &mut Env,
    ) -> Result<Isolation> {
        let timeout = task_timeout(settings)?;
        let sandbox = sandbox.map(Arc::new);
        if let Some(sandbox) = &sandbox {
            env.processes = Arc::new(SandboxedProcesses::new(env.processes.clone(), sandbox.clone()));
        }
        Ok(Isolation { timeout, memory_bytes, sandbox })
    }

    /// Returns the classes of the job's libraries, which run in worker processes of `yunti`, the program of that name.
    ///
    /// Errors: `UserCode` if it cannot be started, or cannot load the libraries.
    pub fn libraries(&self, paths: &[PathBuf], yunti: &Path, env: &Env) -> Result<Arc<dyn ClassSource>> {
        let mut arguments = vec!["worker".into(), "--engine".into(), std::process::id().to_string().into()];
        for path in paths {
            arguments.extend(["--lib".into(), path.as_os_str().to_owned()]);
        }
        self.program(yunti.into(), arguments, env)
    }

    /// Returns the classes that a worker program serves. Errors: `UserCode` if it cannot be started.
    pub fn program(&self, program: PathBuf, arguments: Vec<OsString>, env: &Env) -> Result<Arc<dyn ClassSource>> {
        let launcher = Launcher { program, arguments, variables: Vec::new(), memory_bytes: self.memory_bytes };
        let launcher = match &self.sandbox {
            Some(sandbox) => sandbox.wrap(launcher),
            None => launcher,
        };
        isolated(launcher, env, self.timeout)
    }
}
