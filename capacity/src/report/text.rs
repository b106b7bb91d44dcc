//! The answer as text for a terminal.

use std::fmt::Write;

use yunti_program::terminal::paint;
use yunti_program::text::numbers;
use yunti_program::text::table::{Side, Table};

use super::Report;

/// Resources in the table.
const RESOURCES_SHOWN: usize = 8;
/// Points of the curve in the table.
const POINTS_SHOWN: usize = 12;

/// Returns the answer as text.
pub fn text(report: &Report<'_>) -> String {
    let (demands, curve) = (report.demands, report.curve);
    let mut text = String::new();
    let process = &demands.process;
    let rate = |value: f64| numbers::three(value);
    let lead = report.advice.sentences.first().map_or("", |sentence| &sentence.text);
    let _ = writeln!(text, "{} {}: {lead}", process.name, process.pid);
    let _ = writeln!(
        text,
        "{} requests in {:.1} s, {} per second; a request needs {} ms",
        demands.requests.count,
        demands.seconds,
        rate(demands.requests.per_second),
        rate(curve.formulas.necessary.ms),
    );
    for sentence in report.advice.sentences.iter().skip(1) {
        let _ = writeln!(text, "* {}", sentence.text);
    }
    for skip in report.skips {
        let _ = writeln!(text, "SKIP {skip}");
    }
    let columns = [
        ("ms a request", Side::Right),
        ("at once", Side::Right),
        ("full at the peak", Side::Right),
        ("resource", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for item in curve.formulas.necessary.items.iter().take(RESOURCES_SHOWN) {
        let share = curve.bottleneck.shares.iter().find(|share| share.place == item.place);
        table.row(vec![
            rate(item.ms),
            item.units.map(rate).unwrap_or_default(),
            share.map(|share| numbers::percent(share.utilisation)).unwrap_or_default(),
            format!("{}: {}", item.kind, item.name),
        ]);
    }
    text += "\n";
    text += &table.print(paint::for_stdout());
    let mut table = Table::new(&[
        ("in process", Side::Right),
        ("requests/s", Side::Right),
        ("low", Side::Right),
        ("high", Side::Right),
        ("mean ms", Side::Right),
        ("p99 ms", Side::Right),
    ]);
    let step = curve.points.len().div_ceil(POINTS_SHOWN).max(1);
    for point in curve.points.iter().step_by(step) {
        table.row(vec![
            point.simulated.clients.to_string(),
            rate(point.simulated.per_second),
            rate(point.low),
            rate(point.high),
            rate(point.simulated.response_ms),
            rate(point.simulated.response_ms_p99),
        ]);
    }
    text += "\n";
    text += &table.print(paint::for_stdout());
    text
}
