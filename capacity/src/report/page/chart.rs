//! Chart with two axes. Its shapes stretch with the window; its labels are text beside them, readable at any width.

use yunti_program::page::markup::{Tag, at, drawing, tag};

/// Size of the drawing, in units of its own: it is stretched.
pub const WIDTH: f64 = 1000.0;
pub const HEIGHT: f64 = 400.0;
/// Marks of an axis, at most.
const TICKS: f64 = 5.0;
/// Parts of a line between two points, where an axis bends.
const BENDS: u32 = 8;
/// Share of the width that a flag or a label needs on a phone.
const FLAG: f64 = 0.07;
const LABEL: f64 = 0.09;

/// Axis from 0 to its end. A power below 1 leaves more room for small values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    pub end: f64,
    pub power: f64,
}

impl Axis {
    /// Returns the axis with equal steps.
    pub fn linear(end: f64) -> Axis {
        Axis { end: if end.is_finite() && end > 0.0 { end } else { 1.0 }, power: 1.0 }
    }

    /// Returns the place of a value as share of the axis.
    pub fn share(&self, value: f64) -> f64 {
        (value.max(0.0) / self.end).powf(self.power)
    }

    /// Returns the values to write beside the axis.
    pub fn ticks(&self) -> Vec<f64> {
        if self.power < 1.0 {
            let decades = (0..7).map(|power| 10f64.powi(power));
            let all: Vec<f64> =
                decades.flat_map(|ten| [ten, 2.0 * ten, 5.0 * ten]).filter(|v| *v <= self.end).collect();
            let mut last = 0.0;
            let is_free = |value: &f64| {
                let free = self.share(*value) - last >= LABEL;
                last = if free { self.share(*value) } else { last };
                free
            };
            return [0.0].into_iter().chain(all.into_iter().filter(is_free)).collect();
        }
        let rough = self.end / TICKS;
        let ten = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].iter().map(|n| n * ten).find(|step| *step >= rough).unwrap_or(rough);
        (0..).map(|n| f64::from(n) * step).take_while(|value| *value <= self.end * 1.0001).collect()
    }
}

/// Chart under construction.
pub struct Chart {
    pub id: &'static str,
    /// Title and description for readers who do not see it.
    pub title: String,
    pub description: String,
    pub x: Axis,
    pub y: Axis,
    pub x_name: &'static str,
    pub y_name: &'static str,
    shapes: Vec<Tag>,
    flags: Vec<f64>,
}

