//! Present load of the machine: load average, and time that processes wait (pressure stall information).

use super::super::finding::Finding;
use yunti_program::text::numbers::three;
use yunti_settings::System;

const AREA: &str = "now";

/// Returns the findings about load and pressure.
pub fn findings(system: &System, workers: usize) -> Vec<Finding> {
    let waiting = [
        ("waiting for processors", "cpu", "some", 10.0, 40.0),
        ("waiting for disks", "io", "some", 2.0, 20.0),
        ("waiting for memory", "memory", "full", 0.5, 2.0),
    ];
    let mut findings: Vec<Finding> = load(system, workers).into_iter().collect();
    findings.extend(waiting.into_iter().filter_map(|(name, resource, kind, note, warning)| {
        let share = share_of_10s(system, resource, kind)?;
        let why = "other programs take resources from a job; times measured now are not typical of this machine";
        let finding = Finding::new(AREA, name, format!("{} % of the last 10 s", three(share)), why);
        Some(
            finding
                .note_if(share >= note)
                .warning_if(share >= warning)
                .change("find the other program (top, iotop); wait, or stop it"),
        )
    }));
    findings
}

fn load(system: &System, workers: usize) -> Option<Finding> {
    let text = system.text("proc/loadavg")?;
    let load: f64 = text.split_whitespace().next()?.parse().ok().filter(|load: &f64| load.is_finite())?;
    let why = "workers share the processors with the other programs";
    let finding = Finding::new(AREA, "load", format!("{} on {workers} processors", three(load)), why);
    let busy = load / workers.max(1) as f64;
    Some(
        finding
            .note_if(busy >= 0.5)
            .warning_if(busy >= 1.0)
            .change("find the other program (top); wait, or set fewer --threads"),
    )
}

/// Percent of the last ten seconds in which some (`some`) or all (`full`) processes waited for the resource.
fn share_of_10s(system: &System, resource: &str, kind: &str) -> Option<f64> {
    let text = system.text(format!("proc/pressure/{resource}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(kind)?.strip_prefix(' '))?;
    line.split_whitespace().find_map(|word| word.strip_prefix("avg10=")?.parse().ok())
}
