//! How much page cache a group's processes share with others: of pages of files that they have mapped, what is mapped more often than once. A page is
//! charged to one group, the first to touch it; who else uses it pays nothing, and is slow when it goes.

use std::fs;
use std::path::Path;

use super::hierarchy::{Controller, Hierarchies};

/// Reading it takes the kernel a walk over all of a process's pages.
pub const PROCESSES_MAX: usize = 200;

/// Rss of files less their Pss (each page divided by how often it is mapped), of all processes of a group.
///
/// @param left how many processes may still be asked
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
