//! Rows of JSON, an object a line, and nested values of any text.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserializer;
use serde::de::{Deserialize, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use yunti_base::{Code, Error, Result};

use super::{Records, Request, misfit, schema};
use crate::builder::Feeder;
use crate::format::row::{Layout, write_list};
use crate::format::schema::{Column, Kind, Schema};
use crate::format::values::parse;

/// Rows that the types of columns without one are taken from.
const SAMPLE: usize = 10_000;

/// How objects become values.
pub struct Json {
    columns: Vec<Column>,
    name: String,
}

fn no_object(line: u64, name: &str) -> Error {
    Error::new(Code::Input, format!("line {line}: no object of JSON")).at_path(name)
}

fn lines(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (0..).zip(text.split(|byte| *byte == b'\n')).filter(|(_, line)| !line.trim_ascii().is_empty())
}

/// Fields of an object, in the order of the text.
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Fields, D::Error> {
        struct Ordered;
        impl<'de> Visitor<'de> for Ordered {
            type Value = Fields;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Ordered)
    }
}

impl Json {
    /// Reads the first rows for the types of columns.
    pub fn of(text: &[u8], name: &str, request: &Request) -> Result<(Schema, Json)> {
        let mut columns: Vec<(String, Shape)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for ((line, text), before) in lines(text).take(SAMPLE).zip(0_usize..) {
            let Ok(Fields(fields)) = serde_json::from_slice(text) else { return Err(no_object(line + 1, name)) };
            let mut is_there = vec![false; columns.len()];
            for (name, value) in fields {
                let place = *places.entry(name.clone()).or_insert_with(|| {
                    // A column that rows before this one do not have.
                    let shape = if before > 0 { Shape::Missing } else { Shape::of(&value) };
                    columns.push((name, shape));
                    columns.len() - 1
                });
                let shape = std::mem::replace(&mut columns[place].1, Shape::Missing);
                columns[place].1 = shape.with(Shape::of(&value));
                if let Some(is_there) = is_there.get_mut(place) {
                    *is_there = true;
                }
            }
            for (place, _) in is_there.iter().enumerate().filter(|(_, is_there)| !**is_there) {
                let shape = std::mem::replace(&mut columns[place].1, Shape::Missing);
                columns[place].1 = shape.missing();
            }
        }
        let inferred: Vec<Column> = columns.iter().map(|(name, shape)| shape.column(name)).collect();
        let (schema, _) = schema(&inferred, name, &request.keys, &request.columns)?;
        let columns = schema.columns.clone();
        Ok((schema, Json { columns, name: name.to_owned() }))
    }
}

impl Records for Json {
    fn add(&self, text: &[u8], first: u64, feeder: &mut Feeder<'_>) -> Result<()> {
        let mut values: Vec<Vec<u8>> = vec![Vec::new(); self.columns.len()];
        for (line, text) in lines(text) {
            let line = first + line;
            let Ok(row) = serde_json::from_slice::<Object<'_>>(text) else { return Err(no_object(line, &self.name)) };
            let mut is_there = Vec::with_capacity(values.len());
            for (column, out) in self.columns.iter().zip(&mut values) {
                out.clear();
                let text = row.get(column.name.as_str()).map_or(NULL, |value| value.get());
                match write_value(column, text, out) {
                    Some(has_value) => is_there.push(has_value),
                    None => return Err(misfit(line, column, text, &self.name)),
                }
            }
            let row: Vec<Option<&[u8]>> =
                values.iter().zip(is_there).map(|(value, is_there)| is_there.then_some(value.as_slice())).collect();
            feeder.add(&row, line)?;
        }
        Ok(())
    }
}

/// Fields of an object, with the texts of their values: a number keeps all of its digits.
type Object<'t> = HashMap<Cow<'t, str>, &'t RawValue>;
const NULL: &str = "null";

/// Appends a nested value that is JSON in a text; false if it is none of the type.
pub fn parse_text(column: &Column, text: &[u8], out: &mut Vec<u8>) -> bool {
    let text = std::str::from_utf8(text).ok().filter(|text| serde_json::from_str::<&RawValue>(text).is_ok());
    text.is_some_and(|text| write_value(column, text.trim_ascii(), out) == Some(true))
}

/// Appends the bytes of a value. Returns false if it is missing, and `None` if it does not fit the column.
fn write_value(column: &Column, text: &str, out: &mut Vec<u8>) -> Option<bool> {
    if text == NULL {
        return column.is_nullable.then_some(false);
    }
    match column.kind {
        Kind::Record => {
            let fields = serde_json::from_str::<Object<'_>>(text).ok()?;
            let field = |field: &Column| fields.get(field.name.as_str()).map_or(NULL, |value| value.get());
            let values = inner_values(column.inner.iter().map(|inner| (inner, field(inner))))?;
            Layout::of(&column.inner).write(&values.iter().map(Option::as_deref).collect::<Vec<_>>(), out);
        }
        Kind::List => {
            let elements = serde_json::from_str::<Vec<&RawValue>>(text).ok()?;
            let element = column.inner.first()?;
            let values = inner_values(elements.iter().map(|value| (element, value.get())))?;
            write_list(element, &values.iter().map(Option::as_deref).collect::<Vec<_>>(), out);
        }
        kind if text.starts_with('"') => {
            let text = serde_json::from_str::<Cow<'_, str>>(text).ok()?;
            return parse(kind, text.as_bytes(), out).then_some(true);
        }
        kind => return parse(kind, text.as_bytes(), out).then_some(true),
    }
    Some(true)
}

