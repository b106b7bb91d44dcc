//! Use of the machine by one control group or job within a measurement, and its holdings at the end.

use std::path::PathBuf;

use super::counters::{Memory, Pressure};
use yunti_probe::kernel::system::{RequestCounts, ThreadCounts};

/// Control group including the groups below, or a job within a group.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// Path within the hierarchies.
    pub path: PathBuf,
    /// Name in tables.
    pub name: String,
    /// True if it ended before the measurement.
    pub has_ended: bool,
    /// Seconds that it existed within the measurement.
    pub seconds: f64,
    /// Processor seconds used.
    pub cpu_seconds: f64,
    /// Processors that it may use; `None` without a quota.
    pub quota: Option<f64>,
    /// Quota periods.
    pub periods: u64,
    /// Periods in which the quota was used up.
    pub throttled_periods: u64,
    /// Seconds stopped by the quota.
    pub throttled_seconds: f64,
    /// Sums of its threads.
    pub threads: Threads,
    /// Requests to devices.
    pub requests: RequestCounts,
    /// Memory at the end.
    pub memory: Option<Memory>,
    /// Pages read back soon after eviction.
    pub refaults: u64,
    /// Bytes of mapped file pages that other processes have mapped too.
    pub shared_bytes: Option<u64>,
    /// Seconds that at least one thread waited.
    pub pressure: Option<Pressure>,
    /// True for a job; no group counts its memory separately.
    pub is_job: bool,
}

/// Sums over threads, ended ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    /// Nanoseconds on a processor.
    pub ran_ns: u64,
    /// Nanoseconds in the run queue.
    pub waited_ns: u64,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
}

impl Threads {
    /// Adds the difference between a thread's counts. `before`: its counts at the start; `None` for a thread that
    /// started later.
    pub fn add(&mut self, now: &ThreadCounts, before: Option<&ThreadCounts>) {
        let before = before.copied().unwrap_or_default();
        self.ran_ns += now.ran_ns.saturating_sub(before.ran_ns);
        self.waited_ns += now.waited_ns.saturating_sub(before.waited_ns);
        self.voluntary_switches += now.voluntary_switches.saturating_sub(before.voluntary_switches);
        self.involuntary_switches += now.involuntary_switches.saturating_sub(before.involuntary_switches);
    }

    /// Adds other sums.
    pub fn add_all(&mut self, more: &Threads) {
        self.ran_ns += more.ran_ns;
        self.waited_ns += more.waited_ns;
        self.voluntary_switches += more.voluntary_switches;
        self.involuntary_switches += more.involuntary_switches;
    }

    /// Returns the difference to earlier sums.
    pub fn since(&self, before: Option<&Threads>) -> Threads {
        let before = before.copied().unwrap_or_default();
        Threads {
            ran_ns: self.ran_ns.saturating_sub(before.ran_ns),
            waited_ns: self.waited_ns.saturating_sub(before.waited_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(before.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(before.involuntary_switches),
        }
    }

    /// Returns all context switches.
    pub fn switches(&self) -> u64 {
        self.voluntary_switches + self.involuntary_switches
    }
}

impl Instance {
    /// Returns true if it used the machine or holds memory.
    pub fn is_there(&self) -> bool {
        self.cpu_seconds > 0.0005
            || self.threads.switches() > 0
            || self.requests != RequestCounts::default()
            || self.memory.as_ref().is_some_and(|memory| memory.used > 0)
    }

    /// Returns bytes read and written.
    pub fn io_bytes(&self) -> u64 {
        self.requests.read_bytes + self.requests.written_bytes
    }

    /// Returns the share of periods in which the quota was used up.
    pub fn throttled_share(&self) -> f64 {
        self.throttled_periods as f64 / self.periods.max(1) as f64
    }
}
