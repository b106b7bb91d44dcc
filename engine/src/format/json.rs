//! JSON lines: one object per line, its members as named columns; `a.b` is member `b` of object `a`.
//!
//! ```text
//!   {"id": 7, "user": {"name": "ann\n"}, "tags": [1, 2]}     id -> 7    user.name -> ann LF    tags -> [1,2]    x ->
//! ```
//!
//! Strings are given without quotes and escapes, numbers as they are written, `null` and missing members as nothing.
//! All other values are JSON without spaces. Only the requested members are parsed, but the whole line must be JSON.
//!
//! Lines end at LF, which no JSON string contains, so files may be split anywhere.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::columns::{BadRecords, Columns, RecordBuilder};
use yunti_base::{Code, Error, Result};

/// Members that a job uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonShape {
    /// Columns of keys and values.
    pub columns: Columns,
    /// Treatment of lines that are not JSON objects.
    pub bad: BadRecords,
}

/// A requested member, or a member that contains requested ones.
struct Node {
    name: String,
    column: Option<usize>,
    below: Vec<Node>,
}

/// A parser of JSON lines.
pub struct JsonParser {
    shape: JsonShape,
    wanted: Vec<Node>,
    cells: Vec<Vec<u8>>,
    /// Cell of each column of the key, then of the value; a repeated name is parsed once.
    places: Vec<usize>,
    /// Number of skipped lines.
    pub bad_records: u64,
}

impl JsonParser {
    /// Returns a parser for these members.
    pub fn new(shape: JsonShape) -> JsonParser {
        let mut wanted = Vec::new();
        let names: Vec<&String> = shape.columns.key.iter().chain(&shape.columns.value).collect();
        let places: Vec<usize> = names.iter().map(|name| names.iter().position(|n| n == name).unwrap_or(0)).collect();
        for (name, &column) in names.iter().zip(&places) {
            let mut level = &mut wanted;
            let mut parts = name.split('.').peekable();
            while let Some(part) = parts.next() {
                let at = level.iter().position(|node: &Node| node.name == part).unwrap_or_else(|| {
                    level.push(Node { name: part.into(), column: None, below: Vec::new() });
                    level.len() - 1
                });
                if parts.peek().is_none() {
                    level[at].column = Some(column);
                }
                level = &mut level[at].below;
            }
        }
        let cells = vec![Vec::new(); names.len()];
        JsonParser { shape, wanted, cells, places, bad_records: 0 }
    }

    /// Adds the record of a line at `position` of the file to `built`; an empty line has none.
    ///
    /// Fails with `Code::Corrupt` and the offset if the line is not a JSON object, or with `Code::Memory` if the budget
    /// has no room.
    pub fn parse(&mut self, line: &[u8], position: u64, built: &mut RecordBuilder) -> Result<()> {
        if line.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r')) {
            return Ok(());
        }
        self.cells.iter_mut().for_each(Vec::clear);
        let mut json = serde_json::Deserializer::from_slice(line);
        let members = MemberVisitor { wanted: &self.wanted, cells: &mut self.cells };
        if let Err(error) = members.deserialize(&mut json).and_then(|()| json.end()) {
            if self.shape.bad == BadRecords::Skip {
                self.bad_records += 1;
                return Ok(());
            }
            let text = error.to_string();
            let why = text.split(" at line ").next().unwrap_or_default();
            let at = position + (error.column() as u64).saturating_sub(1);
            return Err(Error::new(Code::Corrupt, format!("a line is not a JSON object ({why})"))
                .at_offset(at)
                .hint("correct it, or skip such lines with -D skip.bad.records=true"));
        }
        let (key, value) = self.places.split_at(self.shape.columns.key.len());
        let cell = |&n: &usize| &self.cells[n][..];
        match value {
            // The line itself.
            [] => built.push(key.iter().map(cell), std::iter::once(line.strip_suffix(b"\r").unwrap_or(line))),
            _ => built.push(key.iter().map(cell), value.iter().map(cell)),
        }
    }
}

/// Visitor of an object's requested members.
struct MemberVisitor<'a> {
    wanted: &'a [Node],
    cells: &'a mut [Vec<u8>],
}

/// Text of a member; it borrows from the line if it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> DeserializeSeed<'de> for MemberVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for MemberVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(Text(name)) = map.next_key()? {
            let Some(node) = self.wanted.iter().find(|node| node.name == name) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let raw: &RawValue = map.next_value()?;
            put(node, raw.get(), self.cells).map_err(<A::Error as serde::de::Error>::custom)?;
        }
        Ok(())
    }
}

