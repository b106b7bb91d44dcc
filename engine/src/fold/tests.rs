//! The floor as a whole against a map of the standard library: every way in, growth, a budget that ends anywhere, merges.
//! One of the listed files with `unsafe`: its folders reach states through pointers.

use std::collections::HashMap;
use std::sync::Arc;

use super::*;
use crate::base::{Code, Result};
use crate::env::random::Random;
use crate::memory::Budget;
use crate::operator::folder::{FoldShape, FoldValues, Folder, KnownFold};
use crate::operator::{Emitter, Form, Out, Sink};

type Key = Vec<u8>;

/// Count, sum and last value: 24 bytes. `merge` adds counts and sums.
struct Wide {
    eight: bool,
    state_bytes: usize,
}

fn get(state: *const u8, field: usize) -> u64 {
    // SAFETY: the table hands out states of 24 bytes (tests of 8 bytes use field 0 alone).
    unsafe { state.add(8 * field).cast::<u64>().read_unaligned() }
}
fn set(state: *mut u8, field: usize, value: u64) {
    // SAFETY: as in `get`.
    unsafe { state.add(8 * field).cast::<u64>().write_unaligned(value) }
}

impl Folder for Wide {
    fn shape(&self) -> FoldShape {
        FoldShape { state_bytes: self.state_bytes, known: None, exact: true, eight: self.eight }
    }
    fn init(&mut self, states: &[*mut u8]) -> Result<()> {
        // Not zero, so that a state that was not initialised shows.
        states.iter().for_each(|&s| set(s, 0, 1 << 40));
        Ok(())
    }
    fn fold(&mut self, states: &[*mut u8], values: FoldValues<'_>) -> Result<()> {
        assert_eq!(states.len(), values.len());
        for (i, &state) in states.iter().enumerate() {
            let value = match values {
                FoldValues::Eight(v) => v[i],
                FoldValues::Slices(v) => v[i].try_into().map(u64::from_le_bytes).unwrap(),
            };
            set(state, 0, get(state, 0) + 1);
            if self.state_bytes > 8 {
                set(state, 1, get(state, 1).wrapping_add(value));
                set(state, 2, value);
            }
        }
        Ok(())
    }
    fn merge(&mut self, into: &[*mut u8], from: &[*const u8]) -> Result<()> {
        for (&a, &b) in into.iter().zip(from) {
            set(a, 0, get(a, 0) + get(b, 0) - (1 << 40));
            if self.state_bytes > 8 {
                set(a, 1, get(a, 1).wrapping_add(get(b, 1)));
            }
        }
        Ok(())
    }
    fn finish(&mut self, _: &[&[u8]], _: &[*const u8], _: &mut Out) -> Result<()> {
        unreachable!("the floor never calls it")
    }
}

/// A fold that the engine knows: no function of it may be called.
struct Known(KnownFold);

impl Folder for Known {
    fn shape(&self) -> FoldShape {
        FoldShape { state_bytes: 8, known: Some(self.0), exact: true, eight: true }
    }
    fn init(&mut self, _: &[*mut u8]) -> Result<()> {
        unreachable!()
    }
    fn fold(&mut self, _: &[*mut u8], _: FoldValues<'_>) -> Result<()> {
        unreachable!()
    }
    fn merge(&mut self, _: &[*mut u8], _: &[*const u8]) -> Result<()> {
        unreachable!()
    }
    fn finish(&mut self, _: &[&[u8]], _: &[*const u8], _: &mut Out) -> Result<()> {
        unreachable!()
    }
}

fn folders() -> Vec<Box<dyn Folder>> {
    use KnownFold::*;
    let mut all: Vec<Box<dyn Folder>> = Vec::new();
    for known in [Count, SumI64, MinI64, MaxI64, SumF64] {
        all.push(Box::new(Known(known)));
    }
    for (state_bytes, eight) in [(24, true), (24, false), (8, true)] {
        all.push(Box::new(Wide { eight, state_bytes }));
    }
    all
}

/// One record of the tests.
#[derive(Clone)]
struct Record {
    key: Key,
    value: u64,
}

