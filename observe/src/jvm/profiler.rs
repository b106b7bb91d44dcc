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
use super::recording::{ALLOCATED_BYTES, Event, Recording};
use super::release::{Agent, LoadedAgent};
use yunti_probe::target::Process;

const LIBRARY: &str = "libasyncProfiler.so";
/// Time after the end of the measurement at which the profiler stops by itself.
const GRACE: Duration = Duration::from_secs(30);
/// Seconds between writes of the recording. Written chunks survive a kill of the JVM.
const CHUNK_SECONDS: u32 = 5;
/// The same of a recording that must cost the JVM as little as possible: it is written at its end.
const CHUNK_SECONDS_ALL: u32 = 3600;

/// Sampling mode.
#[derive(Clone, Debug)]
pub enum Sampling {
    /// async-profiler samples one event, with this time between two samples of a thread. Allocations ignore the time.
    Every(Event, Duration),
    /// async-profiler samples each time that this many events have occurred in a thread: an event of perf by its name.
    Counted { event: &'static str, period: u64 },
    /// async-profiler samples processor time, and wall-clock time of all threads.
    CpuAndWall { cpu: Duration, wall: Duration },
    /// The same, and each call of a method, `com.shop.Cart.total`, is an event.
    CpuWallAndCalls { cpu: Duration, wall: Duration, method: String },
    /// async-profiler samples allocations, and keeps those whose object is alive at the end.
    Survivors,
    /// async-profiler samples a thread when another process sends it SIGPROF.
    OnSignal,
    /// async-profiler samples these events together, at rates that a service does not feel.
    Together(Rates),
}

/// Rates of events that are sampled together; `None` leaves an event out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Processor time between two samples of a thread.
    pub cpu: Option<Duration>,
    /// Time between two samples of every thread.
    pub wall: Option<Duration>,
    /// Bytes between two sampled allocations.
    pub alloc_bytes: Option<u64>,
    /// Time of waits for locks, over all threads, between two sampled waits.
    pub lock: Option<Duration>,
    /// Samples of an event in a second; async-profiler drops further ones.
    pub samples_a_second_max: u32,
}

impl Rates {
    /// Returns the options of async-profiler.
    fn options(&self) -> String {
        let mut options = Vec::new();
        let mut limits = Vec::new();
        let mut add = |event: &str, option: Option<String>| {
            options.extend(option);
            limits.push(format!("{event}:{}", self.samples_a_second_max));
        };
        add("cpu", self.cpu.map(|cpu| format!("event=cpu,interval={}", cpu.as_nanos())));
        add("wall", self.wall.map(|wall| format!("wall={}", wall.as_nanos())));
        add("alloc", self.alloc_bytes.map(|bytes| format!("alloc={bytes}")));
        add("lock", self.lock.map(|lock| format!("lock={}", lock.as_nanos())));
        format!("{},ratelimit={}", options.join(","), limits.join(";"))
    }
}

/// Sampling interval that is longer than any measurement.
const NEVER: Duration = Duration::from_secs(3600);

/// Profiler in a JVM, which runs or is ready to run again.
pub struct Profiler(LoadedAgent);

impl Profiler {
    /// Starts the profiler.
    pub fn start(process: &Process, sampling: Sampling, time: Duration) -> Result<Profiler> {
        let mut profiler = Profiler(LoadedAgent::of(process, Agent::Profiler, Some(LIBRARY))?);
        profiler.begin(sampling, time)?;
        Ok(profiler)
    }

    /// Starts it once more, after [`Profiler::end`]. The library stays the same file, because a JVM in a container
    /// would load each copy anew.
    pub fn begin(&mut self, sampling: Sampling, time: Duration) -> Result<()> {
        let loaded = &mut self.0;
        loaded.is_running = true;
        let chunk_seconds = if matches!(sampling, Sampling::Together(_)) { CHUNK_SECONDS_ALL } else { CHUNK_SECONDS };
        let what = match sampling {
            Sampling::Every(Event::Cpu, interval) => format!("event=cpu,interval={}", interval.as_nanos()),
            Sampling::Every(Event::Wall, interval) => format!("event=wall,interval={}", interval.as_nanos()),
            Sampling::Every(Event::Alloc, _) => format!("event=alloc,alloc={ALLOCATED_BYTES}"),
            Sampling::Counted { event, period } => format!("event={event},interval={period}"),
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
            Sampling::Together(rates) => rates.options(),
        };
        let options = format!(
            "start,jfr,{what},clock=monotonic,file={},log={},timeout={},chunktime={chunk_seconds},loglevel=warn",
            Folder::inside(&loaded.cleanup.recording()),
            Folder::inside(&loaded.cleanup.log()),
            (time + GRACE).as_secs()
        );
        if let Err(error) = load_library(loaded.process(), &loaded.cleanup.library, &options) {
            let log = fs::read_to_string(loaded.folder.path(&loaded.cleanup.log())).unwrap_or_default();
            // A profiler of another observer must not be stopped.
            loaded.is_running = !log.contains("already started");
            return Err(match log.lines().last() {
                _ if !loaded.is_running => {
                    let error = Error::new(
                        Code::Input,
                        format!("another profiler is running in the JVM {}", loaded.process().pid),
                    );
                    error.hint("wait until it has ended; `yunti observe record stop` ends a recorder")
                }
                Some(reason) => Error::new(
                    Code::Input,
                    format!("async-profiler does not start in the JVM {}: {reason}", loaded.process().pid),
                ),
                None => error,
            });
        }
        Ok(())
    }

    /// Stops the profiler, which can begin again. Returns the recording, as far as the JVM has written it.
    pub fn end(&mut self) -> Result<Recording> {
        self.0.stop()?;
        let path = self.0.folder.path(&self.0.cleanup.recording());
        let recording = Recording::read(&path);
        let _ = fs::remove_file(path);
        recording
    }

    /// Stops the profiler. Returns the recording, as far as the JVM has written it.
    pub fn stop(mut self) -> Result<Recording> {
        self.end()
    }
}
