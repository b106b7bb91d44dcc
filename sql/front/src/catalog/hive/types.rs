//! Types of Hive by their names, as `array<struct<a:int,b:decimal(10,2)>>`. A complex value is its text as JSON.

use datafusion::arrow::array::{ArrayRef, StringArray};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::arrow::util::display::FormatOptions;
use datafusion::common::ScalarValue;
use std::sync::Arc;
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::vector::Vector;
use yunti_sql_execute::operators::scan::parts::Convert;

use crate::arrow::arrays;

/// Levels of a type, at most.
const LEVELS_MAX: usize = 64;

/// A type of Hive.
#[derive(Clone, Debug, PartialEq)]
pub enum HiveType {
    Plain(DataType),
    /// `varchar(n)` and `char(n)`: longer values are cut.
    Cut(usize),
    Array(Box<HiveType>),
    Map(Box<HiveType>),
    Struct(Vec<(String, HiveType)>),
}

impl HiveType {
    /// Returns the type of a name. Errors: `Usage` for one that is not known.
    pub fn parse(text: &str) -> Result<HiveType> {
        let mut parser = Parser { rest: text.trim() };
        let found = parser.parse(0).filter(|_| parser.rest.is_empty());
        found.ok_or_else(|| {
            let shown: String = text.chars().take(60).flat_map(char::escape_default).collect();
            Error::new(Code::Usage, format!("the type '{shown}' of the metastore is not known"))
        })
    }

    /// Returns the type of the values in a query.
    pub fn data_type(&self) -> DataType {
        match self {
            HiveType::Plain(data_type) => data_type.clone(),
            _ => DataType::Utf8,
        }
    }
}

struct Parser<'t> {
    rest: &'t str,
}

