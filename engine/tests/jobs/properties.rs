//! Random records of every key type, compared with a stable sort and a simple fold, for any threads, memory and splits.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use yunti_engine::env::random::Random;
use yunti_engine::job::{InputFormat, JobSpec, Mode, OutputFormat, Partitioning};
use yunti_engine::operator::Type;

use crate::support::{Temp, parts_of};

/// Records of a test: enough to spill several times with the least memory.
const RECORDS: usize = 100_000;
const LEAST_BYTES: u64 = 2 << 20;
/// Length of a padded string key, after a byte with its true length.
const STRING_BYTES: usize = 20;

struct Record {
    key: Vec<u8>,
    value: [u8; 8],
}

/// Returns keys that are hard to order: few and many, empty ones, prefixes of each other, edges of the number types.
fn random_key(kind: Type, random: &mut Random) -> Vec<u8> {
    let edges = [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1, 1 << 31, (1 << 31) - 1, u64::from(u32::MAX), 0x80, 0xff00];
    let number = match random.below(4) {
        0 => edges[random.below(edges.len() as u64) as usize],
        1 => random.below(300),
        _ => random.next_u64(),
    };
    match (kind, kind.fixed_bytes()) {
        (Type::F64, _) if random.below(2) == 0 => (number as i64 as f64 / 3.0).to_le_bytes().to_vec(),
        (Type::F32, _) if random.below(2) == 0 => (number as i32 as f32 / 3.0).to_le_bytes().to_vec(),
        (_, Some(n)) => number.to_le_bytes()[..n].to_vec(),
        (_, None) => {
            let few = [b"\0\x01\x7f\x80\xff", b"ab\0\xff\xfe"][random.below(2) as usize];
            (0..random.below(STRING_BYTES as u64)).map(|_| few[random.below(5) as usize]).collect()
        }
    }
}

fn compare(kind: Type, a: &[u8], b: &[u8]) -> Ordering {
    let four = |k: &[u8]| u32::from_le_bytes(k.try_into().unwrap());
    let eight = |k: &[u8]| u64::from_le_bytes(k.try_into().unwrap());
    match kind {
        Type::None | Type::Bytes => a.cmp(b),
        Type::I32 => (four(a) as i32).cmp(&(four(b) as i32)),
        Type::U32 => four(a).cmp(&four(b)),
        Type::F32 => f32::from_bits(four(a)).total_cmp(&f32::from_bits(four(b))),
        Type::I64 => (eight(a) as i64).cmp(&(eight(b) as i64)),
        Type::U64 => eight(a).cmp(&eight(b)),
        Type::F64 => f64::from_bits(eight(a)).total_cmp(&f64::from_bits(eight(b))),
    }
}

/// Returns the part by `hashCode` of Hadoop's Writable of the type, and its HashPartitioner.
fn hadoop_part(kind: Type, key: &[u8], parts: u32) -> usize {
    let hash = match kind.fixed_bytes() {
        None => key.iter().fold(1i32, |h, &b| h.wrapping_mul(31).wrapping_add(i32::from(b as i8))),
        Some(_) => i32::from_le_bytes(key[..4].try_into().unwrap()),
    };
    ((hash & i32::MAX) % parts as i32) as usize
}

fn raw(records: &[&Record]) -> Vec<u8> {
    records.iter().flat_map(|r| [&r.key[..], &r.value].concat()).collect()
}

/// Returns a job that emits these records unchanged, with keys of this type.
fn job(temp: &Temp, kind: Type, records: &[Record]) -> JobSpec {
    let mut bytes = Vec::new();
    for r in records {
        if kind == Type::Bytes {
            bytes.push(r.key.len() as u8);
        }
        bytes.extend_from_slice(&r.key);
        if kind == Type::Bytes {
            bytes.extend(vec![0xee; STRING_BYTES - r.key.len()]);
        }
        bytes.extend_from_slice(&r.value);
    }
    let key_bytes = kind.fixed_bytes().unwrap_or(STRING_BYTES + 1) as u32;
    std::fs::create_dir_all(temp.path("scratch")).unwrap();
    JobSpec {
        inputs: vec![temp.write("in", &bytes)],
        input_format: InputFormat::Fixed { record_bytes: key_bytes + 8, key_bytes },
        mapper: Some(if kind == Type::Bytes { "Test.Strings".into() } else { format!("Test.Pass.{}", kind.name()) }),
        output_format: OutputFormat::Raw,
        scratch_dirs: vec![temp.path("scratch").into()],
        ..JobSpec::default()
    }
}

/// Returns true if the job that wrote this output spilled with several workers.
fn spilled_together(out: &std::path::Path) -> bool {
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("_yunti/report.json")).unwrap()).unwrap();
    report["spill"]["runs"].as_u64() > Some(1) && report["job"]["threads"].as_u64() > Some(1)
}

