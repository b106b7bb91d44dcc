//! The operating system's files. One of the listed files with `unsafe`: it calls libc where std has no function.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::storage::{self, Storage};
use super::files::{File, Files, LockScope, Meta, Stream, StreamFile};

/// The operating system's files.
pub struct RealFiles;

struct RealFile(fs::File);

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

impl File for RealFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.0.write_at(bytes, offset)
    }
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }
    fn allocate(&self, len: u64) -> io::Result<()> {
        if len == 0 {
            return Ok(());
        }
        // SAFETY: plain system call on a descriptor that this value owns.
        let result = unsafe { libc::fallocate(self.0.as_raw_fd(), 0, 0, len as libc::off_t) };
        match check(result) {
            Err(e) if matches!(e.raw_os_error(), Some(libc::EOPNOTSUPP) | Some(libc::ENOSYS) | Some(libc::EINTR)) => {
                Ok(())
            }
            other => other,
        }
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
    fn punch(&self, offset: u64, len: u64) {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: as above; a file system that cannot keeps the blocks until the file is closed.
        unsafe { libc::fallocate(self.0.as_raw_fd(), mode, offset as i64, len as i64) };
    }

    fn unwritten_bytes(&self) -> Option<u64> {
        /// Number of the system call, the same on all architectures (Linux 6.5).
        const CACHESTAT: libc::c_long = 451;
        let all = [0u64; 2];
        // Pages: in the cache, dirty, being written, evicted, evicted recently.
        let mut counts = [0u64; 5];
        // SAFETY: a range and a result of the sizes that the call has; a length of 0 means to the end of the file.
        let result = unsafe { libc::syscall(CACHESTAT, self.0.as_raw_fd(), all.as_ptr(), counts.as_mut_ptr(), 0) };
        // SAFETY: a question without arguments in memory.
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
        (result == 0).then(|| (counts[1] + counts[2]) * page_bytes)
    }

    unsafe fn map_over(&self, at: *mut u8, len: usize) -> io::Result<()> {
        if !is_local(&self.0) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
        // SAFETY: the caller owns the pages, so nothing else is unmapped by MAP_FIXED.
        let result = unsafe { libc::mmap(at.cast(), len, libc::PROT_READ, flags, self.0.as_raw_fd(), 0) };
        if result == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn page_in(&self, at: *mut u8, len: usize) -> io::Result<()> {
        // SAFETY: advice about mapped pages; it changes no byte.
        let result = unsafe { libc::madvise(at.cast(), len, libc::MADV_POPULATE_READ) };
        match check(result) {
            // Kernels before 5.14 do not know the advice. The pages are then fetched by faults.
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            other => other,
        }
    }

    /// Takes an OFD lock, which belongs to this open file.
    ///
    /// A POSIX lock belongs to the process: two jobs of one process would share it, and closing any other descriptor of
    /// the file would release it. `flock` does not lock on a network file system without OFD locks either.
    fn lock(&self) -> io::Result<LockScope> {
        // SAFETY: zeros are a valid value of this plain C struct: the whole file, from its start.
        let mut whole: libc::flock = unsafe { std::mem::zeroed() };
        (whole.l_type, whole.l_whence) = (libc::F_WRLCK as _, libc::SEEK_SET as _);
        // SAFETY: plain system call on a descriptor that this value owns; it reads the struct that lives here.
        let result = unsafe { libc::fcntl(self.0.as_raw_fd(), libc::F_OFD_SETLK, &mut whole) };
        match check(result) {
            Ok(()) if is_local(&self.0) => Ok(LockScope::Everywhere),
            Ok(()) => Ok(LockScope::Machine),
            Err(e) => Err(match e.raw_os_error() {
                Some(libc::EAGAIN | libc::EACCES) => io::ErrorKind::WouldBlock.into(),
                // No lock manager, a file system without locks, a kernel without OFD locks.
                Some(libc::ENOLCK | libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL) => {
                    io::ErrorKind::Unsupported.into()
                }
                _ => e,
            }),
        }
    }
}

/// Returns true if one kernel alone has the file system, so that its locks reach everyone who sees its files.
///
/// Any other file system (NFS, SMB, FUSE, 9p, Lustre ..) may be mounted by several machines. The mount decides whether
/// it passes locks on.
fn is_local(file: &fs::File) -> bool {
    // ext2 to ext4, XFS, Btrfs, tmpfs, ramfs, overlayfs, F2FS, ZFS, bcachefs, FAT, exFAT.
    const LOCAL: [u32; 11] = [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0x0102_1994,
        0x8584_58f6,
        0x794c_7630,
        0xf2f5_2010,
        0x2fc1_2fc1,
        0xca45_1a4e,
        0x4d44,
        0x2011_bab0,
    ];
    // SAFETY: a zeroed statfs is a valid value of the plain C struct, filled by the call on a descriptor that is open.
    let (result, stat) = unsafe {
        let mut stat: libc::statfs = std::mem::zeroed();
        (libc::fstatfs(file.as_raw_fd(), &mut stat), stat)
    };
    result == 0 && LOCAL.contains(&(stat.f_type as u32))
}

/// A pipe, a terminal or a device.
impl Stream for fs::File {
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        io::Read::read(&mut &*self, buffer)
    }
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        io::Write::write(&mut &*self, bytes)
    }
}

