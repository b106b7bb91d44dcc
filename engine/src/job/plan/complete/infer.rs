//! Names and types of the columns of CSV and JSON, from the first records.
//!
//! A type is inferred only if every text of the sample can be one and comes back the same: `007` stays text.

use std::collections::HashSet;
use std::fmt;

use crate::env::Env;
use crate::format::columns::put_unescaped;
use crate::job::inspect::inspect;
use crate::job::spec::InputFormat;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use yunti_base::{Cancel, Code, Error, Result};

/// Names and types of the columns; a type is empty if it is not known.
pub type Fields = Vec<(String, String)>;

/// Records of the sample, at most.
const SAMPLE: usize = 10_000;

/// Returns the columns of a CSV file, numbered from 1 if it has no header. Errors: `Input` for a file without a record.
pub fn of_csv(path: &str, separator: u8, header: bool, typed: bool, env: &Env) -> Result<Fields> {
    let format = InputFormat::Csv { separator, header: false };
    let n = if typed { SAMPLE } else { 0 } + 1;
    let sample = inspect(path, &format, n, false, env, &Cancel::default())?;
    let mut records = sample.records.iter();
    let Some(first) = sample.records.first() else {
        let what = if header { "the CSV data has no header" } else { "the CSV data has no record" };
        return Err(Error::new(Code::Input, what).at_path(path));
    };
    let mut names = vec![text(&first.key)];
    if !first.value.is_empty() {
        names.extend(columns(&first.value));
    }
    if header {
        records.next();
    } else {
        names = (1..=names.len()).map(|number| number.to_string()).collect();
    }
    let mut kinds = vec![Kind::default(); names.len()];
    for record in records {
        let several = names.len() > 2;
        let rest = if several { columns(&record.value) } else { vec![text(&record.value)] };
        for (kind, cell) in kinds.iter_mut().zip(std::iter::once(text(&record.key)).chain(rest)) {
            kind.meet(&cell);
        }
    }
    Ok(names.into_iter().zip(kinds.iter().map(|kind| kind.name(typed))).collect())
}

/// Returns the names of the members of the first JSON lines, in the order in which they first occur.
pub fn names_of_json(path: &str, env: &Env) -> Result<Vec<String>> {
    let sample = inspect(path, &InputFormat::Text { delimiter: None }, SAMPLE, false, env, &Cancel::default())?;
    let mut names: Vec<String> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    for line in &sample.records {
        let Ok(Members(members)) = serde_json::from_slice(&line.value) else { continue };
        names.extend(members.into_iter().filter(|name| known.insert(name.clone())));
    }
    match names.is_empty() {
        true => Err(Error::new(Code::Input, "the JSON lines have no members").at_path(path)),
        false => Ok(names),
    }
}

/// Names of the members of an object, in their order.
struct Members(Vec<String>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Members, D::Error> {
        struct Names;
        impl<'de> Visitor<'de> for Names {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Members, A::Error> {
                let mut names = Vec::new();
                while let Some((name, IgnoredAny)) = map.next_entry()? {
                    names.push(name);
                }
                Ok(Members(names))
            }
        }
        from.deserialize_map(Names)
    }
}

/// Returns the columns of JSON lines that are named.
pub fn of_json(path: &str, names: &[String], typed: bool, env: &Env) -> Result<Fields> {
    if !typed {
        return Ok(names.iter().map(|name| (name.clone(), String::new())).collect());
    }
    // Lines are parsed here, so that a missing member is not taken for an empty text.
    let sample = inspect(path, &InputFormat::Text { delimiter: None }, SAMPLE, false, env, &Cancel::default())?;
    let mut kinds = vec![Kind::default(); names.len()];
    for line in &sample.records {
        let Ok(object) = serde_json::from_slice::<serde_json::Value>(&line.value) else { continue };
        for (kind, name) in kinds.iter_mut().zip(names) {
            let found = name.split('.').try_fold(&object, |value, part| value.get(part));
            match found {
                None | Some(serde_json::Value::Null) => {}
                Some(serde_json::Value::String(_)) => kind.meet("text"),
                Some(other) => kind.meet(&other.to_string()),
            }
        }
    }
    Ok(names.iter().cloned().zip(kinds.iter().map(|kind| kind.name(typed))).collect())
}

