//! The comparison of two jobs, for a terminal.

use super::numbers;
use super::table::{Side as Align, Table, wrap};
use crate::compare::{Better, Comparison, GROUPS, Row, Side};
use yunti_program::terminal::paint::Paint;

/// Returns one sentence: the faster job, with the ratio of the inputs if their sizes differ.
pub fn title(comparison: &Comparison) -> String {
    let Some(time) = comparison.rows.iter().find(|r| r.group == "whole" && r.name == "time") else {
        return String::new();
    };
    let input = comparison.rows.iter().find(|r| r.group == "whole" && r.name == "input");
    let (direction, more) = match input.filter(|input| !input.is_same() && input.ratio().is_some()) {
        // Different sizes are compared by their speed.
        Some(input) => {
            let speed = comparison.rows.iter().find(|r| r.name == "speed, of input").unwrap_or(time);
            let ratio = input.ratio().unwrap_or(1.0);
            let size = if ratio >= 1.0 {
                format!("{ratio:.2} times the input")
            } else {
                format!("1/{:.2} of the input", 1.0 / ratio)
            };
            (direction(speed), format!(", per byte of input: B had {size}"))
        }
        None => (direction(time), String::new()),
    };
    match &*direction {
        "the same" => format!("B took as long as A{more}"),
        direction => format!("B was {direction} than A{more}"),
    }
}

/// Returns B compared to A: `1.8x faster`, `2.1x more`, `the same`.
pub fn direction(row: &Row) -> String {
    if row.is_same() {
        return "the same".into();
    }
    let more = row.b > row.a;
    let word = match (row.unit, &*row.group, more) {
        (crate::compare::Unit::Milliseconds, "whole" | "stages", true) if row.name != "processor time" => "slower",
        (crate::compare::Unit::Milliseconds, "whole" | "stages", false) if row.name != "processor time" => "faster",
        (crate::compare::Unit::MbPerS, _, true) => "faster",
        (crate::compare::Unit::MbPerS, _, false) => "slower",
        (.., true) => "more",
        (.., false) => "less",
    };
    let (low, high) = (row.a.min(row.b), row.a.max(row.b));
    match (row.a > 0.0, row.b > 0.0) {
        (false, _) => "only in B".into(),
        (_, false) => "only in A".into(),
        _ => format!("{}x {word}", numbers::three(high / low)),
    }
}

/// Returns the job's name, its start time, and the path of its report.
pub fn name_of(side: &Side) -> String {
    format!("{}, {}, {}", side.name, numbers::utc(side.started_unix_ms), side.path)
}

pub fn print(comparison: &Comparison, width: usize, paint: Paint) -> String {
    let mut out = wrap("", &format!("{}.", title(comparison)), width);
    for (letter, side) in [("A", &comparison.a), ("B", &comparison.b)] {
        out += &wrap(&format!("  {letter}  "), &name_of(side), width);
    }
    if !comparison.differences.is_empty() {
        let mut table = Table::new(&[("", Align::Left), ("A", Align::Left), ("B", Align::Left)]);
        for d in &comparison.differences {
            let room = width.saturating_sub(24) / 2;
            table.row(vec![d.what.clone(), super::table::cut(&d.a, room), super::table::cut(&d.b, room)]);
        }
        out += &format!("\n{}\n{}", paint.bold("Differences between the two jobs"), table.print(paint));
    }
    for (group, heading) in GROUPS {
        let mut table =
            Table::new(&[("", Align::Left), ("A", Align::Right), ("B", Align::Right), ("B against A", Align::Left)]);
        for row in comparison.rows.iter().filter(|r| r.group == group) {
            let direction = direction(row);
            let direction = match row.better {
                Better::B => paint.colour(2, &direction),
                Better::A => paint.colour(1, &direction),
                Better::Neither => direction,
            };
            table.row(vec![row.name.clone(), row.text(row.a), row.text(row.b), direction]);
        }
        if !table.is_empty() {
            out += &format!("\n{}\n{}", paint.bold(heading), table.print(paint));
        }
    }
    out
}
