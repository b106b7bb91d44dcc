//! The files of a simulated process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::disks::Disks;
use super::journal::Inode;
use super::process::{Process, Step};
use super::trouble::Strike;
use crate::env::faulty::{Operation, Place};
use crate::env::files::{File, Files, LockScope, Meta, Stream, StreamFile};
use crate::env::random::Random;

/// Files on simulated disks.
pub struct SimulatedFiles {
    pub process: Arc<Process>,
    pub open_max: usize,
    pub exchanges: bool,
}

impl SimulatedFiles {
    fn named<T: super::process::Measure>(
        &self,
        operation: Operation,
        path: &Path,
        act: impl FnOnce(&mut Disks, u64) -> io::Result<T>,
    ) -> io::Result<T> {
        let step = Step { operation, place: Place::Name, path, disk: None, offset: 0, len: 0 };
        self.process.perform(step, |disks, now_ms, _, _| act(disks, now_ms))
    }

    fn opened(
        &self,
        operation: Operation,
        place: Place,
        path: &Path,
        act: impl FnOnce(&mut Disks, u64) -> io::Result<Inode>,
    ) -> io::Result<Arc<dyn File>> {
        let named = if place == Place::Scratch { Place::Scratch } else { Place::Name };
        let step = Step { operation, place: named, path, disk: None, offset: 0, len: 0 };
        self.process.perform(step, |disks, now_ms, _, _| {
            let inode = act(disks, now_ms)?;
            let (process, path, disk) = (self.process.clone(), path.to_path_buf(), disks.disk_of(path));
            let file = SimulatedFile { process, inode, place, path, disk, lock: Mutex::new(None) };
            Ok(Arc::new(file) as Arc<dyn File>)
        })
    }
}

struct SimulatedFile {
    process: Arc<Process>,
    inode: Inode,
    place: Place,
    path: PathBuf,
    disk: usize,
    lock: Mutex<Option<u64>>,
}

impl SimulatedFile {
    fn perform<T: super::process::Measure>(
        &self,
        operation: Operation,
        (offset, len): (u64, u64),
        act: impl FnOnce(&mut Disks, u64, Option<Strike>, &mut Random) -> io::Result<T>,
    ) -> io::Result<T> {
        let step = Step { operation, place: self.place, path: &self.path, disk: Some(self.disk), offset, len };
        self.process.perform(step, act)
    }
}

fn flip(bytes: &mut [u8], random: &mut Random) {
    if !bytes.is_empty() {
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] ^= 1 << random.below(8);
    }
}

/// Returns the bytes that move: fewer, but at least one, if struck.
fn moved(len: usize, strike: Option<Strike>, random: &mut Random) -> usize {
    if strike == Some(Strike::Short) && len > 1 { 1 + random.below(len as u64 - 1) as usize } else { len }
}

impl File for SimulatedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.perform(Operation::Read, (offset, buffer.len() as u64), |disks, _, strike, random| {
            let n = moved(buffer.len(), strike, random);
            let n = disks.read_at(self.inode, &mut buffer[..n], offset)?;
            if strike == Some(Strike::BitFlip) {
                flip(&mut buffer[..n], random);
            }
            Ok(n)
        })
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.perform(Operation::Write, (offset, bytes.len() as u64), |disks, now_ms, strike, random| {
            let n = moved(bytes.len(), strike, random);
            if strike == Some(Strike::BitFlip) {
                let mut flipped = bytes.to_vec();
                flip(&mut flipped, random);
                return disks.write_at(self.inode, &flipped, offset, now_ms);
            }
            disks.write_at(self.inode, &bytes[..n], offset, now_ms)
        })
    }

    fn len(&self) -> io::Result<u64> {
        self.perform(Operation::Len, (0, 0), |disks, _, _, _| Ok(disks.len_of(self.inode)))
    }
    fn allocate(&self, len: u64) -> io::Result<()> {
        self.perform(Operation::Allocate, (0, len), |disks, now_ms, _, _| disks.allocate(self.inode, len, now_ms))
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        self.perform(Operation::Truncate, (0, len), |disks, now_ms, _, _| disks.truncate(self.inode, len, now_ms))
    }
    fn sync(&self) -> io::Result<()> {
        self.perform(Operation::Sync, (0, 0), |disks, _, _, _| disks.sync(self.inode))
    }
    fn punch(&self, offset: u64, len: u64) {
        self.process.quietly(|disks| disks.punch(self.inode, offset, len));
    }
    fn lock(&self) -> io::Result<LockScope> {
        self.perform(Operation::Lock, (0, 0), |disks, _, _, _| {
            let mut own = self.lock.lock().unwrap_or_else(|e| e.into_inner());
            *own = Some(disks.lock(self.inode, *own)?);
            Ok(())
        })?;
        Ok(LockScope::Everywhere)
    }
}

