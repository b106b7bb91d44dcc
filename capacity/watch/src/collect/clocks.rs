//! Clocks of a measured process and its machine: what of the processors' time is no cost of a request.
//!
//! A compiler of a JVM works after each start, and ends. Other programs and the hypervisor take processors away. All of
//! it is counted by the kernel, and read some times a second; a window gets its part by interpolation.

use std::collections::HashMap;
use std::fs;

use super::subject::{TICKS, stat_fields};
use crate::record::{Window, rounded};

/// Begins of the names of threads that compile, by the kernel's first 15 bytes: HotSpot, Graal, OpenJ9, .NET.
const COMPILERS: [&str; 5] = ["C1 Compiler", "C2 Compiler", "JVMCI", "JIT Compilation", ".NET Tiered Com"];
const NANOS_A_MS: f64 = 1e6;
/// Milliseconds of a clock tick in `/proc/stat` and `/proc/PID/stat`.
const TICK_MS: f64 = 1000.0 / TICKS;

/// Processor time in milliseconds since some beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// Unix time in milliseconds.
    pub at_ms: u64,
    /// Compilers of the process.
    pub compilers: f64,
    /// All programs but the process.
    pub others: f64,
    /// Time that the hypervisor gave to other machines.
    pub stolen: f64,
}

/// Clocks that are read again and again.
pub struct Clocks {
    pid: u32,
    /// Processor time of each thread that compiles; absent for other threads. Names are read once a thread.
    threads: HashMap<u32, Option<f64>>,
    readings: Vec<Reading>,
}

impl Clocks {
    /// Returns the clocks of a process.
    pub fn of(pid: u32) -> Clocks {
        Clocks { pid, threads: HashMap::new(), readings: Vec::new() }
    }

    /// Reads all clocks.
    pub fn read(&mut self, now_ms: u64) {
        self.read_compilers();
        let [busy, stolen] = machine(&fs::read_to_string("/proc/stat").unwrap_or_default());
        let process = process_ms(&fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default());
        let compilers = self.threads.values().flatten().sum();
        self.readings.push(Reading { at_ms: now_ms, compilers, others: (busy - process).max(0.0), stolen });
    }

    /// Returns the part of the last `span_ms` milliseconds that the compilers ran, as processors; `None` before that
    /// time is over.
    pub fn compiling(&self, span_ms: u64) -> Option<f64> {
        let last = self.readings.last()?;
        let before = self.readings.iter().rfind(|reading| reading.at_ms + span_ms <= last.at_ms)?;
        Some((last.compilers - before.compilers) / (last.at_ms - before.at_ms) as f64)
    }

    /// Adds the time of each window to it.
    pub fn add_to(&self, begins_ms: &[u64], windows: &mut [Window]) {
        for (window, begin_ms) in windows.iter_mut().zip(begins_ms) {
            let begin = *begin_ms as f64;
            let end = begin + window.seconds * 1000.0;
            let during =
                |clock: fn(&Reading) -> f64| Some(rounded((self.at(end, clock)? - self.at(begin, clock)?).max(0.0)));
            window.compiler_ms = during(|reading| reading.compilers).filter(|_| self.has_compilers());
            window.others_ms = during(|reading| reading.others);
            window.stolen_ms = during(|reading| reading.stolen);
        }
    }

    /// Returns true if the process has threads that compile.
    pub fn has_compilers(&self) -> bool {
        self.threads.values().any(Option::is_some)
    }

    /// Returns a clock at a time between two readings; `None` beyond them.
    fn at(&self, time_ms: f64, clock: fn(&Reading) -> f64) -> Option<f64> {
        let next = self.readings.iter().position(|reading| reading.at_ms as f64 >= time_ms)?;
        let (before, after) = (self.readings.get(next.checked_sub(1)?)?, &self.readings[next]);
        let part = (time_ms - before.at_ms as f64) / (after.at_ms - before.at_ms).max(1) as f64;
        Some(clock(before) + part * (clock(after) - clock(before)))
    }

