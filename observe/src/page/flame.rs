//! The flame graph as a page: drawn by its own script on a canvas, since a graph may have a hundred thousand frames. What the script needs
//! is in the page as JSON; who has no scripts, or does not see the drawing, has the table.

use serde_json::json;
use yunti_present::page::Page;
use yunti_present::page::markup::{Tag, details, note, section, table, tag};

use crate::command::flame::Seen;
use crate::jvm::Event;
use crate::stack::{KINDS, Kind};

const STYLE: &str = include_str!("flame.css");
const SCRIPT: &str = include_str!("flame.js");
const ROWS_MAX: usize = 200;

pub fn flame(seen: &Seen) -> String {
    let title = format!("{} {} - {}", seen.process, seen.pid, seen.measure());
    let foot = format!("Yunti {}. What the words mean stands in docs/guide/observe.md.", env!("CARGO_PKG_VERSION"));
    let page = Page { title: &title, style: STYLE, script: Some(SCRIPT), foot: &foot };
    page.of([header(seen), graph(seen)].into_iter().chain(changes(seen)).chain([hottest(seen)]))
}

fn header(seen: &Seen) -> Tag {
    let lead = format!(
        "{} of {} in {:.1} seconds, {} samples.",
        seen.amount(seen.tree.total()),
        seen.measure(),
        seen.time.as_secs_f64(),
        seen.samples
    );
    let mut header = tag("header")
        .add(tag("p").class("eyebrow").say("yunti observe flame"))
        .add(tag("h1").say(format!("{}, process {}", seen.process, seen.pid)))
        .add(tag("p").class("lead").say(lead));
    for skip in &seen.skips {
        header = header.add(note(format!("SKIP {skip}")));
    }
    header.add(note(format!(
        "Looking took {:.1} % of one processor, what samples in the process itself not counted.",
        seen.overhead_percent
    )))
}

fn graph(seen: &Seen) -> Tag {
    // No text of a name ends the element that it stands in.
    let data = json!({
        "kinds": KINDS.map(Kind::name),
        "perSecond": per_second(seen),
        "tree": seen.tree.to_json(seen.old.as_ref()),
    });
    let data = data.to_string().replace('<', "\\u003c");
    let button = |id: &str, text: &str| tag("button").set("id", id).set("type", "button").say(text);
    let search = tag("input")
        .set("id", "search")
        .set("type", "search")
        .set("placeholder", "search: a name or a regular expression")
        .set("aria-label", "search");
    let controls = tag("div")
        .class("controls")
        .add(search)
        .add(button("reset", "whole graph"))
        .add(tag("output").set("id", "found"));
    let of_change = [("more", "more than before"), ("less", "less than before")]
        .map(|(class, text)| tag("li").add(tag("i").class(class)).say(text));
    let legend = KINDS
        .into_iter()
        .filter(|kind| *kind != Kind::Group)
        .map(|kind| tag("li").add(tag("i").class(format!("kind-{}", kind.name()))).say(kind.name()));
    section("graph", "Who called whom")
        .add(controls)
        .add(
            tag("div")
                .class("graph")
                .set("id", "graph-window")
                .set("tabindex", 0)
                .set("role", "application")
                .set("aria-label", "flame graph; the table below has its numbers")
                .add(tag("div").set("id", "graph-height").add(tag("canvas").set("id", "flame").say(""))),
        )
        .add(tag("div").set("id", "tip").set("role", "status").say(""))
        .add(if seen.old.is_some() {
            tag("ul").class("legend").all(of_change)
        } else {
            tag("ul").class("legend").all(legend)
        })
        .add(tag("script").set("type", "application/json").set("id", "data").raw(&data))
}

/// What a second is in samples or nanoseconds; 0: the values are no times.
fn per_second(seen: &Seen) -> f64 {
    match seen.event {
        Event::Cpu | Event::Wall => f64::from(seen.rate),
        Event::Alloc => 0.0,
        Event::Lock => 1e9,
    }
}

fn changes(seen: &Seen) -> Option<Tag> {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let rows = seen.tree.changes_since(seen.old.as_ref()?).into_iter().take(ROWS_MAX).map(|change| {
        vec![
            change.name.to_string(),
            percent(change.then),
            percent(change.now),
            format!("{:+.1}", (change.now - change.then) * 100.0),
        ]
    });
    let columns = [("frame", false), ("then", true), ("now", true), ("points", true)];
    Some(section("changes", "What has changed").add(table("own shares of all, then and now", &columns, rows)))
}

fn hottest(seen: &Seen) -> Tag {
    let all = seen.tree.total().max(1) as f64;
    let percent = |value: u64| format!("{:.1} %", value as f64 / all * 100.0);
    let rows = seen.tree.hottest().into_iter().take(ROWS_MAX).map(|hot| {
        vec![
            hot.frame.name.to_string(),
            hot.frame.kind.name().into(),
            percent(hot.own),
            percent(hot.total),
            seen.amount(hot.own),
        ]
    });
    let columns = [("frame", false), ("kind", false), ("own", true), ("with what it calls", true), ("own", true)];
    section("hottest", "The dearest frames")
        .add(details("as a table", table("by what was spent in them", &columns, rows)))
}
