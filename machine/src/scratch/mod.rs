//! Folder for measurements with images and mounts, removed when dropped, also on errors and ctrl-C. The next run finds
//! the folder of a killed run by its name, `yunti-host-bench-TOKEN`, and removes it.
//!
//! A run holds a lock (`flock`) on its folder; the kernel frees the lock when the process ends. A process id does not
//! show if a run is alive: in another container it is another process, or none. A folder that cannot be locked (some
//! network file systems) stays.

pub mod image;
pub mod tool;

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use yunti_base::mounts;
use yunti_base::process::unique_token;
use yunti_base::{Code, Error, Result};

const NAME: &str = "yunti-host-bench-";

/// Folder for measurements.
pub struct Scratch {
    path: PathBuf,
    /// Keeps the lock.
    _folder: File,
}

impl Scratch {
    /// Creates the folder in `dir`.
    pub fn new(dir: &Path) -> Result<Scratch> {
        let mut tries = 0;
        loop {
            tries += 1;
            let path = dir.join(format!("{NAME}{}", unique_token()));
            match fs::create_dir(&path).and_then(|()| locked(&path)) {
                Ok(folder) => return Ok(Scratch { path, _folder: folder }),
                // Another run mistook it for the folder of a killed run.
                Err(e)
                    if tries < 10
                        && matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::WouldBlock)
                        && dir.is_dir() => {}
                Err(e) => {
                    let error = Error::io(Code::Output, "cannot create a folder for the measurements", &e);
                    return Err(error.at_path(path.to_string_lossy()));
                }
            }
        }
    }

    /// Returns the path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        clear(&self.path);
    }
}

/// Returns true if files in `dir` are memory pages (tmpfs, ramfs), which cannot leave the page cache.
pub fn is_in_memory(dir: &Path) -> bool {
    const IN_MEMORY: [i128; 2] = [0x0102_1994, 0x8584_58f6];
    rustix::fs::statfs(dir).is_ok_and(|stat| IN_MEMORY.contains(&(stat.f_type as i128)))
}

/// Removes the folders of killed runs in `dir`, and returns them.
pub fn clear_leftovers(dir: &Path) -> Vec<PathBuf> {
    let own = rustix::process::geteuid().as_raw();
    let found = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut left = Vec::new();
    for entry in found.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(NAME))) {
        let path = entry.path();
        let is_ours = fs::symlink_metadata(&path).is_ok_and(|m| m.is_dir() && m.uid() == own);
        // The lock is held while the folder is cleared.
        if is_ours
            && let Ok(folder) = File::open(&path)
            && folder.try_lock().is_ok()
        {
            clear(&path);
            left.push(path);
        }
    }
    left
}

/// Locks a folder that was just created. Returns `NotFound` or `WouldBlock` if another run was faster and removes it.
fn locked(path: &Path) -> io::Result<File> {
    let folder = File::open(path)?;
    if let Err(TryLockError::WouldBlock) = folder.try_lock() {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    let (locked, named) = (folder.metadata()?, fs::symlink_metadata(path)?);
    if (locked.dev(), locked.ino()) == (named.dev(), named.ino()) {
        Ok(folder)
    } else {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// Unmounts all mounts in the folder, innermost first, detaches loop devices of its files, and removes it.
fn clear(folder: &Path) {
    for at in mounts_below(folder).into_iter().rev() {
        let _ = tool::run("umount", [&at]);
    }
    for (device, file) in image::attached() {
        if Path::new(&file).starts_with(folder) {
            let _ = tool::run("losetup", ["-d", &device]);
        }
    }
    // A folder with mounts must not be emptied.
    if mounts_below(folder).is_empty() {
        let _ = fs::remove_dir_all(folder);
    }
}

fn mounts_below(folder: &Path) -> Vec<PathBuf> {
    mounts::all().into_iter().map(|mount| mount.at).filter(|at| at.starts_with(folder)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_folders_of_killed_runs() {
        let dir = std::env::temp_dir().join(format!("yunti-scratch-test-{}", std::process::id()));
        fs::create_dir(&dir).unwrap();
        let scratch = Scratch::new(&dir).unwrap();
        let path = scratch.file("");
        fs::write(scratch.file("x"), "x").unwrap();
        // The folder of a running process is not a leftover. This name has a process id of another container.
        let dead = dir.join(format!("{NAME}1"));
        fs::create_dir(&dead).unwrap();
        assert_eq!(clear_leftovers(&dir), [dead]);
        drop(scratch);
        assert!(!path.exists());
        fs::remove_dir(&dir).unwrap();
        assert!(!Path::new("/dev/shm").exists() || is_in_memory(Path::new("/dev/shm")));
        assert!(!is_in_memory(Path::new("/proc")));
    }
}
