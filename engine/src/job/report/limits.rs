//! Rates of this machine, to which a job's stages are compared (`yunti machine limits`).
//!
//! ```text
//!   memory: read, write, copy; fresh pages      1 thread, all threads
//!   work:   crc32c, lz4 in and out, sort        1 thread, all threads
//!   files:  cached read, write, write + sync    per directory, nameless scratch files
//! ```
//! Each rate is the best of several rounds over data larger than the caches. Reads from a cold disk are not measured,
//! because the file layer cannot bypass the page cache. The synced write shows the speed of the disk.

use std::hint::black_box;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::bytes::checksum::crc32c;
use crate::codec::lz4_block::{Compressor, compressed_bytes_max, decompress};
use crate::collect::vsort::{Simd, sort_u64};
use crate::env::random::Random;
use crate::env::sync::Mutex;
use crate::env::{Env, Files, NamedFile};
use crate::memory::Buffer;
use yunti_base::{Code, Error, Result};

/// Value of `format`. The number changes if a field changes its meaning; new fields keep it.
pub const LIMITS_FORMAT: &str = "yunti-limits/1";

/// Measured rates, in MB/s (10^6 bytes) unless the name has another unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    pub format: String,
    pub measured_unix_ms: u64,
    /// Threads of the rates `all`.
    pub threads: u32,
    pub simd: String,
    pub memory_read: Rate,
    pub memory_write: Rate,
    /// Copied bytes; each is read once and written once.
    pub memory_copy: Rate,
    /// First touch of new memory, mapping included, in pages of 4 KiB.
    pub fresh_pages: Rate,
    /// The same in huge pages, if the system has them.
    pub fresh_huge_pages: Rate,
    pub crc32c: Rate,
    /// Text that shrinks to about a half, in MB of text.
    pub lz4_compress: Rate,
    pub lz4_decompress: Rate,
    /// Random 8-byte entries in pieces of 32 Ki entries, in MB of entries.
    pub sort: Rate,
    pub files: Vec<FileLimits>,
    /// Measurements that were left out, each with its reason.
    pub not_measured: Vec<String>,
}

/// A rate on one thread and on all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    pub one: f64,
    pub all: f64,
}

/// Rates of files in one directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileLimits {
    pub directory: String,
    /// Reads from the page cache into a reused buffer.
    pub cached_read: Rate,
    /// Writes of one thread into the page cache, to a growing file.
    pub write: f64,
    /// The same with the blocks allocated first.
    pub write_allocated: f64,
    /// The same with allocated blocks and a sync at the end: the speed of the disk.
    pub write_synced: f64,
}

impl Limits {
    /// Reads limits that `store` wrote. `None` without a file, or for a file that this version does not understand.
    pub fn load(files: &dyn Files, path: &Path) -> Option<Limits> {
        let file = NamedFile::open(files, path, Code::Input).ok()?;
        let mut bytes = vec![0; usize::try_from(file.len().ok()?).ok().filter(|&n| n <= 1 << 20)?];
        let n = file.read_up_to(&mut bytes, 0).ok()?;
        let limits: Limits = serde_json::from_slice(&bytes[..n]).ok()?;
        (limits.format == LIMITS_FORMAT).then_some(limits)
    }

    /// Writes the limits under a temporary name and renames the file: a reader sees the old file or the new one.
    ///
    /// Errors: `Output`, with the path.
    pub fn store(&self, files: &dyn Files, path: &Path) -> Result<()> {
        let dir = path.parent().unwrap_or(Path::new("."));
        create_dirs(files, dir)?;
        let fresh = path.with_extension(format!("{}.tmp", self.measured_unix_ms));
        let text = serde_json::to_string_pretty(self).expect("numbers and strings can be written as JSON");
        let written = NamedFile::create(files, &fresh, Code::Output)
            .and_then(|file| file.write_all(format!("{text}\n").as_bytes(), 0))
            .and_then(|()| {
                let named = files.rename(&fresh, path);
                named.map_err(|e| Error::io(Code::Output, "cannot rename", &e).at_path(path.to_string_lossy()))
            });
        if written.is_err() {
            let _ = files.remove_file(&fresh);
        }
        written
    }

