//! Tables written as runs and merged in tables too small for them: all keys are present.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::bytes::KeyOrder;
use crate::env::clock::RealClock;
use crate::env::real::RealFiles;
use crate::fold::spill::RangeMerge;
use crate::run::{ReadContext, RunBuilder, RunSettings, ScratchSpace, SpillCodec};

#[test]
fn spilled_tables_have_all_totals() {
    for (n, distinct, spill_bytes, merge_bytes) in
        [(40, 5, 60_000, 60_000), (4000, 1500, 80_000, 1 << 20), (4000, 1500, 80_000, 36_000)]
    {
        let records = records(n, distinct, 7 + n as u64);
        for mut folder in folders() {
            let files = Arc::new(RealFiles);
            let scratch = ScratchSpace::new(files, Arc::new(RealClock::start()), vec![std::env::temp_dir()]);
            let settings = RunSettings { order: KeyOrder::BYTES, block_bytes: 4 << 10, codec: SpillCodec::Auto };
            let ranges = HashRanges::for_tables(4 << 10);
            let mut table = FoldTable::new(folder.shape(), 1, &Budget::new(spill_bytes)).unwrap();
            let (data, refs) = referred(&records);
            let mut runs = Vec::new();
            let mut at = 0;
            while at < refs.len() {
                at += table.fold_ref(&mut *folder, &data, &refs[at..]).unwrap().done;
                let run = ranges.write(&table, RunBuilder::unordered(scratch.clone(), settings)).unwrap();
                runs.push(Arc::new(run));
                table.clear();
                table.enlarge().unwrap();
            }
            let budget = roomy();
            let context = ReadContext { budget: budget.clone(), cancelled: Arc::new(AtomicBool::new(false)) };
            let table = FoldTable::new(folder.shape(), 2, &Budget::new(merge_bytes)).unwrap();
            let mut merge = RangeMerge::new(table, &runs, &context);
            let mut totals = Totals::new();
            let mut shares = 0;
            for range in 0..ranges.count() {
                let mut left = vec![Share::ALL];
                while let Some(keys) = left.pop() {
                    let Some(table) = merge.gather(&mut *folder, range, keys).unwrap() else {
                        left.extend(keys.halves().unwrap());
                        continue;
                    };
                    shares += 1;
                    table
                        .for_each_batch(|keys, states| {
                            for (key, &state) in keys.iter().zip(states) {
                                let fields = (0..fields(&*folder)).map(|f| get(state, f)).collect();
                                assert!(totals.insert(key.to_vec(), fields).is_none(), "a key came twice");
                            }
                            Ok(())
                        })
                        .unwrap();
                }
            }
            let mut expected = expect(&*folder, &records);
            forget_last(&mut expected);
            forget_last(&mut totals);
            assert_eq!(totals, expected);
            assert!(merge_bytes > 36_000 || n == 40 || shares > ranges.count(), "the merge was never short of memory");
        }
    }
}
