//! Pauses and the heap over time, for pages.

use super::GcReport;
use yunti_gc::{Event, Kind};
use yunti_probe::answer::{Series, Shape, Timeline};
use yunti_program::text::numbers::{memory, milliseconds};

/// Returns the timelines of a log. `name`: which of two logs, or empty.
pub fn of(report: &GcReport, name: &str) -> Vec<Timeline> {
    let log = &report.log;
    if !log.has_time() {
        return Vec::new();
    }
    let seconds = log.now_s();
    let title = |what: &str| if name.is_empty() { what.to_owned() } else { format!("{what}, {name}") };
    let is_whole = |kind: Kind| matches!(kind, Kind::Full | Kind::Degenerated);
    let pauses = |name: &str, colour, is_of: &dyn Fn(Kind) -> bool| Series {
        name: name.to_owned(),
        shape: Shape::Bars,
        points: log.events.iter().filter(|e| is_of(e.kind)).map(|e: &Event| (e.start_s, e.pause_ms)).collect(),
        colour,
    };
    let heap = |name: &str, shape, colour, value: fn(&yunti_gc::heap::HeapSample) -> u64| Series {
        name: name.to_owned(),
        shape,
        points: log.heap.samples.iter().map(|sample| (sample.time_s, value(sample) as f64)).collect(),
        colour,
    };
    let pauses = vec![
        pauses("young and mixed collections", 1, &|kind| kind.is_young() || kind == Kind::Mixed),
        pauses("marks and other pauses", 2, &|kind| !kind.is_young() && kind != Kind::Mixed && !is_whole(kind)),
        pauses("full collections", 0, &is_whole),
    ];
    let heap = vec![
        heap("size of the heap", Shape::Highest, 5, |sample| sample.total),
        heap("in use before collections", Shape::Highest, 2, |sample| sample.before),
        heap("in use after collections", Shape::Lowest, 1, |sample| sample.after),
    ];
    let timeline = |title: String, mut series: Vec<Series>, format| {
        series.retain(|series| series.points.iter().any(|(_, value)| *value > 0.0));
        Timeline { title, seconds, series, format }
    };
    [timeline(title("Pauses"), pauses, milliseconds), timeline(title("Heap"), heap, |bytes| memory(bytes as u64))]
        .into_iter()
        .filter(|timeline| !timeline.series.is_empty())
        .collect()
}
