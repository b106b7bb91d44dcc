//! The floor as a whole against a map of the standard library: every form of input, growth, tight budgets, merges.
//! One of the listed files with `unsafe`: its folders reach states through pointers.

use std::collections::HashMap;
use std::sync::Arc;

use super::*;
use crate::env::random::Random;
use crate::memory::Budget;
use crate::operator::Out;
use crate::operator::cursor::RefEntry;
use crate::operator::folder::{FoldShape, FoldValues, Folder, KnownFold};
use yunti_base::Result;

mod merge;
mod spill;
mod table;

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

/// Keys of all byte values; many repeat, and some differ only in zeros at the end. Values are whole numbers of f64.
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

/// Totals that the table must have.
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

/// Adds the keys and states of a table or merge to the totals, as a merge of partial states would.
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
}
const WAYS: [Way; 3] = [Way::One, Way::Ref, Way::Copied];

/// Brings the records into the table; drains it into `totals` whenever it is full, and returns how often.
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

/// The records as the table sees them: with the value 1 in form ONE.
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
