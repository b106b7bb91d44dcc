//! Page cache that a group's processes share with others, from mapped file pages that several processes map. A page is
//! charged to the group that touches it first; other groups use it without charge, and wait when it is evicted.

use std::fs;
use std::path::Path;

use super::hierarchy::{Controller, Hierarchies};

/// Processes. The kernel walks all pages of a process to report its share.
pub const PROCESSES_MAX: usize = 200;

/// Returns Rss of files less Pss (each page divided by its mappings), in bytes, over all processes of a group. `left`:
/// processes that may still be read.
pub fn shared_bytes(hierarchies: &Hierarchies, group: &Path, left: &mut usize) -> Option<u64> {
    let controllers = [Controller::Memory, Controller::Cpu];
    let folder = controllers.into_iter().find_map(|c| hierarchies.folder(c, group).filter(|(f, _)| f.is_dir()))?.0;
    let processes = fs::read_to_string(folder.join("cgroup.procs")).ok()?;
    let pids: Vec<&str> = processes.lines().collect();
    if pids.is_empty() || pids.len() > *left {
        return None;
    }
    *left -= pids.len();
    Some(pids.into_iter().filter_map(shared_by).sum())
}

fn shared_by(pid: &str) -> Option<u64> {
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
        text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse::<u64>().ok())
    };
    let (resident, proportional) = (field("status", "RssFile:")?, field("smaps_rollup", "Pss_File:")?);
    Some(resident.saturating_sub(proportional) * 1024)
}
