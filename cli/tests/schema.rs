//! Real reports and findings checked against docs/formats/*.schema.json, for the keywords that they use.

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

/// Checks a value against a schema. A field that the schema does not describe is an error, which is stricter than JSON
/// Schema.
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
fn reports_match_their_schema() {
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

#[test]
fn findings_of_the_doctor_match_their_schema() {
    let schema: Value = serde_json::from_str(include_str!("../../docs/formats/doctor.schema.json")).unwrap();
    let dir = Dir::new();
    for words in ["doctor --json", "doctor --json --quick --scratch . --scratch nowhere"] {
        let document = dir.json(words);
        check(&document, &schema, "doctor");
        let findings = document["findings"].as_array().unwrap();
        let mut names: Vec<_> =
            findings.iter().map(|f| format!("{} {} {}", f["area"], f["name"], f["place"])).collect();
        names.sort();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        let warnings = findings.iter().filter(|f| f["level"] == "warning").count();
        assert_eq!(document["warnings"], warnings, "{words}");
        let measured = findings.iter().any(|f| f["name"] == "speed");
        assert_eq!(measured, !words.contains("--quick"), "{words}");
    }
    assert!(dir.names().is_empty(), "the doctor left something behind: {:?}", dir.names());
}

#[test]
fn a_warning_is_a_failure_only_with_the_flag() {
    let dir = Dir::new();
    let text = dir.ok("doctor --quick --scratch nowhere");
    for part in ["WARNING", "scratch, directory, nowhere", "change: create it", "nothing was changed"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(dir.run("doctor --quick --strict --scratch nowhere").status.code(), Some(1));
    dir.fails("doctor --sratch nowhere", 2, "--scratch");
    // An invalid mask.
    let output = dir.command("doctor --quick").env("YUNTI_SIMD", "sse9").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let plain = dir.command("doctor --quick").env("YUNTI_SIMD", "plain").output().unwrap();
    assert!(String::from_utf8_lossy(&plain.stdout).contains("plain"), "{plain:?}");
}

/// Facts in the format of Hadoop's client (JobFacts.java): one native map and one stock reduce, whose first attempt was
/// lost.
const FACTS: &str = r#"{
    "format": "yunti-job-facts/1", "id": "job_7_0001", "name": "two tasks", "state": "succeeded", "failure": "",
    "submitted_unix_ms": 1000, "finished_unix_ms": 9000, "reduces": 1, "output": "hdfs://here/out",
    "map_container_bytes": 1073741824, "reduce_container_bytes": 2147483648,
    "cluster": { "nodes": 1, "processors": 4, "memory_bytes": 8589934592 },
    "counters": { "Yunti": { "INPUT_BYTES": 5000000 },
        "org.apache.hadoop.mapreduce.TaskCounter": { "MAP_INPUT_RECORDS": 70, "REDUCE_OUTPUT_RECORDS": 30 } },
    "attempts": [
        { "id": "attempt_7_0001_m_000000_0", "kind": "map", "state": "succeeded", "node": "a",
          "start_unix_ms": 2000, "elapsed_ms": 2000, "shuffled_unix_ms": 0, "merged_unix_ms": 0,
          "counters": { "CPU_MILLISECONDS": 900, "GC_TIME_MILLIS": 5, "PHYSICAL_MEMORY_BYTES": 1000 },
          "times_ms": { "JVM_START": 900, "READ": 100, "MAP": 500, "SORT": 200, "TOTAL": 1750, "CPU": 1600 } },
        { "id": "attempt_7_0001_r_000000_0", "kind": "reduce", "state": "failed", "node": "a",
          "start_unix_ms": 2500, "elapsed_ms": 500, "shuffled_unix_ms": 0, "merged_unix_ms": 0,
          "counters": {}, "times_ms": {} },
        { "id": "attempt_7_0001_r_000000_1", "kind": "reduce", "state": "succeeded", "node": "b",
          "start_unix_ms": 4000, "elapsed_ms": 4000, "shuffled_unix_ms": 7000, "merged_unix_ms": 7100,
          "counters": { "CPU_MILLISECONDS": 700, "GC_TIME_MILLIS": 5, "PHYSICAL_MEMORY_BYTES": 2000, "REDUCE_INPUT_RECORDS": 70,
            "REDUCE_SHUFFLE_BYTES": 900, "REDUCE_OUTPUT_RECORDS": 30 }, "times_ms": {} } ] }"#;

#[test]
fn facts_of_a_cluster_become_a_report() {
    let schema: Value = serde_json::from_str(include_str!("../../docs/formats/report.schema.json")).unwrap();
    let dir = Dir::with_books();
    std::fs::write(dir.path("facts.json"), FACTS).unwrap();
    let report = dir.json("report facts.json --json");
    check(&report, &schema, "report");
    assert_eq!(report["job"]["input_bytes"], 5_000_000);
    assert_eq!(report["tasks"][0]["stages_ms"]["launch"], 250.0);
    assert_eq!(report["tasks"][2]["stages_ms"]["shuffle"], 3000.0);
    // Input and output of the successful reduce.
    assert_eq!(report["partitions"]["rows"][0]["values"], serde_json::json!([70, 900, 30]));
    let lost = report["advice"].as_array().unwrap().iter().find(|a| a["rule"] == "lost-attempts").unwrap();
    assert!(lost["seen"].as_str().unwrap().contains("1 attempts were lost, all on a"), "{lost}");
    std::fs::write(dir.path("report.json"), report.to_string()).unwrap();
    let text = dir.ok("report report.json");
    for part in ["two tasks  5 MB in 8 s", "2 containers at a time", "jvm-start", "reduce, lost", "is unknown"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // A field of the wrong type.
    std::fs::write(dir.path("facts.json"), r#"{"format": "yunti-job-facts/1", "id": 7}"#).unwrap();
    dir.fails("report facts.json", 4, "this is not a report of a job");
}
