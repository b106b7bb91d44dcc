//! The answer as a JSON document: docs/formats/capacity.schema.json.

use serde_json::{Value, json};

use super::Report;

impl Report<'_> {
    /// Returns the answer as a document. Numbers without a limit are null.
    pub fn json(&self) -> Value {
        json!({
            "version": 1,
            "process": self.demands.process,
            "seconds": self.demands.seconds,
            "requests": self.demands.requests,
            "processors": self.demands.processors,
            "workers": self.demands.workers,
            "kinds": self.kinds(),
            "necessary": self.curve.formulas.necessary,
            "curve": self.curve,
            "advice": self.advice,
            "skips": self.skips,
            "tried": self.tried,
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use yunti_model::advice::{Advice, Known, advice};
    use yunti_model::curve::{Curve, Options, curve};
    use yunti_model::demands::{Demands, parse};

    use super::*;
    use crate::report::Tried;

    const SCHEMA: &str = include_str!("../../../docs/formats/capacity.schema.json");
    /// Demands with each kind of resource and with collections.
    const SHOP: &str = include_str!("../../model/tests/examples/shop.json");
    /// Demands of a process without resources, workers, collections and traffic.
    const LEAST: &str = r#"{"version":1,"processors":{"count":1},"templates":[{"steps":[["cpu",4]]}]}"#;
    /// Demands without a limit that was seen.
    const UNLIMITED: &str = r#"{"version":1,"processors":{"count":1},"resources":[{"id":7,"kind":"sleep"}],
        "templates":[{"steps":[["wait",7,4]]}]}"#;

    /// Answer with all that it borrows.
    pub struct Example {
        pub demands: Demands,
        pub curve: Curve,
        pub advice: Advice,
        pub skips: Vec<String>,
        pub tried: Vec<Tried>,
    }

    impl Example {
        /// Returns the answer for demands in their text.
        pub fn of(text: &str) -> Example {
            let mut demands = parse(text).unwrap();
            // An answer needs more than a few measured requests.
            demands.templates = vec![demands.templates; 50].concat();
            let options = Options { requests: 1_000, resamples: 2, ..Options::default() };
            let curve = curve(&demands, &options).unwrap();
            let advice = advice(&demands, &curve, &Known::default(), &options).unwrap();
            Example { demands, curve, advice, skips: vec!["locks: no agent".into()], tried: Vec::new() }
        }

        /// Returns answers that differ in their optional parts.
        pub fn all() -> Vec<Example> {
            vec![Example::shop(), Example::of_least(), Example::of(UNLIMITED), Example::hostile()]
        }

        pub fn of_least() -> Example {
            Example::of(LEAST)
        }

        pub fn shop() -> Example {
            let tried = |clients, per_second, errors| Tried {
                clients,
                per_second,
                mean_ms: 20.0,
                errors,
                predicted: 1.1 * per_second,
            };
            Example { tried: vec![tried(1, 40.0, 0), tried(4, 90.0, 2), tried(60, 5000.0, 0)], ..Example::of(SHOP) }
        }

        /// Returns an answer whose names try to be markup, commands of a terminal, and far too long.
        pub fn hostile() -> Example {
            let long = "x".repeat(1999);
            let names = [
                ("com.shop.Stock", "</script><script>alert(1)</script>"),
                ("com.shop.Pool.borrow (Semaphore)", &*long),
                ("127.0.0.1:9000", "\\u001b[31m\\u202e\u{1f600}' \\\" & -> x"),
                ("java shop.jar", "<b>&\\u0007"),
            ];
            let text = names.iter().fold(SHOP.to_string(), |text, (from, to)| text.replace(from, to));
            Example { skips: vec!["<i>locks</i>: \u{1b}[2J".into()], ..Example::of(&text) }
        }

        pub fn report(&self) -> Report<'_> {
            let Example { demands, curve, advice, skips, tried } = self;
            Report { demands, curve, advice, skips, tried }
        }
    }

    fn is(value: &Value, name: &str) -> bool {
        match name {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            other => panic!("the schema has an unknown type {other}"),
        }
    }

    /// Returns the first fault of a value by a schema. A field that the schema does not describe is a fault.
    fn fault(value: &Value, schema: &Value, root: &Value, at: &str) -> Option<String> {
        if let Some(name) = schema["$ref"].as_str() {
            let pointer = name.strip_prefix('#').unwrap();
            return fault(value, root.pointer(pointer).unwrap_or_else(|| panic!("no {name}")), root, at);
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            let faults: Vec<_> = choices.iter().map(|choice| fault(value, choice, root, at)).collect();
            return if faults.contains(&None) { None } else { faults.into_iter().flatten().next_back() };
        }
        let types: Vec<&str> = match &schema["type"] {
            Value::String(name) => vec![name],
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
            _ => vec![],
        };
        if !types.is_empty() && !types.iter().any(|name| is(value, name)) {
            return Some(format!("{at} is none of {types:?}: {value}"));
        }
        if schema.get("const").is_some_and(|expected| value != expected) {
            return Some(format!("{at} is {value}"));
        }
        if schema["enum"].as_array().is_some_and(|allowed| !allowed.contains(value)) {
            return Some(format!("{at} is {value}"));
        }
        if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), value.as_f64())
            && number < least
        {
            return Some(format!("{at} is {value}"));
        }
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = required.into_iter().find(|name| value.is_object() && value.get(name).is_none()) {
            return Some(format!("{at} has no {missing}"));
        }
        let fields = value.as_object().into_iter().flatten().find_map(|(name, field)| {
            let Some(described) = schema["properties"].get(name) else { return Some(format!("{at}.{name} is new")) };
            fault(field, described, root, &format!("{at}.{name}"))
        });
        let items = value.as_array().into_iter().flatten().enumerate();
        fields.or_else(|| {
            items.into_iter().find_map(|(i, item)| fault(item, &schema["items"], root, &format!("{at}[{i}]")))
        })
    }

    #[test]
    fn documents_match_their_schema() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        for example in Example::all() {
            assert_eq!(
                fault(&example.report().json(), &schema, &schema, "$"),
                None,
                "{}",
                example.demands.process.name
            );
        }
    }

    #[test]
    fn the_check_finds_faults() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let sound = Example::shop().report().json();
        for (pointer, wrong) in [
            ("/version", json!(2)),
            ("/curve/knee", json!("4")),
            ("/curve/points/0/simulated/stations/0/queued", json!(-1)),
            ("/necessary/items/0/place", json!("nowhere")),
            ("/advice/sentences/0", json!({"text": "no topic"})),
            ("/advice/young/now", json!(null)),
            ("/process/colour", json!("red")),
        ] {
            let mut document = sound.clone();
            match document.pointer_mut(pointer) {
                Some(place) => *place = wrong,
                None => document["process"]["colour"] = wrong,
            }
            assert!(fault(&document, &schema, &schema, "$").is_some(), "{pointer}");
        }
    }
}
