//! Outline: lines that open to the lines below them.

use yunti_program::page::markup::{Tag, section, tag};

/// Outline of a page.
pub struct Outline {
    /// Heading.
    pub title: String,
    /// Lines, in their order.
    pub lines: Vec<Line>,
}

/// Line of an outline.
pub struct Line {
    /// Figures in front of the text.
    pub figures: String,
    /// Text.
    pub text: String,
    /// Lines below it.
    pub below: Vec<Line>,
}

/// Style sheet of outlines.
pub const STYLE: &str = include_str!("outline.css");

impl Outline {
    /// Returns the outline as a section of a page. `number`: its number on the page.
    pub fn draw(&self, number: usize) -> Tag {
        let lines = tag("div").class("outline card").all(self.lines.iter().map(drawn));
        section(&format!("outline-{number}"), &self.title).add(lines)
    }
}

fn drawn(line: &Line) -> Tag {
    let words = |name| tag(name).add(tag("b").say(&line.figures)).add(tag("span").say(&line.text));
    match &line.below[..] {
        [] => words("p"),
        below => tag("details").add(words("summary")).all(below.iter().map(drawn)),
    }
}
