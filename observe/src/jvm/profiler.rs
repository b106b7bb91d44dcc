//! async-profiler in a JVM, from start to stop.
//!
//! It is loaded from where Yunti is installed; into a JVM that does not see our files a copy goes to its /tmp. It records into a file there.
//! Both files go when it is stopped, by us or, should we be killed, by [`super::release`]; and should that be killed too, it stops by
//! itself when its time is over.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use yunti_engine::base::{Code, Error, Result};

use super::attach::load_agent;
use super::folder::Folder;
use super::recording::Recording;
use super::release::{Guard, Left};
use crate::target::Process;

/// Beyond the time that is asked for: it stops by itself, if nobody else has stopped it.
const GRACE: Duration = Duration::from_secs(30);
/// What is written so often survives a JVM that is killed.
const CHUNK_SECONDS: u32 = 5;

/// What is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Event {
    /// Time on a processor
    Cpu,
    /// Time of all threads, whether they run or wait
    Wall,
    /// Bytes that are allocated on the heap
    Alloc,
    /// Time of waiting for monitors and locks
    Lock,
}

pub struct Profiler<'a> {
    process: &'a Process,
    folder: Folder,
    left: Left,
    guard: Option<Guard>,
    /// False: it has been stopped, or the one that runs is somebody else's, and not ours to stop.
    is_running: bool,
}

impl<'a> Profiler<'a> {
    /// @param interval between two samples of a thread; of allocation it is not used
    pub fn start(process: &'a Process, event: Event, interval: Duration, time: Duration) -> Result<Profiler<'a>> {
        let folder = Folder::of(process)?;
        let name = format!(".yunti-observe-{}-{}", process.pid, std::process::id());
        let library = place(process, &folder, &Left::copy(&name))?;
        let left = Left { pid: process.pid, started: process.started(), library, name };
        // Before it starts: there is no moment in which it could be forgotten.
        let guard = Some(Guard::start(&left)?);
        let mut profiler = Profiler { process, folder, left, guard, is_running: true };
        let what = match event {
            Event::Cpu => format!("event=cpu,interval={}", interval.as_nanos()),
            Event::Wall => format!("event=wall,interval={}", interval.as_nanos()),
            Event::Alloc => "event=alloc,alloc=512k".to_owned(),
            Event::Lock => "event=lock,lock=0".to_owned(),
        };
        let options = format!(
            "start,jfr,{what},file={},log={},timeout={},chunktime={CHUNK_SECONDS},loglevel=warn",
            Folder::inside(&profiler.left.recording()),
            Folder::inside(&profiler.left.log()),
            (time + GRACE).as_secs()
        );
        if let Err(error) = load_agent(process, &profiler.left.library, &options) {
            let said = fs::read_to_string(profiler.folder.path(&profiler.left.log())).unwrap_or_default();
            profiler.is_running = !said.contains("already started");
            return Err(match said.lines().last() {
                _ if !profiler.is_running => {
                    let error =
                        Error::new(Code::Input, format!("another profiler is at work in the JVM {}", process.pid));
                    error.hint("wait until it has ended")
                }
                Some(reason) => Error::new(
                    Code::Input,
                    format!("async-profiler does not start in the JVM {}: {reason}", process.pid),
                ),
                None => error,
            });
        }
        Ok(profiler)
    }

    /// What was recorded, as far as the JVM has written it.
    pub fn stop(mut self) -> Result<Recording> {
        self.end()?;
        Recording::read(&self.folder.path(&self.left.recording()))
    }

    /// A JVM that ends at this moment has written what it had.
    fn end(&mut self) -> Result<()> {
        let is_running = std::mem::take(&mut self.is_running) && self.process.is_alive();
        match if is_running { self.left.stop() } else { Ok(()) } {
            Err(e) if self.process.is_alive() => Err(e),
            _ => Ok(()),
        }
    }
}

impl Drop for Profiler<'_> {
    fn drop(&mut self) {
        let _ = self.end();
        self.left.remove_files(&self.folder);
        if let Some(guard) = self.guard.take() {
            guard.dismiss();
        }
    }
}

/// Where async-profiler is for a JVM, which may need a copy.
fn place(process: &Process, folder: &Folder, copy: &str) -> Result<String> {
    let installed = installed()?;
    if process.shares_files() {
        return Ok(installed.to_string_lossy().into_owned());
    }
    fs::copy(&installed, folder.path(copy)).map_err(|e| {
        let error = Error::io(Code::Input, "async-profiler cannot be put where the JVM finds it", &e);
        error.at_path(process.path(&Folder::inside(copy)).to_string_lossy()).hint("run as root")
    })?;
    Ok(Folder::inside(copy))
}

/// Beside this program: `../lib/yunti/libasyncProfiler.so`.
fn installed() -> Result<PathBuf> {
    let program =
        std::env::current_exe().map_err(|e| Error::io(Code::Internal, "this program does not know where it is", &e))?;
    let library = program.ancestors().nth(2).unwrap_or(Path::new("/")).join("lib/yunti/libasyncProfiler.so");
    if library.is_file() {
        return Ok(library);
    }
    let error = Error::new(Code::Input, "async-profiler is missing").at_path(library.to_string_lossy());
    Err(error.hint("`make observe` puts it there"))
}
