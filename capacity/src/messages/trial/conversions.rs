//! Alternatives of formats for a what-if, from the document of `yunti capacity messages --json`.
//!
//! A format is named by its kind (`json`), which joins all libraries of the kind, or by its library (`jackson`). An
//! alternative is named as in the trial, or by the first part of its name: `protobuf` is `protobuf-derived`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use yunti_base::{Code, Error, Result};
use yunti_model::what_if::Conversion;

use super::{Alternative, Trial};
use crate::messages::forks::ALTERNATIVES;

const FORMAT: &str = "yunti-messages/1";
/// Largest document that is read.
const DOCUMENT_BYTES_MAX: u64 = 64 << 20;
/// Alternative in a document without trials: the user gives the speed.
const ANY: &str = "ANY xN";

/// Reads the alternatives of a saved document.
pub fn read(path: &Path) -> Result<Vec<Conversion>> {
    let named = |error: Error| error.at_path(path.to_string_lossy());
    let failed = |e: std::io::Error| named(Error::io(Code::Input, "cannot read the answer about messages", &e));
    if fs::metadata(path).map_err(failed)?.len() > DOCUMENT_BYTES_MAX {
        return Err(named(Error::new(Code::Corrupt, "the answer about messages is too large")));
    }
    let document = serde_json::from_slice(&fs::read(path).map_err(failed)?).unwrap_or_default();
    of(&document).map_err(named)
}

/// Returns the alternatives of a document.
pub fn of(document: &Value) -> Result<Vec<Conversion>> {
    let unknown = || {
        Error::new(Code::Corrupt, "this is no answer about messages")
            .hint("save one: yunti capacity messages -p PID --capture --json > FILE")
    };
    if document["format"] != FORMAT {
        return Err(unknown());
    }
    let trial: Option<Trial> = match &document["trial"] {
        Value::Null => None,
        trial => Some(serde_json::from_value(trial.clone()).map_err(|_| unknown())?),
    };
    let mut libraries: BTreeMap<(String, String), Cost> = BTreeMap::new();
    for row in document["libraries"].as_array().into_iter().flatten() {
        let text = |name: &str| row[name].as_str().map(str::to_owned).ok_or_else(unknown);
        let share = |name: &str| row[name]["share"].as_f64().unwrap_or(0.0);
        let cost = libraries.entry((text("kind")?.replace('_', " "), text("library")?)).or_default();
        cost.cpu += share("cpu");
        cost.memory += share("alloc");
    }
    let mut formats: BTreeMap<String, Vec<(String, Cost)>> = BTreeMap::new();
    for ((kind, library), cost) in libraries {
        for label in BTreeSet::from([kind, library.clone()]) {
            formats.entry(label).or_default().push((library.clone(), cost));
        }
    }
    let mut all = Vec::new();
    for (from, libraries) in formats {
        let of_libraries = |name: &str| conversion(&from, name, &libraries, trial.as_ref());
        let before = all.len();
        for name in ALTERNATIVES {
            let Some(found) = of_libraries(name) else { continue };
            if let Some(short) = short(name) {
                all.push(Conversion { to: short.to_owned(), ..found.clone() });
            }
            all.push(found);
        }
        if all.len() == before {
            let cpu_share = libraries.iter().map(|(_, cost)| cost.cpu).sum();
            all.push(Conversion { from, to: ANY.to_owned(), cpu_share, speed_up: 1.0, ..Conversion::default() });
        }
    }
    Ok(all)
}

/// Returns the names of the alternatives that a format names; an error lists them.
pub fn alternatives(to: &str) -> Result<Vec<String>> {
    let is_named =
        |name: &&str| name.eq_ignore_ascii_case(to) || short(name).is_some_and(|short| short.eq_ignore_ascii_case(to));
    let names: Vec<String> = ALTERNATIVES.into_iter().filter(is_named).map(str::to_owned).collect();
    if names.is_empty() {
        return Err(Error::new(Code::Usage, format!("there is no format '{to}' to try"))
            .hint(format!("there are {}; or give its speed: A -> B x3", ALTERNATIVES.join(", "))));
    }
    Ok(names)
}

/// Returns the first part of an alternative's name; `None` if it names another alternative, or the whole one.
fn short(name: &str) -> Option<&str> {
    let (first, _) = name.split_once('-')?;
    (!ALTERNATIVES.contains(&first)).then_some(first)
}

/// Shares of a library in processor time and allocation.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    cpu: f64,
    memory: f64,
}

