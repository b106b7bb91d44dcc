//! Texts of records as values of rows, by the rules of Hive's serdes.

use datafusion::arrow::array::StringBuilder;
use serde_json::Value as Json;
use yunti_base::{Code, Error, Result};

use super::storage::Record;
use super::types::HiveType;

/// A wanted column: its number in the record, its name for JSON, its type, and where its texts go.
pub struct Column {
    pub number: usize,
    pub name: String,
    pub of: HiveType,
    pub texts: StringBuilder,
}

/// Adds the values of a record to columns, which are in the order of their numbers.
///
/// Errors: `Corrupt` for text that is no UTF-8 or no JSON.
pub fn push(line: &[u8], record: &Record, columns: &mut [Column]) -> Result<()> {
    match record {
        Record::Delimited { separators, escape, null } => {
            let mut fields = Fields { rest: Some(line), separator: separators[0], escape: *escape };
            let mut number = 0;
            for column in columns {
                let mut field = fields.next();
                while number < column.number && field.is_some() {
                    field = fields.next();
                    number += 1;
                }
                number += 1;
                match field {
                    None => column.texts.append_null(),
                    Some(bytes) if bytes == null.as_bytes() => column.texts.append_null(),
                    Some(bytes) => match &column.of {
                        HiveType::Plain(_) | HiveType::Cut(_) => append(&unescaped(bytes, *escape), column)?,
                        of => {
                            let value = nested(bytes, of, separators, 1, *escape, null);
                            column.texts.append_value(value.to_string());
                        }
                    },
                }
            }
            Ok(())
        }
        Record::Csv { separator, quote, escape } => {
            let values = csv(line, *separator, *quote, *escape);
            for column in columns {
                match values.get(column.number) {
                    Some(bytes) => append(bytes, column)?,
                    None => column.texts.append_null(),
                }
            }
            Ok(())
        }
        Record::Json => {
            let object: Json = serde_json::from_slice(line)
                .map_err(|e| Error::new(Code::Corrupt, format!("a record is no JSON: {e}")))?;
            let Json::Object(members) = object else {
                return Err(Error::new(Code::Corrupt, "a record of JSON is no object"));
            };
            for column in columns {
                let exact = members.get(&column.name);
                let value = exact.or_else(|| {
                    members.iter().find(|(name, _)| name.eq_ignore_ascii_case(&column.name)).map(|(_, value)| value)
                });
                match value {
                    None | Some(Json::Null) => column.texts.append_null(),
                    Some(Json::String(text)) => column.texts.append_value(text),
                    Some(other) => column.texts.append_value(other.to_string()),
                }
            }
            Ok(())
        }
    }
}

fn append(bytes: &[u8], column: &mut Column) -> Result<()> {
    match std::str::from_utf8(bytes) {
        Ok(text) => column.texts.append_value(text),
        Err(_) => {
            let what = format!("a value of the column {} is no UTF-8", column.name);
            return Err(Error::new(Code::Corrupt, what).hint("files of Hive must be UTF-8"));
        }
    }
    Ok(())
}

/// Fields between separators that are not escaped, as they are.
struct Fields<'b> {
    rest: Option<&'b [u8]>,
    separator: u8,
    escape: Option<u8>,
}

impl<'b> Iterator for Fields<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        let rest = self.rest?;
        let end = match self.escape {
            None => rest.iter().position(|&byte| byte == self.separator),
            Some(escape) => {
                let mut at = 0;
                loop {
                    match rest.get(at) {
                        None => break None,
                        Some(&byte) if byte == self.separator => break Some(at),
                        Some(&byte) if byte == escape => at += 2,
                        Some(_) => at += 1,
                    }
                }
            }
        };
        match end {
            Some(end) => {
                self.rest = Some(&rest[end + 1..]);
                Some(&rest[..end])
            }
            None => self.rest.take(),
        }
    }
}

