//! Waits for locks of files, sampled.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use yunti_probe::target::{FileLock, Process, label, locks_waited_for, path_of_inode};

/// Time between two samples, and a part of it that a sample may take: a machine may have many thousands of locks.
const EVERY: Duration = Duration::from_millis(20);
const SHARE_MAX: f64 = 0.005;

/// Lock of a file that threads waited for.
#[derive(Clone, Debug, Default)]
pub struct FileLockWaits {
    /// System call of the lock.
    pub call: &'static str,
    /// Path of the file, as far as it was found.
    pub path: Option<String>,
    /// Other process that held it most often.
    pub holder: Option<String>,
    /// Waiting threads at a time, on average.
    pub waiting: f64,
}

/// Sampler of the locks that a process waits for.
#[derive(Default)]
pub struct FileLockSampler {
    next: Option<Instant>,
    samples: u64,
    locks: HashMap<u64, (FileLock, u64, HashMap<u32, u64>)>,
    paths: HashMap<u64, Option<String>>,
}

impl FileLockSampler {
    pub fn keep_up(&mut self, process: &Process) {
        let begin = Instant::now();
        if self.next.is_some_and(|next| begin < next) {
            return;
        }
        self.samples += 1;
        for lock in locks_waited_for(process) {
            let path = || path_of_inode(process, lock.inode).map(|path| path.display().to_string());
            self.paths.entry(lock.inode).or_insert_with(path);
            let entry = self.locks.entry(lock.inode).or_insert_with(|| (lock.clone(), 0, HashMap::new()));
            entry.1 += lock.waiting as u64;
            if let Some(holder) = lock.holder {
                *entry.2.entry(holder).or_default() += 1;
            }
        }
        self.next = Some(Instant::now() + EVERY.max(begin.elapsed().div_f64(SHARE_MAX)));
    }

    /// Returns the lock with the most waits.
    pub fn finish(self, process: &Process) -> FileLockWaits {
        let Some((lock, waiting, holders)) = self.locks.into_values().max_by_key(|(_, waiting, _)| *waiting) else {
            return FileLockWaits::default();
        };
        let holder = holders.into_iter().max_by_key(|(pid, n)| (*n, *pid)).map(|(pid, _)| pid);
        let holder = holder.filter(|pid| *pid != process.pid).map(|pid| match Process::of(pid) {
            Ok(other) => format!("{} {pid}", label(&other)),
            Err(_) => format!("process {pid}"),
        });
        FileLockWaits {
            call: lock.call,
            path: self.paths.get(&lock.inode).cloned().flatten(),
            holder,
            waiting: waiting as f64 / self.samples.max(1) as f64,
        }
    }
}
