//! Values as JSON and as text.

use serde_json::Value;
use yunti_base::Result;

use super::rows::Row;
use crate::format::json;

impl Row<'_> {
    /// Returns a value as JSON: numbers as numbers, but NaN and infinities as text; null if it is missing.
    pub fn json(&self, column: usize) -> Result<Value> {
        match (self.table().schema.columns.get(column), self.value(column)?) {
            (Some(column), Some(bytes)) => json::json(column, bytes),
            _ => Ok(Value::Null),
        }
    }

    /// Returns a value as text, a nested one as JSON; `None` if it is missing.
    pub fn text(&self, column: usize) -> Result<Option<String>> {
        match (self.table().schema.columns.get(column), self.value(column)?) {
            (Some(column), Some(bytes)) => json::text(column, bytes).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns all values as an object of JSON.
    pub fn object(&self) -> Result<Value> {
        json::object(&self.table().schema.columns, |column| self.value(column))
    }
}
