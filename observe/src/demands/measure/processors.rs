//! Processor time by thread of the process, by other process, and of the machine.

use std::collections::HashMap;
use std::fs;
use std::time::Instant;

use yunti_probe::target::cgroup::throttling;
use yunti_probe::target::schedule::{ThreadTime, processors_of, thread_times};
use yunti_probe::target::{Process, processes};

use crate::why::facts::is_compiler;

/// Kind of a JVM's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadKind {
    /// Threads of the program.
    Program,
    /// Compilers: they end when the program's code is compiled.
    Compiler,
    Collector,
    /// Threads of this measurement.
    Ours,
}

impl ThreadKind {
    /// Returns the kind by the first 15 bytes of the name, as the kernel has it.
    pub fn of(name: &str) -> ThreadKind {
        const COLLECTORS: [&str; 12] = [
            "GC Thread",
            "G1 ",
            "ParGC Thread",
            "Parallel GC",
            "ZDriver",
            "ZWorker",
            "ZDirector",
            "ZStat",
            "XWorker",
            "Shenandoah",
            "ConcGC",
            "GC task thread",
        ];
        if is_compiler(name) {
            ThreadKind::Compiler
        } else if COLLECTORS.iter().any(|begin| name.starts_with(begin)) {
            ThreadKind::Collector
        } else if name == "yunti-trace" || name.starts_with("async-prof") {
            ThreadKind::Ours
        } else {
            ThreadKind::Program
        }
    }
}

/// State of all clocks.
struct Clocks {
    at: Instant,
    threads: HashMap<u32, (String, ThreadTime)>,
    process_seconds: f64,
    others: HashMap<u32, f64>,
    busy_seconds: f64,
    steal_seconds: f64,
}

impl Clocks {
    fn read(process: &Process) -> Clocks {
        let [busy_seconds, steal_seconds] = machine();
        let seconds = |pid: u32| Some((pid, Process::of(pid).ok()?.cpu_seconds()?));
        Clocks {
            at: Instant::now(),
            threads: thread_times(process),
            process_seconds: process.cpu_seconds().unwrap_or_default(),
            others: processes().filter(|pid| *pid != process.pid).filter_map(seconds).collect(),
            busy_seconds,
            steal_seconds,
        }
    }
}

/// Returns the machine's busy and stolen seconds of all processors since its start.
fn machine() -> [f64; 2] {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields: Vec<f64> =
        text.lines().next().unwrap_or_default().split_whitespace().skip(1).flat_map(str::parse).collect();
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let of = |at: usize| fields.get(at).copied().unwrap_or_default() / ticks;
    // user, nice, system, irq, softirq; steal. proc(5).
    [of(0) + of(1) + of(2) + of(5) + of(6), of(7)]
}

/// Processor seconds of a measurement.
#[derive(Clone, Debug, Default)]
pub struct ProcessorUse {
    pub seconds: f64,
    /// Processors that the process may use: its affinity, and the quotas of its control groups.
    pub processors: f64,
    pub program: f64,
    pub compiler: f64,
    pub collector: f64,
    pub ours: f64,
    /// Threads of the program by name without digits, the busiest first.
    pub by_group: Vec<(String, f64)>,
    pub by_process: HashMap<u32, f64>,
    pub busy: f64,
    pub steal: f64,
}

/// Processor clocks from a begin on.
pub struct ProcessorClock {
    process: Process,
    first: Clocks,
}

impl ProcessorClock {
    pub fn start(process: &Process) -> ProcessorClock {
        ProcessorClock { process: process.clone(), first: Clocks::read(process) }
    }

    pub fn finish(self) -> ProcessorUse {
        let (first, last) = (self.first, Clocks::read(&self.process));
        let allowed = processors_of(&self.process) as f64;
        let mut used = ProcessorUse {
            seconds: (last.at - first.at).as_secs_f64(),
            processors: throttling(&self.process).processors.map_or(allowed, |quota| quota.min(allowed)),
            busy: last.busy_seconds - first.busy_seconds,
            steal: last.steal_seconds - first.steal_seconds,
            ..ProcessorUse::default()
        };
        let mut groups: HashMap<String, f64> = HashMap::new();
        for (tid, (name, time)) in &last.threads {
            let before = first.threads.get(tid).map_or(0, |(_, time)| time.ran_ns);
            let seconds = time.ran_ns.saturating_sub(before) as f64 / 1e9;
            match ThreadKind::of(name) {
                ThreadKind::Program => *groups.entry(group(name)).or_default() += seconds,
                ThreadKind::Compiler => used.compiler += seconds,
                ThreadKind::Collector => used.collector += seconds,
                ThreadKind::Ours => used.ours += seconds,
            }
        }
        // Threads that have ended count in the process alone.
        let all = last.process_seconds - first.process_seconds;
        used.program = (all - used.compiler - used.collector - used.ours).max(0.0);
        used.by_group = groups.into_iter().collect();
        used.by_group.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        used.by_process = last
            .others
            .iter()
            .map(|(pid, seconds)| (*pid, seconds - first.others.get(pid).copied().unwrap_or_default()))
            .filter(|(_, seconds)| *seconds > 0.0)
            .collect();
        used
    }
}

/// Returns the name of a thread's group: its name without numbers.
pub fn group(name: &str) -> String {
    let trimmed: String = name.chars().filter(|c| !c.is_ascii_digit()).collect();
    trimmed.trim_matches(|c: char| c == '-' || c == '#' || c == ' ' || c == '_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_groups_of_threads() {
        for (name, kind) in [
            ("C2 CompilerThre", ThreadKind::Compiler),
            ("GC Thread#0", ThreadKind::Collector),
            ("G1 Refine#0", ThreadKind::Collector),
            ("yunti-trace", ThreadKind::Ours),
            ("http-3", ThreadKind::Program),
        ] {
            assert_eq!(ThreadKind::of(name), kind, "{name}");
        }
        assert_eq!((group("pool-2-thread-11"), group("http#3")), ("pool--thread".to_owned(), "http".to_owned()));
    }
}
