//! Map outputs: with any memory, partitions and combiner, reducers read all records, sorted.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use yunti_base::{Code, Error};
use yunti_engine::bytes::KeyOrder;
use yunti_engine::collect::partition::hash_bytes;
use yunti_engine::env::Env;
use yunti_engine::run::Merger;

use super::map_output::{MapOutput, MapOutputTotals, Settings, UserCode};
use crate::compress::{Codec, CodecKind};
use crate::ifile::SegmentReader;
use crate::ifile::reader::is_sound;
use crate::key::{KeyForm, ValueForm};
use crate::sorted::comparator::tests;
use crate::sorted::{Combine, Feed};

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// Appends a record as the collector takes it.
fn record(key: &[u8], value: &[u8], batch: &mut Vec<u8>) {
    batch.extend_from_slice(&(key.len() as u32).to_le_bytes());
    batch.extend_from_slice(&(value.len() as u32).to_le_bytes());
    batch.extend_from_slice(key);
    batch.extend_from_slice(value);
    batch.resize(batch.len().next_multiple_of(8), 0);
}

struct Trial {
    output: MapOutput,
    dir: std::path::PathBuf,
    codec: Codec,
    form: KeyForm,
    partitions: u32,
    batch: Vec<u8>,
    chosen: Vec<u32>,
}

impl Trial {
    fn new(
        name: &str,
        partitions: u32,
        kind: CodecKind,
        values: ValueForm,
        memory: u64,
        combiners: Option<[Box<dyn Combine>; 2]>,
    ) -> Trial {
        let user_code = UserCode { combiners, ..UserCode::default() };
        Trial::of(name, partitions, kind, (KeyForm::Text, values), memory, user_code)
    }

