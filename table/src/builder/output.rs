//! The file of a table: it has no name until it is whole, so that a build that is killed leaves nothing.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags, fallocate, linkat, openat};
use yunti_base::process::unique_token;

/// File that becomes `path`.
pub struct Output {
    pub file: File,
    path: PathBuf,
    /// Where the file system has no files without names: a name beside the path, removed unless it was renamed.
    fresh: Option<PathBuf>,
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.tmp", unique_token()));
    name.into()
}

/// Opens a file without a name in the directory of `path`.
pub fn unnamed(path: &Path) -> io::Result<File> {
    match openat(CWD, directory(path), OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::from(0o666)) {
        Ok(descriptor) => Ok(descriptor.into()),
        // NFS and some overlays have none: a name for a moment.
        Err(_) => {
            let fresh = beside(path);
            let file = OpenOptions::new().read(true).write(true).create_new(true).open(&fresh)?;
            fs::remove_file(&fresh)?;
            Ok(file)
        }
    }
}

impl Output {
    pub fn create(path: &Path) -> io::Result<Output> {
        if path.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        if let Ok(descriptor) = openat(CWD, directory(path), flags, Mode::from(0o666)) {
            return Ok(Output { file: descriptor.into(), path: path.to_owned(), fresh: None });
        }
        let fresh = beside(path);
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&fresh)?;
        Ok(Output { file, path: path.to_owned(), fresh: Some(fresh) })
    }

    /// Takes the room of the whole file, so that a full disk is found before the work.
    pub fn reserve(&self, bytes: u64) -> io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.file.set_len(bytes)?;
        match fallocate(&self.file, FallocateFlags::empty(), 0, bytes) {
            Err(e) if e == rustix::io::Errno::NOSPC => Err(e.into()),
            // A file system without it writes the same.
            _ => Ok(()),
        }
    }

    /// Gives the file its name. A file that has it is replaced at once; who has that open keeps it.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        if self.fresh.is_none() {
            let fresh = beside(&self.path);
            let descriptor = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            linkat(CWD, descriptor.as_str(), CWD, &fresh, AtFlags::SYMLINK_FOLLOW)?;
            self.fresh = Some(fresh);
        }
        if let Some(fresh) = &self.fresh {
            fs::rename(fresh, &self.path)?;
        }
        self.fresh = None;
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(fresh) = &self.fresh {
            let _ = fs::remove_file(fresh);
        }
    }
}
