//! Changes in words: one sentence a function, and the table of all.

use jiff::Zoned;
use serde_json::{Value, json};
use yunti_record::{Began, Change, Measure, Part, Unit};

use super::Compared;
use crate::history::clock;
use yunti_probe::answer::{self, Answer, Table};

/// Changes with a sentence of their own; the table has all.
const SENTENCES: usize = 10;
/// Rows on a terminal.
const ROWS: usize = 30;
/// Functions named as followers of a change.
const FOLLOWERS: usize = 2;

/// Adds what changed in a service to an answer. Returns the number of functions that cost more.
///
/// @param is_one_of_many true if the answer has several services
pub fn fill(compared: &Compared, measure: Measure, now: &Zoned, is_one_of_many: bool, answer: &mut Answer) -> usize {
    let Compared { service, periods, changes } = compared;
    let unit = unit(changes.unit);
    let whole = format!(
        "{service}: {} before, {} after, {unit} ({}; {} against {}).",
        amount(measure, changes.before),
        amount(measure, changes.after),
        relative(changes.before, changes.after),
        periods.text(periods.after, now),
        periods.text(periods.before, now)
    );
    answer.notes.push(whole);
    if let Some(common) = &changes.common {
        let mostly = common.mostly.as_ref().map_or_else(String::new, |mostly| {
            format!(
                "; or {} alone, which has {:.0} % of the difference and had {:.0} % of the cost",
                mostly.function.name,
                mostly.of_difference * 100.0,
                mostly.of_cost * 100.0
            )
        });
        answer.notes.push(format!(
            "All of {service} costs {:.3} times as much, {:.3} to {:.3}{}: another machine, or another load{mostly}.",
            common.ratio,
            common.low,
            common.high,
            since(common.began.as_ref(), now)
        ));
    }
    for change in changes.changes.iter().take(SENTENCES) {
        answer.notes.push(sentence(change, measure, unit, now));
    }
    if changes.changes.is_empty()
        && let Some(visible) = changes.visible.iter().find(|visible| visible.share >= 0.05).or(changes.visible.last())
    {
        answer.notes.push(format!(
            "In {service}, a change of {:.1} % would have shown in a function with {:.0} % of the cost.",
            visible.relative * 100.0,
            visible.share * 100.0
        ));
    }
    answer.notes.extend(changes.notes.iter().map(|note| format!("{service}: {note}.")));
    let rows = changes.changes.iter().map(|change| {
        vec![
            amount(measure, change.before),
            amount(measure, change.after),
            relative(change.before, change.after),
            format!("{} to {}", signed(measure, change.low), signed(measure, change.high)),
            quality(change.q),
            answer::percent((change.share_before * 1e6) as u64, 1_000_000),
            change.began.as_ref().map_or_else(String::new, |began| clock(began.at_ms, now.time_zone())),
            part(change.part).to_owned(),
            change.function.name.to_string(),
        ]
    });
    let title = if is_one_of_many { format!("Changes of {service}, {unit}") } else { format!("Changes, {unit}") };
    answer.tables.push(Table {
        title,
        columns: vec![
            ("before", true),
            ("after", true),
            ("change", true),
            ("95 %", false),
            ("false", true),
            ("share", true),
            ("since", false),
            ("cost", false),
            ("function", false),
        ],
        rows: rows.collect(),
        shown: ROWS,
    });
    changes.changes.iter().filter(|change| change.difference > 0.0).count()
}

/// Returns the answer in one line.
pub fn lead(compared: &[Compared], measure: Measure) -> String {
    let count = |test: fn(&Change) -> bool| -> usize {
        compared.iter().map(|one| one.changes.changes.iter().filter(|change| test(change)).count()).sum()
    };
    let (more, less) = (count(|change| change.difference > 0.0), count(|change| change.difference < 0.0));
    let words = compared.first().map_or("", |one| &one.periods.words);
    let functions = |n: usize| if n == 1 { "one function costs".to_owned() } else { format!("{n} functions cost") };
    let what = match measure {
        Measure::Cpu => "processor time",
        Measure::Wall => "time of all threads",
        Measure::Alloc => "allocated bytes",
        Measure::Lock => "time waiting for locks",
    };
    match (more, less) {
        (0, 0) => format!("no function changed in {what} {words}"),
        (more, 0) => format!("{} more {what} {words}", functions(more)),
        (0, less) => format!("{} less {what} {words}", functions(less)),
        (more, less) => format!("{} more {what} {words}, and {less} less", functions(more)),
    }
}

/// Returns the changes of a service as JSON.
pub fn to_json(compared: &Compared, measure: Measure) -> Value {
    let mut document = compared.changes.to_json();
    document["service"] = json!(compared.service);
    document["measure"] = json!(measure.name());
    let period = |period: yunti_record::Period| json!({ "from_ms": period.from_ms, "to_ms": period.to_ms });
    document["period_before"] = period(compared.periods.before);
    document["period_after"] = period(compared.periods.after);
    document
}

