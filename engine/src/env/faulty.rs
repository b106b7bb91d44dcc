//! Files that fail on purpose: one operation gives an error, a short count, a torn block or a delay. All other
//! operations pass through.
//! One of the listed files with `unsafe`: it passes the call that maps a file on.
//!
//! The tests make every operation of a job fail in turn. They expect the right answer or one clean error, and nothing
//! left behind. The operations of a job are recorded, so that each gets the faults that apply to it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::files::{File, Files, LockScope, Meta};
use yunti_base::store_protocol::Traffic;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
/// Failure of one operation.
pub enum Fault {
    /// The operation fails with this errno.
    Errno(i32),
    /// A read or write moves only half of the bytes and succeeds. It does not affect other operations.
    Short,
    /// A write succeeds but its second half is zeros; a read succeeds with one flipped bit. It does not affect other
    /// operations.
    Torn,
    /// The operation takes this many milliseconds longer.
    Slow(u64),
    /// The process is dead: this operation and all later ones fail, removals too, and half of a write may be done.
    Killed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
/// Operations of `Files` and `File`, by name.
pub enum Operation {
    Open,
    Create,
    OpenToWrite,
    Scratch,
    Meta,
    List,
    CreateDir,
    Rename,
    Exchange,
    RemoveFile,
    RemoveDir,
    RemoveDirAll,
    SyncDir,
    FreeBytes,
    Read,
    Write,
    Len,
    Allocate,
    Truncate,
    Sync,
    Lock,
    Map,
    PageIn,
}

impl Operation {
    /// Returns true for operations that remove files or directories.
    pub fn is_removal(self) -> bool {
        matches!(self, Operation::RemoveFile | Operation::RemoveDir | Operation::RemoveDirAll)
    }
}

/// Origin of the file of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The operation has a name but no open file.
    Name,
    /// The file was opened for reading.
    Opened,
    /// The file was created, or reopened for writing.
    Created,
    Scratch,
    /// Standard input or output.
    Stream,
}

/// One counted operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The operation.
    pub operation: Operation,
    /// Origin of its file.
    pub place: Place,
    /// The file's path; for a scratch file, its directory.
    pub path: PathBuf,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {:?} {}", self.operation, self.place, self.path.display())
    }
}

type Filter = Box<dyn Fn(&Step) -> bool + Send + Sync>;

struct Plan {
    /// Counted operations so far.
    steps: Mutex<Vec<Step>>,
    /// Number of the operation that fails, from 1; 0: none.
    nth: u64,
    /// True if all later operations fail too, like a disk that stays full.
    sticky: bool,
    fault: Fault,
    /// Selects the operations that are counted; all others pass through.
    counted: Filter,
}

impl Plan {
    fn steps(&self) -> MutexGuard<'_, Vec<Step>> {
        self.steps.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn strike(&self, operation: Operation, place: Place, path: &Path) -> Option<Fault> {
        let step = Step { operation, place, path: path.into() };
        if !(self.counted)(&step) {
            return None;
        }
        let n = {
            let mut steps = self.steps();
            steps.push(step);
            steps.len() as u64
        };
        // Removals succeed on a disk that stays full or broken. Otherwise no test could require that a job cleans up.
        let hit = match self.fault {
            Fault::Killed => n >= self.nth,
            _ if self.sticky => n >= self.nth && !operation.is_removal(),
            _ => n == self.nth,
        };
        if self.nth == 0 || !hit {
            return None;
        }
        if let Fault::Slow(ms) = self.fault {
            std::thread::sleep(Duration::from_millis(ms));
        }
        Some(self.fault)
    }

    /// Counts an operation; returns its error if it is to fail with one.
    fn errno(&self, operation: Operation, place: Place, path: &Path) -> io::Result<()> {
        match self.strike(operation, place, path) {
            Some(Fault::Errno(code)) => Err(io::Error::from_raw_os_error(code)),
            Some(Fault::Killed) => Err(killed()),
            _ => Ok(()),
        }
    }

    fn is_killed(&self) -> bool {
        self.fault == Fault::Killed && self.nth > 0 && self.steps().len() as u64 >= self.nth
    }
}

/// Returns the error of every operation of a process that is dead.
fn killed() -> io::Error {
    io::Error::from_raw_os_error(libc::EIO)
}

/// Files with one planned fault.
pub struct FaultyFiles {
    inner: Arc<dyn Files>,
    plan: Arc<Plan>,
}

impl FaultyFiles {
    /// Returns files that pass all operations to `inner`, except operation `nth` (from 1; 0 only counts), which has the
    /// fault. With `sticky`, all operations after it except removals have it too.
    pub fn new(inner: Arc<dyn Files>, nth: u64, sticky: bool, fault: Fault) -> Self {
        Self::only(inner, nth, sticky, fault, |_| true)
    }

    /// Returns files as `new` does, but counts only the operations that `counted` selects; all others pass through.
    pub fn only(
        inner: Arc<dyn Files>,
        nth: u64,
        sticky: bool,
        fault: Fault,
        counted: impl Fn(&Step) -> bool + Send + Sync + 'static,
    ) -> Self {
        let counted = Box::new(counted);
        FaultyFiles { inner, plan: Arc::new(Plan { steps: Mutex::default(), nth, sticky, fault, counted }) }
    }

    /// Returns the number of operations counted so far.
    pub fn operations(&self) -> u64 {
        self.plan.steps().len() as u64
    }

    /// Returns the counted operations, in order.
    pub fn steps(&self) -> Vec<Step> {
        self.plan.steps().clone()
    }

