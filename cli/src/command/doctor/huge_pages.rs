//! Transparent huge pages: whether the buffers of a job can have them.

use super::finding::{Finding, Level};
use super::system::System;

const AREA: &str = "memory";
const ENABLED: &str = "sys/kernel/mm/transparent_hugepage/enabled";
const DEFRAG: &str = "sys/kernel/mm/transparent_hugepage/defrag";

pub fn findings(system: &System) -> Vec<Finding> {
    let mut findings = vec![enabled(system)];
    findings.extend(compaction(system));
    findings
}

fn enabled(system: &System) -> Finding {
    let why =
        "buffers ask for pages of 2 MiB: fresh memory is then several times faster, and its addresses are found sooner";
    let Some(chosen) = system.chosen(ENABLED) else {
        return Finding::new(AREA, "huge pages", "not told by this system", why).level(Level::Note);
    };
    if system.field("proc/self/status", "THP_enabled").as_deref() == Some("0") {
        let finding =
            Finding::new(AREA, "huge pages", "switched off for this process (prctl)", why).level(Level::Warning);
        return finding.change("start yunti from another parent, which has not switched them off");
    }
    Finding::new(AREA, "huge pages", chosen.clone(), why)
        .warning_if(chosen == "never")
        .change(format!("echo madvise | sudo tee /{ENABLED}"))
        .undo(format!("echo {chosen} | sudo tee /{ENABLED}"))
}

fn compaction(system: &System) -> Option<Finding> {
    let chosen = system.chosen(DEFRAG)?;
    let why = "who asks for a huge page waits until there is one; else it gets small ones on a machine whose memory is in pieces";
    let finding = Finding::new(AREA, "compaction", chosen.clone(), why)
        .note_if(chosen == "never" || chosen == "defer")
        .change(format!("echo madvise | sudo tee /{DEFRAG}"))
        .undo(format!("echo {chosen} | sudo tee /{DEFRAG}"));
    Some(finding)
}
