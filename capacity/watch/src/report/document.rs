//! JSON documents: the whole report, and the short verdict for a web hook.

use serde_json::{Value, json};

use crate::clock::minute;
use crate::compare::{Cause, Change, Comparison, Day, Figure};
use crate::record::Head;

/// Name and version of the formats.
pub const FORMAT: &str = "yunti-watch-report/1";
pub const VERDICT_FORMAT: &str = "yunti-watch-verdict/1";
/// Functions in a verdict.
const VERDICT_FUNCTIONS: usize = 5;

/// Returns the document of a report.
pub fn report(name: &str, head: &Head, comparison: &Comparison, history: &[Day], against: &str) -> Value {
    let compared = comparison.compared(history);
    json!({
        "format": FORMAT,
        "watch": name,
        "verdict": comparison.verdict().name(),
        "measurement": measurement(head, &comparison.today),
        "compared_with": {
            "against": against,
            "days": compared.len(),
            "first_ms": compared.first().map(|day| day.time_ms),
            "last_ms": compared.last().map(|day| day.time_ms),
            "sequences": comparison.days,
        },
        "rules": comparison.rules,
        "failing": comparison.failing,
        "functions": comparison.causes.iter().map(cause).collect::<Vec<_>>(),
        "common_caller": comparison.common_caller,
        "mostly": comparison.mostly.as_ref().map(change),
        "fallen": comparison.fallen.iter().map(change).collect::<Vec<_>>(),
        "moved": comparison.moved.iter().map(change).collect::<Vec<_>>(),
        "common_change": comparison.common,
        "steps": comparison.steps,
        "history": history.iter().map(day).collect::<Vec<_>>(),
        "notes": comparison.notes,
    })
}

/// Returns the document that a web hook gets.
pub fn verdict(name: &str, head: &Head, comparison: &Comparison) -> Value {
    json!({
        "format": VERDICT_FORMAT,
        "watch": name,
        "verdict": comparison.verdict().name(),
        "text": super::text::headline(name, comparison),
        "measurement": measurement(head, &comparison.today),
        "rules": comparison.rules,
        "failing": comparison.failing,
        "functions": comparison.causes.iter().take(VERDICT_FUNCTIONS).map(cause).collect::<Vec<_>>(),
        "common_caller": comparison.common_caller,
    })
}

fn measurement(head: &Head, today: &Day) -> Value {
    json!({
        "sequence": head.sequence,
        "time_ms": head.time_ms,
        "time": minute(head.time_ms),
        "label": head.label,
        "state": head.state,
        "notes": head.notes,
        "host": head.host,
        "windows": today.windows,
        "windows_left_out": today.left_out,
        "samples": today.samples.round(),
        "requests_per_second": today.rate,
        "calibration_ms": today.calibration_ms,
    })
}

fn day(day: &Day) -> Value {
    let mut value = json!({
        "sequence": day.sequence,
        "time_ms": day.time_ms,
        "label": day.label,
        "state": day.state,
        "requests_per_second": day.rate,
        "calibration_ms": day.calibration_ms,
    });
    for figure in Figure::ALL {
        value[figure.name()] = json!(figure.of(day));
    }
    value
}

fn cause(cause: &Cause) -> Value {
    let mut value = change(&cause.change);
    value["callers"] = json!(cause.callers);
    value
}

fn change(change: &Change) -> Value {
    json!({
        "function": change.name,
        "part": change.part.name(),
        "before_ms": change.before_ms,
        "now_ms": change.now_ms,
        "error_ms": change.error_ms,
        "share": change.share,
        "probability": change.probability,
        "q": change.q,
    })
}
