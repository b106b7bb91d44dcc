//! Pauses of a whole JVM: each safepoint with its reason, from the JVM's own log. The log goes to a temporary file
//! during the measurement.

use std::io::Read;

use yunti_base::{Code, Error, Result};

use super::LogFile;
use crate::jvm::release::Agent;
use yunti_probe::target::Process;

/// A pause, including the time to reach the safepoint. Times are of CLOCK_MONOTONIC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    pub begin_ns: u64,
    pub end_ns: u64,
    /// JVM operation: `G1CollectForAllocation`, `RedefineClasses`.
    pub reason: String,
}

impl Pause {
    pub fn is_gc(&self) -> bool {
        const OF_COLLECTORS: [&str; 5] = ["Collect", "GC", "Mark", "Relocate", "Pause"];
        // GC_HeapInspection counts objects for a user's request.
        OF_COLLECTORS.iter().any(|word| self.reason.contains(word)) && self.reason != "GC_HeapInspection"
    }
}

/// A log that the JVM is writing.
pub struct PauseLog(LogFile);

impl PauseLog {
    pub fn start(process: &Process) -> Result<PauseLog> {
        // With System.nanoTime as decoration.
        LogFile::start(process, Agent::Pauses, "safepoint=info", "tn").map(PauseLog)
    }

    pub fn stop(self) -> Result<Vec<Pause>> {
        let mut text = Vec::new();
        let read = self.0.stop()?.read_to_end(&mut text);
        read.map_err(|e| Error::io(Code::Input, "cannot read the JVM's log file", &e))?;
        Ok(String::from_utf8_lossy(&text).lines().filter_map(pause).collect())
    }
}

/// Returns the pauses within a range, with the nanoseconds of overlap. Pauses do not overlap each other.
pub fn overlaps(pauses: &[Pause], from: u64, to: u64) -> impl Iterator<Item = (&Pause, u64)> {
    let first = pauses.partition_point(|pause| pause.end_ns <= from);
    pauses[first..]
        .iter()
        .take_while(move |pause| pause.begin_ns < to)
        .map(move |pause| (pause, pause.end_ns.min(to).saturating_sub(pause.begin_ns.max(from))))
        .filter(|(_, ns)| *ns > 0)
}

/// Parses a line, which the JVM writes at the end of the pause:
/// `[4394ns] Safepoint "G1CollectFull", Time since last: 21957770 ns,
/// Reaching safepoint: 4957 ns, .., Total: 4352972 ns`
fn pause(line: &str) -> Option<Pause> {
    let (end, rest) = line.strip_prefix('[')?.split_once("ns]")?;
    let (reason, times) = rest.trim().strip_prefix("Safepoint \"")?.split_once('"')?;
    let total: u64 = times.split_once("Total:")?.1.split_once("ns")?.0.trim().parse().ok()?;
    let end_ns: u64 = end.trim().parse().ok()?;
    Some(Pause { begin_ns: end_ns.checked_sub(total)?, end_ns, reason: reason.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_log() {
        let line = "[4394609192468ns] Safepoint \"G1CollectFull\", Time since last: 21957770 ns, Reaching safepoint: \
             4957 ns, Cleanup: 6630 ns, At safepoint: 4341385 ns, Total: 4352972 ns";
        let found = pause(line).unwrap();
        assert_eq!(
            (found.begin_ns, found.end_ns, &*found.reason),
            (4_394_604_839_496, 4_394_609_192_468, "G1CollectFull")
        );
        for wrong in [
            "",
            "[1ns] Safepoint",
            "[xns] Safepoint \"A\", Total: 1 ns",
            "[1ns] Safepoint \"A\", Total: 2 ns",
            "[1ns] x",
        ] {
            assert!(pause(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn reasons() {
        let is_gc = |reason: &str| Pause { begin_ns: 0, end_ns: 0, reason: reason.to_owned() }.is_gc();
        for gc in [
            "G1CollectForAllocation",
            "G1PauseRemark",
            "ParallelGCFailedAllocation",
            "ZMarkStart",
            "XRelocateStart",
            "ShenandoahInitMark",
            "SerialCollectForAllocation",
            "GenCollectFull",
        ] {
            assert!(is_gc(gc), "{gc}");
        }
        for other in
            ["RedefineClasses", "ICBufferFull", "Cleanup", "HandshakeFallback", "FindDeadlocks", "GC_HeapInspection"]
        {
            assert!(!is_gc(other), "{other}");
        }
    }
}
