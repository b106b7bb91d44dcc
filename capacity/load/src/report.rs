//! Report of one run, as `--json` prints it (docs/formats/load.schema.json).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::guard::End;
use crate::plan::{Arrivals, Plan, Protocol};
use crate::schedule::arrivals::Spacing;
use crate::tally::batch::Batch;
use crate::tally::failure::{FAILURES, Failure};
use crate::tally::record::Record;
use crate::tally::times::Percentiles;

/// Figures of one second of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Second {
    /// Seconds since the start, at its begin.
    pub at_s: u64,
    /// Requests that were due.
    pub offered: u64,
    pub sent: u64,
    /// Answers without a failure.
    pub done: u64,
    pub errors: u64,
    pub p50_ms: f64,
    pub p99_ms: f64,
}

impl Second {
    /// Returns the figures of a second of all threads.
    pub fn of(at_s: u64, batch: &Batch) -> Second {
        Second {
            at_s,
            offered: batch.offered,
            sent: batch.sent,
            done: batch.done,
            errors: batch.errors,
            p50_ms: batch.latency.quantile_ms(0.5),
            p99_ms: batch.latency.quantile_ms(0.99),
        }
    }
}

/// Figures of the paths of one pattern.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PatternReport {
    pub pattern: String,
    pub done: u64,
    pub errors: u64,
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
}

/// First failure of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Example {
    pub kind: Failure,
    pub text: String,
}

/// Report of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    pub target: String,
    /// `open` or `closed`.
    #[serde(rename = "loop")]
    pub kind: &'static str,
    /// `poisson`, `even` or `log`; none in a closed loop.
    pub arrivals: Option<&'static str>,
    /// Rate of the plan; none in a closed loop and for the times of a log.
    pub planned_per_second: Option<f64>,
    pub http: &'static str,
    pub connections: usize,
    pub threads: usize,
    /// Seconds in which requests were due.
    pub seconds: f64,
    pub end: End,
    /// True if errors made the run halve its rate.
    pub is_halved: bool,
    pub offered: u64,
    pub sent: u64,
    pub done: u64,
    pub errors: u64,
    /// Requests that were due, yet not sent when the run ended.
    pub unsent: u64,
    /// Requests without an answer when the run ended.
    pub unanswered: u64,
    /// Requests that were sent again because the server closed an idle connection.
    pub repeats: u64,
    /// Connections that were opened.
    pub connects: u64,
    pub offered_per_second: f64,
    /// Answers without a failure while requests were due, per second.
    pub done_per_second: f64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub failures: BTreeMap<Failure, u64>,
    pub examples: Vec<Example>,
    /// Answers by class: `2xx`.
    pub classes: BTreeMap<String, u64>,
    /// Answers by status.
    pub statuses: BTreeMap<u16, u64>,
    /// From the due time to the end of the answer.
    pub latency: Percentiles,
    /// From the send to the end of the answer.
    pub service: Percentiles,
    /// From the due time until a connection was free.
    pub waiting: Percentiles,
    /// Lateness of the client itself, from the due time with a free connection to the send.
    pub lateness: Percentiles,
    /// Processor time of the client.
    pub cpu_seconds: f64,
    /// Processors that the client used.
    pub cpus: f64,
    /// Figures of each pattern of paths, if there are several; the most requests first.
    pub patterns: Vec<PatternReport>,
    pub series: Vec<Second>,
}

impl Report {
    /// Returns the report of a run.
    pub fn new(plan: &Plan, record: &Record, series: Vec<Second>, end: End, is_halved: bool) -> Report {
        let (arrivals, planned_per_second) = match plan.arrivals {
            Arrivals::Rate { per_second, spacing: Spacing::Even } => (Some("even"), Some(per_second)),
            Arrivals::Rate { per_second, spacing: Spacing::Poisson } => (Some("poisson"), Some(per_second)),
            Arrivals::Log { .. } => (Some("log"), None),
            Arrivals::Closed => (None, None),
        };
        let seconds = (record.ended_ns as f64 / 1e9).max(1e-9);
        let statuses: BTreeMap<u16, u64> =
            record.statuses.iter().enumerate().filter(|(_, n)| **n > 0).map(|(code, n)| (code as u16, *n)).collect();
        let mut classes = BTreeMap::new();
        for (code, n) in &statuses {
            *classes.entry(format!("{}xx", code / 100)).or_default() += n;
        }
        let cpu_seconds = record.cpu_ns as f64 / 1e9;
        Report {
            target: plan.target.to_string(),
            kind: if plan.is_open() { "open" } else { "closed" },
            arrivals,
            planned_per_second,
            http: if plan.protocol == Protocol::Http1 { "1.1" } else { "2" },
            connections: plan.connections,
            threads: plan.threads,
            seconds,
            end,
            is_halved,
            offered: record.offered,
            sent: record.sent,
            done: record.done,
            errors: record.errors(),
            unsent: record.unsent,
            unanswered: record.unanswered,
            repeats: record.repeats,
            connects: record.connects,
            offered_per_second: record.offered as f64 / seconds,
            done_per_second: record.done_in_time as f64 / seconds,
            bytes_in: record.bytes_in,
            bytes_out: record.bytes_out,
            failures: FAILURES.into_iter().zip(record.failures).filter(|(_, n)| *n > 0).collect(),
            examples: record.examples.iter().map(|(kind, text)| Example { kind: *kind, text: text.clone() }).collect(),
            classes,
            statuses,
            latency: record.latency.percentiles(),
            service: record.service.percentiles(),
            waiting: record.waiting.percentiles(),
            lateness: record.lateness.percentiles(),
            cpu_seconds,
            cpus: cpu_seconds / seconds,
            patterns: patterns(plan, record),
            series,
        }
    }

    /// Returns the share of errors among finished requests; 0 without any.
    pub fn error_share(&self) -> f64 {
        self.errors as f64 / ((self.done + self.errors) as f64).max(1.0)
    }
}

fn patterns(plan: &Plan, record: &Record) -> Vec<PatternReport> {
    let names = plan.script.patterns();
    if names.len() < 2 {
        return Vec::new();
    }
    let mut all: Vec<PatternReport> = names
        .iter()
        .zip(&record.patterns)
        .filter(|(_, tally)| tally.done + tally.errors > 0)
        .map(|(name, tally)| PatternReport {
            pattern: name.clone(),
            done: tally.done,
            errors: tally.errors,
            mean_ms: tally.latency.mean_ms(),
            p50_ms: tally.latency.quantile_ms(0.5),
            p99_ms: tally.latency.quantile_ms(0.99),
        })
        .collect();
    all.sort_by_key(|row| std::cmp::Reverse(row.done + row.errors));
    all
}
