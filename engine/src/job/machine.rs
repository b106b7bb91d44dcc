//! What this machine is, and how much memory a job may take of it: control groups and free memory.

use std::path::Path;

use super::report::Machine;

/// Memory that is left to others when no budget is given.
const SHARE: f64 = 0.7;

/// The budget of a job that names none: 70 % of what the control group and the machine have free.
pub fn default_budget_bytes() -> u64 {
    default_budget_bytes_below(Path::new("/"))
}

/// The same, of the machine whose `proc` and `sys` lie below `root`.
pub fn default_budget_bytes_below(root: &Path) -> u64 {
    let free = meminfo(root, "MemAvailable:").unwrap_or(1 << 30);
    let room = cgroup_room(root).map_or(free, |room| room.min(free));
    ((room as f64 * SHARE) as u64).max(64 << 20)
}

fn meminfo(root: &Path, field: &str) -> Option<u64> {
    let text = std::fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find(|l| l.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// Bytes that the control group (version 1 or 2) still allows, if it has a limit.
fn cgroup_room(root: &Path) -> Option<u64> {
    let own = std::fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mut room = None;
    for line in own.lines() {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let (groups, limit, usage) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max", "memory.current"),
            c if c.split(',').any(|c| c == "memory") => {
                ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => continue,
        };
        // Limits of parents hold too.
        let groups = root.join(groups);
        let mut dir = groups.join(path.trim_start_matches('/'));
        loop {
            let number = |name: &str| std::fs::read_to_string(dir.join(name)).ok()?.trim().parse::<u64>().ok();
            if let Some(limit) = number(limit)
                && limit < 1 << 60
            {
                let left =
                    limit.saturating_sub(number(usage).unwrap_or(0) - page_cache(&dir).min(number(usage).unwrap_or(0)));
                room = Some(room.map_or(left, |r: u64| r.min(left)));
            }
            if dir == groups || !dir.pop() {
                break;
            }
        }
    }
    room
}

/// File pages of a control group: they are given back when memory is asked for.
fn page_cache(dir: &Path) -> u64 {
    let text = std::fs::read_to_string(dir.join("memory.stat")).unwrap_or_default();
    let field =
        |name: &str| text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok());
    field("total_inactive_file").or_else(|| field("inactive_file")).unwrap_or(0)
}

pub fn describe(processors: usize) -> Machine {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpuinfo
        .lines()
        .find_map(|l| l.strip_prefix("model name")?.split_once(':').map(|(_, name)| name.trim().to_string()))
        .unwrap_or_else(|| std::env::consts::ARCH.to_string());
    Machine {
        cpu,
        processors: processors as u32,
        memory_bytes: meminfo(Path::new("/"), "MemTotal:").unwrap_or(0),
        simd: super::simd_name().to_string(),
    }
}

/// Largest resident size of this process so far, in bytes.
pub fn peak_resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field =
        |name: &str| status.lines().find_map(|l| l.strip_prefix(name)?.split_whitespace().next()?.parse::<u64>().ok());
    field("VmHWM:").unwrap_or(0) << 10
}

/// Bytes that this process has read from and written to disks so far.
pub fn disk_bytes() -> (u64, u64) {
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let field = |name: &str| io.lines().find_map(|l| l.strip_prefix(name)?.trim().parse::<u64>().ok()).unwrap_or(0);
    (field("read_bytes:"), field("write_bytes:"))
}
