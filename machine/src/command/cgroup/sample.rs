//! A sample of control groups: the counters of each at two moments, and their difference.

use std::path::Path;
use std::time::Instant;

use super::counters::{Counters, Pressure};
use super::instance::Instance;
use super::names;

/// Counters of a group at two moments.
pub struct Group {
    /// At the start, or zero for a newer group.
    pub first: Counters,
    /// At the last reading.
    pub last: Counters,
    /// Time of the first reading.
    pub first_seen: Instant,
    /// Time of the last reading.
    pub last_seen: Instant,
}

/// Result of a measurement.
pub struct CgroupSample {
    /// Groups and jobs.
    pub instances: Vec<Instance>,
    /// Ends of threads that were not counted.
    pub lost: u64,
}

/// Returns the use of a group between its two readings. `end`: time of the last reading of all groups.
pub fn instance(path: &Path, group: &Group, end: Instant) -> Instance {
    let (first, last) = (&group.first, &group.last);
    let since = |now: Option<f64>, before: Option<f64>| (now.unwrap_or(0.0) - before.unwrap_or(0.0)).max(0.0);
    let refaults = |counters: &Counters| counters.memory.as_ref().map_or(0, |memory| memory.refaults);
    let before = first.pressure.unwrap_or_default();
    Instance {
        path: path.to_owned(),
        name: names::of(path),
        has_ended: group.last_seen < end,
        seconds: (group.last_seen - group.first_seen).as_secs_f64(),
        cpu_seconds: since(last.cpu_seconds, first.cpu_seconds),
        quota: last.quota,
        periods: last.periods.saturating_sub(first.periods),
        throttled_periods: last.throttled_periods.saturating_sub(first.throttled_periods),
        throttled_seconds: (last.throttled_seconds - first.throttled_seconds).max(0.0),
        memory: last.memory.clone(),
        refaults: refaults(last).saturating_sub(refaults(first)),
        pressure: last.pressure.map(|now| Pressure {
            cpu: now.cpu - before.cpu,
            memory: now.memory - before.memory,
            io: now.io - before.io,
        }),
        ..Instance::default()
    }
}

/// Returns true if the group matches `only`: by its path, or by a part of its name.
pub fn is_wanted(path: &Path, name: &str, only: &[String]) -> bool {
    only.is_empty()
        || only.iter().any(|one| if one.starts_with('/') { path.starts_with(one) } else { name.contains(one) })
}
