//! Removal of agents and files from a JVM, even if the observer is killed. A small guard process reads from a pipe;
//! if the pipe closes without a message, the guard cleans up.

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
use super::log::{SilencedWarnings, restore_warnings};
use yunti_probe::target::Process;

/// Message of the observer to the guard: everything is cleaned up.
const DONE: u8 = b'.';

/// Kind of agent in a JVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Agent {
    /// async-profiler, which is stopped by a command.
    Profiler,
    /// The tracing agent. It stops when its socket closes, which the kernel does when the observer ends.
    Tracer,
    /// The lock agent, which is stopped by a command.
    Locks,
    /// No agent: the JVM's own log to a file, which is turned off.
    Pauses,
    /// The same for a log of collections, beside the other one.
    Collections,
    /// No agent: the JVM's flight recorder, which is stopped by a command.
    Recorder,
    /// No agent: a heap dump, which the JVM writes to its end in any case.
    Dump,
}

impl Agent {
    /// Returns the name of the copy of its file, for a target that cannot see the installation.
    ///
    /// @param name the measurement's unique name
    pub fn copy(self, name: &str) -> String {
        match self {
            Agent::Profiler => format!("{name}.so"),
            Agent::Tracer => format!("{name}.jar"),
            Agent::Locks => format!("{name}-locks.so"),
            Agent::Pauses => format!("{name}.pauses"),
            Agent::Collections => format!("{name}.collections"),
            Agent::Recorder => format!("{name}.old.jfr"),
            Agent::Dump => format!("{name}.hprof"),
        }
    }
}

/// An agent to stop and files to remove. The files are in the target's
/// [`Folder`] and begin with the measurement's name.
#[derive(Clone, Debug, Args)]
pub struct Cleanup {
    pub pid: u32,
    pub started: u64,
    #[arg(value_enum)]
    pub agent: Agent,
    /// Path of the agent's file for the JVM
    pub library: String,
    pub name: String,
}

impl Cleanup {
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
            // Otherwise its output would go to the JVM's standard output.
            Agent::Profiler => {
                let options = format!("stop,file={}", Folder::inside(&self.log()));
                load_library(&Process::of(self.pid)?, &self.library, &options)
            }
            Agent::Locks => {
                let process = Process::of(self.pid)?;
                let _silenced = SilencedWarnings::of(&process);
                load_library(&process, &self.library, &format!("stop,{}", self.name))
            }
            Agent::Pauses | Agent::Collections => {
                let off = format!("VM.log output={} what=all=off", Folder::inside(&self.pauses()));
                diagnose(&Process::of(self.pid)?, &off).map(drop)
            }
            Agent::Recorder => diagnose(&Process::of(self.pid)?, &format!("JFR.stop name={}", self.name)).map(drop),
            // The answer comes when the dump is written, so that its file is there to be removed.
            Agent::Dump => diagnose(&Process::of(self.pid)?, "VM.uptime").map(drop),
            Agent::Tracer => Ok(()),
        }
    }

    pub fn remove_files(&self, folder: &Folder) {
        let files = match self.agent {
            Agent::Profiler => vec![self.recording(), self.log()],
            Agent::Tracer => vec![self.socket()],
            Agent::Locks | Agent::Pauses | Agent::Collections | Agent::Recorder | Agent::Dump => Vec::new(),
        };
        for file in files.into_iter().chain([self.agent.copy(&self.name)]) {
            let _ = fs::remove_file(folder.path(&file));
        }
    }
}

/// An agent in a JVM. Dropping it stops the agent and removes its files.
pub struct LoadedAgent {
    process: Process,
    pub folder: Folder,
    pub cleanup: Cleanup,
    guard: Option<Guard>,
    /// Set by the starter. An agent that does not run, or belongs to another observer, is not stopped.
    pub is_running: bool,
}

impl LoadedAgent {
    /// Starts the guard and prepares the files. The guard starts before the agent, so no agent is left behind.
    ///
    /// @param file installed file that is loaded into the JVM; `None` for no file
    pub fn of(process: &Process, agent: Agent, file: Option<&str>) -> Result<LoadedAgent> {
        let folder = Folder::of(process)?;
        let name = format!(".yunti-observe-{}-{}", process.pid, std::process::id());
        let library = match file {
            Some(file) => place(process, &folder, file, &agent.copy(&name))?,
            None => "-".to_owned(),
        };
        let cleanup = Cleanup { pid: process.pid, started: process.started(), agent, library, name };
        let guard = Some(Guard::start(&cleanup)?);
        Ok(LoadedAgent { process: process.clone(), folder, cleanup, guard, is_running: false })
    }

    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Stops the agent once; further calls do nothing. A JVM that ends at this moment has written its recording.
    pub fn stop(&mut self) -> Result<()> {
        let is_running = std::mem::take(&mut self.is_running) && self.process.is_alive();
        match if is_running { self.cleanup.stop() } else { Ok(()) } {
            Err(e) if self.process.is_alive() => Err(e),
            _ => Ok(()),
        }
    }
}

impl Drop for LoadedAgent {
    fn drop(&mut self) {
        let _ = self.stop();
        self.cleanup.remove_files(&self.folder);
        if let Some(guard) = self.guard.take() {
            guard.dismiss();
        }
    }
}

/// The guard process.
pub struct Guard {
    child: Child,
}

impl Guard {
    pub fn start(cleanup: &Cleanup) -> Result<Guard> {
        let failed = |e: std::io::Error| Error::io(Code::Internal, "cannot start the process that cleans up", &e);
        let program = std::env::current_exe().map_err(failed)?;
        let agent =
            clap::ValueEnum::to_possible_value(&cleanup.agent).map_or_else(String::new, |v| v.get_name().to_owned());
        let child = Command::new(program)
            .args([
                "release",
                &cleanup.pid.to_string(),
                &cleanup.started.to_string(),
                &agent,
                &cleanup.library,
                &cleanup.name,
            ])
            // ctrl-C must not reach the guard.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        Ok(Guard { child })
    }

    /// Ends the guard, because everything is cleaned up.
    pub fn dismiss(mut self) {
        if let Some(mut pipe) = self.child.stdin.take() {
            let _ = pipe.write_all(&[DONE]);
        }
        let _ = self.child.wait();
    }
}

/// Runs the guard: waits for the end of the pipe, and cleans up unless the observer has done so.
pub fn wait_and_release(cleanup: &Cleanup) -> Outcome {
    let process = Process::of(cleanup.pid)?;
    // Open it while the target lives.
    let folder = Folder::of(&process)?;
    let mut message = Vec::new();
    let _ = std::io::stdin().read_to_end(&mut message);
    if message.contains(&DONE) {
        return Ok(());
    }
    let stopped = if process.is_same(cleanup.started) { cleanup.stop() } else { Ok(()) };
    if cleanup.agent == Agent::Locks && process.is_same(cleanup.started) {
        restore_warnings(&process);
    }
    cleanup.remove_files(&folder);
    Ok(stopped?)
}
