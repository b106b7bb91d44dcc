//! The report as a page, and the comparison of two reports: well-formed, without anything to fetch, with the figures,
//! and opened by a browser if there is one.

mod support;

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::Dir;

/// Returns the report of a job whose names all contain markup, on two workers, with memory, partitions and a limit.
fn report(partitions: u64) -> Value {
    let span = |kind: &str, task: u64, start: f64, end: f64| json!({ "kind": kind, "task": task, "start_ms": start, "end_ms": end, "bytes": 1_000_000, "records": 1000 });
    let maps: Vec<Value> = (0..3).map(|i| span("map", i, i as f64 * 200.0, i as f64 * 200.0 + 190.0)).collect();
    // More spans than a lane has pixels.
    let many: Vec<Value> = (0..2000).map(|i| span("map", i, i as f64 * 0.5, i as f64 * 0.5 + 0.5)).collect();
    let stage = |name: &str, busy: f64, limit: Option<f64>, resource: &str| {
        json!({ "name": name, "bytes": 200_000_000, "records": 2_000_000, "busy_ms": busy, "mb_per_s": 200_000.0 / busy,
                "limit_mb_per_s": limit, "resource": resource })
    };
    let samples: Vec<Value> =
        (0..50).map(|i| json!({ "at_ms": i * 20, "used_bytes": i << 20, "most_bytes": (i + 1) << 20 })).collect();
    let values: Vec<u64> = (0..partitions).map(|p| if p == 3 { 7000 } else { 1000 }).collect();
    let total: u64 = values.iter().sum();
    let all = partitions <= 256;
    let rows: Vec<Value> = (0..partitions.min(if all { 256 } else { 20 }))
        .map(|p| json!({ "number": p, "values": [values[p as usize], values[p as usize] * 10] }))
        .collect();
    let spread: Vec<u64> = (0..=100).map(|p| if p == 100 { 7000 } else { 1000 }).collect();
    let measure = |name: &str, times: u64| {
        let spread: Vec<u64> = if all { Vec::new() } else { spread.iter().map(|v| v * times).collect() };
        json!({ "name": name, "total": total * times, "least": 1000 * times, "median": 1000 * times, "most": 7000 * times, "spread": spread })
    };
    json!({
        "format": "yunti-report/1",
        "job": { "name": "<script>alert(\"a&b\")</script>", "version": "0.1.0", "mode": "sorted", "reduces": partitions, "splits": 12,
                 "threads": 2, "started_unix_ms": 1_795_323_899_999_u64, "wall_ms": 1000.0, "cpu_ms": 1800.0,
                 "input_bytes": 200_000_000, "input_records": 2_000_000, "output_bytes": 100_000_000, "output_records": 1_000_000,
                 "output": "out/'\u{1}<b>", "classes": { "mapper": "Mine.<Map>" } },
        "machine": { "cpu": "A \"processor\" & more", "processors": 2, "memory_bytes": 17_179_869_184_u64, "simd": "avx2" },
        "input": { "files": 3, "split_bytes": 16_777_216, "compressed": { "gzip": 1 }, "whole_files": 0, "whole_bytes": 0 },
        "stages": [stage("read", 400.0, Some(1000.0), "disk_read"), stage("map", 1000.0, None, "cpu"), stage("<x>", 10.0, None, "cpu")],
        "workers": [{ "number": 0, "busy_ms": 570.0, "spans": maps }, { "number": 1, "busy_ms": 1000.0, "spans": many }],
        "memory": { "budget_bytes": 67_108_864, "peak_bytes": 53_477_376, "peak_resident_bytes": 60_000_000, "samples": samples },
        "spill": { "runs": 4, "records": 10, "raw_bytes": 5000, "stored_bytes": 3000, "peak_bytes": 3000, "merge_passes": 1,
                   "directories": ["/scratch/<one>"], "failed_directories": [] },
        "partitions": { "of": "partition", "count": partitions, "measures": [measure("input_records", 1), measure("input_bytes", 10)],
                        "rows": rows },
        "counters": { "org.apache.hadoop.mapreduce.TaskCounter": { "MAP_INPUT_RECORDS": 2_000_000 }, "<group>": { "<name>": 7 } },
        "bottleneck": { "resource": "cpu", "stage": "map", "utilisation": 0.9, "parallelism": 2.0, "ms_per_mb": 9.0,
                        "model_mb_per_s": 222.0, "actual_mb_per_s": 200.0, "next": "input", "speedup_if_doubled": 1.8,
                        "text": "the processors bound it: 2 processors were busy 90 % of the time; twice <as many> would help" },
        "advice": [{ "rule": "spills", "seen": "4 runs were <spilled>", "change": "more memory", "flag": "--memory 1GiB" }],
    })
}

