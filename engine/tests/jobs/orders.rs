//! Keys in the order of a class: whole jobs compared with a stable sort by the same forms.

use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::bytes::ordered_bytes::OrderedBytes;
use yunti_engine::env::Env;
use yunti_engine::job::spec::{InputFormat, Mode, Partitioning};
use yunti_engine::job::{Control, JobSpec, OutputTarget, run};
use yunti_engine::library::builtin_classes;
use yunti_engine::operator::{
    Batch, Class, ClassInfo, ClassSource, Flags, Groups, KeyOrderer, Kind, Out, Reducer, TaskContext,
};

use crate::classes::test_classes;
use crate::support::{Temp, noise, read_parts};

/// Returns the form of a record, and the length of its group prefix.
type Form = fn(&[u8], &[u8]) -> (Vec<u8>, Option<usize>);

struct Order {
    info: ClassInfo,
    form: Form,
}

struct TestKeyOrderer(Form);

impl KeyOrderer for TestKeyOrderer {
    fn order_keys(&mut self, batch: &Batch<'_>, out: &mut Out, group: &mut [u32]) -> Result<()> {
        for (i, group) in group.iter_mut().enumerate() {
            let (key, value) = batch.record(i);
            let (form, bytes) = (self.0)(key, value);
            if let Some(bytes) = bytes {
                *group = bytes as u32;
            }
            out.emit(&form, &[])?;
        }
        Ok(())
    }
}

impl Class for Order {
    fn info(&self) -> &ClassInfo {
        &self.info
    }
    fn key_orderer(&self, _: &Arc<TaskContext>) -> Result<Box<dyn KeyOrderer>> {
        Ok(Box::new(TestKeyOrderer(self.form)))
    }
}

/// `T.Show` (reducer): emits a group as one record with its key, and each value after its own key.
struct Show(ClassInfo);

#[derive(Default)]
struct ShowReducer(Vec<u8>);

impl Class for Show {
    fn info(&self) -> &ClassInfo {
        &self.0
    }
    fn reducer(&self, _: &Arc<TaskContext>) -> Result<Box<dyn Reducer>> {
        Ok(Box::new(ShowReducer::default()))
    }
}

impl Reducer for ShowReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in 0..groups.len() {
            for v in groups.range(i) {
                let key = groups.value_key(v).ok_or_else(|| Error::new(Code::Internal, "a value without its key"))?;
                self.0.extend_from_slice(&[b"(", key, b" ", groups.value(v), b")"].concat());
            }
            if groups.completes(i) {
                out.emit(groups.key(i), &std::mem::take(&mut self.0))?;
            }
        }
        Ok(())
    }
}

fn info(name: &str, kind: Kind, groups: bool) -> ClassInfo {
    ClassInfo { flags: Flags { groups, ..Flags::default() }, ..ClassInfo::of_bytes(name, kind) }
}

fn without_case(key: &[u8], _: &[u8]) -> (Vec<u8>, Option<usize>) {
    (key.to_ascii_lowercase(), None)
}

/// Orders by key, then by value, last first: a secondary sort.
fn by_value(key: &[u8], value: &[u8]) -> (Vec<u8>, Option<usize>) {
    let mut form = Vec::new();
    OrderedBytes(&mut form).text(key, false);
    let group = form.len();
    OrderedBytes(&mut form).text(value, true);
    (form, Some(group))
}

/// Orders by the reversed key; the group is the last byte.
fn backwards(key: &[u8], _: &[u8]) -> (Vec<u8>, Option<usize>) {
    (key.iter().rev().copied().collect(), Some(key.len().min(1)))
}

fn two_forms(_: &[u8], _: &[u8]) -> (Vec<u8>, Option<usize>) {
    (b"ab".to_vec(), Some(3))
}