fn unescaped(bytes: &[u8], escape: Option<u8>) -> std::borrow::Cow<'_, [u8]> {
    let Some(escape) = escape.filter(|escape| bytes.contains(escape)) else { return bytes.into() };
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = bytes.iter();
    while let Some(&byte) = at.next() {
        match byte == escape {
            true => match at.next() {
                Some(b'n') => plain.push(b'\n'),
                Some(b'r') => plain.push(b'\r'),
                Some(&next) => plain.push(next),
                None => plain.push(escape),
            },
            false => plain.push(byte),
        }
    }
    plain.into()
}

/// Returns a value of a complex type as JSON.
fn nested(bytes: &[u8], of: &HiveType, separators: &[u8], level: usize, escape: Option<u8>, null: &str) -> Json {
    use datafusion::arrow::datatypes::DataType;
    if bytes == null.as_bytes() {
        return Json::Null;
    }
    let fields = |level: usize| match separators.get(level) {
        Some(&separator) => Fields { rest: Some(bytes), separator, escape },
        None => Fields { rest: Some(bytes), separator: 0, escape: Some(0) },
    };
    match of {
        HiveType::Plain(data_type) => {
            let text = String::from_utf8_lossy(&unescaped(bytes, escape)).into_owned();
            match data_type {
                DataType::Utf8 | DataType::Binary | DataType::Date32 | DataType::Timestamp(..) => Json::String(text),
                // A text that is no number or no truth is null.
                _ => serde_json::from_str(&text.to_ascii_lowercase()).unwrap_or(Json::Null),
            }
        }
        HiveType::Cut(length) => {
            Json::String(String::from_utf8_lossy(&unescaped(bytes, escape)).chars().take(*length).collect())
        }
        HiveType::Array(_) if bytes.is_empty() => Json::Array(Vec::new()),
        HiveType::Array(item) => {
            Json::Array(fields(level).map(|bytes| nested(bytes, item, separators, level + 1, escape, null)).collect())
        }
        HiveType::Map(_) if bytes.is_empty() => Json::Object(Default::default()),
        HiveType::Map(value) => {
            let pair = |bytes| {
                let separator = separators.get(level + 1).copied().unwrap_or_default();
                let mut sides = Fields { rest: Some(bytes), separator, escape };
                let key = String::from_utf8_lossy(&unescaped(sides.next().unwrap_or_default(), escape)).into_owned();
                let of = sides.rest.map(|bytes| nested(bytes, value, separators, level + 2, escape, null));
                (key, of.unwrap_or(Json::Null))
            };
            Json::Object(fields(level).map(pair).collect())
        }
        HiveType::Struct(names) => {
            let mut values = fields(level);
            let member = |(name, of): &(String, HiveType)| {
                let value = values.next().map(|bytes| nested(bytes, of, separators, level + 1, escape, null));
                (name.clone(), value.unwrap_or(Json::Null))
            };
            Json::Object(names.iter().map(member).collect())
        }
    }
}

