//! The machine under a job, and the share that a job may take: free memory, and memory and processor limits of control
//! groups.

pub mod elastic;

use std::path::Path;

use crate::env::System;
use crate::env::system::RealSystem;
use crate::job::report::Machine;
use crate::job::report::processors::ProcessorCounters;

/// Share of the free memory that a job without a budget takes.
pub const SHARE: f64 = 0.7;

/// Returns the memory budget of a job that names none: 70 % of the free memory of control group and machine, at least
/// 64 MiB.
pub fn default_budget_bytes(system: &dyn System) -> u64 {
    ((free_bytes(system) as f64 * SHARE) as u64).max(64 << 20)
}

/// Returns the same budget for a machine whose `proc` and `sys` are below `root`.
pub fn default_budget_bytes_below(root: &Path) -> u64 {
    default_budget_bytes(&RealSystem::below(root))
}

/// Returns the bytes of memory that others leave to this process: what is free in control group and machine, and what
/// it has already, without files.
pub fn left_bytes(system: &dyn System) -> u64 {
    let status = text(system, "/proc/self/status");
    let own = status.lines().find_map(|line| line.strip_prefix("RssAnon:")?.split_whitespace().next()?.parse().ok());
    free_bytes(system) + own.map_or(0, |kib: u64| kib << 10)
}

fn text(system: &dyn System, path: &str) -> String {
    system.read(Path::new(path)).unwrap_or_default()
}

fn free_bytes(system: &dyn System) -> u64 {
    let free = meminfo(system, "MemAvailable:").unwrap_or(1 << 30);
    cgroup_room(system).map_or(free, |room| room.min(free))
}

fn meminfo(system: &dyn System, field: &str) -> Option<u64> {
    let text = system.read(Path::new("/proc/meminfo"))?;
    let line = text.lines().find(|l| l.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// Returns the bytes that the control group (version 1 or 2) still allows; None without a limit.
fn cgroup_room(system: &dyn System) -> Option<u64> {
    let own = system.read(Path::new("/proc/self/cgroup"))?;
    let mut room = None;
    for line in own.lines() {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let (groups, limit, usage) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
            c if c.split(',').any(|c| c == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => continue,
        };
        // Limits of parent groups apply too.
        let groups = Path::new(groups);
        let mut dir = groups.join(path.trim_start_matches('/'));
        loop {
            let number = |name: &str| system.read(&dir.join(name))?.trim().parse::<u64>().ok();
            if let Some(limit) = number(limit)
                && limit < 1 << 60
            {
                let used = number(usage).unwrap_or(0);
                let left = limit.saturating_sub(used - page_cache(system, &dir).min(used));
                room = Some(room.map_or(left, |r: u64| r.min(left)));
            }
            if dir == groups || !dir.pop() {
                break;
            }
        }
    }
    room
}

/// Returns the bytes of file pages of a control group. The kernel frees them on demand.
fn page_cache(system: &dyn System, dir: &Path) -> u64 {
    let text = system.read(&dir.join("memory.stat")).unwrap_or_default();
    let field =
        |name: &str| text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok());
    let both = |total: &str, own: &str| field(total).or_else(|| field(own)).unwrap_or(0);
    both("total_inactive_file", "inactive_file") + both("total_active_file", "active_file")
}

/// Processor quota of a control group, and how often it throttled so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuQuota {
    /// Processors that the quota allows.
    pub processors: f64,
    /// Enforcement periods in which the group was runnable.
    pub periods: u64,
    /// Periods in which the quota was used up.
    pub throttled: u64,
}

/// Returns the quota of this thread's control group (version 1 or 2), or of its strictest parent; None without a limit.
pub fn cpu_quota(system: &dyn System) -> Option<CpuQuota> {
    let own = system.read(Path::new("/proc/thread-self/cgroup"))?;
    let mounted = Path::new("/sys/fs/cgroup");
    let mut strictest: Option<CpuQuota> = None;
    for line in own.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let roots = match controllers {
            "" => [mounted.to_path_buf(), mounted.join("unified")],
            c if c.split(',').any(|c| c == "cpu") => [mounted.join(c), mounted.join("cpu")],
            _ => continue,
        };
        let Some(root) = roots.into_iter().find(|root| system.is_dir(root)) else { continue };
        let mut dir = root.join(path.trim_start_matches('/'));
        loop {
            if let Some(quota) = quota_in(system, &dir)
                && strictest.is_none_or(|s| quota.processors < s.processors)
            {
                strictest = Some(quota);
            }
            if dir == root || !dir.pop() {
                break;
            }
        }
    }
    strictest
}

