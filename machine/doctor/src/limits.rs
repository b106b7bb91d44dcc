//! Resource limits of this process: open files, threads, address space, file size.

use super::cgroup;
use super::finding::{Finding, Level};
use yunti_program::text::numbers;
use yunti_settings::System;

const AREA: &str = "limits";
/// Files: an input, an output and a few runs for each worker, and the merge of many spills.
const FILES_WANTED: u64 = 4096;
/// Files. With fewer, a job may fail.
const FILES_LEAST: u64 = 512;

/// Soft and hard limit of one resource.
struct Limit {
    /// `None`: unlimited.
    soft: Option<u64>,
    hard: Option<u64>,
}

/// Returns the findings about the limits. `budget_bytes`: the default of `--memory`.
pub fn findings(system: &System, workers: usize, budget_bytes: u64) -> Vec<Finding> {
    let mut findings = vec![open_files(system), threads(system, workers)];
    let space = limit(system, "Max address space").or_else(|| limit(system, "Max data size"));
    findings.extend(space.map(|space| address_space(space, budget_bytes)));
    findings.extend(limit(system, "Max file size").map(file_size));
    findings
}

/// Parses a line of `proc/self/limits`: its name, then the soft and the hard limit.
fn limit(system: &System, name: &str) -> Option<Limit> {
    let text = system.text("proc/self/limits")?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let mut words = line.split_whitespace();
    let mut number = || match words.next()? {
        "unlimited" => Some(None),
        word => word.parse().ok().map(Some),
    };
    Some(Limit { soft: number()?, hard: number()? })
}

fn open_files(system: &System) -> Finding {
    let why = "each worker opens an input, an output and its runs; a merge opens all runs of a partition";
    let Some(Limit { soft, hard }) = limit(system, "Max open files") else {
        return Finding::new(AREA, "open files", "not reported by this system", why).level(Level::Note);
    };
    let word = |n: Option<u64>| n.map_or("unlimited".to_string(), numbers::count);
    let few = |least: u64| soft.is_some_and(|n| n < least);
    let more = hard.map_or(FILES_WANTED * 4, |n| n.min(FILES_WANTED * 4));
    Finding::new(AREA, "open files", format!("{}, at most {}", word(soft), word(hard)), why)
        .note_if(few(FILES_WANTED))
        .warning_if(few(FILES_LEAST))
        .change(format!("ulimit -n {more}"))
        .undo(format!("end the shell, or ulimit -Sn {}", soft.unwrap_or(0)))
}

fn threads(system: &System, workers: usize) -> Finding {
    let why = "a job starts a thread for each worker, and a few for writing and monitoring";
    let of_user = limit(system, "Max processes").and_then(|limit| limit.soft);
    let of_group = cgroup::processes_left(system);
    let seen = match (of_group, of_user) {
        (Some(left), _) => format!("{} more in the control group", numbers::count(left)),
        (None, Some(n)) => format!("{} processes and threads of this user", numbers::count(n)),
        (None, None) => "no limit".to_string(),
    };
    let wanted = workers as u64 + 8;
    Finding::new(AREA, "threads", seen, why).warning_if(of_group.into_iter().chain(of_user).any(|n| n < wanted)).change(
        "raise pids.max of the control group (docker --pids-limit, TasksMax=) or ulimit -u; else set fewer --threads",
    )
}

fn address_space(Limit { soft, .. }: Limit, budget_bytes: u64) -> Finding {
    let why = "a job reserves address space for its whole budget at its start; no memory needs to be locked";
    Finding::new(AREA, "address space", soft.map_or("no limit".into(), numbers::memory), why)
        .note_if(soft.is_some())
        .warning_if(soft.is_some_and(|n| n < 2 * budget_bytes))
        .change("ulimit -v unlimited; or set --memory below half of it")
}

fn file_size(Limit { soft, .. }: Limit) -> Finding {
    let why = "the job ends when an output part or a run grows beyond it";
    Finding::new(AREA, "file size", soft.map_or("no limit".into(), numbers::bytes), why)
        .warning_if(soft.is_some())
        .change("ulimit -f unlimited")
}
