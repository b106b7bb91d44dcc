//! The commands of the README, each on small data with known results.

mod support;

use std::fs;
use support::Dir;

const COUNTS: &[u8] = b"and\t1\nbird\t1\ncat\t1\ndog\t1\nend\t2\nno\t1\nthe\t4\n\xff\xfe\t1\n";

#[test]
fn the_commonest_words_and_where_the_time_went() {
    let dir = Dir::with_books();
    let text = dir.ok("run wordcount books/");
    let first = text.lines().next().unwrap();
    assert_eq!(first.split_whitespace().collect::<Vec<_>>(), ["4", "the"], "{text}");
    assert!(text.contains("Bottleneck") && text.contains("stage"), "{text}");
    assert!(!text.contains('\x1b'), "colours in a pipe: {text:?}");
}

#[test]
fn word_count_into_a_directory_and_its_report() {
    let dir = Dir::with_books();
    let output = dir.run("run wordcount --input books/ --output counts/");
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    let summary = String::from_utf8(output.stderr).unwrap();
    assert!(summary.lines().count() == 1 && summary.starts_with("wordcount: "), "{summary}");
    assert_eq!(dir.read("counts/part-r-00000"), COUNTS);
    assert_eq!(dir.read("counts/_SUCCESS"), b"");
    for words in ["report counts/", "report counts/_yunti/report.json"] {
        let text = dir.ok(words);
        for part in ["Stages", "Workers", "Memory", "Counters", "Bottleneck"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    let report = dir.json("report counts/ --json");
    assert_eq!(report["format"], "yunti-report/1");
    assert_eq!(report["job"]["name"], "wordcount");
    assert!(dir.run("run wordcount -q books -o again").stderr.is_empty());
}

#[test]
fn replaces_an_output_only_with_overwrite() {
    let dir = Dir::with_books();
    dir.ok("run wordcount books -o counts");
    dir.write("counts/part-r-00007", b"old");
    dir.fails("run wordcount books -o counts", 8, "counts");
    dir.ok("run wordcount books -o counts --overwrite");
    assert_eq!(dir.read("counts/part-r-00000"), COUNTS);
    assert!(!dir.path("counts/part-r-00007").exists());
}

#[test]
fn files_to_ship_are_checked() {
    let dir = Dir::with_books();
    dir.fails("run wordcount books -o counts --ship none.txt", 2, "--ship: cannot find the file");
    dir.fails("run wordcount books -o counts --archive a.zip#a", 2, "archives are unpacked on a cluster alone");
    dir.ok("run wordcount books -o counts --ship books#other");
}

#[test]
fn sorted_lines_on_standard_output() {
    let dir = Dir::new();
    dir.write("a.txt", b"b\na\n\xff\n\nB");
    assert_eq!(dir.run("run sort --input a.txt --output - --memory 512MiB").stdout, b"\nB\na\nb\n\xff\n");
    let json = dir.run("run sort --input a.txt --output - --json");
    assert_eq!(json.status.code(), Some(2));
}

#[test]
fn standard_input() {
    use std::io::Write;
    let dir = Dir::new();
    let mut command = dir.command("run sort --input - --output -");
    let mut child = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"2\n1\n").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"1\n2\n");
}

#[test]
fn generated_records_are_sorted_and_validated() {
    let dir = Dir::new();
    dir.ok("generate tera --records 10000 --output t/ --files 3");
    assert_eq!(fs::metadata(dir.path("t/part-m-00001")).unwrap().len(), 333_300);
    dir.ok("run terasort --input t/ --output s/ --reduces 8");
    assert!(dir.path("s/part-r-00007").exists());
    let text = dir.ok("validate tera s/");
    assert!(text.contains("10,000, in 8 files") && text.contains("sorted      yes"), "{text}");
    let found = dir.json("validate tera s/ --against t/ --json");
    assert_eq!((&found["valid"], &found["records"]), (&true.into(), &10_000.into()));
    let checksum = found["checksum"].as_str().unwrap();
    dir.ok(&format!("validate tera s/ --checksum {checksum}"));
    let wrong = dir.run("validate tera t/");
    assert_eq!(wrong.status.code(), Some(9));
    assert_eq!(String::from_utf8(wrong.stderr).unwrap().lines().count(), 1);
    assert_eq!(dir.run("validate tera s/ --checksum 1").status.code(), Some(9));
    dir.ok("generate tera --records 9999 --output u/");
    assert_eq!(dir.run("validate tera s/ --against u/ --json").status.code(), Some(9));
}

#[test]
fn generated_data_is_the_same_on_any_number_of_threads() {
    let dir = Dir::new();
    for kind in [
        "tera --records 20001",
        "tera --ascii --records 5",
        "text --bytes 3MB",
        "zipf --bytes 2MB --distinct 1000",
        "pairs --bytes 2100000",
    ] {
        dir.ok(&format!("generate {kind} -o one --threads 1 --files 3 -q"));
        dir.ok(&format!("generate {kind} -o two --threads 2 --files 3 -q"));
        dir.ok(&format!("generate {kind} -o whole --files 1 -q"));
        let parts = |name: &str| (0..3).flat_map(|i| dir.read(&format!("{name}/part-m-{i:05}"))).collect::<Vec<u8>>();
        assert!(parts("one") == parts("two"), "{kind}");
        assert!(parts("one") == dir.read("whole/part-m-00000"), "{kind}");
        for name in ["one", "two", "whole"] {
            fs::remove_dir_all(dir.path(name)).unwrap();
        }
    }
}

