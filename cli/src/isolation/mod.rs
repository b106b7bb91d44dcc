//! Worker processes of a job: how they are started, their limits, and their sandbox.

pub mod restrictions;
pub mod sandbox;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use yunti_base::{Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::env::process::Launcher;
use yunti_engine::operator::ClassSource;
use yunti_engine::{isolate, streaming};

use sandbox::Sandbox;

/// Isolation of a job's user code.
pub struct Isolation {
    /// Time for a class to handle one batch; None: any.
    pub timeout: Option<Duration>,
    /// Bytes of memory of a worker; None: any.
    pub memory_bytes: Option<u64>,
    /// Sandbox, if the job has one.
    pub sandbox: Option<Arc<Sandbox>>,
}

impl Isolation {
    /// Returns the classes of the job's libraries, which run in worker processes.
    pub fn libraries(&self, paths: &[PathBuf], env: &Env) -> Result<Arc<dyn ClassSource>> {
        let program = own_program()?;
        let mut arguments = vec!["worker".into(), "--engine".into(), std::process::id().to_string().into()];
        for path in paths {
            arguments.extend(["--lib".into(), path.as_os_str().to_owned()]);
        }
        self.serve(program, arguments, env)
    }

    /// Returns the classes that a worker program serves. Errors: `UserCode` with the command if it cannot be started or
    /// does not speak the protocol.
    pub fn program(&self, command: &str, env: &Env) -> Result<Arc<dyn ClassSource>> {
        let served =
            streaming::program(command, env).and_then(|program| self.serve(program.executable, program.arguments, env));
        let hint = "run this command by hand to see its messages";
        served.map_err(|e| e.within(&format!("--worker {command}")).hint(hint))
    }

    fn serve(&self, program: PathBuf, arguments: Vec<OsString>, env: &Env) -> Result<Arc<dyn ClassSource>> {
        let launcher = Launcher { program, arguments, variables: Vec::new(), memory_bytes: self.memory_bytes };
        let launcher = match &self.sandbox {
            Some(sandbox) => sandbox.wrap(launcher)?,
            None => launcher,
        };
        isolate::isolated(launcher, env, self.timeout)
    }
}

/// Returns the path of this program.
pub fn own_program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|e| Error::io(Code::Internal, "cannot find this program", &e))
}