/// Keys of all byte values, many of them often, some that differ in zeros at the end alone; values are whole numbers of f64.
fn records(n: usize, distinct: u64, seed: u64) -> Vec<Record> {
    let mut random = Random::new(seed);
    (0..n)
        .map(|_| {
            let mut of_key = Random::new(random.below(distinct).min(random.below(distinct)));
            let len = if of_key.below(3) == 0 { of_key.below(101) } else { of_key.below(18) } as usize;
            let plain = of_key.below(4) == 0;
            let key = (0..len).map(|_| if plain { 0 } else { of_key.next_u64() as u8 }).collect();
            Record { key, value: (random.below(1000) as f64 - 500.0).to_bits() }
        })
        .collect()
}

/// All keys in one piece of data, and the entries that name them.
fn referred(records: &[Record]) -> (Vec<u8>, Vec<RefEntry>) {
    let mut data = Vec::new();
    let mut entries = Vec::new();
    for r in records {
        entries.push(RefEntry { koff: data.len() as u32, klen: r.key.len() as u32, value: r.value });
        data.extend_from_slice(&r.key);
    }
    (data, entries)
}

fn copied(records: &[Record]) -> Vec<u8> {
    let mut block = Vec::new();
    for r in records {
        block.extend((r.key.len() as u32).to_le_bytes());
        block.extend(8u32.to_le_bytes());
        block.extend(&r.key);
        block.extend(r.value.to_le_bytes());
        block.resize(block.len().next_multiple_of(8), 0);
    }
    block
}

type Totals = HashMap<Key, Vec<u64>>;

fn fields(folder: &dyn Folder) -> usize {
    folder.shape().state_bytes / 8
}

/// What the table must come to.
fn expect(folder: &dyn Folder, records: &[Record]) -> Totals {
    let mut totals = Totals::new();
    for r in records {
        match folder.shape().known {
            Some(known) => {
                let state = totals.get(&r.key).map_or(known.first(r.value), |s| known.fold(s[0], r.value));
                totals.insert(r.key.clone(), vec![state]);
            }
            None => {
                let state =
                    totals.entry(r.key.clone()).or_insert_with(|| vec![1 << 40, 0, 0][..fields(folder)].to_vec());
                state[0] += 1;
                if state.len() > 1 {
                    state[1] = state[1].wrapping_add(r.value);
                    state[2] = r.value;
                }
            }
        }
    }
    totals
}

/// Adds what a table or merge hands out to the totals, as a merge of partial states would.
fn take(folder: &mut dyn Folder, totals: &mut Totals, keys: &[&[u8]], states: &[*const u8]) {
    assert!(keys.len() == states.len() && (1..=64).contains(&keys.len()));
    let n = fields(folder);
    for (key, &state) in keys.iter().zip(states) {
        let new: Vec<u64> = (0..n).map(|field| get(state, field)).collect();
        let Some(old) = totals.get_mut(*key) else {
            totals.insert(key.to_vec(), new);
            continue;
        };
        match folder.shape().known {
            Some(known) => old[0] = known.merge(old[0], new[0]),
            None => folder.merge(&[old.as_mut_ptr().cast()], &[new.as_ptr().cast()]).unwrap(),
        }
    }
}

fn drain(table: &mut FoldTable, folder: &mut dyn Folder, totals: &mut Totals) {
    let n = table.len();
    let mut seen = 0;
    table
        .drain(|keys, states| {
            seen += keys.len();
            take(folder, totals, keys, states);
            Ok(())
        })
        .unwrap();
    assert_eq!((seen, table.len()), (n, 0));
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    One,
    Ref,
    Copied,
    Fused,
    Room,
}
const WAYS: [Way; 5] = [Way::One, Way::Ref, Way::Copied, Way::Fused, Way::Room];

/// Brings the records into the table; drains it into `totals` as often as it is full, and says how often.
fn feed(
    table: &mut FoldTable,
    folder: &mut dyn Folder,
    way: Way,
    records: &[Record],
    totals: &mut Totals,
) -> Result<usize> {
    let (data, refs) = referred(records);
    let ones: Vec<[u32; 2]> = refs.iter().map(|r| [r.koff, r.klen]).collect();
    let block = copied(records);
    let mut full = 0;
    if matches!(way, Way::Fused | Way::Room) {
        // Evicting needs a folder of its own: the table's is in use.
        let shape = folder.shape();
        let mut evict = |table: &mut FoldTable| {
            full += 1;
            let mut second: Box<dyn Folder> = match shape.known {
                Some(known) => Box::new(Known(known)),
                None => Box::new(Wide { eight: shape.eight, state_bytes: shape.state_bytes }),
            };
            drain(table, &mut *second, totals);
            Ok(())
        };
        let mut into = Inserter::new(table, folder, &data, &mut evict);
        if way == Way::Fused {
            ones.iter().try_for_each(|&[offset, len]| into.push(offset, len))?;
        } else {
            for some in ones.chunks(64).flat_map(|c| [&c[..c.len() / 3], &c[c.len() / 3..]]) {
                into.room()[..some.len()].copy_from_slice(some);
                into.advance(some.len())?;
            }
        }
        into.finish()?;
        return Ok(full);
    }
    let mut at = 0;
    loop {
        let (done, all) = match way {
            Way::One => (table.fold_one(folder, &data, &ones[at..])?, ones.len()),
            Way::Ref => (table.fold_ref(folder, &data, &refs[at..])?, refs.len()),
            _ => (table.fold_copied(folder, &block[at..])?, block.len()),
        };
        at += done.done;
        if at == all {
            return Ok(full);
        }
        full += 1;
        assert!(!table.is_empty(), "an empty table is never full");
        drain(table, folder, totals);
    }
}