impl Chart {
    pub fn new(
        id: &'static str,
        title: &str,
        description: &str,
        x: (Axis, &'static str),
        y: (Axis, &'static str),
    ) -> Chart {
        let ((x, x_name), (y, y_name)) = (x, y);
        let (title, description) = (title.into(), description.into());
        Chart { id, title, description, x, y, x_name, y_name, shapes: Vec::new(), flags: Vec::new() }
    }

    fn place(&self, x: f64, y: f64) -> String {
        format!("{} {}", at(self.x.share(x) * WIDTH), at((1.0 - self.y.share(y)) * HEIGHT))
    }

    /// Adds a line through points, in their order.
    pub fn line(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let points: Vec<(f64, f64)> = points.into_iter().collect();
        let [first, ..] = points[..] else { return };
        // A straight line bends where the axis does.
        let parts = if self.x.power == 1.0 { 1 } else { BENDS };
        let between = points.windows(2).flat_map(|pair| {
            let ((x, y), (to_x, to_y)) = (pair[0], pair[1]);
            let shares = (1..=parts).map(move |part| f64::from(part) / f64::from(parts));
            shares.map(move |share| (x + (to_x - x) * share, y + (to_y - y) * share))
        });
        let places: Vec<String> = [first].into_iter().chain(between).map(|(x, y)| self.place(x, y)).collect();
        if places.len() > 1 {
            self.shapes.push(tag("path").class(class).set("d", format!("M{}", places.join("L"))));
        }
    }

    /// Adds a band between a low and a high value at each place.
    pub fn band(&mut self, class: &str, points: &[(f64, f64, f64)]) {
        let low = points.iter().map(|(x, low, _)| self.place(*x, *low));
        let high = points.iter().rev().map(|(x, _, high)| self.place(*x, *high));
        let places: Vec<String> = low.chain(high).collect();
        self.shapes.push(tag("path").class(class).set("d", format!("M{}Z", places.join("L"))));
    }

    /// Adds a dot, with a bar from a low to a high value.
    pub fn dot(&mut self, class: &str, x: f64, (low, value, high): (f64, f64, f64), words: &str) {
        let bar = format!("M{}L{}", self.place(x, low), self.place(x, high));
        // A line without length and with round ends is a dot that does not stretch.
        let dot = format!("M{}h0", self.place(x, value));
        self.shapes.push(tag("path").class(format!("{class}-bar")).set("d", bar));
        self.shapes.push(tag("path").class(class).set("d", dot).add(tag("title").say(words)));
    }

    /// Adds an upright line with the next number as its flag.
    pub fn flag(&mut self, x: f64) {
        let line = format!("M{}V0", self.place(x, 0.0));
        self.shapes.push(tag("path").class("mark").set("d", line));
        self.flags.push(self.x.share(x));
    }

    /// Returns the figure.
    pub fn draw(self) -> Tag {
        let percent = |share: f64| at(share * 100.0);
        let beside = |share: f64, value: f64| {
            tag("span").set("style", format!("top:{}%", percent(1.0 - share))).say(label(value))
        };
        let below = |share: f64, value: f64| {
            let side = if share > 0.97 { " end" } else { "" };
            tag("span").class(format!("tick{side}")).set("style", format!("left:{}%", percent(share))).say(label(value))
        };
        let (xs, ys) = (self.x.ticks(), self.y.ticks());
        let grid: String = ys.iter().map(|y| format!("M0 {}H{WIDTH}", at((1.0 - self.y.share(*y)) * HEIGHT))).collect();
        let svg = drawing(WIDTH, HEIGHT, &self.title, &self.description)
            .add(tag("path").class("grid").set("d", grid))
            .all(self.shapes);
        let (rows, count) = stagger(&self.flags);
        let flags = self.flags.iter().zip(rows).enumerate().map(|(i, (share, row))| {
            let style = format!("left:{}%;bottom:{}rem", percent(*share), at(1.35 * (count - 1 - row) as f64));
            tag("span").set("style", style).say(i + 1)
        });
        let mut figure = tag("figure").class("chart").set("id", self.id).add(tag("p").class("name").say(self.y_name));
        if count > 0 {
            let height = format!("height:{}rem", at(1.35 * count as f64 + 0.1));
            figure = figure.add(tag("div").class("flags").set("style", height).set("aria-hidden", "true").all(flags));
        }
        figure
            .add(tag("div").class("ys").set("aria-hidden", "true").all(ys.iter().map(|y| beside(self.y.share(*y), *y))))
            .add(svg)
            .add(tag("div").class("xs").set("aria-hidden", "true").all(xs.iter().map(|x| below(self.x.share(*x), *x))))
            .add(tag("p").class("name end").say(self.x_name))
    }
}

/// Returns a row for each flag so that none covers another, and the number of rows.
fn stagger(shares: &[f64]) -> (Vec<usize>, usize) {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let placed = shares
        .iter()
        .map(|share| {
            let is_free = |row: &Vec<f64>| row.iter().all(|other| (other - share).abs() >= FLAG);
            let row = rows.iter().position(is_free).unwrap_or(rows.len());
            if row == rows.len() {
                rows.push(Vec::new());
            }
            rows[row].push(*share);
            row
        })
        .collect();
    (placed, rows.len())
}

/// Returns a number beside an axis.
fn label(value: f64) -> String {
    if value >= 10_000.0 { format!("{}k", at(value / 1000.0)) } else { at(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_not_too_close() {
        assert_eq!(Axis::linear(381.0).ticks(), [0.0, 100.0, 200.0, 300.0]);
        assert_eq!(Axis::linear(0.4).ticks().len(), 5);
        assert_eq!(Axis { end: 100.0, power: 0.5 }.ticks(), [0.0, 1.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(Axis::linear(f64::NAN).end, 1.0);
        assert_eq!([label(12_000.0), label(0.5), label(350.0)], ["12k", "0.5", "350"]);
    }

    #[test]
    fn flags_do_not_cover_one_another() {
        assert_eq!(stagger(&[0.1, 0.12, 0.5, 0.13]), (vec![0, 1, 0, 2], 3));
        assert_eq!(stagger(&[]), (vec![], 0));
    }
}
