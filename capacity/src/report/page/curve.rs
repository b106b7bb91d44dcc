//! Curve of the service: requests a second by requests in process, response time by requests a second, and numbers.

use yunti_model::curve::CurvePoint;
use yunti_program::page::markup::{Tag, details, note, section, table, tag};
use yunti_program::text::numbers::three;

use super::chart::{Axis, Chart};
use crate::report::Report;
use crate::report::marks::rate;

/// Ratio of the widest part to the threads at the peak from which on small values get more room.
const WIDE: f64 = 5.0;
/// Standard errors of a bar that holds 95 % of the cases.
const BAR: f64 = 1.96;

/// Returns the axis of requests in process, as far as there is something to see.
pub fn clients_axis(report: &Report<'_>) -> Axis {
    let curve = report.curve;
    let last = curve.points.last().map_or(1.0, |point| f64::from(point.simulated.clients));
    let levels = curve.consistency.levels.iter().map(|level| f64::from(level.in_process));
    let tried = report.tried.iter().map(|tried| tried.clients as f64 * 1.05);
    let marks = report.marks().into_iter().map(|mark| mark.clients * 1.15);
    let end = levels.chain(tried).chain(marks).fold(2.0 * curve.threads.high, f64::max).min(last).max(1.0);
    Axis { power: if end > WIDE * curve.threads.value { 0.5 } else { 1.0 }, ..Axis::linear(end) }
}

/// Returns the section with both charts.
pub fn section_of(report: &Report<'_>) -> Tag {
    let marks = report.marks().into_iter().map(|mark| tag("li").say(mark.words));
    section("curve", "Requests a second by requests in process")
        .add(tag("div").class("card").add(rates(report)).add(legend(report)).add(tag("ol").class("marks").all(marks)))
        .add(tag("h3").say("Response time by requests a second"))
        .add(tag("div").class("card").add(responses(report)).add(tag("ul").class("legend").all([
            key("mean", "mean"),
            key("median", "p50"),
            key("late", "p99"),
            key("mark", "present requests a second"),
        ])))
}

/// Returns an entry of a legend.
pub fn key(class: &str, words: &str) -> Tag {
    tag("li").add(tag("i").class(format!("key {class}"))).say(words)
}

fn legend(report: &Report<'_>) -> Tag {
    let mut keys = vec![
        key("simulated", "simulated, with the range of 95 %"),
        key("bound", "bound of the formulas"),
        key("mva", "mean value analysis, as a check"),
    ];
    let levels = &report.curve.consistency.levels;
    if !levels.is_empty() {
        keys.push(key("measured", "measured, with the range of 95 %"));
    }
    if !report.tried.is_empty() {
        keys.push(key("tried", "tried with load of our own"));
    }
    tag("ul").class("legend").all(keys)
}

fn rates(report: &Report<'_>) -> Tag {
    let curve = report.curve;
    let x = clients_axis(report);
    let shown = within(&curve.points, x.end);
    // The end of the axis lies between two points.
    let at_end = report.rate_at(x.end);
    let spread = at_end / curve.peak.value.max(f64::MIN_POSITIVE) * (curve.peak.high - curve.peak.value);
    let levels: Vec<_> = curve.consistency.levels.iter().filter(|level| f64::from(level.in_process) <= x.end).collect();
    let highest = shown.iter().map(|point| point.high).fold(at_end + spread, f64::max);
    let highest = levels.iter().map(|level| level.measured + BAR * level.measured_se).fold(highest, f64::max);
    let tried: Vec<_> = report.tried.iter().filter(|tried| tried.clients as f64 <= x.end).collect();
    let highest = tried.iter().map(|tried| tried.per_second).fold(highest, f64::max);
    let y = Axis::linear(highest * 1.05);
    let description = report.marks().iter().map(|mark| mark.words.clone()).collect::<Vec<_>>().join("; ");
    let title = "requests a second by requests in process";
    let mut chart = Chart::new("rates", title, &description, (x, "requests in process"), (y, "requests a second"));
    let clients = |point: &CurvePoint| f64::from(point.simulated.clients);
    let band = shown.iter().map(|point| (clients(point), point.low, point.high));
    let band: Vec<_> = band.chain([(x.end, (at_end - spread).max(0.0), at_end + spread)]).collect();
    chart.band("band", &band);
    chart.line("mva", shown.iter().map(|point| (clients(point), point.mva.min(y.end))));
    // The corner of the bound lies between two points.
    let formulas = &curve.formulas;
    let corner = formulas.threads.min(x.end);
    let bound = [0.0, corner, x.end].map(|clients| (clients, formulas.bound(clients).min(y.end)));
    chart.line("bound", bound);
    let simulated = shown.iter().map(|point| (clients(point), rate(point)));
    chart.line("simulated", [(0.0, 0.0)].into_iter().chain(simulated).chain([(x.end, at_end)]));
    for mark in report.marks() {
        chart.flag(mark.clients.min(x.end));
    }
    for level in levels {
        let by = BAR * level.measured_se;
        let words = format!(
            "{} in process: {} a second measured, {} simulated",
            level.in_process,
            three(level.measured),
            three(level.simulated)
        );
        let range = ((level.measured - by).max(0.0), level.measured, level.measured + by);
        chart.dot("measured", f64::from(level.in_process), range, &words);
    }
    for tried in tried {
        let rate = tried.per_second;
        let words =
            format!("{} clients tried: {} a second, {} simulated", tried.clients, three(rate), three(tried.predicted));
        chart.dot("tried", tried.clients as f64, (rate, rate, rate), &words);
    }
    chart.draw()
}