/// The value 1 for all, where the way in says so.
fn as_seen(way: Way, records: &[Record]) -> Vec<Record> {
    let value = |r: &Record| if matches!(way, Way::Ref | Way::Copied) { r.value } else { 1 };
    records.iter().map(|r| Record { key: r.key.clone(), value: value(r) }).collect()
}

fn forget_last(totals: &mut Totals) {
    // The last value depends on the order, which drains and merges do not keep.
    totals.values_mut().for_each(|s| s.truncate(2));
}

fn roomy() -> Arc<Budget> {
    Budget::new(1 << 30)
}

#[test]
fn the_same_as_a_map() {
    for (n, distinct, mask) in
        [(0, 1, !0), (1, 1, !0), (64, 1, !0), (700, 9, !0), (5000, 3000, !0), (900, 300, 7 << 29), (400, 300, 0)]
    {
        let records = records(n, distinct, n as u64);
        for mut folder in folders() {
            for way in WAYS {
                let budget = roomy();
                let mut table = FoldTable::new(folder.shape(), 1, &budget).unwrap();
                table.weaken_hash(mask);
                let mut totals = Totals::new();
                // In pieces, so that batches end anywhere and keys are found again.
                for some in records.chunks(n / 3 + 1) {
                    assert_eq!(feed(&mut table, &mut *folder, way, some, &mut totals).unwrap(), 0);
                }
                drain(&mut table, &mut *folder, &mut totals);
                assert_eq!(totals, expect(&*folder, &as_seen(way, &records)), "{:?} {way:?}", folder.shape());
                drop(table);
                assert_eq!(budget.used_bytes(), 0);
            }
        }
    }
}

#[test]
fn huge_and_near_keys() {
    let mut keys: Vec<Key> =
        vec![vec![], vec![0], vec![0; 15], vec![0; 16], vec![0; 17], vec![7; 3 << 20], vec![0; 5 << 20]];
    keys.push([vec![7; (3 << 20) - 1], vec![8]].concat());
    keys.extend((15..19).map(|n| vec![b'x'; n]));
    let records: Vec<Record> =
        keys.iter().cycle().take(keys.len() * 3).map(|k| Record { key: k.clone(), value: 5 }).collect();
    let mut folder = Known(KnownFold::SumI64);
    for way in WAYS {
        let mut table = FoldTable::new(folder.shape(), 1, &roomy()).unwrap();
        let mut totals = Totals::new();
        feed(&mut table, &mut folder, way, &records, &mut totals).unwrap();
        drain(&mut table, &mut folder, &mut totals);
        assert!(totals == expect(&folder, &as_seen(way, &records)), "{way:?}");
    }
}

#[test]
fn any_budget_gives_the_same_totals() {
    let records = records(600, 500, 3);
    for mut folder in folders().into_iter().filter(|f| f.shape().known != Some(KnownFold::SumF64)) {
        for way in WAYS {
            let mut expected = expect(&*folder, &as_seen(way, &records));
            forget_last(&mut expected);
            let (mut worked, mut most) = (0, 0);
            for pages in 0..24 {
                let budget = Budget::new(pages * 4096);
                let mut totals = Totals::new();
                let result = FoldTable::new(folder.shape(), 1, &budget).and_then(|mut table| {
                    let full = feed(&mut table, &mut *folder, way, &records, &mut totals)?;
                    drain(&mut table, &mut *folder, &mut totals);
                    table.shrink()?;
                    Ok(full)
                });
                assert_eq!(budget.used_bytes(), 0, "{way:?}");
                match result {
                    Ok(full) => {
                        forget_last(&mut totals);
                        assert!(totals == expected, "{:?} {way:?} {pages} pages", folder.shape());
                        worked += 1;
                        most = most.max(full);
                    }
                    Err(e) => {
                        assert_eq!((e.code(), worked), (Code::Memory, 0), "{e}");
                    }
                }
            }
            assert!(worked > 15 && most > 3, "{worked} {most}");
        }
    }
}