/// Types that all texts of a column so far can be.
#[derive(Clone, Copy)]
struct Kind {
    whole: bool,
    float: bool,
    boolean: bool,
    date: bool,
    is_empty: bool,
}

impl Default for Kind {
    fn default() -> Kind {
        Kind { whole: true, float: true, boolean: true, date: true, is_empty: true }
    }
}

impl Kind {
    fn meet(&mut self, cell: &str) {
        if cell.is_empty() {
            return;
        }
        self.is_empty = false;
        self.whole &= cell.parse::<i64>().is_ok_and(|n| n.to_string() == cell);
        self.float &= is_float(cell);
        self.boolean &= matches!(cell, "true" | "false");
        self.date &= is_date(cell);
    }

    fn name(&self, typed: bool) -> String {
        let name = match self {
            _ if !typed => "",
            Kind { is_empty: true, .. } => "Utf8",
            Kind { whole: true, .. } => "Int64",
            Kind { float: true, .. } => "Float64",
            Kind { boolean: true, .. } => "Boolean",
            Kind { date: true, .. } => "Date32",
            _ => "Utf8",
        };
        name.into()
    }
}

/// Returns true for a number whose digits a float keeps: 17 at most, without a leading zero before others.
fn is_float(cell: &str) -> bool {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    let shape = digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-' | b'+'));
    let leading = digits.starts_with('0') && digits.len() > 1 && !digits.starts_with("0.");
    let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
    let significant = mantissa.trim_start_matches(['0', '.']).bytes().filter(u8::is_ascii_digit).count();
    shape
        && !leading
        && significant <= 17
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && cell.parse::<f64>().is_ok()
}

fn is_date(cell: &str) -> bool {
    let bytes = cell.as_bytes();
    let digits = |range: std::ops::Range<usize>| bytes[range].iter().all(u8::is_ascii_digit);
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' || !digits(0..4) || !digits(5..7) || !digits(8..10) {
        return false;
    }
    let (month, day) = (cell[5..7].parse().unwrap_or(0), cell[8..].parse().unwrap_or(0));
    (1..=12).contains(&month) && (1..=31).contains(&day)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the columns of a value: texts between tabs, unescaped if there are several.
fn columns(value: &[u8]) -> Vec<String> {
    if !value.contains(&b'\t') {
        return vec![text(value)];
    }
    let plain = |cell: &[u8]| {
        let mut plain = Vec::new();
        put_unescaped(cell, &mut plain);
        text(&plain)
    };
    value.split(|&byte| byte == b'\t').map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order() {
        let Members(names) = serde_json::from_str(r#"{"b": 1, "a": {"c": [2]}, "": null}"#).unwrap();
        assert_eq!(names, ["b", "a", ""]);
        assert!(serde_json::from_str::<Members>("[1]").is_err());
    }

    #[test]
    fn columns_without_escapes() {
        assert_eq!(columns(b"a\\t"), ["a\\t"]);
        assert_eq!(columns(b"a\\\\t\tb\\tc"), ["a\\t", "b\tc"]);
    }

    #[test]
    fn types_of_samples() {
        for (cells, expect) in [
            (&["1", "-2", ""][..], "Int64"),
            (&["1", "2.5"], "Float64"),
            (&["1e300", "-0.25", "0.00012345678901234567"], "Float64"),
            (&["123456789012345678.5"], "Utf8"),
            (&["007", "1"], "Utf8"),
            (&["00.5"], "Utf8"),
            (&["true", "false"], "Boolean"),
            (&["true", "1"], "Utf8"),
            (&["2026-11-25", ""], "Date32"),
            (&["2026-13-25"], "Utf8"),
            (&["12345678901234567890"], "Utf8"),
            (&["", ""], "Utf8"),
            (&["+1"], "Utf8"),
            (&["inf"], "Utf8"),
        ] {
            let mut kind = Kind::default();
            cells.iter().for_each(|cell| kind.meet(cell));
            assert_eq!(kind.name(true), expect, "{cells:?}");
        }
    }
}
