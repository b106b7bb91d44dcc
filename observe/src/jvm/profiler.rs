//! async-profiler in a JVM, from start to stop.
//!
//! It is loaded from where Yunti is installed; into a JVM that does not see our files a copy goes to its /tmp. It records into a file there.
//! Both files go when it is stopped, by us or, should we be killed, by [`super::release`]; and should that be killed too, it stops by
//! itself when its time is over.

use std::fs;
use std::time::Duration;

use yunti_base::{Code, Error, Result};

use super::attach::load_library;
use super::folder::Folder;
use super::recording::Recording;
use super::release::{Agent, Guest};
use yunti_probe::target::Process;

const LIBRARY: &str = "libasyncProfiler.so";
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

/// When stacks are taken.
#[derive(Clone, Debug)]
pub enum Sampling {
    /// By async-profiler itself. The time between two samples of a thread; of allocation it is not used.
    Every(Event, Duration),
    /// Processor time and, of all threads, the wall clock.
    CpuAndWall { cpu: Duration, wall: Duration },
    /// The same, and each call of a method, `com.shop.Cart.total`, as an event.
    AndCalls { cpu: Duration, wall: Duration, method: String },
    /// Whenever a thread gets SIGPROF from somebody else.
    Asked,
}

/// Of its own accord it samples no sooner than this.
const NEVER: Duration = Duration::from_secs(3600);

pub struct Profiler<'a>(Guest<'a>);

impl<'a> Profiler<'a> {
    pub fn start(process: &'a Process, sampling: Sampling, time: Duration) -> Result<Profiler<'a>> {
        let mut guest = Guest::of(process, Agent::Profiler, Some(LIBRARY))?;
        guest.is_running = true;
        let what = match sampling {
            Sampling::Every(Event::Cpu, interval) => format!("event=cpu,interval={}", interval.as_nanos()),
            Sampling::Every(Event::Wall, interval) => format!("event=wall,interval={}", interval.as_nanos()),
            Sampling::Every(Event::Alloc, _) => "event=alloc,alloc=512k".to_owned(),
            Sampling::Every(Event::Lock, _) => "event=lock,lock=0".to_owned(),
            Sampling::CpuAndWall { cpu, wall } => {
                format!("event=cpu,interval={},wall={}", cpu.as_nanos(), wall.as_nanos())
            }
            // Of its engines the one whose handler takes a SIGPROF from anybody.
            Sampling::Asked => format!("event=itimer,interval={}", NEVER.as_nanos()),
            Sampling::AndCalls { cpu, wall, method } => {
                format!("event=cpu,interval={},wall={},trace={method}", cpu.as_nanos(), wall.as_nanos())
            }
        };
        let options = format!(
            "start,jfr,{what},clock=monotonic,file={},log={},timeout={},chunktime={CHUNK_SECONDS},loglevel=warn",
            Folder::inside(&guest.left.recording()),
            Folder::inside(&guest.left.log()),
            (time + GRACE).as_secs()
        );
        if let Err(error) = load_library(process, &guest.left.library, &options) {
            let said = fs::read_to_string(guest.folder.path(&guest.left.log())).unwrap_or_default();
            // The one that runs may be somebody else's, and not ours to stop.
            guest.is_running = !said.contains("already started");
            return Err(match said.lines().last() {
                _ if !guest.is_running => {
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
        Ok(Profiler(guest))
    }

    /// What was recorded, as far as the JVM has written it.
    pub fn stop(mut self) -> Result<Recording> {
        self.0.stop()?;
        Recording::read(&self.0.folder.path(&self.0.left.recording()))
    }
}