fn merged(tables: Vec<FoldTable>, folder: &mut dyn Folder, workers: usize, budget: &Arc<Budget>) -> (Totals, usize) {
    let needed = Merge::needed_bytes(&tables, workers);
    let before = budget.used_bytes();
    let merge = Merge::new(tables, workers, budget).map_err(|u| u.error).ok().unwrap();
    assert_eq!(budget.used_bytes() - before, needed);
    let mut totals = Totals::new();
    let mut seen = Vec::new();
    let mut parts: Vec<Worker<'_>> = (0..workers + 1).map(|_| merge.worker()).collect();
    let mut open = true;
    while open {
        open = false;
        for worker in &mut parts {
            let mut some = Totals::new();
            let range = worker
                .next(folder, |keys, states| {
                    for (key, &state) in keys.iter().zip(states) {
                        some.insert(key.to_vec(), vec![get(state, 0)]);
                    }
                    Ok(())
                })
                .unwrap();
            if let Some(range) = range {
                open = true;
                seen.push(range);
                for (key, state) in some {
                    assert!(totals.insert(key, state).is_none(), "a key came twice");
                }
            }
        }
    }
    seen.sort();
    assert_eq!(seen, (0..merge.n_ranges()).collect::<Vec<_>>());
    (totals, merge.n_ranges())
}

#[test]
fn merged_tables_are_the_whole() {
    for (n, distinct, mask) in [(0, 1, !0), (40, 5, !0), (5000, 2000, !0), (900, 300, 15 << 28), (300, 100, 0)] {
        let records = records(n, distinct, 11 + n as u64);
        for mut folder in folders() {
            let mut expected = expect(&*folder, &records);
            expected.values_mut().for_each(|s| s.truncate(1));
            for n_tables in 1..=5 {
                let budget = roomy();
                let mut tables = Vec::new();
                for i in 0..n_tables {
                    let mut table = FoldTable::new(folder.shape(), 1, &budget).unwrap();
                    table.weaken_hash(mask);
                    // The first has most, the last nothing at all.
                    let some: Vec<Record> = records
                        .iter()
                        .enumerate()
                        .filter(|(at, _)| at % 7 % (n_tables - i) == 0 && at % 5 % n_tables == i)
                        .map(|(_, r)| r.clone())
                        .collect();
                    let rest: Vec<Record> = records
                        .iter()
                        .enumerate()
                        .filter(|(at, _)| at % 7 % (n_tables - at % 5 % n_tables) != 0 && i == 0)
                        .map(|(_, r)| r.clone())
                        .collect();
                    let all = [some, rest].concat();
                    assert_eq!(feed(&mut table, &mut *folder, Way::Ref, &all, &mut Totals::new()).unwrap(), 0);
                    tables.push(table);
                }
                let (totals, ranges) = merged(tables, &mut *folder, 2, &budget);
                assert_eq!(totals, expected, "{:?} {n_tables} tables", folder.shape());
                assert!(ranges > 20 || n < 5000);
                assert_eq!(budget.used_bytes(), 0);
            }
        }
    }
}

#[test]
fn threads_merge_wide_states_and_the_budget_can_refuse() {
    let records = records(20_000, 9000, 5);
    let folder = || Wide { eight: true, state_bytes: 24 };
    let budget = roomy();
    let build = || -> Vec<FoldTable> {
        let of = |some: &[Record]| {
            let mut table = FoldTable::new(folder().shape(), 4, &budget).unwrap();
            feed(&mut table, &mut folder(), Way::Copied, some, &mut Totals::new()).unwrap();
            table
        };
        records.chunks(9000).map(of).collect()
    };
    let tables = build();
    let small = Budget::new(Merge::needed_bytes(&tables, 2) - 1);
    let refused = Merge::new(tables, 2, &small).err().unwrap();
    assert_eq!((refused.error.code(), refused.tables.len(), small.used_bytes()), (Code::Memory, 3, 0));
    let merge = Merge::new(refused.tables, 2, &budget).map_err(|u| u.error).ok().unwrap();
    let totals = std::sync::Mutex::new(Totals::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut worker = merge.worker();
                let mut each = |keys: &[&[u8]], states: &[*const u8]| {
                    take(&mut folder(), &mut totals.lock().unwrap(), keys, states);
                    Ok(())
                };
                while worker.next(&mut folder(), &mut each).unwrap().is_some() {}
            });
        }
    });
    let (mut totals, mut expected) = (totals.into_inner().unwrap(), expect(&folder(), &records));
    forget_last(&mut totals);
    forget_last(&mut expected);
    assert!(totals == expected);
}

