//! Files that retry operations interrupted by a signal: on network file systems any operation may fail with EINTR.
//! One of the listed files with `unsafe`: it passes the call that maps a file on.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::storage::Storage;
use super::{File, Files, LockScope, Meta};
use yunti_base::store_protocol::Traffic;

/// Files of a job, with retries around the files that the job was given.
pub struct UninterruptedFiles(pub Arc<dyn Files>);

struct UninterruptedFile(Arc<dyn File>);

fn again<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match operation() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn wrap(file: Arc<dyn File>) -> Arc<dyn File> {
    Arc::new(UninterruptedFile(file))
}

impl File for UninterruptedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        again(|| self.0.read_at(buffer, offset))
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        again(|| self.0.write_at(bytes, offset))
    }
    fn len(&self) -> io::Result<u64> {
        again(|| self.0.len())
    }
    fn allocate(&self, len: u64) -> io::Result<()> {
        again(|| self.0.allocate(len))
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        again(|| self.0.truncate(len))
    }
    fn sync(&self) -> io::Result<()> {
        again(|| self.0.sync())
    }
    fn unwritten_bytes(&self) -> Option<u64> {
        self.0.unwritten_bytes()
    }
    fn punch(&self, offset: u64, len: u64) {
        self.0.punch(offset, len);
    }
    fn lock(&self) -> io::Result<LockScope> {
        again(|| self.0.lock())
    }
    unsafe fn map_over(&self, at: *mut u8, len: usize) -> io::Result<()> {
        // SAFETY: as the caller promises.
        again(|| unsafe { self.0.map_over(at, len) })
    }
    fn page_in(&self, at: *mut u8, len: usize) -> io::Result<()> {
        again(|| self.0.page_in(at, len))
    }
    fn keeps_marks(&self) -> bool {
        self.0.keeps_marks()
    }
    fn mark(&self, offset: u64) {
        self.0.mark(offset);
    }
    fn expect(&self, from: u64, to: u64) {
        self.0.expect(from, to);
    }
}

impl Files for UninterruptedFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        again(|| self.0.open(path)).map(wrap)
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        again(|| self.0.create(path)).map(wrap)
    }
    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        again(|| self.0.open_to_write(path)).map(wrap)
    }
    fn open_max(&self) -> usize {
        self.0.open_max()
    }
    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        again(|| self.0.scratch(dir)).map(wrap)
    }
    fn named_scratch(&self, dir: &Path, path: &Path, fresh: bool) -> io::Result<Arc<dyn File>> {
        again(|| self.0.named_scratch(dir, path, fresh)).map(wrap)
    }
    fn content_hash(&self, path: &Path) -> io::Result<Option<u64>> {
        self.0.content_hash(path)
    }
    fn stdin(&self) -> Arc<dyn File> {
        wrap(self.0.stdin())
    }
    fn stdout(&self) -> Arc<dyn File> {
        wrap(self.0.stdout())
    }
    fn meta(&self, path: &Path) -> io::Result<Meta> {
        again(|| self.0.meta(path))
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        again(|| self.0.list(dir))
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        again(|| self.0.create_dir(path))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        again(|| self.0.rename(from, to))
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        again(|| self.0.exchange(a, b))
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        again(|| self.0.remove_file(path))
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        again(|| self.0.remove_dir(path))
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        again(|| self.0.remove_dir_all(path))
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        again(|| self.0.sync_dir(path))
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        again(|| self.0.free_bytes(path))
    }
    fn storage(&self, dir: &Path) -> Option<Storage> {
        self.0.storage(dir)
    }
    fn is_shared(&self, path: &Path) -> bool {
        self.0.is_shared(path)
    }
    fn marks(&self, path: &Path) -> Vec<u64> {
        self.0.marks(path)
    }
    fn absolute(&self, path: &Path) -> PathBuf {
        self.0.absolute(path)
    }
    fn upcoming(&self, pieces: &[(&Path, u64, u64)]) {
        self.0.upcoming(pieces);
    }
    fn transfer_bytes(&self, limit: u64) -> u64 {
        self.0.transfer_bytes(limit)
    }
    fn traffic(&self) -> Option<Traffic> {
        self.0.traffic()
    }
}
