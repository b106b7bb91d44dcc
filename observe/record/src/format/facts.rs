//! Facts of a slice as JSON, behind a mark that tells it from comments of others (docs/formats/slice.md).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use yunti_base::{Code, Error, Result};

use crate::slice::{Counter, Facts, Gc, Measure, Service};

/// Beginning of the text that has the facts. The number grows when older readers would misread it.
pub const MARK: &str = "yunti-slice/1 ";

/// Returns the facts as text in one line.
pub fn write(facts: &Facts) -> String {
    let service = &facts.service;
    let mut json = json!({
        "service": {
            "name": service.name,
            "release": service.release,
            "host": service.host,
            "container": service.container,
            "pid": service.pid,
            "command_hash": service.command_hash,
        },
        "begin_ms": facts.begin_ms,
        "duration_ms": facts.duration_ms,
    });
    if let Some(requests) = facts.requests {
        json["requests"] = requests.into();
    }
    if !facts.periods.is_empty() {
        json["periods"] = facts.periods.iter().map(|(m, period)| (m.name().to_string(), json!(period))).collect();
    }
    if let Some(gc) = &facts.gc {
        json["gc"] = json!({
            "pauses": gc.pauses, "pause_ns": gc.pause_ns, "pause_ns_max": gc.pause_ns_max, "full": gc.full,
        });
    }
    if !facts.counters.is_empty() {
        let pair = |counter: &Counter| json!([counter.value, counter.unit]);
        // JSON has no word for infinity.
        let finite = facts.counters.iter().filter(|(_, counter)| counter.value.is_finite());
        json["counters"] = finite.map(|(name, counter)| (name.clone(), pair(counter))).collect();
    }
    if !facts.losses.is_empty() {
        json["losses"] = facts.losses.iter().map(|(name, count)| (name.clone(), json!(count))).collect();
    }
    format!("{MARK}{json}")
}

/// Parses the facts of a text; `None` if the text has other contents.
pub fn parse(text: &str) -> Option<Result<Facts>> {
    let rest = text.strip_prefix(MARK)?;
    let parsed = serde_json::from_str(rest).ok().and_then(|json| parse_json(&json));
    Some(parsed.ok_or_else(|| Error::new(Code::Corrupt, "damaged slice: its facts are no valid JSON of this format")))
}

fn parse_json(json: &Value) -> Option<Facts> {
    let text = |name: &str| optional(&json["service"][name], |value| value.as_str().map(String::from));
    let service = Service {
        name: text("name")?,
        release: text("release")?,
        host: text("host")?,
        container: text("container")?,
        pid: u32::try_from(optional(&json["service"]["pid"], Value::as_u64)?).ok()?,
        command_hash: text("command_hash")?,
    };
    let numbers = |value: &Value| -> Option<BTreeMap<String, u64>> {
        members(value)?.map(|(name, value)| Some((name.clone(), value.as_u64()?))).collect()
    };
    let gc = |value: &Value| {
        let number = |name: &str| optional(&value[name], Value::as_u64);
        Some(Gc {
            pauses: number("pauses")?,
            pause_ns: number("pause_ns")?,
            pause_ns_max: number("pause_ns_max")?,
            full: number("full")?,
        })
    };
    let counter = |value: &Value| {
        let value_and_unit = (value[0].as_f64()?, value[1].as_str()?);
        Some(Counter { value: value_and_unit.0, unit: value_and_unit.1.into() })
    };
    let counters = members(&json["counters"])?.map(|(name, value)| Some((name.clone(), counter(value)?)));
    let periods = numbers(&json["periods"])?.into_iter();
    Some(Facts {
        service,
        begin_ms: json["begin_ms"].as_u64()?,
        duration_ms: json["duration_ms"].as_u64()?,
        requests: optional(&json["requests"], |value| value.as_u64().map(Some))?,
        // Later versions may have more measures.
        periods: periods.filter_map(|(name, period)| Some((Measure::from_name(&name)?, period))).collect(),
        gc: if json["gc"].is_null() { None } else { Some(gc(&json["gc"])?) },
        counters: counters.collect::<Option<_>>()?,
        losses: numbers(&json["losses"])?,
    })
}

/// Returns the default for a member that is not there, and `None` for one of another type.
fn optional<T: Default>(value: &Value, parse: impl Fn(&Value) -> Option<T>) -> Option<T> {
    if value.is_null() { Some(T::default()) } else { parse(value) }
}

fn members(value: &Value) -> Option<impl Iterator<Item = (&String, &Value)>> {
    let object: Option<&Map<String, Value>> = value.as_object();
    (value.is_null() || object.is_some()).then(|| object.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Facts {
        Facts {
            service: Service {
                name: "shop".into(),
                release: "v812 \"x\"".into(),
                host: "h1".into(),
                container: "c".into(),
                pid: 7,
                command_hash: "ab".into(),
            },
            begin_ms: 5,
            duration_ms: 30_000,
            requests: Some(812),
            periods: [(Measure::Cpu, 10_101_010)].into(),
            gc: Some(Gc { pauses: 2, pause_ns: 30, pause_ns_max: 20, full: 1 }),
            counters: [("cpu.steal".into(), Counter { value: 0.25, unit: "ratio".into() })].into(),
            losses: [("samples".into(), 3)].into(),
        }
    }

    #[test]
    fn facts_round_trip() {
        for facts in [full(), Facts::default()] {
            assert_eq!(parse(&write(&facts)), Some(Ok(facts)));
        }
        // Unknown members are those of later versions.
        let later = write(&full()).replace("\"gc\":", "\"later\":[1],\"gc\":");
        assert_eq!(parse(&later), Some(Ok(full())));
    }

    #[test]
    fn other_text_is_no_facts() {
        assert_eq!(parse("a comment"), None);
        for wrong in ["", "{}", "[]", r#"{"begin_ms":-1,"duration_ms":1}"#, r#"{"begin_ms":1,"duration_ms":1,"gc":[]}"#]
        {
            let parsed = parse(&format!("{MARK}{wrong}")).unwrap();
            // An empty array has no numbers of a collector, which are 0 then.
            assert!(parsed.is_err() || wrong.contains("gc"), "{wrong}");
        }
    }
}
