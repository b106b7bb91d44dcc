//! Nothing of ours stays in a JVM, whatever becomes of us: a small process of our own waits at the end of a pipe, and when the pipe breaks
//! without a word it does what we have not done.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use clap::Args;
use yunti_engine::base::{Code, Error, Result};
use yunti_present::failure::Outcome;

use super::attach::load_agent;
use super::folder::Folder;
use crate::target::Process;

const DONE: u8 = b'.';

/// What has to be taken away.
#[derive(Clone, Debug)]
pub struct Left {
    pub pid: u32,
    pub started: u64,
    /// async-profiler, as the JVM calls it.
    pub library: String,
    /// In the target's [`Folder`]: the recording, the log, and what else there is.
    pub files: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ReleaseFlags {
    pid: u32,
    started: u64,
    library: String,
    files: Vec<String>,
}

impl Left {
    pub fn stop(&self) -> Result<()> {
        // What it says would go to the standard output of the JVM.
        let log = self.files.get(1).map(|log| format!(",file={}", Folder::inside(log))).unwrap_or_default();
        load_agent(&Process::of(self.pid)?, &self.library, &format!("stop{log}"))
    }
}

/// The process that waits.
pub struct Guard {
    child: Child,
}

impl Guard {
    pub fn start(left: &Left) -> Result<Guard> {
        let failed =
            |e: std::io::Error| Error::io(Code::Internal, "the process that cleans up after us cannot be started", &e);
        let program = std::env::current_exe().map_err(failed)?;
        let child = Command::new(program)
            .args(["release", &left.pid.to_string(), &left.started.to_string(), &left.library])
            .args(&left.files)
            // ctrl-C is for us, not for it.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        Ok(Guard { child })
    }

    /// All is taken away already.
    pub fn dismiss(mut self) {
        if let Some(mut pipe) = self.child.stdin.take() {
            let _ = pipe.write_all(&[DONE]);
        }
        let _ = self.child.wait();
    }
}

/// The command of the process that waits.
pub fn wait_and_release(flags: &ReleaseFlags) -> Outcome {
    let process = Process::of(flags.pid)?;
    // Opened while the target lives.
    let folder = Folder::of(&process)?;
    let mut said = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut said);
    if said.contains(&DONE) {
        return Ok(());
    }
    let left =
        Left { pid: flags.pid, started: flags.started, library: flags.library.clone(), files: flags.files.clone() };
    let stopped = if process.is_same(left.started) { left.stop() } else { Ok(()) };
    folder.remove(&left.files);
    Ok(stopped?)
}
