//! Speed of spilling and merging runs: nanoseconds a record and GB/s for 4 to 256 runs. `--tiny` runs it on little
//! data.
//!
//! `memory` merges blocks already in memory: the loser tree and the cursors alone. `plain` and `lz4` write the runs to
//! scratch (the page cache, on an idle machine) and read them back.
//!
//! Records have 10 + 90 bytes, half of them random. Words are 1-12 bytes, Zipf-like, with an 8-byte value. Each figure
//! is the fastest of some rounds on one thread.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use yunti_base::Result;
use yunti_engine::bytes::{KeyOrder, Record};
use yunti_engine::env::clock::RealClock;
use yunti_engine::env::random::Random;
use yunti_engine::env::real::RealFiles;
use yunti_engine::memory::Budget;
use yunti_engine::run::block::BlockBuilder;
use yunti_engine::run::{
    Block, BlockSource, KeyRange, Merger, ReadContext, Run, RunBuilder, RunReader, RunSettings, ScratchSpace,
    SpillCodec,
};

/// Sorted records, one behind the other.
struct Sorted {
    bytes: Vec<u8>,
    /// Start, length of the key, length of all.
    records: Vec<(u32, u32, u32)>,
}

impl Sorted {
    fn of(mut records: Vec<Vec<u8>>, key_len: impl Fn(&[u8]) -> usize) -> Sorted {
        records.sort_by(|a, b| a[..key_len(a)].cmp(&b[..key_len(b)]));
        let mut this = Sorted { bytes: Vec::new(), records: Vec::new() };
        for record in &records {
            this.records.push((this.bytes.len() as u32, key_len(record) as u32, record.len() as u32));
            this.bytes.extend_from_slice(record);
        }
        this
    }

    fn iter(&self, split: u32) -> impl Iterator<Item = Record<'_>> {
        self.records.iter().map(move |&(at, key_len, len)| Record {
            bytes: &self.bytes[at as usize..][..len as usize],
            key_len,
            split,
        })
    }
}

fn tera(random: &mut Random, n: usize) -> Sorted {
    let record = |random: &mut Random| {
        let mut record: Vec<u8> = (0..7).flat_map(|_| random.next_u64().to_le_bytes()).collect();
        record.truncate(55);
        record.resize(100, b' ');
        record
    };
    Sorted::of((0..n).map(|_| record(random)).collect(), |_| 10)
}

fn words(random: &mut Random, n: usize) -> Sorted {
    let word = |random: &mut Random| {
        let scale = random.below(20);
        let word = random.below(1 << scale);
        let mut bytes: Vec<u8> = format!("{:x}{word}", word.wrapping_mul(0x9e37) & 0xfff).into_bytes();
        bytes.truncate(12);
        bytes.extend_from_slice(&1u64.to_le_bytes());
        bytes
    };
    Sorted::of((0..n).map(|_| word(random)).collect(), |r| r.len() - 8)
}

/// Blocks in memory, and how many were taken.
struct InMemory(Vec<Block>, usize);

impl BlockSource for InMemory {
    fn next_block(&mut self, block: &mut Block, _: &mut Vec<u8>) -> Result<bool> {
        self.1 += 1;
        Ok(self.0.get_mut(self.1 - 1).map(|next| std::mem::swap(next, block)).is_some())
    }
}

fn in_memory(sorted: &Sorted, split: u32) -> InMemory {
    let mut blocks = Vec::new();
    let mut builder = BlockBuilder::default();
    let mut end = |builder: &mut BlockBuilder| {
        let mut block = Block::default();
        builder.swap_into(&mut block);
        blocks.push(block);
    };
    for record in sorted.iter(split) {
        if builder.weight_bytes() + BlockBuilder::weight_of(&record) > RunSettings::BLOCK_BYTES {
            end(&mut builder);
        }
        builder.push(&record);
    }
    end(&mut builder);
    InMemory(blocks, 0)
}

/// Returns records, bytes and a sum, so that each record is touched; and the time.
fn drain(sources: Vec<Box<dyn BlockSource>>) -> ((u64, u64, u64), u64) {
    let start = Instant::now();
    let mut merger = Merger::new(sources, KeyOrder::BYTES).unwrap();
    let (mut records, mut bytes, mut sum) = (0, 0, 0u64);
    while let Some(batch) = merger.next_batch().unwrap() {
        records += batch.len() as u64;
        for record in &*batch {
            bytes += record.bytes.len() as u64;
            sum = sum.wrapping_add(u64::from(record.bytes[record.bytes.len() - 1]));
        }
    }
    // The buffers are freed after the time is taken, because a reducer has other uses for them.
    ((records, bytes, sum), start.elapsed().as_nanos() as u64)
}

