//! Nothing of ours stays in a JVM, whatever becomes of us: a small process of our own waits at the end of a pipe, and when the pipe breaks
//! without a word it does what we have not done.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use clap::Args;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;

use super::attach::{diagnose, load_library};
use super::folder::Folder;
use super::installed::place;
use super::log::{Quiet, warn_again};
use yunti_probe::target::Process;

const DONE: u8 = b'.';

/// What is brought into a JVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Agent {
    /// async-profiler, which is told to stop.
    Profiler,
    /// Ours that traces methods: it stops when the socket to its observer is closed, as the system does with those of the dead.
    Tracer,
    /// Ours that writes down waits for locks, which is told to stop.
    Locks,
    /// None, but the JVM's own log of safepoints, which is turned off.
    Pauses,
}

impl Agent {
    /// Of it, for a target that does not see ours; `name` is that of the look.
    pub fn copy(self, name: &str) -> String {
        match self {
            Agent::Profiler => format!("{name}.so"),
            Agent::Tracer => format!("{name}.jar"),
            Agent::Locks => format!("{name}-locks.so"),
            Agent::Pauses => format!("{name}.pauses"),
        }
    }
}

/// What has to be taken away: an agent, and the files that carry the name of this look at the target, in its [`Folder`].
#[derive(Clone, Debug, Args)]
pub struct Left {
    pub pid: u32,
    pub started: u64,
    #[arg(value_enum)]
    pub agent: Agent,
    /// The agent's file, as the JVM calls it.
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

    pub fn pauses(&self) -> String {
        self.agent.copy(&self.name)
    }

    pub fn socket(&self) -> String {
        format!("{}.sock", self.name)
    }

    pub fn stop(&self) -> Result<()> {
        match self.agent {
            // What it says would go to the standard output of the JVM.
            Agent::Profiler => {
                let options = format!("stop,file={}", Folder::inside(&self.log()));
                load_library(&Process::of(self.pid)?, &self.library, &options)
            }
            Agent::Locks => {
                let process = Process::of(self.pid)?;
                let _quiet = Quiet::of(&process);
                load_library(&process, &self.library, &format!("stop,{}", self.name))
            }
            Agent::Pauses => {
                let off = format!("VM.log output={} what=all=off", Folder::inside(&self.pauses()));
                diagnose(&Process::of(self.pid)?, &off).map(drop)
            }
            Agent::Tracer => Ok(()),
        }
    }

    pub fn remove_files(&self, folder: &Folder) {
        let files = match self.agent {
            Agent::Profiler => vec![self.recording(), self.log()],
            Agent::Tracer => vec![self.socket()],
            Agent::Locks | Agent::Pauses => Vec::new(),
        };
        for file in files.into_iter().chain([self.agent.copy(&self.name)]) {
            let _ = fs::remove_file(folder.path(&file));
        }
    }
}

/// What is in a JVM, and goes when this is dropped.
pub struct Guest<'a> {
    process: &'a Process,
    pub folder: Folder,
    pub left: Left,
    guard: Option<Guard>,
    /// For who starts it to say. What does not run, or is somebody else's, is not stopped.
    pub is_running: bool,
}

impl<'a> Guest<'a> {
    /// Before it starts, its guard is there: there is no moment in which it could be forgotten.
    ///
    /// @param file what is installed, and loaded into the JVM; None: nothing is
    pub fn of(process: &'a Process, agent: Agent, file: Option<&str>) -> Result<Guest<'a>> {
        let folder = Folder::of(process)?;
        let name = format!(".yunti-observe-{}-{}", process.pid, std::process::id());
        let library = match file {
            Some(file) => place(process, &folder, file, &agent.copy(&name))?,
            None => "-".to_owned(),
        };
        let left = Left { pid: process.pid, started: process.started(), agent, library, name };
        let guard = Some(Guard::start(&left)?);
        Ok(Guest { process, folder, left, guard, is_running: false })
    }

    /// Once, however often it is called. A JVM that ends at this moment has written what it had.
    pub fn stop(&mut self) -> Result<()> {
        let is_running = std::mem::take(&mut self.is_running) && self.process.is_alive();
        match if is_running { self.left.stop() } else { Ok(()) } {
            Err(e) if self.process.is_alive() => Err(e),
            _ => Ok(()),
        }
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        let _ = self.stop();
        self.left.remove_files(&self.folder);
        if let Some(guard) = self.guard.take() {
            guard.dismiss();
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
        let agent =
            clap::ValueEnum::to_possible_value(&left.agent).map_or_else(String::new, |v| v.get_name().to_owned());
        let child = Command::new(program)
            .args(["release", &left.pid.to_string(), &left.started.to_string(), &agent, &left.library, &left.name])
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
    if left.agent == Agent::Locks && process.is_same(left.started) {
        warn_again(&process);
    }
    left.remove_files(&folder);
    Ok(stopped?)
}
