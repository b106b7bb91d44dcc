//! Wherever a file is split, each line is read once, whole and at its position.

use std::sync::Arc;

use yunti_base::Code;
use yunti_engine::codec::encode::{Compression, Target};
use yunti_engine::env::Env;
use yunti_engine::env::faulty::{Fault, FaultyFiles, Operation, Step};
use yunti_engine::env::random::Random;
use yunti_engine::env::real::RealFiles;
use yunti_engine::job::{InputFormat, JobSpec, Mode, OutputFormat, OutputTarget};

use crate::support::{Temp, parts_of, run_in};

/// Returns the length of the line end of `text` at `at`; 0 if there is none.
type EndAt = fn(text: &[u8], at: usize) -> usize;

fn any(text: &[u8], at: usize) -> usize {
    match &text[at..] {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

fn lf(text: &[u8], at: usize) -> usize {
    usize::from(text[at] == b'\n')
}

fn bars(text: &[u8], at: usize) -> usize {
    if text[at..].starts_with(b"|-:") { 3 } else { 0 }
}

/// A delimiter that overlaps itself, so that files are not split.
fn twice(text: &[u8], at: usize) -> usize {
    if text[at..].starts_with(b"aa") { 2 } else { 0 }
}

/// Returns position and line of each line, concatenated: the raw output of a sort by position.
fn expected(text: &[u8], end_at: EndAt) -> Vec<u8> {
    let (mut out, mut start, mut at) = (Vec::new(), 0, 0);
    let mut line = |start: usize, end: usize| {
        out.extend_from_slice(&(start as u64).to_le_bytes());
        out.extend_from_slice(&text[start..end]);
    };
    while at < text.len() {
        let end = end_at(text, at);
        if end > 0 {
            line(start, at);
            at += end;
            start = at;
        } else {
            at += 1;
        }
    }
    if start < text.len() {
        line(start, text.len());
    }
    out
}

fn check(temp: &Temp, text: &[u8], delimiter: Option<&[u8]>, end_at: EndAt, split_sizes: impl Iterator<Item = usize>) {
    let spec = JobSpec {
        inputs: vec![temp.write("in", text)],
        input_format: InputFormat::Text { delimiter: delimiter.map(<[u8]>::to_vec) },
        mapper: Some("Test.Positions".into()),
        output_format: OutputFormat::Raw,
        threads: Some(1),
        memory_bytes: Some(4 << 20),
        ..JobSpec::default()
    };
    let expect = expected(text, end_at);
    for split in split_sizes {
        let spec = JobSpec { split_bytes: split as u64, ..spec.clone() };
        let got = parts_of(&spec, &temp.path("out")).unwrap().concat();
        assert!(got == expect, "splits of {split} of {:?}", String::from_utf8_lossy(&text[..text.len().min(100)]));
    }
}

fn random_text(random: &mut Random, len: usize, of: &[&str]) -> Vec<u8> {
    let mut text = Vec::new();
    while text.len() < len {
        text.extend_from_slice(of[random.below(of.len() as u64) as usize].as_bytes());
    }
    text.truncate(len);
    text
}

#[test]
fn any_split_keeps_every_line() {
    let temp = Temp::new("cuts");
    let mut random = Random::new(30);
    let long = "a longer line, up to the edge of a read buffer and beyond it ".repeat(5);
    type Case<'a> = (Option<&'a [u8]>, EndAt, &'a [&'a str]);
    let cases: [Case<'_>; 4] = [
        (None, any, &["\r", "\n", "\r\n", "x", "yy", "\0"]),
        (Some(b"\n"), lf, &["\r", "\n", "\r\n", "x", "yy"]),
        (Some(b"|-:"), bars, &["|-:", "|-", "-:", "|", "x"]),
        (Some(b"aa"), twice, &["a", "aa", "b", "aaa"]),
    ];
    for (delimiter, end_at, of) in cases {
        let text = random_text(&mut random, 70, of);
        check(&temp, &text, delimiter, end_at, 1..=text.len());
        // Several reads (512 bytes in debug builds), with lines across their edges.
        let mut of = of.to_vec();
        of.push(&long);
        let text = random_text(&mut random, 3000, &of);
        check(
            &temp,
            &text,
            delimiter,
            end_at,
            (500..530).chain([1, 7, 1021, 1500]).chain((0..12).map(|i| 2990 - i * 193)),
        );
    }
}

