//! Random tables: every row is found with its values, other keys are not, and damage is an error.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use yunti_table::builder::{Duplicates, Gather, Settings, write};
use yunti_table::format::row::{Layout, write_list};
use yunti_table::format::{Column, Kind, Schema};
use yunti_table::index::{keys, order};
use yunti_table::read::{Head, Limits, Row, Table};

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

const KINDS: [Kind; 16] = [
    Kind::Bool,
    Kind::I8,
    Kind::I16,
    Kind::I32,
    Kind::I64,
    Kind::U8,
    Kind::U16,
    Kind::U32,
    Kind::U64,
    Kind::F32,
    Kind::F64,
    Kind::Utf8,
    Kind::Bytes,
    Kind::Dict,
    Kind::Record,
    Kind::List,
];

type Values = Vec<Option<Vec<u8>>>;

fn column(random: &mut Random, name: &str, depth: usize, is_key: bool) -> Column {
    let kind = loop {
        let kind = KINDS[random.below(16) as usize];
        let is_too_deep = depth > 0 && (kind == Kind::Dict || depth > 2 && matches!(kind, Kind::Record | Kind::List));
        if !is_too_deep && (!is_key || kind.can_be_key()) {
            break kind;
        }
    };
    let inner = match kind {
        Kind::Record => {
            (0..1 + random.below(4)).map(|at| column(random, &format!("f{at}"), depth + 1, false)).collect()
        }
        Kind::List => vec![column(random, "", depth + 1, false)],
        _ => Vec::new(),
    };
    Column::new(name, kind, !is_key && random.below(2) == 0).with(inner)
}

fn schema(random: &mut Random) -> Schema {
    let count = 1 + random.below(6) as usize;
    let keys = 1 + random.below(count.min(3) as u64) as usize;
    let columns = (0..count).map(|at| column(random, &format!("c{at}"), 0, at < keys)).collect();
    Schema::new(columns, (0..keys).collect()).unwrap()
}

fn optional(random: &mut Random, column: &Column) -> Option<Vec<u8>> {
    (!column.is_nullable || random.below(3) > 0).then(|| value(random, column))
}

