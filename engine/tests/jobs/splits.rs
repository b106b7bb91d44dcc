//! Wherever a file is cut, each line is read once, whole and in its place.

use yunti_engine::env::random::Random;
use yunti_engine::job::{InputFormat, JobSpec, OutputFormat};

use crate::support::{Temp, parts_of};

/// Where a line end of `text` stands at `at`: its length.
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

/// It overlaps itself: files are not cut.
fn twice(text: &[u8], at: usize) -> usize {
    if text[at..].starts_with(b"aa") { 2 } else { 0 }
}

/// Position and line of each, one behind the other: the raw output of a sort by position.
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
fn any_cut_keeps_every_line() {
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
        // Several reads (512 bytes in debug builds), lines over their edges.
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
