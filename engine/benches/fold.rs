//! The table of states: nanoseconds of CPU per key, for few keys and for many, beside the standard library's map.
//! One of the listed files with `unsafe`: it reads the process's CPU time from the system.
//!
//! Keys are found beforehand, so that the table alone is timed. `--tiny` runs everything on little data.
//!
//! CPU time of the process is less affected by other work on the machine; each figure is the best of several rounds.

use std::collections::HashMap;
use std::time::Instant;

use yunti_base::Result;
use yunti_engine::env::Threads;
use yunti_engine::env::random::Random;
use yunti_engine::env::threads::RealThreads;
use yunti_engine::fold::{FoldTable, Merge};
use yunti_engine::memory::Budget;
use yunti_engine::operator::folder::{FoldValues, Folder, state_bytes};
use yunti_engine::operator::{FoldShape, KnownFold, Out};

struct Count;

impl Folder for Count {
    fn shape(&self) -> FoldShape {
        FoldShape { state_bytes: 8, known: Some(KnownFold::Count), exact: true, eight: true }
    }
    fn init(&mut self, _: &[*mut u8]) -> Result<()> {
        Ok(())
    }
    fn fold(&mut self, _: &[*mut u8], _: FoldValues<'_>) -> Result<()> {
        Ok(())
    }
    fn merge(&mut self, _: &[*mut u8], _: &[*const u8]) -> Result<()> {
        Ok(())
    }
    fn finish(&mut self, _: &[&[u8]], _: &[*const u8], _: &mut Out) -> Result<()> {
        Ok(())
    }
}

/// A piece of text and the keys in it.
struct Piece {
    data: Vec<u8>,
    spans: Vec<[u32; 2]>,
}

/// Pieces of 256 KiB with keys of `lens` letters. Rank r of `distinct` occurs in proportion to 1/r (Zipf), or all keys
/// equally often.
fn pieces(n_keys: usize, distinct: u64, zipf: bool, lens: [u64; 2]) -> Vec<Piece> {
    let mut random = Random::new(9);
    let mut pieces = Vec::new();
    let mut left = n_keys;
    while left > 0 {
        let mut piece = Piece { data: Vec::with_capacity(256 << 10), spans: Vec::new() };
        while left > 0 && piece.data.len() < (256 << 10) - 128 {
            let u = random.below(1 << 53) as f64 / (1u64 << 53) as f64;
            let rank = if zipf { (distinct as f64).powf(u) as u64 } else { random.below(distinct) };
            let mut letters = Random::new(rank * 0x9e37_79b9 + 1);
            let len = lens[0] + letters.below(lens[1] - lens[0] + 1);
            piece.spans.push([piece.data.len() as u32, len as u32]);
            let mut word = 0;
            piece.data.extend((0..len).map(|i| {
                word = if i % 10 == 0 { letters.next_u64() } else { word / 26 };
                b'a' + (word % 26) as u8
            }));
            piece.data.push(b' ');
            left -= 1;
        }
        pieces.push(piece);
    }
    pieces
}

fn cpu_seconds() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
}

/// References are folded as a sink gets them: some hundred at a time, from the first-level cache.
fn fill(table: &mut FoldTable, pieces: &[Piece]) -> Result<()> {
    for piece in pieces {
        for spans in piece.spans.chunks(1024) {
            let folded = table.fold_one(&mut Count, &piece.data, spans)?;
            assert_eq!(folded.done, spans.len());
        }
    }
    Ok(())
}

/// Merges the tables of `threads` workers; returns distinct keys, keys in all, and CPU seconds of the merge.
fn count(pieces: &[Piece], threads: usize) -> Result<(u64, u64, f64)> {
    let budget = Budget::new(16 << 30);
    let tables = std::sync::Mutex::new(Vec::new());
    RealThreads.run(threads, &|worker| {
        let share = pieces.len().div_ceil(threads);
        let mine = pieces.chunks(share).nth(worker).unwrap_or(&[]);
        let mut table = FoldTable::new(Count.shape(), 3, &budget).unwrap();
        fill(&mut table, mine).unwrap();
        tables.lock().unwrap().push(table);
    });
    let start = cpu_seconds();
    let merge = Merge::new(tables.into_inner().unwrap(), threads, &budget).map_err(|u| u.error)?;
    let sums = std::sync::Mutex::new((0, 0));
    RealThreads.run(threads, &|_| {
        let mut worker = merge.worker();
        let (mut keys, mut total) = (0, 0);
        let mut each = |k: &[&[u8]], states: &[*const u8]| {
            keys += k.len() as u64;
            for state in states {
                total += state_bytes(state, 8).try_into().map_or(0, u64::from_le_bytes);
            }
            Ok(())
        };
        while worker.next(&mut Count, &mut each).unwrap().is_some() {}
        let mut sums = sums.lock().unwrap();
        *sums = (sums.0 + keys, sums.1 + total);
    });
    let (keys, total) = sums.into_inner().unwrap();
    Ok((keys, total, cpu_seconds() - start))
}

fn main() -> Result<()> {
    let tiny = std::env::args().any(|a| a == "--tiny");
    let (few, many, rounds) = if tiny { (20_000, 50_000, 1) } else { (10_000_000, 90_000_000, 3) };
    let cases = [
        ("1,000 keys of 3-14 bytes", pieces(few, 1000, false, [3, 14]), rounds * 5),
        ("1,000 keys of 3-40 bytes", pieces(few, 1000, false, [3, 40]), rounds * 5),
        ("5 million keys of 7-14 bytes, Zipf", pieces(many, 5_000_000, true, [7, 14]), rounds),
    ];
    for (name, pieces, rounds) in cases {
        let n: usize = pieces.iter().map(|p| p.spans.len()).sum();
        let mut map: HashMap<&[u8], u64> = HashMap::new();
        let start = cpu_seconds();
        for piece in &pieces {
            for &[offset, len] in &piece.spans {
                *map.entry(&piece.data[offset as usize..][..len as usize]).or_insert(0) += 1;
            }
        }
        let std = (cpu_seconds() - start) * 1e9 / n as f64;
        let distinct = map.len() as u64;
        println!("{name}: {n} keys, {distinct} distinct; std::collections::HashMap {std:.1} ns a key");
        for threads in [1, 2] {
            let (mut cpu, mut wall, mut merging) = (f64::MAX, f64::MAX, f64::MAX);
            for _ in 0..rounds {
                let (at, clock) = (cpu_seconds(), Instant::now());
                let (keys, total, merge) = count(&pieces, threads)?;
                cpu = cpu.min(cpu_seconds() - at);
                wall = wall.min(clock.elapsed().as_secs_f64());
                merging = merging.min(merge);
                assert_eq!((keys, total), (distinct, n as u64));
            }
            let ns = |seconds: f64| seconds * 1e9 / n as f64;
            println!(
                "  ONE x {threads}: {:.2} ns CPU a key, {:.2} of it merging; {:.2} ns on the clock",
                ns(cpu),
                ns(merging),
                ns(wall)
            );
        }
    }
    Ok(())
}
