//! The largest holder of anonymous memory: in the control group of a process with a limit, else on the machine.

use std::fs;
use std::path::Path;

use yunti_probe::target::{Process, cgroup, label};

/// Returns the other process with the most anonymous memory: its name, its bytes, and the bytes for all processes.
pub fn holder(process: &Process) -> Option<(String, f64, f64)> {
    let (pids, all) = match cgroup::memory_limit(process) {
        Some((folder, limit)) => (members(&folder), limit),
        None => (all_pids(), machine_bytes()?),
    };
    let others = pids.into_iter().filter(|pid| *pid != process.pid);
    let (pid, held) = others.map(|pid| (pid, held_by(pid))).max_by_key(|(_, held)| *held)?;
    let name = Process::of(pid).map_or_else(|_| format!("process {pid}"), |process| label(&process));
    (held > 0).then_some((name, held as f64, all as f64))
}

/// Returns the process IDs of a group and the groups below it.
fn members(folder: &Path) -> Vec<u32> {
    let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    let mut pids: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
    let below = fs::read_dir(folder).into_iter().flatten().flatten();
    below.filter(|entry| entry.path().is_dir()).for_each(|entry| pids.extend(members(&entry.path())));
    pids
}

fn all_pids() -> Vec<u32> {
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|e| e.file_name().to_str()?.parse().ok()).collect()
}

fn machine_bytes() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemTotal:")
}

fn held_by(pid: u32) -> u64 {
    kilobytes(&format!("/proc/{pid}/status"), "RssAnon:").unwrap_or(0)
}

fn kilobytes(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let number =
        text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse::<u64>().ok()?;
    Some(number * 1024)
}
