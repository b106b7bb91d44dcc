//! Nothing of ours stays in a JVM, whatever becomes of us: a small process of our own waits at the end of a pipe, and when the pipe breaks
//! without a word it does what we have not done.

use std::fs;
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

/// What has to be taken away: async-profiler, and the files that carry the name of this look at the target, in its [`Folder`].
#[derive(Clone, Debug, Args)]
pub struct Left {
    pub pid: u32,
    pub started: u64,
    /// async-profiler, as the JVM calls it.
    pub library: String,
    pub name: String,
}

impl Left {
    pub fn recording(&self) -> String {
        format!("{}.jfr", self.name)
    }

    pub fn log(&self) -> String {
        format!("{}.log", self.name)
    }

    /// Of async-profiler, for a target that does not see ours.
    pub fn copy(name: &str) -> String {
        format!("{name}.so")
    }

    pub fn stop(&self) -> Result<()> {
        // What it says would go to the standard output of the JVM.
        load_agent(&Process::of(self.pid)?, &self.library, &format!("stop,file={}", Folder::inside(&self.log())))
    }

    pub fn remove_files(&self, folder: &Folder) {
        for file in [self.recording(), self.log(), Left::copy(&self.name)] {
            let _ = fs::remove_file(folder.path(&file));
        }
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
            .args(["release", &left.pid.to_string(), &left.started.to_string(), &left.library, &left.name])
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
pub fn wait_and_release(left: &Left) -> Outcome {
    let process = Process::of(left.pid)?;
    // Opened while the target lives.
    let folder = Folder::of(&process)?;
    let mut said = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut said);
    if said.contains(&DONE) {
        return Ok(());
    }
    let stopped = if process.is_same(left.started) { left.stop() } else { Ok(()) };
    left.remove_files(&folder);
    Ok(stopped?)
}
