//! Report of crashes as text and JSON.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::CrashSample;
use crate::crash::delivery::Progress;
use crate::crash::{Kind, Report};
use yunti_probe::answer::{Answer, Listing, Table};

const SHOWN: usize = 20;

/// Returns the part of the start message that names the collector.
pub fn destination(collector: Option<&str>) -> String {
    collector.map(|url| format!(", reports go to {url}")).unwrap_or_default()
}

/// Returns the message for a failed or a restored delivery.
pub fn delivery_status(trouble: Option<&str>) -> String {
    match trouble {
        Some(why) => format!("the collector cannot be reached: {why}; reports wait for the next attempt"),
        None => "the collector can be reached again".to_owned(),
    }
}

fn time(report: &Report) -> String {
    let time = Timestamp::try_from(report.time).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.0}")
}

/// Returns a report as one line.
pub fn line(report: &Report) -> String {
    format!("{}  {}  {}", time(report), report.kind.name(), report.title)
}

/// Returns a report as JSON.
pub fn document(report: &Report) -> Value {
    let facts = report.facts.iter().map(|(name, value)| ((*name).to_owned(), json!(value)));
    json!({
        "kind": report.kind.name(),
        "class": report.class,
        "title": report.title,
        "time": Timestamp::try_from(report.time).unwrap_or(Timestamp::UNIX_EPOCH).to_string(),
        "signature": format!("{:016x}", report.signature),
        "facts": facts.collect::<serde_json::Map<_, _>>(),
        "stack": report.stack,
    })
}

/// Adds the report to `answer`. `jvms` and `folders`: numbers at the end.
pub fn report(sample: &CrashSample, progress: Option<&Progress>, (jvms, folders): (usize, usize), answer: &mut Answer) {
    let all: u64 = sample.counts.iter().sum();
    let counts =
        Kind::ALL.iter().zip(sample.counts).filter(|(_, n)| *n > 0).map(|(kind, n)| format!("{n} {}", kind.name()));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let mut lead = if all == 0 { "no crashes.".to_owned() } else { format!("{counts}.") };
    if sample.again > 0 {
        lead += &format!(" {} of them were repeats.", sample.again);
    }
    if let Some(progress) = progress {
        lead += &format!(" {} reports delivered", progress.delivered);
        if progress.waiting > 0 {
            let why = progress.trouble.as_deref().unwrap_or("no time left");
            lead += &format!(", {} NOT delivered: {why}", progress.waiting);
        }
        if progress.not_taken > 0 {
            lead += &format!(", {} dropped because the queue was full", progress.not_taken);
        }
        lead += ".";
    }
    answer.lead = lead;
    answer.notes.push(format!("{jvms} JVMs at the end; {folders} folders were watched for hs_err files."));
    let rows = sample
        .reports
        .iter()
        .map(|report| vec![time(report), report.kind.name().to_owned(), report.class.clone(), report.title.clone()]);
    answer.tables.push(Table {
        title: "Reports".to_owned(),
        columns: vec![("time", false), ("kind", false), ("class", false), ("title", false)],
        rows: rows.collect(),
        shown: SHOWN,
    });
    let of = sample.reports.iter().filter(|r| !r.stack.is_empty()).take(SHOWN);
    let of: Vec<_> = of.map(|report| (line(report), report.stack.clone())).collect();
    if !of.is_empty() {
        answer.listings.push(Listing { title: "Stacks".to_owned(), of });
    }
}
