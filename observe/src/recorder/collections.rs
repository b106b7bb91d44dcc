//! Garbage collections of a JVM over a slice, from its own counters, which cost it nothing.

use std::path::PathBuf;

use crate::jvm::{self, PerfData};
use yunti_probe::target::Process;
use yunti_record::Gc;

/// Numbers of collectors in the JVM's counters.
const COLLECTORS: std::ops::Range<usize> = 0..4;

/// Watch of the collections of a process.
pub struct Collections {
    file: PathBuf,
    first: PerfData,
    last: PerfData,
    longest_ns: u64,
}

impl Collections {
    /// Begins to watch; `None` for a process without counters.
    pub fn of(process: &Process) -> Option<Collections> {
        let file = jvm::perf_data_file(process)?;
        let first = jvm::perf_data(&file)?;
        Some(Collections { file, last: first.clone(), first, longest_ns: 0 })
    }

    /// Reads the counters. The longest pause is as exact as the intervals between two calls are short: pauses of one
    /// interval count as equally long.
    pub fn keep_up(&mut self) {
        let Some(now) = jvm::perf_data(&self.file) else { return };
        let (pauses, ns) = since(&self.last, &now, |_| true);
        self.longest_ns = self.longest_ns.max(ns.checked_div(pauses).unwrap_or(0));
        self.last = now;
    }

    /// Returns the collections since the beginning or the last call.
    pub fn take(&mut self) -> Gc {
        self.keep_up();
        let (pauses, pause_ns) = since(&self.first, &self.last, |_| true);
        let (full, _) = since(&self.first, &self.last, is_full);
        self.first = self.last.clone();
        Gc { pauses, pause_ns, pause_ns_max: std::mem::take(&mut self.longest_ns), full }
    }
}

/// Returns the collections between two readings, and their nanoseconds.
fn since(before: &PerfData, now: &PerfData, is_counted: impl Fn(&str) -> bool) -> (u64, u64) {
    let (mut pauses, mut seconds) = (0.0, 0.0);
    for collector in COLLECTORS {
        let name = now.text(&format!("sun.gc.collector.{collector}.name")).unwrap_or_default();
        if !is_counted(name) {
            continue;
        }
        let key = |what: &str| format!("sun.gc.collector.{collector}.{what}");
        let passed = |now: Option<f64>, before: Option<f64>| (now.unwrap_or(0.0) - before.unwrap_or(0.0)).max(0.0);
        pauses += passed(now.get(&key("invocations")), before.get(&key("invocations")));
        seconds += passed(now.seconds(&key("time")), before.seconds(&key("time")));
    }
    (pauses as u64, (seconds * 1e9) as u64)
}

/// Returns true for collectors that collect the whole heap in one pause.
fn is_full(name: &str) -> bool {
    ["full", "MSC", "PSParallelCompact", "PSMarkSweep", "MarkSweepCompact"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_pauses_and_full_ones() {
        let data = |young: i64, full: i64| {
            let counters = [
                ("sun.os.hrt.frequency", 1_000_000_000),
                ("sun.gc.collector.0.invocations", young),
                ("sun.gc.collector.0.time", young * 5_000_000),
                ("sun.gc.collector.1.invocations", full),
                ("sun.gc.collector.1.time", full * 90_000_000),
            ];
            let names =
                [("sun.gc.collector.0.name", "G1 young"), ("sun.gc.collector.1.name", "G1 stop-the-world full")];
            PerfData::of(&counters, &names)
        };
        let (before, now) = (data(10, 0), data(13, 1));
        assert_eq!(since(&before, &now, |_| true), (4, 105_000_000));
        assert_eq!(since(&before, &now, is_full), (1, 90_000_000));
        // A JVM that started anew counts from zero.
        assert_eq!(since(&now, &before, |_| true), (0, 0));
    }
}