impl<'t> Parser<'t> {
    fn word(&mut self) -> &'t str {
        let end = self.rest.find(|c: char| "<>,:()".contains(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.trim()
    }

    fn is(&mut self, mark: char) -> bool {
        match self.rest.trim_start().strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    /// Returns the numbers in parentheses, if there are any.
    fn numbers(&mut self) -> Option<Vec<u32>> {
        let mut numbers = Vec::new();
        if self.is('(') {
            loop {
                numbers.push(self.word().parse().ok()?);
                if self.is(')') {
                    break;
                }
                if !self.is(',') {
                    return None;
                }
            }
        }
        Some(numbers)
    }

    fn parse(&mut self, level: usize) -> Option<HiveType> {
        if level > LEVELS_MAX {
            return None;
        }
        let name = self.word().to_ascii_lowercase();
        let within = |data_type| Some(HiveType::Plain(data_type));
        match &name[..] {
            "array" => {
                let open = self.is('<');
                let item = self.parse(level + 1)?;
                (open && self.is('>')).then(|| HiveType::Array(Box::new(item)))
            }
            "map" => {
                let open = self.is('<');
                self.parse(level + 1)?;
                let between = self.is(',');
                let value = self.parse(level + 1)?;
                (open && between && self.is('>')).then(|| HiveType::Map(Box::new(value)))
            }
            "struct" | "uniontype" => {
                if !self.is('<') {
                    return None;
                }
                let mut fields = Vec::new();
                loop {
                    let own = match &name[..] {
                        "struct" => {
                            let own = self.word().to_string();
                            if !self.is(':') {
                                return None;
                            }
                            own
                        }
                        _ => fields.len().to_string(),
                    };
                    fields.push((own, self.parse(level + 1)?));
                    if self.is('>') {
                        return Some(HiveType::Struct(fields));
                    }
                    if !self.is(',') {
                        return None;
                    }
                }
            }
            _ => {
                let numbers = self.numbers()?;
                match (&name[..], &numbers[..]) {
                    ("tinyint", []) => within(DataType::Int8),
                    ("smallint", []) => within(DataType::Int16),
                    ("int" | "integer", []) => within(DataType::Int32),
                    ("bigint", []) => within(DataType::Int64),
                    ("float", []) => within(DataType::Float32),
                    ("double" | "double precision", []) => within(DataType::Float64),
                    ("boolean", []) => within(DataType::Boolean),
                    ("string", []) => within(DataType::Utf8),
                    ("binary", []) => within(DataType::Binary),
                    ("date", []) => within(DataType::Date32),
                    ("timestamp" | "timestamp with local time zone" | "timestamplocaltz", []) => {
                        within(DataType::Timestamp(TimeUnit::Microsecond, None))
                    }
                    ("varchar" | "char", &[length]) => Some(HiveType::Cut(length as usize)),
                    ("decimal" | "numeric", []) => within(DataType::Decimal128(10, 0)),
                    ("decimal" | "numeric", &[digits @ 1..=38]) => within(DataType::Decimal128(digits as u8, 0)),
                    ("decimal" | "numeric", &[digits @ 1..=38, places]) if places <= digits => {
                        within(DataType::Decimal128(digits as u8, places as i8))
                    }
                    _ => None,
                }
            }
        }
    }
}

/// Returns texts as values of a type; a text that is no value is null, as in Hive.
pub fn values(texts: ArrayRef, of: &HiveType) -> Result<ArrayRef> {
    match of {
        HiveType::Plain(data_type) => converted(&texts, data_type),
        HiveType::Cut(length) => {
            let texts = texts.as_any().downcast_ref::<StringArray>();
            let texts = texts.ok_or_else(|| Error::new(Code::Internal, "a column of texts is of another type"))?;
            let cut = |text: &str| text.char_indices().nth(*length).map_or(text.len(), |(at, _)| at);
            let values = texts.iter().map(|text| text.map(|text| &text[..cut(text)]));
            Ok(Arc::new(values.collect::<StringArray>()))
        }
        _ => Ok(texts),
    }
}

/// Returns values as those of another type; null where there is none.
pub fn converted(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    if array.data_type() == data_type {
        return Ok(array.clone());
    }
    let options = CastOptions { safe: true, format_options: FormatOptions::default() };
    cast_with_options(array, data_type, &options).map_err(|_| {
        Error::new(Code::Usage, format!("values of type {} are none of type {data_type}", array.data_type()))
            .hint("the files have other types than the metastore says")
    })
}

/// Values of a type that files have, as those of a type of Hive.
#[derive(Debug)]
pub struct StoredType {
    pub data_type: DataType,
    pub of: HiveType,
}

impl Convert for StoredType {
    fn vector(&self, stored: &Arc<Vector>) -> Result<Arc<Vector>> {
        let array = arrays::array(stored, &self.data_type)?;
        let array = match &self.of {
            HiveType::Plain(data_type) => converted(&array, data_type)?,
            of => values(converted(&array, &DataType::Utf8)?, of)?,
        };
        arrays::vector(&array).map(Arc::new)
    }
}

/// Returns the value of a partition's key.
pub fn key_value(text: &str, of: &HiveType) -> Result<ScalarValue> {
    let data_type = of.data_type();
    if text == "__HIVE_DEFAULT_PARTITION__" {
        return ScalarValue::try_from(&data_type).map_err(crate::failure::plain);
    }
    let one: ArrayRef = Arc::new(StringArray::from(vec![text]));
    ScalarValue::try_from_array(&values(one, of)?, 0).map_err(crate::failure::plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_by_their_names() {
        let plain = HiveType::Plain;
        for (text, expect) in [
            ("int", plain(DataType::Int32)),
            ("BIGINT", plain(DataType::Int64)),
            ("decimal(10,2)", plain(DataType::Decimal128(10, 2))),
            ("decimal", plain(DataType::Decimal128(10, 0))),
            ("varchar(3)", HiveType::Cut(3)),
            ("array<int>", HiveType::Array(Box::new(plain(DataType::Int32)))),
            ("map<string,array<double>>", HiveType::Map(Box::new(HiveType::Array(Box::new(plain(DataType::Float64)))))),
            (
                "struct<a:int,b:struct<c:decimal(5,1)>>",
                HiveType::Struct(vec![
                    ("a".into(), plain(DataType::Int32)),
                    ("b".into(), HiveType::Struct(vec![("c".into(), plain(DataType::Decimal128(5, 1)))])),
                ]),
            ),
        ] {
            assert_eq!(HiveType::parse(text).ok(), Some(expect), "{text}");
        }
        let deep = format!("{}int{}", "array<".repeat(1000), ">".repeat(1000));
        for text in ["", "array<int", "array<>", "map<int>", "decimal(39)", "decimal(2,3)", "int>", "what", &deep] {
            assert!(HiveType::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn keys_of_partitions_have_types() {
        let of = |text: &str, name: &str| key_value(text, &HiveType::parse(name).unwrap()).unwrap();
        assert_eq!(of("2026-11-01", "date"), ScalarValue::Date32(Some(20758)));
        assert_eq!(of("07", "int"), ScalarValue::Int32(Some(7)));
        assert_eq!(of("x", "int"), ScalarValue::Int32(None));
        assert_eq!(of("__HIVE_DEFAULT_PARTITION__", "string"), ScalarValue::Utf8(None));
        assert_eq!(of("New York", "varchar(3)"), ScalarValue::Utf8(Some("New".into())));
    }
}
