//! Locks of files (flock and fcntl) that threads of a process wait for, with their holders, as /proc/locks shows them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::Process;

/// Lock of a file that a process waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLock {
    /// System call of the lock: `flock` or `fcntl`.
    pub call: &'static str,
    pub inode: u64,
    /// Process that holds it; `None` for locks of open file descriptions, and for processes of other namespaces.
    pub holder: Option<u32>,
    /// Waiting threads of the process.
    pub waiting: usize,
}

/// Returns the locks that the process waits for at this moment.
pub fn locks_waited_for(process: &Process) -> Vec<FileLock> {
    fs::read_to_string("/proc/locks").map_or_else(|_| Vec::new(), |text| parsed(&text, process.pid))
}

/// Parses lines such as `1: POSIX ADVISORY WRITE 4711 fe:00:9986129 0 EOF`; those of waiters have `->` behind the
/// number of the lock.
fn parsed(text: &str, pid: u32) -> Vec<FileLock> {
    let mut found: Vec<FileLock> = Vec::new();
    let mut holder = None;
    for line in text.lines() {
        let mut words = line.split_whitespace().skip(1).peekable();
        let waits = words.next_if_eq(&"->").is_some();
        let (Some(class), Some(owner), Some(place)) = (words.next(), words.nth(2), words.next()) else { continue };
        let owner: Option<u32> = owner.parse().ok().filter(|pid| *pid > 0);
        let inode = place.rsplit_once(':').and_then(|(_, inode)| inode.parse().ok());
        let Some(inode) = inode else { continue };
        if !waits {
            holder = owner;
        } else if owner == Some(pid) {
            let call = if class == "FLOCK" { "flock" } else { "fcntl" };
            match found.iter_mut().find(|lock| lock.inode == inode && lock.call == call) {
                Some(lock) => lock.waiting += 1,
                None => found.push(FileLock { call, inode, holder, waiting: 1 }),
            }
        }
    }
    found
}

/// Returns the path of the process's open file with an inode.
pub fn path_of_inode(process: &Process, inode: u64) -> Option<PathBuf> {
    let descriptors = fs::read_dir(format!("/proc/{}/fd", process.pid)).ok()?;
    let path = descriptors.flatten().map(|entry| entry.path());
    let is_it = |path: &PathBuf| fs::metadata(path).is_ok_and(|file| file.ino() == inode && file.is_file());
    path.into_iter().find(is_it).and_then(|path| fs::read_link(path).ok())
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
        let lock = |call, inode, holder, waiting| FileLock { call, inode, holder, waiting };
        assert_eq!(parsed(text, 47), [lock("flock", 9_986_129, Some(25393), 2), lock("fcntl", 47, None, 1)]);
        assert!(parsed("", 47).is_empty());
    }

    #[test]
    fn path_of_an_open_file() {
        let path = std::env::temp_dir().join(format!("yunti-file-lock-{}", process::id()));
        let file = File::create(&path).unwrap();
        let process = Process::of(process::id()).unwrap();
        assert_eq!(path_of_inode(&process, file.metadata().unwrap().ino()), Some(path.clone()));
        fs::remove_file(path).unwrap();
    }
}
