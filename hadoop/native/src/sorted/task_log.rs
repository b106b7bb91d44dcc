//! Lines for the log of a task attempt: one for each spill and each merge of runs. Java takes them and logs them.
//!
//! Spills and merges of a task never overlap, so one begin is enough.

use std::sync::Mutex;

use yunti_engine::memory::budget::size;
use yunti_engine::run::RunTotals;
use yunti_engine::run::passes::FinishedMerge;

/// Source of a new run.
#[derive(Clone, Copy, Debug)]
pub enum RunSource {
    /// Collected records, and the bytes of their keys and values.
    Spill { records: u64, bytes: u64 },
    /// Fetched segments.
    Merge { segments: usize },
}

#[derive(Default)]
struct State {
    lines: Vec<String>,
    spills: u64,
    merges: u64,
    /// Begin of the spill or merge under way.
    begin_ns: u64,
    /// Time of sorting since `begin_ns`.
    sort_ns: u64,
    /// End of the spill before.
    end_ns: u64,
}

/// Log lines of a task that Java has not taken yet.
#[derive(Default)]
pub struct TaskLog(Mutex<State>);

impl TaskLog {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Begins a spill or merge.
    pub fn begin(&self, now_ns: u64) {
        let mut state = self.state();
        (state.begin_ns, state.sort_ns) = (now_ns, 0);
    }

    /// Adds time of sorting.
    pub fn add_sort(&self, ns: u64) {
        self.state().sort_ns += ns;
    }

    /// Ends a spill or merge that wrote a run with records in `partitions` partitions.
    pub fn end(&self, source: RunSource, written: RunTotals, partitions: usize, now_ns: u64) {
        let mut state = self.state();
        let took_ns = now_ns.saturating_sub(state.begin_ns);
        let stored = size(written.stored_bytes);
        let line = match source {
            RunSource::Spill { records, bytes } => {
                let number = state.spills;
                state.spills += 1;
                let combined = if written.records == records {
                    String::new()
                } else {
                    format!(", combined to {} records", written.records)
                };
                format!(
                    "Finished spill {number}: {records} records of {}{combined}, {stored} stored in {partitions} \
                     partitions; collected in {}, sorted in {}, written in {}",
                    size(bytes),
                    seconds(state.begin_ns.saturating_sub(state.end_ns)),
                    seconds(state.sort_ns),
                    seconds(took_ns.saturating_sub(state.sort_ns)),
                )
            }
            RunSource::Merge { segments } => merged(&mut state, segments, "segments", written, took_ns),
        };
        state.end_ns = now_ns;
        state.lines.push(line);
    }

    /// Adds the line of a merge of runs.
    pub fn add_merge(&self, merge: &FinishedMerge) {
        let mut state = self.state();
        let took_ns = merge.end_ns.saturating_sub(merge.start_ns);
        let line = merged(&mut state, merge.runs, "runs", merge.written, took_ns);
        state.lines.push(line);
    }

    /// Removes and returns the lines.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.state().lines)
    }
}

fn merged(state: &mut State, n: usize, of: &str, written: RunTotals, took_ns: u64) -> String {
    let number = state.merges;
    state.merges += 1;
    format!(
        "Finished merge {number} of {n} {of}: {} records of {}, {} stored, in {}",
        written.records,
        size(written.record_bytes),
        size(written.stored_bytes),
        seconds(took_ns)
    )
}

fn seconds(ns: u64) -> String {
    format!("{:.3} s", ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_spills_and_merges() {
        let log = TaskLog::default();
        let written = RunTotals { records: 90, record_bytes: 2048, stored_bytes: 1024 };
        log.begin(1_500_000_000);
        log.add_sort(20_000_000);
        log.end(RunSource::Spill { records: 90, bytes: 2048 }, written, 3, 1_600_000_000);
        log.begin(2_000_000_000);
        log.end(RunSource::Spill { records: 100, bytes: 4096 }, written, 2, 2_100_000_000);
        let merge = FinishedMerge { runs: 2, start_ns: 0, end_ns: 5_000_000, written, segments: 3 };
        log.add_merge(&merge);
        log.begin(3_000_000_000);
        log.end(RunSource::Merge { segments: 7 }, written, 1, 3_250_000_000);
        assert_eq!(
            log.take(),
            [
                "Finished spill 0: 90 records of 2 KiB, 1 KiB stored in 3 partitions; collected in 1.500 s, sorted in \
                 0.020 s, written in 0.080 s",
                "Finished spill 1: 100 records of 4 KiB, combined to 90 records, 1 KiB stored in 2 partitions; \
                 collected in 0.400 s, sorted in 0.000 s, written in 0.100 s",
                "Finished merge 0 of 2 runs: 90 records of 2 KiB, 1 KiB stored, in 0.005 s",
                "Finished merge 1 of 7 segments: 90 records of 2 KiB, 1 KiB stored, in 0.250 s",
            ]
        );
        assert!(log.take().is_empty());
    }
}