    /// Returns the highest rate of one worker in a stage bound by this resource, in MB/s; None if it was not measured.
    pub fn of_resource(&self, resource: &str) -> Option<f64> {
        let files = self.files.first();
        match resource {
            "memory" => Some(self.memory_copy.one),
            "disk_read" => files.map(|f| f.cached_read.one),
            "disk_write" => files.map(|f| f.write_allocated),
            _ => None,
        }
        .filter(|rate| *rate > 0.0)
    }
}

/// Path of the measurements below the user's cache directory.
pub const FILE_NAME: &str = "yunti/limits.json";

fn create_dirs(files: &dyn Files, dir: &Path) -> Result<()> {
    if dir.as_os_str().is_empty() || files.meta(dir).is_ok_and(|m| m.is_dir) {
        return Ok(());
    }
    create_dirs(files, dir.parent().unwrap_or(Path::new("/")))?;
    match files.create_dir(dir) {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(Error::io(Code::Output, "cannot create the directory", &e).at_path(dir.to_string_lossy()))
        }
        _ => Ok(()),
    }
}

/// Measures for about three seconds, or one with `quick`; longer on slow disks. `dirs`: directories of inputs, outputs
/// and scratch.
///
/// Errors: `Memory` if the buffers cannot be allocated. A directory that cannot be measured is listed in
/// `not_measured`.
pub fn measure(env: &Env, dirs: &[&Path], quick: bool) -> Result<Limits> {
    let bench = Bench {
        env,
        threads: env.threads.processors(),
        round_ns: if quick { 30_000_000 } else { 90_000_000 },
        memory_bytes: if quick { 64 << 20 } else { 128 << 20 },
        file_bytes: if quick { 32 << 20 } else { 128 << 20 },
    };
    let mut limits = Limits {
        format: LIMITS_FORMAT.into(),
        measured_unix_ms: env.clock.unix_ms(),
        threads: bench.threads as u32,
        simd: Simd::detect().name().into(),
        not_measured: vec!["reads from a cold disk: the page cache cannot be bypassed".into()],
        ..Limits::default()
    };
    bench.memory(&mut limits)?;
    bench.work(&mut limits);
    for dir in dirs {
        match bench.files(dir) {
            Ok(files) => limits.files.push(files),
            Err(e) => limits.not_measured.push(format!("files in {}: {e}", dir.display())),
        }
    }
    Ok(limits)
}

struct Bench<'a> {
    env: &'a Env,
    threads: usize,
    /// Nanoseconds for which a rate is measured.
    round_ns: u64,
    /// Bytes of memory of all threads together; larger than the caches.
    memory_bytes: usize,
    file_bytes: usize,
}

