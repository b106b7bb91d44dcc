//! Counters of a control group since its creation and its present use, from the group's own files.

use std::fs;
use std::path::Path;

use super::hierarchy::{Controller, Hierarchies};

/// Counters of a group; figures that the kernel does not report stay empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// Processor seconds.
    pub cpu_seconds: Option<f64>,
    /// Quota periods.
    pub periods: u64,
    /// Periods in which the quota was used up.
    pub throttled_periods: u64,
    /// Seconds stopped by the quota: summed over processors in version 1, of the group in version 2.
    pub throttled_seconds: f64,
    /// Processors that it may use; `None` without a quota.
    pub quota: Option<f64>,
    /// Memory.
    pub memory: Option<Memory>,
    /// Pressure stall information.
    pub pressure: Option<Pressure>,
    /// Bytes read from devices (version 2).
    pub read_bytes: u64,
    /// Bytes written to devices (version 2).
    pub written_bytes: u64,
}

/// Memory in bytes, including the groups below.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// All memory charged to the group.
    pub used: u64,
    /// `None` without a limit.
    pub limit: Option<u64>,
    /// Memory without a file.
    pub anonymous: u64,
    /// Page cache charged to the group: pages that it touched first.
    pub file: u64,
    /// tmpfs and shared segments.
    pub shared_memory: u64,
    /// Mapped pages of files.
    pub mapped: u64,
    /// Refaulted pages since the group's creation.
    pub refaults: u64,
}

/// Seconds in which at least one thread waited; version 2 only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pressure {
    /// For a processor.
    pub cpu: f64,
    /// For memory.
    pub memory: f64,
    /// For I/O.
    pub io: f64,
}

impl Counters {
    /// Reads the counters of `group`; `None` if the group does not exist.
    pub fn of(hierarchies: &Hierarchies, group: &Path) -> Option<Counters> {
        let mut counters = Counters::default();
        let is_there = [Controller::Cpu, Controller::CpuAccounting, Controller::Memory, Controller::Io]
            .into_iter()
            .filter_map(|controller| hierarchies.folder(controller, group))
            .any(|(folder, _)| folder.is_dir());
        if !is_there {
            return None;
        }
        if let Some((folder, is_version_1)) = hierarchies.folder(Controller::Cpu, group) {
            counters.cpu(&folder, is_version_1);
        }
        if let Some((folder, true)) = hierarchies.folder(Controller::CpuAccounting, group) {
            counters.cpu_seconds = number(&folder, "cpuacct.usage").map(|ns| ns as f64 / 1e9);
        }
        if let Some((folder, is_version_1)) = hierarchies.folder(Controller::Memory, group) {
            counters.memory = if is_version_1 { memory_1(&folder) } else { memory_2(&folder) };
        }
        if let Some((folder, false)) = hierarchies.folder(Controller::Io, group) {
            counters.io(&folder);
            counters.pressure = pressure(&folder);
        }
        Some(counters)
    }

    fn cpu(&mut self, folder: &Path, is_version_1: bool) {
        let stat = text(folder, "cpu.stat");
        self.periods = field(&stat, "nr_periods").unwrap_or(0);
        self.throttled_periods = field(&stat, "nr_throttled").unwrap_or(0);
        if is_version_1 {
            self.throttled_seconds = field(&stat, "throttled_time").unwrap_or(0) as f64 / 1e9;
            let (quota, period) = (number(folder, "cpu.cfs_quota_us"), number(folder, "cpu.cfs_period_us"));
            self.quota = quota.zip(period).map(|(quota, period)| quota as f64 / period.max(1) as f64);
        } else {
            self.cpu_seconds = field(&stat, "usage_usec").map(|us| us as f64 / 1e6);
            self.throttled_seconds = field(&stat, "throttled_usec").unwrap_or(0) as f64 / 1e6;
            let max = text(folder, "cpu.max");
            let words: Vec<Option<f64>> = max.split_whitespace().map(|word| word.parse().ok()).collect();
            self.quota = match words[..] {
                [Some(quota), Some(period)] if period > 0.0 => Some(quota / period),
                _ => None,
            };
        }
    }

    /// Parses `8:0 rbytes=1 wbytes=2 rios=3 ..`, a line a device.
    fn io(&mut self, folder: &Path) {
        for line in text(folder, "io.stat").lines() {
            let of = |name: &str| {
                let mut words = line.split(' ');
                words.find_map(|word| word.strip_prefix(name)?.strip_prefix('=')?.parse::<u64>().ok()).unwrap_or(0)
            };
            self.read_bytes += of("rbytes");
            self.written_bytes += of("wbytes");
        }
    }
}

fn memory_1(folder: &Path) -> Option<Memory> {
    let stat = text(folder, "memory.stat");
    let of = |name: &str| field(&stat, name).unwrap_or(0);
    let limit = number(folder, "memory.limit_in_bytes")?;
    Some(Memory {
        used: number(folder, "memory.usage_in_bytes")?,
        // Without a limit, the file holds the largest possible number of pages.
        limit: (limit < 1 << 60).then_some(limit),
        anonymous: of("total_rss"),
        file: of("total_cache").saturating_sub(of("total_shmem")),
        shared_memory: of("total_shmem"),
        mapped: of("total_mapped_file"),
        refaults: of("total_workingset_refault_file") + of("total_workingset_refault_anon"),
    })
}

