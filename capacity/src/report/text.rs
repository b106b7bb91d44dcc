//! The answer as text for a terminal.

use std::fmt::Write;

use yunti_program::terminal::{self, paint, paint::Paint};
use yunti_program::text::numbers::{percent, three};
use yunti_program::text::table::{Side, Table, wrap};

use super::Report;
use super::kinds;
use super::marks::rate;
use super::names::short;
use super::resources::label;
use super::tried::table as table_of_tries;

/// Resources in the table.
const RESOURCES_SHOWN: usize = 10;
/// Points of the curve in the table, without the marked ones.
const POINTS_SHOWN: usize = 8;
/// Columns of the table of resources before the name.
const BEFORE_NAME: usize = 46;

/// Returns the answer as text for the terminal on standard output.
pub fn text(report: &Report<'_>) -> String {
    lines(report, terminal::width(), paint::for_stdout())
}

fn lines(report: &Report<'_>, width: usize, paint: Paint) -> String {
    let (demands, sentences) = (report.demands, report.sentences());
    let process = format!("{} {}: ", report.process(), demands.process.pid);
    let lead = wrap("", &format!("{process}{}", sentences.first().map_or("", |text| text)), width);
    let mut text: String = lead.lines().map(|line| paint.bold(line) + "\n").collect();
    let measured = format!(
        "{} requests in {} s, {} a second; alone, a request needs {} ms; {} processors",
        demands.requests.count,
        three(demands.seconds),
        three(demands.requests.per_second),
        three(report.curve.formulas.necessary.ms),
        three(demands.processors.available()),
    );
    text += &wrap("", &measured, width);
    for sentence in sentences.iter().skip(1) {
        text += &wrap("* ", sentence, width);
    }
    for skip in report.skipped() {
        text += &wrap("SKIP ", &skip, width);
    }
    let kinds = kinds::text(report, width, paint).map_or(String::new(), |table| table + "\n");
    let _ = write!(text, "\n{}\n{kinds}{}", resources(report, width, paint), points(report, paint));
    if !report.tried.is_empty() {
        let _ = write!(text, "\n{}", table_of_tries(report.tried, paint));
    }
    text
}

/// Returns the table of resources, the fullest first.
fn resources(report: &Report<'_>, width: usize, paint: Paint) -> String {
    let mut table = Table::new(&[
        ("ms a request", Side::Right),
        ("at once", Side::Right),
        ("in use at the peak", Side::Right),
        ("resource", Side::Left),
    ]);
    for (item, utilisation) in report.resources().into_iter().take(RESOURCES_SHOWN) {
        table.row(vec![
            three(item.ms),
            item.units.map(three).unwrap_or_default(),
            utilisation.map(percent).unwrap_or_default(),
            short(&label(item), width.saturating_sub(BEFORE_NAME)),
        ]);
    }
    table.print(paint)
}

/// Returns the table of the curve: its marked points, and some between them.
fn points(report: &Report<'_>, paint: Paint) -> String {
    let points = &report.curve.points;
    let distance = |at: usize, clients: f64| (f64::from(points[at].simulated.clients) - clients).abs();
    let nearest =
        |clients: f64| (0..points.len()).min_by(|a, b| distance(*a, clients).total_cmp(&distance(*b, clients)));
    let mut words: Vec<Vec<&str>> = vec![Vec::new(); points.len()];
    for mark in report.marks() {
        if let Some(at) = nearest(mark.clients) {
            words[at].push(mark.name);
        }
    }
    let step = points.len().div_ceil(POINTS_SHOWN).max(1);
    let mut table = Table::new(&[
        ("in process", Side::Right),
        ("requests/s", Side::Right),
        ("low to high", Side::Right),
        ("mean ms", Side::Right),
        ("p99 ms", Side::Right),
        ("", Side::Left),
    ]);
    for (at, point) in points.iter().enumerate() {
        let is_last = at + 1 == points.len();
        if words[at].is_empty() && !is_last && at % step != 0 {
            continue;
        }
        let simulated = &point.simulated;
        table.row(vec![
            simulated.clients.to_string(),
            three(rate(point)),
            format!("{} to {}", three(point.low), three(point.high)),
            three(simulated.response_ms),
            three(simulated.response_ms_p99),
            if words[at].is_empty() { String::new() } else { format!("<- {}", words[at].join(", ")) },
        ]);
    }
    table.print(paint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::tests::Example;

    #[test]
    fn lines_fit_the_terminal() {
        for example in Example::all() {
            for width in [60, 96, 100] {
                let text = lines(&example.report(), width, Paint::OFF);
                // A word of a sentence that is longer than the line stays whole: names are cut to 80 columns.
                let limit = width.max(84);
                let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > limit + 4).collect();
                assert!(long.is_empty(), "{width}: {long:#?}");
                assert!(!text.contains('\u{1b}') && text.lines().count() > 6, "{text}");
            }
        }
    }

    #[test]
    fn marks_the_points_that_matter() {
        let text = lines(&Example::shop().report(), 96, Paint::OFF);
        for part in
            ["<- present load", "95 % of the peak", "knee", "all threads busy", "SKIP locks: no agent", "lock: com"]
        {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(text.starts_with("java shop.jar 4711: The service carries "), "{text}");
    }
}