    /// Reads the threads that compile. The time of one that has ended stays.
    fn read_compilers(&mut self) {
        let folder = format!("/proc/{}/task", self.pid);
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        for thread in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
            let text = |file: &str| fs::read_to_string(format!("{folder}/{thread}/{file}")).unwrap_or_default();
            let time = self.threads.entry(thread).or_insert_with(|| {
                let name = text("comm");
                COMPILERS.iter().any(|begin| name.starts_with(begin)).then_some(0.0)
            });
            if let Some(time) = time {
                let nanos = text("schedstat").split(' ').next().and_then(|word| word.parse::<f64>().ok());
                *time = nanos.map_or(*time, |nanos| nanos / NANOS_A_MS);
            }
        }
    }
}

/// Returns the busy and the stolen milliseconds of all processors, from the text of `/proc/stat`.
fn machine(text: &str) -> [f64; 2] {
    let line = text.lines().next().unwrap_or_default();
    let fields: Vec<f64> = line.split_whitespace().skip(1).flat_map(str::parse).collect();
    let of = |at: usize| fields.get(at).copied().unwrap_or_default() * TICK_MS;
    // user, nice, system, irq, softirq; steal. proc(5).
    [of(0) + of(1) + of(2) + of(5) + of(6), of(7)]
}

/// Returns the milliseconds of a process, from the text of `/proc/PID/stat`.
fn process_ms(text: &str) -> f64 {
    let fields: Vec<&str> = stat_fields(text).collect();
    let of = |at: usize| fields.get(at).and_then(|word| word.parse::<f64>().ok()).unwrap_or_default();
    (of(11) + of(12)) * TICK_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(readings: &[(u64, f64, f64, f64)]) -> Clocks {
        let readings = readings
            .iter()
            .map(|&(at_ms, compilers, others, stolen)| Reading { at_ms, compilers, others, stolen })
            .collect();
        Clocks { pid: 1, threads: [(7, Some(1.0))].into(), readings }
    }

    #[test]
    fn windows_get_their_part() {
        let clocks = clocks(&[(1000, 0.0, 0.0, 5.0), (2000, 100.0, 400.0, 5.0), (3000, 100.0, 800.0, 25.0)]);
        let window = Window { seconds: 1.0, ..Window::default() };
        let mut windows = vec![window; 3];
        clocks.add_to(&[1100, 1500, 2500], &mut windows);
        let times: Vec<[Option<f64>; 3]> = windows.iter().map(|w| [w.compiler_ms, w.others_ms, w.stolen_ms]).collect();
        // The last window ends after the readings.
        assert_eq!(times, [[Some(90.0), Some(400.0), Some(2.0)], [Some(50.0), Some(400.0), Some(10.0)], [None; 3]]);
    }

    #[test]
    fn compilers_are_quiet_or_not() {
        let clocks = clocks(&[(1000, 0.0, 0.0, 0.0), (2000, 900.0, 0.0, 0.0), (4000, 940.0, 0.0, 0.0)]);
        assert_eq!(clocks.compiling(2000), Some(0.02));
        assert_eq!((clocks.compiling(2500), clocks.compiling(5000)), (Some(940.0 / 3000.0), None));
    }

    #[test]
    fn texts_of_the_kernel_are_read() {
        assert_eq!(machine("cpu  10 1 5 900 3 2 1 4 0 0\ncpu0 1"), [190.0, 40.0]);
        assert_eq!(process_ms("7 (a b) c) S 1 7 7 0 -1 4 9 0 0 0 30 12 0 0 20"), 420.0);
        assert_eq!((machine(""), process_ms("")), ([0.0, 0.0], 0.0));
    }

    #[test]
    fn clocks_of_this_process_run() {
        let mut clocks = Clocks::of(std::process::id());
        clocks.read(1);
        assert!(clocks.readings[0].others > 0.0 && !clocks.has_compilers());
    }
}
