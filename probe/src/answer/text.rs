//! Answer as text for a terminal.

use std::io::IsTerminal;

use yunti_program::terminal::{paint, width};

use super::{Answer, Listing, Table};

/// Lines of an entry.
const LINES_SHOWN: usize = 24;
/// Duration in seconds of a measurement that is too short for a percentage.
const SHORT_SECONDS: f64 = 1.0;
/// Entries of a listing.
const LISTED: usize = 5;

/// Returns the text of an answer.
pub fn of(answer: &Answer) -> String {
    let paint = paint::for_stdout();
    let Answer { subject, lead, seconds, overhead_percent, overhead_seconds, .. } = answer;
    let mut text = format!("{subject}: {lead}\n");
    if *seconds > 0.0 {
        let start = match answer.start_cpu_seconds {
            start if start > 0.0 => format!(", after {start:.2} s to start"),
            _ => String::new(),
        };
        let overhead = match *seconds < SHORT_SECONDS {
            true => format!("{overhead_seconds:.2} s of processor time"),
            false => format!("{overhead_percent:.1} % of a processor"),
        };
        text += &paint.dim(&format!("{seconds:.1} s; overhead: {overhead}{start}"));
        text.push('\n');
    }
    for skip in &answer.skips {
        text += &format!("SKIP {skip}\n");
    }
    if answer.target_ended {
        text += "The process ended during the measurement.\n";
    }
    for note in &answer.notes {
        text += &format!("{note}\n");
    }
    for table in answer.tables.iter().filter(|table| !table.rows.is_empty() && table.shown > 0) {
        text += &format!("\n{}\n{}", paint.bold(&table.title), rows(table, |head| paint.dim(head)));
    }
    for listing in answer.listings.iter().filter(|listing| !listing.of.is_empty()) {
        text += &format!("\n{}\n{}", paint.bold(&listing.title), listed(listing, |line| paint.dim(line)));
    }
    text
}

/// Returns a table without its heading.
pub fn table(table: &Table) -> String {
    let paint = paint::for_stdout();
    rows(table, |head| paint.dim(head))
}

fn rows(table: &Table, head: impl Fn(&str) -> String) -> String {
    let shown = || table.rows.iter().take(table.shown);
    let last = table.columns.len().saturating_sub(1);
    let widths: Vec<usize> = (0..table.columns.len())
        .map(|c| {
            shown().map(|row| row[c].chars().count()).chain([table.columns[c].0.chars().count()]).max().unwrap_or(0)
        })
        .collect();
    let line = |cells: Vec<&str>| {
        let mut line = String::new();
        for (c, cell) in cells.into_iter().enumerate() {
            let (width, is_number) = (widths[c], table.columns[c].1);
            line += &match is_number {
                true => format!("{cell:>width$}"),
                false if c == last => cell.to_owned(),
                false => format!("{cell:<width$}"),
            };
            line += if c == last { "" } else { "  " };
        }
        cut(line.trim_end())
    };
    let mut text = head(&line(table.columns.iter().map(|(name, _)| *name).collect())) + "\n";
    for row in shown() {
        text += &(line(row.iter().map(String::as_str).collect()) + "\n");
    }
    if table.rows.len() > table.shown {
        text += &format!("and {} more\n", table.rows.len() - table.shown);
    }
    text
}

fn listed(listing: &Listing, dim: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    for (head, lines) in listing.of.iter().take(LISTED) {
        text += &format!("{head}\n");
        for line in lines.iter().take(LINES_SHOWN) {
            text += &(cut(&format!("    {line}")) + "\n");
        }
        if lines.len() > LINES_SHOWN {
            text += &dim(&format!("    .. {} more", lines.len() - LINES_SHOWN));
            text.push('\n');
        }
    }
    text
}

/// Cuts a line at the terminal's width, because names of templates may fill pages. Piped output stays whole.
fn cut(line: &str) -> String {
    if std::io::stdout().is_terminal() { line.chars().take(width()).collect() } else { line.to_owned() }
}
