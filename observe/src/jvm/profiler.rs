//! async-profiler in a JVM, from start to stop.
//!
//! The library is loaded from Yunti's installation, or from a copy in the JVM's /tmp if the JVM cannot see it. The
//! recording is a file in the same /tmp. Stopping the profiler removes both files. If the observer is killed,
//! [`super::release`] does this. If that is killed too, the profiler stops by itself after its time.

use std::fs;
use std::time::Duration;

use yunti_base::{Code, Error, Result};

use super::attach::load_library;
use super::folder::Folder;
use super::recording::{ALLOCATED_BYTES, Recording};
use super::release::{Agent, LoadedAgent};
use yunti_probe::target::Process;

const LIBRARY: &str = "libasyncProfiler.so";
/// Time after the end of the measurement at which the profiler stops by itself.
const GRACE: Duration = Duration::from_secs(30);
/// Seconds between writes of the recording. Written chunks survive a kill of the JVM.
const CHUNK_SECONDS: u32 = 5;

/// Sampled event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Event {
    /// Time on a processor
    Cpu,
    /// Time of all threads, running or waiting
    Wall,
    /// Bytes allocated on the heap
    Alloc,
    /// Time waiting for monitors and locks
    Lock,
}

/// Sampling mode.
#[derive(Clone, Debug)]
pub enum Sampling {
    /// async-profiler samples one event, with this time between two samples of a thread. Allocations ignore the time.
    Every(Event, Duration),
    /// async-profiler samples processor time, and wall-clock time of all threads.
    CpuAndWall { cpu: Duration, wall: Duration },
    /// The same, and each call of a method, `com.shop.Cart.total`, is an event.
    CpuWallAndCalls { cpu: Duration, wall: Duration, method: String },
    /// async-profiler samples allocations, and keeps those whose object is alive at the end.
    Survivors,
    /// async-profiler samples a thread when another process sends it SIGPROF.
    OnSignal,
}

/// Sampling interval that is longer than any measurement.
const NEVER: Duration = Duration::from_secs(3600);

/// A running profiler.
pub struct Profiler<'a>(LoadedAgent<'a>);

impl<'a> Profiler<'a> {
    pub fn start(process: &'a Process, sampling: Sampling, time: Duration) -> Result<Profiler<'a>> {
        let mut loaded = LoadedAgent::of(process, Agent::Profiler, Some(LIBRARY))?;
        loaded.is_running = true;
        let what = match sampling {
            Sampling::Every(Event::Cpu, interval) => format!("event=cpu,interval={}", interval.as_nanos()),
            Sampling::Every(Event::Wall, interval) => format!("event=wall,interval={}", interval.as_nanos()),
            Sampling::Every(Event::Alloc, _) => format!("event=alloc,alloc={ALLOCATED_BYTES}"),
            Sampling::Survivors => format!("event=alloc,alloc={ALLOCATED_BYTES},live"),
            Sampling::Every(Event::Lock, _) => "event=lock,lock=0".to_owned(),
            Sampling::CpuAndWall { cpu, wall } => {
                format!("event=cpu,interval={},wall={}", cpu.as_nanos(), wall.as_nanos())
            }
            // The handler of this engine accepts a SIGPROF from any process.
            Sampling::OnSignal => format!("event=itimer,interval={}", NEVER.as_nanos()),
            Sampling::CpuWallAndCalls { cpu, wall, method } => {
                format!("event=cpu,interval={},wall={},trace={method}", cpu.as_nanos(), wall.as_nanos())
            }
        };
        let options = format!(
            "start,jfr,{what},clock=monotonic,file={},log={},timeout={},chunktime={CHUNK_SECONDS},loglevel=warn",
            Folder::inside(&loaded.cleanup.recording()),
            Folder::inside(&loaded.cleanup.log()),
            (time + GRACE).as_secs()
        );
        if let Err(error) = load_library(process, &loaded.cleanup.library, &options) {
            let log = fs::read_to_string(loaded.folder.path(&loaded.cleanup.log())).unwrap_or_default();
            // A profiler of another observer must not be stopped.
            loaded.is_running = !log.contains("already started");
            return Err(match log.lines().last() {
                _ if !loaded.is_running => {
                    let error =
                        Error::new(Code::Input, format!("another profiler is running in the JVM {}", process.pid));
                    error.hint("wait until it has ended")
                }
                Some(reason) => Error::new(
                    Code::Input,
                    format!("async-profiler does not start in the JVM {}: {reason}", process.pid),
                ),
                None => error,
            });
        }
        Ok(Profiler(loaded))
    }

    /// Stops the profiler. Returns the recording, as far as the JVM has written it.
    pub fn stop(mut self) -> Result<Recording> {
        self.0.stop()?;
        Recording::read(&self.0.folder.path(&self.0.cleanup.recording()))
    }
}
