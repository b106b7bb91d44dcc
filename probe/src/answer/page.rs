//! Answer as an HTML page. A script draws the flame graph on a canvas, because a graph may have a hundred thousand
//! frames. Its data is in the page as JSON. Readers without scripts or without sight have the tables.

use serde_json::json;
use yunti_program::page::Page;
use yunti_program::page::markup::{Tag, details, note, section, table, tag};

use super::{Answer, Graph, Listing, Subject, Table, heatmap, outline, timeline, treemap};
use crate::stack::{KINDS, Kind};

const STYLE: &str = include_str!("flame.css");
const SCRIPT: &str = include_str!("flame.js");
/// Rows of a table on a page.
const ROWS_MAX: usize = 1000;
/// Rows; longer tables are folded.
const ROWS_OPEN: usize = 20;

/// Returns the page of an answer.
pub fn of(answer: &Answer) -> String {
    let title = format!("{} - {}", answer.subject, answer.command);
    let guide = match answer.subject {
        Subject::Device(_) => "machine",
        Subject::Process { .. } => "observe",
        Subject::File(_) => answer.command,
        Subject::Service(_) => "record",
    };
    let foot = format!("Yunti {}. docs/guide/{guide}.md explains the terms.", env!("CARGO_PKG_VERSION"));
    let script = answer.graph.is_some().then_some(SCRIPT);
    let treemap_style = if answer.treemaps.is_empty() { "" } else { treemap::STYLE };
    let timeline_style = if answer.timelines.is_empty() { "" } else { timeline::STYLE };
    let heatmap_style = if answer.heatmaps.is_empty() { "" } else { heatmap::STYLE };
    let outline_style = if answer.outlines.is_empty() { "" } else { outline::STYLE };
    let style = [STYLE, treemap_style, timeline_style, heatmap_style, outline_style].concat();
    let page = Page { title: &title, style: &style, script, foot: &foot };
    let tables = answer.tables.iter().enumerate().filter(|(_, table)| !table.rows.is_empty());
    let listings = answer.listings.iter().enumerate().filter(|(_, listing)| !listing.of.is_empty());
    let tables: Vec<Tag> = tables.map(|(i, table)| as_table(i, table)).collect();
    let listings: Vec<Tag> = listings.map(|(i, listing)| as_listing(i, listing)).collect();
    let treemaps = answer.treemaps.iter().enumerate().map(|(i, treemap)| treemap.draw(i));
    let outlines = answer.outlines.iter().enumerate().map(|(i, outline)| outline.draw(i));
    let heatmaps = answer.heatmaps.iter().enumerate().map(|(i, heatmap)| heatmap.draw(i));
    let timelines = answer.timelines.iter().enumerate().map(|(i, timeline)| timeline.draw(i));
    page.of([header(answer)]
        .into_iter()
        .chain(answer.graph.as_ref().map(graph))
        .chain(timelines)
        .chain(heatmaps)
        .chain(treemaps)
        .chain(outlines)
        .chain(tables)
        .chain(listings))
}

fn header(answer: &Answer) -> Tag {
    let mut header = tag("header")
        .add(tag("p").class("eyebrow").say(format!("yunti observe {}", answer.command)))
        .add(tag("h1").say(heading(&answer.subject)))
        .add(tag("p").class("lead").say(&answer.lead));
    for skip in &answer.skips {
        header = header.add(note(format!("SKIP {skip}")));
    }
    for text in &answer.notes {
        header = header.add(note(text));
    }
    if answer.target_ended {
        header = header.add(note("The process ended during the measurement."));
    }
    if answer.seconds == 0.0 {
        return header;
    }
    header.add(note(format!(
        "Measured for {:.1} seconds; overhead: {:.1} % of one processor, without samples taken in the process itself.",
        answer.seconds, answer.overhead_percent
    )))
}

fn heading(subject: &Subject) -> String {
    match subject {
        Subject::Process { name, pid } => format!("{name}, process {pid}"),
        Subject::Device(name) | Subject::File(name) | Subject::Service(name) => name.clone(),
    }
}

fn as_table(i: usize, content: &Table) -> Tag {
    let rows = content.rows.iter().take(ROWS_MAX).cloned();
    let drawn = table(&content.title, &content.columns, rows);
    let is_long = content.rows.len() > ROWS_OPEN;
    section(&format!("table-{i}"), &content.title).add(if is_long { details("as a table", drawn) } else { drawn })
}

fn as_listing(i: usize, content: &Listing) -> Tag {
    content.of.iter().fold(section(&format!("listing-{i}"), &content.title), |section, (head, lines)| {
        section.add(details(head, tag("pre").say(lines.join("\n"))))
    })
}

fn graph(graph: &Graph) -> Tag {
    // `<` is escaped, so that no name can end the script element.
    let data = json!({
        "kinds": KINDS.map(Kind::name),
        "perSecond": graph.per_second,
        "tree": graph.to_json(),
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
    section("graph", &graph.title)
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
        .add(if graph.old.is_some() {
            tag("ul").class("legend").all(of_change)
        } else {
            tag("ul").class("legend").all(legend)
        })
        .add(tag("script").set("type", "application/json").set("id", "data").raw(&data))
}
