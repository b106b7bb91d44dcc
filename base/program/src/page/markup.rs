//! Elements of a page. Text and attributes are escaped on input, so the name of a job or a file never becomes markup.
//! Each element is closed, so the page is also well-formed XML.

use std::fmt::Display;

/// Element under construction.
pub struct Tag {
    name: &'static str,
    attributes: String,
    content: String,
}

/// Void elements of HTML, which have no content.
const VOID: [&str; 3] = ["meta", "br", "input"];

/// Returns an empty element of this name.
pub fn tag(name: &'static str) -> Tag {
    Tag { name, attributes: String::new(), content: String::new() }
}

impl Tag {
    /// Adds an attribute; the value is escaped.
    pub fn set(mut self, name: &str, value: impl Display) -> Tag {
        self.attributes += &format!(" {name}=\"{}\"", escaped(&value.to_string()));
        self
    }

    /// Adds the attribute `class`.
    pub fn class(self, value: impl Display) -> Tag {
        self.set("class", value)
    }

    /// Adds text, escaped.
    pub fn say(mut self, text: impl Display) -> Tag {
        self.content += &escaped(&text.to_string());
        self
    }

    /// Adds a child element.
    #[expect(clippy::should_implement_trait, reason = "a verb of this builder, like `set` and `say`")]
    pub fn add(mut self, child: Tag) -> Tag {
        child.write(&mut self.content);
        self
    }

    /// Adds child elements.
    pub fn all(self, children: impl IntoIterator<Item = Tag>) -> Tag {
        children.into_iter().fold(self, Tag::add)
    }

    /// Adds text without escaping: a style sheet or a script of Yunti, never input.
    pub fn raw(mut self, text: &str) -> Tag {
        self.content += text;
        self
    }

    /// Prefixes the ids in the element, for pages that repeat it.
    ///
    /// Quotes in text are escaped, so a match of ` id="` is always an attribute.
    pub fn with_ids_of(mut self, prefix: &str) -> Tag {
        for attribute in [" id=\"", " aria-labelledby=\""] {
            for text in [&mut self.attributes, &mut self.content] {
                *text = text.replace(attribute, &format!("{attribute}{prefix}-"));
            }
        }
        self
    }

    fn write(&self, out: &mut String) {
        let Tag { name, attributes, content } = self;
        *out += &match (content.is_empty(), VOID.contains(name) || is_shape(name)) {
            (true, true) => format!("<{name}{attributes}/>"),
            _ => format!("<{name}{attributes}>{content}</{name}>"),
        };
    }

    /// Returns the element as HTML.
    pub fn print(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

/// Returns true for SVG shapes, which close themselves when empty.
fn is_shape(name: &str) -> bool {
    matches!(name, "rect" | "path" | "line")
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\n' | '\t' => out.push(' '),
            // XML forbids these characters, but names of files may contain them.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Returns a coordinate with at most two decimals, which is finer than any screen.
pub fn at(value: f64) -> String {
    let text = format!("{:.2}", if value.is_finite() { value } else { 0.0 });
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Returns an SVG drawing that fills the width of its container. Add shapes only: text would be stretched.
///
/// `title` and `description` are for screen readers; an empty description is omitted.
pub fn drawing(width: f64, height: f64, title: &str, description: &str) -> Tag {
    let mut svg = tag("svg")
        .set("viewBox", format!("0 0 {} {}", at(width), at(height)))
        .set("preserveAspectRatio", "none")
        .set("role", "img")
        .set("aria-label", title)
        .add(tag("title").say(title));
    if !description.is_empty() {
        svg = svg.add(tag("desc").say(description));
    }
    svg
}

/// Returns a section of the page with its heading.
pub fn section(id: &str, heading: &str) -> Tag {
    let name = format!("{id}-heading");
    tag("section").set("id", id).set("aria-labelledby", &name).add(tag("h2").set("id", &name).say(heading))
}

/// Returns a paragraph.
pub fn paragraph(text: impl Display) -> Tag {
    tag("p").say(text)
}

/// Returns a paragraph of class `note`.
pub fn note(text: impl Display) -> Tag {
    paragraph(text).class("note")
}

/// Returns a table that scrolls horizontally where it is too wide.
///
/// Each column has a name and a flag for right alignment. The first cell of a row is its heading.
pub fn table(caption: &str, columns: &[(&str, bool)], rows: impl IntoIterator<Item = Vec<String>>) -> Tag {
    let side = |cell: Tag, right: bool| if right { cell.class("n") } else { cell };
    let head = columns.iter().map(|(name, right)| side(tag("th").set("scope", "col").say(name), *right));
    let body = rows.into_iter().map(|row| {
        let cells = row.into_iter().zip(columns).enumerate().map(|(i, (text, (_, right)))| {
            let cell = if i == 0 { tag("th").set("scope", "row") } else { tag("td") };
            side(cell.say(text), *right)
        });
        tag("tr").all(cells)
    });
    let table = tag("table")
        .add(tag("caption").say(caption))
        .add(tag("thead").add(tag("tr").all(head)))
        .add(tag("tbody").all(body));
    tag("div").class("scroll").set("tabindex", 0).set("role", "region").set("aria-label", caption).add(table)
}

/// Returns a collapsible block, for example with the numbers of a drawing.
pub fn details(summary: &str, content: Tag) -> Tag {
    tag("details").add(tag("summary").say(summary)).add(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_markup_in_text_and_attributes() {
        let bad = "a<b>&\"'\u{1}\n";
        let page = tag("p").set("title", bad).say(bad).add(tag("br")).print();
        let text = "a&lt;b&gt;&amp;&quot;&#39;\u{fffd} ";
        assert_eq!(page, format!("<p title=\"{text}\">{text}<br/></p>"));
        assert_eq!(tag("div").print(), "<div></div>");
    }

    #[test]
    fn rounds_coordinates() {
        assert_eq!([at(1.0), at(0.126), at(-3.10), at(f64::NAN)], ["1", "0.13", "-3.1", "0"]);
    }
}
