//! Limits and counters of a process's control groups, versions 1 and 2. The least limit on the way to the root holds.

use std::path::{Path, PathBuf};

use yunti_settings::System;

/// Name of the own process below `proc`.
const OWN: &str = "self";

/// Folders of the groups that `controller` has `process` in, from its own group up to the root.
fn folders(system: &System, process: &str, controller: &str) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for line in system.text(format!("proc/{process}/cgroup")).unwrap_or_default().lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let tops: Vec<PathBuf> = match controllers {
            // Version 2 alone, or beside the controllers of version 1.
            "" => vec!["sys/fs/cgroup".into(), "sys/fs/cgroup/unified".into()],
            names if names.split(',').any(|name| name == controller) => {
                let together = Path::new("sys/fs/cgroup").join(names);
                if system.has(&together) { vec![together] } else { vec![Path::new("sys/fs/cgroup").join(controller)] }
            }
            _ => continue,
        };
        for top in tops {
            let mut folder = top.join(path.trim_start_matches('/'));
            loop {
                folders.push(folder.clone());
                if folder == top || !folder.pop() {
                    break;
                }
            }
        }
    }
    folders
}

/// Returns this process's quota in processors (seconds of processor time a second), or `None` without one.
pub fn processors(system: &System) -> Option<f64> {
    processors_of(system, OWN)
}

/// Returns the quota of process `process` in processors, or `None` without one.
pub fn processors_of(system: &System, process: &str) -> Option<f64> {
    let version_2 = |folder: &Path| {
        let text = system.text(folder.join("cpu.max"))?;
        let mut words = text.split_whitespace().map(str::parse::<f64>);
        Some((words.next()?.ok()?, words.next()?.ok()?))
    };
    let version_1 = |folder: &Path| {
        let quota = system.number(folder.join("cpu.cfs_quota_us"))?;
        Some((quota as f64, system.number(folder.join("cpu.cfs_period_us"))? as f64))
    };
    let limits = folders(system, process, "cpu")
        .into_iter()
        .filter_map(|folder| version_2(&folder).or_else(|| version_1(&folder)));
    limits
        .filter(|(quota, period)| *quota > 0.0 && *period > 0.0)
        .map(|(quota, period)| quota / period)
        .reduce(f64::min)
}

/// Returns this process's least memory limit in bytes, or `None` without one.
pub fn memory_bytes(system: &System) -> Option<u64> {
    memory_bytes_of(system, OWN)
}

/// Returns the least memory limit of process `process` in bytes, or `None` without one.
pub fn memory_bytes_of(system: &System, process: &str) -> Option<u64> {
    let limit = |folder: &PathBuf| {
        system.number(folder.join("memory.max")).or_else(|| system.number(folder.join("memory.limit_in_bytes")))
    };
    // Version 1 writes a number near 2^63 for "no limit".
    folders(system, process, "memory").iter().filter_map(limit).filter(|&bytes| bytes < 1 << 60).min()
}

/// Returns throttled periods and all periods of the nearest group of `process` that has a quota.
pub fn throttled_of(system: &System, process: &str) -> Option<(u64, u64)> {
    let mut counts = folders(system, process, "cpu").into_iter().filter_map(|folder| {
        let path = folder.join("cpu.stat");
        Some((listed(system, &path, "nr_throttled")?, listed(system, &path, "nr_periods")?))
    });
    counts.find(|(_, periods)| *periods > 0)
}

/// Returns how many processes of the group were killed because its memory was used up; `None` for zero.
pub fn killed_of(system: &System, process: &str) -> Option<u64> {
    let count = |folder: &PathBuf| {
        listed(system, &folder.join("memory.events"), "oom_kill")
            .or_else(|| listed(system, &folder.join("memory.oom_control"), "oom_kill"))
    };
    folders(system, process, "memory").iter().find_map(count).filter(|n| *n > 0)
}

/// Returns the number of the line `name number` in the file `path`.
fn listed(system: &System, path: &Path, name: &str) -> Option<u64> {
    system.text(path)?.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

/// Returns how many more processes and threads this process's groups allow, or `None` without a limit.
pub fn processes_left(system: &System) -> Option<u64> {
    let left = |folder: &PathBuf| {
        let most = system.number(folder.join("pids.max"))?;
        Some(most.saturating_sub(system.number(folder.join("pids.current")).unwrap_or(0)))
    };
    folders(system, OWN, "pids").iter().filter_map(left).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_settings::tree::Tree;

    #[test]
    fn limits_of_parents_hold_too() {
        let tree = Tree::of(&[
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/a/b/memory.max", "3000\n"),
            ("sys/fs/cgroup/a/memory.max", "max\n"),
            ("sys/fs/cgroup/memory.max", "5000\n"),
        ]);
        assert_eq!(processors(&tree.system()), Some(1.5));
        assert_eq!(memory_bytes(&tree.system()), Some(3000));
        assert_eq!(processes_left(&tree.system()), None);
    }

    #[test]
    fn both_versions_side_by_side() {
        let tree = Tree::of(&[
            ("proc/self/cgroup", "5:pids:/\n4:memory:/x\n1:cpu,cpuacct:/\n0::/\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "7000\n"),
            ("sys/fs/cgroup/pids/pids.max", "20\n"),
            ("sys/fs/cgroup/pids/pids.current", "30\n"),
        ]);
        assert_eq!(processors(&tree.system()), None);
        assert_eq!(memory_bytes(&tree.system()), Some(7000));
        assert_eq!(processes_left(&tree.system()), Some(0));
    }
}