/// Chooses random threads, memory and splits.
fn vary(spec: &JobSpec, random: &mut Random) -> JobSpec {
    let pick = |from: &[u64], random: &mut Random| from[random.below(from.len() as u64) as usize];
    JobSpec {
        threads: Some(1 + random.below(4) as usize),
        memory_bytes: Some(pick(&[LEAST_BYTES, 4 << 20, 4 << 20, 6 << 20, 64 << 20], random)),
        split_bytes: pick(&[2000, 50_000, 333_333, 1 << 30], random),
        ..spec.clone()
    }
}

fn describe(spec: &JobSpec) -> String {
    format!(
        "{:?} descending: {} {:?} reduces: {} threads: {:?} memory: {:?} split: {}",
        spec.mapper,
        spec.descending,
        spec.partitioning,
        spec.reduces,
        spec.threads,
        spec.memory_bytes,
        spec.split_bytes
    )
}

fn lines_of(bytes: &[u8], record_bytes: usize) -> Vec<&[u8]> {
    let mut all: Vec<&[u8]> = bytes.chunks(record_bytes).collect();
    all.sort();
    all
}

#[test]
fn sorted_is_a_stable_sort() {
    let temp = Temp::new("sorted");
    let mut random = Random::new(20);
    let mut spilled = 0;
    for kind in [Type::Bytes, Type::I64, Type::U64, Type::F64, Type::I32, Type::U32, Type::F32] {
        let records: Vec<Record> = (0..RECORDS)
            .map(|i| Record { key: random_key(kind, &mut random), value: (i as u64).to_le_bytes() })
            .collect();
        let base = job(&temp, kind, &records);
        for descending in [false, true] {
            let mut sorted: Vec<&Record> = records.iter().collect();
            sorted.sort_by(|a, b| {
                let order = compare(kind, &a.key, &b.key);
                if descending { order.reverse() } else { order }
            });
            let whole = raw(&sorted);
            let base = JobSpec { descending, ..base.clone() };
            for _ in 0..3 {
                let spec = vary(&base, &mut random);
                assert!(parts_of(&spec, &temp.path("out")).unwrap().concat() == whole, "{}", describe(&spec));
                spilled += u32::from(spilled_together(&temp.path("out")));
            }
            // Parts by key range concatenate to the sorted records; parts by hash match Hadoop's, each in order.
            let spec =
                vary(&JobSpec { reduces: 3, partitioning: Partitioning::TotalOrder, ..base.clone() }, &mut random);
            let parts = parts_of(&spec, &temp.path("out")).unwrap();
            assert!(parts.len() == 3 && parts.concat() == whole, "{}", describe(&spec));
            let spec = vary(&JobSpec { reduces: 5, ..base.clone() }, &mut random);
            for (p, part) in parts_of(&spec, &temp.path("out")).unwrap().iter().enumerate() {
                let own: Vec<&Record> = sorted.iter().copied().filter(|r| hadoop_part(kind, &r.key, 5) == p).collect();
                assert!(*part == raw(&own), "part {p}, {}", describe(&spec));
            }
        }
        if let Some(n) = kind.fixed_bytes() {
            let spec = vary(&JobSpec { mode: Mode::Grouped, ..base.clone() }, &mut random);
            let grouped = parts_of(&spec, &temp.path("out")).unwrap().concat();
            assert!(lines_of(&grouped, n + 8) == lines_of(&raw(&records.iter().collect::<Vec<_>>()), n + 8));
            // Equal keys are adjacent.
            let keys: Vec<&[u8]> = grouped.chunks(n + 8).map(|r| &r[..n]).collect();
            let stretches = keys.chunk_by(|a, b| a == b).count();
            let distinct: std::collections::BTreeSet<&&[u8]> = keys.iter().collect();
            assert_eq!(stretches, distinct.len(), "{}", describe(&spec));
        } else {
            let class = Partitioning::Class("Test.FirstByte".into());
            let spec = vary(&JobSpec { reduces: 4, partitioning: class, ..base.clone() }, &mut random);
            let mut sorted: Vec<&Record> = records.iter().collect();
            sorted.sort_by(|a, b| a.key.cmp(&b.key));
            for (p, part) in parts_of(&spec, &temp.path("out")).unwrap().iter().enumerate() {
                let first = |r: &Record| r.key.first().map_or(0, |&b| usize::from(b)) % 4;
                let own: Vec<&Record> = sorted.iter().copied().filter(|r| first(r) == p).collect();
                assert!(*part == raw(&own), "part {p}, {}", describe(&spec));
            }
        }
    }
    assert!(spilled >= 3, "only {spilled} jobs spilled with several workers");
    assert_eq!(temp.names(), ["in", "out", "scratch"]);
    assert_eq!(std::fs::read_dir(temp.path("scratch")).unwrap().count(), 0);
}

