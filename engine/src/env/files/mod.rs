//! Files as the engine sees them: positioned reads and writes on handles, and the few operations on names.
//! One of the listed files with `unsafe`: the call that maps a file is unsafe to make.
//!
//! Files are read, or mapped where a job sorts their bytes in place (`mapped/`).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub mod open_file_pool;
pub mod storage;
pub mod uninterrupted;

use self::storage::Storage;
use yunti_base::store_protocol::Traffic;
use yunti_base::{Code, Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
/// Metadata of a name.
pub struct Meta {
    /// Length in bytes; 0 for a stream.
    pub len: u64,
    /// True for a directory.
    pub is_dir: bool,
    /// True for a pipe, a terminal or a device: neither a regular file nor a directory. It is read once, from start to
    /// end.
    pub is_stream: bool,
    /// Time of the last change by the file system's clock, in milliseconds since 1970-01-01 UTC; 0 if unknown.
    pub modified_ms: u64,
}

/// Processes that a file lock excludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockScope {
    /// Every process that can open the file.
    Everywhere,
    /// Processes of this machine. The file system may not pass the lock on to other machines.
    Machine,
}

/// An open file. All operations take offsets, so several threads may share it.
pub trait File: Send + Sync {
    /// Reads some bytes at `offset` and returns their number; 0 at the end. Streams ignore `offset` and read on.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes some bytes at `offset` and returns their number. Streams ignore `offset` and write on.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;
    /// Returns the length in bytes; 0 for a stream.
    fn len(&self) -> io::Result<u64>;
    /// Allocates `len` bytes of disk space and makes the file at least `len` bytes long. Writes within a file's length
    /// cost half of the writes that extend it. Does nothing, without an error, where the file system cannot allocate.
    fn allocate(&self, len: u64) -> io::Result<()>;
    /// Sets the length to `len` bytes.
    fn truncate(&self, len: u64) -> io::Result<()>;
    /// Writes the data to stable storage.
    fn sync(&self) -> io::Result<()>;
    /// Frees the blocks of [offset, offset + len), if the file system can.
    fn punch(&self, offset: u64, len: u64);
    /// Locks the whole file against all other handles of the same name, in this and other processes; does not wait. The
    /// file must be open for writing. The lock ends when this file is closed or its process ends in any way.
    ///
    /// Errors: `WouldBlock` if the lock is held, `Unsupported` if the file system has no locks.
    fn lock(&self) -> io::Result<LockScope>;
    /// Maps the first `len` bytes for reading over the pages at `at`. Writes to the pages stay private.
    ///
    /// Errors: `Unsupported` for a file that has no pages of this machine (a stream, a network file system).
    ///
    /// # Safety
    /// The caller owns the pages of [at, at + len), and nothing refers to their bytes.
    unsafe fn map_over(&self, _at: *mut u8, _len: usize) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
    /// Fetches the `len` bytes of mapped pages at `at`, so that reading them waits no more. Does nothing, without an
    /// error, where the kernel cannot. Fails if a page cannot be read.
    fn page_in(&self, _at: *mut u8, _len: usize) -> io::Result<()> {
        Ok(())
    }
    /// Returns the bytes of the file that are in memory alone, not on its storage; None if the kernel does not count
    /// them.
    fn unwritten_bytes(&self) -> Option<u64> {
        None
    }
    /// Returns true if the file keeps marks, for `Files::marks`.
    fn keeps_marks(&self) -> bool {
        false
    }
    /// Notes that a record begins at `offset`.
    fn mark(&self, _offset: u64) {}
    /// Announces that the bytes of [from, to) are about to be read in order, so that a file far away can be read ahead.
    fn expect(&self, _from: u64, _to: u64) {}
}

/// A pipe, a terminal or a socket: no positions and no blocks.
pub trait Stream: Send + Sync {
    /// Reads some bytes and returns their number; 0 at the end.
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize>;
    /// Writes some bytes and returns their number.
    fn write(&self, bytes: &[u8]) -> io::Result<usize>;
}

/// A stream as a file: its length is 0, and allocating, truncating and syncing do nothing.
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