/// Returns the effect of an alternative for some libraries of the service. A library without a trial of it stays as it
/// is. `None`: no library has one.
fn conversion(from: &str, name: &str, libraries: &[(String, Cost)], trial: Option<&Trial>) -> Option<Conversion> {
    let trial = trial?;
    let (mut before, mut after, mut is_tried) = (Cost::default(), Cost::default(), false);
    for (library, cost) in libraries {
        let is_it = |one: &&Alternative| one.library == *library && one.name == name && !one.is_baseline;
        let one = trial.alternatives.iter().find(is_it);
        let speed_up = one.and_then(|one| trial.speed_up(one)).map(|range| range.value.max(1e-3));
        let memory = one.and_then(|one| trial.allocation(one)).filter(|_| speed_up.is_some());
        is_tried |= speed_up.is_some();
        before.cpu += cost.cpu;
        before.memory += cost.memory;
        after.cpu += cost.cpu / speed_up.unwrap_or(1.0);
        after.memory += cost.memory * memory.unwrap_or(1.0);
    }
    is_tried.then(|| Conversion {
        from: from.to_owned(),
        to: name.to_owned(),
        cpu_share: before.cpu,
        speed_up: if after.cpu > 0.0 { before.cpu / after.cpu } else { 1.0 },
        memory_share: before.memory,
        memory_factor: if before.memory > 0.0 { after.memory / before.memory } else { 1.0 },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn library(kind: &str, library: &str, direction: &str, cpu: f64, alloc: f64) -> Value {
        let share = |share: f64| json!({"share": share, "error": 0.01});
        json!({"kind": kind, "library": library, "direction": direction, "cpu": share(cpu), "alloc": share(alloc)})
    }

    fn alternative(library: &str, name: &str, ns: f64, bytes: f64) -> Value {
        let timing = json!({"ns": ns, "ns_min": ns, "ns_max": ns, "allocated_bytes": bytes});
        json!({"library": library, "name": name, "version": "1", "is_baseline": library == name, "is_json": false,
            "is_estimate": false, "error": null, "results": [{"type": "A", "write": timing, "read": null, "bytes": 9.0,
            "refused": null, "note": null}]})
    }

    fn document(trial: Value) -> Value {
        json!({"format": FORMAT, "trial": trial, "libraries": [
            library("json", "jackson", "read", 0.2, 0.1), library("json", "jackson", "write", 0.1, 0.2),
            library("json", "gson", "write", 0.1, 0.0), library("java_serialisation", "java", "write", 0.05, 0.05)]})
    }

    fn trial() -> Value {
        let group = json!({"library": "jackson", "type": "A", "written": 1, "read": 0, "calls_written": 10,
            "calls_read": 0, "bytes": 9.0});
        json!({"captured": 1, "capture_seconds": 1.0, "is_redacted": true, "groups": [group], "folder": null,
            "gaps": [], "alternatives": [alternative("jackson", "jackson", 100.0, 50.0),
            alternative("jackson", "protobuf-derived", 25.0, 25.0)]})
    }

    #[test]
    fn formats_by_kind_and_by_library() {
        let all = of(&document(trial())).unwrap();
        let find = |from: &str, to: &str| all.iter().find(|one| one.from == from && one.to == to).unwrap();
        let one = find("jackson", "protobuf");
        assert!((one.cpu_share - 0.3).abs() < 1e-9 && (one.speed_up - 4.0).abs() < 1e-9);
        assert!((one.memory_share - 0.3).abs() < 1e-9 && (one.memory_factor - 0.5).abs() < 1e-9);
        assert_eq!(find("jackson", "protobuf-derived").speed_up, one.speed_up);
        // Gson has no trial: its part stays.
        let kind = find("json", "protobuf");
        assert!((kind.cpu_share - 0.4).abs() < 1e-9 && (kind.speed_up - 0.4 / (0.3 / 4.0 + 0.1)).abs() < 1e-9);
        assert_eq!(find("java serialisation", ANY).cpu_share, 0.05);
    }

    #[test]
    fn shares_alone_need_a_speed() {
        let all = of(&document(Value::Null)).unwrap();
        assert!(all.iter().all(|one| one.to == ANY) && all.iter().any(|one| one.from == "json"));
    }

    #[test]
    fn other_documents_are_refused() {
        for other in [json!({}), json!({"format": FORMAT, "trial": 5}), json!({"format": FORMAT, "libraries": [{}]})] {
            assert_eq!(of(&other).unwrap_err().code(), Code::Corrupt);
        }
        assert_eq!(alternatives("Protobuf").unwrap(), ["protobuf-derived"]);
        assert_eq!(alternatives("kryo").unwrap(), ["kryo"]);
        assert!(alternatives("turbo").is_err());
    }
}
