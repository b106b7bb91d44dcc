//! HTML page in one file: styles, drawings and scripts are inline, nothing is fetched, and light and dark modes work.

pub mod markup;

use markup::{Tag, tag};

/// Style sheet of all pages. The style of a single page follows it.
pub const STYLE: &str = include_str!("base.css");

/// Page under construction.
pub struct Page<'a> {
    /// Title in the head of the document.
    pub title: &'a str,
    /// Style sheet of this page, placed after [`STYLE`].
    pub style: &'a str,
    /// Script at the end of the body, for pages that need one.
    pub script: Option<&'a str>,
    /// Text of the footer.
    pub foot: &'a str,
}

impl Page<'_> {
    /// Returns the HTML document with these elements in `main`.
    pub fn of(&self, main: impl IntoIterator<Item = Tag>) -> String {
        let meta = |name: &str, content: &str| tag("meta").set("name", name).set("content", content);
        // This policy makes the browser block every request of the page.
        let scripts = if self.script.is_some() { "; script-src 'unsafe-inline'" } else { "" };
        let policy = format!("default-src 'none'; style-src 'unsafe-inline'{scripts}");
        let head = tag("head")
            .add(tag("meta").set("charset", "utf-8"))
            .add(meta("viewport", "width=device-width, initial-scale=1"))
            .add(meta("color-scheme", "light dark"))
            .add(tag("meta").set("http-equiv", "Content-Security-Policy").set("content", policy))
            .add(tag("title").say(self.title))
            .add(tag("style").raw(STYLE).raw(self.style));
        let mut body = tag("body").add(tag("main").all(main).add(tag("footer").say(self.foot)));
        if let Some(script) = self.script {
            body = body.add(tag("script").raw(script));
        }
        let html = tag("html").set("lang", "en").add(head).add(body);
        format!("<!DOCTYPE html>\n{}\n", html.print())
    }
}
