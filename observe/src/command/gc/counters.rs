//! Counters of a JVM's collectors as lines of a log. They cost the JVM nothing, and every JVM from 8 on has them.
//!
//! A counter names the collections so far and their time. Two collections within a pulse share their time. Sizes of
//! the heap are these at the pulse before and the pulse after a collection, so they lack up to a pulse of allocation.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use yunti_base::{Code, Error, Result};
use yunti_probe::target::Process;

use crate::jvm::{PerfData, perf_data, perf_data_file};

/// Collectors and spaces of the counters.
const COLLECTORS: usize = 3;
const GENERATIONS: usize = 2;
const SPACES: usize = 3;

/// State of the counters.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    collections: [f64; COLLECTORS],
    seconds: [f64; COLLECTORS],
    used: f64,
    size: f64,
}

impl State {
    fn of(data: &PerfData) -> State {
        let collector = |n: usize, name: &str| format!("sun.gc.collector.{n}.{name}");
        let space = |at: usize, name: &str| {
            let key = format!("sun.gc.generation.{}.space.{}.{name}", at / SPACES, at % SPACES);
            data.get(&key).unwrap_or_default()
        };
        let all = |name: &str| (0..GENERATIONS * SPACES).map(|at| space(at, name)).sum();
        State {
            collections: std::array::from_fn(|n| data.get(&collector(n, "invocations")).unwrap_or_default()),
            seconds: std::array::from_fn(|n| data.seconds(&collector(n, "time")).unwrap_or_default()),
            used: all("used"),
            size: all("capacity"),
        }
    }
}

/// Counters under observation.
pub struct Counters {
    file: PathBuf,
    begin: Instant,
    last: State,
    number: u64,
    lines: String,
}

impl Counters {
    /// Starts with the settings that the counters name.
    pub fn of(process: &Process) -> Result<Counters> {
        let none = || {
            Error::new(Code::Input, format!("the JVM {} has no counters", process.pid))
                .hint("start it without -XX:-UsePerfData, and observe it as its user or as root")
        };
        let file = perf_data_file(process).ok_or_else(none)?;
        let data = perf_data(&file).ok_or_else(none)?;
        let most: f64 = (0..GENERATIONS)
            .filter_map(|n| data.get(&format!("sun.gc.generation.{n}.maxCapacity")))
            .fold(0.0, f64::max);
        let version = data.text("java.property.java.version").unwrap_or_default();
        let name = collector(data.text("sun.gc.collector.0.name").unwrap_or_default());
        let mut lines =
            format!("[0.000s][gc,init] Version: {version}\n[0.000s][gc,init] Heap Max Capacity: {most:.0}\n");
        if let Some(name) = name {
            let _ = writeln!(lines, "[0.000s][gc,init] Using {name}");
        }
        Ok(Counters { file, begin: Instant::now(), last: State::of(&data), number: 0, lines })
    }

    /// Adds the collections since the last sample.
    pub fn sample(&mut self) {
        if let Some(data) = perf_data(&self.file) {
            let cause = data.text("sun.gc.lastCause").unwrap_or_default().to_owned();
            self.add(State::of(&data), &cause, self.begin.elapsed().as_secs_f64());
        }
    }

    fn add(&mut self, state: State, cause: &str, at_s: f64) {
        // A collection under way has counted itself and not yet its time.
        for n in 0..COLLECTORS {
            let count = state.collections[n] - self.last.collections[n];
            let seconds = state.seconds[n] - self.last.seconds[n];
            if count <= 0.0 || seconds <= 0.0 {
                continue;
            }
            let (before, after, size) = (self.last.used, state.used, state.size);
            for _ in 0..count.min(1000.0) as u64 {
                let kind = if n == 1 { "Full" } else { "Young" };
                // The third collector of G1 and ZGC counts pauses of cycles beside the program.
                let kind = if n == 2 { "Remark" } else { kind };
                let heap = match n {
                    2 => String::new(),
                    _ => format!(" {:.0}K->{:.0}K({:.0}K)", before / 1024.0, after / 1024.0, size / 1024.0),
                };
                let ms = seconds / count * 1000.0;
                let cause: String = cause.chars().filter(|c| !matches!(c, '(' | ')' | '\n')).take(60).collect();
                let cause = if n == 2 || cause.is_empty() { String::new() } else { format!(" ({cause})") };
                let _ =
                    writeln!(self.lines, "[{at_s:.3}s][gc] GC({}) Pause {kind}{cause}{heap} {ms:.3}ms", self.number);
                self.number += 1;
            }
            (self.last.collections[n], self.last.seconds[n]) = (state.collections[n], state.seconds[n]);
        }
        (self.last.used, self.last.size) = (state.used, state.size);
    }

    /// Returns the lines, up to the end of the time.
    pub fn finish(mut self, time: Duration) -> String {
        let _ = writeln!(self.lines, "[{:.3}s][gc,init] CPUs: 0", time.as_secs_f64());
        self.lines
    }
}

/// Returns the name of a collector in a log, from the name of its counter for young collections.
fn collector(name: &str) -> Option<&'static str> {
    Some(match name {
        "PSScavenge" | "PSParallelCompact" | "Parallel young collection pauses" => "Parallel",
        "Copy" | "MCopy" | "Serial young collection pauses" => "Serial",
        "PCopy" | "ParNew" => "Concurrent Mark Sweep",
        name if name.starts_with("G1") => "G1",
        name if name.starts_with('Z') => "The Z Garbage Collector",
        name if name.starts_with("Shenandoah") => "Shenandoah",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_become_lines() {
        let state = |collections: [f64; 3], seconds: [f64; 3], used: f64| State {
            collections,
            seconds,
            used: used * 1024.0,
            size: 100.0 * 1024.0,
        };
        let mut counters = Counters {
            file: PathBuf::new(),
            begin: Instant::now(),
            last: state([5.0, 1.0, 0.0], [1.0, 2.0, 0.0], 80.0),
            number: 0,
            lines: String::new(),
        };
        counters.add(state([7.0, 1.0, 0.0], [1.04, 2.0, 0.0], 20.0), "Allocation Failure", 0.5);
        // This collection has not ended yet.
        counters.add(state([7.0, 2.0, 0.0], [1.04, 2.0, 0.0], 30.0), "System.gc()", 0.6);
        counters.add(state([7.0, 2.0, 0.0], [1.04, 2.3, 0.0], 10.0), "System.gc()", 0.9);
        let log = yunti_gc::parse(&mut counters.finish(Duration::from_secs(2)).as_bytes()).unwrap();
        let found: Vec<_> =
            log.events.iter().map(|e| (e.kind.name(), (e.pause_ms * 1e3).round(), log.cause(e))).collect();
        let young = ("young", 20_000.0, "Allocation Failure");
        assert_eq!(found, [young, young, ("full", 300_000.0, "System.gc")]);
        assert_eq!((log.events[0].heap.before, log.events[2].heap.after, log.foreign), (80 << 10, 10 << 10, 0));
    }
}
