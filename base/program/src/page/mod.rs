//! A page: one file of HTML with its style, its drawings and its scripts in it, and nothing to fetch; for light and for dark.

pub mod markup;

use markup::{Tag, tag};

/// What all pages have. Their own style comes behind it.
pub const STYLE: &str = include_str!("base.css");

/// A page under construction.
pub struct Page<'a> {
    pub title: &'a str,
    /// Its own style, behind [`STYLE`].
    pub style: &'a str,
    /// Its own script, at the end of the body; most have none.
    pub script: Option<&'a str>,
    /// The last line.
    pub foot: &'a str,
}

impl Page<'_> {
    pub fn of(&self, main: impl IntoIterator<Item = Tag>) -> String {
        let meta = |name: &str, content: &str| tag("meta").set("name", name).set("content", content);
        // What the page says of itself, the browser holds it to: no request leaves it.
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
