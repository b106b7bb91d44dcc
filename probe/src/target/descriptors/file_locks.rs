//! Locks of files (flock and fcntl) with their holders and waiters, as /proc/locks shows them.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::target::Process;

/// Lock of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLock {
    /// System call of the lock: `flock` or `fcntl`.
    pub call: &'static str,
    pub inode: u64,
    /// Process that holds it; `None` for locks of open file descriptions, and for processes of other namespaces.
    pub holder: Option<u32>,
    /// True if nobody else may have it at the same time.
    pub is_exclusive: bool,
    /// Waiting threads of the process.
    pub waiting: usize,
}

/// Returns all locks at this moment, with the waiting threads of a process.
pub fn file_locks(process: &Process) -> Vec<FileLock> {
    fs::read_to_string("/proc/locks").map_or_else(|_| Vec::new(), |text| parsed(&text, process.pid))
}

/// Parses lines such as `1: POSIX ADVISORY WRITE 4711 fe:00:9986129 0 EOF`; those of waiters have `->` behind the
/// number of the lock.
fn parsed(text: &str, pid: u32) -> Vec<FileLock> {
    let mut found: Vec<FileLock> = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace().skip(1).peekable();
        let waits = words.next_if_eq(&"->").is_some();
        let (Some(class), Some(kind), Some(owner), Some(place)) =
            (words.next(), words.nth(1), words.next(), words.next())
        else {
            continue;
        };
        let owner: Option<u32> = owner.parse().ok().filter(|pid| *pid > 0);
        let inode = place.rsplit_once(':').and_then(|(_, inode)| inode.parse().ok());
        let Some(inode) = inode else { continue };
        if !waits {
            let call = if class == "FLOCK" { "flock" } else { "fcntl" };
            found.push(FileLock { call, inode, holder: owner, is_exclusive: kind == "WRITE", waiting: 0 });
        } else if owner == Some(pid)
            // Its lock is the one before.
            && let Some(lock) = found.last_mut()
        {
            lock.waiting += 1;
        }
    }
    found
}

/// Returns the regular files that a process has open: inode -> path.
pub fn open_files(process: &Process) -> HashMap<u64, PathBuf> {
    let descriptors = fs::read_dir(format!("/proc/{}/fd", process.pid)).into_iter().flatten().flatten();
    let of = |path: PathBuf| {
        let file = fs::metadata(&path).ok().filter(|file| file.is_file())?;
        Some((file.ino(), fs::read_link(&path).ok()?))
    };
    descriptors.filter_map(|entry| of(entry.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::process;

    #[test]
    fn waiters_and_their_holder() {
        let text = "1: FLOCK  ADVISORY  WRITE 25393 fe:00:9986129 0 EOF\n\
                    1: -> FLOCK  ADVISORY  WRITE 47 fe:00:9986129 0 EOF\n\
                    1: -> FLOCK  ADVISORY  WRITE 47 fe:00:9986129 0 EOF\n\
                    1: -> FLOCK  ADVISORY  WRITE 48 fe:00:9986129 0 EOF\n\
                    2: OFDLCK ADVISORY  READ  -1 08:02:47 128 128\n\
                    2: -> POSIX  ADVISORY  WRITE 47 08:02:47 128 128\n\
                    3: LEASE  ACTIVE    READ  47 08:02:48 0 EOF\n";
        let lock = |call, inode, holder, waiting, is_exclusive| FileLock { call, inode, holder, is_exclusive, waiting };
        let expected = [
            lock("flock", 9_986_129, Some(25393), 2, true),
            lock("fcntl", 47, None, 1, false),
            lock("fcntl", 48, Some(47), 0, false),
        ];
        assert_eq!(parsed(text, 47), expected);
        assert!(parsed("", 47).is_empty());
    }

    #[test]
    fn path_of_an_open_file() {
        let path = std::env::temp_dir().join(format!("yunti-file-lock-{}", process::id()));
        let file = File::create(&path).unwrap();
        let process = Process::of(process::id()).unwrap();
        assert_eq!(open_files(&process).get(&file.metadata().unwrap().ino()), Some(&path));
        fs::remove_file(path).unwrap();
    }
}
