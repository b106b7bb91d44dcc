//! A program and its three pipes, none of which blocks.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};

use super::{Ended, PipedProcess, Reaper};

/// Bytes of a pipe, if the system allows it: fewer switches between the programs than with the default of 64 KiB.
const PIPE_BYTES: usize = 1 << 20;

/// A program to start.
#[derive(Clone, Debug, Default)]
pub struct Command {
    pub executable: PathBuf,
    pub arguments: Vec<OsString>,
    /// Variables to set.
    pub variables: Vec<(String, OsString)>,
    /// Variables of this process that the program does not get.
    pub removed: Vec<&'static str>,
}

/// Returns true for a file that may be executed.
pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Returns how a process ended.
pub fn ended(status: ExitStatus) -> Ended {
    match status.signal() {
        Some(signal) => Ended::Signal(signal),
        None => Ended::Code(status.code().unwrap_or(0)),
    }
}

/// A running program.
pub struct Pipes {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    status: Option<ExitStatus>,
    reaper: Option<Arc<Reaper>>,
}

impl Pipes {
    /// Starts a program in a process group of its own, in `directory` if there is one. `reaper` kills the group if this
    /// process cannot. Fails if the system cannot start the program.
    pub fn start(command: &Command, directory: Option<&Path>, reaper: Option<Arc<Reaper>>) -> io::Result<Pipes> {
        let mut spawn = std::process::Command::new(&command.executable);
        spawn.args(&command.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in &command.removed {
            spawn.env_remove(name);
        }
        spawn.envs(command.variables.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = directory {
            spawn.current_dir(directory);
        }
        // Its children can be killed with it. The standard library needs no fork for this.
        spawn.process_group(0);
        let mut child = spawn.spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let pipes =
            [stdin.as_ref().map(AsFd::as_fd), stdout.as_ref().map(AsFd::as_fd), stderr.as_ref().map(AsFd::as_fd)];
        let result = pipes.into_iter().flatten().try_for_each(set_up);
        if let Some(reaper) = &reaper {
            reaper.begin(child.id());
        }
        let pipes = Pipes { child, stdin, stdout, stderr, status: None, reaper };
        result?;
        Ok(pipes)
    }
}

fn set_up(pipe: BorrowedFd<'_>) -> io::Result<()> {
    // A user without privileges has a limit for all pipes together; the default size works, too.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
    Ok(fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?)
}

impl PipedProcess for Pipes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.stdin {
            Some(stdin) => stdin.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn close_input(&mut self) {
        self.stdin = None;
    }

    fn read_output(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let Some(stdout) = &mut self.stdout else { return Ok(0) };
        let n = stdout.read(to)?;
        if n == 0 {
            self.stdout = None;
        }
        Ok(n)
    }

    fn read_errors(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let Some(stderr) = &mut self.stderr else { return Ok(0) };
        let n = stderr.read(to)?;
        if n == 0 {
            self.stderr = None;
        }
        Ok(n)
    }

    fn wait(&mut self, writes: bool, at_most: Duration) -> io::Result<()> {
        let mut ready = Vec::with_capacity(3);
        if let (Some(stdin), true) = (&self.stdin, writes) {
            ready.push(PollFd::new(stdin, PollFlags::OUT));
        }
        if let Some(stdout) = &self.stdout {
            ready.push(PollFd::new(stdout, PollFlags::IN));
        }
        if let Some(stderr) = &self.stderr {
            ready.push(PollFd::new(stderr, PollFlags::IN));
        }
        let time = Timespec { tv_sec: at_most.as_secs() as i64, tv_nsec: i64::from(at_most.subsec_nanos()) };
        match poll(&mut ready, Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }

    fn ended(&mut self) -> io::Result<Option<Ended>> {
        if self.status.is_none() {
            self.status = self.child.try_wait()?;
        }
        Ok(self.status.map(ended))
    }

    fn kill(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It fails if none of them is left.
            let _ = kill_process_group(group, Signal::KILL);
        }
        if self.status.is_none() {
            self.status = self.child.wait().ok();
        }
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.kill();
        }
        if let Some(reaper) = &self.reaper {
            reaper.end(self.child.id());
        }
    }
}
