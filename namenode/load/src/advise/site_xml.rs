//! Hadoop's `*-site.xml`: names and values, nothing else of XML.
//!
//! Not read: `xi:include`, of which the caller is told, since values would be missing without a word.

use yunti_engine::base::{Code, Error, Result};

/// In the order of the file; a later one counts.
///
/// # Errors
/// What is no configuration, and what includes other files.
pub fn parse(text: &str) -> Result<Vec<(String, String)>> {
    let bare = without_comments(text);
    if !bare.contains("<configuration") {
        return Err(Error::new(Code::Input, "this is no configuration of Hadoop: it has no <configuration>"));
    }
    if bare.contains("<xi:include") {
        return Err(Error::new(Code::Input, "xi:include is not followed")
            .hint("leave --conf out, so that the NameNode is asked for its settings"));
    }
    let mut found = Vec::new();
    let mut rest = bare.as_str();
    while let Some((property, after)) = element(rest, "property") {
        if let (Some((name, _)), Some((value, _))) = (element(property, "name"), element(property, "value")) {
            found.push((plain(name), plain(value)));
        }
        rest = after;
    }
    Ok(found)
}

fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        out += before;
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    out + rest
}

/// What is in the first element of this name, and what comes after it.
fn element<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let (_, begun) = text.split_once(&format!("<{name}>"))?;
    begun.split_once(&format!("</{name}>"))
}

fn plain(text: &str) -> String {
    let text = text.trim();
    let text = text.strip_prefix("<![CDATA[").and_then(|rest| rest.strip_suffix("]]>")).unwrap_or(text);
    // The ampersand last: &amp;lt; is &lt;.
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")]
        .iter()
        .fold(text.trim().to_owned(), |text, (entity, char)| text.replace(entity, char))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites() {
        let text = "<?xml version=\"1.0\"?>\n<configuration>\n<!-- <property><name>a</name><value>0</value></property> -->\n\
            <property>\n <name> b </name>\n <value>x &amp; &lt;y&gt;</value><final>true</final></property>\
            <property><name>c</name><value></value></property><property><name>no.value</name></property></configuration>";
        let found = parse(text).unwrap();
        assert_eq!(found, [("b".to_owned(), "x & <y>".to_owned()), ("c".to_owned(), String::new())]);
        assert!(parse("<html>").is_err());
        assert!(parse("<configuration><xi:include href=\"a\"/></configuration>").is_err());
    }
}