#[test]
fn entries_outside_of_the_data_are_errors() {
    let mut table = FoldTable::new(Known(KnownFold::Count).shape(), 1, &roomy()).unwrap();
    let mut folder = Known(KnownFold::Count);
    let data = [b'a'; 100];
    for bad in [[101, 0], [100, 1], [0, 101], [u32::MAX, u32::MAX], [4, u32::MAX]] {
        let error = table.fold_one(&mut folder, &data, &[[0, 4], bad]).unwrap_err();
        assert_eq!(error.code(), Code::UserCode);
        let mut evict = |_: &mut FoldTable| Ok(());
        let mut into = Inserter::new(&mut table, &mut folder, &data, &mut evict);
        into.push(bad[0], bad[1]).unwrap();
        assert_eq!(into.finish().unwrap_err().code(), Code::UserCode);
    }
    for bad in [&b"abc"[..], &[9, 0, 0, 0, 8, 0, 0, 0, 1], &[0xff; 24], &[1, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 1, 1]] {
        assert_eq!(table.fold_copied(&mut folder, bad).unwrap_err().code(), Code::UserCode);
    }
    let mut sum = Known(KnownFold::SumI64);
    let mut table = FoldTable::new(sum.shape(), 1, &roomy()).unwrap();
    let three = [1, 0, 0, 0, 3, 0, 0, 0, b'k', 1, 2, 3];
    assert_eq!(table.fold_copied(&mut sum, &three).unwrap_err().code(), Code::UserCode);
}

/// A cursor writes what the table reads.
#[test]
fn blocks_of_a_cursor() {
    struct Fold(FoldTable, Form, Vec<u8>);
    impl Sink for Fold {
        fn form(&self, _: bool, _: bool) -> Form {
            self.1
        }
        fn begin(&mut self) -> Result<(*mut u8, usize)> {
            Ok((self.2.as_mut_ptr(), self.2.len()))
        }
        fn filled(&mut self, len: usize, _: usize, data: &[u8]) -> Result<(*mut u8, usize)> {
            let block = &self.2[..len];
            let word = |at: usize| u32::from_le_bytes(block[at..at + 4].try_into().unwrap());
            let mut known = Known(KnownFold::Count);
            let entries: Vec<[u32; 2]> = (0..len / 8).map(|i| [word(i * 8), word(i * 8 + 4)]).collect();
            let folded = match self.1 {
                Form::Copy => self.0.fold_copied(&mut known, block)?.done == len,
                _ => self.0.fold_one(&mut known, data, &entries)?.done == entries.len(),
            };
            assert!(folded);
            self.begin()
        }
        fn big(&mut self, _: &[u8], _: &[u8]) -> Result<(*mut u8, usize)> {
            unreachable!()
        }
    }
    for form in [Form::Copy, Form::One] {
        let table = FoldTable::new(Known(KnownFold::Count).shape(), 1, &roomy()).unwrap();
        let mut emitter = Emitter::new(Fold(table, form, vec![0; 4096]), true, true).unwrap();
        let data = b"one two two";
        emitter
            .run(data, |out| {
                for (offset, len) in [(0, 3), (4, 3), (8, 3)] {
                    match form {
                        Form::Copy => out.emit(&data[offset..offset + len], &1u64.to_le_bytes())?,
                        _ => out.emit_ref(offset as u32, len as u32, 1)?,
                    }
                }
                Ok(())
            })
            .unwrap();
        let mut totals = Totals::new();
        let mut sink = emitter.finish().unwrap();
        drain(&mut sink.0, &mut Known(KnownFold::Count), &mut totals);
        assert_eq!(totals, Totals::from([(b"one".to_vec(), vec![1]), (b"two".to_vec(), vec![2])]));
    }
}
