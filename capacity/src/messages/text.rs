//! Text of a report, for people.

use yunti_program::terminal::paint::Paint;
use yunti_program::text::numbers;
use yunti_program::text::table::{Side, Table};

use super::report::{Cost, Report};
use super::shares::Share;
use super::trial::{Alternative, Timing, Trial};

/// Call sites shown.
const PLACES: usize = 10;
/// Gaps and refusals shown.
const LINES: usize = 12;

/// Returns the report as text.
pub fn render(report: &Report, paint: Paint) -> String {
    let mut out = lead(report);
    out += &libraries(report, paint);
    out += &places(report, paint);
    if let Some(trial) = &report.trial {
        out += &trial_text(trial, paint);
        out += "\nAdvice\n";
        if report.advice.is_empty() {
            out += "  No alternative is faster on these messages by more than the error.\n";
        }
        for advice in &report.advice {
            out += &format!("  {}\n", advice.sentence);
            for warning in &advice.warnings {
                out += &format!("    {warning}\n");
            }
        }
    }
    for note in &report.notes {
        out += &format!("\n{note}\n");
    }
    out
}

fn percent(share: Share) -> String {
    format!("{:.1} ±{:.1} %", share.share * 100.0, share.error * 100.0)
}

fn lead(report: &Report) -> String {
    let mut line = format!(
        "Messages of process {}: {} of its processor time, {} of its allocation",
        report.pid,
        percent(report.all.cpu),
        percent(report.all.alloc)
    );
    if let (Some(requests), Some(ms)) = (report.requests, report.all.ms_per_request) {
        line += &format!(
            "; {} of {} ms a request at {:.0} requests per second",
            numbers::three(ms),
            numbers::three(requests.cpu_ms),
            requests.per_second
        );
    }
    format!("{line}\n({} and {} samples in {:.1} s)\n", report.cpu_samples, report.alloc_samples, report.seconds)
}

fn cost_cells(cost: &Cost) -> Vec<String> {
    let time = cost.ms_per_request.zip(cost.ms_per_request_error);
    vec![
        percent(cost.cpu),
        percent(cost.alloc),
        time.map_or_else(String::new, |(ms, error)| format!("{ms:.3} ±{error:.3}")),
        cost.bytes_per_request.map_or_else(String::new, |bytes| numbers::bytes(bytes as u64)),
    ]
}

const COST: [(&str, Side); 4] =
    [("cpu", Side::Right), ("alloc", Side::Right), ("ms a request", Side::Right), ("bytes a request", Side::Right)];

fn libraries(report: &Report, paint: Paint) -> String {
    let columns = [&COST[..], &[("kind", Side::Left), ("library", Side::Left), ("direction", Side::Left)]].concat();
    let mut table = Table::new(&columns);
    for row in &report.libraries {
        let names = [row.serialiser.kind.name(), row.serialiser.library, row.direction.name()];
        table.row(cost_cells(&row.cost).into_iter().chain(names.map(str::to_owned)).collect());
    }
    if table.is_empty() { String::new() } else { format!("\nBy library\n{}", table.print(paint)) }
}

fn places(report: &Report, paint: Paint) -> String {
    let columns = [
        &COST[..],
        &[("library", Side::Left), ("direction", Side::Left), ("call site", Side::Left), ("types", Side::Left)],
    ]
    .concat();
    let mut table = Table::new(&columns);
    for row in report.places.iter().take(PLACES) {
        let place = &row.place;
        let names = [place.serialiser.library, place.direction.name(), &place.call_site, &row.types.join(", ")];
        table.row(cost_cells(&row.cost).into_iter().chain(names.map(str::to_owned)).collect());
    }
    if table.is_empty() { String::new() } else { format!("\nBy call site\n{}", table.print(paint)) }
}

fn nanos(timing: Option<Timing>) -> String {
    timing.map_or_else(
        || "-".to_owned(),
        |timing| {
            let spread = (timing.ns_max - timing.ns_min) / 2.0 / timing.ns.max(1.0);
            format!("{:.0} ±{:.0} %", timing.ns, spread * 100.0)
        },
    )
}

fn trial_text(trial: &Trial, paint: Paint) -> String {
    let redacted = if trial.is_redacted { "redacted" } else { "not redacted" };
    let mut out = format!("\nTrials on {} captured messages, {redacted}\n", trial.captured);
    for group in &trial.groups {
        let bytes = group.bytes.map_or_else(String::new, |bytes| format!(", {bytes:.0} bytes each in the service"));
        let library = &group.library;
        let calls = |calls: u64| numbers::three(calls as f64 / trial.capture_seconds.max(0.001));
        out += &format!(
            "\n{} by {library}: {} written and {} read per second{bytes}; {} captured\n",
            group.of_type,
            calls(group.calls_written),
            calls(group.calls_read),
            group.written + group.read
        );
        let mut table = Table::new(&[
            ("write ns", Side::Right),
            ("read ns", Side::Right),
            ("bytes", Side::Right),
            ("alloc write", Side::Right),
            ("alloc read", Side::Right),
            ("library", Side::Left),
            ("", Side::Left),
        ]);
        let mut refused = Vec::new();
        for one in trial.alternatives.iter().filter(|one| one.library == *library) {
            let Some(result) = one.result(group) else { continue };
            if let Some(reason) = &result.refused {
                refused.push((label(one), reason));
                continue;
            }
            let allocated =
                |timing: Option<Timing>| timing.map_or_else(String::new, |t| format!("{:.0}", t.allocated_bytes));
            table.row(vec![
                nanos(result.write),
                nanos(result.read),
                result.bytes.map_or_else(String::new, |bytes| format!("{bytes:.0}")),
                allocated(result.write),
                allocated(result.read),
                label(one),
                result.note.clone().unwrap_or_default(),
            ]);
        }
        out += &table.print(paint);
        out += &refusals(&refused);
    }
    let failed = trial.alternatives.iter().filter_map(|one| Some((one, one.error.as_ref()?)));
    for (one, error) in failed {
        out += &format!("  {} failed: {error}\n", label(one));
    }
    for gap in trial.gaps.iter().take(LINES) {
        out += &format!("  {gap}\n");
    }
    if let Some(folder) = &trial.folder {
        out += &format!("  The messages are kept in {folder}\n");
    }
    out
}

/// Returns a line for each reason, with all libraries that it is true of.
fn refusals(refused: &[(String, &String)]) -> String {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, reason) in refused {
        match by_reason.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(name),
            None => by_reason.push((reason, vec![name])),
        }
    }
    by_reason.into_iter().map(|(reason, names)| format!("  refused: {}: {reason}\n", names.join(", "))).collect()
}

fn label(one: &Alternative) -> String {
    let mark = if one.is_baseline {
        ", as now"
    } else if one.is_estimate {
        ", estimate"
    } else {
        ""
    };
    format!("{} {}{mark}", one.name, one.version)
}
