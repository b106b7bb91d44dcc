//! `get_json_object(text, '$.a[0].b')`: a member of a JSON text, as Hive has it.
//!
//! A path has members (`.name`, `['name']`), places (`[3]`) and all items (`[*]`). A text comes without quotes; objects
//! and lists come as JSON; null, what is not there, and a text that is no JSON give null.

use std::sync::Arc;

use datafusion::arrow::array::{Array, AsArray, StringBuilder};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use serde_json::Value;

#[derive(Debug, PartialEq, Eq, Hash)]
pub struct JsonObject {
    signature: Signature,
}

impl JsonObject {
    pub fn new() -> JsonObject {
        let texts = vec![DataType::Utf8, DataType::Utf8];
        JsonObject { signature: Signature::exact(texts, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for JsonObject {
    fn name(&self) -> &str {
        "get_json_object"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let texts = arrays.iter().map(|array| Ok(cast(array, &DataType::Utf8)?)).collect::<Result<Vec<_>>>()?;
        let (texts, paths) = (texts[0].as_string::<i32>(), texts[1].as_string::<i32>());
        let mut last: Option<(&str, Option<Vec<Step>>)> = None;
        let mut found = StringBuilder::new();
        for row in 0..texts.len() {
            if texts.is_null(row) || paths.is_null(row) {
                found.append_null();
                continue;
            }
            let path = paths.value(row);
            if last.as_ref().is_none_or(|(known, _)| *known != path) {
                last = Some((path, steps(path)));
            }
            let steps = last.as_ref().and_then(|(_, steps)| steps.as_deref());
            match steps.and_then(|steps| member(texts.value(row), steps)) {
                Some(text) => found.append_value(text),
                None => found.append_null(),
            }
        }
        Ok(ColumnarValue::Array(Arc::new(found.finish())))
    }
}

#[derive(Debug, PartialEq)]
enum Step {
    Member(String),
    Place(usize),
    All,
}

/// Returns the steps of a path; None for a text that is none.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            if end == 0 {
                return None;
            }
            steps.push(Step::Member(after[..end].into()));
            rest = &after[end..];
        } else {
            let (inner, after) = rest.strip_prefix('[')?.split_once(']')?;
            let quoted = inner.strip_prefix('\'').and_then(|inner| inner.strip_suffix('\''));
            steps.push(match (quoted, inner) {
                (Some(name), _) => Step::Member(name.into()),
                (None, "*") => Step::All,
                (None, number) => Step::Place(number.parse().ok()?),
            });
            rest = after;
        }
    }
    Some(steps)
}

fn member(text: &str, steps: &[Step]) -> Option<String> {
    let whole: Value = serde_json::from_str(text).ok()?;
    match at(&whole, steps)? {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    }
}

fn at(value: &Value, steps: &[Step]) -> Option<Value> {
    let Some((step, rest)) = steps.split_first() else { return Some(value.clone()) };
    match (step, value) {
        (Step::Member(name), Value::Object(members)) => at(members.get(name)?, rest),
        // The member of each item that has it.
        (Step::Member(_), Value::Array(items)) => {
            let all: Vec<Value> = items.iter().filter_map(|item| at(item, steps)).collect();
            (!all.is_empty()).then_some(Value::Array(all))
        }
        (Step::Place(number), Value::Array(items)) => at(items.get(*number)?, rest),
        (Step::All, Value::Array(items)) => {
            let all: Vec<Value> = items.iter().filter_map(|item| at(item, rest)).collect();
            (!all.is_empty()).then_some(Value::Array(all))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_hives_documentation() {
        let store = r#"{"store":{"fruit":[{"weight":8,"type":"apple"},{"weight":9,"type":"pear"}],
            "bicycle":{"price":19.95,"color":"red"}},"email":"amy@only.net","owner":"amy","none":null}"#;
        for (path, expect) in [
            ("$.owner", Some("amy")),
            ("$.store.bicycle.price", Some("19.95")),
            ("$.store.fruit[0]", Some(r#"{"type":"apple","weight":8}"#)),
            ("$.store.fruit[*].weight", Some("[8,9]")),
            ("$.store.fruit.type", Some(r#"["apple","pear"]"#)),
            ("$['owner']", Some("amy")),
            ("$.non_exist_key", None),
            ("$.none", None),
            ("$.store.fruit[7]", None),
            ("owner", None),
            ("$..owner", None),
            ("$[x]", None),
            ("$[0", None),
        ] {
            let got = steps(path).and_then(|steps| member(store, &steps));
            let plain = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| Value::from(text));
            assert_eq!(got.as_deref().map(plain), expect.map(plain), "{path}");
        }
        assert_eq!(member("{", &[]), None);
    }
}
