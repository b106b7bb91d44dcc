//! The timeline of the workers: a lane for each worker, a colour for each kind of work.
//!
//! A lane with many spans is drawn by cells, each with the kind that took most of its time. Equal cells become one
//! shape, so that the page of a long job stays small.

use std::collections::BTreeMap;

use yunti_engine::job::report::{Report, Span, Worker};

use super::colour;
use super::markup::{Tag, at, details, drawing, note, section as new_section, table, tag};
use crate::text::numbers;

/// Maximum number of lanes in the drawing.
const LANES_MAX: usize = 64;
/// Maximum number of workers in the table.
const ROWS_MAX: usize = 1000;
/// Maximum number of spans of one lane that are drawn one by one.
const SPANS_MAX: usize = 200;
/// Maximum number of spans of all lanes that are drawn one by one.
const SPANS_TOGETHER: usize = 1500;
const CELLS: usize = 800;
const WIDTH: f64 = 1000.0;
/// Kind of work inside other work, which would hide it.
const WITHIN: &str = "spill";

pub fn section(report: &Report) -> Tag {
    let section = new_section("timeline", "Timeline of the workers");
    if report.workers.iter().all(|w| w.spans.is_empty()) {
        return section.add(note("The report has no timeline."));
    }
    let wall_ms = report.job.wall_ms.max(1e-6);
    let spans_max = (SPANS_TOGETHER / report.workers.len().clamp(1, LANES_MAX)).min(SPANS_MAX);
    let lanes = report.workers.iter().take(LANES_MAX).flat_map(|w| lane(w, wall_ms, spans_max));
    let size = match report.workers.len() {
        0..=4 => "lanes",
        5..=16 => "lanes some",
        _ => "lanes many",
    };
    let lanes =
        tag("div").class(size).all(lanes).add(tag("div").class("axis").set("aria-hidden", "true").all((0..=4).map(
            |i| tag("span").say(if i == 0 { "0".into() } else { numbers::milliseconds(wall_ms * f64::from(i) / 4.0) }),
        )));
    let mut card = tag("div").class("card").add(lanes).add(legend(report));
    if report.workers.len() > LANES_MAX {
        card = card.add(note(format!("{} more workers are not drawn.", report.workers.len() - LANES_MAX)));
    }
    section.add(card.add(details("As a table", by_kind(report))))
}

fn lane(worker: &Worker, wall_ms: f64, spans_max: usize) -> [Tag; 3] {
    let busy = numbers::percent((worker.busy_ms / wall_ms).clamp(0.0, 1.0));
    let spans = worker.spans.iter().filter(|s| s.kind != "wait");
    let title = format!("worker {}, busy {busy} of the time", worker.number);
    let svg = drawing(WIDTH, 10.0, &title, "");
    let shapes: Vec<Tag> = if worker.spans.len() <= spans_max {
        let mut spans: Vec<&Span> = spans.collect();
        // Short spans are drawn above long ones.
        spans.sort_by(|a, b| (b.end_ms - b.start_ms).total_cmp(&(a.end_ms - a.start_ms)));
        spans
            .into_iter()
            .map(|span| shape(&span.kind, span.start_ms, span.end_ms, wall_ms).add(tag("title").say(words(span))))
            .collect()
    } else {
        stretches(&cells(worker, wall_ms))
    };
    [tag("span").say(worker.number), svg.all(shapes), tag("span").class("n").say(busy)]
}

/// Returns one shape per kind, with all its stretches.
fn stretches(cells: &[(&str, usize, usize)]) -> Vec<Tag> {
    let mut by_kind = BTreeMap::<&str, String>::new();
    let width = WIDTH / CELLS as f64;
    for (kind, from, to) in cells {
        let (x, w) = (at(*from as f64 * width), at((to - from) as f64 * width));
        *by_kind.entry(kind).or_default() += &format!("M{x} 0h{w}v10h-{w}z");
    }
    let shape = |(kind, path): (&str, String)| {
        tag("path").set("d", path).set("style", colour::fill(kind)).add(tag("title").say(kind))
    };
    by_kind.into_iter().map(shape).collect()
}

fn shape(kind: &str, start_ms: f64, end_ms: f64, wall_ms: f64) -> Tag {
    let x = (start_ms / wall_ms * WIDTH).clamp(0.0, WIDTH);
    let end = (end_ms / wall_ms * WIDTH).clamp(x, WIDTH);
    // A gap separates neighbours; spans shorter than a pixel stay visible.
    let gap = if end - x > 4.0 { 0.6 } else { 0.0 };
    tag("rect")
        .set("x", at(x))
        .set("y", 0)
        .set("width", at((end - x - gap).max(0.8)))
        .set("height", 10)
        .set("style", colour::fill(kind))
}

