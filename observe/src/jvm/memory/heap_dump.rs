//! Heap dump that the JVM writes for one answer. It stops the JVM, so it is refused if that may take too long; its
//! file is bounded by the heap, and removed at the end by a guard process, too.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use yunti_base::{Code, Error, Result};
use yunti_probe::answer::bytes;
use yunti_probe::target::Process;

use crate::jvm::attach::command_within;
use crate::jvm::folder::Folder;
use crate::jvm::perf_data::{PerfData, perf_data, perf_data_file};
use crate::jvm::release::{Agent, LoadedAgent};

/// Seconds for which a dump stops a JVM, for each gigabyte of small objects, with the collection before it: measured
/// on JDK 17 and 25 at 7 to 12.
const SECONDS_A_GIGABYTE: f64 = 12.0;
/// Bytes of a dump for each byte of the heap: its references are wider, and each object has a header of its own.
const BYTES_A_BYTE: f64 = 1.5;
/// Share of Eden that lives, at most, as requests in process hold it.
const EDEN_ALIVE: f64 = 1.0 / 32.0;
/// Free space that a dump leaves, at least.
const SPARE_BYTES: u64 = 256 << 20;
/// Time that a dump may take beyond the expected one. The JVM writes on even if nobody waits.
const LATE_MAX: Duration = Duration::from_secs(120);

/// Expected cost of a dump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Seconds for which the JVM stands still, at most.
    pub seconds: f64,
    /// Bytes of the file, at most.
    pub bytes: u64,
}

/// Heap dump of a JVM. Dropping it removes the file; so does the guard.
pub struct HeapDump {
    loaded: LoadedAgent,
    /// Duration of the request, in which the JVM stood still nearly all the time.
    pub took: Duration,
}

impl HeapDump {
    /// Returns what a dump is expected to cost. An error says that it may take longer than `pause_max`, or that the
    /// JVM's folder has too little room.
    pub fn cost(process: &Process, pause_max: Duration) -> Result<Cost> {
        let counters = perf_data_file(process).and_then(|file| perf_data(&file)).ok_or_else(|| {
            let error = Error::new(Code::Input, "the cost of a heap dump is not known: the JVM has no counters");
            error.hint("it runs with -XX:-UsePerfData; leave out --held")
        })?;
        let cost = Cost::of(&counters);
        let most = pause_max.as_secs_f64();
        if cost.seconds > most {
            let what = format!(
                "a heap dump may stop the JVM {} for {:.1} s; the limit is {most:.1} s",
                process.pid, cost.seconds
            );
            return Err(Error::new(Code::Input, what)
                .hint(format!("allow it with --pause-max {:.0}, or leave out --held", cost.seconds.ceil())));
        }
        let folder = Folder::of(process)?;
        let disk = rustix::fs::statvfs(folder.path("")).map_err(|e| {
            Error::io(Code::Input, "the free space for a heap dump is not known", &e.into()).at_path("/tmp")
        })?;
        let free = disk.f_bavail * disk.f_frsize;
        if cost.bytes + SPARE_BYTES > free {
            let what = format!(
                "a heap dump may take {} in the /tmp of the JVM {}, which has {} free",
                bytes(cost.bytes),
                process.pid,
                bytes(free)
            );
            return Err(Error::new(Code::Input, what).hint("make room there, or leave out --held"));
        }
        Ok(cost)
    }

    /// Makes the JVM write its live objects.
    pub fn write(process: &Process, cost: Cost) -> Result<HeapDump> {
        let mut loaded = LoadedAgent::of(process, Agent::Dump, None)?;
        let inside = Folder::inside(&loaded.cleanup.agent.copy(&loaded.cleanup.name));
        // A dump that is given up on is still written; then the end waits for it, and removes it.
        loaded.is_running = true;
        let begin = Instant::now();
        let time_max = Duration::from_secs_f64(cost.seconds) + LATE_MAX;
        let answer = command_within(process, &["jcmd", &format!("GC.heap_dump {inside}")], time_max)?;
        let took = begin.elapsed();
        loaded.is_running = false;
        let dump = HeapDump { loaded, took };
        if answer.lines().next() == Some("0") && dump.bytes() > 0 {
            return Ok(dump);
        }
        let text = answer.lines().skip(1).find(|line| !line.trim().is_empty()).unwrap_or("it wrote nothing");
        Err(Error::new(Code::Input, format!("the JVM {} writes no heap dump: {}", process.pid, text.trim())))
    }

    /// Returns the path of the file.
    pub fn path(&self) -> PathBuf {
        self.loaded.folder.path(&self.loaded.cleanup.agent.copy(&self.loaded.cleanup.name))
    }

    /// Returns the bytes of the file.
    pub fn bytes(&self) -> u64 {
        fs::metadata(self.path()).map_or(0, |file| file.len())
    }
}

impl Cost {
    /// Only what lives is written. Of Eden that is little, as in each collection of it, and its counter is old.
    fn of(counters: &PerfData) -> Cost {
        let get = |name: &str, what: &str| counters.get(&format!("sun.gc.generation.{name}.{what}")).unwrap_or(0.0);
        let used = |name: &str| get(name, "used");
        let eden = used("0.space.0").max(get("0.space.0", "capacity"));
        let rest: f64 =
            ["0.space.1", "0.space.2", "1.space.0", "1.space.1", "2.space.0"].iter().map(|name| used(name)).sum();
        let bytes = ((eden + rest) * BYTES_A_BYTE) as u64;
        Cost { seconds: (rest + eden * EDEN_ALIVE) / 1e9 * SECONDS_A_GIGABYTE, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_follow_the_heap() {
        let of = |spaces: &[(&str, i64)]| Cost::of(&PerfData::of(spaces, &[]));
        let parallel = of(&[
            ("sun.gc.generation.0.space.0.used", 0),
            ("sun.gc.generation.0.space.0.capacity", 3_200_000_000),
            ("sun.gc.generation.0.space.1.used", 100_000_000),
            ("sun.gc.generation.1.space.0.used", 800_000_000),
        ]);
        assert!((parallel.seconds - 12.0).abs() < 1e-9 && parallel.bytes == 6_150_000_000, "{parallel:?}");
        // ZGC and Shenandoah have one space.
        let one = of(&[("sun.gc.generation.1.space.0.used", 100_000_000)]);
        assert!((one.seconds - 1.2).abs() < 1e-9, "{one:?}");
    }
}
