//! The timeline of the workers as text, one line per worker.
//!
//! ```text
//!    0  mmmmmmmmmmmmmmmmmmmssssssrrrrrrrrrrrrrrwww  97 %
//!    1  mmmmmmmmmmmmmmmm···sssss·rrrrrrrrrr·······  71 %
//! ```
//! A cell shows the kind that took most of its time; a dot is an idle worker.

use yunti_engine::job::report::{Report, Span, Worker};

use super::numbers;
use yunti_program::terminal::paint::Paint;

/// Kinds of spans, their letters and colours.
const KINDS: [(&str, char, u8); 11] = [
    ("prepare", 't', 6),
    ("map", 'm', 2),
    ("spill", 'p', 1),
    ("sort", 's', 3),
    ("merge", 'g', 5),
    ("reduce", 'r', 4),
    ("commit", 'c', 6),
    // Kinds of a cluster's job.
    ("launch", 'l', 7),
    ("jvm-start", 'j', 3),
    ("shuffle", 'f', 5),
    ("lost", 'x', 1),
];
const IDLE: char = '·';

fn letter(kind: &str) -> Option<(char, u8)> {
    match KINDS.iter().find(|(name, ..)| *name == kind) {
        Some((_, letter, colour)) => Some((*letter, *colour)),
        None if kind == "wait" => None,
        None => Some((kind.chars().next().unwrap_or('?'), 7)),
    }
}

/// Maximum number of workers in the drawing; the rest is counted.
const WORKERS_MAX: usize = 32;

pub fn print(report: &Report, width: usize, paint: Paint) -> String {
    let cells = width.saturating_sub(16).clamp(20, 80);
    let wall_ms = report.job.wall_ms.max(1e-6);
    let mut out = String::new();
    for worker in report.workers.iter().take(WORKERS_MAX) {
        let busy = numbers::percent((worker.busy_ms / wall_ms).clamp(0.0, 1.0) + 0.0);
        out += &format!("  {:>3}  {}  {busy:>5}\n", worker.number, line(worker, wall_ms, cells, paint));
    }
    if report.workers.len() > WORKERS_MAX {
        out += &format!("       and {} more\n", report.workers.len() - WORKERS_MAX);
    }
    let end = numbers::milliseconds(wall_ms);
    out += &paint.dim(&format!("       0{end:>width$}", width = cells - 1));
    out.push('\n');
    let mut seen: Vec<&str> = Vec::new();
    for span in report.workers.iter().flat_map(|w| &w.spans) {
        if span.kind != "wait" && !seen.contains(&span.kind.as_str()) {
            seen.push(&span.kind);
        }
    }
    let legend: Vec<String> = seen
        .iter()
        .filter_map(|kind| {
            letter(kind).map(|(letter, colour)| format!("{} {kind}", paint.colour(colour, &letter.to_string())))
        })
        .chain([format!("{IDLE} idle")])
        .collect();
    out + "       " + &legend.join("  ") + "\n"
}

fn line(worker: &Worker, wall_ms: f64, cells: usize, paint: Paint) -> String {
    let cell_ms = wall_ms / cells as f64;
    // The time of each kind, by cell.
    let mut shares: Vec<Vec<(&str, f64)>> = vec![Vec::new(); cells];
    for Span { kind, start_ms, end_ms, .. } in &worker.spans {
        if kind == "wait" {
            continue;
        }
        let last_cell = cells - 1;
        let first = ((start_ms / cell_ms) as usize).min(last_cell);
        let last = ((end_ms / cell_ms) as usize).min(last_cell);
        for (cell, share) in shares.iter_mut().enumerate().take(last + 1).skip(first) {
            let begin = start_ms.max(cell as f64 * cell_ms);
            let end = end_ms.min((cell + 1) as f64 * cell_ms);
            match share.iter_mut().find(|(name, _)| name == kind) {
                Some((_, ms)) => *ms += end - begin,
                None => share.push((kind, end - begin)),
            }
        }
    }
    let mut out = String::new();
    let mut run = (String::new(), None);
    let flush = |(text, colour): &(String, Option<u8>)| match colour {
        Some(colour) => paint.colour(*colour, text),
        None => paint.dim(text),
    };
    for share in &shares {
        let total: f64 = share.iter().map(|(_, ms)| ms).sum();
        let most = share.iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| total * 2.0 >= cell_ms);
        let (character, colour) = match most.and_then(|(kind, _)| letter(kind)) {
            Some((letter, colour)) => (letter, Some(colour)),
            None => (IDLE, None),
        };
        if colour != run.1 {
            out += &flush(&run);
            run = (String::new(), colour);
        }
        run.0.push(character);
    }
    out + &flush(&run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_shows_what_took_most_of_it() {
        let span = |kind: &str, start_ms, end_ms| Span { kind: kind.into(), start_ms, end_ms, ..Span::default() };
        let check = |spans: Vec<Span>, expect: &str| {
            let worker = Worker { number: 0, busy_ms: 0.0, spans };
            assert_eq!(line(&worker, 100.0, 10, Paint::OFF), expect);
        };
        check(vec![span("map", 0.0, 50.0), span("wait", 50.0, 70.0), span("reduce", 70.0, 100.0)], "mmmmm··rrr");
        check(vec![span("map", 0.0, 16.0), span("sort", 16.0, 24.0)], "mm········");
        // Many tasks within a cell, and times past the end.
        check((0..100).map(|i| span("map", f64::from(i), f64::from(i) + 1.0)).collect(), "mmmmmmmmmm");
        check(vec![span("commit", 95.0, 130.0)], "·········c");
    }
}
