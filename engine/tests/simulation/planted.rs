//! Planted bugs: the simulation finds each of them, and nothing without them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yunti_engine::env::faulty::Place;
use yunti_engine::env::files::Meta;
use yunti_engine::env::{File, Files, LockScope};

use crate::case::{Case, Only};

/// Seeds in which a planted bug must show.
const SEEDS: u64 = 3000;

/// A bug of the files of a job.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    None,
    /// Syncs of files do nothing.
    LostSync,
    /// Syncs of directories do nothing.
    LostDirectorySync,
    /// Blocks of scratch files land one page too far, one time of many.
    MisplacedBlock,
    /// Locks are always free.
    NoLock,
    /// Files are never closed.
    Leak,
    /// Removals report success and do nothing.
    NoRemoval,
    /// A short write claims to have written all.
    HiddenShortWrite,
}

struct Planted(Arc<dyn Files>, Bug);

struct PlantedFile {
    inner: Arc<dyn File>,
    place: Place,
    bug: Bug,
}

impl File for PlantedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.inner.read_at(buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let misplaced = self.bug == Bug::MisplacedBlock && self.place == Place::Scratch && bytes.len() % 4 == 1;
        let n = self.inner.write_at(bytes, if misplaced { offset + 1 } else { offset })?;
        Ok(if self.bug == Bug::HiddenShortWrite { bytes.len() } else { n })
    }
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }
    fn allocate(&self, len: u64) -> io::Result<()> {
        self.inner.allocate(len)
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        self.inner.truncate(len)
    }
    fn sync(&self) -> io::Result<()> {
        if self.bug == Bug::LostSync { Ok(()) } else { self.inner.sync() }
    }
    fn punch(&self, offset: u64, len: u64) {
        self.inner.punch(offset, len);
    }
    fn lock(&self) -> io::Result<LockScope> {
        if self.bug == Bug::NoLock { Ok(LockScope::Everywhere) } else { self.inner.lock() }
    }
}

impl Planted {
    fn wrap(&self, inner: io::Result<Arc<dyn File>>, place: Place) -> io::Result<Arc<dyn File>> {
        let inner = inner?;
        if self.1 == Bug::Leak && place == Place::Created {
            std::mem::forget(inner.clone());
        }
        Ok(Arc::new(PlantedFile { inner, place, bug: self.1 }))
    }

    fn removal(&self, remove: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if self.1 == Bug::NoRemoval { Ok(()) } else { remove() }
    }
}

impl Files for Planted {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.wrap(self.0.open(path), Place::Opened)
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.wrap(self.0.create(path), Place::Created)
    }
    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.wrap(self.0.open_to_write(path), Place::Created)
    }
    fn open_max(&self) -> usize {
        self.0.open_max()
    }
    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        self.wrap(self.0.scratch(dir), Place::Scratch)
    }
    fn named_scratch(&self, dir: &Path, path: &Path, fresh: bool) -> io::Result<Arc<dyn File>> {
        self.wrap(self.0.named_scratch(dir, path, fresh), Place::Scratch)
    }
    fn stdin(&self) -> Arc<dyn File> {
        self.0.stdin()
    }
    fn stdout(&self) -> Arc<dyn File> {
        self.0.stdout()
    }
    fn meta(&self, path: &Path) -> io::Result<Meta> {
        self.0.meta(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.0.list(dir)
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.0.create_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        self.0.exchange(a, b)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.removal(|| self.0.remove_file(path))
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.removal(|| self.0.remove_dir(path))
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.removal(|| self.0.remove_dir_all(path))
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        if self.1 == Bug::LostDirectorySync { Ok(()) } else { self.0.sync_dir(path) }
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.0.free_bytes(path)
    }
}

fn around(bug: Bug) -> fn(Arc<dyn Files>) -> Arc<dyn Files> {
    match bug {
        Bug::None => |files| Arc::new(Planted(files, Bug::None)),
        Bug::LostSync => |files| Arc::new(Planted(files, Bug::LostSync)),
        Bug::LostDirectorySync => |files| Arc::new(Planted(files, Bug::LostDirectorySync)),
        Bug::MisplacedBlock => |files| Arc::new(Planted(files, Bug::MisplacedBlock)),
        Bug::NoLock => |files| Arc::new(Planted(files, Bug::NoLock)),
        Bug::Leak => |files| Arc::new(Planted(files, Bug::Leak)),
        Bug::NoRemoval => |files| Arc::new(Planted(files, Bug::NoRemoval)),
        Bug::HiddenShortWrite => |files| Arc::new(Planted(files, Bug::HiddenShortWrite)),
    }
}

/// Expects that a bug shows within some seeds, and that the seed passes without it.
fn expect_found(bug: Bug) {
    let run = |seed: u64, bug: Bug| {
        let mut case = Case::of(seed, &Only::default());
        case.around = around(bug);
        case.run().outcome
    };
    let fails = |seed: u64| run(seed, bug).err().map(|what| (seed, what));
    let (seed, what) = (0..SEEDS).find_map(fails).expect("the bug must show");
    println!("seed {seed}: {what}");
    run(seed, Bug::None).unwrap_or_else(|e| panic!("seed {seed} fails without the bug: {e}"));
}

#[test]
fn a_lost_sync_of_files_is_found() {
    expect_found(Bug::LostSync);
}

#[test]
fn a_lost_sync_of_directories_is_found() {
    expect_found(Bug::LostDirectorySync);
}

#[test]
fn a_misplaced_block_is_found() {
    expect_found(Bug::MisplacedBlock);
}

#[test]
fn a_lock_that_does_not_lock_is_found() {
    expect_found(Bug::NoLock);
}

#[test]
fn a_file_that_is_never_closed_is_found() {
    expect_found(Bug::Leak);
}

#[test]
fn a_removal_that_does_nothing_is_found() {
    expect_found(Bug::NoRemoval);
}

#[test]
fn a_hidden_short_write_is_found() {
    expect_found(Bug::HiddenShortWrite);
}

#[test]
fn without_a_bug_nothing_is_found() {
    for seed in 0..100 {
        let mut case = Case::of(seed, &Only::default());
        case.around = around(Bug::None);
        let outcome = case.run().outcome;
        assert!(outcome.is_ok(), "seed {seed}: {outcome:?}");
    }
}
