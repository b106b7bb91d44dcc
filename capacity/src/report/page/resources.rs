//! Resources as bars: the time of a request by kind, then each resource with its time and its use at the peak.

use yunti_program::page::markup::{Tag, at, drawing, note, section, tag};
use yunti_program::text::numbers::{milliseconds, percent, three};

use crate::report::Report;
use crate::report::names::short;
use crate::report::resources::label;

/// Characters of a name.
const NAME_SHOWN: usize = 100;
/// Resources that are drawn.
const SHOWN: usize = 12;

/// Returns the section.
pub fn section_of(report: &Report<'_>) -> Tag {
    let necessary = report.curve.formulas.necessary.ms;
    let kinds = report.time_by_kind();
    let total: f64 = kinds.iter().map(|(_, ms)| ms).sum();
    let mut section =
        section("resources", "What a request needs").add(tag("div").class("card").add(stack(&kinds, total)).add(
            tag("ul").class("legend").all(kinds.iter().map(|(kind, ms)| {
                let i = tag("i").class(format!("kind-{kind}"));
                tag("li").add(i).say(format!("{kind} {}", milliseconds(*ms)))
            })),
        ));
    if total > necessary * 1.02 {
        section = section.add(note(format!(
            "The parts add up to {}; a request needs {}, because some of them run at once.",
            milliseconds(total),
            milliseconds(necessary)
        )));
    }
    let resources = report.resources();
    let longest = resources.iter().map(|(item, _)| item.ms).fold(0.0, f64::max);
    let rows = resources.iter().take(SHOWN).map(|(item, utilisation)| {
        let units = item.units.map_or("no limit was seen".to_string(), |units| format!("{} at once", three(units)));
        let kind = format!("kind-{}", item.kind);
        let time = meter(item.ms / longest, &kind, &milliseconds(item.ms));
        let used = match utilisation {
            Some(share) => meter(*share, if *share >= 0.9 { "full" } else { "used" }, &percent(*share)),
            None => tag("div").class("meter").add(tag("span").say("-")),
        };
        tag("tr")
            .add(
                tag("th")
                    .set("scope", "row")
                    .add(tag("bdi").say(short(&label(item), NAME_SHOWN)))
                    .add(tag("small").say(units)),
            )
            .add(tag("td").add(time))
            .add(tag("td").add(used))
    });
    let head =
        ["resource", "time of a request", "in use at the peak"].map(|name| tag("th").set("scope", "col").say(name));
    let section = section
        .add(tag("table").class("resources").add(tag("thead").add(tag("tr").all(head))).add(tag("tbody").all(rows)));
    let more = resources.len().saturating_sub(SHOWN);
    let section = if more > 0 { section.add(note(format!("{more} more take less."))) } else { section };
    section.add(note(
        "A lock or pool is held while other things happen, so its time is part of the times of others. The use at the \
         peak counts necessary time; 100 % is the bottleneck.",
    ))
}

/// Returns one bar with the kinds beside one another.
fn stack(kinds: &[(&'static str, f64)], total: f64) -> Tag {
    let mut x = 0.0;
    let parts = kinds.iter().map(|(kind, ms)| {
        let width = ms / total.max(f64::MIN_POSITIVE) * 1000.0;
        let part = tag("rect")
            .class(format!("kind-{kind}"))
            .set("x", at(x))
            .set("y", 0)
            .set("width", at(width))
            .set("height", 10);
        x += width;
        part.add(tag("title").say(format!("{kind}: {}", milliseconds(*ms))))
    });
    let words: Vec<String> = kinds.iter().map(|(kind, ms)| format!("{kind} {}", milliseconds(*ms))).collect();
    drawing(1000.0, 10.0, "time of a request by kind", &words.join(", ")).class("stack").all(parts)
}

fn meter(share: f64, class: &str, words: &str) -> Tag {
    let width = at(share.clamp(0.0, 1.0) * 100.0);
    let bar = tag("rect").class(class).set("width", width).set("height", 10);
    let svg =
        tag("svg").set("viewBox", "0 0 100 10").set("preserveAspectRatio", "none").set("aria-hidden", "true").add(bar);
    tag("div").class("meter").add(svg).add(tag("span").say(words))
}
