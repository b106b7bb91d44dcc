//! Meters of a job: time, bytes and records by stage, and a timeline for each worker. The clock is read once a batch or
//! task.

use super::{Span, Stage, Worker};
use crate::env::sync::Mutex;

/// Stages of a job that have a meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageKind {
    /// Building the table of a hash join.
    Prepare,
    Read,
    Map,
    Collect,
    Fold,
    Spill,
    Sort,
    Merge,
    Reduce,
    Write,
}

const STAGES: [(StageKind, &str, &str); 10] = [
    (StageKind::Prepare, "prepare", "cpu"),
    (StageKind::Read, "read", "disk_read"),
    (StageKind::Map, "map", "cpu"),
    (StageKind::Collect, "collect", "cpu"),
    (StageKind::Fold, "fold", "cpu"),
    (StageKind::Spill, "spill", "disk_write"),
    (StageKind::Sort, "sort", "cpu"),
    (StageKind::Merge, "merge", "disk_read"),
    (StageKind::Reduce, "reduce", "cpu"),
    (StageKind::Write, "write", "disk_write"),
];

/// Returns the resource that a stage uses; None for an unknown stage.
pub fn resource_of(stage: &str) -> Option<&'static str> {
    STAGES.iter().find(|(_, name, _)| *name == stage).map(|(.., resource)| *resource)
}

#[derive(Clone, Copy, Default)]
struct Sum {
    ns: u64,
    bytes: u64,
    records: u64,
}

#[derive(Default)]
struct WorkerMeter {
    stages: [Sum; STAGES.len()],
    spans: Vec<Span>,
}

/// Meters of a job. Each worker has its own, so that they do not contend for a lock.
pub struct Meter {
    start_ns: u64,
    workers: Vec<Mutex<WorkerMeter>>,
}

/// Spans kept a worker, so that a report stays small. Beyond it only the sums of stages are kept.
const SPANS_MAX: usize = 2000;

impl Meter {
    /// Returns the meter of a job of `workers` workers that began at `start_ns` of its clock.
    pub fn new(workers: usize, start_ns: u64) -> Meter {
        Meter { start_ns, workers: (0..workers).map(|_| Mutex::default()).collect() }
    }

    /// Adds time and work of a worker to a stage.
    pub fn add(&self, worker: usize, stage: StageKind, ns: u64, bytes: u64, records: u64) {
        let mut w = self.workers[worker].lock().unwrap_or_else(|e| e.into_inner());
        let sum = &mut w.stages[stage as usize];
        sum.ns += ns;
        sum.bytes += bytes;
        sum.records += records;
    }

    /// Deducts time from a stage that was measured within it and belongs to another stage.
    pub fn deduct(&self, worker: usize, stage: StageKind, ns: u64) {
        let mut w = self.workers[worker].lock().unwrap_or_else(|e| e.into_inner());
        let sum = &mut w.stages[stage as usize].ns;
        *sum = sum.saturating_sub(ns);
    }

    /// Adds a span to the timeline of a worker. `kind`: see `Span`. Times are on the job's clock.
    pub fn span(&self, worker: usize, kind: &str, task: u64, from_ns: u64, to_ns: u64, bytes: u64, records: u64) {
        let mut w = self.workers[worker].lock().unwrap_or_else(|e| e.into_inner());
        let ms = |ns: u64| ns.saturating_sub(self.start_ns) as f64 / 1e6;
        let span = Span { kind: kind.into(), task, start_ms: ms(from_ns), end_ms: ms(to_ns), bytes, records };
        if w.spans.len() < SPANS_MAX {
            w.spans.push(span);
        }
    }

    /// Returns the time at which the job began, on its clock.
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Returns the sums of all stages that did any work.
    pub fn stages(&self) -> Vec<Stage> {
        let mut result = Vec::new();
        for (kind, name, resource) in STAGES {
            let mut sum = Sum::default();
            for worker in &self.workers {
                let s = worker.lock().unwrap_or_else(|e| e.into_inner()).stages[kind as usize];
                sum.ns += s.ns;
                sum.bytes += s.bytes;
                sum.records += s.records;
            }
            if sum.ns > 0 || sum.bytes > 0 {
                let seconds = sum.ns as f64 / 1e9;
                result.push(Stage {
                    name: name.into(),
                    bytes: sum.bytes,
                    records: sum.records,
                    busy_ms: sum.ns as f64 / 1e6,
                    mb_per_s: if seconds > 0.0 { sum.bytes as f64 / 1e6 / seconds } else { 0.0 },
                    limit_mb_per_s: None,
                    resource: resource.into(),
                });
            }
        }
        result
    }

    /// Returns the timelines of all workers.
    pub fn workers(&self) -> Vec<Worker> {
        self.workers
            .iter()
            .enumerate()
            .map(|(number, w)| {
                let spans = w.lock().unwrap_or_else(|e| e.into_inner()).spans.clone();
                let busy_ms = busy_ms(&spans);
                Worker { number: number as u32, busy_ms, spans }
            })
            .collect()
    }
}

/// Returns the time in which a worker worked. A spill lies within the task that caused it, and counts once.
fn busy_ms(spans: &[Span]) -> f64 {
    let mut times: Vec<(f64, f64)> =
        spans.iter().filter(|s| s.kind != "wait").map(|s| (s.start_ms, s.end_ms)).collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut end_ms = 0.0;
    let mut busy_ms = 0.0;
    for (from, to) in times {
        busy_ms += (to - from.max(end_ms)).max(0.0);
        end_ms = to.max(end_ms);
    }
    busy_ms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_spans_count_once() {
        let span =
            |kind: &str, start_ms: f64, end_ms: f64| Span { kind: kind.into(), start_ms, end_ms, ..Span::default() };
        let spans =
            [span("spill", 20.0, 50.0), span("map", 10.0, 60.0), span("wait", 60.0, 80.0), span("map", 80.0, 90.0)];
        assert_eq!(busy_ms(&spans), 60.0);
        assert_eq!(busy_ms(&[span("map", 0.0, 10.0), span("spill", 5.0, 15.0)]), 15.0);
        assert_eq!(busy_ms(&[]), 0.0);
    }
}