fn orders() -> [(&'static str, bool, Form); 5] {
    [
        ("T.WithoutCase", false, without_case as Form),
        ("T.ByValue", true, by_value),
        ("T.Backwards", true, backwards),
        ("T.TooLong", true, two_forms),
        ("T.Undeclared", false, by_value),
    ]
}

fn sources() -> [Arc<dyn ClassSource>; 3] {
    let mut classes: Vec<Arc<dyn Class>> = vec![Arc::new(Show(info("T.Show", Kind::Reducer, false)))];
    for (name, groups, form) in orders() {
        classes.push(Arc::new(Order { info: info(name, Kind::KeyOrder, groups), form }));
    }
    [builtin_classes(), test_classes(), Arc::new(classes)]
}

fn parts_of(spec: &JobSpec, temp: &Temp) -> Result<Vec<Vec<u8>>> {
    let out = temp.path("out");
    let spec = JobSpec { output: OutputTarget::Directory(out.clone()), overwrite: true, ..spec.clone() };
    run(&spec, &Env::real(), &sources(), &Control::new())?;
    Ok(read_parts(&out))
}

/// Returns lines of key TAB value: few keys in both cases, some of them long, and one very common key.
fn pairs(n: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    let noise = noise(7, 4 * n);
    let mut all = Vec::new();
    for (i, bytes) in noise.chunks_exact(4).enumerate() {
        let mut key = match bytes[0] % 8 {
            0 => b"common".to_vec(),
            1 => b"Common".to_vec(),
            2 if i % 97 == 0 => [b"x".repeat(3000), vec![b'a' + bytes[1] % 3]].concat(),
            3 => Vec::new(),
            _ => format!("{}k{}", (b'a' + bytes[1] % 26) as char, bytes[2] % 4).into_bytes(),
        };
        if bytes[3] % 3 == 0 {
            key.make_ascii_uppercase();
        }
        all.push((key, format!("v{}", i % 50).into_bytes()));
    }
    all.push((b"huge".to_vec(), b"y".repeat(200_000)));
    all.push((b"z".repeat(100_000), b"long key".to_vec()));
    all
}

fn lines(pairs: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    pairs.iter().flat_map(|(k, v)| [&k[..], b"\t", v, b"\n"].concat()).collect()
}

#[test]
fn records_groups_and_partitions_follow_the_forms() {
    let temp = Temp::new("orders");
    let pairs = pairs(3000);
    let input = temp.write("in", &lines(&pairs));
    for (order, _, form) in &orders()[..3] {
        let mut sorted: Vec<_> = pairs.iter().map(|(k, v)| (form(k, v), k, v)).collect();
        sorted.sort_by(|a, b| a.0.0.cmp(&b.0.0));
        let records: Vec<u8> = sorted.iter().flat_map(|(_, k, v)| [&k[..], b"\t", v, b"\n"].concat()).collect();
        let mut groups: Vec<(&[u8], Vec<u8>)> = Vec::new();
        for ((form, group), key, value) in &sorted {
            let group = &form[..group.unwrap_or(form.len())];
            let shown = [b"(", &key[..], b" ", value, b")"].concat();
            match groups.last_mut() {
                Some(last) if last.0 == group => last.1.extend_from_slice(&shown),
                _ => groups.push((group, [&key[..], b"\t", &shown].concat())),
            }
        }
        let shown: Vec<u8> = groups.iter().flat_map(|(_, line)| [line, &b"\n"[..]].concat()).collect();
        for (memory, threads, split) in
            [(64 << 20, 1, 1 << 20), (64 << 20, 3, 4096), (3 << 20, 1, 4096), (6 << 20, 2, 777)]
        {
            for (reduces, partitioning) in
                [(1, Partitioning::Hash), (4, Partitioning::TotalOrder), (3, Partitioning::Hash)]
            {
                for reducer in [None, Some("T.Show".to_string())] {
                    let spec = JobSpec {
                        inputs: vec![input.clone()],
                        input_format: InputFormat::KeyValue { separator: b'\t' },
                        key_order: Some(order.to_string()),
                        reduces,
                        partitioning: partitioning.clone(),
                        memory_bytes: Some(memory),
                        threads: Some(threads),
                        split_bytes: split,
                        reducer: reducer.clone(),
                        ..JobSpec::default()
                    };
                    let what = format!("{order} {memory} {threads} {split} {reduces} {partitioning:?} {reducer:?}");
                    let parts = parts_of(&spec, &temp).expect(&what);
                    let expect = if reducer.is_some() { &shown } else { &records };
                    if partitioning == Partitioning::TotalOrder || reduces == 1 {
                        assert!(parts.concat() == *expect, "{what}");
                        assert!(reduces == 1 || parts.iter().filter(|p| !p.is_empty()).count() > 1, "{what}");
                    } else {
                        // Groups are whole and in order within a part: the lines of each are in one part.
                        let mut all: Vec<&[u8]> =
                            parts.iter().flat_map(|p| p.split_inclusive(|&b| b == b'\n')).collect();
                        let mut wanted: Vec<&[u8]> = expect.split_inclusive(|&b| b == b'\n').collect();
                        for part in &parts {
                            let mut rest = wanted.iter();
                            let in_order = part.split_inclusive(|&b| b == b'\n').all(|line| rest.any(|w| *w == line));
                            assert!(in_order, "{what}");
                        }
                        all.sort_unstable();
                        wanted.sort_unstable();
                        assert!(all == wanted, "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn combiners_and_folders_use_the_groups_of_the_order() {
    let temp = Temp::new("orders-folds");
    let text: String = (0..5000).map(|i| format!("{} {} ", ["The", "the", "THE", "a"][i % 4], i % 10)).collect();
    let input = temp.write("in", text.as_bytes());
    for (mode, memory) in
        [(Mode::Sorted, 64 << 20), (Mode::Grouped, 64 << 20), (Mode::Sorted, 3 << 20), (Mode::Grouped, 3 << 20)]
    {
        for class in [("Yunti.SumFolder", true), ("Yunti.SumReducer", false)] {
            let spec = JobSpec {
                inputs: vec![input.clone()],
                mapper: Some("Yunti.WordCountMapper".into()),
                folder: class.1.then(|| class.0.into()),
                combiner: (!class.1).then(|| class.0.into()),
                reducer: (!class.1).then(|| class.0.into()),
                key_order: Some("T.WithoutCase".into()),
                mode,
                memory_bytes: Some(memory),
                threads: Some(2),
                ..JobSpec::default()
            };
            let parts = parts_of(&spec, &temp).unwrap();
            let text = String::from_utf8(parts.concat()).unwrap();
            let the: Vec<&str> = text.lines().filter(|l| l.to_ascii_lowercase().starts_with("the\t")).collect();
            assert_eq!(the.len(), 1, "{mode:?} {class:?} {text}");
            assert!(the[0].ends_with("\t3750"), "{the:?}");
            assert!(text.lines().any(|l| l == "a\t1250") && text.lines().any(|l| l == "7\t500"), "{text}");
        }
    }
}

#[test]
fn grouped_mode_gives_the_same_groups_as_sorted() {
    let temp = Temp::new("orders-none");
    let input = temp.write("in", &lines(&pairs(3000)));
    let lines_of =
        |mode: Mode, memory: u64, threads: usize, reduces: u32, mapper: Option<&str>, reducer: Option<&str>| {
            let spec = JobSpec {
                inputs: vec![input.clone()],
                input_format: InputFormat::KeyValue { separator: b'\t' },
                mode,
                mapper: mapper.map(Into::into),
                reducer: reducer.map(Into::into),
                memory_bytes: Some(memory),
                threads: Some(threads),
                reduces,
                ..JobSpec::default()
            };
            let parts = parts_of(&spec, &temp).unwrap();
            // Each part has the same records in either mode.
            let sorted = parts.iter().map(|part| {
                let mut lines: Vec<Vec<u8>> = part.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
                let were = lines.clone();
                lines.sort();
                (were != lines, lines)
            });
            let (moved, parts): (Vec<bool>, Vec<_>) = sorted.unzip();
            (moved.contains(&true), parts)
        };
    let longest = Some("Yunti.WordLengthMapper");
    for (mapper, reducer) in [
        (None, None),
        (None, Some("Yunti.DistinctValuesReducer")),
        (None, Some("Yunti.DistinctReducer")),
        (longest, Some("Yunti.IdentityReducer")),
    ] {
        for (memory, threads, reduces) in [(64 << 20, 1, 1), (64 << 20, 3, 4), (3 << 20, 1, 3), (6 << 20, 2, 1)] {
            let (_, sorted) = lines_of(Mode::Sorted, memory, threads, reduces, mapper, reducer);
            let (moved, grouped) = lines_of(Mode::Grouped, memory, threads, reduces, mapper, reducer);
            assert!(grouped == sorted, "{mapper:?} {reducer:?} {memory} {threads} {reduces}");
            assert!(moved || mapper.is_some(), "sorted after all: {reducer:?}");
        }
    }
}

#[test]
fn field_order_matches_sort() {
    let temp = Temp::new("orders-fields");
    let input = temp.write("in", b"b\t10\tx\na\t9\ty\nb\t-1\tz\na\t10\tw\nc\n\t9.5\t\na\t9\tv\n");
    let sorted = |fields: &str, group: &str, reducer: Option<&str>| {
        let spec = JobSpec {
            inputs: vec![input.clone()],
            key_order: Some("Yunti.FieldOrder".into()),
            reducer: reducer.map(Into::into),
            settings: [("order.fields".into(), fields.into()), ("order.group".into(), group.into())].into(),
            ..JobSpec::default()
        };
        parts_of(&spec, &temp).map(|parts| String::from_utf8(parts.concat()).unwrap())
    };
    assert_eq!(sorted("2nr,1", "2", None).unwrap(), "a\t10\tw\nb\t10\tx\n\t9.5\t\na\t9\ty\na\t9\tv\nc\nb\t-1\tz\n");
    // The first record of each group.
    assert_eq!(sorted("1r,2n", "1", Some("Yunti.DistinctReducer")).unwrap(), "c\nb\t-1\tz\na\t9\ty\n\t9.5\t\n");
    for (fields, group, error) in [
        ("", "1", "order.fields has the field ''"),
        ("2x", "1", "order.fields has the field '2x'"),
        ("0", "1", "order.fields has the field '0'"),
        ("1,2", "3", "order.group is 3"),
        ("1,2", "0", "order.group is 0"),
    ] {
        let text = sorted(fields, group, None).unwrap_err().to_string();
        assert!(text.contains(error), "{text}");
    }
}

#[test]
fn class_that_breaks_its_contract_is_named() {
    let temp = Temp::new("orders-wrong");
    let input = temp.write("in", b"a\tb\n");
    let spec = |order: &str| JobSpec {
        inputs: vec![input.clone()],
        input_format: InputFormat::KeyValue { separator: b'\t' },
        key_order: Some(order.into()),
        ..JobSpec::default()
    };
    let wrong = [
        (spec("T.TooLong"), "T.TooLong set a group of 3 bytes in an ordered key of 2"),
        (spec("T.Undeclared"), "does not declare groups"),
        (spec("T.Show"), "the class T.Show is a reducer, not a key order"),
        (JobSpec { descending: true, ..spec("T.ByValue") }, "--key-order excludes --key-type and --descending"),
        (JobSpec { mode: Mode::None, ..spec("T.ByValue") }, "mode none has no order"),
        (
            JobSpec { mapper: Some("Yunti.WordLengthMapper".into()), ..spec("T.ByValue") },
            "T.ByValue orders keys of type bytes",
        ),
    ];
    for (spec, expect) in wrong {
        let text = parts_of(&spec, &temp).unwrap_err().to_string();
        assert!(text.contains(expect), "{text}");
    }
}