    fn of(
        name: &str,
        partitions: u32,
        kind: CodecKind,
        (form, values): (KeyForm, ValueForm),
        memory: u64,
        user_code: UserCode,
    ) -> Trial {
        let dir = std::env::temp_dir().join(format!("yunti-map-output-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let codec = Codec { kind, level: -1, buffer_bytes: 256 << 10 };
        let settings = Settings {
            partitions,
            form,
            values,
            codec,
            memory_bytes: memory,
            scratch: vec![dir.clone()],
            combine_spills_min: 3,
        };
        let output = MapOutput::new(settings, Env::real(), user_code).unwrap();
        Trial { output, dir, codec, form, partitions, batch: Vec::new(), chosen: Vec::new() }
    }

    fn put(&mut self, key: &[u8], value: &[u8], partition: u32) {
        let max = self.output.batch_bytes();
        if key.len() + value.len() + 16 > max {
            self.flush();
            let fill = |to: &mut [u8]| {
                to[..key.len()].copy_from_slice(key);
                to[key.len()..].copy_from_slice(value);
                Ok(())
            };
            return self.output.put_large(key.len(), value.len(), partition, fill).unwrap();
        }
        if self.batch.len() + key.len() + value.len() + 16 > max {
            self.flush();
        }
        record(key, value, &mut self.batch);
        self.chosen.push(partition);
    }

    fn flush(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        self.output
            .put(batch.len(), &self.chosen, |to| {
                to.copy_from_slice(&batch);
                Ok(())
            })
            .unwrap();
        self.chosen.clear();
    }

    /// Returns the records of each partition, and the totals.
    fn finish(mut self) -> (Vec<Pairs>, MapOutputTotals) {
        self.flush();
        let Trial { output, dir, codec, form, partitions, .. } = self;
        let path = dir.join("file.out");
        let space = output.space();
        let is_compared = space.comparator.is_some();
        let done = output.finish(&path).unwrap();
        // Each spill is a line of the log.
        let lines = space.log.take();
        let spills: Vec<&String> = lines.iter().filter(|line| line.starts_with("Finished spill ")).collect();
        assert_eq!(spills.len() as u64, done.spills, "{lines:?}");
        for (number, line) in spills.iter().enumerate() {
            assert!(line.starts_with(&format!("Finished spill {number}: ")), "{line}");
        }
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!(done.segments.len(), partitions as usize);
        let end = done.segments.last().map_or(0, |s| s.start + s.file_bytes);
        assert_eq!(end, bytes.len() as u64);
        let parts = done
            .segments
            .iter()
            .map(|s| {
                let segment = &bytes[s.start as usize..(s.start + s.file_bytes) as usize];
                assert!(is_sound(segment));
                let body = &segment[..segment.len() - 4];
                let reader = SegmentReader::new(body, codec, form, 4096, "segment".into()).unwrap();
                let mut merger = Merger::new(vec![Box::new(reader)], KeyOrder::BYTES).unwrap();
                let mut pairs = Vec::new();
                while let Some(batch) = merger.next_batch().unwrap() {
                    pairs.extend(batch.iter().map(|r| (r.key().to_vec(), r.value().to_vec())));
                }
                // A comparator's order is the caller's to check.
                assert!(is_compared || pairs.is_sorted_by(|a, b| a.0 <= b.0));
                pairs
            })
            .collect();
        (parts, done)
    }
}

fn sorted(mut pairs: Pairs) -> Pairs {
    pairs.sort();
    pairs
}

#[test]
fn sorts_records_of_all_kinds() {
    // With 4 MiB of memory, records of 5 MB have their own runs. The first record of 2.4 MB waits for the first spill.
    for (name, partitions, kind, large) in [
        ("one", 1, CodecKind::None, 0),
        ("many", 7, CodecKind::Snappy, 100_000),
        ("halves", 3, CodecKind::None, 2_400_000),
        ("giants", 3, CodecKind::Lz4, 5_000_000),
    ] {
        let mut draw = Draw(partitions.into());
        let mut trial = Trial::new(name, partitions, kind, ValueForm::Same, 4 << 20, None);
        let mut expect: Vec<Pairs> = vec![Vec::new(); partitions as usize];
        for i in 0..60_000u64 {
            let key: Vec<u8> = (0..draw.below(12)).map(|_| draw.below(256) as u8).collect();
            let long = if large > 0 && i % 20_000 == 7 { large } else { 0 };
            let value = vec![i as u8; draw.below(150) as usize + long];
            let partition = draw.below(partitions.into()) as u32;
            trial.put(&key, &value, partition);
            expect[partition as usize].push((key, value));
        }
        let (parts, done) = trial.finish();
        assert!(done.spills > 0, "{name} was to spill");
        for (found, expect) in parts.into_iter().zip(expect) {
            assert!(sorted(found) == sorted(expect), "{name}");
        }
    }
}

/// Writes records of one size, or several in turn, that fill the memory several times.
fn records_of_sizes(sizes: &[usize], memory: u64, partitions: u32, kind: CodecKind, times: f64) {
    let name = format!("sizes-{}-{memory}-{partitions}-{kind:?}", sizes[0]);
    let mut draw = Draw(sizes[0] as u64 + memory);
    let mut trial = Trial::new(&name, partitions, kind, ValueForm::Same, memory, None);
    let mut expect: Vec<Vec<(Vec<u8>, usize, u8)>> = vec![Vec::new(); partitions as usize];
    let (mut bytes, mut n) = (0, 0u32);
    while (bytes as f64) < memory as f64 * times {
        let size = sizes[n as usize % sizes.len()];
        let key = format!("{:09}", draw.below(1 << 30)).into_bytes();
        let value = vec![n as u8; size];
        let partition = draw.below(partitions.into()) as u32;
        trial.put(&key, &value, partition);
        expect[partition as usize].push((key, size, n as u8));
        (bytes, n) = (bytes + size, n + 1);
    }
    let (parts, done) = trial.finish();
    assert!(done.spills > 0, "{name} was to spill");
    assert_eq!(parts.len(), expect.len());
    for (found, mut expect) in parts.into_iter().zip(expect) {
        let mut found: Vec<(Vec<u8>, usize, u8)> = found
            .into_iter()
            .map(|(key, value)| {
                assert!(value.iter().all(|b| *b == value[0]), "{name}: a value is damaged");
                (key, value.len(), value[0])
            })
            .collect();
        found.sort();
        expect.sort();
        assert!(found == expect, "{name}");
    }
}

#[test]
fn spills_records_of_every_size_in_any_memory() {
    // From a record that fits in a batch to one of half the memory. Records of 16 KiB and more once filled the budget
    // and left no block: the task failed at its first spill.
    let sizes = [1 << 10, 10_000, 16 << 10, 38_000, 64 << 10, 70_000, 200_000, 500_000, 1_000_000, 2_000_000];
    for (i, &size) in sizes.iter().enumerate() {
        for (memory, partitions) in [(1 << 20, 4), (8 << 20, 1)] {
            let kind = [CodecKind::None, CodecKind::Snappy, CodecKind::Gzip, CodecKind::Lz4][i % 4];
            records_of_sizes(&[size], memory, partitions, kind, if size < 10_000 { 5.0 } else { 14.0 });
        }
    }
    // Sizes on both sides of every limit, in turn.
    for memory in [4 << 20, 5 << 20, 16 << 20] {
        records_of_sizes(&[70_000, 10, 17_000, 3_000_000, 100, 600_000, 64 << 10], memory, 3, CodecKind::Snappy, 5.0);
    }
}

#[test]
fn a_batch_after_large_records_waits_for_the_background_spill() {
    // 64 MiB and more: blocks of 1 MiB, batches of 64 KiB.
    for size in [70_000, 1_000_000] {
        records_of_sizes(&[size, size, size, 100], 100 << 20, 4, CodecKind::None, 3.5);
    }
}

#[test]
fn does_not_spill_a_large_record_that_fits() {
    for (len, spills) in [(2_400_000, 0), (5_000_000, 3)] {
        let mut trial = Trial::new("fits", 1, CodecKind::None, ValueForm::Same, 4 << 20, None);
        trial.put(b"b", b"before", 0);
        trial.put(b"a", &vec![7; len], 0);
        trial.put(b"c", b"after", 0);
        let (parts, done) = trial.finish();
        assert_eq!(
            parts[0].iter().map(|(key, value)| (key[0], value.len())).collect::<Vec<_>>(),
            [(b'a', len), (b'b', 6), (b'c', 5)]
        );
        assert_eq!(done.spills, spills, "{len} bytes");
    }
}

#[test]
fn sums_wrap_as_in_java() {
    for (name, keys, rows, values) in
        [("few", 50, 40_000, ValueForm::IntSum), ("spilled", 300_000, 600_000, ValueForm::LongSum)]
    {
        let mut draw = Draw(3);
        let mut trial = Trial::new(name, 4, CodecKind::None, values, 4 << 20, None);
        let mut expect: BTreeMap<Vec<u8>, i64> = BTreeMap::new();
        for _ in 0..rows {
            let key = format!("key {}", draw.below(keys)).into_bytes();
            let n = draw.below(1 << 31) as i64 - (1 << 30);
            trial.put(&key, &n.to_le_bytes(), 0);
            let sum = expect.entry(key).or_default();
            *sum = sum.wrapping_add(n);
        }
        let (parts, done) = trial.finish();
        assert_eq!(done.spills > 0, name == "spilled");
        for (p, pairs) in parts.iter().enumerate() {
            for (key, value) in pairs {
                assert_eq!((hash_bytes(key) & i32::MAX) as usize % 4, p);
                let sum = expect.remove(key).expect("a key comes once");
                match values {
                    ValueForm::IntSum => assert_eq!(value[..], (sum as i32).to_be_bytes()),
                    _ => assert_eq!(value[..], sum.to_be_bytes()),
                }
            }
        }
        assert!(expect.is_empty(), "{name}: {} keys are lost", expect.len());
    }
}

/// Keeps one record of each key: its values joined, in order.
struct Join;

impl Combine for Join {
    fn combine(&mut self, feed: &mut Feed<'_>) -> yunti_base::Result<()> {
        let mut joined: Pairs = Vec::new();
        loop {
            let mut room = 10;
            let frames = loop {
                match feed.next_batch(room)? {
                    Ok(frames) => break frames.to_vec(),
                    Err(need) => room = need,
                }
            };
            if frames.is_empty() {
                break;
            }
            let mut at = 0;
            while at < frames.len() {
                let n = |at: usize| u32::from_be_bytes(frames[at..at + 4].try_into().unwrap()) as usize;
                let (klen, vlen) = (n(at), n(at + 4));
                // A Text: one byte of length, as keys are short.
                let key = &frames[at + 9..at + 8 + klen];
                let value = &frames[at + 8 + klen..at + 8 + klen + vlen];
                match joined.last_mut().filter(|(last, _)| last == key) {
                    Some((_, all)) => all.extend_from_slice(value),
                    None => joined.push((key.to_vec(), value.to_vec())),
                }
                at += 8 + klen + vlen;
            }
        }
        let mut batch = Vec::new();
        joined.iter().for_each(|(key, value)| record(key, value, &mut batch));
        feed.put(&batch)
    }
}

#[test]
fn a_combiner_gets_every_record_once_per_pass() {
    let mut draw = Draw(11);
    let combiners: [Box<dyn Combine>; 2] = [Box::new(Join), Box::new(Join)];
    let mut trial = Trial::new("combined", 2, CodecKind::Gzip, ValueForm::Same, 4 << 20, Some(combiners));
    let mut expect: BTreeMap<(u32, Vec<u8>), Vec<u8>> = BTreeMap::new();
    for i in 0..400_000u32 {
        let key = format!("{}", draw.below(500)).into_bytes();
        let value = [i as u8];
        let partition = u32::from(key.len() > 2);
        trial.put(&key, &value, partition);
        expect.entry((partition, key)).or_default().push(i as u8);
    }
    let (parts, done) = trial.finish();
    assert!(done.spills >= 3);
    for (p, pairs) in parts.into_iter().enumerate() {
        for (key, mut value) in pairs {
            let mut all = expect.remove(&(p as u32, key)).expect("a key comes once");
            all.sort_unstable();
            value.sort_unstable();
            assert!(value == all);
        }
    }
    assert!(expect.is_empty());
}

/// Fails in the third spill, which runs in the background.
struct FailsLater(u32);

impl Combine for FailsLater {
    fn combine(&mut self, feed: &mut Feed<'_>) -> yunti_base::Result<()> {
        self.0 += 1;
        if self.0 == 3 {
            return Err(Error::new(Code::UserCode, "no more"));
        }
        Join.combine(feed)
    }
}

#[test]
fn reports_a_failed_background_spill() {
    let combiners: [Box<dyn Combine>; 2] = [Box::new(FailsLater(0)), Box::new(Join)];
    let mut trial = Trial::new("fails", 1, CodecKind::None, ValueForm::Same, 4 << 20, Some(combiners));
    let mut batch = Vec::new();
    (0..1000u32).for_each(|i| record(format!("{i}").as_bytes(), b"v", &mut batch));
    let put = |output: &mut MapOutput| {
        output.put(batch.len(), &[0; 1000], |to| {
            to.copy_from_slice(&batch);
            Ok(())
        })
    };
    let error = (0..2000).find_map(|_| put(&mut trial.output).err()).expect("a put after it fails");
    assert_eq!((error.code(), error.what()), (Code::UserCode, "no more"));
    drop(trial.output);
    std::fs::remove_dir_all(&trial.dir).unwrap();
}

type Function = fn(&[u8], &[u8]) -> Option<Ordering>;

fn backwards(a: &[u8], b: &[u8]) -> Option<Ordering> {
    Some(b.cmp(a))
}

/// Puts all keys of one last byte together, which the order of bytes scatters.
fn by_end(a: &[u8], b: &[u8]) -> Option<Ordering> {
    Some(a.iter().rev().cmp(b.iter().rev()))
}

fn by_length(a: &[u8], b: &[u8]) -> Option<Ordering> {
    Some(a.len().cmp(&b.len()))
}

/// Contradicts itself.
fn wrong(a: &[u8], b: &[u8]) -> Option<Ordering> {
    let sum = |key: &[u8]| key.iter().take(16).fold(7u32, |sum, b| sum.wrapping_mul(31).wrapping_add(u32::from(*b)));
    Some((sum(a) ^ sum(b).rotate_left(3)).cmp(&(sum(a).rotate_left(5) ^ 0x5bd1_e995)))
}

fn compared(name: &str, function: Function, memory: u64, rows: u64, keys: u64) {
    let mut draw = Draw(rows ^ keys);
    let user_code = UserCode { comparator: Some(Arc::new(tests::Function(function))), ..UserCode::default() };
    let mut trial = Trial::of(name, 3, CodecKind::Lz4, (KeyForm::Same, ValueForm::Same), memory, user_code);
    let mut expect: Vec<Pairs> = vec![Vec::new(); 3];
    for row in 0..rows {
        let n = draw.below(keys);
        // Key 0 is empty, and a few keys are long.
        let mut key = if n == 0 { Vec::new() } else { n.to_string().into_bytes() };
        if n % 1000 == 7 {
            key.resize(20_000, b'x');
        }
        let value = row.to_be_bytes()[..draw.below(9) as usize].to_vec();
        let partition = (n % 3) as u32;
        trial.put(&key, &value, partition);
        expect[partition as usize].push((key, value));
    }
    let (parts, done) = trial.finish();
    assert_eq!(done.spills > 0, memory < rows * 32, "{name}: {} spills", done.spills);
    for (mut pairs, mut expect) in parts.into_iter().zip(expect) {
        let is_sorted = pairs.is_sorted_by(|a, b| function(&a.0, &b.0).is_some_and(|o| o.is_le()));
        assert!(is_sorted || name.starts_with("wrong"), "{name}");
        pairs.sort();
        expect.sort();
        assert!(pairs == expect, "{name}: records are lost");
    }
}

#[test]
fn sorts_by_a_comparator_in_memory_and_over_spills() {
    let bytes: Function = |a, b| Some(a.cmp(b));
    let orders: [(&str, Function); 5] =
        [("bytes", bytes), ("backwards", backwards), ("end", by_end), ("length", by_length), ("wrong", wrong)];
    for (name, function) in orders {
        compared(&format!("{name}-few"), function, 16 << 20, 3_000, 40);
        compared(&format!("{name}-memory"), function, 16 << 20, 30_000, 20_000);
        compared(&format!("{name}-spills"), function, 4 << 20, 140_000, 60_000);
    }
}

#[test]
fn a_comparator_that_fails_fails_the_output() {
    let user_code = || UserCode { comparator: Some(Arc::new(tests::Function(|_, _| None))), ..UserCode::default() };
    let form = (KeyForm::Same, ValueForm::Same);
    let mut trial = Trial::of("fails-compared", 1, CodecKind::None, form, 4 << 20, user_code());
    for key in [b"a", b"b"] {
        trial.put(key, b"", 0);
    }
    trial.flush();
    let error = trial.output.finish(&trial.dir.join("file.out")).unwrap_err();
    assert_eq!((error.code(), error.what()), (Code::UserCode, "no order"));
    std::fs::remove_dir_all(&trial.dir).unwrap();
}
