//! Activity of each thread, read at intervals from outside: running, or its system call. No program is loaded, and no
//! stack is walked.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::Process;
use super::disk::{self, DiskWait};
use super::network::sockets::{Connection, connections, socket_of};
use super::outside::Stops;
use super::thread_files::ThreadFiles;

/// Activity of a thread at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Activity {
    /// On a processor, or in the run queue.
    Running,
    /// In state D: for a disk, a page, or a lock of the kernel.
    Disk(DiskWait),
    /// For a response from a peer that this process has called.
    Remote(String),
    /// For a request, a connection or an event.
    Idle,
    Sleep,
    /// For room in a pipe, whose reader is slow.
    FullPipe,
    Futex,
    Other,
}

/// Sampler of thread activities.
pub struct ActivitySampler {
    process: Process,
    memory: Option<File>,
    files: ThreadFiles,
    /// Waits by thread, with the number of its runs: until it runs again, it waits for the same.
    waits: HashMap<u32, (u64, Activity)>,
    next: Option<Instant>,
    sockets: HashMap<u64, Connection>,
    last_read: Option<Instant>,
    /// Time that the last reading of the sockets took.
    reading: Duration,
    /// Samples by thread and activity.
    pub samples: HashMap<u32, HashMap<Activity, u64>>,
    /// Samples of threads that others hold.
    pub stops: Stops,
    /// Number of rounds.
    pub rounds: u64,
}

/// Share of a processor for rounds, and the longest time between two of them.
const SHARE_MAX: f64 = 0.008;
const ROUND_AT_LEAST_EVERY: Duration = Duration::from_millis(150);
/// Interval of reading the process's sockets, although all that it waits at are known.
const SOCKETS_EVERY: Duration = Duration::from_secs(4);
/// Shortest interval, for programs that connect for each call.
const SOCKETS_AT_MOST_EVERY: Duration = Duration::from_millis(20);
/// Inverse of the share of time in which sockets are read at most.
const READING_SHARE: u32 = 100;
/// Threads a round; of more threads, each round reads a part.
const THREADS_MAX: usize = 256;

/// Returns true for the numbers of system calls that write.
pub fn number_writes(number: i64) -> bool {
    const WRITES: [syscalls::Sysno; 3] = [syscalls::Sysno::write, syscalls::Sysno::writev, syscalls::Sysno::splice];
    WRITES.iter().any(|call| *call as i64 == number)
}

/// Returns the processor time of this thread.
pub fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

impl ActivitySampler {
    /// Returns a sampler of a process.
    pub fn new(process: &Process) -> ActivitySampler {
        ActivitySampler {
            process: process.clone(),
            memory: File::open(format!("/proc/{}/mem", process.pid)).ok(),
            files: ThreadFiles::of(process),
            waits: HashMap::new(),
            next: None,
            sockets: HashMap::new(),
            last_read: None,
            reading: Duration::ZERO,
            samples: HashMap::new(),
            stops: Stops::default(),
            rounds: 0,
        }
    }

    fn read_sockets(&mut self, every: Duration) {
        // A machine with many sockets has a long table.
        let every = every.max(self.reading * READING_SHARE);
        if self.last_read.is_none_or(|at| at.elapsed() > every) {
            let begin = Instant::now();
            self.sockets = connections(&self.process);
            self.reading = begin.elapsed();
            self.last_read = Some(Instant::now());
        }
    }

    /// Reads all threads once, if that is due: as often as it is called, or as their number allows.
    pub fn keep_up(&mut self) {
        let now = Instant::now();
        if self.next.is_some_and(|next| now < next) {
            return;
        }
        let before = cpu_time();
        self.sample();
        let cost = cpu_time().saturating_sub(before);
        self.next = Some(now + cost.div_f64(SHARE_MAX).min(ROUND_AT_LEAST_EVERY));
    }

