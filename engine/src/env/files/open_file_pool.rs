//! Output files with a limit on open handles: a job may have more partitions than its process may have open files.
//!
//! ```text
//!   part 0   closed |
//!   part 1   open   |  the oldest is closed when one more is opened; a later write opens it again
//!   part 2   open   |
//! ```
//!
//! Parts are written roughly in their order, so the file that was opened first is needed least. A file that is closed
//! during an operation stays open until the operation ends.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{File, Files, LockScope};
use crate::env::sync::{Mutex, MutexGuard};

/// A pool of files that keeps at most `open_max` of them open.
pub struct OpenFilePool {
    files: Arc<dyn Files>,
    open_max: usize,
    /// Open files, the oldest first.
    open: Mutex<VecDeque<Arc<Handle>>>,
}

#[derive(Default)]
struct Handle(Mutex<Option<Arc<dyn File>>>);

struct PooledFile {
    path: PathBuf,
    handle: Arc<Handle>,
    few: Arc<OpenFilePool>,
}

impl OpenFilePool {
    /// Returns a pool that keeps at most `open_max` files open, but at least one.
    pub fn new(files: Arc<dyn Files>, open_max: usize) -> Arc<OpenFilePool> {
        Arc::new(OpenFilePool { files, open_max: open_max.max(1), open: Mutex::default() })
    }

    /// Creates a file, which must not exist. The pool closes and reopens it as needed.
    pub fn create(self: &Arc<Self>, path: &Path) -> io::Result<Arc<dyn File>> {
        Ok(self.pooled(self.files.create(path)?, path))
    }

    /// Opens an existing file, as `create` does.
    pub fn open(self: &Arc<Self>, path: &Path) -> io::Result<Arc<dyn File>> {
        Ok(self.pooled(self.files.open_to_write(path)?, path))
    }

    fn pooled(self: &Arc<Self>, file: Arc<dyn File>, path: &Path) -> Arc<dyn File> {
        let handle = Arc::new(Handle(Mutex::new(Some(file))));
        self.keep(handle.clone());
        Arc::new(PooledFile { path: path.into(), handle, few: self.clone() })
    }

    fn keep(&self, handle: Arc<Handle>) {
        let mut open = self.open.lock().unwrap_or_else(|e| e.into_inner());
        open.push_back(handle);
        let closed = open.len().saturating_sub(self.open_max);
        let closed: Vec<Arc<Handle>> = open.drain(..closed).collect();
        drop(open);
        closed.iter().for_each(|handle| drop(handle.get().take()));
    }
}

impl Handle {
    fn get(&self) -> MutexGuard<'_, Option<Arc<dyn File>>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl PooledFile {
    fn file(&self) -> io::Result<Arc<dyn File>> {
        if let Some(file) = &*self.handle.get() {
            return Ok(file.clone());
        }
        let file = self.few.files.open_to_write(&self.path)?;
        *self.handle.get() = Some(file.clone());
        self.few.keep(self.handle.clone());
        Ok(file)
    }
}

impl File for PooledFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file()?.read_at(buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.file()?.write_at(bytes, offset)
    }
    fn len(&self) -> io::Result<u64> {
        self.file()?.len()
    }
    fn allocate(&self, len: u64) -> io::Result<()> {
        self.file()?.allocate(len)
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        self.file()?.truncate(len)
    }
    fn sync(&self) -> io::Result<()> {
        self.file()?.sync()
    }
    fn punch(&self, offset: u64, len: u64) {
        if let Ok(file) = self.file() {
            file.punch(offset, len);
        }
    }
    /// Always fails: the lock would end when the pool closes the file.
    fn lock(&self) -> io::Result<LockScope> {
        Err(io::ErrorKind::Unsupported.into())
    }
    fn keeps_marks(&self) -> bool {
        self.file().is_ok_and(|file| file.keeps_marks())
    }
    fn mark(&self, offset: u64) {
        if let Ok(file) = self.file() {
            file.mark(offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::faulty::{Fault, FaultyFiles, Operation};
    use crate::env::real::RealFiles;

    #[test]
    fn writes_every_byte_and_keeps_few_files_open() {
        let dir = std::env::temp_dir().join(format!("yunti-few-open-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let counting = Arc::new(FaultyFiles::new(Arc::new(RealFiles), 0, false, Fault::Short));
        let few = OpenFilePool::new(counting.clone(), 3);
        let files: Vec<_> = (0..10).map(|i| few.create(&dir.join(i.to_string())).unwrap()).collect();
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let files = &files;
                scope.spawn(move || {
                    for (i, file) in files.iter().enumerate() {
                        assert_eq!(file.write_at(&[i as u8, thread as u8], thread * 2).unwrap(), 2);
                    }
                });
            }
        });
        assert!(few.open.lock().unwrap().len() <= 3);
        assert!(counting.steps().iter().filter(|s| s.operation == Operation::OpenToWrite).count() >= 7);
        files.iter().for_each(|f| f.sync().unwrap());
        for i in 0..10u8 {
            assert_eq!(std::fs::read(dir.join(i.to_string())).unwrap(), [i, 0, i, 1, i, 2, i, 3]);
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