impl Bench<'_> {
    /// Returns the rate of `work(thread's state) -> bytes`, called repeatedly on one thread a state. The first call
    /// does not count. On one thread the best call counts; on several, the sum of the threads' means.
    fn rate<S: Send>(&self, states: &mut [S], work: impl Fn(&mut S) -> usize + Sync) -> f64 {
        let states: Vec<Mutex<&mut S>> = states.iter_mut().map(Mutex::new).collect();
        let sum = Mutex::new(0.0);
        self.env.threads.run(states.len(), &|thread| {
            let Ok(mut state) = states[thread].lock() else { return };
            work(&mut state);
            let begin = self.env.clock.now_ns();
            let (mut best, mut bytes, mut last) = (0.0f64, 0, begin);
            while last - begin < self.round_ns {
                let n = work(&mut state);
                bytes += n;
                let now = self.env.clock.now_ns();
                best = best.max(n as f64 / (now - last).max(1) as f64);
                last = now;
            }
            let mean = bytes as f64 / (last - begin).max(1) as f64;
            // Bytes per nanosecond are GB/s.
            *sum.lock().unwrap_or_else(|e| e.into_inner()) += 1000.0 * if states.len() == 1 { best } else { mean };
        });
        sum.into_inner().unwrap_or_else(|e| e.into_inner())
    }

    /// Measures the same work on one thread and on all.
    fn both<S: Send>(&self, states: &mut [S], work: impl Fn(&mut S) -> usize + Sync) -> Rate {
        let one = self.rate(&mut states[..1], &work);
        let all = if states.len() == 1 { one } else { self.rate(states, &work) };
        Rate { one, all }
    }

    fn memory(&self, limits: &mut Limits) -> Result<()> {
        let each = (self.memory_bytes / 2 / self.threads).next_multiple_of(4096);
        let mut pairs = Vec::new();
        for _ in 0..self.threads {
            let mut pair = (Buffer::new(each, None)?, Buffer::new(each, None)?);
            pair.0.fill(1);
            pair.1.fill(2);
            pairs.push(pair);
        }
        limits.memory_read = self.both(&mut pairs, |(a, b)| {
            black_box(sum(a) ^ sum(b));
            a.len() + b.len()
        });
        limits.memory_write = self.both(&mut pairs, |(a, b)| {
            a.fill(black_box(3));
            b.fill(black_box(4));
            a.len() + b.len()
        });
        limits.memory_copy = self.both(&mut pairs, |(a, b)| {
            b.copy_from_slice(black_box(a));
            b.len()
        });
        drop(pairs);
        // A buffer below 1 MiB requests no huge pages and has no room for one.
        let mut nothing = vec![(); self.threads];
        let fresh = |bytes: usize| Buffer::new(bytes, None).map_or(0, |mut memory| touch(&mut memory));
        limits.fresh_pages = self.both(&mut nothing, |()| fresh(1000 << 10));
        limits.fresh_huge_pages = self.both(&mut nothing, |()| fresh(8 << 20));
        Ok(())
    }

    fn work(&self, limits: &mut Limits) {
        const BLOCK: usize = 256 << 10;
        let text = half_compressible(self.env.seed, BLOCK);
        let mut packed = vec![0; compressed_bytes_max(BLOCK)];
        let packed_bytes = Compressor::new().compress(&text, &mut packed);
        packed.truncate(packed_bytes);
        let mut nothing = vec![(); self.threads];
        limits.crc32c = self.both(&mut nothing, |()| {
            black_box(crc32c(black_box(&text)));
            BLOCK
        });
        let mut packers: Vec<_> =
            (0..self.threads).map(|_| (Compressor::new(), vec![0; compressed_bytes_max(BLOCK)])).collect();
        limits.lz4_compress = self.both(&mut packers, |(packer, out)| {
            black_box(packer.compress(black_box(&text), out));
            BLOCK
        });
        let mut outs = vec![vec![0; BLOCK]; self.threads];
        limits.lz4_decompress = self.both(&mut outs, |out| decompress(black_box(&packed), out).unwrap_or(0));
        let mut random = Random::new(self.env.seed);
        let entries: Vec<u64> = (0..32 << 10).map(|_| random.next_u64()).collect();
        let simd = Simd::detect();
        let mut pieces = vec![entries.clone(); self.threads];
        limits.sort = self.both(&mut pieces, |piece| {
            piece.copy_from_slice(&entries);
            sort_u64(simd, piece);
            size_of_val(&piece[..])
        });
    }

    fn files(&self, dir: &Path) -> Result<FileLimits> {
        let free =
            self.env.files.free_bytes(dir).map_err(|e| Error::io(Code::Output, "cannot read the free space", &e))?;
        if free < 4 * self.file_bytes as u64 {
            return Err(Error::new(Code::Output, "too little free space"));
        }
        const PIECE: usize = 1 << 20;
        let mut piece = Buffer::new(PIECE, None)?;
        piece.copy_from_slice(&half_compressible(self.env.seed, PIECE));
        let scratch = || -> Result<NamedFile> {
            let file = self.env.files.scratch(dir).map_err(|e| Error::io(Code::Output, "cannot create a file", &e))?;
            Ok(NamedFile::new(file, dir, Code::Output))
        };
        let write = |file: &NamedFile, allocate: bool, sync: bool| -> Result<f64> {
            let begin = self.env.clock.now_ns();
            if allocate {
                file.allocate(self.file_bytes as u64)?;
            }
            for at in (0..self.file_bytes).step_by(PIECE) {
                file.write_all(&piece, at as u64)?;
            }
            if sync {
                file.sync()?;
            }
            Ok(self.file_bytes as f64 * 1000.0 / (self.env.clock.now_ns() - begin).max(1) as f64)
        };
        // Each into its own file. The first write warms up the memory of the page cache.
        write(&scratch()?, false, false)?;
        let grown = write(&scratch()?, false, false)?;
        let file = scratch()?;
        let write_allocated = write(&file, true, false)?;
        let mut buffers = Vec::new();
        for _ in 0..self.threads {
            buffers.push((Buffer::new(PIECE, None)?, 0u64));
        }
        let cached_read = self.both(&mut buffers, |(buffer, at)| {
            *at = (*at + PIECE as u64) % self.file_bytes as u64;
            file.read_up_to(buffer, *at).unwrap_or(0)
        });
        drop(file);
        let write_synced = write(&scratch()?, true, true)?;
        Ok(FileLimits {
            directory: dir.to_string_lossy().into_owned(),
            cached_read,
            write: grown,
            write_allocated,
            write_synced,
        })
    }
}

