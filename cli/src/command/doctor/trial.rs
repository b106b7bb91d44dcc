//! What a scratch directory can do, tried in it: files without names, blocks asked for, holes, and 64 MiB written and read.
//!
//! All of it in one file that has no name, so that nothing is left. It ends after 0.3 s whatever the disk.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, open};
use yunti_engine::env::Env;

const FILE_BYTES: u64 = 64 << 20;
const PIECE_BYTES: usize = 1 << 20;
const LONGEST: Duration = Duration::from_millis(150);

/// `Err` has the system's word for why not.
#[derive(Debug, Clone)]
pub struct Trial {
    pub writable: Result<(), String>,
    pub nameless: Result<(), String>,
    pub allocates: Result<(), String>,
    pub punches: Result<(), String>,
    pub free_bytes: Option<u64>,
    /// MB/s into and out of the page cache, as spills are.
    pub speed: Option<Speed>,
}

#[derive(Debug, Clone, Copy)]
pub struct Speed {
    pub write: f64,
    pub read: f64,
}

pub fn attempt(env: &Env, dir: &Path, quick: bool) -> Trial {
    let word = |e: rustix::io::Errno| std::io::Error::from(e).to_string();
    let file = open(dir, OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
    let on_file = |flags| match &file {
        Ok(file) => fallocate(file, flags, 0, 1 << 20).map_err(word),
        Err(e) => Err(word(*e)),
    };
    Trial {
        writable: env.files.scratch(dir).map(|_| ()).map_err(|e| e.to_string()),
        allocates: on_file(FallocateFlags::empty()),
        punches: on_file(FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE),
        nameless: file.as_ref().map(|_| ()).map_err(|e| word(*e)),
        free_bytes: env.files.free_bytes(dir).ok(),
        speed: if quick { None } else { speed(env, dir) },
    }
}

/// `None` where there is no room for it or it fails: the other findings say why.
fn speed(env: &Env, dir: &Path) -> Option<Speed> {
    if env.files.free_bytes(dir).ok()? < 4 * FILE_BYTES {
        return None;
    }
    let file = env.files.scratch(dir).ok()?;
    // No two blocks alike, for file systems that compress.
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

fn rate(bytes: u64, begin: Instant) -> f64 {
    bytes as f64 / begin.elapsed().as_secs_f64().max(1e-9) / 1e6
}
