//! Findings as text for people, and as one JSON document (docs/formats/doctor.schema.json).

use serde_json::{Value, json};

use super::finding::{Finding, Level};
use yunti_program::terminal::{self, paint};
use yunti_program::text::table::{Side, Table, wrap};

/// Format name. Its number increases when a field changes its meaning; new fields and findings keep it.
pub const FORMAT: &str = "yunti-doctor/1";

fn count(findings: &[Finding], level: Level) -> usize {
    findings.iter().filter(|f| f.level == level).count()
}

/// Returns the JSON document of the findings.
pub fn document(findings: &[Finding]) -> Value {
    json!({
        "format": FORMAT,
        "version": env!("CARGO_PKG_VERSION"),
        "warnings": count(findings, Level::Warning),
        "notes": count(findings, Level::Note),
        "findings": findings,
    })
}

/// Returns a table of all findings, then each problem in full, warnings first.
pub fn text(findings: &[Finding]) -> String {
    let paint = paint::for_stdout();
    let mark = |level| match level {
        Level::Ok => "ok",
        Level::Note => "note",
        Level::Warning => "WARNING",
    };
    let mut table = Table::new(&[("", Side::Left), ("", Side::Left), ("", Side::Left), ("", Side::Left)]);
    let mut area = "";
    for finding in findings {
        let first = if finding.area == area { "" } else { finding.area };
        area = finding.area;
        table.row(vec![mark(finding.level).into(), first.into(), finding.name.clone(), finding.seen.clone()]);
    }
    let mut out = table.print(paint);
    for level in [Level::Warning, Level::Note] {
        for finding in findings.iter().filter(|f| f.level == level) {
            let place = finding.place.as_ref().map(|place| format!(", {place}")).unwrap_or_default();
            let name = format!("{}, {}{place}", finding.area, finding.name);
            let colour = if level == Level::Warning { 1 } else { 3 };
            out += &format!("\n{} {}\n", paint.colour(colour, mark(level)), paint.bold(&name));
            let mut line = |first: &str, text: &str| out += &wrap(first, text, terminal::width());
            line("  ", &format!("{}.", finding.why));
            finding.change.iter().for_each(|text| line("  change: ", text));
            finding.cost.iter().for_each(|text| line("  costs:  ", text));
            finding.undo.iter().for_each(|text| line("  undo:   ", text));
        }
    }
    let (warnings, notes) = (count(findings, Level::Warning), count(findings, Level::Note));
    out + &format!("\n{warnings} warnings, {notes} notes, {} checks; nothing was changed\n", findings.len())
}