/// Returns a change as a sentence: `Cart.total costs 1.31 ms a request, 1.20 ms before (+9.2 %, +0.09 to +0.13 ms) ..`
fn sentence(change: &Change, measure: Measure, unit: &str, now: &Zoned) -> String {
    let mut text = format!(
        "{}{} costs {} {unit}, {} before ({}; {} to {} with 95 %){}",
        change.function.name,
        if change.part == Part::Own { "" } else { " with its callees" },
        amount(measure, change.after),
        amount(measure, change.before),
        relative(change.before, change.after),
        signed(measure, change.low),
        signed(measure, change.high),
        since(change.began.as_ref(), now)
    );
    let followers: Vec<&str> = change.follows.iter().take(FOLLOWERS).map(|frame| &*frame.name).collect();
    if !followers.is_empty() {
        let more = change.follows.len() - followers.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text += &format!("; {}{more} changed only because of it", followers.join(", "));
    }
    text + "."
}

fn since(began: Option<&Began>, now: &Zoned) -> String {
    let Some(began) = began else { return String::new() };
    let at = clock(began.at_ms, now.time_zone());
    match (&began.new_release, &began.release) {
        (Some(release), _) => format!(", since {at}, the first time of release {release}"),
        (None, Some(release)) if !release.is_empty() => format!(", since {at}, in release {release}"),
        _ => format!(", since {at}"),
    }
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Request => "a request",
        Unit::Second => "a second",
    }
}

fn part(part: Part) -> &'static str {
    match part {
        Part::Own => "own",
        Part::Subtree => "with callees",
    }
}

/// Formats a cost, in nanoseconds or bytes, which may be less than one.
fn amount(measure: Measure, value: f64) -> String {
    match measure {
        _ if value > 0.0 && value < 10.0 && measure == Measure::Alloc => format!("{value:.2} B"),
        _ if value > 0.0 && value < 10.0 => format!("{value:.2} ns"),
        Measure::Alloc => answer::bytes(value.max(0.0).round() as u64),
        _ => answer::time(value.max(0.0).round() as u64),
    }
}

/// Returns the formatter of a measure's costs.
pub fn formatter(measure: Measure) -> fn(f64) -> String {
    if measure == Measure::Alloc { |value| amount(Measure::Alloc, value) } else { |value| amount(Measure::Cpu, value) }
}

fn signed(measure: Measure, value: f64) -> String {
    format!("{}{}", if value < 0.0 { "-" } else { "+" }, amount(measure, value.abs()))
}

fn relative(before: f64, after: f64) -> String {
    if before <= 0.0 { "new".to_owned() } else { format!("{:+.1} %", (after / before - 1.0) * 100.0) }
}

/// Formats the share of false findings.
fn quality(q: f64) -> String {
    if q < 1e-4 { "<0.01 %".to_owned() } else { format!("{:.2} %", q * 100.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_record::{Frame, FrameKind};

    #[test]
    fn a_change_is_a_sentence() {
        let frame = |name: &str| Frame::new(name, FrameKind::Compiled);
        let change = Change {
            function: frame("shop.Cart.total"),
            part: Part::Own,
            before: 1_200_000.0,
            after: 1_310_000.0,
            difference: 110_000.0,
            low: 90_000.0,
            high: 130_000.0,
            q: 1e-9,
            share_before: 0.1,
            began: Some(Began {
                at_ms: 1_795_835_400_000,
                new_release: Some("v812".to_owned()),
                release: Some("v812".to_owned()),
            }),
            follows: vec![frame("shop.Cart.pay"), frame("shop.Server.serve"), frame("main")],
        };
        let now: Zoned = "2026-11-28T04:30:00+00:00[UTC]".parse().unwrap();
        assert_eq!(
            sentence(&change, Measure::Cpu, "a request", &now),
            "shop.Cart.total costs 1.31 ms a request, 1.20 ms before (+9.2 %; +90.0 us to +130 us with 95 %), since \
             2026-11-28 03:10, the first time of release v812; shop.Cart.pay, shop.Server.serve and 1 more changed only \
             because of it."
        );
        assert_eq!((relative(0.0, 5.0), relative(4.0, 3.0)), ("new".to_owned(), "-25.0 %".to_owned()));
        assert_eq!((amount(Measure::Alloc, 0.25), amount(Measure::Cpu, 1500.0)), ("0.25 B".into(), "1.50 us".into()));
        assert_eq!((quality(1e-9), quality(0.004)), ("<0.01 %".to_owned(), "0.40 %".to_owned()));
    }
}
