//! The floor as a whole: k runs, written in slices, merged in passes and key ranges, are one stable sort by (key,
//! split).

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::passes::FinishedMerge;
use super::*;
use crate::bytes::{KeyKind, KeyOrder, Record};
use crate::env::Files;
use crate::env::clock::RealClock;
use crate::env::faulty::{Fault, FaultyFiles};
use crate::env::random::Random;
use crate::env::real::RealFiles;
use crate::env::threads::RealThreads;
use crate::memory::Budget;
use yunti_base::{Code, Result};

/// Records in the order of emission; runs cut them into stretches.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Emitted {
    partition: u32,
    split: u32,
    key: Vec<u8>,
    value: Vec<u8>,
}

struct Case {
    records: Vec<Emitted>,
    runs: usize,
    slices: usize,
    ranges: usize,
    settings: RunSettings,
    fan_in: usize,
    workers: usize,
    directories: usize,
    budget_bytes: u64,
    files: Arc<dyn Files>,
}

impl Case {
    fn new(records: Vec<Emitted>, block_bytes: usize) -> Case {
        Case {
            records,
            runs: 5,
            slices: 1,
            ranges: 1,
            settings: RunSettings { order: KeyOrder::BYTES, block_bytes, codec: SpillCodec::Lz4 },
            fan_in: 16,
            workers: 1,
            directories: 1,
            budget_bytes: 1 << 30,
            files: Arc::new(RealFiles),
        }
    }

    fn scratch(&self) -> Arc<ScratchSpace> {
        let directories = vec![std::env::temp_dir(); self.directories] as Vec<PathBuf>;
        ScratchSpace::new(self.files.clone(), Arc::new(RealClock::start()), directories)
    }

    fn sorted(&self, records: &[Emitted]) -> Vec<Emitted> {
        let mut sorted = records.to_vec();
        sorted.sort_by(|a, b| {
            let keys = self.settings.order.compare(&a.key, &b.key);
            a.partition.cmp(&b.partition).then(keys).then(a.split.cmp(&b.split))
        });
        sorted
    }

    fn write_run(&self, scratch: &Arc<ScratchSpace>, records: &[Emitted]) -> Result<Arc<Run>> {
        let sorted = self.sorted(records);
        let builder = RunBuilder::new(scratch.clone(), self.settings);
        let write = |number: usize, part: &[Emitted]| {
            let mut slice = builder.slice(number as u32);
            for (i, r) in part.iter().enumerate() {
                let bytes = [&r.key[..], &r.value[..]].concat();
                slice.append(r.partition, Record { bytes: &bytes, key_len: r.key.len() as u32, split: r.split })?;
                if i % 37 == 36 {
                    slice.cut()?;
                }
            }
            slice.finish()
        };
        let parts: Vec<_> = sorted.chunks(sorted.len().div_ceil(self.slices).max(1)).enumerate().collect();
        // Several slices, each on its own thread and finished in any order.
        let mut slices: Vec<Slice> = if self.slices == 1 {
            parts.into_iter().map(|(number, part)| write(number, part)).collect::<Result<_>>()?
        } else {
            std::thread::scope(|scope| {
                let write = &write;
                let threads: Vec<_> = parts.into_iter().map(|(n, part)| scope.spawn(move || write(n, part))).collect();
                threads.into_iter().map(|t| t.join().unwrap()).collect::<Result<_>>()
            })?
        };
        slices.reverse();
        let run = builder.finish(slices);
        assert_eq!(run.totals().records, records.len() as u64);
        assert_eq!(
            run.totals().record_bytes,
            records.iter().map(|r| (r.key.len() + r.value.len()) as u64).sum::<u64>()
        );
        Ok(Arc::new(run))
    }

