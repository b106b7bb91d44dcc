//! Processor time of other processes, and what they are to a process: strangers, its children, ends of its pipes.
//!
//! Processes that start and end between two readings never appear in them. Their time appears in their parent's
//! counters of ended children, so it is reported under the parent.

use std::collections::HashMap;
use std::fs;

use super::super::choose::{label, processes};
use super::super::{Policy, Process};

/// Counters of a process, from /proc/PID/stat.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    pub parent: u32,
    pub session: u32,
    started: u64,
    ticks: u64,
    /// Ticks of ended children that it has waited for.
    ticks_of_children: u64,
    pub nice: i64,
    pub policy: Policy,
}

/// Relation of another process to a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kin {
    #[default]
    Stranger,
    /// Its child, or a child of one.
    Child,
    /// The other end of its standard input or output.
    Pipe,
}

/// Another process with its processor time.
#[derive(Clone, Debug, Default)]
pub struct Neighbour {
    pub pid: u32,
    /// Readable name: `java shop.jar`.
    pub label: String,
    /// Processor seconds.
    pub seconds: f64,
    pub kin: Kin,
    pub nice: i64,
    pub policy: Policy,
    pub session: u32,
    /// True for its children that ended during the measurement.
    pub is_of_ended: bool,
}

impl Neighbour {
    /// Returns its name with its number: `java shop.jar 4711`.
    pub fn name(&self) -> String {
        match self.is_of_ended {
            true => format!("short-lived children of {} {}", self.label, self.pid),
            false => format!("{} {}", self.label, self.pid),
        }
    }
}

/// Returns the counters of every process.
pub fn usages() -> HashMap<u32, Usage> {
    processes().filter_map(|pid| Some((pid, usage(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?))).collect()
}

fn usage(line: &str) -> Option<Usage> {
    let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
    // Fields have the numbers of proc_pid_stat(5), behind the name.
    let number = |field: usize| fields.get(field - 3)?.parse::<i64>().ok();
    let count = |field: usize| number(field).and_then(|n| u64::try_from(n).ok());
    Some(Usage {
        parent: count(4)? as u32,
        session: number(6)? as u32,
        started: count(22)?,
        ticks: count(14)? + count(15)?,
        ticks_of_children: count(16)? + count(17)?,
        nice: number(19)?,
        policy: Policy::of(count(41).unwrap_or(0)),
    })
}

/// Returns the other processes that used at least a hundredth of a processor, the largest first. The observer and its
/// own children are left out.
///
/// @param seconds between the two readings
pub fn neighbours(
    process: &Process,
    before: &HashMap<u32, Usage>,
    after: &HashMap<u32, Usage>,
    seconds: f64,
) -> Vec<Neighbour> {
    let hertz = rustix::param::clock_ticks_per_second() as f64;
    let least = 0.01 * seconds;
    let observer = std::process::id();
    let mut all = Vec::new();
    for (&pid, now) in after {
        if is_below(pid, observer, after) {
            continue;
        }
        let was = before.get(&pid).filter(|was| was.started == now.started).copied().unwrap_or_default();
        let own = now.ticks.saturating_sub(was.ticks) as f64 / hertz;
        let ended = children_seconds(pid, &was, now, before, after);
        for (used, is_of_ended) in [(own, false), (ended, true)] {
            let is_itself = pid == process.pid;
            if used <= least || is_itself && !is_of_ended {
                continue;
            }
            let is_child = is_itself || is_below(pid, process.pid, after);
            all.push(Neighbour {
                pid,
                label: Process::of(pid).map_or_else(|_| format!("process {pid}"), |it| label(&it)),
                seconds: used,
                kin: if is_child { Kin::Child } else { Kin::Stranger },
                nice: now.nice,
                policy: now.policy,
                session: now.session,
                is_of_ended,
            });
        }
    }
    all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then_with(|| a.pid.cmp(&b.pid)));
    let ends = pipe_ends(process.pid);
    for neighbour in all.iter_mut().take(MARKED_MAX).filter(|neighbour| neighbour.kin == Kin::Stranger) {
        let its = pipe_ends(neighbour.pid);
        let is_joined = |a: &Option<String>, b: &Option<String>| a.is_some() && a == b;
        if is_joined(&ends[0], &its[1]) || is_joined(&ends[1], &its[0]) {
            neighbour.kin = Kin::Pipe;
        }
    }
    all
}

/// Neighbours that are searched for pipes at most.
const MARKED_MAX: usize = 16;

/// Processor seconds of children that ended in between, without what they had used before.
fn children_seconds(
    pid: u32,
    was: &Usage,
    now: &Usage,
    before: &HashMap<u32, Usage>,
    after: &HashMap<u32, Usage>,
) -> f64 {
    let gained = now.ticks_of_children.saturating_sub(was.ticks_of_children);
    if gained == 0 || was.started == 0 {
        return 0.0;
    }
    let gone = before.iter().filter(|(child, usage)| usage.parent == pid && !after.contains_key(child));
    let known: u64 = gone.map(|(_, usage)| usage.ticks + usage.ticks_of_children).sum();
    gained.saturating_sub(known) as f64 / rustix::param::clock_ticks_per_second() as f64
}

/// Returns true for a process, its children, and their children.
fn is_below(mut pid: u32, above: u32, all: &HashMap<u32, Usage>) -> bool {
    // A chain of parents is short; a number that was reused in between must not make it endless.
    for _ in 0..64 {
        if pid == above {
            return true;
        }
        match all.get(&pid) {
            Some(usage) if usage.parent > 1 => pid = usage.parent,
            _ => return false,
        }
    }
    false
}

/// Pipes at standard input and output.
fn pipe_ends(pid: u32) -> [Option<String>; 2] {
    [0, 1].map(|fd| {
        let target = fs::read_link(format!("/proc/{pid}/fd/{fd}")).ok()?;
        Some(target.to_string_lossy().into_owned()).filter(|name| name.starts_with("pipe:"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_counters() {
        let line = "7 (a) R (b) S 5 7 9 0 -1 4194560 1 2 3 4 50 6 20 3 39 19 1 0 999 1 2 0 0 0 0 0 0 0 0 0 0 0 0 17 1 \
                    0 5 0 0 0";
        let usage = usage(line).unwrap();
        assert_eq!((usage.parent, usage.session, usage.ticks, usage.ticks_of_children), (5, 9, 56, 23));
        assert_eq!((usage.nice, usage.started, usage.policy), (19, 999, Policy::Idle));
    }

    #[test]
    fn children_are_told_apart() {
        let of = |parent| Usage { parent, ..Usage::default() };
        let all = HashMap::from([(10, of(1)), (11, of(10)), (12, of(11)), (20, of(1)), (30, of(31)), (31, of(30))]);
        assert!(is_below(12, 10, &all) && is_below(10, 10, &all));
        assert!(!is_below(20, 10, &all) && !is_below(30, 10, &all));
    }

    #[test]
    fn time_of_ended_children() {
        let usage = |parent, ticks, ticks_of_children| Usage {
            parent,
            started: 1,
            ticks,
            ticks_of_children,
            ..Usage::default()
        };
        let before = HashMap::from([(10, usage(1, 0, 100)), (11, usage(10, 50, 0))]);
        let after = HashMap::from([(10, usage(1, 0, 250))]);
        let seconds = children_seconds(10, &before[&10], &after[&10], &before, &after);
        assert_eq!(seconds * rustix::param::clock_ticks_per_second() as f64, 100.0);
    }
}
