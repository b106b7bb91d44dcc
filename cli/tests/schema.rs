//! Real reports against docs/formats/report.schema.json, with the few words of JSON Schema that it uses.

mod support;

use serde_json::Value;
use support::Dir;

fn is(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("the schema has an unknown type {other}"),
    }
}

/// Stricter than the schema in one way: a field that it does not describe is an error, since every field must be described.
fn check(value: &Value, schema: &Value, at: &str) {
    match &schema["type"] {
        Value::String(name) => assert!(is(value, name), "{at} is no {name}: {value}"),
        Value::Array(names) => {
            assert!(names.iter().any(|n| is(value, n.as_str().unwrap())), "{at} is none of {names:?}: {value}")
        }
        _ => {}
    }
    if let Some(expected) = schema.get("const") {
        assert_eq!(value, expected, "{at}");
    }
    if let Some(allowed) = schema["enum"].as_array() {
        assert!(allowed.contains(value), "{at} is {value}");
    }
    if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), value.as_f64()) {
        assert!(number >= least, "{at} is {value}");
    }
    if let (Some(most), Some(number)) = (schema["maximum"].as_f64(), value.as_f64()) {
        assert!(number <= most, "{at} is {value}");
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(name.as_str().unwrap()).is_some(), "{at} has no {name}");
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        let described = schema["properties"].get(name).or(schema.get("additionalProperties"));
        check(field, described.unwrap_or_else(|| panic!("{at}.{name} is not described")), &format!("{at}.{name}"));
    }
    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
        check(item, &schema["items"], &format!("{at}[{i}]"));
    }
}

#[test]
fn reports_are_as_their_schema_says() {
    let schema: Value = serde_json::from_str(include_str!("../../docs/formats/report.schema.json")).unwrap();
    let dir = Dir::with_books();
    dir.ok("generate text --bytes 3MB -o text -q");
    for words in [
        "run wordcount books --json",
        "run sort text -o sorted --memory 64MiB --reduces 3 --json",
        "run identity books -o copy --json",
    ] {
        check(&dir.json(words), &schema, "report");
    }
    check(&dir.json("report sorted --json"), &schema, "report");
}
