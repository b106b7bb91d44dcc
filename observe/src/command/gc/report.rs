//! Answer about a log as tables.

use std::path::PathBuf;

use super::GcReport;
use super::requests::RequestCost;
use yunti_gc::comparison::Unit;
use yunti_gc::log::Sum;
use yunti_gc::summary::WINDOWS_MS;
use yunti_gc::young::YoungModel;
use yunti_gc::{Comparison, Log, Summary};
use yunti_probe::answer::{Answer, Table};
use yunti_program::text::numbers::{count, memory, milliseconds, seconds, utc};

/// Rows of a table on a terminal.
const SHOWN: usize = 12;
/// Sizes of the young generation that are predicted, as multiples of the log's.
const FACTORS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

/// Returns the name of a log's files.
pub fn subject(files: &[PathBuf]) -> String {
    let first = files.first().map_or_else(String::new, |path| path.display().to_string());
    match files.len() {
        0 | 1 => first,
        n => format!("{first} and {} more", n - 1),
    }
}

/// Fills an answer with notes and tables.
pub fn fill(report: &GcReport, requests_per_second: Option<f64>, answer: &mut Answer) {
    let GcReport { log, summary, findings } = report;
    answer.notes.push(origin(log, summary));
    if log.foreign > 0 {
        answer.skips.push(format!("{} of {} lines: of no known form", count(log.foreign), count(log.lines)));
    }
    if log.damaged > 0 {
        answer.skips.push(format!("{} lines: damaged or cut", count(log.damaged)));
    }
    if log.events_dropped > 0 {
        answer.skips.push(format!("percentiles and windows of {} later pauses: too many", count(log.events_dropped)));
    }
    let rows = findings.iter().map(|finding| {
        vec![percent(finding.cost), finding.rule.to_owned(), format!("{}: {}", finding.text, finding.cure)]
    });
    answer.tables.push(Table {
        title: "Findings".to_owned(),
        columns: vec![("cost", true), ("finding", false), ("what happens, and what would help", false)],
        rows: rows.collect(),
        shown: SHOWN,
    });
    let cost = requests_per_second.and_then(|rate| RequestCost::of(log, summary, rate));
    answer.notes.extend(cost.and_then(|cost| cost.note()));
    let mut numbers = numbers(log, summary);
    if let Some(cost) = cost {
        let row = |name: &str, value: String| vec![name.to_owned(), value];
        numbers.rows.extend(cost.bytes.map(|bytes| row("allocation a request", memory(bytes as u64))));
        numbers.rows.push(row("pauses a request", milliseconds(cost.pause_ms)));
        numbers.rows.extend(cost.in_eden.map(|count| row("requests between young collections", format!("{count:.0}"))));
    }
    answer.tables.push(numbers);
    answer.tables.push(sums(
        "Pauses by kind",
        "kind",
        summary.kinds.iter().map(|(kind, sum)| (kind.name(), *sum)),
        summary,
    ));
    answer.tables.push(sums(
        "Pauses by cause",
        "cause",
        summary.causes.iter().map(|(name, sum)| (&**name, *sum)),
        summary,
    ));
    if let Some(model) = YoungModel::of(log).filter(|_| !log.collector.is_some_and(|c| c.is_concurrent())) {
        answer.tables.push(young(&model));
        answer.notes.push(format!(
            "Predictions assume that {}.",
            match model.has_ages {
                true => "survivors grow as the age tables of the log show",
                false => "what survives a collection does not grow with the young generation",
            }
        ));
    }
    answer.tables.push(longest(log));
    let stalls = log.stalls.0.iter().map(|(name, sum)| (&**name, *sum));
    answer.tables.push(sums("Threads that waited for memory", "thread", stalls, summary));
    answer.tables.push(stops(summary));
    for (title, phases) in [("Phases of pauses", &log.phases), ("Phases beside the program", &log.concurrent)] {
        let mut sorted: Vec<(&str, Sum)> = phases.0.iter().map(|(name, sum)| (&**name, *sum)).collect();
        sorted.sort_by(|a, b| b.1.total_ms.total_cmp(&a.1.total_ms));
        let mut table = sums(title, "phase", sorted.into_iter(), summary);
        table.shown = 6;
        answer.tables.push(table);
    }
}