/// Returns a duplicate of a standard descriptor, so that closing it leaves the process's own open.
fn standard(fd: libc::c_int) -> Arc<dyn File> {
    // SAFETY: dup returns a new descriptor that the File then owns, or -1; /dev/null then replaces it.
    let file = unsafe {
        let copy = libc::dup(fd);
        if copy >= 0 { Some(fs::File::from_raw_fd(copy)) } else { None }
    };
    match file.map_or_else(|| fs::OpenOptions::new().read(true).write(true).open("/dev/null"), Ok) {
        Ok(file) => Arc::new(StreamFile(file)),
        Err(_) => Arc::new(StreamFile(Closed)),
    }
}

/// A standard stream that is closed, on a system without /dev/null.
struct Closed;

impl Stream for Closed {
    fn read(&self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(libc::EBADF))
    }
    fn write(&self, _: &[u8]) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(libc::EBADF))
    }
}

/// Creates a file without a name in `dir`.
pub(super) fn unnamed(dir: &Path) -> io::Result<fs::File> {
    let unnamed = fs::OpenOptions::new().read(true).write(true).custom_flags(libc::O_TMPFILE).mode(0o600).open(dir);
    match unnamed {
        Ok(file) => return Ok(file),
        Err(e) if matches!(e.raw_os_error(), Some(libc::EOPNOTSUPP) | Some(libc::EISDIR) | Some(libc::ENOENT)) => {
            if !dir.is_dir() {
                return Err(e);
            }
        }
        Err(e) => return Err(e),
    }
    // File systems without O_TMPFILE (some network ones): create a name and remove it at once.
    for attempt in 0..1000u32 {
        let path = dir.join(format!(".yunti-scratch-{}-{attempt}", yunti_base::process::unique_token()));
        match fs::OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => {
                fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}

impl Files for RealFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        let file = fs::File::open(path)?;
        let kind = file.metadata()?.file_type();
        if kind.is_fifo() || kind.is_char_device() || kind.is_socket() {
            return Ok(Arc::new(StreamFile(file)));
        }
        Ok(Arc::new(RealFile(file)))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        let file = fs::OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        Ok(Arc::new(RealFile(file)))
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(RealFile(fs::OpenOptions::new().read(true).write(true).open(path)?)))
    }

    /// Raises the process's own limit as far as the system allows, and returns it.
    fn open_max(&self) -> usize {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: plain system calls on a struct of two numbers that lives here.
        unsafe {
            if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) != 0 {
                return usize::MAX;
            }
            let more = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
            if limit.rlim_cur < limit.rlim_max && libc::setrlimit(libc::RLIMIT_NOFILE, &more) == 0 {
                limit = more;
            }
        }
        usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX)
    }

    fn scratch(&self, dir: &Path) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(RealFile(unnamed(dir)?)))
    }

    fn stdin(&self) -> Arc<dyn File> {
        standard(0)
    }
    fn stdout(&self) -> Arc<dyn File> {
        standard(1)
    }

    fn meta(&self, path: &Path) -> io::Result<Meta> {
        let meta = fs::metadata(path)?;
        let modified = meta.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        Ok(Meta {
            len: meta.len(),
            is_dir: meta.is_dir(),
            is_stream: !meta.is_dir() && !meta.is_file(),
            modified_ms: modified.map_or(0, |since| since.as_millis() as u64),
        })
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut names = fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        names.sort_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
        Ok(names)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
    fn exchange(&self, a: &Path, b: &Path) -> io::Result<()> {
        let c_string =
            |path: &Path| std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).map_err(io::Error::other);
        let (a, b) = (c_string(a)?, c_string(b)?);
        // SAFETY: two NUL-terminated strings that outlive the call.
        // The call goes by number, because not every C library has a function for it.
        let result = unsafe {
            let (here, exchange) = (libc::AT_FDCWD, libc::RENAME_EXCHANGE);
            libc::syscall(libc::SYS_renameat2, here, a.as_ptr(), here, b.as_ptr(), exchange)
        };
        if result == 0 {
            return Ok(());
        }
        let e = io::Error::last_os_error();
        match e.raw_os_error() {
            // File systems and kernels without the flag.
            Some(libc::EINVAL | libc::ENOSYS) => Err(io::ErrorKind::Unsupported.into()),
            _ => Err(e),
        }
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        fs::File::open(path)?.sync_all()
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        let name = std::ffi::CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: a zeroed statvfs is a valid value of the plain C struct, which the call fills; `name` is
        // NUL-terminated.
        unsafe {
            let mut stat: libc::statvfs = std::mem::zeroed();
            check(libc::statvfs(name.as_ptr(), &mut stat))?;
            Ok(stat.f_bavail as u64 * stat.f_frsize as u64)
        }
    }

    fn storage(&self, dir: &Path) -> Option<Storage> {
        storage::of(dir)
    }
}
