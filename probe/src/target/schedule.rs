//! Counters of the scheduler: run time and run queue time of threads.

use std::collections::HashMap;
use std::fs;

use super::Process;

/// Times of a thread since its start.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadTime {
    /// Nanoseconds on a processor.
    pub ran_ns: u64,
    /// Nanoseconds in the run queue.
    pub waited_ns: u64,
}

/// Run time and run queue time in nanoseconds, and the number of runs: proc(5), schedstat.
fn scheduled(process: &Process, tid: u32) -> Option<[u64; 3]> {
    let text = fs::read_to_string(format!("/proc/{}/task/{tid}/schedstat", process.pid)).ok()?;
    let mut numbers = text.split_whitespace().map(|n| n.parse::<u64>().unwrap_or(0));
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

/// Returns the number of times that a thread got a processor; `None` if it has ended.
pub fn runs_of(process: &Process, tid: u32) -> Option<u64> {
    scheduled(process, tid).map(|[.., runs]| runs)
}

/// Returns the times of all threads, with their names.
pub fn thread_times(process: &Process) -> HashMap<u32, (String, ThreadTime)> {
    let of = |tid: u32| {
        let [ran_ns, waited_ns, _] = scheduled(process, tid)?;
        let time = ThreadTime { ran_ns, waited_ns };
        Some((tid, (process.thread_name(tid).unwrap_or_default(), time)))
    };
    process.threads().into_iter().filter_map(of).collect()
}

/// Counters of a process, from /proc/PID/stat, status and io.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Page faults without I/O.
    pub faults: u64,
    /// Page faults with I/O.
    pub faults_with_io: u64,
    /// Context switches.
    pub switches: u64,
    /// Calls that read, their bytes, calls that write, and their bytes; zeros without access.
    pub io: [u64; 4],
    /// Seconds in user code.
    pub user_seconds: f64,
    /// Seconds in the kernel.
    pub system_seconds: f64,
    /// Seconds of its children that have ended.
    pub children_seconds: f64,
    /// Their seconds in the kernel.
    pub children_system_seconds: f64,
}

/// Returns the counters of a process.
pub fn counts(process: &Process) -> Counts {
    let line = fs::read_to_string(format!("/proc/{}/stat", process.pid)).unwrap_or_default();
    let fields: Vec<&str> = line.rsplit_once(')').map_or("", |(_, tail)| tail).split_whitespace().collect();
    // Fields have the numbers of proc_pid_stat(5), behind the name.
    let number = |field: usize| fields.get(field - 3).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let switches = |tid: u32| {
        let status = fs::read_to_string(format!("/proc/{}/task/{tid}/status", process.pid)).unwrap_or_default();
        let of = |line: &str| line.split_once("ctxt_switches:").and_then(|(_, n)| n.trim().parse::<u64>().ok());
        status.lines().filter_map(of).sum::<u64>()
    };
    let io = fs::read_to_string(format!("/proc/{}/io", process.pid)).unwrap_or_default();
    let of_io = |name: &str| io.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0);
    Counts {
        io: ["syscr:", "rchar:", "syscw:", "wchar:"].map(of_io),
        faults: number(10),
        faults_with_io: number(12),
        switches: process.threads().into_iter().map(switches).sum(),
        user_seconds: number(14) as f64 / ticks,
        system_seconds: number(15) as f64 / ticks,
        children_seconds: (number(16) + number(17)) as f64 / ticks,
        children_system_seconds: number(17) as f64 / ticks,
    }
}

/// Returns the number of processors that a process may use.
pub fn processors_of(process: &Process) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", process.pid)).unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
    listed(list).len().max(1)
}

/// Parses a kernel list such as `0-3,8`.
pub fn listed(text: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(low), Ok(high)) = (low.parse::<usize>(), high.parse::<usize>()) {
            numbers.extend(low..=high);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn parses_lists_of_processors() {
        assert_eq!(listed("0-2,8\n"), [0, 1, 2, 8]);
        assert_eq!(listed("0"), [0]);
        assert!(listed("").is_empty() && listed("x-y").is_empty());
    }
}