#[test]
fn a_job_file_and_flags_over_it() {
    let dir = Dir::with_books();
    dir.write(
        "job.toml",
        b"format = \"yunti-job/1\"\napplication = \"wordcount\"\ninput = \"books\"\noutput = \"counts\"\nname = \"my count\"\n",
    );
    dir.ok("run -f job.toml");
    assert_eq!(dir.read("counts/part-r-00000"), COUNTS);
    assert_eq!(dir.json("report counts --json")["job"]["name"], "my count");
    dir.ok("run -f job.toml --output other -D mapreduce.job.reduces=3");
    assert!(dir.path("other/part-r-00002").exists());
    // --print-job prints a job file that does the same.
    dir.write("again.toml", dir.ok("run -f job.toml --output again --print-job").as_bytes());
    assert!(!dir.path("again").exists());
    dir.ok("run -f again.toml");
    assert_eq!(dir.read("again/part-r-00000"), COUNTS);
}

#[test]
fn classes_by_name() {
    let dir = Dir::with_books();
    let classes = "--mapper Yunti.WordCountMapper --reducer Yunti.SumReducer --combiner Yunti.SumReducer";
    dir.ok(&format!("run {classes} --input books --output a"));
    assert_eq!(dir.read("a/part-r-00000"), COUNTS);
    dir.ok("run --mapper Yunti.WordCountMapper --folder Yunti.SumFolder --mode grouped --deterministic --input books --output b");
    let mut lines: Vec<&[u8]> = COUNTS.split_inclusive(|&b| b == b'\n').collect();
    let grouped = dir.read("b/part-r-00000");
    let mut found: Vec<&[u8]> = grouped.split_inclusive(|&b| b == b'\n').collect();
    lines.sort();
    found.sort();
    assert_eq!(found, lines);
}

#[test]
fn programs_get_json() {
    let dir = Dir::with_books();
    let report = dir.json("run wordcount books --json");
    assert_eq!(report["top"][0]["key"], "the");
    assert_eq!(report["top"][0]["value"], "4");
    assert_eq!(report["job"]["output_records"], 8);
    dir.ok("run wordcount books -q --report r.json");
    let stored: serde_json::Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
    assert_eq!(stored["format"], "yunti-report/1");
    let failed = dir.run("run wordcount nowhere --json");
    assert_eq!(failed.status.code(), Some(3));
    let error: serde_json::Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!(error["error"]["code"], "input");
    assert_eq!(error["error"]["exit_code"], 3);
    assert!(failed.stderr.is_empty());
}

#[test]
fn limits_are_measured_and_stored() {
    let dir = Dir::new();
    let limits = dir.json("limits . --quick --json");
    assert!(limits["memory_copy"]["one"].as_f64().unwrap() > 0.0);
    assert!(dir.path("cache/yunti/limits.json").exists());
    assert_eq!(dir.names().len(), 3, "{:?}", dir.names());
}

#[test]
fn what_is_between_records_is_no_part_of_words() {
    let dir = Dir::new();
    dir.write("in", b"a b|;c\nd|;|;e |f;|;last");
    dir.ok("run wordcount in -o out --input-format text:|;");
    assert_eq!(dir.read("out/part-r-00000"), b"a\t1\nb\t1\nc\t1\nd\t1\ne\t1\nlast\t1\n|f;\t1\n");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let dir = Dir::new();
    for (name, text, expect) in [
        ("words", &b"\xef\xbb\xbfone two\none \xef\xbb\xbftwo"[..], &b"one\t2\ntwo\t1\n\xef\xbb\xbftwo\t1\n"[..]),
        ("mark", b"\xef\xbb\xbf", b""),
        ("half", b"\xef\xbb", b"\xef\xbb\t1\n"),
        ("like", b"\xef\xbbx", b"\xef\xbbx\t1\n"),
        ("line", b"\xef\xbb\xbf\n", b""),
    ] {
        dir.write(name, text);
        for more in ["", " --split-size 3"] {
            let out = format!("out-{name}{}", more.len());
            dir.ok(&format!("run wordcount {name} -o {out}{more}"));
            assert_eq!(dir.read(&format!("{out}/part-r-00000")), expect, "{name}{more}");
        }
    }
    dir.ok("run identity words -o copy");
    assert_eq!(dir.read("copy/part-m-00000"), b"one two\none \xef\xbb\xbftwo\n");
    // sort(1) keeps it.
    dir.ok("run sort words -o sorted");
    assert_eq!(dir.read("sorted/part-r-00000"), b"one \xef\xbb\xbftwo\n\xef\xbb\xbfone two\n");
}