/// Writes a member's value into the cells that use it.
fn put(node: &Node, raw: &str, cells: &mut [Vec<u8>]) -> std::result::Result<(), serde_json::Error> {
    if let Some(column) = node.column {
        let cell = &mut cells[column];
        // If members have one name, the last one counts.
        cell.clear();
        match raw.as_bytes()[0] {
            b'"' => cell.extend_from_slice(serde_json::from_str::<Text<'_>>(raw)?.0.as_bytes()),
            b'n' => {}
            b'{' | b'[' => put_without_spaces(raw.as_bytes(), cell),
            _ => cell.extend_from_slice(raw.as_bytes()),
        }
    }
    if !node.below.is_empty() && raw.starts_with('{') {
        MemberVisitor { wanted: &node.below, cells }.deserialize(&mut serde_json::Deserializer::from_str(raw))?;
    }
    Ok(())
}

/// Appends JSON without the spaces outside of strings.
fn put_without_spaces(json: &[u8], out: &mut Vec<u8>) {
    let (mut within, mut escaped) = (false, false);
    for &byte in json {
        if within || !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            out.push(byte);
        }
        if byte == b'"' && !escaped {
            within = !within;
        }
        escaped = within && byte == b'\\' && !escaped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parser(key: &[&str], value: &[&str], bad: BadRecords) -> JsonParser {
        let names = |names: &[&str]| names.iter().map(|n| n.to_string()).collect();
        JsonParser::new(JsonShape { columns: Columns { key: names(key), value: names(value) }, bad })
    }

    fn parse(parser: &mut JsonParser, line: &str) -> Result<Option<(String, String)>> {
        let mut built = RecordBuilder::new(None);
        parser.parse(line.as_bytes(), 100, &mut built)?;
        built.seal();
        let slice = |o: u32, l: u32| String::from_utf8(built.data()[o as usize..][..l as usize].to_vec()).unwrap();
        Ok((built.records() > 0).then(|| {
            (slice(built.key_offsets[0], built.key_lengths[0]), slice(built.value_offsets[0], built.value_lengths[0]))
        }))
    }

    #[test]
    fn finds_members_by_name() {
        let line = concat!(
            r#" {"id": 7.50, "user": {"name": "a\u006e\"n\n", "x": {"y": true}}, "#,
            r#""tags": [1, {"a b" : "c \\\" d"}], "n\u0075ll": null, "id2": -1e5}"#
        );
        for (key, value, expect) in [
            (&["id"][..], &["user.name"][..], ("7.50", "an\"n\n")),
            (&["user.name", "id2"], &["tags"], ("an\"n\\n\t-1e5", r#"[1,{"a b":"c \\\" d"}]"#)),
            (&["null"], &["missing", "user.x.y", "user.x"], ("", "\ttrue\t{\"y\":true}")),
            (&["id", "id"], &["id", "tags.a"], ("7.50\t7.50", "7.50\t")),
            (&["user.x.y"], &[], ("true", line)),
            (&[], &["user.name"], ("", "an\"n\n")),
        ] {
            let mut parser = parser(key, value, BadRecords::Fail);
            for _ in 0..2 {
                let (k, v) = parse(&mut parser, line).unwrap().unwrap();
                assert_eq!((&k[..], &v[..]), expect);
            }
            assert_eq!(parse(&mut parser, " \t\r").unwrap(), None);
        }
        let mut twice = parser(&["a"], &["a.b"], BadRecords::Fail);
        let twice = parse(&mut twice, r#"{"a": "old", "a": {"b": "deep"}}"#).unwrap().unwrap();
        assert_eq!(twice, (r#"{"b":"deep"}"#.into(), "deep".into()));
    }

    #[test]
    fn lines_that_are_not_objects_fail_or_are_skipped() {
        for (line, place) in [
            ("[1]", 100),
            ("7", 100),
            ("{\"a\": }", 106),
            ("{\"a\": 1} x", 109),
            ("{\"a\": 1", 107),
            ("{\"b\": \"\u{1}\"}", 107),
        ] {
            let error = parse(&mut parser(&["a"], &[], BadRecords::Fail), line).unwrap_err();
            assert_eq!(error.code(), Code::Corrupt, "{line}: {error}");
            // The offset of the wrong byte, or of the byte where the parser missed it.
            assert!(error.offset().is_some_and(|at| at.abs_diff(place) <= 1), "{line}: {error}");
            assert!(error.what().starts_with("a line is not a JSON object ("), "{error}");
            let mut skipping = parser(&["a"], &[], BadRecords::Skip);
            assert_eq!(parse(&mut skipping, line).unwrap(), None);
            assert_eq!(skipping.bad_records, 1);
        }
    }
}
