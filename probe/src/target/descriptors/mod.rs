//! Open descriptors of processes, and the locks of their files.

mod file_locks;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

pub use file_locks::{FileLock, file_locks, open_files};

use super::processes;

/// Longest search. A machine may have thousands of processes with thousands of descriptors.
const SEARCH_MAX: Duration = Duration::from_millis(300);

/// Passes each open descriptor to `take`, until that returns false or the longest time is over: the process, the
/// descriptor, and what it is (`socket:[47]`, `pipe:[11]`, a path). Processes come in the order of their numbers, so
/// that a parent usually comes before its children.
pub fn each_descriptor(mut take: impl FnMut(u32, &str, &Path) -> bool) {
    let begin = Instant::now();
    let mut pids: Vec<u32> = processes().collect();
    pids.sort_unstable();
    for pid in pids {
        for entry in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
            let Ok(link) = fs::read_link(entry.path()) else { continue };
            if !take(pid, &entry.file_name().to_string_lossy(), &link) {
                return;
            }
        }
        if begin.elapsed() > SEARCH_MAX {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_an_open_file_and_stops() {
        let path = fs::canonicalize("/proc/self/exe").unwrap();
        let file = fs::File::open(&path).unwrap();
        let mut found = Vec::new();
        each_descriptor(|pid, _, link| {
            found.extend((pid == std::process::id() && link == path).then_some(pid));
            found.is_empty()
        });
        drop(file);
        assert_eq!(found, [std::process::id()]);
    }
}
