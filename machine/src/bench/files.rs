//! Files that a benchmark creates, reads and removes.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::{Bench, MIB, failed};
use yunti_base::Result;

/// Creates `count` files of `bytes` bytes, each with fsync if `sync`.
pub fn create(bench: &Bench, folder: &Path, count: usize, bytes: usize, sync: bool) -> Result<()> {
    let content = vec![b'y'; bytes];
    for i in 0..count {
        if i % 256 == 0 {
            bench.check_cancelled()?;
        }
        let path = nth(folder, i);
        if i % 1000 == 0 {
            fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(failed)?;
        }
        let mut file = File::create(path).map_err(failed)?;
        file.write_all(&content).map_err(failed)?;
        if sync {
            file.sync_all().map_err(failed)?;
        }
    }
    Ok(())
}

/// Reads the first `count` files.
pub fn read(bench: &Bench, folder: &Path, count: usize) -> Result<()> {
    each(bench, folder, count, |path| fs::read(path).map(drop))
}

/// Removes the first `count` files.
pub fn remove(bench: &Bench, folder: &Path, count: usize) -> Result<()> {
    each(bench, folder, count, |path| fs::remove_file(path))
}

fn each(bench: &Bench, folder: &Path, count: usize, act: impl Fn(&Path) -> std::io::Result<()>) -> Result<()> {
    for i in 0..count {
        if i % 256 == 0 {
            bench.check_cancelled()?;
        }
        act(&nth(folder, i)).map_err(failed)?;
    }
    Ok(())
}

/// Path of file `i`; each folder holds a thousand files.
fn nth(folder: &Path, i: usize) -> PathBuf {
    folder.join(format!("d{}", i / 1000)).join(format!("f{i}"))
}

/// Writes one file of incompressible bytes, and syncs it.
pub fn write_large(bench: &Bench, path: &Path, bytes: u64) -> Result<()> {
    let mut random = fastrand::Rng::with_seed(9);
    let mut block = vec![0; MIB as usize];
    random.fill(&mut block);
    let mut file = File::create(path).map_err(failed)?;
    let mut left = bytes;
    while left > 0 {
        bench.check_cancelled()?;
        let some = left.min(MIB) as usize;
        file.write_all(&block[..some]).map_err(failed)?;
        left -= some as u64;
    }
    file.sync_all().map_err(failed)
}
