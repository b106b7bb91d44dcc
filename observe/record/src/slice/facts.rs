//! Facts of a slice: the process, the time, the requests, and what counted beside the profile.

use std::collections::BTreeMap;

use super::Measure;

/// Process that a slice describes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// Name of the service; the store keeps a folder for each.
    pub name: String,
    /// Release label, or the hash of the jar; empty if unknown.
    pub release: String,
    /// Name of the host.
    pub host: String,
    /// Container; empty outside of containers.
    pub container: String,
    /// Process id on that host.
    pub pid: u32,
    /// Hash of the command line, which tells processes of one service apart; empty if unknown.
    pub command_hash: String,
}

/// Counter of a slice.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// Value, which is finite.
    pub value: f64,
    /// Unit, for example `bytes` or `1/s`.
    pub unit: String,
}

/// Garbage collection during a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gc {
    /// Pauses.
    pub pauses: u64,
    /// Time of all pauses in nanoseconds.
    pub pause_ns: u64,
    /// Longest pause in nanoseconds.
    pub pause_ns_max: u64,
    /// Full collections.
    pub full: u64,
}

/// Facts of a slice. Everything but the stacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Process.
    pub service: Service,
    /// Unix time of the beginning in milliseconds.
    pub begin_ms: u64,
    /// Length in milliseconds.
    pub duration_ms: u64,
    /// Requests that were served; `None` if nothing counts them.
    pub requests: Option<u64>,
    /// Value of one sample by measure, for example 10,101,010 ns of `cpu` at 99 Hz. Statistics need it for the noise of
    /// sampling; a measure without a period counts as one whose samples are exact.
    pub periods: BTreeMap<Measure, u64>,
    /// Garbage collection; `None` for processes without.
    pub gc: Option<Gc>,
    /// Counters of the machine and of the process by name, for example `cpu.steal` or `memory.rss`.
    pub counters: BTreeMap<String, Counter>,
    /// Losses by kind, for example `samples` that the kernel dropped.
    pub losses: BTreeMap<String, u64>,
}

impl Facts {
    /// Returns the Unix time of the end in milliseconds.
    pub fn end_ms(&self) -> u64 {
        self.begin_ms.saturating_add(self.duration_ms)
    }
}