fn value(random: &mut Random, column: &Column) -> Vec<u8> {
    let mut out = Vec::new();
    match column.kind {
        Kind::Bool => out.push(random.below(2) as u8),
        Kind::Record => {
            let values: Values = column.inner.iter().map(|field| optional(random, field)).collect();
            Layout::of(&column.inner).write(&values.iter().map(Option::as_deref).collect::<Vec<_>>(), &mut out);
        }
        Kind::List => {
            let count = [0, 1, 3, 20][random.below(4) as usize];
            let values: Values = (0..count).map(|_| optional(random, &column.inner[0])).collect();
            write_list(&column.inner[0], &values.iter().map(Option::as_deref).collect::<Vec<_>>(), &mut out);
        }
        Kind::Utf8 | Kind::Bytes | Kind::Dict => {
            let most = [3, 20, 300][random.below(3) as usize];
            out.extend((0..random.below(most)).map(|_| b'a' + random.below(26) as u8));
        }
        kind => out.extend_from_slice(&random.next().to_le_bytes()[..kind.width().unwrap_or(0)]),
    }
    out
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("yunti-table-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Rows of a table by the bytes of their keys.
type Expected = BTreeMap<Vec<u8>, Vec<Values>>;

/// Builds a table of random rows and returns what it should have.
fn build(random: &mut Random, path: &Path) -> (Schema, Settings, Expected) {
    let schema = schema(random);
    let count = [0, 1, 2, 10, 300, 5000][random.below(6) as usize];
    let settings = Settings {
        duplicates: [Duplicates::KeepFirst, Duplicates::KeepLast, Duplicates::List][random.below(3) as usize],
        is_sorted: random.below(2) == 0,
        // So small that rows are in the file of partitions, in a half of the tables.
        budget_bytes: [0, 1 << 30][random.below(2) as usize],
        threads: 1 + random.below(3) as usize,
        shard: (0, 0),
    };
    let gather = Gather::new(schema.clone(), path, &settings);
    let mut expected = Expected::new();
    let mut feeder = gather.feeder();
    let mut before: Option<Values> = None;
    for number in 0..count {
        let mut values: Values = schema.columns.iter().map(|column| optional(random, column)).collect();
        if let Some(before) = before.filter(|_| random.below(5) == 0) {
            values[..schema.keys.len()].clone_from_slice(&before[..schema.keys.len()]);
        }
        feeder.add(&values.iter().map(Option::as_deref).collect::<Vec<_>>(), number).unwrap();
        let mut key = Vec::new();
        keys::encode(&schema, schema.keys.iter().map(|at| values[*at].as_deref().unwrap()), &mut key);
        let rows = expected.entry(key).or_default();
        match settings.duplicates {
            Duplicates::KeepFirst if !rows.is_empty() => {}
            Duplicates::KeepLast => *rows = vec![values.clone()],
            _ => rows.push(values.clone()),
        }
        before = Some(values);
    }
    feeder.finish().unwrap();
    let built = write(path, gather, &settings).unwrap();
    let rows: usize = expected.values().map(Vec::len).sum();
    assert_eq!((built.keys, built.rows), (expected.len() as u64, rows as u64));
    assert_eq!(built.bytes, fs::metadata(path).unwrap().len());
    (schema, settings, expected)
}

fn try_values(row: &Row<'_>) -> yunti_base::Result<Values> {
    let count = row.table().schema().columns.len();
    (0..count).map(|column| Ok(row.value(column)?.map(<[u8]>::to_vec))).collect()
}

fn values(row: &Row<'_>) -> Values {
    try_values(row).unwrap()
}

fn all(rows: impl Iterator<Item = yunti_base::Result<Row<'static>>>) -> Vec<Values> {
    rows.map(|row| values(&row.unwrap())).collect()
}

#[test]
fn every_row_is_found_and_nothing_else() {
    let folder = Folder::new("random");
    let path = folder.0.join("a.ytab");
    for seed in 0..200 {
        let mut random = Random(seed);
        let (schema, settings, expected) = build(&mut random, &path);
        // A test may leak: a row then needs no lifetime.
        let table: &'static Table = Box::leak(Box::new(Table::open(&path).unwrap()));
        assert_eq!((table.len(), table.schema()), (expected.len() as u64, &schema), "seed {seed}");
        table.verify().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        for (key, expected) in &expected {
            assert_eq!(&all(table.get_all(key).unwrap()), expected, "seed {seed}");
            assert_eq!(values(&table.get(key).unwrap().unwrap()), expected[0], "seed {seed}");
        }
        let asked: Vec<Vec<u8>> = (0..1000)
            .map(|_| (0..random.below(20)).map(|_| random.next() as u8).collect())
            .chain(expected.keys().cloned())
            .collect();
        let mut count = 0;
        table
            .get_batch(&asked, |at, row| {
                count += 1;
                let expected = expected.get(&asked[at]).map(|rows| rows[0].clone());
                assert_eq!(row.map(|row| values(&row)), expected, "seed {seed}: {:?}", asked[at]);
            })
            .unwrap();
        assert_eq!(count, asked.len());
        table
            .get_all_batch(&asked, |at, rows| {
                assert_eq!(all(rows), expected.get(&asked[at]).cloned().unwrap_or_default(), "seed {seed}");
            })
            .unwrap();
        asked.iter().for_each(|key| assert_eq!(table.get(key).unwrap().is_some(), expected.contains_key(key)));
        let mut rows = all(table.rows());
        let mut wanted: Vec<Values> = expected.into_values().flatten().collect();
        if settings.is_sorted {
            let key = |row: &'_ Values| schema.keys.iter().map(|at| row[*at].clone().unwrap()).collect::<Vec<_>>();
            let by_key = |one: &Values, other: &Values| {
                let (one, other) = (key(one), key(other));
                order::compare(&schema, one.iter().map(Vec::as_slice), other.iter().map(Vec::as_slice))
            };
            wanted.sort_by(by_key);
            assert_eq!(all(table.range(Limits::default()).unwrap()), wanted, "seed {seed}");
            check_ranges(&mut random, table, &wanted, key, by_key);
        }
        rows.sort();
        wanted.sort();
        assert_eq!(rows, wanted, "seed {seed}");
    }
}

fn check_ranges(
    random: &mut Random,
    table: &'static Table,
    rows: &[Values],
    key: impl Fn(&Values) -> Vec<Vec<u8>>,
    by_key: impl Fn(&Values, &Values) -> std::cmp::Ordering,
) {
    for _ in 0..if rows.is_empty() { 0 } else { 20 } {
        let (one, other) =
            (&rows[random.below(rows.len() as u64) as usize], &rows[random.below(rows.len() as u64) as usize]);
        let columns = 1 + random.below(key(one).len() as u64) as usize;
        let (from, to) = (key(one), key(other));
        let limits = Limits { from: Some(&from), to: Some(&to), is_prefix: false };
        let within = |row: &&Values| by_key(row, one).is_ge() && by_key(row, other).is_le();
        assert_eq!(all(table.range(limits).unwrap()), rows.iter().filter(within).cloned().collect::<Vec<_>>());
        // The first columns alone stand for all keys with them.
        let begin = &from[..columns];
        let limits = Limits { from: Some(begin), to: Some(begin), is_prefix: false };
        let within = |row: &&Values| key(row)[..columns] == *begin;
        assert_eq!(all(table.range(limits).unwrap()), rows.iter().filter(within).cloned().collect::<Vec<_>>());
        if table.schema().columns[table.schema().keys[columns - 1]].kind.width().is_none() {
            let mut begin = begin.to_vec();
            let last = begin.last_mut().unwrap();
            last.truncate(random.below(4) as usize);
            let limits = Limits { from: Some(&begin), to: None, is_prefix: true };
            let within = |row: &&Values| {
                let key = key(row);
                key[..columns - 1] == begin[..columns - 1] && key[columns - 1].starts_with(&begin[columns - 1])
            };
            assert_eq!(all(table.range(limits).unwrap()), rows.iter().filter(within).cloned().collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_head_is_that_of_the_open_table() {
    let folder = Folder::new("head");
    let path = folder.0.join("a.ytab");
    let head = |bytes: &[u8]| {
        Head::read(bytes.len() as u64, &mut |part, at| {
            part.copy_from_slice(&bytes[at as usize..at as usize + part.len()]);
            Ok(())
        })
    };
    let mut refused = 0;
    for seed in 0..40 {
        let mut random = Random(seed);
        let (schema, ..) = build(&mut random, &path);
        let bytes = fs::read(&path).unwrap();
        let (own, table) = (head(&bytes).unwrap(), Table::open(&path).unwrap());
        assert_eq!((own.header, &own.schema), (*table.header(), &schema));
        let has_dictionary = schema.columns.iter().any(|column| column.kind == Kind::Dict);
        for number in 0..12 {
            let mut damaged = bytes.clone();
            match number {
                0 => damaged.truncate(random.below(bytes.len() as u64) as usize),
                1..8 => damaged[random.below(220) as usize] ^= 1 << random.below(8),
                _ => damaged[random.below(bytes.len() as u64) as usize] ^= 1 << random.below(8),
            }
            let other = folder.0.join("b.ytab");
            fs::write(&other, &damaged).unwrap();
            match (head(&damaged), Table::open(&other)) {
                (Ok(_), Ok(_)) => {}
                (Err(own), Err(opened)) => {
                    assert_eq!(own.code(), opened.code(), "seed {seed}");
                    refused += 1;
                }
                // Dictionaries belong to no head.
                (own, opened) => assert!(own.is_ok() && opened.is_err() && has_dictionary, "seed {seed}"),
            }
        }
    }
    assert!(refused > 240, "{refused}");
}

#[test]
fn damage_is_an_error_and_never_a_wrong_value() {
    let folder = Folder::new("damage");
    let path = folder.0.join("a.ytab");
    let mut errors = 0;
    for seed in 0..80 {
        let mut random = Random(seed);
        let (_, _, expected) = build(&mut random, &path);
        let bytes = fs::read(&path).unwrap();
        for _ in 0..20 {
            let mut damaged = bytes.clone();
            if random.below(3) == 0 {
                damaged.truncate(random.below(bytes.len() as u64) as usize);
            } else {
                let at = random.below(bytes.len() as u64) as usize;
                damaged[at] ^= 1 << random.below(8);
            }
            let other = folder.0.join("b.ytab");
            fs::write(&other, &damaged).unwrap();
            let Ok(table) = Table::open(&other) else { continue };
            for (key, expected) in expected.iter().take(200) {
                match table.get(key).and_then(|row| row.map(|row| try_values(&row)).transpose()) {
                    Ok(row) => assert_eq!(row.as_ref(), Some(&expected[0]), "seed {seed}"),
                    Err(_) => errors += 1,
                }
            }
            let rows =
                |rows: &mut dyn Iterator<Item = yunti_base::Result<Row<'_>>>| -> yunti_base::Result<Vec<Values>> {
                    rows.map(|row| try_values(&row?)).collect()
                };
            if let Ok(mut found) = rows(&mut table.rows()) {
                found.sort();
                let mut wanted: Vec<Values> = expected.values().flatten().cloned().collect();
                wanted.sort();
                assert_eq!(found, wanted, "seed {seed}");
            }
            if let Ok(Ok(found)) = table.range(Limits::default()).map(|mut range| rows(&mut range)) {
                assert_eq!(found.len(), expected.values().map(Vec::len).sum::<usize>(), "seed {seed}");
            }
            assert!(table.verify().is_err(), "seed {seed}: damage was not found");
        }
    }
    assert!(errors > 1000, "{errors}");
}

/// Writes right checksums over changed bytes, as someone who wants a reader to fail would.
fn summed(bytes: &mut [u8]) {
    let sums = u64::from_le_bytes(bytes[64 + 16 * 8..64 + 16 * 8 + 8].try_into().unwrap()) as usize;
    let header = crc32c::crc32c(&bytes[..4092]);
    bytes[4092..4096].copy_from_slice(&header.to_le_bytes());
    if sums > bytes.len() {
        return;
    }
    let all: Vec<u8> = bytes[..sums].chunks(65_536).flat_map(|block| crc32c::crc32c(block).to_le_bytes()).collect();
    let end = (sums + all.len()).min(bytes.len());
    bytes[sums..end].copy_from_slice(&all[..end - sums]);
}

#[test]
fn hostile_tables_never_panic() {
    let folder = Folder::new("hostile");
    let path = folder.0.join("a.ytab");
    for seed in 0..80 {
        let mut random = Random(seed);
        let (_, _, expected) = build(&mut random, &path);
        let bytes = fs::read(&path).unwrap();
        for _ in 0..30 {
            let mut hostile = bytes.clone();
            for _ in 0..1 + random.below(4) {
                let most = if random.below(2) == 0 { 220 } else { bytes.len() as u64 };
                let at = random.below(most) as usize;
                hostile[at] = [0, 1, 0xff, random.next() as u8][random.below(4) as usize];
            }
            summed(&mut hostile);
            let other = folder.0.join("b.ytab");
            fs::write(&other, &hostile).unwrap();
            let Ok(table) = Table::open(&other) else { continue };
            let keys: Vec<&Vec<u8>> = expected.keys().take(50).collect();
            for key in &keys {
                if let Ok(rows) = table.get_all(key) {
                    rows.for_each(|row| drop(row.and_then(|row| row.object())));
                }
            }
            let _ = table.get_batch(&keys, |_, row| drop(row.map(|row| row.object())));
            table.rows().take(100).for_each(|row| drop(row.and_then(|row| row.object())));
            if let Ok(rows) = table.range(Limits::default()) {
                rows.take(100).for_each(|row| drop(row.and_then(|row| row.object())));
            }
            let _ = table.verify();
        }
    }
}

#[test]
fn a_failed_build_leaves_the_old_table() {
    let folder = Folder::new("failed");
    let path = folder.0.join("a.ytab");
    let build = |numbers: &[i64], duplicates: Duplicates| {
        let schema = Schema::new(vec![Column::new("id", Kind::I64, false)], vec![0]).unwrap();
        let gather = Gather::new(schema, &path, &Settings::default());
        let mut feeder = gather.feeder();
        for (number, line) in numbers.iter().zip(1..) {
            feeder.add(&[Some(&number.to_le_bytes())], line).unwrap();
        }
        feeder.finish().unwrap();
        write(&path, gather, &Settings { duplicates, ..Settings::default() })
    };
    build(&[7], Duplicates::Refuse).unwrap();
    let error = build(&[7, 7], Duplicates::Refuse).unwrap_err();
    assert!(error.what().contains("rows 1 and 2 have the same key"), "{}", error.what());
    let old = Table::open(&path).unwrap();
    assert_eq!((old.len(), fs::read_dir(&folder.0).unwrap().count()), (1, 1));
    assert!(old.reopen().unwrap().is_none());
    // An open table goes on with the old file.
    assert_eq!(build(&[7, 8, 7], Duplicates::KeepFirst).unwrap().keys, 2);
    assert_eq!(old.len(), 1);
    assert!(old.get(&7_i64.to_le_bytes()).unwrap().is_some());
    assert_eq!(old.reopen().unwrap().unwrap().len(), 2);
}

/// Keys of 16 bytes that have the hash 0 with the first seed: one factor of the folded product is 0.
fn keys_with_hash_0() -> [[u8; 16]; 2] {
    let length = 16_u64.wrapping_mul(0x4B33_A62E_D433_D4A3);
    let first = (keys::start(0) ^ length).to_le_bytes();
    [1, 2].map(|last: u64| [first, last.to_le_bytes()].concat().try_into().unwrap())
}

#[test]
fn keys_with_one_hash_are_built_with_another_seed() {
    let folder = Folder::new("collision");
    let path = folder.0.join("a.ytab");
    let both = keys_with_hash_0();
    assert_eq!(both.map(|key| keys::hash(&key, keys::start(0))), [0, 0]);
    for budget_bytes in [0, 1 << 30] {
        let schema = Schema::new(vec![Column::new("id", Kind::Bytes, false)], vec![0]).unwrap();
        let settings = Settings { budget_bytes, ..Settings::default() };
        let gather = Gather::new(schema, &path, &settings);
        let mut feeder = gather.feeder();
        for (key, number) in both.iter().zip(1..) {
            feeder.add(&[Some(key)], number).unwrap();
        }
        feeder.finish().unwrap();
        write(&path, gather, &settings).unwrap();
        let table = Table::open(&path).unwrap();
        assert_eq!((table.len(), table.header().seed), (2, 1));
        assert!(both.iter().all(|key| table.get(key).unwrap().is_some()));
        table.verify().unwrap();
    }
}
