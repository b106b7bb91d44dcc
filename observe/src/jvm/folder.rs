//! A folder of the target, its /tmp most of the time, where it and we both can lay files: opened once, so that it stays in reach when the target has
//! ended.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use yunti_base::{Code, Error, Result};

use yunti_probe::target::Process;

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

    /// A file in it as we reach it.
    pub fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.fd.as_raw_fd()))
    }

    /// The same as the target does.
    pub fn inside(name: &str) -> String {
        format!("/tmp/{name}")
    }
}
