//! The sandbox of a job: programs that are started through `yunti sandboxed`, with one directory to write to.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use yunti_base::process::unique_token;
use yunti_base::{Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::env::process::Launcher;

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
        let scratch = self.scratch.as_os_str().to_owned();
        let mut arguments: Vec<OsString> =
            vec!["sandboxed".into(), "--scratch".into(), scratch.clone(), "--".into(), launcher.program.into()];
        arguments.extend(launcher.arguments);
        let variables = vec![("TMPDIR".into(), scratch)];
        Ok(Launcher { program: own_program()?, arguments, variables, ..launcher })
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's cleaning of temporary files.
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}