/// Returns a sentence about the JVM and the time of a log.
fn origin(log: &Log, summary: &Summary) -> String {
    let mut parts = Vec::new();
    parts.extend(log.collector.map(|collector| format!("{} collector", collector.name())));
    if !log.settings.version.is_empty() {
        parts.push(format!("JDK {}", log.settings.version));
    }
    if summary.heap_max > 0 {
        parts.push(format!("heap up to {}", memory(summary.heap_max)));
    }
    if log.settings.processors > 0 {
        parts.push(format!("{} processors", log.settings.processors));
    }
    if summary.seconds > 0.0 {
        let began = log.first_began_unix_s().filter(|unix| *unix > 0.0);
        let from = began.map_or_else(String::new, |unix| format!(" from {}", utc((unix * 1000.0) as u64)));
        parts.push(format!("{}{from}", seconds(summary.seconds)));
    }
    if log.runs() > 1 {
        parts.push(format!("{} JVMs one after the other", log.runs()));
    }
    format!("{}.", if parts.is_empty() { "The log names no settings".to_owned() } else { parts.join(", ") })
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn rate(bytes_per_s: f64) -> String {
    format!("{}/s", memory(bytes_per_s as u64))
}

fn numbers(log: &Log, summary: &Summary) -> Table {
    let [p50, p90, p99] = summary.percentiles_ms;
    let mut rows = vec![];
    let mut add = |name: String, value: String| rows.push(vec![name, value]);
    if summary.pauses.count > 0 {
        let max = summary.pauses.max_ms;
        add("pauses, sum".to_owned(), milliseconds(summary.pauses.total_ms));
        let values = [p50, p90, p99, max].map(milliseconds).join(", ");
        add("pauses: 50 %, 90 %, 99 %, longest".to_owned(), values);
    }
    for (window, left) in WINDOWS_MS.iter().zip(summary.utilization) {
        if let Some(left) = left {
            add(format!("left to the program in the worst {window:.0} ms"), format!("{:.0} %", left * 100.0));
        }
    }
    if let Some(allocation) = summary.allocation {
        add("allocation".to_owned(), rate(allocation));
    }
    if let Some(promotion) = summary.promotion {
        add("promotion".to_owned(), rate(promotion));
    }
    if let Some(survivors) = summary.survivors {
        add("survivors of a young collection".to_owned(), memory(survivors as u64));
    }
    if let Some(live) = summary.live {
        let name = if live.is_exact { "live set" } else { "live set, at most" };
        add(name.to_owned(), memory(live.bytes));
    }
    if let Some(growth) = summary.growth {
        add("growth of the live set".to_owned(), format!("{} an hour", memory((growth * 3600.0) as u64)));
    }
    if summary.metaspace > 0 {
        add("metaspace".to_owned(), memory(summary.metaspace));
    }
    let [user, sys, real] = summary.cpu;
    if real > 0.0 {
        add("processor time of pauses: user, system".to_owned(), format!("{}, {}", seconds(user), seconds(sys)));
    }
    if log.exhausted > 0 {
        add("collections without room for copies".to_owned(), count(log.exhausted));
    }
    if log.lost_cycles > 0 {
        add("concurrent cycles that were too late".to_owned(), count(log.lost_cycles));
    }
    Table { title: "Numbers".to_owned(), columns: vec![("what", false), ("value", true)], rows, shown: 20 }
}

fn sums<'a>(title: &str, column: &'static str, sums: impl Iterator<Item = (&'a str, Sum)>, summary: &Summary) -> Table {
    let rows = sums.filter(|(_, sum)| sum.count > 0).map(|(name, sum)| {
        vec![
            count(sum.count),
            milliseconds(sum.total_ms),
            percent(summary.share(sum.total_ms)),
            milliseconds(sum.total_ms / sum.count as f64),
            milliseconds(sum.max_ms),
            name.to_owned(),
        ]
    });
    Table {
        title: title.to_owned(),
        columns: vec![
            ("count", true),
            ("sum", true),
            ("of the time", true),
            ("mean", true),
            ("max", true),
            (column, false),
        ],
        rows: rows.collect(),
        shown: SHOWN,
    }
}

fn young(model: &YoungModel) -> Table {
    let rows = FACTORS.map(|factor| {
        let prediction = model.predict(factor);
        vec![
            memory(prediction.eden_bytes as u64),
            if factor == 1.0 { "as now".to_owned() } else { format!("{factor} times") },
            format!("{:.2}", prediction.collections_per_s),
            milliseconds(prediction.pause_ms),
            percent(prediction.share),
        ]
    });
    Table {
        title: "Young collections with another eden, predicted".to_owned(),
        columns: vec![("eden", true), ("size", false), ("a second", true), ("pause", true), ("of the time", true)],
        rows: rows.into(),
        shown: FACTORS.len(),
    }
}

fn longest(log: &Log) -> Table {
    let rows = log.longest.iter().map(|longest| {
        let event = &longest.event;
        let mut phases = longest.phases.clone();
        phases.sort_by(|a, b| b.1.total_cmp(&a.1));
        let phases = phases.iter().take(3).filter_map(|(index, ms)| {
            log.phases.0.get(usize::from(*index)).map(|(name, _)| format!("{name} {}", milliseconds(*ms)))
        });
        let heap = match event.heap.is_known() {
            true => format!("{} -> {}", memory(event.heap.before), memory(event.heap.after)),
            false => String::new(),
        };
        vec![
            milliseconds(event.pause_ms),
            format!("{:.3} s", event.start_s),
            event.kind.name().to_owned(),
            log.cause(event).to_owned(),
            heap,
            phases.collect::<Vec<_>>().join(", "),
        ]
    });
    Table {
        title: "Longest pauses".to_owned(),
        columns: vec![
            ("pause", true),
            ("at", true),
            ("kind", false),
            ("cause", false),
            ("heap", false),
            ("longest phases", false),
        ],
        rows: rows.collect(),
        shown: 5,
    }
}

fn stops(summary: &Summary) -> Table {
    let rows = summary.stops.iter().map(|(name, is_collection, stops)| {
        vec![
            count(stops.total.count),
            milliseconds(stops.total.total_ms),
            milliseconds(stops.total.max_ms),
            milliseconds(stops.reaching.total_ms),
            milliseconds(stops.reaching.max_ms),
            if *is_collection { "collection" } else { "other" }.to_owned(),
            name.clone(),
        ]
    });
    Table {
        title: "Stops of all threads".to_owned(),
        columns: vec![
            ("count", true),
            ("sum", true),
            ("max", true),
            ("until stopped", true),
            ("max", true),
            ("kind", false),
            ("operation", false),
        ],
        rows: rows.collect(),
        shown: 8,
    }
}

/// Returns a comparison as a table.
pub fn comparison(comparison: &Comparison) -> Table {
    let format = |value: Option<f64>, unit: Unit| match (value, unit) {
        (None, _) => "-".to_owned(),
        (Some(value), Unit::Share) => percent(value),
        (Some(value), Unit::Milliseconds) => milliseconds(value),
        (Some(value), Unit::Bytes) => memory(value as u64),
        (Some(value), Unit::BytesPerSecond) => rate(value),
        (Some(value), Unit::PerMinute) => format!("{value:.1} a minute"),
    };
    let rows = comparison.rows.iter().map(|row| {
        let ratio = row.before.zip(row.after).filter(|(before, _)| *before > 0.0);
        vec![
            format(row.before, row.unit),
            format(row.after, row.unit),
            ratio.map_or_else(|| "-".to_owned(), |(before, after)| format!("{:.2}", after / before)),
            row.name.to_owned(),
        ]
    });
    Table {
        title: "Before and after".to_owned(),
        columns: vec![("before", true), ("after", true), ("ratio", true), ("what", false)],
        rows: rows.collect(),
        shown: 20,
    }
}