/// The peer: the standard library's binary heap over (prefix, run, place); equal prefixes are in the order of the runs.
fn heap(sorted: &[Sorted]) -> ((u64, u64, u64), u64) {
    let start = Instant::now();
    let head = |run: usize, at: usize| {
        let &(from, key_len, _) = sorted[run].records.get(at)?;
        let key = &sorted[run].bytes[from as usize..][..key_len as usize];
        Some(std::cmp::Reverse((KeyOrder::BYTES.prefix(key, 0), run, at)))
    };
    let mut heap: std::collections::BinaryHeap<_> = (0..sorted.len()).filter_map(|run| head(run, 0)).collect();
    let (mut records, mut bytes, mut sum) = (0, 0, 0u64);
    while let Some(mut top) = heap.peek_mut() {
        let std::cmp::Reverse((_, run, at)) = *top;
        let (from, _, len) = sorted[run].records[at];
        records += 1;
        bytes += u64::from(len);
        sum = sum.wrapping_add(u64::from(sorted[run].bytes[(from + len) as usize - 1]));
        match head(run, at + 1) {
            Some(next) => *top = next,
            None => drop(std::collections::binary_heap::PeekMut::pop(top)),
        }
    }
    ((records, bytes, sum), start.elapsed().as_nanos() as u64)
}

fn write(sorted: &[Sorted], scratch: &Arc<ScratchSpace>, codec: SpillCodec) -> Vec<Arc<Run>> {
    let settings = RunSettings { order: KeyOrder::BYTES, block_bytes: RunSettings::BLOCK_BYTES, codec };
    sorted
        .iter()
        .enumerate()
        .map(|(split, sorted)| {
            let builder = RunBuilder::new(scratch.clone(), settings);
            let mut slice = builder.slice(0);
            for record in sorted.iter(split as u32) {
                slice.append(0, record).unwrap();
            }
            let slice = slice.finish().unwrap();
            Arc::new(builder.finish(vec![slice]))
        })
        .collect()
}

fn report(name: &str, k: usize, what: &str, (records, bytes, _): (u64, u64, u64), ns: u64) {
    println!(
        "{name:<6} {k:>4} runs  {what:<12} {:>6.1} ns a record  {:>6.2} GB/s",
        ns as f64 / records as f64,
        bytes as f64 / ns as f64
    );
}

fn timed<T>(body: impl FnOnce() -> T) -> (T, u64) {
    let start = Instant::now();
    let result = body();
    (result, start.elapsed().as_nanos() as u64)
}

/// Returns the fastest of some rounds; the first rounds warm up the memory.
fn best<T>(rounds: usize, mut body: impl FnMut() -> (T, u64)) -> (T, u64) {
    let mut best = body();
    for _ in 1..rounds {
        let ns = best.1;
        drop(best.0);
        let next = body();
        best = (next.0, next.1.min(ns));
    }
    best
}

fn main() {
    let tiny = std::env::args().any(|a| a == "--tiny");
    let only = std::env::args().find_map(|a| a.strip_prefix("--runs=")?.parse::<usize>().ok());
    let total = std::env::args().find_map(|a| a.strip_prefix("--records=")?.parse::<usize>().ok());
    let total = total.unwrap_or(if tiny { 10_000 } else { 4_000_000 });
    let scratch = ScratchSpace::new(Arc::new(RealFiles), Arc::new(RealClock::start()), vec![std::env::temp_dir()]);
    let context = ReadContext { budget: Budget::new(1 << 30), cancelled: Arc::new(AtomicBool::new(false)) };
    type Make = fn(&mut Random, usize) -> Sorted;
    for (name, make) in [("tera", tera as Make), ("words", words as Make)] {
        for k in [1, 4, 16, 64, 256].into_iter().filter(|&k| only.is_none_or(|only| only == k)) {
            let mut random = Random::new(k as u64);
            let sorted: Vec<Sorted> = (0..k).map(|_| make(&mut random, total / k)).collect();
            let rounds = if tiny { 1 } else { (8_000_000 / total).max(5) };
            let (counts, ns) = best(rounds, || {
                let sources = sorted.iter().enumerate().map(|(s, of)| Box::new(in_memory(of, s as u32)) as _).collect();
                drain(sources)
            });
            report(name, k, "memory", counts, ns);
            let (same, ns) = best(rounds, || heap(&sorted));
            assert_eq!(same, counts);
            report(name, k, "(std heap)", counts, ns);
            for (what, codec) in [("plain", SpillCodec::None), ("lz4", SpillCodec::Lz4)] {
                let (runs, ns) = best(rounds.div_ceil(2), || timed(|| write(&sorted, &scratch, codec)));
                report(name, k, &format!("{what} write"), counts, ns);
                let stored: u64 = runs.iter().map(|run| run.totals().stored_bytes).sum();
                let (read, ns) = best(rounds, || {
                    let open = |run| Box::new(RunReader::open(run, KeyRange::whole(0), false, &context)) as _;
                    let sources = runs.iter().map(open).collect();
                    drain(sources)
                });
                assert_eq!(read, counts);
                report(name, k, &format!("{what} merge"), counts, ns);
                println!("                   stored {:.3} of the record bytes", stored as f64 / counts.1 as f64);
            }
        }
    }
}