/// Reads every byte. Eight sums keep the additions independent.
fn sum(bytes: &[u8]) -> u64 {
    let mut sums = [0u64; 8];
    for line in bytes.as_chunks::<64>().0 {
        for (sum, word) in sums.iter_mut().zip(line.as_chunks::<8>().0) {
            *sum = sum.wrapping_add(u64::from_le_bytes(*word));
        }
    }
    sums.iter().fold(0, |a, b| a ^ b)
}

/// Writes to each page of 4 KiB once. Returns the bytes.
fn touch(memory: &mut [u8]) -> usize {
    for at in (0..memory.len()).step_by(4096) {
        memory[at] = 1;
    }
    black_box(&memory);
    memory.len()
}

/// Returns words from a small list, some with random letters.
fn half_compressible(seed: u64, bytes: usize) -> Vec<u8> {
    const WORDS: [&[u8]; 8] =
        [b"cloud ", b"ladder ", b"record ", b"split ", b"reduce\n", b"map ", b"merge ", b"in order "];
    let mut random = Random::new(seed);
    let mut out = Vec::with_capacity(bytes + 16);
    while out.len() < bytes {
        out.extend_from_slice(WORDS[random.below(8) as usize]);
        if random.below(2) == 0 {
            out.extend((0..4).map(|_| b'a' + random.below(26) as u8));
            out.push(b' ');
        }
    }
    out.truncate(bytes);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rate_is_measured_and_survives_its_file() {
        let env = Env::real();
        let temp = std::env::temp_dir();
        let limits = measure(&env, &[&temp, Path::new("/nowhere")], true).unwrap();
        let text = serde_json::to_string(&limits).unwrap();
        for rate in [
            limits.memory_read,
            limits.memory_copy,
            limits.fresh_huge_pages,
            limits.crc32c,
            limits.lz4_decompress,
            limits.sort,
        ] {
            assert!(rate.one > 0.0 && rate.all > 0.0, "{text}");
        }
        assert!(limits.files[0].write_synced > 0.0 && limits.files.len() == 1, "{text}");
        assert!(limits.not_measured.iter().any(|line| line.contains("/nowhere")), "{text}");

        let dir = temp.join(format!("yunti-limits-test-{}", std::process::id()));
        let path = dir.join("a/b/limits.json");
        limits.store(&*env.files, &path).unwrap();
        limits.store(&*env.files, &path).unwrap();
        assert_eq!(
            Limits::load(&*env.files, &path).as_ref().map(|l| l.measured_unix_ms),
            Some(limits.measured_unix_ms)
        );
        assert_eq!(env.files.list(&dir.join("a/b")).unwrap().len(), 1);
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!(Limits::load(&*env.files, &path), None);
    }
}
