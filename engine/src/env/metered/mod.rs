//! Files that measure bytes and time of each role that files have in a job.
//! One of the listed files with `unsafe`: it passes the call that maps a file on.
//!
//! Each read or write takes two clock readings; both are per buffer, never per record. Standard streams are not
//! measured: waiting for a pipe is not disk work.

pub mod threads;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::env::clock::Clock;
use crate::env::files::storage::Storage;
use crate::env::files::{File, Files, LockScope, Meta};
use yunti_base::store_protocol::Traffic;

/// Role of a file in a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Files opened for reading, and directory lookups.
    Input,
    /// Files that the job creates.
    Output,
    /// Scratch files in this directory.
    Scratch(PathBuf),
}

/// Totals of the files of one role, over all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileTotals {
    /// Files opened or created.
    pub opened: u64,
    /// Nanoseconds in open, create and lookups.
    pub open_ns: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Nanoseconds in reads.
    pub read_ns: u64,
    /// Number of reads.
    pub reads: u64,
    /// Reads of less than `SMALL_BYTES`.
    pub small_reads: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Nanoseconds in writes, allocations and syncs.
    pub write_ns: u64,
    /// Number of writes.
    pub writes: u64,
    /// Writes of less than `SMALL_BYTES`.
    pub small_writes: u64,
}

/// Bytes of a read or write below which the cost of the call, or of a disk's arm, is more than its share.
pub const SMALL_BYTES: usize = 128 << 10;

#[derive(Default)]
struct Count {
    opened: AtomicU64,
    open_ns: AtomicU64,
    read_bytes: AtomicU64,
    read_ns: AtomicU64,
    reads: AtomicU64,
    small_reads: AtomicU64,
    written_bytes: AtomicU64,
    write_ns: AtomicU64,
    writes: AtomicU64,
    small_writes: AtomicU64,
}

impl Count {
    fn totals(&self) -> FileTotals {
        let of = |n: &AtomicU64| n.load(Ordering::Relaxed);
        FileTotals {
            opened: of(&self.opened),
            open_ns: of(&self.open_ns),
            read_bytes: of(&self.read_bytes),
            read_ns: of(&self.read_ns),
            reads: of(&self.reads),
            small_reads: of(&self.small_reads),
            written_bytes: of(&self.written_bytes),
            write_ns: of(&self.write_ns),
            writes: of(&self.writes),
            small_writes: of(&self.small_writes),
        }
    }
}

/// Files of a job, with meters around the files that the job was given.
pub struct MeteredFiles {
    files: Arc<dyn Files>,
    clock: Arc<dyn Clock>,
    input: Arc<Count>,
    output: Arc<Count>,
    scratch: Mutex<Vec<(PathBuf, Arc<Count>)>>,
}

impl MeteredFiles {
    /// Returns files without any counts yet.
    pub fn new(files: Arc<dyn Files>, clock: Arc<dyn Clock>) -> MeteredFiles {
        MeteredFiles { files, clock, input: Arc::default(), output: Arc::default(), scratch: Mutex::default() }
    }

    /// Returns the totals of each role that has any.
    pub fn totals(&self) -> Vec<(Place, FileTotals)> {
        let scratch = self.scratch.lock().unwrap_or_else(|e| e.into_inner());
        let scratch = scratch.iter().map(|(dir, count)| (Place::Scratch(dir.clone()), count.totals()));
        let named = [(Place::Input, self.input.totals()), (Place::Output, self.output.totals())];
        named.into_iter().chain(scratch).filter(|(_, t)| *t != FileTotals::default()).collect()
    }

    fn timed<T>(&self, ns: &AtomicU64, operation: impl FnOnce() -> T) -> T {
        timed(&*self.clock, ns, operation)
    }

    fn open_in(
        &self,
        count: &Arc<Count>,
        open: impl FnOnce() -> io::Result<Arc<dyn File>>,
    ) -> io::Result<Arc<dyn File>> {
        let inner = self.timed(&count.open_ns, open)?;
        count.opened.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(MeteredFile { inner, clock: self.clock.clone(), count: count.clone() }))
    }

    fn count_of(&self, dir: &Path) -> Arc<Count> {
        let mut scratch = self.scratch.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((_, count)) = scratch.iter().find(|(path, _)| path == dir) {
            return count.clone();
        }
        let count = Arc::<Count>::default();
        scratch.push((dir.into(), count.clone()));
        count
    }
}

fn timed<T>(clock: &dyn Clock, ns: &AtomicU64, operation: impl FnOnce() -> T) -> T {
    let start = clock.now_ns();
    let result = operation();
    ns.fetch_add(clock.now_ns().saturating_sub(start), Ordering::Relaxed);
    result
}

/// Counts a call for `bytes`.
fn count(calls: &AtomicU64, small: &AtomicU64, bytes: usize) {
    calls.fetch_add(1, Ordering::Relaxed);
    if bytes < SMALL_BYTES {
        small.fetch_add(1, Ordering::Relaxed);
    }
}

struct MeteredFile {
    inner: Arc<dyn File>,
    clock: Arc<dyn Clock>,
    count: Arc<Count>,
}