fn words(span: &Span) -> String {
    let mut words = format!(
        "{} {}: {}, from {} to {}",
        span.kind,
        span.task,
        numbers::milliseconds(span.end_ms - span.start_ms),
        numbers::milliseconds(span.start_ms),
        numbers::milliseconds(span.end_ms)
    );
    if span.bytes > 0 {
        words += &format!("; {}", numbers::bytes(span.bytes));
    }
    if span.records > 0 {
        words += &format!(", {}", numbers::several_about(span.records, "record"));
    }
    words
}

/// Returns stretches of cells with the same kind: (kind, first cell, cell after the last).
fn cells(worker: &Worker, wall_ms: f64) -> Vec<(&str, usize, usize)> {
    let cell_ms = wall_ms / CELLS as f64;
    let mut shares: Vec<Vec<(&str, f64)>> = vec![Vec::new(); CELLS];
    for span in worker.spans.iter().filter(|s| s.kind != "wait") {
        let first = ((span.start_ms / cell_ms) as usize).min(CELLS - 1);
        let last = ((span.end_ms / cell_ms) as usize).min(CELLS - 1);
        for (cell, share) in shares.iter_mut().enumerate().take(last + 1).skip(first) {
            let ms = span.end_ms.min((cell + 1) as f64 * cell_ms) - span.start_ms.max(cell as f64 * cell_ms);
            match share.iter_mut().find(|(kind, _)| *kind == span.kind) {
                Some((_, sum)) => *sum += ms,
                None => share.push((&span.kind, ms)),
            }
        }
    }
    let mut out: Vec<(&str, usize, usize)> = Vec::new();
    for (cell, share) in shares.iter().enumerate() {
        let total: f64 = share.iter().filter(|(kind, _)| *kind != WITHIN).map(|(_, ms)| ms).sum();
        let within = share.iter().find(|(kind, ms)| *kind == WITHIN && ms * 2.0 >= cell_ms);
        let most =
            within.or_else(|| share.iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| total * 2.0 >= cell_ms));
        let Some((kind, _)) = most else { continue };
        match out.last_mut() {
            Some((last, _, end)) if last == kind && *end == cell => *end += 1,
            _ => out.push((kind, cell, cell + 1)),
        }
    }
    out
}

fn kinds(report: &Report) -> Vec<&str> {
    let mut seen: Vec<&str> = Vec::new();
    for span in report.workers.iter().flat_map(|w| &w.spans) {
        if span.kind != "wait" && !seen.contains(&&*span.kind) {
            seen.push(&span.kind);
        }
    }
    seen
}

fn legend(report: &Report) -> Tag {
    let entry = |kind: &str, what: &str| tag("li").add(tag("i").set("style", colour::background(kind))).say(what);
    let kinds = kinds(report).into_iter().map(|kind| entry(kind, kind));
    tag("ul").class("legend").all(kinds).add(
        tag("li")
            .add(tag("i").set("style", "background:var(--track);outline:1px solid var(--line)"))
            .say("idle; at the right, the busy share of each worker's time"),
    )
}

fn by_kind(report: &Report) -> Tag {
    let kinds = kinds(report);
    let columns: Vec<(&str, bool)> = [("worker", false), ("busy", true), ("tasks", true)]
        .into_iter()
        .chain(kinds.iter().map(|k| (*k, true)))
        .collect();
    let rows = report.workers.iter().take(ROWS_MAX).map(|worker| {
        let mut sums = BTreeMap::<&str, f64>::new();
        for span in &worker.spans {
            *sums.entry(&span.kind).or_insert(0.0) += span.end_ms - span.start_ms;
        }
        let first = [
            worker.number.to_string(),
            numbers::milliseconds(worker.busy_ms),
            numbers::count(worker.spans.len() as u64),
        ];
        let rest = kinds.iter().map(|kind| sums.get(kind).map_or(String::new(), |ms| numbers::milliseconds(*ms)));
        first.into_iter().chain(rest).collect()
    });
    table("Time of each worker by the kind of work; work inside other work is counted in both", &columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_spans_become_few_shapes() {
        let span = |kind: &str, start_ms, end_ms| Span { kind: kind.into(), start_ms, end_ms, ..Span::default() };
        let mut spans: Vec<Span> = (0..4000).map(|i| span("map", f64::from(i), f64::from(i + 1))).collect();
        spans.push(span("spill", 1000.0, 2000.0));
        spans.push(span("reduce", 5000.0, 9000.0));
        let worker = Worker { number: 0, busy_ms: 8000.0, spans };
        let found = cells(&worker, 8000.0);
        assert_eq!(found, [("map", 0, 100), ("spill", 100, 200), ("map", 200, 400), ("reduce", 500, 800)]);
        let lane = lane(&worker, 8000.0, SPANS_MAX)[1].print();
        assert_eq!((lane.matches("<path").count(), lane.matches("<rect").count()), (3, 0), "{lane}");
        assert!(lane.contains("M0 0h125v10h-125zM250 0h250v10h-250z"), "{lane}");
    }
}
