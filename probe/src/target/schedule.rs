//! What the scheduler has counted: how long threads ran, and how long they could have run and did not; who else used the machine.

use std::collections::HashMap;
use std::fs;

use super::Process;
use super::choose::processes;

/// Of a thread, since its start.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadTime {
    pub ran_ns: u64,
    /// Ready, and another ran.
    pub waited_ns: u64,
}

/// proc(5), schedstat: how long it ran and how long it stood in line, in nanoseconds; how often it was given a processor.
fn scheduled(process: &Process, tid: u32) -> Option<[u64; 3]> {
    let text = fs::read_to_string(format!("/proc/{}/task/{tid}/schedstat", process.pid)).ok()?;
    let mut numbers = text.split_whitespace().map(|n| n.parse::<u64>().unwrap_or(0));
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

/// How often a thread was given a processor; None: it has ended.
pub fn runs_of(process: &Process, tid: u32) -> Option<u64> {
    scheduled(process, tid).map(|[.., runs]| runs)
}

/// By thread, as it is called.
pub fn thread_times(process: &Process) -> HashMap<u32, (String, ThreadTime)> {
    let of = |tid: u32| {
        let [ran_ns, waited_ns, _] = scheduled(process, tid)?;
        let time = ThreadTime { ran_ns, waited_ns };
        Some((tid, (process.thread_name(tid).unwrap_or_default(), time)))
    };
    process.threads().into_iter().filter_map(of).collect()
}

/// Of /proc/PID/stat and status.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub faults: u64,
    pub faults_with_io: u64,
    pub switches: u64,
    pub user_seconds: f64,
    pub system_seconds: f64,
}

pub fn counts(process: &Process) -> Counts {
    let line = fs::read_to_string(format!("/proc/{}/stat", process.pid)).unwrap_or_default();
    let fields: Vec<&str> = line.rsplit_once(')').map_or("", |(_, tail)| tail).split_whitespace().collect();
    // Fields as proc_pid_stat(5) numbers them, behind the name.
    let number = |field: usize| fields.get(field - 3).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let switches = |tid: u32| {
        let status = fs::read_to_string(format!("/proc/{}/task/{tid}/status", process.pid)).unwrap_or_default();
        let of = |line: &str| line.split_once("ctxt_switches:").and_then(|(_, n)| n.trim().parse::<u64>().ok());
        status.lines().filter_map(of).sum::<u64>()
    };
    Counts {
        faults: number(10),
        faults_with_io: number(12),
        switches: process.threads().into_iter().map(switches).sum(),
        user_seconds: number(14) as f64 / ticks,
        system_seconds: number(15) as f64 / ticks,
    }
}

/// Processor time of every process, in seconds, with its name.
pub fn all_processes() -> HashMap<u32, (String, f64)> {
    let of = |pid: u32| {
        let process = Process::of(pid).ok()?;
        Some((pid, (process.name.clone(), process.cpu_seconds()?)))
    };
    processes().filter_map(of).collect()
}

/// Processors that a process may run on.
pub fn processors_of(process: &Process) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", process.pid)).unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
    listed(list).len().max(1)
}

/// `0-3,8` as numbers.
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
    fn lists_of_processors() {
        assert_eq!(listed("0-2,8\n"), [0, 1, 2, 8]);
        assert_eq!(listed("0"), [0]);
        assert!(listed("").is_empty() && listed("x-y").is_empty());
    }
}
