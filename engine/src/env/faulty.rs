//! Files that fail on purpose: the Nth operation gives an error, a short count or a torn block; all else passes through.
//!
//! The tests make every operation of a job fail in turn and ask for the right answer or one clean error, and nothing left.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::files::{File, Files, Meta};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The operation fails with this errno.
    Errno(i32),
    /// A read or a write moves only part of what was asked, and succeeds. Other operations are left alone.
    Short,
    /// A write claims success and its second half is zeros; a read returns one flipped bit. Other operations are left alone.
    Torn,
}

struct Plan {
    /// Operations so far.
    count: AtomicU64,
    /// Which one fails, from 1; 0: none.
    nth: u64,
    /// Whether every later one fails too (a disk that stays full).
    sticky: bool,
    fault: Fault,
}

impl Plan {
    fn strike(&self) -> Option<Fault> {
        let n = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        let hit = self.nth != 0 && (n == self.nth || (self.sticky && n > self.nth));
        hit.then_some(self.fault)
    }

    fn errno(&self) -> io::Result<()> {
        match self.strike() {
            Some(Fault::Errno(code)) => Err(io::Error::from_raw_os_error(code)),
            _ => Ok(()),
        }
    }
}

pub struct FaultyFiles {
    inner: Arc<dyn Files>,
    plan: Arc<Plan>,
}

impl FaultyFiles {
    /// Fails operation `nth` (from 1; 0 counts only) of `inner`, and with `sticky` all after it.
    pub fn new(inner: Arc<dyn Files>, nth: u64, sticky: bool, fault: Fault) -> Self {
        FaultyFiles { inner, plan: Arc::new(Plan { count: AtomicU64::new(0), nth, sticky, fault }) }
    }

    /// Operations seen so far.
    pub fn operations(&self) -> u64 {
        self.plan.count.load(Ordering::SeqCst)
    }

    fn wrap(&self, file: Arc<dyn File>) -> Arc<dyn File> {
        Arc::new(FaultyFile { inner: file, plan: self.plan.clone() })
    }
}

struct FaultyFile {
    inner: Arc<dyn File>,
    plan: Arc<Plan>,
}

impl File for FaultyFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self.plan.strike() {
            Some(Fault::Errno(code)) => Err(io::Error::from_raw_os_error(code)),
            Some(Fault::Short) if buffer.len() > 1 => {
                let half = buffer.len() / 2;
                self.inner.read_at(&mut buffer[..half], offset)
            }
            Some(Fault::Torn) => {
                let n = self.inner.read_at(buffer, offset)?;
                if n > 0 {
                    buffer[n / 2] ^= 1;
                }
                Ok(n)
            }
            _ => self.inner.read_at(buffer, offset),
        }
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        match self.plan.strike() {
            Some(Fault::Errno(code)) => Err(io::Error::from_raw_os_error(code)),
            Some(Fault::Short) if bytes.len() > 1 => self.inner.write_at(&bytes[..bytes.len() / 2], offset),
            Some(Fault::Torn) => {
                let mut torn = bytes.to_vec();
                let half = torn.len() / 2;
                torn[half..].fill(0);
                let mut done = 0;
                while done < torn.len() {
                    done += self.inner.write_at(&torn[done..], offset + done as u64)?;
                }
                Ok(done)
            }
            _ => self.inner.write_at(bytes, offset),
        }
    }

    fn len(&self) -> io::Result<u64> {
        self.plan.errno()?;
        self.inner.len()
    }
    fn allocate(&self, len: u64) -> io::Result<()> {
        self.plan.errno()?;
        self.inner.allocate(len)
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        self.plan.errno()?;
        self.inner.truncate(len)
    }
    fn sync(&self) -> io::Result<()> {
        self.plan.errno()?;
        self.inner.sync()
    }
    fn punch(&self, offset: u64, len: u64) {
        self.inner.punch(offset, len);
    }
}

impl Files for FaultyFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.plan.errno()?;
        Ok(self.wrap(self.inner.open(path)?))
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.plan.errno()?;
        Ok(self.wrap(self.inner.create(path)?))
    }
    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        self.plan.errno()?;
        Ok(self.wrap(self.inner.scratch(dir)?))
    }
    fn stdin(&self) -> Arc<dyn File> {
        self.wrap(self.inner.stdin())
    }
    fn stdout(&self) -> Arc<dyn File> {
        self.wrap(self.inner.stdout())
    }
    fn meta(&self, path: &Path) -> io::Result<Meta> {
        self.plan.errno()?;
        self.inner.meta(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.plan.errno()?;
        self.inner.list(dir)
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.plan.errno()?;
        self.inner.create_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.plan.errno()?;
        self.inner.rename(from, to)
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        self.plan.errno()?;
        self.inner.exchange(a, b)
    }
    // Cleaning up is what the tests rely on after a fault: removals pass.
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_file(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir_all(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.plan.errno()?;
        self.inner.sync_dir(path)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.inner.free_bytes(path)
    }
}
