//! The comparison of two jobs on a page.

use super::markup::{Tag, at, drawing, section, table, tag};
use crate::compare::{Better, Comparison, Row};
use crate::text::compare::{direction, name_of, title};
use crate::text::report::capital;

pub fn sections(comparison: &Comparison) -> Vec<Tag> {
    let side = |letter: &str, colour: &str, side: &crate::compare::Side| {
        let key = tag("i").set("style", format!("background:var(--{colour})"));
        tag("p").class("meta").add(key).add(tag("strong").say(format!("{letter}: "))).say(name_of(side))
    };
    let header = tag("header")
        .add(tag("p").class("eyebrow").say("Yunti: two jobs compared"))
        .add(tag("h1").say(capital(&title(comparison))))
        .add(side("A", "commit", &comparison.a))
        .add(side("B", "map", &comparison.b));
    let mut all = vec![header];
    if !comparison.differences.is_empty() {
        let rows = comparison.differences.iter().map(|d| vec![d.what.clone(), d.a.clone(), d.b.clone()]);
        let columns = [("", false), ("A", true), ("B", true)];
        all.push(section("different", "Differences between the two jobs").add(table("Differences", &columns, rows)));
    }
    for (id, heading) in crate::compare::GROUPS {
        let rows: Vec<&Row> = comparison.rows.iter().filter(|r| r.group == id).collect();
        if !rows.is_empty() {
            all.push(
                section(id, heading).add(
                    tag("div")
                        .class("card scroll")
                        .set("tabindex", 0)
                        .set("role", "region")
                        .set("aria-label", heading)
                        .add(pairs(&rows)),
                ),
            );
        }
    }
    all
}

/// Returns a table with one row per number, with the bar of A above the bar of B.
fn pairs(rows: &[&Row]) -> Tag {
    let head = |name: &str, class: &str| tag("th").set("scope", "col").class(class).say(name);
    let header = tag("tr")
        .add(head("", ""))
        .add(head("A", "n"))
        .add(head("B", "n"))
        .add(head("", "bar wide"))
        .add(head("B against A", ""));
    let body = rows.iter().map(|row| {
        let most = row.a.max(row.b).max(1e-9);
        let bar = |value: f64, y: f64, colour: &str| {
            tag("rect")
                .set("x", 0)
                .set("y", y)
                .set("width", at(value / most * 1000.0))
                .set("height", 8)
                .set("style", format!("fill:var(--{colour})"))
        };
        let title = format!("A {}, B {}", row.text(row.a), row.text(row.b));
        let bars = drawing(1000.0, 18.0, &title, "")
            .set("style", "height:1.1rem")
            .add(bar(row.a, 0.0, "commit"))
            .add(bar(row.b, 10.0, "map"));
        let class = match row.better {
            Better::B => "good",
            Better::A => "bad",
            Better::Neither => "",
        };
        tag("tr")
            .add(tag("th").set("scope", "row").say(&row.name))
            .add(tag("td").class("n").say(row.text(row.a)))
            .add(tag("td").class("n").say(row.text(row.b)))
            .add(tag("td").class("bar wide").add(bars))
            .add(tag("td").add(tag("span").class(class).say(direction(row))))
    });
    tag("table").class("stages pairs").add(tag("thead").add(header)).add(tag("tbody").all(body))
}