impl Drop for SimulatedFile {
    fn drop(&mut self) {
        let lock = self.lock.get_mut().map_or(None, |lock| *lock);
        self.process.quietly(|disks| disks.close(self.inode, lock));
    }
}

/// A closed standard stream.
struct NoStream;

impl Stream for NoStream {
    fn read(&self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(libc::EBADF))
    }
    fn write(&self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(libc::EBADF))
    }
}

impl Files for SimulatedFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.opened(Operation::Open, Place::Opened, path, |disks, _| disks.open(path))
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.opened(Operation::Create, Place::Created, path, |disks, now_ms| disks.create(path, now_ms))
    }
    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.opened(Operation::OpenToWrite, Place::Created, path, |disks, _| disks.open_to_write(path))
    }
    fn open_max(&self) -> usize {
        self.open_max
    }
    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        self.opened(Operation::Scratch, Place::Scratch, dir, |disks, now_ms| disks.scratch(dir, now_ms))
    }
    fn named_scratch(&self, _: &Path, path: &Path, fresh: bool) -> io::Result<Arc<dyn File>> {
        self.opened(Operation::Scratch, Place::Scratch, path, |disks, now_ms| match fresh {
            true => disks.create(path, now_ms),
            false => disks.open_to_write(path),
        })
    }
    fn stdin(&self) -> Arc<dyn File> {
        Arc::new(StreamFile(NoStream))
    }
    fn stdout(&self) -> Arc<dyn File> {
        Arc::new(StreamFile(NoStream))
    }
    fn meta(&self, path: &Path) -> io::Result<Meta> {
        self.named(Operation::Meta, path, |disks, _| disks.meta(path))
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.named(Operation::List, dir, |disks, _| disks.list(dir))
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.named(Operation::CreateDir, path, |disks, now_ms| disks.create_dir(path, now_ms))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.named(Operation::Rename, from, |disks, now_ms| disks.rename(from, to, now_ms))
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        self.named(Operation::Exchange, a, |disks, now_ms| match self.exchanges {
            true => disks.exchange(a, b, now_ms),
            false => Err(io::ErrorKind::Unsupported.into()),
        })
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.named(Operation::RemoveFile, path, |disks, now_ms| disks.remove_file(path, now_ms))
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.named(Operation::RemoveDir, path, |disks, now_ms| disks.remove_dir(path, now_ms))
    }
    /// Removes one entry an operation, as the system does: a crash may leave the rest.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut inside = Ok(Vec::new());
        self.process.quietly(|disks| {
            let is_dir = |path: PathBuf| disks.meta(&path).map(|meta| (path, meta.is_dir));
            inside = disks.list(path).and_then(|paths| paths.into_iter().map(is_dir).collect());
        });
        for (path, is_dir) in inside? {
            if is_dir { self.remove_dir_all(&path)? } else { self.remove_file(&path)? }
        }
        self.remove_dir(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.named(Operation::SyncDir, path, |disks, _| disks.sync_dir(path))
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.named(Operation::FreeBytes, path, |disks, _| {
            disks.meta(path)?;
            Ok(disks.free_bytes(disks.disk_of(path)).min(1 << 50))
        })
    }
}
