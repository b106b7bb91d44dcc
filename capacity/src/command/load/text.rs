//! Reports as text.

use yunti_load::curve::steps::{Climb, Step};
use yunti_load::curve::sweep::Point;
use yunti_load::guard::End;
use yunti_load::plan::Plan;
use yunti_load::report::{PatternReport, Report};
use yunti_load::tally::times::Percentiles;
use yunti_program::terminal::paint::Paint;
use yunti_program::text::numbers;
use yunti_program::text::table::{Side, Table, cut};

use super::prepare::LogNotes;

/// Patterns of paths that a text lists.
const PATTERNS: usize = 12;
const PATTERN_COLUMNS: usize = 48;
/// Lateness of the client that is worth a note: its 99th percentile in milliseconds, and as a share of the latency's.
const LATE_MS_MIN: f64 = 1.0;
const LATE_SHARE: f64 = 0.2;
/// Processor use of a thread from which the client may be the limit.
const CPU_SHARE: f64 = 0.9;

/// Returns the report of a run.
pub fn report(report: &Report) -> String {
    let planned = match (report.kind, report.planned_per_second) {
        ("closed", _) => format!("{} in a closed loop", numbers::several(report.connections as u64, "client")),
        (_, Some(rate)) => format!("{} requests/s offered", numbers::three(rate)),
        _ => "requests at the times of the log".into(),
    };
    let mut text = format!("{}: {planned} for {}\n\n", report.target, numbers::seconds(report.seconds));
    text += &format!(
        "  {} requests/s answered ({} of {}), {} ({})\n",
        numbers::three(report.done_per_second),
        numbers::count(report.done),
        numbers::count(report.offered),
        numbers::several(report.errors, "error"),
        numbers::percent(report.error_share()),
    );
    let statuses: Vec<String> =
        report.statuses.iter().map(|(status, n)| format!("{status}: {}", numbers::count(*n))).collect();
    if !statuses.is_empty() {
        text += &format!("  statuses {}\n", statuses.join(", "));
    }
    if report.done > 0 {
        text.push('\n');
        text += &times(report);
    }
    text += &patterns(&report.patterns);
    text += &notes(report);
    text
}

fn times(report: &Report) -> String {
    let mut table = Table::new(&[
        ("", Side::Left),
        right("mean"),
        right("p50"),
        right("p90"),
        right("p99"),
        right("p99.9"),
        right("max"),
    ]);
    let mut row = |name: &str, times: &Percentiles| {
        let all = [times.mean_ms, times.p50_ms, times.p90_ms, times.p99_ms, times.p999_ms, times.max_ms];
        table.row([name.to_string()].into_iter().chain(all.map(numbers::milliseconds)).collect());
    };
    row("latency", &report.latency);
    if report.kind == "open" {
        row("service", &report.service);
        row("waiting", &report.waiting);
        row("client late", &report.lateness);
    }
    table.print(Paint::OFF)
}

fn patterns(patterns: &[PatternReport]) -> String {
    if patterns.is_empty() {
        return String::new();
    }
    let columns = [("path", Side::Left), right("requests"), right("errors"), right("mean"), right("p50"), right("p99")];
    let mut table = Table::new(&columns).with_all_columns();
    for row in patterns.iter().take(PATTERNS) {
        let times = [row.mean_ms, row.p50_ms, row.p99_ms].map(numbers::milliseconds);
        let counts = [numbers::count(row.done + row.errors), numbers::count(row.errors)];
        let name = cut(&row.pattern, PATTERN_COLUMNS);
        table.row([name].into_iter().chain(counts).chain(times).collect());
    }
    let rest = patterns.len().saturating_sub(PATTERNS) as u64;
    let rest = if rest > 0 { format!("  and {}\n", numbers::several(rest, "further path")) } else { String::new() };
    format!("\n{}{rest}", table.print(Paint::OFF))
}

fn notes(report: &Report) -> String {
    let mut text = format!(
        "\n  client: {} of a processor, {} opened\n",
        numbers::percent(report.cpus),
        numbers::several(report.connects, "connection")
    );
    if report.lateness.p99_ms > LATE_MS_MIN && report.lateness.p99_ms > LATE_SHARE * report.latency.p99_ms {
        text += "  the client itself was late: this machine lacks processor time, so the latencies are too high\n";
    }
    if report.cpus > CPU_SHARE * report.threads as f64 {
        text += "  the client was busy: add --threads, or the figures show the client's limit\n";
    }
    for (kind, n) in &report.failures {
        let example = report.examples.iter().find(|example| example.kind == *kind);
        text += &format!("  {}: {}", kind.name(), numbers::count(*n));
        text += &example.map_or(String::new(), |example| format!(", the first: {}", example.text));
        text.push('\n');
    }
    for (n, what) in [
        (report.unsent, "were due and not sent when the run ended"),
        (report.unanswered, "had no answer when the run ended"),
        (report.repeats, "were sent again: the server had closed the idle connection"),
    ] {
        if n > 0 {
            text += &format!("  {} {what}\n", numbers::several(n, "request"));
        }
    }
    if report.is_halved {
        text += "  errors exceeded the share of --stop-errors: the rate was halved\n";
    }
    match report.end {
        End::Errors => text += "  stopped: errors exceeded the share of --stop-errors, also at half the rate\n",
        End::Silence => text += "  stopped: no answer arrived within --timeout\n",
        End::Cancelled => text += "  cancelled: these are the figures until then\n",
        End::Complete => {}
    }
    text
}