fn within(points: &[CurvePoint], end: f64) -> Vec<&CurvePoint> {
    // The first point beyond the end would leave the drawing.
    points.iter().filter(|point| f64::from(point.simulated.clients) <= end).collect()
}

fn responses(report: &Report<'_>) -> Tag {
    let curve = report.curve;
    // Beyond twice the threads of the peak, a queue grows that tells nothing new.
    let shown = within(&curve.points, (2.0 * curve.threads.value).max(4.0));
    let highest = shown.iter().map(|point| rate(point)).fold(0.0, f64::max);
    let latest = shown.iter().map(|point| point.simulated.response_ms_p99).fold(0.0, f64::max);
    let present = report.demands.requests.per_second;
    let (x, y) = (Axis::linear(highest.max(present.min(2.0 * highest)) * 1.05), Axis::linear(latest * 1.05));
    let title = "response time in milliseconds by requests a second";
    let description = match report.response() {
        Some(now) => {
            format!("at {} a second: mean {} ms, p99 {} ms", three(present), three(now.mean_ms), three(now.p99_ms))
        }
        None => String::new(),
    };
    let mut chart = Chart::new("responses", title, &description, (x, "requests a second"), (y, "milliseconds"));
    let mut line = |class: &str, of: fn(&CurvePoint) -> f64| {
        chart.line(class, shown.iter().map(|point| (rate(point), of(point))));
    };
    line("late", |point| point.simulated.response_ms_p99);
    line("median", |point| point.simulated.response_ms_p50);
    line("mean", |point| point.simulated.response_ms);
    if present > 0.0 && present <= x.end {
        chart.line("mark", [(present, 0.0), (present, y.end)]);
    }
    chart.draw()
}

/// Returns the section with the points of the curve as a table.
pub fn numbers(report: &Report<'_>) -> Tag {
    let columns = [
        ("in process", true),
        ("requests/s", true),
        ("low", true),
        ("high", true),
        ("mean ms", true),
        ("p50 ms", true),
        ("p99 ms", true),
        ("bound", true),
        ("MVA", true),
    ];
    let rows = report.curve.points.iter().map(|point| {
        let simulated = &point.simulated;
        let figures = [
            rate(point),
            point.low,
            point.high,
            simulated.response_ms,
            simulated.response_ms_p50,
            simulated.response_ms_p99,
            point.bound,
            point.mva,
        ];
        [simulated.clients.to_string()].into_iter().chain(figures.map(three)).collect()
    });
    let mut all = section("numbers", "The curve as numbers")
        .add(details("points of the curve", table("Simulated points, with the two check lines", &columns, rows)));
    let levels = &report.curve.consistency.levels;
    if !levels.is_empty() {
        let columns = [("in process", true), ("measured/s", true), ("standard error", true), ("simulated/s", true)];
        let rows = levels.iter().map(|level| {
            let figures = [level.measured, level.measured_se, level.simulated].map(three);
            [level.in_process.to_string()].into_iter().chain(figures).collect()
        });
        all = all.add(details("measured departures", table("Departures by requests in process", &columns, rows)));
    }
    if !report.tried.is_empty() {
        let columns =
            [("clients", true), ("tried/s", true), ("simulated/s", true), ("mean ms", true), ("errors", true)];
        let rows = report.tried.iter().map(|tried| {
            let figures = [tried.per_second, tried.predicted, tried.mean_ms].map(three);
            [tried.clients.to_string()].into_iter().chain(figures).chain([tried.errors.to_string()]).collect()
        });
        all = all.add(details("numbers of clients tried", table("Closed loops of our own load", &columns, rows)));
    }
    if let Some(ratio) = report.curve.consistency.ratio {
        let error = BAR * report.curve.consistency.ratio_se;
        all = all.add(note(format!("Measured by simulated, over all levels: {ratio:.2} \u{b1} {error:.2}.")));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::tests::Example;

    #[test]
    fn tries_are_drawn_and_listed() {
        let (drawn, listed) = (rates(&Example::shop().report()).print(), numbers(&Example::shop().report()).print());
        assert_eq!(drawn.matches("class=\"tried\"").count(), 3, "{drawn}");
        assert!(drawn.contains("4 clients tried: 90 a second, 99 simulated"), "{drawn}");
        assert!(listed.contains("numbers of clients tried"), "{listed}");
        assert!(!rates(&Example::of_least().report()).print().contains("tried"));
    }

    #[test]
    fn every_shape_is_inside_its_chart() {
        for example in Example::all() {
            let report = example.report();
            for page in [rates(&report).print(), responses(&report).print()] {
                for path in page.split(" d=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                    let numbers = path.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
                    let outside = numbers.filter_map(|n| n.parse::<f64>().ok()).any(|n| !(-0.1..=1000.1).contains(&n));
                    assert!(!outside, "{path}");
                }
            }
        }
    }
}
