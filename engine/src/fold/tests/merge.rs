//! Merges of one to five tables: all keys are present, threads share the work, and a small budget is an error.

use super::*;
use yunti_base::Code;

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
fn merged_tables_have_all_totals() {
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
fn threads_merge_wide_states_and_small_budgets_fail() {
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
    let totals = crate::env::sync::Mutex::new(Totals::new());
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