fn quota_in(system: &dyn System, dir: &Path) -> Option<CpuQuota> {
    let text = |name: &str| system.read(&dir.join(name));
    let number = |name: &str| text(name)?.trim().parse::<f64>().ok();
    let processors = match text("cpu.max") {
        Some(max) => {
            let (quota, period) = max.trim().split_once(' ')?;
            quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?
        }
        None => number("cpu.cfs_quota_us").filter(|quota| *quota > 0.0)? / number("cpu.cfs_period_us")?,
    };
    let stat = text("cpu.stat")?;
    let field = |name: &str| stat.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok());
    Some(CpuQuota { processors, periods: field("nr_periods")?, throttled: field("nr_throttled")? })
}

/// Reads the counters of this machine's processors.
pub fn processor_counters(system: &dyn System) -> ProcessorCounters {
    let text = |name: &str| text(system, name);
    ProcessorCounters::parse(&text("/proc/stat"), &text("/proc/pressure/cpu"), &text("/proc/self/status"))
}

/// Describes this machine for the report.
pub fn describe(system: &dyn System, processors: usize) -> Machine {
    let cpuinfo = text(system, "/proc/cpuinfo");
    let cpu = cpuinfo
        .lines()
        .find_map(|l| l.strip_prefix("model name")?.split_once(':').map(|(_, name)| name.trim().to_string()))
        .unwrap_or_else(|| std::env::consts::ARCH.to_string());
    Machine {
        cpu,
        processors: processors as u32,
        memory_bytes: meminfo(system, "MemTotal:").unwrap_or(0),
        simd: super::simd_name().to_string(),
    }
}

/// Returns the peak resident size of this process, in bytes.
pub fn peak_resident_bytes(system: &dyn System) -> u64 {
    let status = text(system, "/proc/self/status");
    let field =
        |name: &str| status.lines().find_map(|l| l.strip_prefix(name)?.split_whitespace().next()?.parse::<u64>().ok());
    field("VmHWM:").unwrap_or(0) << 10
}

/// Returns the bytes that this process has read from and written to disks so far.
pub fn disk_bytes(system: &dyn System) -> (u64, u64) {
    let io = text(system, "/proc/self/io");
    let field = |name: &str| io.lines().find_map(|l| l.strip_prefix(name)?.trim().parse::<u64>().ok()).unwrap_or(0);
    (field("read_bytes:"), field("write_bytes:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strictest_quota_of_either_cgroup_version() {
        let root = std::env::temp_dir().join(format!("yunti-quota-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let (version, name) = name.split_once('/').unwrap();
            let path = root.join(version).join("sys/fs/cgroup").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("two/a/cpu.max", "50000 100000\n");
        write("two/a/cpu.stat", "usage_usec 9\nnr_periods 40\nnr_throttled 30\nthrottled_usec 5\n");
        write("two/a/b/cpu.max", "max 100000\n");
        write("two/a/b/cpu.stat", "nr_periods 1\nnr_throttled 1\n");
        write("one/cpu,cpuacct/x/cpu.cfs_quota_us", "150000\n");
        write("one/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
        write("one/cpu,cpuacct/x/cpu.stat", "nr_periods 7\nnr_throttled 2\nthrottled_time 4\n");
        write("one/cpu,cpuacct/y/cpu.cfs_quota_us", "-1\n");
        write("one/cpu,cpuacct/y/cpu.cfs_period_us", "100000\n");
        let of = |own: &str, version: &str| {
            std::fs::create_dir_all(root.join(version).join("proc/thread-self")).unwrap();
            std::fs::write(root.join(version).join("proc/thread-self/cgroup"), own).unwrap();
            cpu_quota(&RealSystem::below(&root.join(version)))
        };
        assert_eq!(of("0::/a/b\n", "two"), Some(CpuQuota { processors: 0.5, periods: 40, throttled: 30 }));
        let one = "5:devices:/\n4:cpu,cpuacct:/x\n0::/\n";
        assert_eq!(of(one, "one"), Some(CpuQuota { processors: 1.5, periods: 7, throttled: 2 }));
        assert_eq!(of("4:cpu,cpuacct:/y\n", "one"), None);
        assert_eq!(of("0::/nowhere\n", "two"), None);
        assert_eq!(of("", "two"), None);
        std::fs::remove_dir_all(&root).unwrap();
    }
}
