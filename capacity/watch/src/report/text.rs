//! Text of a report.

use yunti_program::terminal::paint::Paint;
use yunti_program::text::table::{Side, Table};

use super::figure::{change, ms, value};
use crate::clock::{day, minute};
use crate::compare::{Change, Comparison, Day, Failing, Figure, Rule, Verdict};
use crate::record::{Head, State};

/// Functions and measurements shown.
const FUNCTIONS: usize = 10;
const DAYS: usize = 14;
/// Callers shown of a function.
const CALLERS: usize = 2;

/// Returns the sentence that says it all.
pub fn headline(name: &str, comparison: &Comparison) -> String {
    let release = match &*comparison.today.label {
        "" => String::new(),
        label => format!(" ({label})"),
    };
    let subject = format!("{name}{release}");
    if comparison.is_worse() {
        let mut parts: Vec<String> = comparison
            .rules
            .iter()
            .filter(|rule| rule.verdict == Verdict::Worse)
            .map(|rule| format!("{} {}", rule.figure.title(), change(rule.change.unwrap_or(0.0))))
            .collect();
        if let Some(failing) = comparison.failing.filter(|failing| failing.verdict == Verdict::Worse) {
            parts.insert(0, failed(&failing));
        }
        if let Some(cause) = comparison.causes.first() {
            let grown = &cause.change;
            let times = format!("{} -> {} a request", ms(grown.before_ms), ms(grown.now_ms));
            parts.push(format!("{} {times}", grown.name));
        } else if let Some(mostly) = &comparison.mostly {
            parts.push(format!("most of it in {}", mostly.name));
        }
        return format!("{subject} is worse: {}", parts.join("; "));
    }
    let state = comparison.today.state;
    match comparison.verdict() {
        Verdict::Unknown if state == State::Missing => format!("{subject}: nothing was measured"),
        Verdict::Unknown if state == State::Partial => {
            format!("{subject} is not compared: the measurement is partial")
        }
        Verdict::Unknown => format!("{subject}: nothing to compare yet"),
        Verdict::Better => {
            let better = comparison.rules.iter().filter(|rule| rule.verdict == Verdict::Better);
            let parts = better.map(|rule| format!("{} {}", rule.figure.title(), change(rule.change.unwrap_or(0.0))));
            format!("{subject} is better: {}", parts.collect::<Vec<_>>().join("; "))
        }
        _ => format!("{subject} is as before"),
    }
}

/// Returns the failed requests in words.
pub fn failed(failing: &Failing) -> String {
    let percent = |part: f64| format!("{:.1} %", part * 100.0);
    let usual = failing.usual.map_or(String::new(), |usual| format!(" (usually {})", percent(usual)));
    format!("{} of the requests fail{usual}", percent(failing.now))
}

/// Returns the text of a report.
pub fn report(name: &str, head: &Head, comparison: &Comparison, history: &[Day], paint: Paint) -> String {
    let line = headline(name, comparison);
    let mut text = match comparison.verdict() {
        Verdict::Worse => paint.colour(1, &line),
        Verdict::Better => paint.colour(2, &line),
        _ => paint.bold(&line),
    };
    text += &format!("\n\nmeasured {}{}\n", minute(head.time_ms), compared(comparison, history));
    for note in head.notes.iter().chain(&comparison.notes) {
        text += &format!("note: {note}\n");
    }
    text += &format!("\n{}", rules(comparison, paint));
    if !comparison.causes.is_empty() {
        let title = match &comparison.common_caller {
            Some(caller) => format!("Functions that cost more, all below {caller}"),
            None => "Functions that cost more".to_owned(),
        };
        text += &format!("\n{}\n", paint.bold(&title));
        let rows = comparison.causes.iter().take(FUNCTIONS).map(|cause| {
            let callers: Vec<&str> = cause.callers.iter().take(CALLERS).map(|name| &**name).collect();
            (&cause.change, callers.join(" < "))
        });
        text += &functions(rows, paint);
    }
    for (title, changes) in
        [("Functions that cost less", &comparison.fallen), ("Cost that only moved", &comparison.moved)]
    {
        if !changes.is_empty() {
            text += &format!("\n{}\n", paint.bold(title));
            text += &functions(changes.iter().take(FUNCTIONS).map(|change| (change, String::new())), paint);
        }
    }
    if !comparison.steps.is_empty() {
        text += &format!("\n{}\n", paint.bold("Changes of level"));
        for step in &comparison.steps {
            let release = match (&*step.label, step.is_new_label) {
                ("", _) => String::new(),
                (label, true) => format!(", new release {label}"),
                (label, false) => format!(", release {label}"),
            };
            let size = change(step.after / step.before - 1.0);
            text += &format!("  {}{release}: {} {size}\n", day(step.time_ms), step.figure.title());
        }
    }
    text + &format!("\n{}\n{}", paint.bold("History"), days(history, paint))
}

