//! Processors and priority that a process is allowed: affinity of its threads, nice value, policy, weight of its groups.

use std::collections::HashMap;
use std::fs;

use super::super::schedule::{ThreadTime, listed};
use super::super::{Process, cgroup};

/// Policy of the scheduler: sched(7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    #[default]
    Normal,
    Batch,
    /// Runs only on processors that nobody else wants.
    Idle,
    /// FIFO, round robin, or deadline: runs before all others.
    RealTime,
}

impl Policy {
    pub(super) fn of(number: u64) -> Policy {
        match number {
            1 | 2 | 6 => Policy::RealTime,
            3 => Policy::Batch,
            5 => Policy::Idle,
            _ => Policy::Normal,
        }
    }
}

/// Processors that threads may use, with their times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mask {
    pub processors: Vec<usize>,
    pub threads: usize,
    pub ran_seconds: f64,
    /// Seconds in which these threads were ready and did not run.
    pub waited_seconds: f64,
}

/// Placement of a process.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// Masks of the threads that ran or were ready, the longest wait first.
    pub masks: Vec<Mask>,
    /// Processors that the control group allows; empty if it does not restrict them.
    pub cpuset: Vec<usize>,
    /// Smallest weight of its groups, as a share of the default one.
    pub weight: Option<f64>,
    /// True if nice values count only within a session.
    pub has_autogroup: bool,
}

/// Threads whose masks are read at most.
const THREADS_MAX: usize = 128;

type ThreadTimes = HashMap<u32, (String, ThreadTime)>;

impl Placement {
    pub fn of(process: &Process, before: &ThreadTimes, after: &ThreadTimes) -> Placement {
        let mut times: Vec<(u32, f64, f64)> = after
            .iter()
            .map(|(tid, (_, now))| {
                let was = before.get(tid).map_or(ThreadTime::default(), |(_, was)| *was);
                let seconds = |now: u64, was: u64| now.saturating_sub(was) as f64 / 1e9;
                (*tid, seconds(now.ran_ns, was.ran_ns), seconds(now.waited_ns, was.waited_ns))
            })
            .collect();
        times.sort_by(|a, b| (b.1 + b.2).total_cmp(&(a.1 + a.2)));
        let mut masks: Vec<Mask> = Vec::new();
        for (tid, ran, waited) in times.into_iter().take(THREADS_MAX).filter(|(_, ran, waited)| ran + waited > 0.0) {
            let Some(processors) = allowed(process, tid) else { continue };
            let at = masks.iter().position(|mask| mask.processors == processors).unwrap_or_else(|| {
                masks.push(Mask { processors, ..Mask::default() });
                masks.len() - 1
            });
            masks[at].threads += 1;
            masks[at].ran_seconds += ran;
            masks[at].waited_seconds += waited;
        }
        masks.sort_by(|a, b| b.waited_seconds.total_cmp(&a.waited_seconds));
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Placement {
            masks,
            cpuset: cpuset(process),
            weight: weight(process),
            has_autogroup: read("/proc/sys/kernel/sched_autogroup_enabled").trim() == "1",
        }
    }
}

fn allowed(process: &Process, tid: u32) -> Option<Vec<usize>> {
    let status = fs::read_to_string(format!("/proc/{}/task/{tid}/status", process.pid)).ok()?;
    Some(listed(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?))
}

fn cpuset(process: &Process) -> Vec<usize> {
    let files = ["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"];
    let of = |folder: &std::path::PathBuf| files.iter().find_map(|file| fs::read_to_string(folder.join(file)).ok());
    cgroup::folders(process, "cpuset").iter().find_map(of).map(|text| listed(&text)).unwrap_or_default()
}

/// Returns the smallest weight of the process's groups, relative to the default of a group.
fn weight(process: &Process) -> Option<f64> {
    let number = |text: Option<String>| text?.trim().parse::<f64>().ok();
    let of = |folder: std::path::PathBuf| {
        let read = |file: &str| fs::read_to_string(folder.join(file)).ok();
        // cpu.idle makes a group run only on processors that nobody else wants.
        if number(read("cpu.idle")) == Some(1.0) {
            return Some(0.0);
        }
        number(read("cpu.weight"))
            .map(|weight| weight / 100.0)
            .or_else(|| number(read("cpu.shares")).map(|shares| shares / 1024.0))
    };
    cgroup::folders(process, "cpu").into_iter().filter_map(of).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_this_process() {
        let me = Process::of(std::process::id()).unwrap();
        let time = |ran_ns| ("main".to_owned(), ThreadTime { ran_ns, waited_ns: 5 });
        let placement = Placement::of(&me, &HashMap::new(), &HashMap::from([(me.pid, time(2_000_000_000))]));
        assert_eq!(placement.masks.len(), 1);
        assert_eq!((placement.masks[0].threads, placement.masks[0].ran_seconds), (1, 2.0));
        assert!(!placement.masks[0].processors.is_empty());
    }
}
