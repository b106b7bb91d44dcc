//! Files of threads in /proc that are read again and again. They stay open, because to open one takes longer than to
//! read it.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::FileExt;

use super::Process;

/// Threads whose files stay open; files of further ones are opened for each reading.
const OPEN_MAX: usize = 192;
/// Bytes of a line, with space to spare.
const LINE_BYTES: usize = 1024;

/// State and schedule of the threads of a process.
pub struct ThreadFiles {
    process: Process,
    open: HashMap<u32, Kept>,
}

struct Kept {
    stat: File,
    schedstat: Option<File>,
}

impl ThreadFiles {
    /// Returns the files of a process; none is open yet.
    pub fn of(process: &Process) -> ThreadFiles {
        ThreadFiles { process: process.clone(), open: HashMap::new() }
    }

    /// Closes the files of threads that are not among these.
    pub fn keep_only(&mut self, tids: &[u32]) {
        if self.open.len() > tids.len() || self.open.keys().any(|tid| !tids.contains(tid)) {
            let all: HashSet<u32> = tids.iter().copied().collect();
            self.open.retain(|tid, _| all.contains(tid));
        }
    }

    /// Returns the state of a thread as a letter of proc_pid_stat(5); `None` if it has ended.
    pub fn state(&mut self, tid: u32) -> Option<char> {
        let line = match self.kept(tid) {
            Some(kept) => line(&kept.stat).or_else(|| {
                self.open.remove(&tid);
                // Another thread may have got the number.
                line(&self.file(tid, "stat")?)
            })?,
            None => line(&self.file(tid, "stat")?)?,
        };
        line.rsplit_once(") ")?.1.chars().next()
    }

    /// Returns the number of times that a thread got a processor; `None` if it has ended, or if the kernel does not
    /// count.
    pub fn runs(&mut self, tid: u32) -> Option<u64> {
        let line = match self.kept(tid) {
            Some(kept) => line(kept.schedstat.as_ref()?)?,
            None => line(&self.file(tid, "schedstat")?)?,
        };
        line.split_whitespace().nth(2)?.parse().ok().filter(|runs| *runs > 0)
    }

    fn kept(&mut self, tid: u32) -> Option<&Kept> {
        if !self.open.contains_key(&tid) && self.open.len() < OPEN_MAX {
            let kept = Kept { stat: self.file(tid, "stat")?, schedstat: self.file(tid, "schedstat") };
            self.open.insert(tid, kept);
        }
        self.open.get(&tid)
    }

    fn file(&self, tid: u32, name: &str) -> Option<File> {
        File::open(format!("/proc/{}/task/{tid}/{name}", self.process.pid)).ok()
    }
}

/// Reads a file of one line from its beginning; `None` if its thread has ended.
fn line(file: &File) -> Option<String> {
    let mut bytes = [0; LINE_BYTES];
    let n = file.read_at(&mut bytes, 0).ok().filter(|n| *n > 0)?;
    Some(String::from_utf8_lossy(&bytes[..n]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn a_thread_sleeps_and_ends() {
        let (go, come) = mpsc::channel::<()>();
        let (say, hear) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            say.send(rustix::thread::gettid().as_raw_nonzero().get() as u32).unwrap();
            come.recv().unwrap();
        });
        let tid = hear.recv().unwrap();
        let mut files = ThreadFiles::of(&Process::of(std::process::id()).unwrap());
        while files.state(tid) != Some('S') {
            std::thread::yield_now();
        }
        let runs = files.runs(tid);
        assert_eq!((files.state(tid), files.runs(tid)), (Some('S'), runs));
        go.send(()).unwrap();
        thread.join().unwrap();
        while files.state(tid).is_some() {
            std::thread::yield_now();
        }
        files.keep_only(&[]);
        assert!(files.open.is_empty());
    }
}