    fn sample(&mut self) {
        self.read_sockets(SOCKETS_EVERY);
        self.rounds += 1;
        let threads = self.process.threads();
        self.files.keep_only(&threads);
        if self.waits.len() > 2 * threads.len() {
            self.waits.retain(|tid, _| threads.contains(tid));
        }
        let step = threads.len().div_ceil(THREADS_MAX).max(1);
        for tid in threads.into_iter().skip(self.rounds as usize % step).step_by(step) {
            if let Some(activity) = self.activity(tid, step as u64) {
                *self.samples.entry(tid).or_default().entry(activity).or_default() += step as u64;
            }
        }
    }

    /// Returns the activity of a thread; `None` if it has ended or was stopped. `weight`: threads that it stands for.
    pub fn activity(&mut self, tid: u32, weight: u64) -> Option<Activity> {
        let state = self.files.state(tid)?;
        match state {
            'R' => return Some(Activity::Running),
            'D' => {
                let stack = fs::read_to_string(format!("/proc/{}/task/{tid}/stack", self.process.pid));
                return Some(Activity::Disk(disk::of_stack(&stack.unwrap_or_default())));
            }
            'S' => {}
            _ => {
                self.stops.count(&self.process, tid, state, weight);
                return None;
            }
        }
        let runs = self.files.runs(tid);
        if let Some((at, wait)) = self.waits.get(&tid)
            && Some(*at) == runs
        {
            return Some(wait.clone());
        }
        // Without access the line is empty; a profiler may have the stack.
        let Some((number, arguments)) = self.process.waiting_call(tid) else { return Some(Activity::Other) };
        let wait = self.in_call(number, &arguments);
        // It may have run since its runs were read: then it has one more of them in the next round.
        match (runs, &wait) {
            (None, _) | (_, Activity::Other) => {}
            (Some(runs), _) => {
                self.waits.insert(tid, (runs, wait.clone()));
            }
        }
        Some(wait)
    }

    /// Returns the activity of a thread in a system call.
    pub fn in_call(&mut self, number: i64, arguments: &[u64]) -> Activity {
        let name = usize::try_from(number).ok().and_then(syscalls::Sysno::new);
        let first = arguments.first().copied().unwrap_or(0);
        match name.map_or("", |call| call.name()) {
            "futex" | "futex_wait" | "futex_waitv" => Activity::Futex,
            "nanosleep" | "clock_nanosleep" => Activity::Sleep,
            "read" | "recvfrom" | "recvmsg" | "recvmmsg" | "write" | "sendto" | "sendmsg" | "connect" | "readv" => {
                match self.at_socket(first) {
                    Activity::Other if number_writes(number) && self.is_pipe(first) => Activity::FullPipe,
                    other => other,
                }
            }
            // A single descriptor, as sockets of Java and of DNS use.
            "poll" | "ppoll" if arguments.get(1) == Some(&1) => {
                self.word(first).map_or(Activity::Other, |fd| self.at_socket(fd & 0xffff_ffff))
            }
            "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait" | "epoll_pwait2" | "accept"
            | "accept4" | "wait4" | "waitid" | "rt_sigtimedwait" | "io_getevents" | "io_uring_enter" => Activity::Idle,
            _ => Activity::Other,
        }
    }

    /// Returns the activity of one that waits at a descriptor.
    pub fn at_socket(&mut self, fd: u64) -> Activity {
        let Some(inode) = socket_of(&self.process, fd) else { return Activity::Other };
        if !self.sockets.contains_key(&inode) {
            self.read_sockets(SOCKETS_AT_MOST_EVERY);
        }
        match self.sockets.get(&inode) {
            Some(connection) if connection.is_accepted => Activity::Idle,
            Some(connection) => Activity::Remote(connection.peer.clone()),
            None => Activity::Other,
        }
    }

    fn is_pipe(&self, fd: u64) -> bool {
        let link = fs::read_link(format!("/proc/{}/fd/{fd}", self.process.pid));
        link.is_ok_and(|link| link.to_string_lossy().starts_with("pipe:"))
    }

    fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.memory.as_ref()?.read_exact_at(&mut bytes, address).ok()?;
        Some(u64::from_le_bytes(bytes))
    }
}