fn compared(comparison: &Comparison, history: &[Day]) -> String {
    let compared = comparison.compared(history);
    match (compared.first(), compared.last()) {
        (Some(first), Some(last)) => {
            let count = compared.len();
            format!(", compared with {count} measurements, {} to {}", day(first.time_ms), day(last.time_ms))
        }
        _ => String::new(),
    }
}

fn rules(comparison: &Comparison, paint: Paint) -> String {
    let columns = [
        ("", Side::Left),
        ("figure", Side::Left),
        ("now", Side::Right),
        ("expected", Side::Right),
        ("change", Side::Right),
        ("error", Side::Right),
        ("would be seen", Side::Right),
    ];
    let mut table = Table::new(&columns);
    let figure = |rule: &Rule, number: Option<f64>| number.map_or("-".into(), |n| value(rule.figure, n));
    for rule in comparison.rules.iter().filter(|rule| rule.now.is_some()) {
        table.row(vec![
            rule.verdict.name().into(),
            rule.figure.title().into(),
            figure(rule, rule.now),
            figure(rule, rule.expected),
            rule.change.map_or("-".into(), change),
            rule.error.map_or("-".into(), |error| format!("±{:.1} %", error * 100.0)),
            rule.detectable.map_or("-".into(), seen),
        ]);
    }
    if table.is_empty() { "no figure was measured\n".into() } else { table.print(paint) }
}

/// Returns the smallest change that would be seen; beyond tenfold, the history says nothing.
fn seen(least: f64) -> String {
    if least > 10.0 { "nothing".into() } else { format!("{:.1} %", least * 100.0) }
}

fn functions<'a>(changes: impl Iterator<Item = (&'a Change, String)>, paint: Paint) -> String {
    let columns = [
        ("change", Side::Right),
        ("before", Side::Right),
        ("now", Side::Right),
        ("of all", Side::Right),
        ("", Side::Left),
        ("function", Side::Left),
        ("below", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for (one, callers) in changes {
        let difference = one.now_ms - one.before_ms;
        let sign = if difference < 0.0 { "-" } else { "+" };
        table.row(vec![
            format!("{sign}{}", ms(difference.abs())),
            ms(one.before_ms),
            ms(one.now_ms),
            change(one.share),
            one.part.name().into(),
            one.name.clone(),
            callers,
        ]);
    }
    table.print(paint)
}

fn days(history: &[Day], paint: Paint) -> String {
    let mut columns =
        vec![("", Side::Right), ("time", Side::Left), ("release", Side::Left), ("requests/s", Side::Right)];
    columns.extend(Figure::ALL.map(|figure| (figure.title(), Side::Right)));
    columns.push(("", Side::Left));
    let mut table = Table::new(&columns);
    for day in &history[history.len().saturating_sub(DAYS)..] {
        let mut row = vec![
            day.sequence.to_string(),
            minute(day.time_ms),
            day.label.clone(),
            day.rate.map_or("-".into(), yunti_program::text::numbers::three),
        ];
        row.extend(Figure::ALL.map(|figure| figure.of(day).map_or("-".into(), |n| value(figure, n))));
        row.push(if day.is_usable() { String::new() } else { day.state.name().into() });
        table.row(row);
    }
    table.print(paint)
}
