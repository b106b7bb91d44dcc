//! Memory limit of a process's control group with its events, and memory of the process that is swapped out.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{Process, cgroup};

/// State of the narrowest limited group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupMemory {
    folder: PathBuf,
    /// Limit in bytes; with version 2 the lower one of memory.high and memory.max.
    pub limit_bytes: u64,
    pub used_bytes: u64,
    /// Times that an allocation met the limit, since the group began.
    pub met: u64,
    /// Microseconds in which a process of the group waited for memory (PSI, some).
    pub stalls_us: u64,
}

impl GroupMemory {
    pub fn of(process: &Process) -> Option<GroupMemory> {
        cgroup::folders(process, "memory")
            .into_iter()
            .filter_map(GroupMemory::read)
            .filter(|group| group.limit_bytes > 0)
            .min_by_key(|group| group.limit_bytes)
    }

    fn read(folder: PathBuf) -> Option<GroupMemory> {
        /// Version 1 stores a number near the largest one for no limit.
        const NONE: u64 = 1 << 60;
        let text = |file: &str| fs::read_to_string(folder.join(file)).ok();
        let number = |file: &str| text(file)?.trim().parse::<u64>().ok();
        let limits = ["memory.max", "memory.high", "memory.limit_in_bytes"].into_iter().filter_map(number);
        let limit_bytes = limits.filter(|limit| *limit < NONE).min()?;
        let events = text("memory.events.local").or_else(|| text("memory.events")).unwrap_or_default();
        let event = |name: &str| {
            events.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok()).unwrap_or(0)
        };
        let pressure = text("memory.pressure").unwrap_or_default();
        let some = pressure.lines().find(|line| line.starts_with("some"));
        Some(GroupMemory {
            limit_bytes,
            used_bytes: ["memory.current", "memory.usage_in_bytes"].into_iter().find_map(number).unwrap_or(0),
            met: event("high ") + event("max ") + number("memory.failcnt").unwrap_or(0),
            stalls_us: some.and_then(|line| line.rsplit_once("total=")?.1.trim().parse().ok()).unwrap_or(0),
            folder,
        })
    }

    /// Returns its state now.
    pub fn again(&self) -> Option<GroupMemory> {
        GroupMemory::read(self.folder.clone())
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Returns the bytes of a process that are swapped out.
pub fn swapped_bytes(process: &Process) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.pid)).unwrap_or_default();
    let kilobytes =
        status.lines().find_map(|line| line.strip_prefix("VmSwap:")?.split_whitespace().next()?.parse().ok());
    kilobytes.unwrap_or(0_u64) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_groups_of_both_versions() {
        let folder = std::env::temp_dir().join(format!("yunti-outside-memory-{}", std::process::id()));
        let read = |files: &[(&str, &str)]| {
            let path = folder.join(files.len().to_string());
            fs::create_dir_all(&path).unwrap();
            files.iter().for_each(|(file, text)| fs::write(path.join(file), text).unwrap());
            GroupMemory::read(path).map(|group| (group.limit_bytes, group.used_bytes, group.met, group.stalls_us))
        };
        let pressure = "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\nfull avg10=0 total=5\n";
        let second = [
            ("memory.max", "max\n"),
            ("memory.high", "4096\n"),
            ("memory.current", "4000\n"),
            ("memory.events", "low 0\nhigh 3\nmax 0\noom 0\n"),
            ("memory.pressure", pressure),
        ];
        assert_eq!(read(&second), Some((4096, 4000, 3, 7)));
        let first = [("memory.limit_in_bytes", "8192"), ("memory.usage_in_bytes", "8000"), ("memory.failcnt", "12")];
        assert_eq!(read(&first), Some((8192, 8000, 12, 0)));
        assert_eq!(read(&[("memory.limit_in_bytes", "9223372036854771712")]), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
