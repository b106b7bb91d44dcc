//! Named outputs of a class library: each record in one file, for any number of tasks, and one line for errors.

use std::collections::BTreeMap;

use crate::support::{Dir, build};

const USAGE: i32 = 2;
const USER_CODE: i32 = 6;

fn with_library() -> Option<Dir> {
    let dir = Dir::new();
    build(&dir, "routes.cpp", "routes.so", &[]).then_some(dir)
}

/// Returns lines `key TAB value`, one in seven without a tab.
fn input() -> Vec<String> {
    let line = |i: usize| if i.is_multiple_of(7) { format!("bad {i}") } else { format!("k{}\tv{i}", i * 31 % 900) };
    (0..2000).map(line).collect()
}

/// Returns the sorted lines of all files of a named output.
fn lines(dir: &Dir, out: &str, name: &str) -> Vec<String> {
    let names = dir.names().into_iter().filter(|n| n.starts_with(&format!("{out}/{name}-")));
    let text: String = names.map(|n| String::from_utf8(dir.read(&n)).unwrap()).collect();
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    lines.sort();
    lines
}

#[test]
fn every_record_is_in_its_file() {
    let Some(dir) = with_library() else { return };
    let input = input();
    dir.write("in", (input.join("\n") + "\n").as_bytes());
    let mut rejected: Vec<String> =
        input.iter().filter(|l| !l.contains('\t')).map(|l| format!("{l}\t{}", l.len())).collect();
    rejected.sort();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for line in &input {
        if let Some((key, _)) = line.split_once('\t') {
            *counts.entry(key).or_default() += 1;
        }
    }
    let single: Vec<String> = counts.iter().filter(|c| *c.1 == 1).map(|c| c.0.to_string()).collect();
    let several: Vec<String> = counts.iter().filter(|c| *c.1 > 1).map(|c| format!("{}\t{}", c.0, c.1)).collect();
    assert!(!single.is_empty() && !several.is_empty());
    for more in [
        "",
        "--reduces 5 --threads 3 -D split.size=1KiB",
        "--reduces 2 --partitioner total-order -D split.size=3KiB",
        "--memory 6MiB --threads 1 -D split.size=700",
        "--mode grouped --reduces 2",
        "--isolate --threads 2 -D split.size=3KiB",
    ] {
        let outputs = "--named-output rejected --named-output single=text";
        let classes = "--mapper Routes.Parse --reducer Routes.Count";
        let report =
            dir.json(&format!("run --lib routes.so {classes} {outputs} -i in -o out --overwrite --json {more}"));
        assert_eq!(lines(&dir, "out", "rejected"), rejected, "{more}");
        assert_eq!(lines(&dir, "out", "single"), single, "{more}");
        assert_eq!(lines(&dir, "out", "part"), several, "{more}");
        let counters = &report["counters"]["Yunti outputs"];
        assert_eq!(
            (counters["rejected"].as_u64(), counters["single"].as_u64()),
            (Some(rejected.len() as u64), Some(single.len() as u64))
        );
    }
    // A task without a record makes no file; in a job without a reduce each part has its own file.
    dir.write("good", b"a\tb\n");
    dir.ok("run --lib routes.so --mapper Routes.Parse --mode none --named-output rejected -i good -i in -o maps -q -D split.size=10KiB");
    let files = dir.names().into_iter().filter(|n| n.starts_with("maps/rejected-m-")).count();
    let parts = dir.names().into_iter().filter(|n| n.starts_with("maps/part-m-")).count();
    assert!(files > 1 && files <= parts, "{files} {parts}");
    assert_eq!(lines(&dir, "maps", "rejected"), rejected);
}

#[test]
fn named_outputs_are_framed_or_compressed_too() {
    let Some(dir) = with_library() else { return };
    dir.write("in", (input().join("\n") + "\n").as_bytes());
    let job = "run --lib routes.so --mapper Routes.Parse --mode none -i in -q";
    dir.ok(&format!("{job} --named-output rejected -o plain"));
    dir.ok(&format!("{job} --named-output rejected=framed --compress zstd -o packed"));
    dir.ok("run --input-format framed -i packed/rejected-m-00000.zst --output-format framed --mode none -o same -q");
    let plain = lines(&dir, "plain", "rejected");
    let framed = dir.read("same/part-m-00000");
    assert_eq!(framed.len(), plain.iter().map(|l| 8 + l.split_once('\t').unwrap().0.len() + 8).sum::<usize>());
}

#[test]
fn reports_errors_in_one_line() {
    let Some(dir) = with_library() else { return };
    dir.write("in", b"a\tb\nc\n");
    let job = "run --lib routes.so --mapper Routes.Parse -i in";
    dir.fails(&format!("{job} -o out"), USER_CODE, "the job has no output rejected: declare it");
    dir.fails(&format!("{job} --named-output other -o out"), USER_CODE, "the outputs are other");
    dir.fails(&format!("{job} --named-output rejected"), USAGE, "named outputs are files in the output directory");
    dir.fails(&format!("{job} --named-output rejected -o -"), USAGE, "named outputs are files in the output directory");
    dir.fails(&format!("{job} --named-output part -o out"), USAGE, "'part' cannot be the name of an output");
    dir.fails(&format!("{job} --named-output a/b -o out"), USAGE, "'a/b' cannot be the name of an output");
    dir.fails(&format!("{job} --named-output rejected=json -o out"), USAGE, "use text, raw or framed");
    let wrong = "run --lib routes.so --mapper Routes.Wrong -i in --named-output rejected -o out";
    dir.fails(wrong, USER_CODE, "a key of 3 bytes and a value of 0 bytes were emitted");
}
