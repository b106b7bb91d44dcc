//! The memory in use over time compared to the budget, and the spills.

use yunti_engine::job::report::{MemorySample, Report};

use super::markup::{Tag, at, details, drawing, note, paragraph, section as new_section, table, tag};
use crate::text::numbers;
use crate::text::report::{capital, memory_sentence, spill_sentence};

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 200.0;
/// Maximum number of rows of the table, into which the samples are joined.
const ROWS: usize = 40;

pub fn section(report: &Report) -> Tag {
    let section = new_section("memory", "Memory over time");
    if report.job.id.is_some() {
        let text = "The facts of a cluster's job have the size of the largest process, not its time.";
        return section.add(paragraph(capital(&memory_sentence(report)) + ".")).add(note(text));
    }
    let text = paragraph(memory_sentence(report) + "; " + &spill_sentence(report) + ".");
    if report.memory.samples.len() < 2 {
        return section.add(text).add(note("The report has no samples of the memory over time."));
    }
    let card = tag("div").class("card").add(chart(report)).add(details("As a table", samples(report)));
    section.add(text).add(card)
}

fn chart(report: &Report) -> Tag {
    let memory = &report.memory;
    let samples = &memory.samples;
    let wall_ms = report.job.wall_ms.max(samples.last().map_or(0.0, |s| s.at_ms)).max(1e-6);
    // A budget far above the memory in use would flatten the curve.
    let fits = memory.peak_bytes >= memory.budget_bytes / 5;
    let top =
        nice(if fits { memory.budget_bytes.max(memory.peak_bytes) } else { memory.peak_bytes + memory.peak_bytes / 4 });
    let x = |ms: f64| at((ms / wall_ms * WIDTH).clamp(0.0, WIDTH));
    let y = |bytes: u64| at(HEIGHT - (bytes as f64 / top as f64 * HEIGHT).clamp(0.0, HEIGHT));
    let steps = |of: &dyn Fn(&MemorySample) -> u64| -> String {
        samples.iter().map(|s| format!("L{} {}", x(s.at_ms), y(of(s)))).collect()
    };
    let end = x(samples.last().map_or(0.0, |s| s.at_ms));
    let used = steps(&|s| s.used_bytes);
    let title = format!(
        "memory in use over {}: peak {} of {}",
        numbers::milliseconds(wall_ms),
        numbers::memory(memory.peak_bytes),
        numbers::memory(memory.budget_bytes)
    );
    let mut svg = drawing(
        WIDTH,
        HEIGHT,
        &title,
        "Lines for the memory in use, the peak between samples, and the budget; the table has the numbers.",
    )
    .add(tag("path").class("area").set("d", format!("M0 {HEIGHT}{used}L{end} {HEIGHT}Z")))
    .add(tag("path").class("edge").set("d", format!("M0 {HEIGHT}{used}")))
    .add(tag("path").class("peak").set("d", format!("M0 {HEIGHT}{}", steps(&|s| s.most_bytes))));
    if fits {
        let at_y = y(memory.budget_bytes);
        let line = tag("line").class("limit").set("x1", 0).set("x2", WIDTH).set("y1", &at_y).set("y2", &at_y);
        svg = svg.add(line);
    }
    let ticks = |n: u64| (0..=n).rev().map(move |i| tag("span").say(numbers::memory(top / n * i)));
    let times = (0..=4).map(|i| {
        tag("span").say(if i == 0 { "0".into() } else { numbers::milliseconds(wall_ms * f64::from(i) / 4.0) })
    });
    let key = |class: &str, text: String| tag("li").add(tag("i").class(class)).say(text);
    let budget = numbers::memory(memory.budget_bytes);
    let legend = tag("ul")
        .class("legend")
        .add(tag("li").add(tag("i").set("style", "background:var(--map)")).say("in use"))
        .add(key("peak-key", "peak since the previous sample".into()))
        .add(if fits {
            key("limit-key", format!("the budget, {budget}"))
        } else {
            tag("li").say(format!("the budget, {budget}, is far above"))
        });
    tag("div")
        .add(
            tag("div")
                .class("chart")
                .add(tag("div").class("y").set("aria-hidden", "true").all(ticks(4)))
                .add(svg)
                .add(tag("div").class("axis").set("aria-hidden", "true").all(times)),
        )
        .add(legend)
}

/// Returns the next larger size whose quarters are whole: 1, 1.5, 2, 3, 4, 6 or 8 times a power of two.
fn nice(bytes: u64) -> u64 {
    let bytes = bytes.max(4 << 10);
    let mut step = 1u64 << bytes.ilog2();
    if step < bytes {
        step = if step / 2 * 3 >= bytes { step / 2 * 3 } else { step * 2 };
    }
    step
}

fn samples(report: &Report) -> Tag {
    let samples = &report.memory.samples;
    let joined = samples.chunks(samples.len().div_ceil(ROWS).max(1)).map(|part| {
        let most = part.iter().map(|s| s.most_bytes).max().unwrap_or(0);
        let last = part[part.len() - 1];
        vec![numbers::milliseconds(last.at_ms), numbers::memory(last.used_bytes), numbers::memory(most)]
    });
    table("Memory in use", &[("at", true), ("in use", true), ("peak since the previous row", true)], joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_a_whole_size() {
        for (bytes, expect) in
            [(0, 4 << 10), (100 << 20, 128 << 20), (128 << 20, 128 << 20), (150 << 20, 192 << 20), (3 << 30, 3 << 30)]
        {
            assert_eq!(nice(bytes), expect, "{bytes}");
        }
    }
}
