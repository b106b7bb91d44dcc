//! Values as JSON and as text.

use serde_json::{Map, Number, Value, json};
use yunti_base::Result;

use super::row::{Layout, list};
use super::schema::{Column, Kind};
use super::values;

/// Returns all values of a row as an object of JSON. `value` returns the bytes of a column's value.
pub fn object<'a>(columns: &[Column], value: impl Fn(usize) -> Result<Option<&'a [u8]>>) -> Result<Value> {
    let one = |(at, column): (usize, &Column)| {
        Ok((column.name.clone(), value(at)?.map_or(Ok(Value::Null), |bytes| json(column, bytes))?))
    };
    Ok(Value::Object(columns.iter().enumerate().map(one).collect::<Result<Map<_, _>>>()?))
}

/// Returns a value as text, a nested one as JSON.
pub fn text(column: &Column, bytes: &[u8]) -> Result<String> {
    if !column.inner.is_empty() {
        return Ok(json(column, bytes)?.to_string());
    }
    let mut text = String::new();
    values::print(column.kind, bytes, &mut text);
    Ok(text)
}

/// Returns a value as JSON: numbers as numbers, but NaN and infinities as text.
pub fn json(column: &Column, bytes: &[u8]) -> Result<Value> {
    match column.kind {
        Kind::Record => {
            let layout = Layout::of(&column.inner);
            object(&column.inner, |field| layout.value(bytes, field))
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
