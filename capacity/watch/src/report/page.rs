//! Page of a report: one file with the verdict, the charts of the history, and the functions.

use yunti_program::page::Page;
use yunti_program::page::markup::{Tag, note, paragraph, section, table, tag};

use super::charts;
use super::figure::{change, ms, value};
use super::text::headline;
use crate::clock::{day, minute};
use crate::compare::{Change, Comparison, Day, Figure};
use crate::record::Head;

const STYLE: &str = include_str!("page.css");
/// Functions shown.
const FUNCTIONS: usize = 50;

/// Returns the HTML document.
pub fn page(name: &str, head: &Head, comparison: &Comparison, history: &[Day]) -> String {
    let title = format!("{name}: {}", comparison.verdict().name());
    let mut main = vec![top(name, head, comparison, history)];
    main.extend(Figure::ALL.into_iter().filter_map(|figure| charts::figure(figure, history, comparison)));
    if !comparison.causes.is_empty() {
        let rows = comparison.causes.iter().take(FUNCTIONS).map(|cause| row(&cause.change, cause.callers.join(" < ")));
        let mut part = section("functions", "Functions that cost more");
        if let Some(caller) = &comparison.common_caller {
            part = part.add(paragraph(format!("Most of them are called by {caller}.")));
        }
        main.push(part.add(table("A request, without what all functions share", &COLUMNS, rows)));
    }
    let others = [
        ("fallen", "Functions that cost less", &comparison.fallen),
        ("moved", "Cost that only moved between functions", &comparison.moved),
    ];
    for (id, title, changes) in others {
        if !changes.is_empty() {
            let rows = changes.iter().take(FUNCTIONS).map(|change| row(change, String::new()));
            main.push(section(id, title).add(table("A request, without what all functions share", &COLUMNS, rows)));
        }
    }
    main.push(host(head, comparison));
    let foot = format!("yunti watch {}", env!("CARGO_PKG_VERSION"));
    Page { title: &title, style: STYLE, script: None, foot: &foot }.of(main)
}

const COLUMNS: [(&str, bool); 7] = [
    ("function", false),
    ("part", false),
    ("before", true),
    ("now", true),
    ("change", true),
    ("of the service", true),
    ("called by", false),
];

fn row(change_: &Change, callers: String) -> Vec<String> {
    let part = if change_.before_ms > 0.0 { change(change_.now_ms / change_.before_ms - 1.0) } else { "new".into() };
    vec![
        change_.name.clone(),
        change_.part.name().into(),
        ms(change_.before_ms),
        ms(change_.now_ms),
        part,
        change(change_.share),
        callers,
    ]
}

fn top(name: &str, head: &Head, comparison: &Comparison, history: &[Day]) -> Tag {
    let verdict = comparison.verdict().name();
    let figures = comparison.rules.iter().filter(|rule| rule.now.is_some()).map(|rule| {
        let more = match (rule.expected, rule.change, rule.error) {
            (Some(expected), Some(by), Some(error)) => {
                let expected = value(rule.figure, expected);
                format!("{} (±{:.1} %) against {expected}: {}", change(by), error * 100.0, rule.verdict.name())
            }
            _ => "nothing to compare with".into(),
        };
        let number = rule.now.map_or("-".into(), |now| value(rule.figure, now));
        let number = tag("dd").class(format!("verdict-{}", rule.verdict.name())).say(number);
        tag("div").add(tag("dt").say(rule.figure.title())).add(number.add(tag("small").say(more)))
    });
    let compared = comparison.compared(history);
    let against = match (compared.first(), compared.last()) {
        (Some(first), Some(last)) => {
            format!("Compared with {} measurements, {} to {}.", compared.len(), day(first.time_ms), day(last.time_ms))
        }
        _ => "There is nothing to compare with.".into(),
    };
    let notes = head.notes.iter().chain(&comparison.notes).map(note);
    tag("header")
        .add(tag("p").class("eyebrow").say(format!("{name}, measured {}", minute(head.time_ms))))
        .add(tag("h1").class(format!("verdict-{verdict}")).say(headline(name, comparison)))
        .add(tag("p").class("lead").say(against))
        .add(tag("dl").class("figures").all(figures))
        .all(notes)
}

fn host(head: &Head, comparison: &Comparison) -> Tag {
    let host = &head.host;
    let today = &comparison.today;
    let rows = [
        ("machine", host.name.clone()),
        ("processors", host.processors.to_string()),
        ("kernel", host.kernel.clone()),
        ("runtime", host.runtime.clone()),
        ("windows", format!("{}, {} left out", today.windows, today.left_out)),
        ("samples", format!("{:.0}", today.samples)),
        ("requests a second", today.rate.map_or("-".into(), yunti_program::text::numbers::three)),
        ("calibration loop", today.calibration_ms.map_or("-".into(), ms)),
        ("all functions together", comparison.common.map_or("-".into(), change)),
    ];
    let rows = rows.into_iter().map(|(name, text)| vec![name.to_owned(), text]);
    section("host", "Measurement").add(table("Host and profile", &[("", false), ("", false)], rows))
}
