//! Tests of the table of a hash join: against a map of lists, over files of many shapes, and files that change.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::env::files::{File, LockScope};
use crate::env::random::Random;
use crate::env::sync::Mutex;
use crate::env::threads::RealThreads;
use crate::env::{Crew, NamedFile};
use crate::memory::Budget;
use crate::operator::context::JobContext;
use yunti_base::Cancel;

/// A file in memory, which a test may change.
#[derive(Default)]
struct Bytes(Mutex<Vec<u8>>);

impl File for Bytes {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.0.lock().unwrap();
        let from = bytes.get(offset as usize..).unwrap_or_default();
        // Short reads are allowed.
        let n = from.len().min(buffer.len()).min(1000);
        buffer[..n].copy_from_slice(&from[..n]);
        Ok(n)
    }
    fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().len() as u64)
    }
    fn allocate(&self, _: u64) -> io::Result<()> {
        Ok(())
    }
    fn truncate(&self, _: u64) -> io::Result<()> {
        Ok(())
    }
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
    fn punch(&self, _: u64, _: u64) {}
    fn lock(&self) -> io::Result<LockScope> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Measures a file, calls `change`, and builds the table.
fn table_of(
    text: &[u8],
    column: usize,
    (budget, workers): (&Arc<Budget>, usize),
    change: impl FnOnce(&mut Vec<u8>),
) -> Result<(JoinTable, u64)> {
    let cancel = Cancel::default();
    let settings = [("separator", ","), ("join.right.column", &*column.to_string())];
    let settings = settings.map(|(key, value)| (key.to_string(), value.to_string())).into();
    let context = TaskContext::new(JobContext::new(settings, BTreeMap::new(), Vec::new()), false, 0, 0);
    let bytes = Arc::new(Bytes(Mutex::new(text.to_vec())));
    let lines = SideLines::new(NamedFile::new(bytes.clone(), Path::new("side"), Code::Input))?;
    let crew = Crew { threads: &RealThreads, workers, cancel: &cancel };
    let measured = measure(&context, lines, budget, &crew, 7)?;
    let expected = measured.table_bytes() + measured.counts_bytes() + measured.build_bytes(workers);
    change(&mut bytes.0.lock().unwrap());
    let table = build(&measured, budget, &crew)?;
    assert!(budget.peak_bytes() <= expected, "{} of {expected} bytes", budget.peak_bytes());
    assert_eq!(table.bytes(), measured.table_bytes());
    Ok((table, measured.short))
}

/// Returns the rows by key, in the order of the file, and the number of lines without the column.
fn model(text: &[u8], column: usize) -> (BTreeMap<Vec<u8>, Vec<Vec<u8>>>, u64) {
    let (mut rows, mut short) = (BTreeMap::<Vec<u8>, Vec<Vec<u8>>>::new(), 0);
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    for line in lines {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut columns: Vec<&[u8]> = line.split(|byte| *byte == b',').collect();
        if columns.len() < column {
            short += 1;
            continue;
        }
        let key = columns.remove(column - 1);
        rows.entry(key.to_vec()).or_default().push(columns.join(&b','));
    }
    (rows, short)
}

fn check(name: &str, text: &[u8], column: usize) {
    let (rows, short) = model(text, column);
    for workers in [1, 3] {
        let budget = Budget::new(1 << 30);
        let (table, found_short) = table_of(text, column, (&budget, workers), |_| {}).unwrap();
        assert_eq!(found_short, short, "{name}");
        let lookup = |key: &[u8]| {
            let (mut found, hash) = (Vec::new(), table.hash(key));
            table.prefetch_bucket(hash);
            if let Some(place) = table.find(hash) {
                let each = |rest: &[u8]| -> Result<()> {
                    found.push(rest.to_vec());
                    Ok(())
                };
                assert_eq!(table.each(place, key, each).unwrap(), found.len() as u64);
            }
            found
        };
        for (key, expected) in &rows {
            assert!(lookup(key) == *expected, "{name}, {workers} workers: {}", String::from_utf8_lossy(key));
            let absent = [&key[..], b"~"].concat();
            assert!(rows.contains_key(&absent) || lookup(&absent).is_empty(), "{name}");
        }
        for i in 0..500 {
            let absent = format!("absent {i}");
            assert!(rows.contains_key(absent.as_bytes()) || lookup(absent.as_bytes()).is_empty(), "{name}");
        }
        drop(table);
        assert_eq!(budget.used_bytes(), 0, "{name}");
    }
}

