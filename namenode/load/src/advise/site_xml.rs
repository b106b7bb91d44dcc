//! Parser of Hadoop's `*-site.xml`: names and values, nothing else of XML.
//!
//! Limitation: `xi:include` is an error, because its values would be missing silently.

use yunti_base::{Code, Error, Result};

/// Returns names and values in the order of the file; a later value overrides an earlier one.
///
/// # Errors
/// The text is not a configuration, is not complete, includes other files, or has properties with attributes.
pub fn parse(text: &str) -> Result<Vec<(String, String)>> {
    let bare = without_comments(text);
    if !bare.contains("<configuration") {
        return Err(Error::new(Code::Input, "this is not a Hadoop configuration: it has no <configuration>"));
    }
    if bare.contains("<xi:include") {
        return Err(Error::new(Code::Input, "xi:include is not followed")
            .hint("run without --conf to read the settings from the NameNode"));
    }
    if bare.contains("<property ") {
        return Err(Error::new(Code::Input, "properties with attributes are not read")
            .hint("run without --conf to read the settings from the NameNode"));
    }
    let broken =
        |what: &str| Error::new(Code::Input, format!("the Hadoop configuration is incomplete: <{what}> is not closed"));
    let mut found = Vec::new();
    let mut rest = bare.as_str();
    while rest.contains("<property>") {
        let (property, after) = element(rest, "property").ok_or_else(|| broken("property"))?;
        if property.contains("<property>") {
            return Err(broken("property"));
        }
        let mut parts = [None, None];
        for (part, name) in parts.iter_mut().zip(["name", "value"]) {
            if property.contains(&format!("<{name}>")) {
                *part = Some(plain(element(property, name).ok_or_else(|| broken(name))?.0));
            }
        }
        if let [Some(name), Some(value)] = parts {
            found.push((name, value));
        }
        rest = after;
    }
    let is_empty = bare.split_once("<configuration").is_some_and(|(_, rest)| rest.trim_start().starts_with("/>"));
    if is_empty || bare.contains("</configuration>") { Ok(found) } else { Err(broken("configuration")) }
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

/// Returns the content of the first element with this name, and the text after it.
fn element<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let (_, begun) = text.split_once(&format!("<{name}>"))?;
    begun.split_once(&format!("</{name}>"))
}

fn plain(text: &str) -> String {
    let text = text.trim();
    let text = text.strip_prefix("<![CDATA[").and_then(|rest| rest.strip_suffix("]]>")).unwrap_or(text);
    // The ampersand comes last: &amp;lt; is &lt;.
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")]
        .iter()
        .fold(text.trim().to_owned(), |text, (entity, char)| text.replace(entity, char))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_and_values() {
        let text = "<?xml version=\"1.0\"?>\n<configuration>\n<!-- \
            <property><name>a</name><value>0</value></property> -->\n\
            <property>\n <name> b </name>\n <value>x &amp; &lt;y&gt;</value><final>true</final></property>\
            <property><name>c</name><value></value></property>\
            <property><name>no.value</name></property></configuration>";
        let found = parse(text).unwrap();
        assert_eq!(found, [("b".to_owned(), "x & <y>".to_owned()), ("c".to_owned(), String::new())]);
        assert!(parse("<html>").is_err());
        assert_eq!(parse("<configuration/>").unwrap(), []);
        assert!(parse("<configuration><xi:include href=\"a\"/></configuration>").is_err());
        assert!(parse("<configuration><property name=\"a\" value=\"b\"/></configuration>").is_err());
    }

    #[test]
    fn reports_an_unclosed_element() {
        for (text, what) in [
            ("<configuration>", "configuration"),
            ("<configuration><property><name>a</name><value>1</value></property>", "configuration"),
            ("<configuration><property><name>a</name><value>1</value></configuration>", "property"),
            ("<configuration><property><name>a</name><property><name>b</name></property></configuration>", "property"),
            ("<configuration><property><name>a</name><value>1</property></configuration>", "value"),
            ("<configuration><property><name>a<value>1</value></property></configuration>", "name"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(&format!("<{what}> is not closed")), "{text}: {error}");
        }
    }
}
