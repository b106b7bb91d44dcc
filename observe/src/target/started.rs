//! A target that was there, or one that we have started and that ends with us.

use std::ffi::OsString;
use std::io;
use std::process::{Child, Command};

use yunti_engine::base::{Code, Error, Result};

use super::{Process, choose};

pub struct Target {
    pub process: Process,
    child: Option<Child>,
}

impl Target {
    /// By number, by name, or by starting it; of the three one is given.
    pub fn find(pid: Option<u32>, name: Option<&str>, start: &[OsString]) -> Result<Target> {
        if let Some((program, arguments)) = start.split_first() {
            return Target::start(program, arguments);
        }
        let process = match (pid, name) {
            (Some(pid), _) => Process::of(pid)?,
            (None, Some(name)) => choose(name)?,
            (None, None) => {
                let error = Error::new(Code::Usage, "no process is named");
                return Err(error.hint("-p PID, a name, or `-- COMMAND`"));
            }
        };
        Ok(Target { process, child: None })
    }

    fn start(program: &OsString, arguments: &[OsString]) -> Result<Target> {
        let child = Command::new(program).args(arguments).spawn().map_err(|e| {
            let what = if e.kind() == io::ErrorKind::NotFound {
                "there is no such program"
            } else {
                "the program cannot be started"
            };
            Error::io(Code::Input, what, &e).at_path(program.to_string_lossy())
        })?;
        let process = Process::of(child.id())?;
        Ok(Target { process, child: Some(child) })
    }

    /// Whether it was started by us, just now.
    pub fn is_ours(&self) -> bool {
        self.child.is_some()
    }
}

impl Drop for Target {
    /// What we started does not outlive us: asked first, then made to.
    fn drop(&mut self) {
        let Some(child) = self.child.as_mut() else { return };
        if matches!(child.try_wait(), Ok(None)) {
            if let Some(pid) = rustix::process::Pid::from_raw(child.id() as i32) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
            for _ in 0..50 {
                if !matches!(child.try_wait(), Ok(None)) {
                    return;
                }
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            let _ = child.kill();
        }
        let _ = child.wait();
    }
}