    fn wrap(&self, inner: Arc<dyn File>, place: Place, path: &Path) -> Arc<dyn File> {
        Arc::new(FaultyFile { inner, plan: self.plan.clone(), place, path: path.into() })
    }

    fn named(&self, operation: Operation, path: &Path) -> io::Result<()> {
        self.plan.errno(operation, Place::Name, path)
    }
}

struct FaultyFile {
    inner: Arc<dyn File>,
    plan: Arc<Plan>,
    place: Place,
    path: PathBuf,
}

impl FaultyFile {
    fn strike(&self, operation: Operation) -> Option<Fault> {
        self.plan.strike(operation, self.place, &self.path)
    }
    fn errno(&self, operation: Operation) -> io::Result<()> {
        self.plan.errno(operation, self.place, &self.path)
    }
}

impl File for FaultyFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self.strike(Operation::Read) {
            Some(Fault::Errno(code)) => Err(io::Error::from_raw_os_error(code)),
            Some(Fault::Killed) => Err(killed()),
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
        match self.strike(Operation::Write) {
            Some(Fault::Errno(code)) => Err(io::Error::from_raw_os_error(code)),
            Some(Fault::Killed) => {
                // Part of the last write before the kill may be in the file.
                if self.plan.steps().len() as u64 == self.plan.nth {
                    let _ = self.inner.write_at(&bytes[..bytes.len() / 2], offset);
                }
                Err(killed())
            }
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
        self.errno(Operation::Len)?;
        self.inner.len()
    }
    fn allocate(&self, len: u64) -> io::Result<()> {
        self.errno(Operation::Allocate)?;
        self.inner.allocate(len)
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        self.errno(Operation::Truncate)?;
        self.inner.truncate(len)
    }
    fn sync(&self) -> io::Result<()> {
        self.errno(Operation::Sync)?;
        self.inner.sync()
    }
    fn unwritten_bytes(&self) -> Option<u64> {
        self.inner.unwritten_bytes()
    }
    fn punch(&self, offset: u64, len: u64) {
        if !self.plan.is_killed() {
            self.inner.punch(offset, len);
        }
    }
    fn lock(&self) -> io::Result<LockScope> {
        self.errno(Operation::Lock)?;
        self.inner.lock()
    }
    unsafe fn map_over(&self, at: *mut u8, len: usize) -> io::Result<()> {
        self.errno(Operation::Map)?;
        // SAFETY: as the caller promises.
        unsafe { self.inner.map_over(at, len) }
    }
    fn page_in(&self, at: *mut u8, len: usize) -> io::Result<()> {
        self.errno(Operation::PageIn)?;
        self.inner.page_in(at, len)
    }
    fn expect(&self, from: u64, to: u64) {
        self.inner.expect(from, to);
    }
}

impl Files for FaultyFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.named(Operation::Open, path)?;
        Ok(self.wrap(self.inner.open(path)?, Place::Opened, path))
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.named(Operation::Create, path)?;
        Ok(self.wrap(self.inner.create(path)?, Place::Created, path))
    }
    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.named(Operation::OpenToWrite, path)?;
        Ok(self.wrap(self.inner.open_to_write(path)?, Place::Created, path))
    }
    fn open_max(&self) -> usize {
        self.inner.open_max()
    }
    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        self.plan.errno(Operation::Scratch, Place::Scratch, dir)?;
        Ok(self.wrap(self.inner.scratch(dir)?, Place::Scratch, dir))
    }
    fn named_scratch(&self, dir: &Path, path: &Path, fresh: bool) -> io::Result<Arc<dyn File>> {
        self.plan.errno(Operation::Scratch, Place::Scratch, dir)?;
        Ok(self.wrap(self.inner.named_scratch(dir, path, fresh)?, Place::Scratch, dir))
    }
    fn stdin(&self) -> Arc<dyn File> {
        self.wrap(self.inner.stdin(), Place::Stream, Path::new("standard input"))
    }
    fn stdout(&self) -> Arc<dyn File> {
        self.wrap(self.inner.stdout(), Place::Stream, Path::new("standard output"))
    }
    fn meta(&self, path: &Path) -> io::Result<Meta> {
        self.named(Operation::Meta, path)?;
        self.inner.meta(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.named(Operation::List, dir)?;
        self.inner.list(dir)
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.named(Operation::CreateDir, path)?;
        self.inner.create_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.named(Operation::Rename, from)?;
        self.inner.rename(from, to)
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        self.named(Operation::Exchange, a)?;
        self.inner.exchange(a, b)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.named(Operation::RemoveFile, path)?;
        self.inner.remove_file(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.named(Operation::RemoveDir, path)?;
        self.inner.remove_dir(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.named(Operation::RemoveDirAll, path)?;
        self.inner.remove_dir_all(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.named(Operation::SyncDir, path)?;
        self.inner.sync_dir(path)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.named(Operation::FreeBytes, path)?;
        self.inner.free_bytes(path)
    }
    fn is_shared(&self, path: &Path) -> bool {
        self.inner.is_shared(path)
    }
    fn absolute(&self, path: &Path) -> PathBuf {
        self.inner.absolute(path)
    }
    fn upcoming(&self, pieces: &[(&Path, u64, u64)]) {
        self.inner.upcoming(pieces);
    }
    fn transfer_bytes(&self, limit: u64) -> u64 {
        self.inner.transfer_bytes(limit)
    }
    fn traffic(&self) -> Option<Traffic> {
        self.inner.traffic()
    }
}