fn right(name: &str) -> (&str, Side) {
    (name, Side::Right)
}

/// Returns the line of a finished step.
pub fn step_line(step: &Step) -> String {
    format!(
        "{} requests/s offered: {} answered, p99 {}{}",
        numbers::three(step.per_second),
        numbers::three(step.report.done_per_second),
        numbers::milliseconds(step.report.latency.p99_ms),
        step.sign.map_or(String::new(), |sign| format!(", {}", sign.name()))
    )
}

/// Returns the report of steps.
pub fn climb(plan: &Plan, climb: &Climb) -> String {
    let columns =
        [right("offered/s"), right("answered/s"), right("p50"), right("p99"), right("errors"), ("", Side::Left)];
    let mut table = Table::new(&columns);
    for step in &climb.steps {
        let report = &step.report;
        table.row(vec![
            numbers::three(step.per_second),
            numbers::three(report.done_per_second),
            numbers::milliseconds(report.latency.p50_ms),
            numbers::milliseconds(report.latency.p99_ms),
            numbers::count(report.errors),
            step.sign.map_or(String::new(), |sign| sign.name().into()),
        ]);
    }
    let mut text = format!("{}: a rate in steps\n\n{}\n", plan.target, table.print(Paint::OFF));
    text += &format!("  peak: {} requests/s answered\n", numbers::three(climb.peak_per_second));
    text += &match (climb.knee_per_second, climb.is_limit_found) {
        (Some(knee), true) => {
            format!("  knee: {} requests/s, the last rate that was served well\n", numbers::three(knee))
        }
        (Some(_), false) => "  no knee: the server did not suffer; its limit is higher\n".into(),
        (None, _) => "  no knee: the first rate was too high already; lower --from\n".into(),
    };
    let cpus = climb.steps.iter().map(|step| step.report.cpus).fold(0.0, f64::max);
    text + &format!("  client: at most {} of a processor\n", numbers::percent(cpus))
}

/// Returns the line of a finished run of a sweep.
pub fn point_line(point: &Point) -> String {
    format!(
        "{}: {} requests/s, p99 {}",
        numbers::several(point.clients as u64, "client"),
        numbers::three(point.report.done_per_second),
        numbers::milliseconds(point.report.latency.p99_ms)
    )
}

/// Returns the report of a sweep.
pub fn sweep(plan: &Plan, points: &[Point]) -> String {
    let names = ["clients", "requests/s", "mean", "p50", "p90", "p99", "max", "errors", "client CPU"];
    let mut table = Table::new(&names.map(right));
    for point in points {
        let (report, times) = (&point.report, &point.report.latency);
        let times = [times.mean_ms, times.p50_ms, times.p90_ms, times.p99_ms, times.max_ms].map(numbers::milliseconds);
        let first = [numbers::count(point.clients as u64), numbers::three(report.done_per_second)];
        let last = [numbers::count(report.errors), numbers::percent(report.cpus)];
        table.row(first.into_iter().chain(times).chain(last).collect());
    }
    let mut text = format!("{}: a closed loop at each number of clients\n\n{}", plan.target, table.print(Paint::OFF));
    let last = points.last().filter(|point| point.report.end != End::Complete);
    text += match last.map(|point| point.report.end) {
        Some(End::Errors) => "\n  stopped: errors exceeded the share of --stop-errors\n",
        Some(End::Silence) => "\n  stopped: no answer arrived within --timeout\n",
        Some(End::Cancelled) => "\n  cancelled: these are the figures until then\n",
        _ => "",
    };
    text
}

/// Returns the notes on a log.
pub fn log(log: &LogNotes) -> String {
    let mut text = format!("  log: {}", numbers::several(log.requests as u64, "request"));
    if let Some(seconds) = log.seconds {
        text += &format!(" of {}", numbers::seconds(seconds as f64));
    }
    if log.left_out.other_methods > 0 {
        text += &format!("; {} with a body or an effect left out", numbers::count(log.left_out.other_methods));
    }
    if let (n @ 1.., Some((line, why))) = (log.left_out.unreadable, log.left_out.example) {
        text += &format!("; {} unreadable, the first is line {line}: {why}", numbers::several(n, "line"));
    }
    text + "\n"
}
