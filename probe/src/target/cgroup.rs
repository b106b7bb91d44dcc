//! Processor quota and memory limit of a process's control groups, versions 1 and 2.

use std::fs;
use std::path::{Path, PathBuf};

use yunti_base::mounts::{self, Mount};

use super::Process;

/// Throttling by processor quotas.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Throttling {
    /// Quota periods.
    pub periods: u64,
    /// Periods in which a quota was used up.
    pub throttled_periods: u64,
    /// Seconds stopped by a quota, over all processors.
    pub throttled_seconds: f64,
    /// Smallest quota of the groups in processors; `None` without a quota.
    pub processors: Option<f64>,
}

/// Returns the throttling of the process's group and the groups above it, added up.
pub fn throttling(process: &Process) -> Throttling {
    let mut sum = Throttling::default();
    for folder in folders(process, "cpu") {
        let stat = fs::read_to_string(folder.join("cpu.stat")).unwrap_or_default();
        let number =
            |key: &str| stat.lines().find_map(|line| line.strip_prefix(key)?.trim().parse::<f64>().ok()).unwrap_or(0.0);
        sum.periods += number("nr_periods ") as u64;
        sum.throttled_periods += number("nr_throttled ") as u64;
        sum.throttled_seconds += number("throttled_time ") / 1e9 + number("throttled_usec ") / 1e6;
        if let Some(allowed) = quota(&folder) {
            sum.processors = Some(sum.processors.map_or(allowed, |narrower| narrower.min(allowed)));
        }
    }
    sum
}

fn quota(folder: &Path) -> Option<f64> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let of = |quota: &str, period: &str| -> Option<f64> {
        let (quota, period) = (quota.trim().parse::<f64>().ok()?, period.trim().parse::<f64>().ok()?);
        (quota > 0.0 && period > 0.0).then_some(quota / period)
    };
    match read("cpu.max") {
        Some(both) => both.split_once(' ').and_then(|(quota, period)| of(quota, period)),
        None => of(&read("cpu.cfs_quota_us")?, &read("cpu.cfs_period_us")?),
    }
}

/// Returns the smallest memory limit of the process's groups in bytes, and its group.
pub fn memory_limit(process: &Process) -> Option<(PathBuf, u64)> {
    /// Version 1 stores a number near the largest one for no limit.
    const NONE: u64 = 1 << 60;
    let of = |folder: PathBuf| {
        let text = ["memory.max", "memory.limit_in_bytes"]
            .iter()
            .find_map(|name| fs::read_to_string(folder.join(name)).ok())?;
        let limit = text.trim().parse::<u64>().ok().filter(|limit| *limit < NONE)?;
        Some((folder, limit))
    };
    folders(process, "memory").into_iter().filter_map(of).min_by_key(|(_, limit)| *limit)
}

/// Limit of a control group on the reads or writes of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoLimit {
    pub group: PathBuf,
    /// Device as major and minor number: `254:0`.
    pub device: String,
    /// Limit as the kernel names it: `rbps=6291456`.
    pub limit: String,
}

/// Returns the limits of the process's groups on reads and writes of devices.
pub fn io_limits(process: &Process) -> Vec<IoLimit> {
    const FILES: [(&str, &str); 4] = [
        ("blkio.throttle.read_bps_device", "rbps"),
        ("blkio.throttle.write_bps_device", "wbps"),
        ("blkio.throttle.read_iops_device", "riops"),
        ("blkio.throttle.write_iops_device", "wiops"),
    ];
    let mut found = Vec::new();
    let lines = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    for folder in folders(process, "blkio") {
        for (name, limit) in FILES {
            for (device, n) in lines(&folder, name).lines().filter_map(|line| line.split_once(' ')) {
                found.push(IoLimit { group: folder.clone(), device: device.to_owned(), limit: format!("{limit}={n}") });
            }
        }
        // `254:0 rbps=6291456 wbps=max riops=max wiops=max`
        for (device, limits) in lines(&folder, "io.max").lines().filter_map(|line| line.split_once(' ')) {
            for limit in limits.split_whitespace().filter(|limit| !limit.ends_with("=max")) {
                found.push(IoLimit { group: folder.clone(), device: device.to_owned(), limit: limit.to_owned() });
            }
        }
    }
    found
}

/// Returns the folders of the process's groups, innermost first. `controller`: empty for version 2 alone.
pub fn folders(process: &Process, controller: &str) -> Vec<PathBuf> {
    let groups = fs::read_to_string(format!("/proc/{}/cgroup", process.pid)).unwrap_or_default();
    let mounts = mounts::all();
    let mut all = Vec::new();
    for line in groups.lines() {
        // `4:cpu,cpuacct:/a/b`, `0::/a/b`
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let is_version_1 = controllers.split(',').any(|c| !c.is_empty() && c == controller);
        if !is_version_1 && !controllers.is_empty() {
            continue;
        }
        let Some(mount) = mount_point(&mounts, is_version_1.then_some(controller)) else {
            continue;
        };
        let inside = Path::new(path.trim_start_matches('/'));
        all.extend(inside.ancestors().map(|part| mount.join(part)));
    }
    all
}

/// Returns the mount point of a hierarchy. `controller`: of version 1; `None`: version 2.
fn mount_point(mounts: &[Mount], controller: Option<&str>) -> Option<PathBuf> {
    let fits = |mount: &&Mount| match controller {
        Some(controller) => mount.fs_type == "cgroup" && mount.fs_options.iter().any(|o| o == controller),
        None => mount.fs_type == "cgroup2",
    };
    mounts.iter().find(fits).map(|mount| mount.at.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_mount_points() {
        let v1 = "33 25 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct";
        let v2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
        let at = |text: &str, controller| mount_point(&mounts::parse(text), controller);
        assert_eq!(at(v1, Some("cpu")), Some(PathBuf::from("/sys/fs/cgroup/cpu,cpuacct")));
        assert_eq!(at(v2, None), Some(PathBuf::from("/sys/fs/cgroup")));
        assert!(at(v1, None).is_none() && at(v2, Some("cpu")).is_none() && at("", Some("cpu")).is_none());
    }

    #[test]
    fn reads_this_process() {
        let me = Process::of(std::process::id()).unwrap();
        let _ = throttling(&me);
    }
}
