//! Memory: what a job may take, and what happens when it takes it.

use super::cgroup;
use super::finding::{Finding, Level};
use yunti_program::text::numbers;
use yunti_settings::System;

const AREA: &str = "memory";
/// Below, jobs of more than a few hundred megabytes spill.
const SMALL_BYTES: u64 = 512 << 20;
/// Less in the swap is what lay idle.
const SWAPPED_BYTES: u64 = 256 << 20;

/// `budget_bytes`: what `--memory` would be by default.
pub fn findings(system: &System, budget_bytes: u64) -> Vec<Finding> {
    vec![available(system, budget_bytes), overcommit(system, budget_bytes), swap(system)]
}

fn available(system: &System, budget_bytes: u64) -> Finding {
    let why = "a job that fits --memory reads and writes everything once; what does not fit is spilled";
    let (Some(total), Some(available)) = (system.memory_bytes("MemTotal"), system.memory_bytes("MemAvailable")) else {
        return Finding::new(AREA, "available", "not told by this system", why).level(Level::Note);
    };
    let mut seen = format!("{} of {}", numbers::memory(available), numbers::memory(total));
    let limit = cgroup::memory_bytes(system).filter(|limit| *limit < total);
    if let Some(limit) = limit {
        seen += &format!("; the control group is limited to {}", numbers::memory(limit));
    }
    seen += &format!("; --memory is {} by default", numbers::memory(budget_bytes));
    Finding::new(AREA, "available", seen, why)
        .note_if(limit.is_some())
        .warning_if(budget_bytes < SMALL_BYTES)
        .change("free memory or raise the limit of the control group (docker --memory, MemoryMax=); else say --memory and --scratch")
}

fn overcommit(system: &System, budget_bytes: u64) -> Finding {
    let why = "a job reserves its whole budget at its start and touches only what it needs";
    let Some(mode) = system.number("proc/sys/vm/overcommit_memory") else {
        return Finding::new(AREA, "overcommit", "not told by this system", why).level(Level::Note);
    };
    let left = system
        .memory_bytes("CommitLimit")
        .unwrap_or(0)
        .saturating_sub(system.memory_bytes("Committed_AS").unwrap_or(0));
    let seen = match mode {
        0 => "by estimate (0)".to_string(),
        1 => "always granted (1)".to_string(),
        _ => format!("strict (2): {} may still be reserved", numbers::memory(left)),
    };
    Finding::new(AREA, "overcommit", seen, why)
        .note_if(mode == 2)
        .warning_if(mode == 2 && left < budget_bytes)
        .change(format!("say --memory below {}; or sudo sysctl vm.overcommit_memory=0", numbers::memory(left)))
        .undo("sudo sysctl vm.overcommit_memory=2")
}

fn swap(system: &System) -> Finding {
    let why = "a budget that is swapped out is read back page by page, slower than any spill";
    let Some(total) = system.memory_bytes("SwapTotal") else {
        return Finding::new(AREA, "swap", "not told by this system", why).level(Level::Note);
    };
    let used = total.saturating_sub(system.memory_bytes("SwapFree").unwrap_or(total));
    let seen = match total {
        0 => "none".to_string(),
        _ => format!("{} of {} used", numbers::memory(used), numbers::memory(total)),
    };
    Finding::new(AREA, "swap", seen, why)
        .warning_if(used >= SWAPPED_BYTES)
        .change("end what does not fit into memory, or say a smaller --memory")
}
