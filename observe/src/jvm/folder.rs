//! A folder that the target and the observer share, usually the target's /tmp. It is opened once, so it stays
//! reachable after the target has ended.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use yunti_base::{Code, Error, Result};

use yunti_probe::target::Process;

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
}

impl Folder {
    pub fn of(process: &Process) -> Result<Folder> {
        let path = process.path("/tmp");
        Folder::open(&path).map_err(|e| {
            Error::io(Code::Input, &format!("files of process {} cannot be reached", process.pid), &e)
                .at_path(path.to_string_lossy())
                .hint("run as its owner, or as root")
        })
    }

    pub fn open(path: &Path) -> io::Result<Folder> {
        let fd = open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Folder { fd })
    }

    /// Returns a file's path for the observer.
    pub fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.fd.as_raw_fd()))
    }

    /// Returns a file's path for the target.
    pub fn inside(name: &str) -> String {
        format!("/tmp/{name}")
    }
}
