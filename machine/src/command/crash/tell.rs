//! What has crashed, for people and programs.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Seen;
use crate::crash::delivery::Progress;
use crate::crash::{Kind, Report};
use yunti_probe::answer::{Answer, Listing, Table};

const SHOWN: usize = 20;

pub fn whereto(collector: Option<&str>) -> String {
    collector.map(|url| format!(", reports go to {url}")).unwrap_or_default()
}

pub fn of_trouble(trouble: Option<&str>) -> String {
    match trouble {
        Some(why) => format!("the collector cannot be reached: {why}; reports wait, and are tried again"),
        None => "the collector is reached again".to_owned(),
    }
}

fn time(report: &Report) -> String {
    let time = Timestamp::try_from(report.time).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{time:.0}")
}

pub fn line(report: &Report) -> String {
    format!("{}  {}  {}", time(report), report.kind.name(), report.title)
}

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

pub fn tell(seen: &Seen, progress: Option<&Progress>, (jvms, folders): (usize, usize), answer: &mut Answer) {
    let all: u64 = seen.counts.iter().sum();
    let counts =
        Kind::ALL.iter().zip(seen.counts).filter(|(_, n)| *n > 0).map(|(kind, n)| format!("{n} {}", kind.name()));
    let counts = counts.collect::<Vec<_>>().join(", ");
    let mut lead = if all == 0 { "nothing has crashed.".to_owned() } else { format!("{counts}.") };
    if seen.again > 0 {
        lead += &format!(" {} of them were the same again.", seen.again);
    }
    if let Some(progress) = progress {
        lead += &format!(" {} reports delivered", progress.delivered);
        if progress.waiting > 0 {
            let why = progress.trouble.as_deref().unwrap_or("there was no time");
            lead += &format!(", {} NOT delivered: {why}", progress.waiting);
        }
        if progress.not_taken > 0 {
            lead += &format!(", {} there was no room for", progress.not_taken);
        }
        lead += ".";
    }
    answer.lead = lead;
    answer.notes.push(format!("{jvms} JVMs at the end; {folders} folders were watched for what they leave."));
    let rows = seen
        .reports
        .iter()
        .map(|report| vec![time(report), report.kind.name().to_owned(), report.class.clone(), report.title.clone()]);
    answer.tables.push(Table {
        title: "Reports".to_owned(),
        columns: vec![("when", false), ("what", false), ("class", false), ("said", false)],
        rows: rows.collect(),
        shown: SHOWN,
    });
    let of = seen.reports.iter().filter(|r| !r.stack.is_empty()).take(SHOWN);
    let of: Vec<_> = of.map(|report| (line(report), report.stack.clone())).collect();
    if !of.is_empty() {
        answer.listings.push(Listing { title: "Stacks".to_owned(), of });
    }
}
