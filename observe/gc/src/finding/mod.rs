//! Findings: what costs the program time, and what would help. Each rule is one function of a log and its summary.

mod concurrent;
mod heap;
mod machine;
mod phases;
mod young;

use crate::model::log::Log;
use crate::summary::Summary;

/// Cause of lost time with its cure.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Name of the rule.
    pub rule: &'static str,
    /// Share of the time that the cause costs.
    pub cost: f64,
    /// Clause about what happens, without its end: `a program calls System.gc() 12 times`.
    pub text: String,
    /// Clause about the setting to change.
    pub cure: String,
}

/// Share of the time from which on a cost is worth a finding.
pub(crate) const COST_MIN: f64 = 0.005;

type Rule = fn(&Log, &Summary) -> Option<Finding>;

const RULES: [Rule; 15] = [
    heap::live_set_near_the_maximum,
    heap::growing_live_set,
    young::too_small,
    heap::system_gc,
    heap::humongous,
    heap::no_room_for_copies,
    heap::metaspace,
    phases::references,
    phases::roots,
    phases::termination,
    machine::starved,
    machine::system_time,
    machine::slow_to_stop,
    concurrent::stalls,
    concurrent::late_cycle,
];

/// Rules that need no cost to be worth a line.
const MORE_RULES: [Rule; 2] = [machine::wrong_collector, machine::other_stops];

/// Returns the findings of a log, the most expensive first.
pub fn findings(log: &Log, summary: &Summary) -> Vec<Finding> {
    let mut found: Vec<Finding> = RULES.iter().chain(&MORE_RULES).filter_map(|rule| rule(log, summary)).collect();
    found.sort_by(|a, b| b.cost.total_cmp(&a.cost));
    found
}

/// Returns a count with its noun: `1 time`, `12 times`.
pub(crate) fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// Returns a size as JVM flags take it, rounded up to steps of about a twentieth: `600m`.
pub(crate) fn flag_size(bytes: f64) -> String {
    let megabytes = (bytes / f64::from(1 << 20)).max(1.0);
    let step = 10f64.powf(megabytes.log10().floor() - 1.0).max(1.0);
    format!("{:.0}m", (megabytes / step).ceil() * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_flags_are_round() {
        let mega = f64::from(1 << 20);
        for (megabytes, text) in [(0.5, "1m"), (7.2, "8m"), (64.0, "64m"), (573.0, "580m"), (2049.0, "2100m")] {
            assert_eq!(flag_size(megabytes * mega), text);
        }
    }
}
