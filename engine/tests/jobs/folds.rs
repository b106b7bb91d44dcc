//! Counting jobs give the same counts as a hash map, in every mode and with every mix of classes.

use std::collections::BTreeMap;

use yunti_engine::job::{InputFormat, JobSpec, Mode, OutputTarget};

use crate::support::{Temp, noise, parts_of, run_in};

fn wordcount() -> JobSpec {
    (yunti_engine::job::application("wordcount").unwrap().spec)()
}

fn counts(text: &[u8]) -> BTreeMap<Vec<u8>, u64> {
    let mut counts = BTreeMap::new();
    for word in text.split(|b| b" \t\n\r\x0c".contains(b)).filter(|w| !w.is_empty()) {
        *counts.entry(word.to_vec()).or_insert(0) += 1;
    }
    counts
}

fn print(counts: &BTreeMap<Vec<u8>, u64>) -> Vec<Vec<u8>> {
    counts.iter().map(|(w, n)| [w, &b"\t"[..], n.to_string().as_bytes(), b"\n"].concat()).collect()
}

/// Returns words of any bytes except separators, some of them long.
fn text() -> Vec<u8> {
    let mut text = noise(9, 200_000);
    for (i, byte) in text.iter_mut().enumerate() {
        if *byte % 8 == 0 {
            *byte = b" \n\t"[i % 3];
        }
    }
    text.extend_from_slice(&vec![b'x'; 100_000]);
    text.extend_from_slice(b" the the the end");
    text
}

#[test]
fn words_are_counted_in_every_mode() {
    let temp = Temp::new("words");
    let text = text();
    let input = temp.write("in.txt", &text);
    let expect = print(&counts(&text));
    let fold = JobSpec { inputs: vec![input], ..wordcount() };
    let sum = Some("Yunti.SumReducer".to_string());
    let reduce = JobSpec { folder: None, reducer: sum.clone(), ..fold.clone() };
    let combine = JobSpec { combiner: sum, ..reduce.clone() };
    let count = JobSpec { folder: Some("Yunti.CountFolder".into()), ..fold.clone() };
    for (name, spec) in [("fold", &fold), ("reduce", &reduce), ("combine", &combine), ("count", &count)] {
        for threads in [1, 2, 4] {
            for split_bytes in [1 << 20, 20_000] {
                let spec = JobSpec { threads: Some(threads), split_bytes, ..spec.clone() };
                let got = parts_of(&spec, &temp.path("out")).unwrap().concat();
                assert!(got == expect.concat(), "{name}, {threads} threads, sorted");
            }
        }
    }
    let grouped = JobSpec { mode: Mode::Grouped, threads: Some(2), split_bytes: 30_000, ..fold.clone() };
    let got = parts_of(&grouped, &temp.path("out")).unwrap().concat();
    let mut lines: Vec<&[u8]> = got.split_inclusive(|&b| b == b'\n').collect();
    lines.sort();
    let mut sorted = expect.clone();
    sorted.sort();
    assert!(lines == sorted, "grouped");
    let same = JobSpec { deterministic: true, ..grouped.clone() };
    assert!(parts_of(&same, &temp.path("out")).unwrap().concat() == expect.concat(), "deterministic");

    for mode in [Mode::Sorted, Mode::Grouped] {
        let parted = JobSpec { reduces: 5, mode, ..fold.clone() };
        let parts = parts_of(&parted, &temp.path("out")).unwrap();
        assert_eq!(parts.len(), 5);
        assert!(parts.iter().all(|p| !p.is_empty()));
        let all = parts.concat();
        let mut lines: Vec<&[u8]> = all.split_inclusive(|&b| b == b'\n').collect();
        lines.sort();
        assert!(lines == sorted, "5 parts");
    }
}

#[test]
fn shows_the_most_frequent_without_an_output() {
    let temp = Temp::new("top");
    let input = temp.write("in.txt", b"b a c a b a d\nb a");
    let spec = JobSpec { inputs: vec![input], output: OutputTarget::Top(2), ..wordcount() };
    let outcome = run_in(&yunti_engine::env::Env::real(), &spec).unwrap();
    let top: Vec<_> = outcome.top.iter().map(|record| record.printable()).collect();
    assert_eq!(top, [("a".to_string(), "4".to_string()), ("b".to_string(), "3".to_string())]);
    assert_eq!(temp.names(), ["in.txt"]);
}

#[test]
fn counts_words_of_values_only() {
    let temp = Temp::new("words-of-values");
    // Words of two records are separate even without a line end between them; keys have no words.
    let spec = |name: &str, bytes: &[u8], input_format| JobSpec {
        inputs: vec![temp.write(name, bytes)],
        input_format,
        mode: Mode::Sorted,
        ..wordcount()
    };
    let pairs = spec("kv", b"x y,a b\nx,b\nnone\n", InputFormat::KeyValue { separator: b',' });
    let fixed = spec("fixed", b"xab xbb ", InputFormat::Fixed { record_bytes: 4, key_bytes: 1 });
    for (spec, expect) in [(pairs, "a\t1\nb\t2\n"), (fixed, "ab\t1\nbb\t1\n")] {
        assert_eq!(parts_of(&spec, &temp.path("out")).unwrap().concat(), expect.as_bytes());
    }
}
