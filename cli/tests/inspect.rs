//! `yunti inspect`: all known kinds of files, by content; and one line for damaged files.

mod support;

use std::process::Command;

use support::Dir;

const USAGE: i32 = 2;
const INPUT: i32 = 3;
const CORRUPT: i32 = 4;

/// Checks that the text has `parts` and the document the kind; returns the document.
fn check(dir: &Dir, words: &str, kind: &str, parts: &[&str]) -> serde_json::Value {
    let text = dir.ok(&format!("inspect {words}"));
    for part in parts {
        assert!(text.contains(part), "inspect {words}: {part}\n{text}");
    }
    let document = dir.json(&format!("inspect {words} --json"));
    assert_eq!(document["kind"], kind, "{document}");
    document
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    })
}

#[test]
fn documents_of_yunti() {
    let dir = Dir::with_books();
    dir.ok("run wordcount books -o counts -q");
    let report = check(
        &dir,
        "counts/_yunti/report.json",
        "report",
        &["report of a job (yunti-report", "wordcount", "Bottleneck"],
    );
    assert_eq!(report["summary"]["name"], "wordcount");
    // Found by the content, not by the name.
    std::fs::copy(dir.path("counts/_yunti/report.json"), dir.path("x")).unwrap();
    check(&dir, "x", "report", &["yunti report x"]);
    dir.write("facts", br#"{"format": "yunti-job-facts/1", "id": "job_7_1", "name": "far away", "state": "succeeded", "submitted_unix_ms": 1,
        "finished_unix_ms": 9, "reduces": 0, "output": null, "map_container_bytes": 1, "reduce_container_bytes": 1,
        "cluster": {"nodes": 1, "processors": 1, "memory_bytes": 1}, "counters": {}, "attempts": []}"#);
    check(&dir, "facts", "job-facts", &["facts of a job on a cluster", "far away"]);
    dir.ok("limits --quick .");
    check(&dir, "cache/yunti/limits.json", "limits", &["limits that yunti machine limits measured", "copies memory"]);
    dir.write("both.json", dir.ok("report counts x --json").as_bytes());
    check(&dir, "both.json", "comparison", &["A is wordcount"]);
    dir.write("job", b"format = \"yunti-job/1\"\napplication = \"sort\"\nreduces = 7\n");
    check(&dir, "job", "job-file", &["a job file, of the application sort", "reduces = 7", "mode = \"sorted\""]);
}

#[test]
fn shows_records_as_a_job_reads_them() {
    let dir = Dir::with_books();
    let document =
        check(&dir, "books/one.txt", "records", &["lines of text, 28 B", "several workers", "the cat and the dog"]);
    assert_eq!(document["records"][1]["value"], "the end");
    assert_eq!(document["counted"], serde_json::Value::Null);
    check(&dir, "books/two.txt", "records", &["the\\tbird \\xff\\xfe", "no end"]);
    let keyed =
        check(&dir, "books/two.txt --input-format kv --check", "records", &["key and value by '\\t'", "2 records"]);
    assert_eq!((&keyed["records"][0]["key"], &keyed["counted"]["records"]), (&"the".into(), &2.into()));
    let few = check(&dir, "books/one.txt -n 1", "records", &["the cat"]);
    assert_eq!(few["records"].as_array().unwrap().len(), 1);
    check(&dir, "books/one.txt --input-format fixed:4:2", "records", &["records of 4 bytes, 2 of them the key"]);
    // Framed records are recognised.
    dir.ok("run identity books --output-format framed -o framed -q");
    let framed =
        check(&dir, "framed/part-m-00000", "records", &["framed records", "one worker reads all of it", "the end"]);
    assert_eq!(framed["divisible"], false);
    dir.write("empty", b"");
    check(&dir, "empty --check", "records", &["0 B", "no records", "0 records"]);
}