/// Parses strictly, like XML: each element closed in order, attributes quoted and unique, no loose `<` and `&`. Returns
/// names and attributes.
fn elements(page: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("a doctype comes first");
    let (mut open, mut found): (Vec<String>, Vec<_>) = (Vec::new(), Vec::new());
    let text_is_sound = |text: &str| {
        for (at, _) in text.match_indices('&') {
            let entity = text[at..].split(';').next().unwrap();
            assert!(["&amp", "&lt", "&gt", "&quot", "&#39"].contains(&entity), "{entity}");
        }
        assert!(!text.contains('<') && !text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    };
    while let Some(at) = rest.find('<') {
        text_is_sound(&rest[..at]);
        let end = at + rest[at..].find('>').expect("an element has an end");
        let mut inner = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = inner.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "elements are closed in order");
            continue;
        }
        let closed = inner.ends_with('/');
        inner = inner.trim_end_matches('/');
        let (name, mut list) = inner.split_once(' ').unwrap_or((inner, ""));
        let mut attributes: Vec<(String, String)> = Vec::new();
        while !list.is_empty() {
            let (key, after) = list.split_once("=\"").expect("an attribute has a value in quotes");
            let (value, after) = after.split_once('"').expect("a value has its second quote");
            text_is_sound(value);
            assert!(attributes.iter().all(|(k, _)| k != key), "{name} has {key} twice");
            attributes.push((key.to_string(), value.to_string()));
            list = after.trim_start();
        }
        found.push((name.to_string(), attributes));
        if !closed {
            open.push(name.to_string());
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    found
}

/// Checks that the page is well-formed, and that a browser fetches nothing for it.
fn check_page(page: &str) {
    let elements = elements(page);
    let mut ids = Vec::new();
    for (name, attributes) in &elements {
        assert!(
            !["script", "link", "img", "iframe", "object", "a", "base", "form", "use", "image"].contains(&&**name),
            "{name}"
        );
        for (key, value) in attributes {
            assert!(
                !["src", "href", "srcset", "action", "data"].contains(&&**key) && !key.starts_with("on"),
                "{name} {key}"
            );
            if key == "id" {
                assert!(!ids.contains(value), "{value} is there twice");
                ids.push(value.clone());
            }
        }
        if name == "svg" {
            assert!(attributes.iter().any(|(k, v)| k == "aria-label" && !v.is_empty()), "a drawing without words");
        }
    }
    for (_, attributes) in &elements {
        for (_, id) in attributes.iter().filter(|(key, _)| key == "aria-labelledby") {
            assert!(ids.contains(id), "{id} is nowhere");
        }
    }
    for loud in ["http:", "https:", "//", "@import", "url(", "javascript:"] {
        // The text may contain paths of files.
        assert!(!page.contains(loud), "{loud} in the page");
    }
    assert!(
        page.contains("prefers-color-scheme: dark")
            && page.contains("@media print")
            && page.contains("width=device-width")
    );
}

#[test]
fn a_page_of_a_fixed_report() {
    let dir = Dir::new();
    dir.write("r.json", report(8).to_string().as_bytes());
    let page = dir.ok("report r.json --html");
    check_page(&page);
    for part in [
        "&lt;script&gt;alert(&quot;a&amp;b&quot;)&lt;/script&gt;",
        "The processors bound it: 2 processors were busy 90 % of the time.",
        "4 runs were &lt;spilled&gt;.",
        "--memory 1GiB",
        "200 MB/s of input",
        "1 gzip",
        "memory in use over 1 s: peak 51 MiB of 64 MiB",
        "read: 500 MB/s of 1 GB/s, 50 %",
        "8 partitions received 14,000 records: the fullest (3) 4 times the average",
        "map 2: 190 ms, from 400 ms to 590 ms; 1 MB, 1,000 records",
        "MAP_INPUT_RECORDS",
        "2026-11-22 05:04 UTC",
        "/scratch/&lt;one&gt;",
    ] {
        assert!(page.contains(part), "{part} is not in the page");
    }
    // 2000 spans of one kind are one shape.
    assert!(page.matches("<rect").count() < 40, "{}", page.matches("<rect").count());
    // Into a file, the same; and nothing in between.
    assert_eq!(dir.ok("report r.json --html -o page.html"), "");
    assert_eq!(dir.read("page.html"), page.as_bytes());
    dir.fails("report r.json --html -o none/page.html", 5, "cannot write the page");
    assert_eq!(dir.run("report r.json --html --json").status.code(), Some(2));
}

#[test]
fn thousands_of_partitions_are_a_small_page() {
    let dir = Dir::new();
    dir.write("r.json", report(5000).to_string().as_bytes());
    let page = dir.ok("report r.json --html");
    check_page(&page);
    assert!(page.len() < 200_000, "{}", page.len());
    for part in ["Skew: 5,000 partitions", "The 20 largest, as a table", "100 % have at most: 7,000"] {
        assert!(page.contains(part), "{part} is not in the page");
    }
}

#[test]
fn names_the_values_that_are_unknown() {
    let dir = Dir::new();
    let mut report = report(1);
    for (name, nothing) in
        [("workers", json!([])), ("stages", json!([])), ("counters", json!({})), ("advice", json!([]))]
    {
        report[name] = nothing;
    }
    report.as_object_mut().unwrap().remove("partitions");
    report["memory"].as_object_mut().unwrap().remove("samples");
    dir.write("local.json", report.to_string().as_bytes());
    let page = dir.ok("report local.json --html");
    check_page(&page);
    for part in
        ["no timeline", "no stages", "no samples of the memory", "were not counted by partition", "Nothing stands out"]
    {
        assert!(page.contains(part), "{part} is not in the page");
    }
    report["job"]["id"] = "job_7_0001".into();
    report["job"]["state"] = "failed".into();
    dir.write("cluster.json", report.to_string().as_bytes());
    let page = dir.ok("report cluster.json --html");
    check_page(&page);
    for part in ["The job failed.", "do not have the input of each reduce", "not its time"] {
        assert!(page.contains(part), "{part} is not in the page");
    }
}

#[test]
fn a_real_job_has_memory_and_partitions_and_a_page() {
    let dir = Dir::new();
    dir.ok("generate text --bytes 3MB -o text -q");
    dir.ok("run sort text -o sorted --memory 64MiB --reduces 3 -q --html page.html");
    let page = String::from_utf8(dir.read("page.html")).unwrap();
    check_page(&page);
    let report = dir.json("report sorted --json");
    let samples = report["memory"]["samples"].as_array().unwrap();
    assert!(samples.len() > 20 && samples.len() <= 401, "{}", samples.len());
    let most = samples.iter().map(|s| s["most_bytes"].as_u64().unwrap()).max();
    assert_eq!(most, report["memory"]["peak_bytes"].as_u64(), "the samples know the peak");
    let partitions = &report["partitions"];
    let of = |name: &str| {
        partitions["measures"].as_array().unwrap().iter().find(|m| m["name"] == name).unwrap()["total"].as_u64()
    };
    assert_eq!(partitions["count"], 3);
    for name in ["input_records", "output_records"] {
        assert_eq!(of(name), report["job"]["output_records"].as_u64(), "{name}");
    }
    assert_eq!(of("output_bytes"), report["job"]["output_bytes"].as_u64());
    // Each part file has the size in its row.
    for row in partitions["rows"].as_array().unwrap() {
        let len = dir.read(&format!("sorted/part-r-{:05}", row["number"].as_u64().unwrap())).len() as u64;
        assert!(row["values"].as_array().unwrap().contains(&len.into()), "{row} {len}");
    }
    let text = dir.ok("report sorted");
    assert!(text.contains("3 partitions received"), "{text}");
    // Without a reduce the rows are splits.
    let copy = dir.json("run identity text -o copy --json");
    assert_eq!((&copy["partitions"]["of"], &copy["partitions"]["count"]), (&"split".into(), &copy["job"]["splits"]));
    // Folding in tables counts the output by partition, not the input.
    let counts = dir.json("run wordcount text -o counts --mode grouped --reduces 2 --json");
    assert_eq!(counts["partitions"]["measures"][0]["name"], "output_records");
    assert_eq!(counts["partitions"]["measures"][0]["total"], counts["job"]["output_records"]);
}

#[test]
fn a_chain_has_all_its_jobs_on_one_page() {
    let dir = Dir::new();
    dir.ok("generate text --bytes 1MB -o text -q");
    let job = "format = \"yunti-job/1\"\napplication = \"wordcount\"\nreduces = 2\n\
               [[then]]\nname = \"by-count\"\nmapper = \"Yunti.InverseMapper\"\ndescending = true\n";
    dir.write("job.toml", job.as_bytes());
    dir.ok("run -f job.toml -i text -o counts -q --html page.html");
    let page = String::from_utf8(dir.read("page.html")).unwrap();
    check_page(&page);
    assert!(page.contains("job-1-timeline") && page.contains("job-2-timeline") && !page.contains("job-3-"));
    let text = dir.ok("report counts");
    assert!(text.contains("wordcount") && text.contains("by-count"), "{text}");
    let report = dir.json("report counts --json");
    assert_eq!(
        (&report["before"][0]["job"]["name"], &report["job"]["name"]),
        (&"wordcount".into(), &"by-count".into())
    );
    let counts: Vec<u64> = String::from_utf8(dir.read("counts/part-r-00000"))
        .unwrap()
        .lines()
        .map(|line| line.split_once('\t').unwrap().0.parse().unwrap())
        .collect();
    assert!(counts.len() > 100 && counts.is_sorted_by(|a, b| a >= b));
}

#[test]
fn advice_names_the_one_compressed_file() {
    let dir = Dir::new();
    dir.ok("generate text --bytes 30MB -o text -q");
    let packed = Command::new("sh").arg("-c").arg("cat text/* | gzip -1 > one.gz").current_dir(dir.path("")).status();
    assert!(packed.unwrap().success());
    // The file is longer than one split of 1 MiB.
    let report = dir.json("run wordcount one.gz -o out --json --threads 2 --split-size 1MiB");
    assert_eq!(
        (&report["input"]["whole_files"], &report["input"]["longest_whole"]["codec"]),
        (&1.into(), &"gzip".into())
    );
    if report["bottleneck"]["resource"] == "input" && report["job"]["wall_ms"].as_f64().unwrap() > 200.0 {
        assert_eq!(report["advice"][0]["rule"], "whole-files", "{}", report["advice"]);
    }
}

#[test]
fn two_reports_compared() {
    let dir = Dir::new();
    let a = report(8);
    let mut b = a.clone();
    b["job"]["wall_ms"] = 500.0.into();
    b["stages"][1]["busy_ms"] = 400.0.into();
    b["spill"]["runs"] = 0.into();
    b["memory"]["budget_bytes"] = (1_u64 << 30).into();
    dir.write("a.json", a.to_string().as_bytes());
    dir.write("b.json", b.to_string().as_bytes());
    let text = dir.ok("report a.json b.json");
    let first = text.lines().next().unwrap();
    assert_eq!(first, "B was 2x faster than A.");
    for part in ["memory budget", "64 MiB", "1 GiB", "2.5x faster", "spilled runs", "only in A"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("Counters"), "the counters are the same\n{text}");
    let back = dir.ok("report b.json a.json");
    assert!(back.starts_with("B was 2x slower than A."), "{back}");
    assert!(dir.ok("report a.json a.json").starts_with("B took as long as A."));

    let document = dir.json("report a.json b.json --json");
    assert_eq!(document["format"], "yunti-comparison/1");
    let time = &document["rows"][0];
    assert_eq!((&time["name"], &time["ratio"], &time["better"]), (&"time".into(), &0.5.into(), &"b".into()));
    // The stage with the largest difference is the first.
    let stages: Vec<&Value> = document["rows"].as_array().unwrap().iter().filter(|r| r["group"] == "stages").collect();
    assert_eq!(stages[0]["name"], "map");

    // Inputs of different sizes are compared by speed.
    b["job"]["input_bytes"] = 400_000_000.into();
    dir.write("b.json", b.to_string().as_bytes());
    let text = dir.ok("report a.json b.json");
    assert!(text.starts_with("B was 4x faster than A, per byte of input: B had 2.00 times the input."), "{text}");
    let page = dir.ok("report a.json b.json --html");
    check_page(&page);
    assert!(page.contains("400 MB, 2,000,000 records") && page.contains("4x faster"), "the inputs");
    dir.fails("report a.json none.json", 3, "none.json");
}

#[test]
fn a_browser_shows_the_page() {
    let browser = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    });
    let Some(browser) = browser else {
        println!("skipped: there is no chromium");
        return;
    };
    let dir = Dir::new();
    dir.write("r.json", report(8).to_string().as_bytes());
    dir.ok("report r.json --html -o page.html");
    for (width, scheme) in [(400, 0), (1600, 1)] {
        let output = Command::new(browser)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--screenshot=page.png"])
            .arg(format!("--user-data-dir={}", dir.path("profile").display()))
            .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
            .arg(format!("--window-size={width},1200"))
            .arg(format!("file://{}", dir.path("page.html").display()))
            .current_dir(dir.path(""))
            .output()
            .unwrap();
        let picture = std::fs::read(dir.path("page.png")).unwrap_or_else(|e| panic!("{e}: {output:?}"));
        // An empty page is a picture of one colour, of a few kilobytes.
        assert!(picture.starts_with(b"\x89PNG") && picture.len() > 30_000, "{} bytes at {width}", picture.len());
        std::fs::remove_file(dir.path("page.png")).unwrap();
    }
}
