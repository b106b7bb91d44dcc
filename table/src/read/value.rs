//! Values as JSON.

use serde_json::{Map, Number, Value, json};
use yunti_base::Result;

use super::rows::Row;
use crate::format::row::{Layout, list};
use crate::format::schema::{Column, Kind};
use crate::format::values;

impl Row<'_> {
    /// Returns a value as JSON: numbers as numbers, but NaN and infinities as text; null if it is missing.
    pub fn json(&self, column: usize) -> Result<Value> {
        match (self.table().schema.columns.get(column), self.value(column)?) {
            (Some(column), Some(bytes)) => json(column, bytes),
            _ => Ok(Value::Null),
        }
    }

    /// Returns a value as text, a nested one as JSON; `None` if it is missing.
    pub fn text(&self, column: usize) -> Result<Option<String>> {
        match (self.table().schema.columns.get(column), self.value(column)?) {
            (Some(column), Some(bytes)) if column.inner.is_empty() => {
                let mut text = String::new();
                values::print(column.kind, bytes, &mut text);
                Ok(Some(text))
            }
            (Some(column), Some(bytes)) => Ok(Some(json(column, bytes)?.to_string())),
            _ => Ok(None),
        }
    }

    /// Returns all values as an object of JSON.
    pub fn object(&self) -> Result<Value> {
        let columns = &self.table().schema.columns;
        let one = |(at, column): (usize, &Column)| Ok((column.name.clone(), self.json(at)?));
        Ok(Value::Object(columns.iter().enumerate().map(one).collect::<Result<Map<_, _>>>()?))
    }
}

fn json(column: &Column, bytes: &[u8]) -> Result<Value> {
    match column.kind {
        Kind::Record => {
            let layout = Layout::of(&column.inner);
            let one = |(at, field): (usize, &Column)| {
                let value = layout.value(bytes, at)?;
                Ok((field.name.clone(), value.map_or(Ok(Value::Null), |bytes| json(field, bytes))?))
            };
            Ok(Value::Object(column.inner.iter().enumerate().map(one).collect::<Result<Map<_, _>>>()?))
        }
        Kind::List => {
            let Some(element) = column.inner.first() else { return Ok(Value::Null) };
            let one = |value: Option<&[u8]>| value.map_or(Ok(Value::Null), |bytes| json(element, bytes));
            Ok(Value::Array(list(element, bytes)?.into_iter().map(one).collect::<Result<_>>()?))
        }
        kind => {
            let mut text = String::new();
            values::print(kind, bytes, &mut text);
            Ok(match kind {
                Kind::Utf8 | Kind::Bytes | Kind::Dict => json!(text),
                // Not by serde_json, which may read another last digit.
                Kind::F32 | Kind::F64 => {
                    let number = text.parse::<f64>().ok().and_then(Number::from_f64);
                    number.map_or(json!(text), Value::Number)
                }
                _ => serde_json::from_str(&text).unwrap_or(json!(text)),
            })
        }
    }
}
