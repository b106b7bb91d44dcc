//! Processors: their instruction sets, their number, and the CPU quota of this process.

use yunti_base::kernel_list;
use yunti_engine::bytes::simd;

use super::cgroup;
use super::finding::{Finding, Level};
use yunti_program::text::numbers::three;
use yunti_settings::System;

const AREA: &str = "processor";

/// Returns the findings about processors. `workers`: threads of a job by default; `allowed`: the widest instruction
/// set that is not masked.
pub fn findings(system: &System, workers: usize, allowed: simd::Level) -> Vec<Finding> {
    vec![instructions(system, allowed), processors(system, workers)]
}

fn instructions(system: &System, allowed: simd::Level) -> Finding {
    let why = "sorting, hashing and splitting text use the widest vectors of the processor";
    if cfg!(not(target_arch = "x86_64")) {
        let finding = Finding::new(AREA, "instructions", format!("{}, plain code", std::env::consts::ARCH), why);
        return finding.level(Level::Note);
    }
    let Some(flags) = system.field("proc/cpuinfo", "flags") else {
        return Finding::new(AREA, "instructions", "not reported by this system", why).level(Level::Note);
    };
    let has = |names: &[&str]| names.iter().all(|name| flags.split_whitespace().any(|flag| flag == *name));
    let best = if has(&["avx512f", "avx512dq", "avx512bw", "avx512vl", "popcnt"]) {
        simd::Level::Avx512
    } else if has(&["avx2", "popcnt"]) {
        simd::Level::Avx2
    } else {
        simd::Level::Plain
    };
    let used = best.min(allowed);
    let mut seen = used.name().to_string();
    if used == simd::Level::Avx512 {
        let more = [("aes", "AES"), ("avx512_vbmi2", "VBMI2")].into_iter().filter(|(flag, _)| !has(&[flag]));
        let lacks: Vec<&str> = more.map(|(_, name)| name).collect();
        seen += &if lacks.is_empty() { String::new() } else { format!(", without {}", lacks.join(", ")) };
    }
    if best > allowed {
        let masked = format!("{seen}; {} is masked by {}", best.name(), simd::VARIABLE);
        let finding = Finding::new(AREA, "instructions", masked, why).level(Level::Note);
        return finding.change(format!("unset {}", simd::VARIABLE)).undo(format!(
            "export {}={}",
            simd::VARIABLE,
            allowed.name()
        ));
    }
    Finding::new(AREA, "instructions", seen, why)
        .note_if(used == simd::Level::Avx2)
        .warning_if(used == simd::Level::Plain)
        .change("in a virtual machine, expose the host's processor (QEMU: -cpu host)")
}

fn processors(system: &System, workers: usize) -> Finding {
    let online = system.text("sys/devices/system/cpu/online").and_then(|list| kernel_list::len(&list));
    let allowed = system.field("proc/self/status", "Cpus_allowed_list").and_then(|list| kernel_list::len(&list));
    let quota = cgroup::processors(system);
    let mut seen = match online {
        Some(n) => format!("{n} online, {workers} workers by default"),
        None => format!("{workers} workers by default"),
    };
    let fewer = allowed.zip(online).is_some_and(|(allowed, online)| allowed < online);
    if let Some(n) = allowed.filter(|_| fewer) {
        seen += &format!("; this process may use {n}");
    }
    if let Some(n) = quota {
        seen += &format!("; the control group has {} processors' worth of time", three(n));
    }
    let limited = quota.zip(allowed.or(online)).is_some_and(|(quota, n)| quota < n as f64);
    let finding = Finding::new(
        AREA,
        "processors",
        seen,
        "a job has a worker for each processor; a throttled worker delays the others",
    )
    .note_if(fewer || limited)
    .warning_if(quota.is_some_and(|n| n < 1.0));
    let change = if quota.is_some() {
        "give the container or the unit more (docker --cpus, CPUQuota=)"
    } else {
        "start it without taskset, or with more --cpuset-cpus"
    };
    finding.change(change)
}