#[test]
fn a_table_has_the_rows_of_its_file() {
    let lines = |n: usize, line: &dyn Fn(usize) -> String| (0..n).map(|i| line(i) + "\n").collect::<String>();
    let long = "k".repeat(100_000);
    for (name, text) in [
        ("no bytes", String::new()),
        ("an empty line", "\n".into()),
        ("two empty lines", "\n\n".into()),
        ("one line without end", "a,b".into()),
        ("CRLF", "a,b\r\nc,d\r\n,e\r\n".into()),
        ("only separators", ",\n,,\n,,,".into()),
        ("distinct keys", lines(3000, &|i| format!("{i},value {i}"))),
        ("one key", lines(3000, &|i| format!("key,value {i}"))),
        ("the empty key", lines(3000, &|i| format!(",{i}"))),
        ("keys alone", lines(1000, &|i| format!("{}", i % 300))),
        ("two rows a key", lines(2000, &|i| format!("{},{i}", i % 1000))),
        ("two empty rows of the empty key", ",\n,\n".into()),
        ("few long rows of short keys", lines(40, &|i| format!("{},{}", i % 20, "v".repeat(130 + i)))),
        ("one hot key", lines(4000, &|i| if i % 3 == 0 { format!("{i},x") } else { format!("hot,{i}") })),
        ("long keys", lines(20, &|i| format!("{long}{i},{i}"))),
        ("long lines", lines(6, &|i| format!("{i},{}", "x".repeat(1 << 20)))),
        ("one line longer than all chunks", format!("a,b\n{long},{long}{long}\nc,d")),
        ("missing columns", lines(500, &|i| if i % 4 == 0 { String::from("x") } else { format!("{i},{i},{i}") })),
    ] {
        for column in [1, 2, 3] {
            check(name, text.as_bytes(), column);
        }
    }
}

#[test]
fn random_tables() {
    let mut random = Random::new(11);
    for round in 0..60 {
        let (lines, bits) = (random.below(400), random.below(9));
        let keys = 1 + random.below(1 << bits);
        let mut text = Vec::new();
        for _ in 0..lines {
            for _ in 0..=random.below(3) {
                let key = random.below(keys).to_string();
                text.extend_from_slice(key.repeat(random.below(4) as usize).as_bytes());
                text.push(b',');
            }
            text.extend((0..random.below(40)).map(|_| (random.below(256) as u8).max(b'\r' + 1)));
            text.extend_from_slice([&b"\n"[..], b"\r\n"][random.below(2) as usize]);
        }
        check(&format!("round {round}"), &text, 1 + random.below(3) as usize);
    }
}

#[test]
fn a_file_that_changes_is_an_error() {
    type Change = fn(&mut Vec<u8>);
    let text: String = (0..400).map(|i| format!("key {i},value {i}\n")).collect();
    for (name, change) in [
        ("shorter", (|bytes| bytes.truncate(3000)) as Change),
        ("longer values", |bytes| bytes.retain(|byte| *byte != b'\n')),
        ("other keys", |bytes| bytes.iter_mut().filter(|b| **b == b'7').for_each(|b| *b = b'8')),
        ("no columns", |bytes| bytes.iter_mut().filter(|b| **b == b',').for_each(|b| *b = b';')),
    ] {
        let budget = Budget::new(1 << 30);
        let error = table_of(text.as_bytes(), 2, (&budget, 2), change).err().map(|e| e.to_string());
        assert!(
            error.as_ref().is_some_and(|e| e.starts_with("the side file changed while it was read: side")),
            "{name}: {error:?}"
        );
        assert_eq!(budget.used_bytes(), 0);
    }
    // Too little memory is an error too, wherever it ends.
    let whole = Budget::new(1 << 30);
    table_of(text.as_bytes(), 1, (&whole, 1), |_| {}).unwrap();
    for bytes in (0..whole.peak_bytes()).step_by(97) {
        let budget = Budget::new(bytes);
        let error = table_of(text.as_bytes(), 1, (&budget, 1), |_| {}).err().unwrap();
        assert_eq!((error.code(), budget.used_bytes()), (Code::Memory, 0));
    }
}
