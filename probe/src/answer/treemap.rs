//! Treemap: rectangles whose areas are shares of a whole, as square as possible.
//!
//! Bruls, Huizing, van Wijk: Squarified Treemaps, 2000. Rows are filled along the shorter side while that improves
//! their worst rectangle.

use yunti_program::page::markup::{Tag, at, drawing, section, tag};

use super::percent;

/// Treemap with its parts.
pub struct Treemap {
    /// Heading.
    pub title: String,
    /// Parts, in any order.
    pub parts: Vec<Part>,
}

/// Part of a treemap.
pub struct Part {
    /// Name.
    pub name: String,
    /// Area, in any unit.
    pub value: u64,
    /// Value as text.
    pub words: String,
    /// Number of the colour, the same for this part in each map of a page; `None` for the rest.
    pub colour: Option<usize>,
}

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 420.0;
const GAP: f64 = 1.5;
/// Pixels that a letter of a label needs.
const LABEL_WIDTH: f64 = 7.5;
const LABEL_HEIGHT: f64 = 18.0;
const COLOURS: usize = 10;

/// Style sheet of treemaps.
pub const STYLE: &str = include_str!("treemap.css");

#[derive(Clone, Copy, Debug, PartialEq)]
struct Rectangle {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

impl Treemap {
    /// Returns the map as a section of a page. `number`: its number on the page.
    pub fn draw(&self, number: usize) -> Tag {
        let mut parts: Vec<&Part> = self.parts.iter().filter(|part| part.value > 0).collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.value));
        let total: u64 = parts.iter().map(|part| part.value).sum();
        let values: Vec<f64> = parts.iter().map(|part| part.value as f64).collect();
        let whole = Rectangle { x: 0.0, y: 0.0, width: WIDTH, height: HEIGHT };
        let mut svg =
            drawing(WIDTH, HEIGHT, &self.title, "").class("treemap").set("preserveAspectRatio", "xMidYMid meet");
        for (Part { name, value, words, colour }, r) in parts.into_iter().zip(squarify(&values, whole)) {
            let (width, height) = ((r.width - GAP).max(0.0), (r.height - GAP).max(0.0));
            let label = format!("{name}: {words}, {}", percent(*value, total));
            let mut group = tag("g").add(
                tag("rect")
                    .set("x", at(r.x))
                    .set("y", at(r.y))
                    .set("width", at(width))
                    .set("height", at(height))
                    .class(colour.map_or("rest".to_owned(), |n| format!("part-{}", n % COLOURS)))
                    .add(tag("title").say(&label)),
            );
            let line = |n: usize, text: &str| {
                tag("text").set("x", at(r.x + 6.0)).set("y", at(r.y + LABEL_HEIGHT * n as f64)).say(text)
            };
            let fits = |text: &str, lines: f64| {
                text.chars().count() as f64 * LABEL_WIDTH + 8.0 < width && LABEL_HEIGHT * lines + 4.0 < height
            };
            if fits(name, 1.0) {
                group = group.add(line(1, name));
                if fits(words, 2.0) {
                    group = group.add(line(2, words));
                }
            }
            svg = svg.add(group);
        }
        section(&format!("treemap-{number}"), &self.title).add(tag("div").class("card").add(svg))
    }
}

/// Returns the rectangles of `values`, which are in descending order.
fn squarify(values: &[f64], whole: Rectangle) -> Vec<Rectangle> {
    let total: f64 = values.iter().sum();
    let scale = whole.width * whole.height / total.max(f64::MIN_POSITIVE);
    let areas: Vec<f64> = values.iter().map(|v| v * scale).collect();
    let (mut rest, mut done, mut placed) = (whole, 0, Vec::new());
    while done < areas.len() {
        let side = rest.width.min(rest.height);
        let mut end = done + 1;
        while end < areas.len() && worst(&areas[done..=end], side) <= worst(&areas[done..end], side) {
            end += 1;
        }
        let row = &areas[done..end];
        let thick = row.iter().sum::<f64>() / side.max(f64::MIN_POSITIVE);
        let mut along = 0.0;
        for area in row {
            let long = area / thick.max(f64::MIN_POSITIVE);
            placed.push(if rest.width <= rest.height {
                Rectangle { x: rest.x + along, y: rest.y, width: long, height: thick }
            } else {
                Rectangle { x: rest.x, y: rest.y + along, width: thick, height: long }
            });
            along += long;
        }
        rest = if rest.width <= rest.height {
            Rectangle { y: rest.y + thick, height: rest.height - thick, ..rest }
        } else {
            Rectangle { x: rest.x + thick, width: rest.width - thick, ..rest }
        };
        done = end;
    }
    placed
}

/// Worst ratio of sides in a row.
fn worst(row: &[f64], side: f64) -> f64 {
    let sum: f64 = row.iter().sum();
    row.iter().map(|area| (side * side * area / (sum * sum)).max(sum * sum / (side * side * area))).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_exact_and_inside() {
        let whole = Rectangle { x: 0.0, y: 0.0, width: 6.0, height: 4.0 };
        let values = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let placed = squarify(&values, whole);
        assert_eq!(placed.len(), values.len());
        for (value, r) in values.iter().zip(&placed) {
            assert!((r.width * r.height - value).abs() < 1e-9, "{value}: {r:?}");
            assert!(
                r.x >= -1e-9 && r.y >= -1e-9 && r.x + r.width <= 6.0 + 1e-9 && r.y + r.height <= 4.0 + 1e-9,
                "{r:?}"
            );
        }
        // Example of the paper: the first two are above each other, three wide.
        assert_eq!((placed[0].width, placed[0].height), (3.0, 2.0));
    }
}