fn memory_2(folder: &Path) -> Option<Memory> {
    let stat = text(folder, "memory.stat");
    let of = |name: &str| field(&stat, name).unwrap_or(0);
    // The root has no `memory.current`; all memory in use is its.
    let used = number(folder, "memory.current").or_else(|| {
        let sum = of("anon") + of("file") + of("kernel");
        (sum > 0).then_some(sum)
    })?;
    Some(Memory {
        used,
        limit: number(folder, "memory.max"),
        anonymous: of("anon"),
        file: of("file").saturating_sub(of("shmem")),
        shared_memory: of("shmem"),
        mapped: of("file_mapped"),
        refaults: of("workingset_refault_file") + of("workingset_refault_anon"),
    })
}

fn pressure(folder: &Path) -> Option<Pressure> {
    let of = |name: &str| {
        let text = text(folder, name);
        let some = text.lines().find(|line| line.starts_with("some "))?;
        Some(some.rsplit_once("total=")?.1.parse::<f64>().ok()? / 1e6)
    };
    Some(Pressure { cpu: of("cpu.pressure")?, memory: of("memory.pressure")?, io: of("io.pressure")? })
}

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_default()
}

/// Number in a file; `None` for `max`, -1 and missing files.
fn number(folder: &Path, name: &str) -> Option<u64> {
    text(folder, name).trim().parse().ok()
}

fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_base::mounts::parse;

    /// Creates files below a root, and the hierarchies mounted there.
    fn tree(name: &str, mounts: &str, files: &[(&str, &str)]) -> (Hierarchies, std::path::PathBuf) {
        let root = std::env::temp_dir().join(format!("yunti-cgroup-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (Hierarchies::of(&parse(&mounts.replace("ROOT", root.to_str().unwrap()))), root)
    }

    #[test]
    fn reads_a_container_of_version_2() {
        let (all, root) = tree(
            "v2",
            "30 23 0:26 / ROOT rw - cgroup2 cgroup2 rw\n",
            &[
                (
                    "system.slice/docker-1.scope/cpu.stat",
                    "usage_usec 2500000\nuser_usec 1\nnr_periods 10\nnr_throttled 4\nthrottled_usec 300000\n",
                ),
                ("system.slice/docker-1.scope/cpu.max", "50000 100000\n"),
                ("system.slice/docker-1.scope/memory.current", "4096000\n"),
                ("system.slice/docker-1.scope/memory.max", "max\n"),
                (
                    "system.slice/docker-1.scope/memory.stat",
                    "anon 1000\nfile 3000\nshmem 500\nfile_mapped 200\nworkingset_refault_anon \
                     1\nworkingset_refault_file 6\n",
                ),
                (
                    "system.slice/docker-1.scope/io.stat",
                    "8:0 rbytes=100 wbytes=20 rios=3 wios=1 dbytes=0 dios=0\n8:16 rbytes=1 wbytes=2 rios=1 wios=1\n",
                ),
                (
                    "system.slice/docker-1.scope/cpu.pressure",
                    "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0 total=9\n",
                ),
                ("system.slice/docker-1.scope/memory.pressure", "some avg10=0.00 total=250000\n"),
                ("system.slice/docker-1.scope/io.pressure", "some avg10=0.00 total=0\n"),
            ],
        );
        let groups: Vec<_> = all.groups().into_iter().map(|group| group.display().to_string()).collect();
        assert_eq!(groups, ["/", "/system.slice", "/system.slice/docker-1.scope"]);
        let found = Counters::of(&all, Path::new("/system.slice/docker-1.scope")).unwrap();
        assert_eq!((found.cpu_seconds, found.quota), (Some(2.5), Some(0.5)));
        assert_eq!((found.periods, found.throttled_periods, found.throttled_seconds), (10, 4, 0.3));
        assert_eq!((found.read_bytes, found.written_bytes), (101, 22));
        let memory = found.memory.unwrap();
        assert_eq!((memory.used, memory.limit, memory.file, memory.refaults), (4_096_000, None, 2500, 7));
        assert_eq!(found.pressure, Some(Pressure { cpu: 1.5, memory: 0.25, io: 0.0 }));
        assert_eq!(Counters::of(&all, Path::new("/gone")), None);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn reads_a_container_of_version_1() {
        let (all, root) = tree(
            "v1",
            "1 1 0:1 / ROOT/cpu rw - cgroup cgroup rw,cpu,cpuacct\n2 1 0:2 / ROOT/memory rw - cgroup cgroup \
             rw,memory\n",
            &[
                ("cpu/docker/ab/cpuacct.usage", "1500000000\n"),
                ("cpu/docker/ab/cpu.stat", "nr_periods 5\nnr_throttled 2\nthrottled_time 70000000\n"),
                ("cpu/docker/ab/cpu.cfs_quota_us", "-1\n"),
                ("cpu/docker/ab/cpu.cfs_period_us", "100000\n"),
                ("memory/docker/ab/memory.usage_in_bytes", "9000\n"),
                ("memory/docker/ab/memory.limit_in_bytes", "9223372036854771712\n"),
                (
                    "memory/docker/ab/memory.stat",
                    "cache 1\ntotal_cache 5000\ntotal_rss 4000\ntotal_shmem 1000\ntotal_mapped_file \
                     7\ntotal_workingset_refault_file 3\n",
                ),
            ],
        );
        let found = Counters::of(&all, Path::new("/docker/ab")).unwrap();
        assert_eq!((found.cpu_seconds, found.quota, found.throttled_seconds), (Some(1.5), None, 0.07));
        let memory = found.memory.unwrap();
        assert_eq!((memory.limit, memory.file, memory.anonymous, memory.refaults), (None, 4000, 4000, 3));
        assert_eq!(found.pressure, None);
        fs::remove_dir_all(root).unwrap();
    }
}
