//! Charts: a figure over all measurements, with marks at new releases and changes of level.

use yunti_program::page::markup::{Tag, at, details, drawing, section, table, tag};

use super::figure::{change, value};
use crate::clock::{day, minute};
use crate::compare::{Comparison, Day, Figure, Step};

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 200.0;
/// Room above and below the values, as a part of the height.
const MARGIN: f64 = 0.08;

/// Returns the section of a figure; `None` if fewer than two measurements have it.
pub fn figure(figure: Figure, history: &[Day], comparison: &Comparison) -> Option<Tag> {
    let known: Vec<(usize, &Day, f64)> =
        history.iter().enumerate().filter_map(|(at, day)| Some((at, day, figure.of(day)?))).collect();
    if known.len() < 2 {
        return None;
    }
    let low = known.iter().map(|(_, _, value)| *value).fold(f64::INFINITY, f64::min);
    let high = known.iter().map(|(_, _, value)| *value).fold(0.0, f64::max);
    // Equal values lie in the middle; small changes do not fill the chart.
    let center = (low + high) / 2.0;
    let half = ((high - low) / 2.0).max(center * 0.05) * (1.0 + 2.0 * MARGIN);
    let x = |at: usize| WIDTH * (at as f64 + 0.5) / history.len() as f64;
    let y = |value: f64| HEIGHT * (0.5 - (value - center) / (2.0 * half));
    let steps: Vec<&Step> = comparison.steps.iter().filter(|step| step.figure == figure).collect();
    let mut svg = drawing(WIDTH, HEIGHT, figure.title(), &description(figure, &known, &steps));
    for (place, release) in releases(history) {
        let edge = WIDTH * place as f64 / history.len() as f64;
        svg = svg.add(vertical("release", edge).add(tag("title").say(format!("release {release}"))));
    }
    for step in &steps {
        let place = history.iter().position(|day| day.sequence == step.sequence).unwrap_or(0);
        let is_worse = (step.after > step.before) != (figure == Figure::Peak);
        let class = if is_worse { "step" } else { "step fall" };
        svg = svg.add(vertical(class, WIDTH * place as f64 / history.len() as f64));
    }
    if let Some(expected) = comparison.rule(figure).and_then(|rule| rule.expected) {
        let height = at(y(expected).clamp(0.0, HEIGHT));
        let line = tag("line").class("level").set("x1", 0).set("x2", at(WIDTH)).set("y1", &height).set("y2", &height);
        svg = svg.add(line);
    }
    let points: Vec<String> = known.iter().map(|(place, _, v)| format!("{} {}", at(x(*place)), at(y(*v)))).collect();
    svg = svg.add(tag("path").class("line").set("d", format!("M{}", points.join("L"))));
    for (point, (_, day, _)) in points.iter().zip(&known) {
        let class = match () {
            () if day.sequence == comparison.today.sequence => "dots now",
            () if !day.is_usable() => "dots odd",
            () => "dots",
        };
        svg = svg.add(tag("path").class(class).set("d", format!("M{point}h0")));
    }
    let rows = known
        .iter()
        .map(|(_, day, v)| vec![day.sequence.to_string(), minute(day.time_ms), day.label.clone(), value(figure, *v)]);
    let columns = [("", true), ("time", false), ("release", false), (figure.title(), true)];
    let ends = [known.first(), known.last()].into_iter().flatten().map(|(_, one, _)| tag("span").say(day(one.time_ms)));
    let content = section(figure.name(), figure.title())
        .add(tag("div").class("range").add(tag("span").say(value(figure, high))))
        .add(tag("div").class("chart").add(svg))
        .add(tag("div").class("range").add(tag("span").say(value(figure, low))))
        .add(tag("div").class("axis").all(ends))
        .add(marks(figure, history, &steps))
        .add(details("Numbers", table(figure.title(), &columns, rows)));
    Some(content)
}

fn vertical(class: &str, place: f64) -> Tag {
    let place = at(place);
    tag("line").class(class).set("x1", &place).set("x2", &place).set("y1", 0).set("y2", at(HEIGHT))
}

/// Returns the places at which another release was measured for the first time.
fn releases(history: &[Day]) -> Vec<(usize, &str)> {
    let mut last = history.first().map_or("", |day| &day.label);
    let mut found = Vec::new();
    for (place, day) in history.iter().enumerate().filter(|(_, day)| !day.label.is_empty()) {
        if day.label != last {
            found.push((place, &*day.label));
            last = &day.label;
        }
    }
    found
}

/// Returns the list of what vertical lines mean.
fn marks(figure: Figure, history: &[Day], steps: &[&Step]) -> Tag {
    let releases = releases(history).into_iter().map(|(place, release)| {
        (history[place].sequence, format!("{} release {release}", day(history[place].time_ms)))
    });
    let steps = steps.iter().map(|step| {
        let levels = format!("{} -> {}", value(figure, step.before), value(figure, step.after));
        (step.sequence, format!("{} new level {levels}, {}", day(step.time_ms), change(step.after / step.before - 1.0)))
    });
    let mut all: Vec<(u64, String)> = releases.chain(steps).collect();
    all.sort();
    tag("ul").class("legend").all(all.into_iter().map(|(_, text)| tag("li").say(text)))
}

fn description(figure: Figure, known: &[(usize, &Day, f64)], steps: &[&Step]) -> String {
    let last = known.last().map_or(String::new(), |(_, _, v)| value(figure, *v));
    format!("{} measurements, the last one {last}; {} changes of level", known.len(), steps.len())
}