#[test]
fn fold_equals_a_loop_over_the_sorted_records() {
    let temp = Temp::new("fold");
    let mut random = Random::new(21);
    type Fold = fn(i64, i64) -> i64;
    let folds: [(&str, Fold); 4] = [
        ("Sum", |a, b| a.wrapping_add(b)),
        ("Min", |a, b| a.min(b)),
        ("Max", |a, b| a.max(b)),
        ("Count", |a, _| a + 1),
    ];
    for distinct in [3, 25_000] {
        let records: Vec<Record> = (0..RECORDS)
            .map(|_| Record {
                key: random.below(distinct).to_be_bytes().to_vec(),
                value: random.next_u64().to_le_bytes(),
            })
            .collect();
        for (name, fold) in folds {
            let mut expect: BTreeMap<&[u8], i64> = BTreeMap::new();
            for r in &records {
                let value = i64::from_le_bytes(r.value);
                let first = if name == "Count" { 1 } else { value };
                expect.entry(&r.key).and_modify(|s| *s = fold(*s, value)).or_insert(first);
            }
            let expect: Vec<u8> = expect.iter().flat_map(|(k, s)| [*k, &s.to_le_bytes()].concat()).collect();
            let base = JobSpec { mapper: Some("Test.Longs".into()), ..job(&temp, Type::I64, &records) };
            let folder = JobSpec { folder: Some(format!("Yunti.{name}Folder")), ..base.clone() };
            let reducer = Some(format!("Yunti.{name}Reducer"));
            let reduce = JobSpec { reducer: reducer.clone(), ..base.clone() };
            let combine = JobSpec { combiner: reducer, reducer: Some("Yunti.IdentityReducer".into()), ..base.clone() };
            let mut ways = vec![folder.clone(), JobSpec { mode: Mode::Grouped, ..folder }];
            if name != "Count" {
                ways.push(reduce);
            }
            for base in ways {
                let spec = vary(&base, &mut random);
                let got = parts_of(&spec, &temp.path("out")).unwrap().concat();
                let same = if spec.mode == Mode::Grouped {
                    lines_of(&got, 16) == lines_of(&expect, 16)
                } else {
                    got == expect
                };
                assert!(same, "{name} of {distinct} keys, {:?}, {}", spec.mode, describe(&spec));
            }
            if name == "Sum" {
                // A combiner may leave several records of a key. Their sum is right.
                let spec = vary(&combine, &mut random);
                let got = parts_of(&spec, &temp.path("out")).unwrap().concat();
                let mut sums: BTreeMap<&[u8], i64> = BTreeMap::new();
                for r in got.chunks(16) {
                    let value = i64::from_le_bytes(r[8..].try_into().unwrap());
                    sums.entry(&r[..8]).and_modify(|s| *s = s.wrapping_add(value)).or_insert(value);
                }
                let got: Vec<u8> = sums.iter().flat_map(|(k, s)| [*k, &s.to_le_bytes()].concat()).collect();
                assert!(got == expect, "combined, {}", describe(&spec));
            }
        }
    }
}

/// Number keys print as numbers, for any fold of their values.
#[test]
fn built_in_folds_keep_the_type_of_keys() {
    let temp = Temp::new("types");
    let records: Vec<Record> = [(-5i64, 2i64), (300, 7), (-5, 3)]
        .iter()
        .map(|(k, v)| Record { key: k.to_le_bytes().to_vec(), value: v.to_le_bytes() })
        .collect();
    let base = JobSpec { mapper: Some("Test.Numbers".into()), ..job(&temp, Type::I64, &records) };
    let base = JobSpec { output_format: OutputFormat::Text { separator: b"\t".to_vec() }, ..base };
    for spec in [
        JobSpec { folder: Some("Yunti.SumFolder".into()), ..base.clone() },
        JobSpec { folder: Some("Yunti.SumFolder".into()), mode: Mode::Grouped, deterministic: true, ..base.clone() },
        JobSpec { reducer: Some("Yunti.SumReducer".into()), ..base.clone() },
    ] {
        assert_eq!(parts_of(&spec, &temp.path("out")).unwrap().concat(), b"-5\t5\n300\t7\n", "{spec:?}");
    }
}

/// The last bits of a sum of doubles depend on the order of the additions, which is always the input's order.
#[test]
fn inexact_sums_have_the_same_bytes() {
    let temp = Temp::new("double");
    let mut random = Random::new(22);
    let records: Vec<Record> = (0..RECORDS)
        .map(|_| {
            let value = (random.next_u64() as i64 as f64) * 10f64.powi(random.below(30) as i32 - 15);
            Record { key: random.below(400).to_be_bytes().to_vec(), value: value.to_le_bytes() }
        })
        .collect();
    let mut sums: BTreeMap<&[u8], f64> = BTreeMap::new();
    for r in &records {
        let value = f64::from_le_bytes(r.value);
        sums.entry(&r.key).and_modify(|s| *s += value).or_insert(value);
    }
    let expect: Vec<u8> = sums.iter().flat_map(|(k, s)| [*k, &s.to_le_bytes()].concat()).collect();
    let base = JobSpec { mapper: Some("Test.Doubles".into()), ..job(&temp, Type::I64, &records) };
    for _ in 0..6 {
        for base in [
            JobSpec { folder: Some("Yunti.SumDoubleFolder".into()), ..base.clone() },
            JobSpec { reducer: Some("Yunti.SumDoubleReducer".into()), ..base.clone() },
        ] {
            let spec = vary(&base, &mut random);
            assert!(parts_of(&spec, &temp.path("out")).unwrap().concat() == expect, "{}", describe(&spec));
        }
    }
}
