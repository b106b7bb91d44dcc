//! What one of those that share the machine has used in a time, and what it holds at its end.

use std::path::PathBuf;

use super::counters::{Memory, Pressure};
use yunti_probe::kernel::system::{RequestCounts, ThreadCounts};

/// A control group with those below it, or a job within one.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    pub path: PathBuf,
    pub name: String,
    /// It was gone before the end.
    pub has_ended: bool,
    /// For which it was there while it was looked at.
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub quota: Option<f64>,
    pub periods: u64,
    pub throttled_periods: u64,
    pub throttled_seconds: f64,
    pub threads: Threads,
    pub requests: RequestCounts,
    pub memory: Option<Memory>,
    /// Pages that came back soon after they were dropped.
    pub refaults: u64,
    /// Mapped pages of files that others have mapped as well, in bytes.
    pub shared_bytes: Option<u64>,
    pub pressure: Option<Pressure>,
    /// Of memory of a job, which no group counts by itself.
    pub is_job: bool,
}

/// Sums of threads, those that have ended among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threads {
    pub ran_ns: u64,
    pub waited_ns: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

impl Threads {
    /// @param before the same thread at the beginning; nothing where it was started since
    pub fn add(&mut self, now: &ThreadCounts, before: Option<&ThreadCounts>) {
        let before = before.copied().unwrap_or_default();
        self.ran_ns += now.ran_ns.saturating_sub(before.ran_ns);
        self.waited_ns += now.waited_ns.saturating_sub(before.waited_ns);
        self.voluntary_switches += now.voluntary_switches.saturating_sub(before.voluntary_switches);
        self.involuntary_switches += now.involuntary_switches.saturating_sub(before.involuntary_switches);
    }

    pub fn add_all(&mut self, more: &Threads) {
        self.ran_ns += more.ran_ns;
        self.waited_ns += more.waited_ns;
        self.voluntary_switches += more.voluntary_switches;
        self.involuntary_switches += more.involuntary_switches;
    }

    /// What has come since then.
    pub fn since(&self, before: Option<&Threads>) -> Threads {
        let before = before.copied().unwrap_or_default();
        Threads {
            ran_ns: self.ran_ns.saturating_sub(before.ran_ns),
            waited_ns: self.waited_ns.saturating_sub(before.waited_ns),
            voluntary_switches: self.voluntary_switches.saturating_sub(before.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(before.involuntary_switches),
        }
    }

    pub fn switches(&self) -> u64 {
        self.voluntary_switches + self.involuntary_switches
    }
}

impl Instance {
    /// It did something, or holds something.
    pub fn is_there(&self) -> bool {
        self.cpu_seconds > 0.0005
            || self.threads.switches() > 0
            || self.requests != RequestCounts::default()
            || self.memory.as_ref().is_some_and(|memory| memory.used > 0)
    }

    pub fn io_bytes(&self) -> u64 {
        self.requests.read_bytes + self.requests.written_bytes
    }

    pub fn throttled_share(&self) -> f64 {
        self.throttled_periods as f64 / self.periods.max(1) as f64
    }
}