#[test]
fn compressed_input_by_name_and_by_content() {
    let dir = Dir::with_books();
    let packed = Command::new("sh")
        .arg("-c")
        .arg("gzip -k books/one.txt && cp books/one.txt.gz misnamed")
        .current_dir(dir.path(""))
        .status();
    assert!(packed.unwrap().success());
    let found = check(
        &dir,
        "books/one.txt.gz --check",
        "records",
        &["compressed by gzip", "cannot be divided", "the end", "28 B, decompressed"],
    );
    assert_eq!((&found["codec"], &found["divisible"]), (&"gzip".into(), &false.into()));
    let found =
        check(&dir, "misnamed", "records", &["misnamed: compressed by gzip", "has no extension of the codec", ".gz"]);
    assert_eq!(found["codec_by_content"], "gzip");
    // Truncated, not gzip, and with a flipped bit after the beginning: exit code 4, one line.
    let whole = dir.read("books/one.txt.gz");
    dir.write("cut.gz", &whole[..whole.len() - 3]);
    dir.fails("inspect cut.gz", CORRUPT, "cut short");
    dir.write("text.gz", b"no gzip\n");
    dir.fails("inspect text.gz", CORRUPT, "this is not gzip data");
    dir.write("none.gz", b"");
    dir.fails("inspect none.gz", CORRUPT, "none.gz");
    dir.ok("generate text --bytes 3MB -o text -q");
    let packed = Command::new("sh").arg("-c").arg("cat text/* | gzip -1 > long.gz").current_dir(dir.path("")).status();
    assert!(packed.unwrap().success());
    let mut long = dir.read("long.gz");
    let at = long.len() - 6;
    long[at] ^= 1;
    dir.write("long.gz", &long);
    // The beginning is sound, and without --check only the beginning is read.
    check(&dir, "long.gz", "records", &["compressed by gzip"]);
    dir.fails("inspect long.gz --check", CORRUPT, "long.gz");
}

/// Writes an index in the format of Hadoop's SpillRecord, and its segments.
fn map_output(dir: &Dir, segments: &[&[u8]]) {
    let (mut output, mut index) = (Vec::new(), Vec::new());
    for body in segments {
        for n in [output.len(), body.len(), body.len() + 4] {
            index.extend((n as u64).to_be_bytes());
        }
        output.extend(*body);
        output.extend(crc32(body).to_be_bytes());
    }
    index.extend(u64::from(crc32(&index)).to_be_bytes());
    dir.write("file.out", &output);
    dir.write("file.out.index", &index);
}

#[test]
fn map_output_of_hadoop() {
    let dir = Dir::new();
    map_output(&dir, &[b"\xff\xff", b"\x01\x01ab\xff\xff", b"\xff\xff"]);
    for path in ["file.out.index", "file.out"] {
        let found = check(&dir, path, "map-output", &["map output of Hadoop: 3 partitions", "of segments are correct"]);
        assert_eq!(found["partitions"][1]["stored_bytes"], 10);
    }
    // Found by its content under another name; then the output file is not beside it.
    std::fs::copy(dir.path("file.out.index"), dir.path("spill12")).unwrap();
    check(&dir, "spill12", "map-output", &["the output file is not beside it"]);
    let sound = dir.read("file.out");
    let mut damaged = sound.clone();
    damaged[8] ^= 1;
    dir.write("file.out", &damaged);
    dir.fails("inspect file.out", CORRUPT, "wrong checksum in the segment of partition 1: file.out");
    dir.write("file.out", &sound[..sound.len() - 1]);
    dir.fails("inspect file.out.index", CORRUPT, "the file ends before the segment of partition 2");
    let mut index = dir.read("file.out.index");
    index[3] ^= 1;
    dir.write("file.out.index", &index);
    dir.fails("inspect file.out", CORRUPT, "the checksum of the index of map output is wrong");
    dir.write("file.out.index", &index[..30]);
    dir.fails("inspect file.out.index", CORRUPT, "24 bytes a partition and 8, not 30");
}

#[test]
fn damaged_documents_and_paths_that_are_not_files() {
    let dir = Dir::with_books();
    dir.write("cut.json", br#"{ "format": "yunti-report/1", "job": { "name": "#);
    dir.fails("inspect cut.json", CORRUPT, "begins like a document of Yunti, but is not one");
    dir.write("hollow.json", br#"{ "format": "yunti-report/1" }"#);
    dir.fails("inspect hollow.json", CORRUPT, "this is not a report of a job");
    dir.write("new.json", br#"{ "format": "yunti-report/9" }"#);
    dir.fails("inspect new.json", CORRUPT, "'yunti-report/9'");
    dir.write("job.toml", b"format = \"yunti-job/1\"\nredcues = 7\n");
    dir.fails("inspect job.toml", CORRUPT, "did you mean 'reduces'?");
    dir.write("frames", b"\0\0\0\x02\0\0\0\x01ab");
    dir.fails("inspect frames --input-format framed", CORRUPT, "ends within a framed record");
    dir.write("some.jar", b"PK\x03\x04....");
    check(&dir, "some.jar", "foreign", &["a zip or jar file"]);
    dir.fails("inspect books", USAGE, "this is a directory");
    dir.fails("inspect nowhere", INPUT, "check the path");
    dir.fails("inspect /dev/null", USAGE, "not a regular file");
    dir.fails("inspect books/one.txt -n 1000000", USAGE, "too many");
}
