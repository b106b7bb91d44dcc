//! One table: every form of input, growth, tight budgets, wrong data.

use super::*;
use crate::operator::{Emitter, Form, Sink};
use yunti_base::Code;

#[test]
fn agrees_with_a_map() {
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
fn folds_huge_and_similar_keys() {
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

#[test]
fn rejects_entries_outside_of_the_data() {
    let mut table = FoldTable::new(Known(KnownFold::Count).shape(), 1, &roomy()).unwrap();
    let mut folder = Known(KnownFold::Count);
    let data = [b'a'; 100];
    for bad in [[101, 0], [100, 1], [0, 101], [u32::MAX, u32::MAX], [4, u32::MAX]] {
        let error = table.fold_one(&mut folder, &data, &[[0, 4], bad]).unwrap_err();
        assert_eq!(error.code(), Code::UserCode);
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
fn folds_the_blocks_of_a_cursor() {
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
        fn large(&mut self, _: &[u8], _: &[u8]) -> Result<(*mut u8, usize)> {
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