    /// Writes, merges and reads back all records.
    fn merged(&self, scratch: &Arc<ScratchSpace>) -> Result<Vec<Emitted>> {
        let budget = Budget::new(self.budget_bytes);
        let context = ReadContext { budget: budget.clone(), cancelled: Arc::new(AtomicBool::new(false)) };
        let parts = self.records.chunks(self.records.len().div_ceil(self.runs).max(1));
        let runs = parts.map(|part| self.write_run(scratch, part)).collect::<Result<Vec<_>>>()?;
        let written = runs.len();
        let merges = crate::env::sync::Mutex::new(Vec::<FinishedMerge>::new());
        let passes = MergePasses {
            scratch: scratch.clone(),
            settings: self.settings,
            context: context.clone(),
            threads: &RealThreads,
            workers: self.workers,
            journal: None,
            on_merge: &|merge| merges.lock().unwrap().push(*merge),
            fan_in: self.fan_in,
        };
        let runs = passes.reduce(runs)?;
        assert!(runs.len() <= self.fan_in.max(2));
        // Each merge is reported, with all that it wrote.
        let merges = merges.lock().unwrap();
        let merged: usize = merges.iter().map(|merge| merge.runs - 1).sum();
        assert_eq!(written - merged, runs.len());
        assert!(merges.iter().all(|merge| merge.written.records > 0 && merge.segments > 0));
        let mut out = Vec::new();
        let mut random = Random::new(9);
        let partitions = self.records.iter().map(|r| r.partition).max().map_or(0, |p| p + 1);
        for partition in 0..partitions {
            let mut edges: Vec<u64> = (1..self.ranges)
                .map(|_| {
                    let r = &self.records[random.below(self.records.len() as u64) as usize];
                    self.settings.order.prefix(&r.key, 0).max(1)
                })
                .chain([0])
                .collect();
            edges.sort_unstable();
            edges.dedup();
            for (i, &lo) in edges.iter().enumerate() {
                let hi = edges.get(i + 1).map_or(u64::MAX, |next| next - 1);
                let range = KeyRange { partition, lo, hi };
                let sources =
                    runs.iter().map(|run| Box::new(RunReader::open(run, range, true, &context)) as _).collect();
                let mut merger = Merger::new(sources, self.settings.order)?;
                while let Some(batch) = merger.next_batch()? {
                    assert!(!batch.is_empty());
                    out.extend(batch.iter().map(|r| Emitted {
                        partition,
                        split: r.split,
                        key: r.key().to_vec(),
                        value: r.value().to_vec(),
                    }));
                }
            }
        }
        assert_eq!(budget.used_bytes(), 0);
        Ok(out)
    }

    fn check(&self) {
        let scratch = self.scratch();
        let merged = self.merged(&scratch).unwrap();
        assert!(merged == self.sorted(&self.records), "{} runs are not merged as one sort", self.runs);
        assert_eq!(scratch.usage().held_bytes, 0, "scratch is left behind");
    }
}

fn records(random: &mut Random, n: u64, partitions: u64, key: impl Fn(&mut Random) -> Vec<u8>) -> Vec<Emitted> {
    (0..n)
        .map(|i| Emitted {
            partition: random.below(partitions) as u32,
            split: random.below(4) as u32,
            key: key(random),
            // Distinguishes the records of one key.
            value: i.to_le_bytes()[..random.below(9) as usize].to_vec(),
        })
        .collect()
}

type MakeKey = fn(&mut Random) -> Vec<u8>;

const KEYS: [MakeKey; 4] = [
    // Any bytes, about as long as a prefix.
    |random| (0..random.below(12)).map(|_| random.next_u64() as u8).collect(),
    // Keys that begin others, zeros and the largest byte, many equal ones.
    |random| (0..random.below(11)).map(|_| [0, 255][random.below(2) as usize]).collect(),
    // One prefix for all.
    |random| [&b"the same"[..], &[0, 1, 128][..random.below(4) as usize]].concat(),
    // Few keys.
    |random| vec![random.below(3) as u8; random.below(2) as usize],
];

#[test]
fn merges_runs_as_one_stable_sort() {
    let mut random = Random::new(11);
    for (i, key) in KEYS.into_iter().enumerate() {
        for block_bytes in [64, 200, 4096, RunSettings::BLOCK_BYTES] {
            for runs in [1, 2, 3, 9, 33] {
                for descending in [false, true] {
                    let records = records(&mut random, 400, 1 + i as u64 % 3, key);
                    let mut case = Case::new(records, block_bytes);
                    case.runs = runs;
                    case.fan_in = 2 + random.below(runs as u64 + 1) as usize;
                    case.workers = 1 + random.below(3) as usize;
                    case.slices = 1 + random.below(4) as usize;
                    case.ranges = 1 + random.below(4) as usize;
                    case.directories = 1 + random.below(3) as usize;
                    case.settings.codec =
                        [SpillCodec::None, SpillCodec::Lz4, SpillCodec::Auto][random.below(3) as usize];
                    case.settings.order = KeyOrder { kind: KeyKind::Bytes, descending };
                    case.check();
                }
            }
        }
    }
}

#[test]
fn merges_no_records() {
    let mut merger = Merger::new(Vec::new(), KeyOrder::BYTES).unwrap();
    assert!(merger.next_batch().unwrap().is_none());
    Case::new(Vec::new(), 64).check();
}

#[test]
fn large_records_take_own_blocks_and_memory_from_the_budget() {
    let mut random = Random::new(12);
    let mut records = records(&mut random, 60, 1, KEYS[0]);
    for i in (0..60).step_by(7) {
        records[i].value = vec![i as u8; 300 << 10];
        records[i + 1].key = vec![i as u8; 5000];
    }
    let mut case = Case::new(records, 16 << 10);
    case.check();
    case.fan_in = 2;
    case.check();
    case.budget_bytes = 400 << 10;
    let error = case.merged(&case.scratch()).unwrap_err();
    assert_eq!(error.code(), Code::Memory);
    assert!(error.to_string().contains("--memory"), "{error}");
}

