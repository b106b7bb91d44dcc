//! Rules about the phases of pauses.

use yunti_program::text::numbers::milliseconds;

use super::young::percent;
use super::{COST_MIN, Finding};
use crate::model::log::{Log, Sum};
use crate::summary::Summary;

/// Part of all pauses from which on a phase is long.
const LONG: f64 = 0.3;

/// Returns the sum of the first of some phases that the log names.
fn phase(log: &Log, names: &[&str]) -> Sum {
    names.iter().find_map(|name| log.phases.get(name)).copied().unwrap_or_default()
}

/// Returns the cost of a phase, if it is a large part of the pauses.
fn cost(sum: &Sum, summary: &Summary) -> Option<f64> {
    let cost = summary.share(sum.total_ms);
    (sum.total_ms >= summary.pauses.total_ms * LONG && cost >= COST_MIN).then_some(cost)
}

/// Soft, weak, final and phantom references take long.
pub fn references(log: &Log, summary: &Summary) -> Option<Finding> {
    let sum = phase(log, &["Reference Processing", "Ref Proc", "Weak Processing"]);
    let cost = cost(&sum, summary)?;
    Some(Finding {
        rule: "references",
        cost,
        text: format!("references take {} of all pauses", percent(sum.total_ms / summary.pauses.total_ms)),
        cure: "-XX:+ParallelRefProcEnabled; fewer finalizers, and fewer soft and weak references".to_owned(),
    })
}

/// Roots outside the heap take long: stacks, classes, compiled code.
pub fn roots(log: &Log, summary: &Summary) -> Option<Finding> {
    let sum = phase(log, &["Ext Root Scanning"]);
    let cost = cost(&sum, summary)?;
    Some(Finding {
        rule: "roots",
        cost,
        text: format!("scanning roots takes {} of all pauses", percent(sum.total_ms / summary.pauses.total_ms)),
        cure: "fewer threads with deep stacks, fewer class loaders; -Xlog:gc+phases=trace names the kind of roots"
            .to_owned(),
    })
}

/// Threads of the collector wait for one another.
pub fn termination(log: &Log, summary: &Summary) -> Option<Finding> {
    let sum = phase(log, &["Termination"]);
    let cost = cost(&sum, summary)?;
    Some(Finding {
        rule: "termination",
        cost,
        text: format!("threads of the collector wait {} for one another", milliseconds(sum.total_ms)),
        cure: "fewer of them, by -XX:ParallelGCThreads, as other programs or a control group take their processors"
            .to_owned(),
    })
}
