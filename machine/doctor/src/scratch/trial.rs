//! Trial of a scratch directory: unnamed files, preallocation, holes, and 64 MiB written and read, with the disk and
//! with read-ahead.
//!
//! All trial files are unnamed, so none is left. The trial ends after about a second on any disk, except for the last
//! write that it waits for.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Advice, FallocateFlags, Mode, OFlags, fadvise, fallocate, fdatasync, open, statvfs};
use yunti_engine::env::Env;

/// Bytes written and read at most.
const FILE_BYTES: u64 = 64 << 20;
const PIECE_BYTES: usize = 1 << 20;
/// Time limit of one trial step.
const LONGEST: Duration = Duration::from_millis(150);
/// Sequential reads from the disk, alternating between the two read-ahead sizes.
const READ_TURNS: usize = 4;
/// Bytes; direct I/O needs whole pages.
const PAGE_BYTES: usize = 4096;
const SYNCS: usize = 15;
/// Pairs of writes into preallocated blocks: at most, and at least.
const PAIRS: usize = 21;
const PAIRS_MIN: usize = 5;
const READS: usize = 63;
/// Bytes of one read, as programs use.
const READ_PIECE_BYTES: usize = 64 << 10;

/// Result of the trial. An `Err` holds the system's error message.
#[derive(Debug, Clone)]
pub struct Trial {
    /// True if files can be created.
    pub writable: Result<(), String>,
    /// Unnamed files (`O_TMPFILE`).
    pub nameless: Result<(), String>,
    /// Preallocation (`fallocate`).
    pub allocates: Result<(), String>,
    /// Holes (`FALLOC_FL_PUNCH_HOLE`).
    pub punches: Result<(), String>,
    /// Free bytes.
    pub free_bytes: Option<u64>,
    /// MB/s into and out of the page cache, the path of spills.
    pub speed: Option<Speed>,
    /// MB/s to the disk, with sync.
    pub synced: Option<f64>,
    /// Sequential reads from the disk.
    pub ahead: Option<ReadAheadSpeed>,
    /// Block size of the file system in bytes.
    pub block_bytes: Option<u64>,
    /// Milliseconds to append and sync 4 KiB, the median.
    pub sync_ms: Option<f64>,
    /// Direct reads at two positions.
    pub jump: Option<SeekTimes>,
    /// Writes into preallocated blocks.
    pub unwritten: Option<WriteTimes>,
}

/// MB/s of sequential reads from the disk, with the system's read-ahead and with twice as much.
#[derive(Debug, Clone, Copy)]
pub struct ReadAheadSpeed {
    /// With the system's read-ahead.
    pub usual: f64,
    /// With twice as much.
    pub doubled: f64,
}

/// Microseconds for a direct read of 4 KiB from the disk, medians.
#[derive(Debug, Clone, Copy)]
pub struct SeekTimes {
    /// At the position after the previous read.
    pub next_us: f64,
    /// At another position.
    pub other_us: f64,
}

/// Milliseconds of writes in pairs: into preallocated blocks, and once more into the same blocks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WriteTimes {
    /// 4 KiB, each with `fdatasync`.
    pub synced: Vec<(f64, f64)>,
    /// 4 KiB of direct I/O without sync; empty if the file system has none.
    pub direct: Vec<(f64, f64)>,
}

/// MB/s through the page cache.
#[derive(Debug, Clone, Copy)]
pub struct Speed {
    /// Into the page cache.
    pub write: f64,
    /// Out of the page cache.
    pub read: f64,
}

