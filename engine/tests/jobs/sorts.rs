//! Sorting jobs give the same output as a stable sort of the whole input.

use std::path::Path;
use std::sync::Arc;
use yunti_base::Code;
use yunti_engine::env::Env;
use yunti_engine::env::faulty::{Fault, FaultyFiles, Operation};
use yunti_engine::env::random::Random;
use yunti_engine::env::real::RealFiles;
use yunti_engine::job::{InputFormat, JobSpec, OutputFormat, OutputTarget, Partitioning};

use crate::support::{Temp, noise, parts_of, run_in};

fn application(name: &str) -> JobSpec {
    (yunti_engine::job::application(name).unwrap().spec)()
}

/// Sorts the lines of a text like `LC_ALL=C sort`.
fn sorted_lines(text: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
    if lines.last() == Some(&&b""[..]) {
        lines.pop();
    }
    lines.sort();
    lines.iter().flat_map(|l| [l, &b"\n"[..]].concat()).collect()
}

fn check_sort(name: &str, text: &[u8]) {
    let temp = Temp::new("sort");
    let input = temp.write("in.txt", text);
    let spec = JobSpec { inputs: vec![input], ..application("sort") };
    for threads in [1, 3] {
        for split_bytes in [1 << 20, 1000] {
            let spec = JobSpec { threads: Some(threads), split_bytes, ..spec.clone() };
            let got = parts_of(&spec, &temp.path("out")).unwrap();
            assert!(got.concat() == sorted_lines(text), "{name}, {threads} threads, splits of {split_bytes}");
        }
        let spec = JobSpec { threads: Some(threads), reduces: 4, split_bytes: 5000, ..spec.clone() };
        let got = parts_of(&spec, &temp.path("out")).unwrap();
        assert_eq!(got.len(), 4);
        assert!(got.concat() == sorted_lines(text), "{name}, 4 parts");
    }
}

#[test]
fn sorts_lines_of_any_shape() {
    check_sort("empty", b"");
    check_sort("one", b"x");
    check_sort("line ends", b"\n\n\r\n\0\na\na\0\n\xff\n");
    check_sort("noise", &noise(1, 100_000));
    check_sort("equal", &b"the same line\n".repeat(5000));
    let mut few = Vec::new();
    let mut random = Random::new(5);
    for _ in 0..20_000 {
        few.extend_from_slice(format!("{}\n", "ab".repeat(random.below(20) as usize)).as_bytes());
    }
    check_sort("prefixes of each other", &few);
    let mut long = Vec::new();
    for i in 0..3000 {
        long.extend_from_slice("common beginning ".repeat(10).as_bytes());
        long.extend_from_slice(format!("{}\n", (i * 7919) % 3001).as_bytes());
    }
    check_sort("a long common beginning", &long);
    let sorted: String = (0..20_000).map(|i| format!("{i:08}\n")).collect();
    check_sort("sorted already", sorted.as_bytes());
    let mut zeros = Vec::new();
    for i in 0..4000usize {
        zeros.extend_from_slice(&vec![0; i % 23]);
        zeros.push(b'\n');
    }
    check_sort("zeros only", &zeros);
}

#[test]
fn sorts_lines_longer_than_every_buffer() {
    let mut text = b"short\n".to_vec();
    text.extend(vec![b'y'; 3 << 20]);
    text.push(b'\n');
    text.extend(vec![b'y'; 2 << 20]);
    text.extend(b"\nlast");
    check_sort("long lines", &text);
}

#[test]
fn terasort_is_stable_and_total_over_parts() {
    let temp = Temp::new("tera");
    let mut records = noise(3, 100 * 5000);
    // Many equal keys, which keep the order of the input.
    for r in records.chunks_mut(100) {
        r[..9].fill(7);
        r[9] %= 50;
    }
    let input = temp.write("in", &records);
    let mut expect: Vec<&[u8]> = records.chunks(100).collect();
    expect.sort_by_key(|r| &r[..10]);
    let expect = expect.concat();
    for (reduces, threads, split_bytes) in [(1, 1, 1 << 20), (1, 3, 3000), (8, 2, 10_000)] {
        let spec = JobSpec {
            inputs: vec![input.clone()],
            reduces,
            threads: Some(threads),
            split_bytes,
            ..application("terasort")
        };
        let got = parts_of(&spec, &temp.path("out")).unwrap();
        assert_eq!(got.len(), reduces as usize);
        assert!(got.concat() == expect, "{reduces} {threads} {split_bytes}");
    }
}

