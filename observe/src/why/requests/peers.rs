//! Processes on this machine that own given sockets.

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use yunti_probe::target::{Process, label, processes};

/// Longest search. A machine may have thousands of processes with thousands of descriptors.
const SEARCH_MAX: Duration = Duration::from_millis(300);

/// Returns the owner of each socket of `inodes`, as far as it is found in time. A socket may have several owners; the
/// first process is the one with the smallest number, usually the parent.
pub fn owners(inodes: &[u32]) -> HashMap<u32, u32> {
    let mut found = HashMap::new();
    let begin = Instant::now();
    let mut pids: Vec<u32> = processes().collect();
    pids.sort_unstable();
    for pid in pids {
        if found.len() == inodes.len() || begin.elapsed() > SEARCH_MAX {
            break;
        }
        for entry in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
            let Ok(link) = fs::read_link(entry.path()) else { continue };
            let inode = link.as_os_str().as_bytes().strip_prefix(b"socket:[").and_then(|rest| rest.strip_suffix(b"]"));
            let inode = inode.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
            if let Some(inode) = inode.filter(|inode| inodes.contains(inode)) {
                found.entry(inode).or_insert(pid);
            }
        }
    }
    found
}

/// Returns a process as text: `postgres 4711`.
pub fn name(pid: u32) -> Option<String> {
    let process = Process::of(pid).ok()?;
    Some(format!("{} {pid}", label(&process)))
}