/// Names of files and directories, and the files behind them.
pub trait Files: Send + Sync {
    /// Opens a file for reading.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>>;
    /// Creates a file for writing and reading; fails if the name exists.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>>;
    /// Opens an existing file for writing and reading: a lock file, or a file of this job if the job has more files
    /// than `open_max`.
    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn File>>;
    /// Returns the number of files that may be open at once.
    fn open_max(&self) -> usize;
    /// Creates a file without a name in `dir`. Nothing is left of it, even if the process is killed.
    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>>;
    /// Opens the named scratch file `path` in `dir`, for writing and reading; creates it if it is `fresh`.
    fn named_scratch(&self, _dir: &Path, path: &Path, fresh: bool) -> io::Result<Arc<dyn File>> {
        if fresh { self.create(path) } else { self.open_to_write(path) }
    }
    /// Returns standard input.
    fn stdin(&self) -> Arc<dyn File>;
    /// Returns standard output.
    fn stdout(&self) -> Arc<dyn File>;
    /// Returns the metadata of a name; follows symbolic links.
    fn meta(&self, path: &Path) -> io::Result<Meta>;
    /// Returns the paths in a directory, sorted by bytes.
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>>;
    /// Creates a directory; fails if the name exists.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Renames a file or directory.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Exchanges two names atomically. Fails with `Unsupported` where the file system cannot.
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes a directory with all that it contains.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Writes a directory's names to stable storage.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Returns the bytes free for this user on the file system of `path`.
    fn free_bytes(&self, path: &Path) -> io::Result<u64>;
    /// Returns the storage of a directory, or of its nearest parent; None if it is unknown.
    fn storage(&self, _dir: &Path) -> Option<Storage> {
        None
    }
    /// Returns the path that names the same file from any working directory.
    fn absolute(&self, path: &Path) -> PathBuf {
        std::path::absolute(path).unwrap_or_else(|_| path.into())
    }
    /// Returns a hash of a file's contents if its length and time do not show a change; else None.
    fn content_hash(&self, _path: &Path) -> io::Result<Option<u64>> {
        Ok(None)
    }
    /// Returns true if other processes can reach the path.
    fn is_shared(&self, _path: &Path) -> bool {
        true
    }
    /// Returns offsets at which records of a file begin, ascending, as far as its writer marked them. The file may be
    /// split there.
    fn marks(&self, _path: &Path) -> Vec<u64> {
        Vec::new()
    }
    /// Returns the bytes that files far away hold for reading ahead, out of a job's `limit`. The first call decides.
    fn transfer_bytes(&self, _limit: u64) -> u64 {
        0
    }
    /// Announces the stretches of files that workers will open one after the other, so that files far away can be
    /// fetched before.
    fn upcoming(&self, _pieces: &[(&Path, u64, u64)]) {}
    /// Returns the totals of requests to stores; None if no store was used.
    fn traffic(&self) -> Option<Traffic> {
        None
    }
}

/// An open file with its name and the error code of its failures; the higher floors use it.
#[derive(Clone)]
pub struct NamedFile {
    file: Arc<dyn File>,
    path: Arc<str>,
    code: Code,
}

impl NamedFile {
    /// Returns `file` under the name `path`. Its failures have `code`.
    pub fn new(file: Arc<dyn File>, path: &Path, code: Code) -> Self {
        NamedFile { file, path: path.to_string_lossy().into(), code }
    }

    /// Opens a file for reading. Fails with `code` and the path.
    pub fn open(files: &dyn Files, path: &Path, code: Code) -> Result<Self> {
        let file = files.open(path).map_err(|e| Error::io(code, "cannot open", &e).at_path(path.to_string_lossy()))?;
        Ok(NamedFile::new(file, path, code))
    }

    /// Creates a file, which must not exist. Fails with `code` and the path.
    pub fn create(files: &dyn Files, path: &Path, code: Code) -> Result<Self> {
        let file =
            files.create(path).map_err(|e| Error::io(code, "cannot create", &e).at_path(path.to_string_lossy()))?;
        Ok(NamedFile::new(file, path, code))
    }

    /// Returns the name, for messages.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the file.
    pub fn file(&self) -> &Arc<dyn File> {
        &self.file
    }

    /// Reads from `offset` until `buffer` is full or the file ends; returns the number of bytes.
    ///
    /// Errors carry the path and the offset. Interrupted reads are retried.
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

    /// Fills `buffer` from `offset`. Fails with `Code::Corrupt` and the offset if the file ends too early.
    pub fn read_exact(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        let n = self.read_up_to(buffer, offset)?;
        if n < buffer.len() {
            return Err(Error::new(Code::Corrupt, "the file ends too early")
                .at_path(&*self.path)
                .at_offset(offset + n as u64));
        }
        Ok(())
    }

    /// Writes all of `bytes` at `offset`. Errors carry the path and the offset; interrupted writes are retried.
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

    /// Returns the length in bytes.
    pub fn len(&self) -> Result<u64> {
        self.file.len().map_err(|e| Error::io(self.code, "cannot read the length", &e).at_path(&*self.path))
    }

    /// See `File::allocate`; errors carry the path.
    pub fn allocate(&self, len: u64) -> Result<()> {
        self.file.allocate(len).map_err(|e| Error::io(self.code, "cannot allocate", &e).at_path(&*self.path))
    }

    /// Sets the length to `len` bytes; errors carry the path.
    pub fn truncate(&self, len: u64) -> Result<()> {
        self.file.truncate(len).map_err(|e| Error::io(self.code, "cannot set the length", &e).at_path(&*self.path))
    }

    /// Writes the data to stable storage; errors carry the path.
    pub fn sync(&self) -> Result<()> {
        self.file.sync().map_err(|e| Error::io(self.code, "cannot sync", &e).at_path(&*self.path))
    }

    fn error(&self, doing: &str, e: &io::Error, offset: u64) -> Error {
        Error::io(self.code, doing, e).at_path(&*self.path).at_offset(offset)
    }
}
