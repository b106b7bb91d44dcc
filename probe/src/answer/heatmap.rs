//! Heatmap: a row for each function, a column for each time, dark where the function costs much.
//!
//! ```text
//!   Cart.total    ░░▒░░░▓▓▓▓▓▓
//!   Cart.pay      ▒▒▒▒▒▒▒▒▒▒▒▒
//!               03:00      04:00
//! ```
//!
//! Each row has a scale of its own, from zero to its largest value: a small function that doubles is as visible as a
//! large one.

use yunti_program::page::markup::{Tag, at, drawing, section, tag};

/// Heatmap with its rows.
pub struct Heatmap {
    /// Heading.
    pub title: String,
    /// Labels of the first and the last column.
    pub from: String,
    pub to: String,
    /// Label of each column.
    pub columns: Vec<String>,
    /// Rows, the first on top.
    pub rows: Vec<HeatRow>,
    /// Formats a value.
    pub format: fn(f64) -> String,
}

/// Row of a heatmap.
pub struct HeatRow {
    /// Name of the function.
    pub name: String,
    /// True for a function that changed.
    pub is_marked: bool,
    /// Value of each column; `None` without a measurement.
    pub values: Vec<Option<f64>>,
}

const WIDTH: f64 = 960.0;
const ROW: f64 = 16.0;
/// Room for names at the left, for the largest value at the right, and for labels below.
const LEFT: f64 = 320.0;
const RIGHT: f64 = 80.0;
const BELOW: f64 = 18.0;
/// Characters of a name that fit.
const NAME: usize = 50;
/// Steps from zero to the largest value.
const LEVELS: f64 = 9.0;

/// Style sheet of heatmaps.
pub const STYLE: &str = include_str!("heatmap.css");

impl Heatmap {
    /// Returns the heatmap as a section of a page. `number`: its number on the page.
    pub fn draw(&self, number: usize) -> Tag {
        let height = self.rows.len() as f64 * ROW + BELOW;
        let wide = (WIDTH - LEFT - RIGHT) / self.columns.len().max(1) as f64;
        let label = |x: f64, y: f64, anchor: &str, text: String| {
            tag("text").set("x", at(x)).set("y", at(y)).set("text-anchor", anchor).say(text)
        };
        let mut svg =
            drawing(WIDTH, height, &self.title, "").class("heatmap").set("preserveAspectRatio", "xMidYMid meet");
        for (line, row) in self.rows.iter().enumerate() {
            let (y, largest) = (line as f64 * ROW, row.values.iter().flatten().copied().fold(0.0, f64::max));
            let name = label(LEFT - 6.0, y + ROW - 4.0, "end", shortened(&row.name));
            svg = svg.add(if row.is_marked { name.class("marked") } else { name });
            svg = svg.add(label(WIDTH - RIGHT + 6.0, y + ROW - 4.0, "start", (self.format)(largest)));
            for (column, value) in row.values.iter().enumerate() {
                let Some(value) = value else { continue };
                let level = (value / largest.max(f64::MIN_POSITIVE) * LEVELS).ceil().clamp(0.0, LEVELS);
                let when = self.columns.get(column).map_or("", String::as_str);
                let cell = tag("rect")
                    .class(format!("heat-{level}"))
                    .set("x", at(LEFT + column as f64 * wide))
                    .set("y", at(y))
                    .set("width", at(wide + 0.2))
                    .set("height", at(ROW - 1.0))
                    .add(tag("title").say(format!("{when}: {}", (self.format)(*value))));
                svg = svg.add(cell);
            }
        }
        svg = svg.add(label(LEFT, height - 5.0, "start", self.from.clone())).add(label(
            WIDTH - RIGHT,
            height - 5.0,
            "end",
            self.to.clone(),
        ));
        section(&format!("heatmap-{number}"), &self.title).add(tag("div").class("card").add(svg))
    }
}

/// Shortens a name to its end, which says more than its packages.
fn shortened(name: &str) -> String {
    let count = name.chars().count();
    if count <= NAME {
        name.to_owned()
    } else {
        format!("..{}", name.chars().skip(count - NAME + 2).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_levels() {
        let row = |name: &str, values: &[Option<f64>]| HeatRow {
            name: name.into(),
            is_marked: true,
            values: values.to_vec(),
        };
        let map = Heatmap {
            title: "t".into(),
            from: "a".into(),
            to: "b".into(),
            columns: vec!["1".into(), "2".into(), "3".into()],
            rows: vec![
                row("<f>", &[Some(0.0), None, Some(9.0)]),
                row(&"x".repeat(99), &[Some(1.0), Some(5.0), Some(9.0)]),
            ],
            format: |value| format!("{value:.0} ns"),
        };
        let text = map.draw(0).print();
        let count = |what: &str| text.matches(what).count();
        assert_eq!((count("<rect"), count("heat-9"), count("heat-0\""), count("heat-1")), (5, 2, 1, 1), "{text}");
        assert!(text.contains("&lt;f&gt;") && text.contains("3: 9 ns") && text.contains(">..xxx"), "{text}");
        // Without rows and columns nothing is divided by zero.
        Heatmap { columns: Vec::new(), rows: Vec::new(), ..map }.draw(1).print();
    }
}
