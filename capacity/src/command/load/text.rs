//! Report as text, and the line of progress.

use std::io::{IsTerminal, Write};

use yunti_load::guard::End;
use yunti_load::report::{Report, Second};
use yunti_load::tally::times::Percentiles;
use yunti_program::terminal::paint::Paint;
use yunti_program::text::numbers;
use yunti_program::text::table::{Side, Table};

/// Line of progress on a terminal.
pub struct Progress {
    is_on: bool,
}

impl Progress {
    /// Returns the line; it is off if standard error is no terminal, or for JSON.
    pub fn new(is_json: bool) -> Progress {
        Progress { is_on: !is_json && std::io::stderr().is_terminal() }
    }

    /// Shows the last second.
    pub fn show(&mut self, second: &Second) {
        if self.is_on {
            let (p50, p99) = (numbers::milliseconds(second.p50_ms), numbers::milliseconds(second.p99_ms));
            let _ = write!(
                std::io::stderr(),
                "\r\x1b[K{} s: {} requests/s, p50 {p50}, p99 {p99}, {} errors",
                second.at_s + 1,
                second.done,
                second.errors
            );
        }
    }

    /// Removes the line.
    pub fn clear(&mut self) {
        if self.is_on {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

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
    text.push('\n');
    text += &times(report);
    text += &notes(report);
    text
}

fn times(report: &Report) -> String {
    let mut table = Table::new(&[
        ("", Side::Left),
        ("mean", Side::Right),
        ("p50", Side::Right),
        ("p90", Side::Right),
        ("p99", Side::Right),
        ("p99.9", Side::Right),
        ("max", Side::Right),
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

fn notes(report: &Report) -> String {
    let mut text = format!(
        "\n  client: {} of a processor, {} opened\n",
        numbers::percent(report.cpus),
        numbers::several(report.connects, "connection")
    );
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
