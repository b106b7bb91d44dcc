//! Names of files, devices and processes. A path is the one that the kernel had at the first touch, below its mount
//! point.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use yunti_base::mounts::{self, Mount};
use yunti_probe::kernel::system::{CacheEvents, FileId};
use yunti_probe::target::{Process, label};

/// Names known at the end of a measurement.
pub struct Names {
    mounts: Vec<Mount>,
    paths: HashMap<FileId, PathBuf>,
    processes: HashMap<u32, String>,
}

impl Names {
    /// Reads the names of the files in `events` and of the processes `pids`.
    pub fn of(events: &CacheEvents, pids: impl Iterator<Item = u32>) -> Names {
        let process = |pid| {
            let there = Process::of(pid).ok().map(|process| label(&process));
            (pid, there.or_else(|| events.comm(pid)).unwrap_or_else(|| "(ended)".to_owned()))
        };
        Names { mounts: mounts::all(), paths: events.paths(), processes: pids.map(process).collect() }
    }

    /// Returns the name of a process.
    pub fn process(&self, pid: u32) -> String {
        self.processes.get(&pid).cloned().unwrap_or_default()
    }

    /// Returns the path of a file, or its inode.
    pub fn file(&self, file: FileId) -> String {
        if let Some(device) = self.is_device_itself(file) {
            return format!("({device} itself: metadata)");
        }
        match self.paths.get(&file) {
            Some(path) => match mounts::seen_at(&self.mounts, file.device(), path) {
                Some(path) => path.display().to_string(),
                None => format!("{} on {}", path.display(), self.device(file)),
            },
            None => format!("(inode {} on {})", file.inode, self.device(file)),
        }
    }

    /// Returns the device or file system of a file.
    pub fn device(&self, file: FileId) -> String {
        if let Some(device) = self.is_device_itself(file) {
            return device;
        }
        let (major, minor) = file.device();
        let mount = self.mounts.iter().find(|mount| mount.device == (major, minor));
        match mount {
            // Without a device, the source is an arbitrary word.
            Some(mount) if major == 0 => format!("{} at {}", mount.fs_type, mount.at.display()),
            Some(_) => device_path(major, minor).unwrap_or_else(|| format!("{major}:{minor}")),
            None => device_path(major, minor).unwrap_or_else(|| format!("file system {major}:{minor}")),
        }
    }

    /// Returns the device whose own inode this is. Metadata is cached there, on an internal file system whose inode
    /// number is the device number.
    fn is_device_itself(&self, file: FileId) -> Option<String> {
        let (major, _) = file.device();
        if major != 0 || self.mounts.iter().any(|mount| mount.device == file.device()) {
            return None;
        }
        let of = FileId { device: u32::try_from(file.inode).ok()?, inode: 0 };
        let (major, minor) = of.device();
        device_path(major, minor)
    }
}

fn device_path(major: u32, minor: u32) -> Option<String> {
    let uevent = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/uevent")).ok()?;
    uevent.lines().find_map(|line| line.strip_prefix("DEVNAME=")).map(|name| format!("/dev/{name}"))
}