/// Tries directory `dir`. `quick`: leaves out all trials that write data.
pub fn attempt(env: &Env, dir: &Path, quick: bool) -> Trial {
    let word = |e: rustix::io::Errno| std::io::Error::from(e).to_string();
    let file = open(dir, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
    let on_file = |flags| match &file {
        Ok(file) => fallocate(file, flags, 0, 1 << 20).map_err(word),
        Err(e) => Err(word(*e)),
    };
    let measured = file.as_ref().ok().filter(|_| !quick);
    let disk = measured.and_then(|file| with_disk(env, dir, file));
    // The file has data only now.
    let jump = measured.filter(|_| disk.is_some()).and_then(jump);
    let sync_ms = measured.filter(|_| disk.is_some()).and_then(sync_ms);
    Trial {
        synced: disk.map(|(synced, _)| synced),
        ahead: disk.and_then(|(_, ahead)| ahead),
        sync_ms,
        jump,
        unwritten: measured.filter(|_| disk.is_some()).and_then(|_| write_times(dir)),
        block_bytes: statvfs(dir).ok().map(|stat| stat.f_bsize),
        writable: env.files.scratch(dir).map(|_| ()).map_err(|e| e.to_string()),
        allocates: on_file(FallocateFlags::empty()),
        punches: on_file(FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE),
        nameless: file.as_ref().map(|_| ()).map_err(|e| word(*e)),
        free_bytes: env.files.free_bytes(dir).ok(),
        speed: if quick { None } else { speed(env, dir) },
    }
}

/// Speed through the page cache. `None`: too little space, or an error; the other findings report the reason.
fn speed(env: &Env, dir: &Path) -> Option<Speed> {
    if env.files.free_bytes(dir).ok()? < 4 * FILE_BYTES {
        return None;
    }
    let file = env.files.scratch(dir).ok()?;
    // Blocks all differ, because some file systems compress.
    let mut piece: Vec<u8> =
        (0..PIECE_BYTES as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
    let mut written = 0;
    let begin = Instant::now();
    while written < FILE_BYTES && begin.elapsed() < LONGEST {
        written += file.write_at(&piece, written).ok().filter(|n| *n > 0)? as u64;
    }
    let write = rate(written, begin);
    let (mut at, begin) = (0, Instant::now());
    while at < written && begin.elapsed() < LONGEST {
        at += file.read_at(&mut piece, at).ok().filter(|n| *n > 0)? as u64;
    }
    Some(Speed { write, read: rate(at, begin) })
}

/// MB/s written to the disk, and sequential reads from it. `None`: too little space.
fn with_disk(env: &Env, dir: &Path, file: &OwnedFd) -> Option<(f64, Option<ReadAheadSpeed>)> {
    if env.files.free_bytes(dir).ok()? < 4 * FILE_BYTES {
        return None;
    }
    let mut piece: Vec<u8> =
        (0..PIECE_BYTES as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
    let (mut written, begin) = (0, Instant::now());
    while written < FILE_BYTES && begin.elapsed() < LONGEST {
        written += rustix::io::pwrite(file, &piece, written).ok().filter(|n| *n > 0)? as u64;
        if written.is_multiple_of(8 << 20) {
            fdatasync(file).ok()?;
        }
    }
    fdatasync(file).ok()?;
    let synced = rate(written, begin);
    let mut rates = [Vec::new(), Vec::new()];
    for turn in 0..READ_TURNS {
        // Dropped from the page cache. tmpfs keeps the pages, and has no disk.
        let whole = std::num::NonZeroU64::new(written);
        fadvise(file, 0, whole, Advice::DontNeed).ok()?;
        fadvise(file, 0, whole, if turn % 2 == 0 { Advice::Normal } else { Advice::Sequential }).ok()?;
        let (mut at, begin) = (0, Instant::now());
        while at < written && begin.elapsed() < LONGEST / 2 {
            at += rustix::io::pread(file, &mut piece[..READ_PIECE_BYTES], at).ok().filter(|n| *n > 0)? as u64;
        }
        rates[turn % 2].push(rate(at, begin));
    }
    let best = |rates: &[f64]| rates.iter().copied().fold(0.0, f64::max);
    Some((synced, Some(ReadAheadSpeed { usual: best(&rates[0]), doubled: best(&rates[1]) })))
}

/// Milliseconds to append 4 KiB and sync it, the median.
fn sync_ms(file: &OwnedFd) -> Option<f64> {
    let mut took = Vec::new();
    let (piece, begin) = ([b'y'; PAGE_BYTES], Instant::now());
    let mut at = rustix::fs::fstat(file).ok()?.st_size as u64;
    while took.len() < SYNCS && (took.len() < 3 || begin.elapsed() < LONGEST / 2) {
        let one = Instant::now();
        rustix::io::pwrite(file, &piece, at).ok().filter(|n| *n == PAGE_BYTES)?;
        fdatasync(file).ok()?;
        took.push(one.elapsed().as_secs_f64() * 1e3);
        at += PAGE_BYTES as u64;
    }
    median(took)
}

/// Direct reads at the next and at another position. `None`: the file system supports no direct reads.
fn jump(file: &OwnedFd) -> Option<SeekTimes> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let direct = open(path.as_str(), OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let pages = rustix::fs::fstat(file).ok()?.st_size as u64 / PAGE_BYTES as u64;
    let mut memory = Aligned::page()?;
    let page = memory.page_mut();
    let mut median_of = |place: &dyn Fn(u64) -> u64| {
        let (mut took, begin) = (Vec::new(), Instant::now());
        while took.len() < READS && (took.len() < 3 || begin.elapsed() < LONGEST / 3) {
            let at = place(took.len() as u64) % pages.max(1) * PAGE_BYTES as u64;
            let one = Instant::now();
            rustix::io::pread(&direct, &mut *page, at).ok().filter(|n| *n == PAGE_BYTES)?;
            took.push(one.elapsed().as_secs_f64() * 1e6);
        }
        median(took)
    };
    // No other read has used the next position; another position is anywhere in the file.
    let next_us = median_of(&|n| n)?;
    Some(SeekTimes { next_us, other_us: median_of(&|n| (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16)? })
}

/// Times of writes into preallocated blocks of an unnamed file in `dir`. `None`: no unnamed files or no
/// preallocation.
fn write_times(dir: &Path) -> Option<WriteTimes> {
    let file = open(dir, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR).ok()?;
    // Each pair has a block of its own, apart from the next one, because neighbours would be one extent.
    let half = (2 * PAIRS * PAGE_BYTES) as u64;
    fallocate(&file, FallocateFlags::empty(), 0, 2 * half).ok()?;
    fdatasync(&file).ok()?;
    let mut memory = Aligned::page()?;
    memory.page_mut().fill(b'y');
    let synced = pairs(0, |at| {
        rustix::io::pwrite(&file, memory.page_mut(), at).ok().filter(|n| *n == PAGE_BYTES)?;
        fdatasync(&file).ok()
    })?;
    Some(WriteTimes { synced, direct: direct_pairs(&file, half, &mut memory).unwrap_or_default() })
}

fn direct_pairs(file: &OwnedFd, from: u64, memory: &mut Aligned) -> Option<Vec<(f64, f64)>> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let direct = open(path.as_str(), OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC, Mode::empty()).ok()?;
    pairs(from, |at| rustix::io::pwrite(&direct, memory.page_mut(), at).ok().filter(|n| *n == PAGE_BYTES).map(drop))
}

fn pairs(from: u64, mut write: impl FnMut(u64) -> Option<()>) -> Option<Vec<(f64, f64)>> {
    let (mut took, begin) = (Vec::new(), Instant::now());
    let mut timed = |at| {
        let one = Instant::now();
        write(at)?;
        Some(one.elapsed().as_secs_f64() * 1e3)
    };
    while took.len() < PAIRS && (took.len() < PAIRS_MIN || begin.elapsed() < LONGEST) {
        let at = from + (took.len() * 2 * PAGE_BYTES) as u64;
        took.push((timed(at)?, timed(at)?));
    }
    Some(took)
}

/// Memory of a page that begins at a page boundary, as direct I/O needs.
struct Aligned {
    memory: Vec<u8>,
    start: usize,
}

impl Aligned {
    /// Returns a page of zeros.
    fn page() -> Option<Aligned> {
        let memory = vec![0u8; 2 * PAGE_BYTES];
        let start = memory.as_ptr().align_offset(PAGE_BYTES);
        (start <= PAGE_BYTES).then_some(Aligned { memory, start })
    }

    /// Returns its bytes.
    fn page_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + PAGE_BYTES]
    }
}

/// Returns the upper median, or `None` without values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn rate(bytes: u64, begin: Instant) -> f64 {
    bytes as f64 / begin.elapsed().as_secs_f64().max(1e-9) / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each pair writes one block twice, and no two pairs write neighbours.
    #[test]
    fn writes_each_block_twice() {
        let mut places = Vec::new();
        pairs(8192, |at| {
            places.push(at);
            Some(())
        })
        .unwrap();
        assert_eq!(places.len(), 2 * PAIRS);
        assert!(places.chunks(2).enumerate().all(|(i, pair)| pair == [8192 + 8192 * i as u64; 2]), "{places:?}");
        assert_eq!(pairs(0, |_| None), None);
    }
}