fn inner_values<'v>(all: impl Iterator<Item = (&'v Column, &'v str)>) -> Option<Vec<Option<Vec<u8>>>> {
    all.map(|(column, text)| {
        let mut out = Vec::new();
        write_value(column, text, &mut out).map(|is_there| is_there.then_some(out))
    })
    .collect()
}

/// Kind of the values that a column has.
#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Missing,
    /// Values of this kind.
    One {
        kind: Kind,
        has_missing: bool,
    },
    Record {
        fields: Vec<(String, Shape)>,
        has_missing: bool,
    },
    List {
        element: Box<Shape>,
        has_missing: bool,
    },
}

impl Shape {
    fn of(value: &Value) -> Shape {
        let one = |kind| Shape::One { kind, has_missing: false };
        match value {
            Value::Null => Shape::Missing,
            Value::Bool(_) => one(Kind::Bool),
            Value::Number(number) if number.is_i64() => one(Kind::I64),
            Value::Number(number) if number.is_u64() => one(Kind::U64),
            Value::Number(_) => one(Kind::F64),
            Value::String(_) => one(Kind::Utf8),
            Value::Array(elements) => {
                let element = elements.iter().map(Shape::of).fold(None, |all: Option<Shape>, one| match all {
                    Some(all) => Some(all.with(one)),
                    None => Some(one),
                });
                // Nothing is known of the elements of an empty list: any of another row fit.
                let element = element.unwrap_or(Shape::Record { fields: Vec::new(), has_missing: false });
                Shape::List { element: Box::new(element), has_missing: false }
            }
            Value::Object(fields) => Shape::Record {
                fields: fields.iter().map(|(name, value)| (name.clone(), Shape::of(value))).collect(),
                has_missing: false,
            },
        }
    }

    fn has_missing(&self) -> bool {
        match self {
            Shape::Missing => true,
            Shape::One { has_missing, .. } | Shape::Record { has_missing, .. } | Shape::List { has_missing, .. } => {
                *has_missing
            }
        }
    }

    fn missing(mut self) -> Shape {
        match &mut self {
            Shape::Missing => {}
            Shape::One { has_missing, .. } | Shape::Record { has_missing, .. } | Shape::List { has_missing, .. } => {
                *has_missing = true;
            }
        }
        self
    }

    /// Returns true for an element of lists that had none.
    fn is_nothing(&self) -> bool {
        matches!(self, Shape::Record { fields, .. } if fields.is_empty())
    }

    /// Returns the shape that both values have. Numbers become floats, what has nothing in common becomes text.
    fn with(self, other: Shape) -> Shape {
        let has_missing = self.has_missing() || other.has_missing();
        match (self, other) {
            (Shape::Missing, shape) | (shape, Shape::Missing) => shape.missing(),
            (one, other) if one.is_nothing() => {
                if has_missing {
                    other.missing()
                } else {
                    other
                }
            }
            (one, other) if other.is_nothing() => {
                if has_missing {
                    one.missing()
                } else {
                    one
                }
            }
            (Shape::One { kind: one, .. }, Shape::One { kind: other, .. }) => {
                let numbers = [Kind::I64, Kind::U64, Kind::F64];
                let kind = match one == other {
                    true => one,
                    false if numbers.contains(&one) && numbers.contains(&other) => Kind::F64,
                    false => Kind::Utf8,
                };
                Shape::One { kind, has_missing }
            }
            (Shape::List { element, .. }, Shape::List { element: other, .. }) => {
                Shape::List { element: Box::new(element.with(*other)), has_missing }
            }
            (Shape::Record { fields, .. }, Shape::Record { fields: others, .. }) => {
                Shape::Record { fields: merged(fields, others), has_missing }
            }
            _ => Shape::One { kind: Kind::Utf8, has_missing },
        }
    }

    fn column(&self, name: &str) -> Column {
        let of = |kind: Kind| Column::new(name, kind, self.has_missing());
        match self {
            Shape::Missing => of(Kind::Utf8),
            Shape::One { kind, .. } => of(*kind),
            Shape::List { element, .. } if element.is_nothing() => {
                of(Kind::List).with(vec![Column::new("", Kind::Utf8, true)])
            }
            Shape::List { element, .. } => of(Kind::List).with(vec![element.column("")]),
            Shape::Record { fields, .. } if fields.is_empty() => of(Kind::Utf8),
            Shape::Record { fields, .. } => {
                of(Kind::Record).with(fields.iter().map(|(name, shape)| shape.column(name)).collect())
            }
        }
    }
}

/// Returns the fields of both records. One that only one of them has may be missing.
fn merged(fields: Vec<(String, Shape)>, others: Vec<(String, Shape)>) -> Vec<(String, Shape)> {
    let mut others: std::collections::BTreeMap<String, Shape> = others.into_iter().collect();
    let mut all: Vec<(String, Shape)> = Vec::with_capacity(fields.len());
    for (name, shape) in fields {
        let shape = match others.remove(&name) {
            Some(other) => shape.with(other),
            None => shape.missing(),
        };
        all.push((name, shape));
    }
    all.extend(others.into_iter().map(|(name, shape)| (name, shape.missing())));
    all
}
