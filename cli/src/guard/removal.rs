//! Directories that a job made, and their removal if the job ends early. Removal uses only system calls: no memory, no
//! locks.

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use rustix::ffi::CStr;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawDir, openat, unlinkat};
use rustix::io::Errno;

use yunti_engine::job::commit::LOCK;

use super::state;

/// Maximum number of remembered directories. A job makes one and its missing parents; each attempt adds them again.
const PLACES_MAX: usize = 256;

/// Levels of subdirectories in a removed directory.
const DEPTH_MAX: u32 = 16;

/// Bytes of directory entries that one call reads, on the handler's stack.
const ENTRIES_BYTES: usize = 1024;

/// Maximum number of attempts, a millisecond apart, to empty a directory that other threads still fill.
const ATTEMPTS_MAX: u32 = 200;

struct Place {
    path: CString,
    /// True to remove the directory with its contents; false to remove it only if it is empty.
    whole: bool,
    there: AtomicBool,
}

static PLACES: [OnceLock<Place>; PLACES_MAX] = [const { OnceLock::new() }; PLACES_MAX];
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Returns the absolute path, because a class may change the working directory.
fn absolute(path: &Path) -> Option<CString> {
    CString::new(std::path::absolute(path).ok()?.as_os_str().as_bytes()).ok()
}

/// Remembers a directory that the job made.
pub fn remember(path: &Path, whole: bool) {
    let Some(path) = absolute(path) else { return };
    if let Some(place) = PLACES.get(NEXT.fetch_add(1, SeqCst)) {
        let _ = place.set(Place { path, whole, there: AtomicBool::new(true) });
    }
}

/// Forgets a directory that the job removed or renamed.
pub fn forget(path: &Path) {
    let Some(path) = absolute(path) else { return };
    PLACES
        .iter()
        .filter_map(|at| at.get())
        .filter(|place| place.path == path)
        .for_each(|p| p.there.store(false, SeqCst));
}

/// Removes the remembered directories, the last first. Async-signal-safe.
pub fn remove_all() {
    for place in PLACES.iter().rev().filter_map(|at| at.get()).filter(|place| place.there.load(SeqCst)) {
        if place.whole {
            remove_whole(&place.path);
        } else {
            let _ = unlinkat(CWD, &*place.path, AtFlags::REMOVEDIR);
        }
    }
}

fn remove_whole(path: &CStr) {
    for _ in 0..ATTEMPTS_MAX {
        empty(CWD, path, DEPTH_MAX);
        match unlinkat(CWD, path, AtFlags::REMOVEDIR) {
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::INTR) => state::pause(),
            _ => return,
        }
    }
}

/// Removes the contents of a directory, as far as possible.
fn empty(parent: BorrowedFd<'_>, name: &CStr, depth: u32) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(directory) = openat(parent, name, flags, Mode::empty()) else { return };
    let is_top = depth == DEPTH_MAX;
    let mut buffer = [MaybeUninit::uninit(); ENTRIES_BYTES];
    let mut entries = RawDir::new(&directory, &mut buffer);
    while let Some(Ok(entry)) = entries.next() {
        let name = entry.file_name();
        if name == c"." || name == c".." || is_top && name.to_bytes() == LOCK.as_bytes() {
            continue;
        }
        // Linux returns ISDIR for a directory.
        if let Err(Errno::ISDIR | Errno::PERM) = unlinkat(directory.as_fd(), name, AtFlags::empty())
            && depth > 0
        {
            empty(directory.as_fd(), name, depth - 1);
            let _ = unlinkat(directory.as_fd(), name, AtFlags::REMOVEDIR);
        }
    }
    if is_top {
        // Last, because it shows other jobs that this one is alive.
        let _ = unlinkat(directory.as_fd(), LOCK, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn removes_whole_directories_and_others_only_if_empty() {
        let root = std::env::temp_dir().join(format!("yunti-removal-{}", std::process::id()));
        let (made, whole, kept, gone) =
            (root.join("made"), root.join("made/out"), root.join("kept"), root.join("gone"));
        fs::create_dir_all(whole.join("a/b/c")).unwrap();
        fs::create_dir_all(&kept).unwrap();
        fs::create_dir_all(&gone).unwrap();
        for i in 0..300 {
            fs::write(whole.join(format!("part-with-a-name-of-some-length-{i:05}")), b"x").unwrap();
        }
        fs::write(kept.join("of-another"), b"x").unwrap();
        std::os::unix::fs::symlink(&kept, whole.join("link")).unwrap();
        for (path, is_whole) in [(&made, false), (&whole, true), (&kept, false), (&gone, true)] {
            remember(path, is_whole);
        }
        forget(&gone);
        remove_all();
        let mut left: Vec<_> = fs::read_dir(&root).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["gone", "kept"]);
        assert!(kept.join("of-another").exists());
        fs::remove_dir_all(&root).unwrap();
    }
}
