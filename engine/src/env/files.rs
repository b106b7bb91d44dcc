//! Files as the engine sees them: positioned reads and writes on handles, and the few operations on names.
//!
//! Files of users are never memory-mapped: a file that is cut while it is read would be a SIGBUS, and a map cannot be
//! made to fail in a test.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use yunti_base::{Code, Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    pub len: u64,
    pub is_dir: bool,
    /// Not a regular file and not a directory: a pipe, a terminal, a device. It is read from start to end, once.
    pub is_stream: bool,
    /// Time of the last change by the file system's clock, in milliseconds since 1970-01-01 UTC; 0 where there is none.
    pub modified_ms: u64,
}

/// Processes that the lock of a file keeps out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockScope {
    /// Every process that can open the file.
    Everywhere,
    /// Processes of this machine. The file system may keep the lock to itself, so that another machine does not see it.
    Machine,
}

pub trait File: Send + Sync {
    /// Reads some bytes at `offset`; 0 at the end. Streams ignore `offset` and read on.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes some bytes at `offset`. Streams ignore `offset` and write on.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;
    fn len(&self) -> io::Result<u64>;
    /// Asks for `len` bytes of disk now, and makes the file at least so long: writes within its length cost half of those that
    /// make it longer. File systems that cannot are no error.
    fn allocate(&self, len: u64) -> io::Result<()>;
    fn truncate(&self, len: u64) -> io::Result<()>;
    fn sync(&self) -> io::Result<()>;
    /// Gives the blocks of [offset, offset + len) back to the file system, where it can.
    fn punch(&self, offset: u64, len: u64);
    /// Locks the whole file against every other open file of the same name, in this process and in others, and does not wait.
    /// The file must be open for writing. The lock ends when this file is closed, or its process ends, however it ends.
    ///
    /// Errors: `WouldBlock` if the lock is held, `Unsupported` if the file system has no locks.
    fn lock(&self) -> io::Result<LockScope>;
    /// Whether it keeps marks, for `Files::marks`.
    fn keeps_marks(&self) -> bool {
        false
    }
    /// A record begins at `offset`.
    fn mark(&self, _offset: u64) {}
}

/// What has no positions and no blocks: a pipe, a terminal, a socket.
pub trait Stream: Send + Sync {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize>;
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;
}

/// A stream as a file: its length is 0, and there is nothing to allocate, to cut or to sync.
pub struct StreamFile<S>(pub S);

impl<S: Stream> File for StreamFile<S> {
    fn read_at(&self, buffer: &mut [u8], _: u64) -> io::Result<usize> {
        self.0.read(buffer)
    }
    fn write_at(&self, bytes: &[u8], _: u64) -> io::Result<usize> {
        self.0.write(bytes)
    }
    fn len(&self) -> io::Result<u64> {
        Ok(0)
    }
    fn allocate(&self, _: u64) -> io::Result<()> {
        Ok(())
    }
    fn truncate(&self, _: u64) -> io::Result<()> {
        Ok(())
    }
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
    fn punch(&self, _: u64, _: u64) {}
    fn lock(&self) -> io::Result<LockScope> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub trait Files: Send + Sync {
    /// Opens for reading.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>>;
    /// Makes a file that must not exist, for writing and reading.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>>;
    /// Opens a file that exists, for writing and reading: one of this job where `open_max` is less than a job's files, or a lock file.
    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn File>>;
    /// How many files may be open at once.
    fn open_max(&self) -> usize;
    /// Makes a file in `dir` that has no name, so that nothing is left of it whatever happens to the process.
    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>>;
    fn stdin(&self) -> Arc<dyn File>;
    fn stdout(&self) -> Arc<dyn File>;
    fn meta(&self, path: &Path) -> io::Result<Meta>;
    /// The names in a directory, sorted by bytes.
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>>;
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Two names change places at once; `Unsupported` where the file system cannot.
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()>;
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Bytes free for this user on the file system of `path`.
    fn free_bytes(&self, path: &Path) -> io::Result<u64>;
    /// Returns true if other processes can reach the path.
    fn is_shared(&self, _path: &Path) -> bool {
        true
    }
    /// Where records of a file begin, ascending, as far as whoever wrote it said so: it may be cut there.
    fn marks(&self, _path: &Path) -> Vec<u64> {
        Vec::new()
    }
}

/// An open file with its name and the code that its failures have: what the floors above use.
#[derive(Clone)]
pub struct NamedFile {
    file: Arc<dyn File>,
    path: Arc<str>,
    code: Code,
}

impl NamedFile {
    pub fn new(file: Arc<dyn File>, path: &Path, code: Code) -> Self {
        NamedFile { file, path: path.to_string_lossy().into(), code }
    }

    pub fn open(files: &dyn Files, path: &Path, code: Code) -> Result<Self> {
        let file = files.open(path).map_err(|e| Error::io(code, "cannot open", &e).at_path(path.to_string_lossy()))?;
        Ok(NamedFile::new(file, path, code))
    }

    pub fn create(files: &dyn Files, path: &Path, code: Code) -> Result<Self> {
        let file =
            files.create(path).map_err(|e| Error::io(code, "cannot create", &e).at_path(path.to_string_lossy()))?;
        Ok(NamedFile::new(file, path, code))
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn file(&self) -> &Arc<dyn File> {
        &self.file
    }

    /// Fills `buffer` as far as the file goes; returns how many bytes.
    pub fn read_up_to(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match self.file.read_at(&mut buffer[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.error("cannot read", &e, offset + done as u64)),
            }
        }
        Ok(done)
    }

    pub fn read_exact(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let n = self.read_up_to(buffer, offset)?;
        if n < buffer.len() {
            return Err(Error::new(Code::Corrupt, "the file ends too early")
                .at_path(&*self.path)
                .at_offset(offset + n as u64));
        }
        Ok(())
    }

    pub fn write_all(&self, bytes: &[u8], offset: u64) -> Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            match self.file.write_at(&bytes[done..], offset + done as u64) {
                Ok(0) => {
                    let zero = io::Error::from(io::ErrorKind::WriteZero);
                    return Err(self.error("cannot write", &zero, offset + done as u64));
                }
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.error("cannot write", &e, offset + done as u64)),
            }
        }
        Ok(())
    }

    pub fn len(&self) -> Result<u64> {
        self.file.len().map_err(|e| Error::io(self.code, "cannot read the length", &e).at_path(&*self.path))
    }

    pub fn allocate(&self, len: u64) -> Result<()> {
        self.file.allocate(len).map_err(|e| Error::io(self.code, "cannot allocate", &e).at_path(&*self.path))
    }

    pub fn truncate(&self, len: u64) -> Result<()> {
        self.file.truncate(len).map_err(|e| Error::io(self.code, "cannot set the length", &e).at_path(&*self.path))
    }

    pub fn sync(&self) -> Result<()> {
        self.file.sync().map_err(|e| Error::io(self.code, "cannot sync", &e).at_path(&*self.path))
    }

    fn error(&self, doing: &str, e: &io::Error, offset: u64) -> Error {
        Error::io(self.code, doing, e).at_path(&*self.path).at_offset(offset)
    }
}
