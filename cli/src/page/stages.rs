//! The workers' time by stage, and each stage's speed compared to the limit of this machine.

use yunti_engine::job::report::{Report, Stage};

use super::colour;
use super::markup::{Tag, at, drawing, note, section as new_section, tag};
use crate::text::numbers;

const WIDTH: f64 = 1000.0;

pub fn section(report: &Report) -> Tag {
    let section = new_section("stages", "Stages against the machine");
    let busy_ms: f64 = report.stages.iter().map(|s| s.busy_ms).sum();
    if report.stages.is_empty() || busy_ms <= 0.0 {
        return section.add(note("The report has no stages."));
    }
    let card = tag("div").class("card").add(stack(report, busy_ms)).add(rows(report, busy_ms));
    let limits = if report.stages.iter().any(|s| limit(s).is_some()) {
        "of limit: the speed of one worker in this stage, compared to the rate that yunti machine limits measured for \
         the resource it uses. Stages that use the processors have no such limit. Slightly more than 100 % is possible: \
         limits are measured on data that does not fit the caches."
    } else if report.job.id.is_some() {
        "The maximum rates of the cluster's nodes are not measured."
    } else {
        "The maximum rates of this machine were not measured before this job: run yunti machine limits once, and reports \
         of later jobs compare their stages with them."
    };
    section.add(card.add(note(limits).set("style", "margin:.8rem 0 0")))
}

fn limit(stage: &Stage) -> Option<f64> {
    stage.limit_mb_per_s.filter(|limit| *limit > 0.0 && stage.mb_per_s > 0.0)
}

/// Returns all busy time as one bar.
fn stack(report: &Report, busy_ms: f64) -> Tag {
    let mut x = 0.0;
    let shapes = report.stages.iter().map(|stage| {
        let width = stage.busy_ms / busy_ms * WIDTH;
        let from = x;
        x += width;
        let words = format!("{}: {}", stage.name, numbers::percent(stage.busy_ms / busy_ms));
        tag("rect")
            .set("x", at(from))
            .set("y", 0)
            .set("width", at((width - 1.0).max(0.5)))
            .set("height", 10)
            .set("style", colour::fill(&stage.name))
            .add(tag("title").say(words))
    });
    let shapes: Vec<Tag> = shapes.collect();
    let title = "shares of the stages in the busy time of all workers; the table has the numbers";
    tag("div").class("stack").add(drawing(WIDTH, 10.0, title, "").all(shapes))
}

fn rows(report: &Report, busy_ms: f64) -> Tag {
    let limits = report.stages.iter().any(|s| limit(s).is_some());
    let head = |name: &str, class: &str| tag("th").set("scope", "col").class(class).say(name);
    let mut header = tag("tr")
        .add(head("stage", "name"))
        .add(head("share", "n"))
        .add(head("busy", "n"))
        .add(head("bytes", "n wide"))
        .add(head("records", "n wide"))
        .add(head("per worker", "n"));
    if limits {
        // The bar has no heading, because narrow pages do not show it.
        header = header.add(tag("td").class("bar")).add(head("of limit", "n"));
    }
    let header = header.add(head("uses", "wide"));
    let body = report.stages.iter().map(|stage| {
        let cell = |text: String, class: &str| tag("td").class(class).say(text);
        let name =
            tag("th").set("scope", "row").add(tag("i").set("style", colour::background(&stage.name))).say(&stage.name);
        let mut row = tag("tr")
            .add(name)
            .add(cell(numbers::percent(stage.busy_ms / busy_ms), "n"))
            .add(cell(numbers::milliseconds(stage.busy_ms), "n"))
            .add(cell(if stage.bytes > 0 { numbers::bytes(stage.bytes) } else { "-".into() }, "n wide"))
            .add(cell(if stage.records > 0 { numbers::about(stage.records) } else { "-".into() }, "n wide"))
            .add(cell(speed(stage), "n"));
        if limits {
            row = match limit(stage) {
                Some(limit) => {
                    let share = stage.mb_per_s / limit;
                    row.add(tag("td").class("bar").add(meter(stage, limit))).add(cell(numbers::percent(share), "n"))
                }
                None => row.add(tag("td").class("bar")).add(cell(String::new(), "n")),
            };
        }
        row.add(cell(stage.resource.replace('_', " "), "wide"))
    });
    tag("table").class("stages").add(tag("thead").add(header)).add(tag("tbody").all(body))
}

/// Returns bytes per second if bytes are known, else records per second.
fn speed(stage: &Stage) -> String {
    match stage.busy_ms {
        _ if stage.mb_per_s > 0.0 => numbers::rate(stage.mb_per_s),
        ms if ms > 0.0 && stage.records > 0 => {
            format!("{}/s", numbers::about((stage.records as f64 * 1000.0 / ms) as u64))
        }
        _ => "-".into(),
    }
}

fn meter(stage: &Stage, limit: f64) -> Tag {
    let share = stage.mb_per_s / limit;
    let title = format!(
        "{}: {} of {}, {}",
        stage.name,
        numbers::rate(stage.mb_per_s),
        numbers::rate(limit),
        numbers::percent(share)
    );
    let bar = tag("rect")
        .set("x", 0)
        .set("y", 0)
        .set("width", at(share.min(1.0) * WIDTH))
        .set("height", 10)
        .set("style", colour::fill(&stage.name));
    tag("div").class("meter").add(drawing(WIDTH, 10.0, &title, "").add(bar))
}
