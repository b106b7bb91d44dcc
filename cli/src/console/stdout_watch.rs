//! Files that watch standard output. They distinguish a job whose reader closed the pipe (`yunti run .. | head`) from a
//! job that failed because a disk is full.
//!
//! Rejected: the default action of SIGPIPE, as in C programs. The process would end in the middle of a job without
//! cleaning up; and a host that embeds the engine does not want its signals changed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use yunti_base::store_protocol::Traffic;
use yunti_engine::env::{
    Env, File, Files, Storage,
    files::{LockScope, Meta},
};

/// Flag that is set when the reader of standard output has closed it.
#[derive(Clone, Default)]
pub struct StdoutClosed(Arc<AtomicBool>);

impl StdoutClosed {
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Returns `env` with files that set the flag, and the flag.
pub fn watch(mut env: Env) -> (Env, StdoutClosed) {
    let closed = StdoutClosed::default();
    env.files = Arc::new(WatchedFiles { inner: env.files, closed: closed.clone() });
    (env, closed)
}

struct WatchedFiles {
    inner: Arc<dyn Files>,
    closed: StdoutClosed,
}

struct WatchedStdout {
    inner: Arc<dyn File>,
    closed: StdoutClosed,
}

impl File for WatchedStdout {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.inner.read_at(buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let written = self.inner.write_at(bytes, offset);
        if written.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::BrokenPipe) {
            self.closed.0.store(true, Ordering::Relaxed);
        }
        written
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
        self.inner.sync()
    }
    fn punch(&self, offset: u64, len: u64) {
        self.inner.punch(offset, len);
    }
    fn lock(&self) -> io::Result<LockScope> {
        self.inner.lock()
    }
}

impl Files for WatchedFiles {
    fn stdout(&self) -> Arc<dyn File> {
        Arc::new(WatchedStdout { inner: self.inner.stdout(), closed: self.closed.clone() })
    }
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.inner.open(path)
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.inner.create(path)
    }
    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        self.inner.open_to_write(path)
    }
    fn open_max(&self) -> usize {
        self.inner.open_max()
    }
    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        self.inner.scratch(dir)
    }
    fn stdin(&self) -> Arc<dyn File> {
        self.inner.stdin()
    }
    fn meta(&self, path: &Path) -> io::Result<Meta> {
        self.inner.meta(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.inner.list(dir)
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.create_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        self.inner.exchange(a, b)
    }
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
        self.inner.sync_dir(path)
    }
    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.inner.free_bytes(path)
    }
    fn storage(&self, dir: &Path) -> Option<Storage> {
        self.inner.storage(dir)
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
