//! Other processes that hold a tool's handle on a process (its memory, a pidfd, performance events) or name it on
//! their command line, as `strace -p 4711` and `jstack 4711` do.
//!
//! A handle shows who could act, not who does: systemd holds pidfds of services. So a handle is evidence beside a
//! measured effect, never a cause.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

use super::super::choose::{label, processes};
use super::super::{Process, arguments};

/// Kind of handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Handle {
    /// The process's memory is open: /proc/PID/mem.
    Memory,
    /// A pidfd of it, which process_madvise(2) and pidfd_send_signal(2) need.
    PidFd,
    /// Performance events, of this or of other processes: the kernel does not report of which.
    Events,
    /// Programs in the kernel (BPF) that run at probes.
    Probes,
    /// The command line names its number.
    Name,
}

/// Another process with handles.
#[derive(Clone, Debug)]
pub struct Attached {
    pub pid: u32,
    pub label: String,
    pub handles: Vec<Handle>,
}

/// Descriptors read at most. A search of a machine with more of them is incomplete.
const DESCRIPTORS_MAX: usize = 50_000;

/// Searches all other processes for handles. It reads links of all descriptors, so it is made once, for a measured
/// effect without a known cause.
pub fn attached(process: &Process) -> Vec<Attached> {
    let mut found = Vec::new();
    let mut left = DESCRIPTORS_MAX;
    for pid in processes().filter(|pid| *pid != process.pid && *pid != std::process::id()) {
        let mut handles: HashSet<Handle> = HashSet::new();
        for entry in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten().take(left) {
            left -= 1;
            let Ok(target) = fs::read_link(entry.path()) else { continue };
            let name = target.to_string_lossy();
            let info = || {
                let path = format!("/proc/{pid}/fdinfo/{}", entry.file_name().to_string_lossy());
                fs::read_to_string(path).unwrap_or_default()
            };
            if let Some(handle) = handle(process.pid, &name, info) {
                handles.insert(handle);
            }
        }
        let mut handles: Vec<Handle> = handles.into_iter().collect();
        handles.sort();
        if !handles.is_empty() {
            let label = Process::of(pid).map_or_else(|_| "process".to_owned(), |it| label(&it));
            found.push(Attached { pid, label, handles });
        }
    }
    found
}

fn handle(pid: u32, name: &str, info: impl Fn() -> String) -> Option<Handle> {
    let is_of_it =
        |text: &str| text.lines().any(|line| line.strip_prefix("Pid:").is_some_and(|n| n.trim() == pid.to_string()));
    if name.strip_prefix("/proc/").and_then(|rest| rest.strip_suffix("/mem")).is_some_and(|n| n == pid.to_string()) {
        return Some(Handle::Memory);
    }
    if name.contains("[perf_event]") {
        return Some(Handle::Events);
    }
    if name.contains("pidfd") {
        return is_of_it(&info()).then_some(Handle::PidFd);
    }
    if name.contains("bpf_link") || name.contains("bpf-link") {
        let text = info();
        let is_probe =
            ["perf_event", "tracing", "raw_tracepoint", "kprobe", "uprobe"].iter().any(|kind| text.contains(kind));
        return is_probe.then_some(Handle::Probes);
    }
    None
}

/// Watch for processes that name a process on their command line, also short-lived ones.
pub struct NameWatch {
    pid: String,
    seen: HashSet<u32>,
    /// Processes that name it: number -> name.
    found: HashMap<u32, String>,
    next: Instant,
}

/// Shortest interval between two searches for new processes.
const EVERY: Duration = Duration::from_millis(200);
/// Share of the time that searches may take.
const SHARE_MAX: u32 = 200;

impl NameWatch {
    pub fn new(process: &Process) -> NameWatch {
        let mut watch = NameWatch {
            pid: process.pid.to_string(),
            // Its ancestors may have started it by number; this process names it by its purpose.
            seen: HashSet::from([process.pid, std::process::id()]),
            found: HashMap::new(),
            next: Instant::now(),
        };
        let mut pid = std::process::id();
        // Whoever started the observer names the same process on its command line.
        while let Some(parent) = parent_of(pid).filter(|parent| *parent > 1 && watch.seen.insert(*parent)) {
            pid = parent;
        }
        watch.keep_up();
        watch
    }

    pub fn keep_up(&mut self) {
        let begin = Instant::now();
        if begin < self.next {
            return;
        }
        for pid in processes() {
            if self.seen.insert(pid) && self.is_named(&arguments(pid)) && !is_child_of_observer(pid) {
                self.found.insert(pid, Process::of(pid).map_or_else(|_| "process".to_owned(), |it| label(&it)));
            }
        }
        self.next = Instant::now() + EVERY.max(begin.elapsed() * SHARE_MAX);
    }

    fn is_named(&self, arguments: &[String]) -> bool {
        let words = arguments.iter().skip(1).flat_map(|word| word.split([' ', '=', ',', '/', '\n', ';']));
        words.map(|word| word.trim_start_matches("-p")).any(|word| word == self.pid)
    }

    /// Returns the processes that named it: names with the number of processes, and one number.
    pub fn found(&self) -> Vec<(String, usize, u32)> {
        let mut names: HashMap<&str, (usize, u32)> = HashMap::new();
        for (pid, name) in &self.found {
            let entry = names.entry(name).or_insert((0, *pid));
            entry.0 += 1;
        }
        let mut all: Vec<_> = names.into_iter().map(|(name, (n, pid))| (name.to_owned(), n, pid)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all
    }
}

fn parent_of(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

fn is_child_of_observer(pid: u32) -> bool {
    parent_of(pid) == Some(std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_by_their_links() {
        let of = |name: &str, info: &str| handle(47, name, || info.to_owned());
        assert_eq!(of("/proc/47/mem", ""), Some(Handle::Memory));
        assert_eq!(of("/proc/147/mem", ""), None);
        assert_eq!(of("anon_inode:[pidfd]", "pos: 0\nPid:\t47\nNSpid:\t47\n"), Some(Handle::PidFd));
        assert_eq!(of("anon_inode:[pidfd]", "Pid:\t470\n"), None);
        assert_eq!(of("anon_inode:[perf_event]", ""), Some(Handle::Events));
        assert_eq!(of("anon_inode:bpf_link", "link_type:\tperf_event\n"), Some(Handle::Probes));
        assert_eq!(of("socket:[47]", ""), None);
    }

    #[test]
    fn names_on_command_lines() {
        let watch = NameWatch {
            pid: "47".to_owned(),
            seen: HashSet::new(),
            found: HashMap::from([(1, "jstack".to_owned()), (2, "jstack".to_owned()), (3, "gdb".to_owned())]),
            next: Instant::now(),
        };
        let is_named = |line: &str| watch.is_named(&line.split('|').map(str::to_owned).collect::<Vec<_>>());
        assert!(is_named("strace|-p|47") && is_named("strace|-p47") && is_named("perf|--pid=47"));
        assert!(is_named("sh|-c|while :; do kill -STOP 47; done"));
        assert!(!is_named("47|serve") && !is_named("sleep|470") && !is_named("head|-n1047"));
        assert_eq!(watch.found()[0].0, "jstack");
        assert_eq!(watch.found()[0].1, 2);
    }
}
