//! Timeline: values over time, as lines and as bars, reduced to one value for each column of the drawing.
//!
//! ```text
//!   largest value -+        |
//!                  |  _/\_ _|_/
//!                0 +-----------
//!                  0 s      end
//! ```

use yunti_program::page::markup::{Tag, at, drawing, section, tag};

/// Timeline with its series.
pub struct Timeline {
    /// Heading.
    pub title: String,
    /// Length in seconds.
    pub seconds: f64,
    /// Series; later ones are drawn over earlier ones.
    pub series: Vec<Series>,
    /// Formats a value.
    pub format: fn(f64) -> String,
}

/// Series of values.
pub struct Series {
    /// Name in the legend.
    pub name: String,
    pub shape: Shape,
    /// Seconds and values, in any order.
    pub points: Vec<(f64, f64)>,
    /// Number of the colour.
    pub colour: usize,
}

/// Shape of a series; it says which value stands for a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A bar from zero to the largest value of each column.
    Bars,
    /// A line through the largest values.
    Highest,
    /// A line through the smallest values.
    Lowest,
}

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 200.0;
/// Room for the labels at the left, below and above.
const LEFT: f64 = 70.0;
const BELOW: f64 = 22.0;
const ABOVE: f64 = 10.0;
/// Columns of the drawing.
const COLUMNS: usize = 600;
const COLOURS: usize = 6;

/// Style sheet of timelines.
pub const STYLE: &str = include_str!("timeline.css");

impl Timeline {
    /// Returns the timeline as a section of a page. `number`: its number on the page.
    pub fn draw(&self, number: usize) -> Tag {
        let largest = self.series.iter().flat_map(|series| &series.points).map(|point| point.1).fold(0.0, f64::max);
        let (bottom, right) = (HEIGHT - BELOW, WIDTH - 1.0);
        let y = |value: f64| bottom - value / largest.max(f64::MIN_POSITIVE) * (bottom - ABOVE);
        let x = |column: usize| LEFT + (column as f64 + 0.5) / COLUMNS as f64 * (right - LEFT);
        let label = |x: f64, y: f64, anchor: &str, text: String| {
            tag("text").set("x", at(x)).set("y", at(y)).set("text-anchor", anchor).say(text)
        };
        let axis = format!("M{} {}V{}H{}", at(LEFT), at(ABOVE), at(bottom), at(right));
        let mut svg = drawing(WIDTH, HEIGHT, &self.title, "")
            .class("timeline")
            .set("preserveAspectRatio", "xMidYMid meet")
            .add(tag("path").class("axis").set("d", axis))
            .add(label(LEFT - 6.0, ABOVE + 6.0, "end", (self.format)(largest)))
            .add(label(LEFT - 6.0, bottom, "end", "0".to_owned()))
            .add(label(LEFT, HEIGHT - 6.0, "start", "0 s".to_owned()))
            .add(label(right, HEIGHT - 6.0, "end", yunti_program::text::numbers::seconds(self.seconds)));
        for series in &self.series {
            let mut path = String::new();
            for (column, value) in series.columns(self.seconds).into_iter().enumerate() {
                let Some(value) = value else { continue };
                let (x, y) = (at(x(column)), at(y(value)));
                path += &match series.shape {
                    Shape::Bars => format!("M{x} {}V{y}", at(bottom)),
                    _ => format!("{}{x} {y}", if path.is_empty() { 'M' } else { 'L' }),
                };
            }
            svg = svg.add(tag("path").class(format!("series-{}", series.colour % COLOURS)).set("d", path));
        }
        let legend = self.series.iter().map(|series| {
            tag("li").add(tag("i").class(format!("series-{}", series.colour % COLOURS)).say("")).say(&series.name)
        });
        section(&format!("timeline-{number}"), &self.title)
            .add(tag("div").class("card").add(svg).add(tag("ul").class("legend").all(legend)))
    }
}

impl Series {
    /// Returns the value of each column.
    fn columns(&self, seconds: f64) -> Vec<Option<f64>> {
        let mut columns: Vec<Option<f64>> = vec![None; COLUMNS];
        for (time, value) in self.points.iter().filter(|(_, value)| value.is_finite()) {
            let column = (time / seconds.max(f64::MIN_POSITIVE) * COLUMNS as f64).clamp(0.0, COLUMNS as f64 - 1.0);
            let known = &mut columns[column as usize];
            *known = Some(match (*known, self.shape) {
                (None, _) => *value,
                (Some(known), Shape::Lowest) => known.min(*value),
                (Some(known), _) => known.max(*value),
            });
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_one_value() {
        let points = vec![(0.0, 3.0), (0.001, 5.0), (0.002, 4.0), (10.0, 7.0), (99.0, 8.0), (1.0, f64::NAN)];
        let series = |shape| Series { name: String::new(), shape, points: points.clone(), colour: 0 };
        for (shape, first, last) in [(Shape::Bars, 5.0, 8.0), (Shape::Highest, 5.0, 8.0), (Shape::Lowest, 3.0, 7.0)] {
            let columns = series(shape).columns(10.0);
            assert_eq!((columns[0], columns[COLUMNS - 1]), (Some(first), Some(last)));
            assert_eq!(columns.iter().flatten().count(), 2);
        }
        assert!(series(Shape::Bars).columns(0.0).iter().flatten().count() > 0);
    }
}