#[test]
fn a_small_budget_merges_fewer_runs_at_once() {
    let mut random = Random::new(13);
    let mut case = Case::new(records(&mut random, 2000, 2, KEYS[0]), 1 << 10);
    (case.runs, case.fan_in, case.workers) = (40, 12, 4);
    let one = passes::merge_memory_bytes(2, 1 << 10) + writer_memory_bytes(1 << 10);
    for budget_bytes in [one, one + (8 << 10), 6 * one] {
        case.budget_bytes = budget_bytes;
        case.check();
    }
    case.budget_bytes = one - 1;
    assert_eq!(case.merged(&case.scratch()).unwrap_err().code(), Code::Memory);
}

#[test]
fn passes_hold_little_more_than_the_data() {
    let mut random = Random::new(14);
    let tera: MakeKey = |random| (0..10).map(|_| random.next_u64() as u8).collect();
    let mut records = records(&mut random, 60_000, 3, tera);
    records.iter_mut().for_each(|r| r.value = vec![1; 90]);
    let bytes: u64 = 60_000 * 100;
    for (workers, fan_in) in [(1, 4), (3, 8)] {
        let mut case = Case::new(records.clone(), 4 << 10);
        (case.runs, case.workers, case.fan_in) = (24, workers, fan_in);
        case.settings.codec = SpillCodec::None;
        let scratch = case.scratch();
        assert!(case.merged(&scratch).unwrap() == case.sorted(&case.records));
        let usage = scratch.usage();
        assert!(usage.held_bytes_peak * 10 <= bytes * 11, "{usage:?} of {bytes}");
        assert_eq!(usage.held_bytes, 0);
    }
}

#[test]
fn cancelling_ends_a_merge() {
    let mut random = Random::new(15);
    let case = Case::new(records(&mut random, 1000, 1, KEYS[0]), 200);
    let scratch = case.scratch();
    let run = case.write_run(&scratch, &case.records).unwrap();
    let context = ReadContext { budget: Budget::new(0), cancelled: Arc::new(AtomicBool::new(false)) };
    let source = Box::new(RunReader::open(&run, KeyRange::whole(0), false, &context));
    let mut merger = Merger::new(vec![source], KeyOrder::BYTES).unwrap();
    assert!(merger.next_batch().unwrap().is_some());
    context.cancelled.store(true, Ordering::Relaxed);
    assert_eq!(merger.next_batch().err().map(|e| e.code()), Some(Code::Cancelled));
    assert_eq!(merger.next_batch().err().map(|e| e.code()), Some(Code::Cancelled), "an error is forgotten");
}

/// Every operation fails in turn: the result is right or one clean error, and nothing is left on scratch.
#[test]
fn survives_a_failure_of_any_operation() {
    let mut random = Random::new(16);
    let records = records(&mut random, 120, 2, KEYS[0]);
    let errno = Fault::Errno;
    let faults = [
        (errno(libc::EIO), false),
        (errno(libc::ENOSPC), true),
        (Fault::Short, false),
        (Fault::Short, true),
        (Fault::Torn, false),
    ];
    for (fault, sticky) in faults {
        for directories in [1, 2] {
            let (mut right, mut wrong) = (0, 0);
            for nth in 1.. {
                let mut case = Case::new(records.clone(), 300);
                let files = Arc::new(FaultyFiles::new(Arc::new(RealFiles), nth, sticky, fault));
                (case.runs, case.fan_in, case.directories) = (6, 3, directories);
                case.files = files.clone();
                let scratch = case.scratch();
                match case.merged(&scratch) {
                    Ok(merged) => {
                        assert!(merged == case.sorted(&records), "{fault:?} {nth}: wrong records");
                        right += 1;
                    }
                    Err(e) => {
                        assert!(matches!(e.code(), Code::Output | Code::Corrupt), "{fault:?} {nth}: {e}");
                        assert_eq!(e.path(), Some(&*std::env::temp_dir().to_string_lossy()), "{e}");
                        assert!(e.code() != Code::Corrupt || e.to_string().contains("run the job again"), "{e}");
                        wrong += 1;
                    }
                }
                assert_eq!(scratch.usage().held_bytes, 0, "{fault:?} {nth}: scratch is left behind");
                if files.operations() < nth {
                    break;
                }
            }
            if fault == Fault::Short {
                assert_eq!(wrong, 0, "a short read or write is no error");
            }
            assert!(right > 0, "{fault:?}: {right} right, {wrong} errors");
        }
    }
}