#[test]
fn sorts_key_value_lines_in_descending_order() {
    let temp = Temp::new("kv");
    let input = temp.write("in", b"b\t1\na\t2\nab\t3\n\t4\nb\t0\n");
    let spec = JobSpec {
        inputs: vec![input],
        input_format: InputFormat::KeyValue { separator: b'\t' },
        descending: true,
        ..JobSpec::default()
    };
    assert_eq!(parts_of(&spec, &temp.path("out")).unwrap().concat(), b"b\t1\nb\t0\nab\t3\na\t2\n\t4\n");
    let raw = JobSpec { output_format: OutputFormat::Raw, partitioning: Partitioning::Hash, descending: false, ..spec };
    assert_eq!(parts_of(&raw, &temp.path("out")).unwrap().concat(), b"4a2ab3b1b0");
}

#[test]
fn framed_records_hold_any_bytes() {
    let temp = Temp::new("framed");
    let mut records: Vec<(Vec<u8>, Vec<u8>)> =
        (0..3000u32).map(|i| (i.to_be_bytes().to_vec(), vec![i as u8; i as usize % 90])).collect();
    records.push((b"\n\t\r".to_vec(), vec![b'\n'; 5 << 20]));
    records.push((Vec::new(), Vec::new()));
    let framed = |records: &[(Vec<u8>, Vec<u8>)]| {
        let frame = |(k, v): &(Vec<u8>, Vec<u8>)| {
            [&(k.len() as u32).to_be_bytes()[..], &(v.len() as u32).to_be_bytes(), k, v].concat()
        };
        records.iter().flat_map(frame).collect::<Vec<u8>>()
    };
    records.reverse();
    let bytes = framed(&records);
    let spec = JobSpec {
        inputs: vec![temp.write("in", &bytes)],
        input_format: InputFormat::Framed,
        output_format: OutputFormat::Framed,
        ..JobSpec::default()
    };
    records.sort();
    assert!(parts_of(&spec, &temp.path("out")).unwrap().concat() == framed(&records));

    for (cut, what) in [(bytes.len() - 1, "ends within"), (bytes.len() - 9, "ends within")] {
        let spec = JobSpec { inputs: vec![temp.write("cut", &bytes[..cut])], ..spec.clone() };
        let error = parts_of(&spec, &temp.path("cut-out")).unwrap_err();
        assert_eq!((error.code(), error.what().contains(what)), (Code::Corrupt, true), "{error}");
    }
    let spec = JobSpec { inputs: vec![temp.write("text", b"these are lines of text\n")], ..spec };
    assert_eq!(parts_of(&spec, &temp.path("text-out")).unwrap_err().code(), Code::Corrupt);
}

/// Runs a job whose input file is cut to `len` bytes when the job first does `operation`.
fn cut_during(spec: &JobSpec, input: &Path, operation: Operation, len: u64) -> yunti_base::Result<()> {
    let path = input.to_path_buf();
    // Never fails an operation: counting is the hook.
    let files = FaultyFiles::only(Arc::new(RealFiles), 0, false, Fault::Short, move |step| {
        let part = step.path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"part-"));
        if step.operation == operation && (part || operation == Operation::PageIn) {
            std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(len).unwrap();
        }
        false
    });
    let env = Env { files: Arc::new(files), maps_files: true, ..Env::real() };
    run_in(&env, spec).map(drop)
}

#[test]
fn a_mapped_file_that_is_cut_is_one_error_and_leaves_nothing() {
    let mut random = Random::new(11);
    let lines: String = (0..20_000).map(|_| format!("{:020}\n", random.below(1 << 40))).collect();
    let records: Vec<u8> = (0..300_000).map(|_| random.below(256) as u8).collect();
    for (application_name, bytes) in [("sort", lines.as_bytes()), ("terasort", &records)] {
        for operation in [Operation::PageIn, Operation::Create, Operation::Write] {
            for len in [0, 100, bytes.len() as u64 / 2, bytes.len() as u64 - 100] {
                let temp = Temp::new("cut");
                let input = temp.write("in", bytes);
                let spec = JobSpec {
                    inputs: vec![input.clone()],
                    output: OutputTarget::Directory(temp.path("out")),
                    threads: Some(2),
                    ..application(application_name)
                };
                let what = format!("{application_name}, cut to {len} at {operation:?}");
                let error = cut_during(&spec, Path::new(&input), operation, len).expect_err(&what);
                assert_eq!((error.code(), error.path()), (Code::Input, Some(&*input)), "{what}: {error}");
                assert!(!temp.path("out").exists(), "{what}");
                // The same job is right again when the file is whole.
                std::fs::write(&input, bytes).unwrap();
                run_in(&Env { maps_files: true, ..Env::real() }, &spec).expect(&what);
            }
        }
    }
}
