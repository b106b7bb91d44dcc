//! Memory: available bytes, overcommit and swap against the default budget of a job.

use super::cgroup;
use super::finding::{Finding, Level};
use yunti_program::text::numbers;
use yunti_settings::System;

const AREA: &str = "memory";
/// Bytes. With a smaller budget, jobs of more than a few hundred megabytes spill.
const SMALL_BYTES: u64 = 512 << 20;
/// Bytes. Less in the swap is memory of idle processes.
const SWAPPED_BYTES: u64 = 256 << 20;

/// Returns the findings about memory. `budget_bytes`: the default of `--memory`.
pub fn findings(system: &System, budget_bytes: u64) -> Vec<Finding> {
    vec![available(system, budget_bytes), overcommit(system, budget_bytes), swap(system)]
}

fn available(system: &System, budget_bytes: u64) -> Finding {
    let why = "a job that fits into --memory reads and writes each record once; the rest is spilled";
    let (Some(total), Some(available)) = (system.memory_bytes("MemTotal"), system.memory_bytes("MemAvailable")) else {
        return Finding::new(AREA, "available", "not reported by this system", why).level(Level::Note);
    };
    let mut seen = format!("{} of {}", numbers::memory(available), numbers::memory(total));
    let limit = cgroup::memory_bytes(system).filter(|limit| *limit < total);
    if let Some(limit) = limit {
        seen += &format!("; the control group is limited to {}", numbers::memory(limit));
    }
    seen += &format!("; --memory is {} by default", numbers::memory(budget_bytes));
    Finding::new(AREA, "available", seen, why).note_if(limit.is_some()).warning_if(budget_bytes < SMALL_BYTES).change(
        "free memory or raise the limit of the control group (docker --memory, MemoryMax=); else set --memory \
            and --scratch",
    )
}

fn overcommit(system: &System, budget_bytes: u64) -> Finding {
    let why = "a job reserves its whole budget at its start and touches only the pages it needs";
    let Some(mode) = system.number("proc/sys/vm/overcommit_memory") else {
        return Finding::new(AREA, "overcommit", "not reported by this system", why).level(Level::Note);
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
        .change(format!("set --memory below {}; or sudo sysctl vm.overcommit_memory=0", numbers::memory(left)))
        .undo("sudo sysctl vm.overcommit_memory=2")
}

fn swap(system: &System) -> Finding {
    let why = "memory that is swapped out is read back page by page, slower than any spill";
    let Some(total) = system.memory_bytes("SwapTotal") else {
        return Finding::new(AREA, "swap", "not reported by this system", why).level(Level::Note);
    };
    let used = total.saturating_sub(system.memory_bytes("SwapFree").unwrap_or(total));
    let seen = match total {
        0 => "none".to_string(),
        _ => format!("{} of {} used", numbers::memory(used), numbers::memory(total)),
    };
    Finding::new(AREA, "swap", seen, why)
        .warning_if(used >= SWAPPED_BYTES)
        .change("end programs that do not fit into memory, or set a smaller --memory")
}