/// Returns the values of a record of CSV.
fn csv(line: &[u8], separator: u8, quote: u8, escape: u8) -> Vec<Vec<u8>> {
    let mut values = vec![Vec::new()];
    let (mut at, mut quoted) = (0, false);
    while let Some(&byte) = line.get(at) {
        let next = line.get(at + 1).copied();
        let value = values.last_mut().expect("there is always a last value");
        if byte == quote && quoted && next == Some(quote) {
            value.push(quote);
            at += 1;
        } else if byte == escape && escape != quote && next.is_some_and(|next| next == quote || next == escape) {
            value.extend(next);
            at += 1;
        } else if byte == quote {
            quoted = !quoted;
        } else if byte == separator && !quoted {
            values.push(Vec::new());
        } else {
            value.push(byte);
        }
        at += 1;
    }
    values
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::Array;

    use super::*;

    fn row(line: &str, record: &Record, types: &[&str]) -> Vec<Option<String>> {
        let column = |(number, of): (usize, &&str)| Column {
            number,
            name: format!("c{number}"),
            of: HiveType::parse(of).unwrap(),
            texts: StringBuilder::new(),
        };
        let mut columns: Vec<Column> = types.iter().enumerate().map(column).collect();
        push(line.as_bytes(), record, &mut columns).unwrap();
        let first = |column: &mut Column| {
            let texts = column.texts.finish();
            assert_eq!(texts.len(), 1);
            texts.is_valid(0).then(|| texts.value(0).to_string())
        };
        columns.iter_mut().map(first).collect()
    }

    fn check(line: &str, record: &Record, types: &[&str], expect: &[Option<&str>]) {
        let got = row(line, record, types);
        assert_eq!(got.iter().map(Option::as_deref).collect::<Vec<_>>(), expect, "{line:?}");
    }

    #[test]
    fn delimited_records() {
        let plain = Record::Delimited { separators: vec![b',', b';', b':', b'/'], escape: None, null: "\\N".into() };
        let escaped = Record::Delimited { separators: vec![b','], escape: Some(b'\\'), null: "\\N".into() };
        let text = ["string", "string"];
        check("a,b", &plain, &text, &[Some("a"), Some("b")]);
        check("a", &plain, &text, &[Some("a"), None]);
        check("", &plain, &text, &[Some(""), None]);
        check("a,b,c", &plain, &text, &[Some("a"), Some("b")]);
        check("\\N,\\\\N", &plain, &text, &[None, Some("\\\\N")]);
        check("a\\,b,c", &plain, &text, &[Some("a\\"), Some("b")]);
        check("a\\,b,c", &escaped, &text, &[Some("a,b"), Some("c")]);
        check("\\N,x\\", &escaped, &text, &[None, Some("x\\")]);
        check(
            "1;2;\\N,k:1/2;l:",
            &plain,
            &["array<int>", "map<string,array<int>>"],
            &[Some("[1,2,null]"), Some("{\"k\":[1,2],\"l\":[]}")],
        );
        check(
            "x;5,",
            &plain,
            &["struct<a:string,b:int,c:double>", "array<int>"],
            &[Some("{\"a\":\"x\",\"b\":5,\"c\":null}"), Some("[]")],
        );
    }

    #[test]
    fn columns_that_are_not_wanted_are_passed() {
        let record = Record::Delimited { separators: vec![b','], escape: None, null: "\\N".into() };
        let column = |number: usize| Column {
            number,
            name: String::new(),
            of: HiveType::parse("string").unwrap(),
            texts: StringBuilder::new(),
        };
        let mut columns = [column(1), column(3), column(9)];
        push(b"a,b,c,d", &record, &mut columns).unwrap();
        let [b, d, none] = columns.map(|mut column| column.texts.finish());
        assert_eq!((b.value(0), d.value(0), none.is_null(0)), ("b", "d", true));
    }

    #[test]
    fn records_of_csv_and_json() {
        let csv = Record::Csv { separator: b',', quote: b'"', escape: b'\\' };
        let text = ["string", "string"];
        check("a,\"b,c\"", &csv, &text, &[Some("a"), Some("b,c")]);
        check("\"a\"\"b\",\"\\\"x\\\\\"", &csv, &text, &[Some("a\"b"), Some("\"x\\")]);
        check("a", &csv, &text, &[Some("a"), None]);
        check("\"open,x", &csv, &text, &[Some("open,x"), None]);
        check(
            "{\"C1\":[1,{\"x\":null}],\"c0\":\"a\"}",
            &Record::Json,
            &["string", "array<int>"],
            &[Some("a"), Some("[1,{\"x\":null}]")],
        );
        check("{\"c1\":null}", &Record::Json, &text, &[None, None]);
        for line in ["", "[1]", "{", "nul"] {
            assert_eq!(push(line.as_bytes(), &Record::Json, &mut []).unwrap_err().code(), Code::Corrupt, "{line}");
        }
    }
}