/// A bzip2 file can be split at any bit; each line comes once, whole and in order.
#[test]
fn any_split_of_a_bzip2_file_keeps_every_line() {
    let temp = Temp::new("bzip2-cuts");
    let mut random = Random::new(31);
    // Lines across the ends of blocks (of 100 kB), one line longer than a block, and consecutive streams.
    let long = "a line that goes over several blocks ".repeat(9000);
    let mut of = vec!["\r", "\n", "\r\n", "x", "", "a line\n"];
    let words: Vec<String> = (0..3000).map(|_| format!("word {} ", random.next_u64())).collect();
    of.extend(words.iter().map(|w| &**w));
    let compress = |data: &[u8]| {
        let compression = Compression { target: Target::Bzip2, level: Some(1) };
        let (mut encoder, mut out) = (compression.encoder().unwrap(), Vec::new());
        encoder.write(data, &mut out).unwrap();
        encoder.finish(&mut out).unwrap();
        out
    };
    let parts: Vec<Vec<u8>> = [350_000, 10, 0, 120_000]
        .into_iter()
        .map(|n| random_text(&mut random, n, &of))
        .chain([long.into_bytes(), b"\nthe\r".to_vec(), b"\nend\r".to_vec()])
        .collect();
    let file: Vec<u8> = parts.iter().flat_map(|part| compress(part)).collect();
    let text = parts.concat();
    let spec = JobSpec {
        inputs: vec![temp.write("in.bz2", &file)],
        mode: Mode::None,
        threads: Some(2),
        memory_bytes: Some(64 << 20),
        ..JobSpec::default()
    };
    for (delimiter, end_at) in [(None, any as EndAt), (Some(&b"\n"[..]), lf), (Some(b"|-:"), bars)] {
        let mut expect = Vec::new();
        let (mut start, mut at) = (0, 0);
        while at < text.len() {
            let end = end_at(&text, at);
            if end > 0 {
                expect.extend_from_slice(&text[start..at]);
                expect.push(b'\n');
                at += end;
                start = at;
            } else {
                at += 1;
            }
        }
        if start < text.len() {
            expect.extend_from_slice(&text[start..]);
            expect.push(b'\n');
        }
        for split in [1 << 30, 100_000, 30_001, 9_973, 4_001] {
            let input_format = InputFormat::Text { delimiter: delimiter.map(<[u8]>::to_vec) };
            let spec = JobSpec { split_bytes: split, input_format, ..spec.clone() };
            let parts = parts_of(&spec, &temp.path("out")).unwrap();
            // A delimiter of several bytes may cross the end of a block, so such a file is not split.
            assert_eq!(parts.len() > 1, delimiter != Some(b"|-:") && split <= 100_000, "{delimiter:?} {split}");
            assert!(parts.concat() == expect, "splits of {split}, {delimiter:?}");
        }
    }
}

/// The plan needs only file lengths, and the first read of a split fails.
#[test]
fn plans_a_hundred_gigabytes_without_reading() {
    let temp = Temp::new("sparse");
    for name in ["in/a", "in/b"] {
        temp.write(name, b"");
        let file = std::fs::OpenOptions::new().write(true).open(temp.path(name)).unwrap();
        file.set_len(50_000_000_000).unwrap();
    }
    let spec = JobSpec {
        inputs: vec![temp.path("in").to_string_lossy().into_owned()],
        output: OutputTarget::Directory(temp.path("out")),
        split_bytes: 1 << 20,
        memory_bytes: Some(8 << 20),
        threads: Some(1),
        // One part of unchanged records would be allocated at once, which a smaller disk refuses.
        reduces: 2,
        ..JobSpec::default()
    };
    // Two reads check the formats of the files.
    let reads = |step: &Step| step.operation == Operation::Read;
    let faulty = Arc::new(FaultyFiles::only(Arc::new(RealFiles), 3, true, Fault::Errno(libc::EIO), reads));
    let error = run_in(&Env { files: faulty.clone(), ..Env::real() }, &spec).err().unwrap();
    assert!(error.code() == Code::Input && error.path().unwrap().contains("in/"), "{error}");
    assert!(faulty.operations() <= 4, "{} reads", faulty.operations());
    assert_eq!(temp.names(), ["in"]);
}
