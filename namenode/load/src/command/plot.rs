//! HTML page of a load: throughput and latencies over time.

use std::path::Path;

use yunti_base::Result;
use yunti_base::whole_file;
use yunti_program::page::Page;
use yunti_program::page::markup::{Tag, at, details, drawing, note, section, table, tag};

use super::report::{LoadReport, time};
use crate::load::recent::Sample;

pub const WHAT: &str = "the plot";
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 260.0;
const STYLE: &str = "svg { width: 100%; height: 16rem; display: block; background: var(--card); border: 1px solid \
    var(--line); border-radius: .6rem }
polyline { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke }
.calls, .p99 { stroke: var(--accent) } .p50 { stroke: var(--good) }
.warm { fill: var(--track) } .grid { stroke: var(--line); vector-effect: non-scaling-stroke }
.key { font-weight: 600 } .key.p99 { color: var(--accent) } .key.p50 { color: var(--good) }
";

/// Writes the page.
pub fn write(path: &Path, report: &LoadReport, samples: &[Sample]) -> Result<()> {
    let text = report.to_text();
    let headline = text.lines().next().unwrap_or_default().to_owned();
    let calls: Vec<f64> = samples.iter().map(|sample| sample.calls_per_second).collect();
    let p99: Vec<f64> = samples.iter().map(|sample| sample.p99_us as f64).collect();
    let p50: Vec<f64> = samples.iter().map(|sample| sample.p50_us as f64).collect();
    let most = |all: &[f64]| all.iter().copied().fold(1.0, f64::max);
    let rows = samples.iter().map(|sample| {
        vec![
            format!("{:.0} s", sample.seconds),
            format!("{:.0}", sample.calls_per_second),
            time(sample.p50_us),
            time(sample.p99_us),
            sample.failed.to_string(),
        ]
    });
    let columns = [("second", false), ("calls a second", true), ("p50", true), ("p99", true), ("failed", true)];
    let main = [
        tag("p").class("eyebrow").say(format!("yunti nn load {}", report.flags.namenode)),
        tag("h1").say("Throughput and latency of the NameNode"),
        tag("p").class("lead").say(headline),
        section("calls", "Calls a second")
            .add(lines(samples, "Calls a second, over time", &[("calls", &calls)], most(&calls)))
            .add(axis(samples, &format!("{:.0} a second at the top", most(&calls)))),
        section("times", "Latency")
            .add(lines(samples, "Latency over time", &[("p99", &p99), ("p50", &p50)], most(&p99)))
            .add(axis(samples, &format!("{} at the top", time(most(&p99) as u64))))
            .add(
                tag("ul")
                    .class("legend")
                    .add(tag("li").class("key p99").say("p99: one call of a hundred takes longer"))
                    .add(tag("li").class("key p50").say("p50: half of the calls take longer")),
            ),
        details("all samples", table("Samples", &columns, rows)),
        section("figures", "By call").add(tag("pre").say(text)),
    ];
    let foot = "Made by yunti nn load. Grey: the warm-up, which is not counted.";
    let page = Page { title: "yunti nn load", style: STYLE, script: None, foot };
    whole_file::write(path, &page.of(main), WHAT)
}

/// Draws a line for each series, from left to right, with a point for each sample.
fn lines(samples: &[Sample], title: &str, of: &[(&str, &[f64])], most: f64) -> Tag {
    let end = samples.last().map_or(1.0, |sample| sample.seconds).max(1e-9);
    let x = |sample: &Sample| sample.seconds / end * WIDTH;
    let y = |value: f64| HEIGHT - value / most * (HEIGHT - 10.0);
    let warm = samples.iter().rev().find(|sample| !sample.is_counted && sample.seconds < end).map_or(0.0, x);
    let rect = tag("rect").class("warm").set("width", at(warm)).set("height", at(HEIGHT));
    let grid = (1..4).map(|n| {
        let height = at(HEIGHT * f64::from(n) / 4.0);
        tag("line").class("grid").set("x2", at(WIDTH)).set("y1", &height).set("y2", &height)
    });
    let line = |(class, values): &(&str, &[f64])| {
        let point = |(sample, value): (&Sample, &f64)| format!("{},{}", at(x(sample)), at(y(*value)));
        let points: Vec<String> = samples.iter().zip(*values).map(point).collect();
        tag("polyline").class(class).set("points", points.join(" "))
    };
    drawing(WIDTH, HEIGHT, title, "").add(rect).all(grid).all(of.iter().map(line))
}

fn axis(samples: &[Sample], top: &str) -> Tag {
    let end = samples.last().map_or(0.0, |sample| sample.seconds);
    let ends = tag("div").class("axis").add(tag("span").say("0 s")).add(tag("span").say(format!("{end:.0} s")));
    tag("div").add(ends).add(note(top))
}