impl File for MeteredFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let n = timed(&*self.clock, &self.count.read_ns, || self.inner.read_at(buffer, offset))?;
        self.count.read_bytes.fetch_add(n as u64, Ordering::Relaxed);
        count(&self.count.reads, &self.count.small_reads, buffer.len());
        Ok(n)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let n = timed(&*self.clock, &self.count.write_ns, || self.inner.write_at(bytes, offset))?;
        self.count.written_bytes.fetch_add(n as u64, Ordering::Relaxed);
        count(&self.count.writes, &self.count.small_writes, bytes.len());
        Ok(n)
    }
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }
    fn allocate(&self, len: u64) -> io::Result<()> {
        timed(&*self.clock, &self.count.write_ns, || self.inner.allocate(len))
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        self.inner.truncate(len)
    }
    fn sync(&self) -> io::Result<()> {
        timed(&*self.clock, &self.count.write_ns, || self.inner.sync())
    }
    fn unwritten_bytes(&self) -> Option<u64> {
        self.inner.unwritten_bytes()
    }
    fn punch(&self, offset: u64, len: u64) {
        self.inner.punch(offset, len);
    }
    fn lock(&self) -> io::Result<LockScope> {
        self.inner.lock()
    }
    unsafe fn map_over(&self, at: *mut u8, len: usize) -> io::Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.inner.map_over(at, len) }
    }
    fn page_in(&self, at: *mut u8, len: usize) -> io::Result<()> {
        timed(&*self.clock, &self.count.read_ns, || self.inner.page_in(at, len))?;
        self.count.read_bytes.fetch_add(len as u64, Ordering::Relaxed);
        Ok(())
    }
    fn keeps_marks(&self) -> bool {
        self.inner.keeps_marks()
    }
    fn mark(&self, offset: u64) {
        self.inner.mark(offset);
    }
    fn expect(&self, from: u64, to: u64) {
        self.inner.expect(from, to);
    }
}

impl Files for MeteredFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.open_in(&self.input, || self.files.open(path))
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.open_in(&self.output, || self.files.create(path))
    }
    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.open_in(&self.output, || self.files.open_to_write(path))
    }
    fn open_max(&self) -> usize {
        self.files.open_max()
    }
    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        self.open_in(&self.count_of(dir), || self.files.scratch(dir))
    }
    fn named_scratch(&self, dir: &Path, path: &Path, fresh: bool) -> io::Result<Arc<dyn File>> {
        self.open_in(&self.count_of(dir), || self.files.named_scratch(dir, path, fresh))
    }
    fn content_hash(&self, path: &Path) -> io::Result<Option<u64>> {
        self.files.content_hash(path)
    }
    fn stdin(&self) -> Arc<dyn File> {
        self.files.stdin()
    }
    fn stdout(&self) -> Arc<dyn File> {
        self.files.stdout()
    }
    fn meta(&self, path: &Path) -> io::Result<Meta> {
        self.timed(&self.input.open_ns, || self.files.meta(path))
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.timed(&self.input.open_ns, || self.files.list(dir))
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.files.create_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.files.rename(from, to)
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        self.files.exchange(a, b)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.files.remove_file(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.files.remove_dir(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.files.remove_dir_all(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.files.sync_dir(path)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.files.free_bytes(path)
    }
    fn storage(&self, dir: &Path) -> Option<Storage> {
        self.files.storage(dir)
    }
    fn is_shared(&self, path: &Path) -> bool {
        self.files.is_shared(path)
    }
    fn marks(&self, path: &Path) -> Vec<u64> {
        self.files.marks(path)
    }
    fn absolute(&self, path: &Path) -> PathBuf {
        self.files.absolute(path)
    }
    fn upcoming(&self, pieces: &[(&Path, u64, u64)]) {
        self.files.upcoming(pieces);
    }
    fn transfer_bytes(&self, limit: u64) -> u64 {
        self.files.transfer_bytes(limit)
    }
    fn traffic(&self) -> Option<Traffic> {
        self.files.traffic()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::clock::RealClock;
    use crate::env::faulty::{Fault, FaultyFiles, Operation};
    use crate::env::real::RealFiles;

    #[test]
    fn counts_bytes_and_time_by_role() {
        let dir = std::env::temp_dir();
        let name = dir.join(format!("yunti-metered-{}", std::process::id()));
        let slow = FaultyFiles::only(Arc::new(RealFiles), 1, true, Fault::Slow(3), |s| s.operation == Operation::Read);
        let files = MeteredFiles::new(Arc::new(slow), Arc::new(RealClock::start()));
        assert_eq!(files.totals(), []);
        files.create(&name).unwrap().write_at(b"abc", 0).unwrap();
        let mut buffer = [0; 8];
        let file = files.open(&name).unwrap();
        assert_eq!(file.read_at(&mut buffer, 0).unwrap() + file.read_at(&mut buffer, 1).unwrap(), 5);
        files.scratch(&dir).unwrap().write_at(b"x", 0).unwrap();
        files.scratch(&dir).unwrap().write_at(b"yz", 0).unwrap();
        files.remove_file(&name).unwrap();
        let totals = files.totals();
        let of = |place: Place| totals.iter().find(|(p, _)| *p == place).unwrap().1;
        assert_eq!(totals.len(), 3);
        let input = of(Place::Input);
        assert_eq!((input.opened, input.read_bytes, input.written_bytes), (1, 5, 0));
        assert_eq!((input.reads, input.small_reads, input.writes), (2, 2, 0));
        assert!(input.read_ns >= 6_000_000, "{input:?}");
        assert_eq!((of(Place::Output).opened, of(Place::Output).written_bytes), (1, 3));
        let scratch = of(Place::Scratch(dir.clone()));
        assert_eq!((scratch.writes, scratch.small_writes), (2, 2));
        assert_eq!((of(Place::Scratch(dir.clone())).opened, of(Place::Scratch(dir)).written_bytes), (2, 3));
    }
}
