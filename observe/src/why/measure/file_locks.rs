//! Locks of files that hold a process up, sampled: its threads wait for them, or somebody holds one of its open files.
//! A program may sleep and try again instead of waiting in the kernel, as SQLite does.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use yunti_probe::target::{Process, file_locks, label, open_files};

/// Time between two samples, and a part of it that a sample may take: a machine may have many thousands of locks.
const EVERY: Duration = Duration::from_millis(20);
const SHARE_MAX: f64 = 0.005;
/// Time between two readings of the open files.
const FILES_EVERY: Duration = Duration::from_millis(500);

/// Lock of a file.
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
    /// Share of the time in which another process had it for itself.
    pub held: f64,
    /// Share of the time in which the process itself had it for itself, and gave it back in between.
    pub held_here: f64,
}

#[derive(Default)]
struct Seen {
    call: &'static str,
    waiting: u64,
    /// Samples in which another process had it for itself.
    held: u64,
    held_here: u64,
    holders: HashMap<u32, u64>,
}

/// Sampler of the locks of files.
#[derive(Default)]
pub struct FileLockSampler {
    next: Option<Instant>,
    samples: u64,
    locks: HashMap<u64, Seen>,
    files: HashMap<u64, PathBuf>,
    /// Earliest time of the next reading of the open files.
    files_next: Option<Instant>,
}

impl FileLockSampler {
    pub fn keep_up(&mut self, process: &Process) {
        let begin = Instant::now();
        if self.next.is_some_and(|next| begin < next) {
            return;
        }
        self.samples += 1;
        let locks = file_locks(process);
        let cost = begin.elapsed();
        // A process may have many thousands of open files too.
        let read_at = Instant::now();
        if !locks.is_empty() && self.files_next.is_none_or(|next| read_at >= next) {
            self.files.extend(open_files(process));
            self.files_next = Some(Instant::now() + FILES_EVERY.max(read_at.elapsed().div_f64(SHARE_MAX)));
        }
        let mut held = Vec::new();
        for lock in locks {
            let is_held = lock.is_exclusive && lock.holder.is_some() && self.files.contains_key(&lock.inode);
            if !is_held && lock.waiting == 0 {
                continue;
            }
            let seen = self.locks.entry(lock.inode).or_default();
            seen.call = lock.call;
            seen.waiting += lock.waiting as u64;
            // A file may have several locks, each of a part of it.
            if is_held && !held.contains(&lock.inode) {
                let is_here = lock.holder == Some(process.pid);
                *(if is_here { &mut seen.held_here } else { &mut seen.held }) += 1;
                held.push(lock.inode);
            }
            if let Some(holder) = lock.holder {
                *seen.holders.entry(holder).or_default() += 1;
            }
        }
        self.next = Some(Instant::now() + EVERY.max(cost.div_f64(SHARE_MAX)));
    }

    /// Returns the lock with the most waits, or the one that another process held longest.
    pub fn finish(self, process: &Process) -> FileLockWaits {
        let most =
            self.locks.into_iter().max_by_key(|(inode, seen)| (seen.waiting, seen.held + seen.held_here, *inode));
        let Some((inode, seen)) = most else { return FileLockWaits::default() };
        let holder = seen.holders.into_iter().max_by_key(|(pid, n)| (*n, *pid)).map(|(pid, _)| pid);
        let holder = holder.filter(|pid| *pid != process.pid).map(|pid| match Process::of(pid) {
            Ok(other) => format!("{} {pid}", label(&other)),
            Err(_) => format!("process {pid}"),
        });
        let share = |n: u64| n as f64 / self.samples.max(1) as f64;
        FileLockWaits {
            call: seen.call,
            path: self.files.get(&inode).map(|path| path.display().to_string()),
            holder,
            waiting: share(seen.waiting),
            held: share(seen.held),
            held_here: share(seen.held_here),
        }
    }
}
