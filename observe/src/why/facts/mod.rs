//! Facts of a measured process: the input of the rules.
//!
//! ```text
//!   heap.rs     a JVM's own counters: pauses by cause, live objects, safepoints
//!   stacks.rs   a JVM's stacks: callers of System.gc(), finalizers, interpreted code
//!   locks.rs    threads that wait for each other, sessions of a database
//!   outside.rs  the other processes, the machine, the control group
//!   growth.rs   numbers that grow all the time, and their limits
//! ```

mod growth;
mod heap;
mod locks;
mod outside;
mod stacks;

#[cfg(test)]
pub use {growth::Counted, heap::GcCause, outside::GroupChange};

pub use growth::{Growth, GrowthWatch};
pub use heap::{HeapFacts, HeapWatch};
pub use locks::{Deadlock, Sessions};
pub use outside::{OutsideFacts, OutsideWatch};
pub use stacks::{JvmStacks, is_compiler};

use std::collections::HashMap;
use std::rc::Rc;

use crate::runtime::GoFacts;
use crate::runtime::event_loop::EventLoop;
use crate::runtime::python::InterpreterFacts;
use crate::why::account::waiting::{self, Waiting};
use crate::why::measure::file_locks::FileLockWaits;
use crate::why::measure::listening::Queue;
use crate::why::requests::Requests;
use yunti_probe::kernel::system::Meddler;
use yunti_probe::stack::{Frame, Kind};
use yunti_probe::target::cgroup::Throttling;
use yunti_probe::target::ports::{Connections, PortUse};
use yunti_probe::target::{DiskWait, Neighbour};

/// Threads with work, on average, below which a thread that waits for others counts as having work.
const ALONE_MAX: f64 = 0.2;

/// Facts of a process over the measurement.
#[derive(Default)]
pub struct Facts {
    pub seconds: f64,
    pub is_jvm: bool,
    /// Runtime whose units of work were read: `Go 1.22`.
    pub runtime: Option<String>,
    /// Processors that the process may use, by affinity and quota.
    pub processors: f64,
    pub user_seconds: f64,
    pub system_seconds: f64,
    /// Processor time of its children that ended in the measurement, and their part in the kernel.
    pub children_seconds: f64,
    pub children_system_seconds: f64,
    /// Seconds in which its threads were ready and did not run, summed over threads.
    pub queued_seconds: f64,
    pub gc_seconds: f64,
    pub gc_threads: usize,
    /// Other processes, the largest first.
    pub others: Vec<Neighbour>,
    /// Harm from outside.
    pub outside: OutsideFacts,
    /// Threads of a JVM in certain functions.
    pub jvm: JvmStacks,
    /// Numbers that grew all the time.
    pub growth: Vec<Growth>,
    /// Throttling by the control group, in the measurement.
    pub throttling: Throttling,
    pub faults: f64,
    pub faults_with_io: f64,
    pub switches: f64,
    pub io: Io,
    /// Addresses and ports of name servers for which threads wait, most of them first.
    pub name_servers: Vec<String>,
    pub mappings: usize,
    pub heap: Option<HeapFacts>,
    /// Stacks on a processor, with their samples.
    pub on_cpu: Vec<(Rc<[Frame]>, u64)>,
    pub threads: Vec<ThreadFacts>,
    /// Wakeups by threads of the process: (waking thread, woken thread) -> count.
    pub wakes: HashMap<(u64, u64), u64>,
    /// Network peers that threads waited for: peer and seconds, summed over threads.
    pub peers: Vec<(String, f64)>,
    /// Threads in state D at a time, on average, by kind of wait.
    pub disk_waits: HashMap<DiskWait, f64>,
    /// Connections of its network namespace, in the measurement.
    pub connections: Connections,
    /// Its listening sockets, by port.
    pub listeners: Vec<Queue>,
    pub port_use: Option<PortUse>,
    /// Lock of a file that its threads waited for.
    pub file_lock: FileLockWaits,
    pub go: Option<GoFacts>,
    /// Requests on its connections.
    pub requests: Requests,
    pub event_loop: Option<EventLoop>,
    /// Its interpreter of Python.
    pub interpreter: Option<InterpreterFacts>,
    /// Threads of the process as the kernel schedules them.
    pub loads: Vec<ThreadLoad>,
    /// Details that a second measurement added.
    pub details: Details,
}

/// Processor time of a thread.
#[derive(Clone, Debug, Default)]
pub struct ThreadLoad {
    /// Number of the thread as the kernel sees it.
    pub tid: u32,
    pub name: String,
    pub ran_seconds: f64,
    /// Seconds in which it was ready and did not run.
    pub queued_seconds: f64,
}

/// Share of a thread's time with one stack.
#[derive(Clone, Debug)]
pub struct Moment {
    pub waiting: Waiting,
    /// Frames, the outermost first.
    pub frames: Rc<[Frame]>,
    pub share: f64,
}

/// Shares of the time of a thread, or of another unit of work.
#[derive(Clone, Debug, Default)]
pub struct ThreadFacts {
    /// Number of the thread as the kernel sees it, or of the unit in its runtime.
    pub id: u64,
    pub name: Rc<str>,
    pub moments: Vec<Moment>,
    /// True if it takes tasks from the queue of an executor.
    pub is_worker: bool,
    pub shares: HashMap<Waiting, f64>,
    /// Shares by kind of wait and by the program's own frame.
    pub waits_in: HashMap<(Waiting, Rc<str>), f64>,
}

/// System calls that read and write, and their bytes, of files and sockets alike.
#[derive(Clone, Copy, Debug, Default)]
pub struct Io {
    pub reads: f64,
    pub read_bytes: f64,
    pub writes: f64,
    pub written_bytes: f64,
}

/// Results of the second measurement.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// The lock with the longest total wait.
    pub lock: Option<LockSummary>,
    pub faults: Option<FaultSummary>,
    /// Tasks in queues of executors, by the heap's histogram.
    pub queued_tasks: Option<u64>,
    pub reads: Option<ReadSummary>,
    pub deadlock: Option<Deadlock>,
    /// Other process that owns a mutex that threads wait for.
    pub lock_owner: Option<String>,
    /// Process that reads the pipe which threads wait to write into.
    pub pipe_reader: Option<String>,
    pub sessions: Option<Sessions>,
    /// Processes that stop it, or take its memory away.
    pub meddlers: Vec<Meddler>,
    /// True if the JVM's code cache is full, or its compiler is off.
    pub code_cache_full: Option<bool>,
}

/// Pages read into the page cache during the measurement.
#[derive(Clone, Debug, Default)]
pub struct ReadSummary {
    pub seconds: f64,
    /// Bytes read for this process.
    pub bytes: f64,
    /// Refaults: share of the pages that had been evicted shortly before.
    pub came_back: f64,
    /// The other process with the most bytes read: name and bytes.
    pub neighbour: Option<(String, f64)>,
    /// The file with the most bytes read.
    pub file: String,
    pub device: String,
    /// Times that the whole file was read since the process began, if all its reads were of this file.
    pub times_read: f64,
    /// The other process with the most anonymous memory: name, bytes, and the memory limit or the machine's memory.
    pub holder: Option<(String, f64, f64)>,
    /// Mean size of requests to that device.
    pub request_bytes: f64,
    /// Share of requests that began where the previous one of the same file ended.
    pub sequential: f64,
    pub read_ahead_bytes: Option<u64>,
}

/// Waits for one lock.
#[derive(Clone, Debug)]
pub struct LockSummary {
    pub name: String,
    /// Waiting threads at a time, on average.
    pub waiting_threads: f64,
    pub waits_per_second: f64,
    pub holder: Option<String>,
    pub held_in: Option<String>,
}

/// Page faults, by share.
#[derive(Clone, Debug)]
pub struct FaultSummary {
    pub per_second: f64,
    /// Share of first touches.
    pub first_touch: f64,
    /// Share of further first touches of a page, whose memory was returned to the system in between.
    pub again: f64,
    /// Share of copies on write.
    pub copies: f64,
    pub place: String,
    pub advice: Option<String>,
}

impl Facts {
    pub fn cpu_seconds(&self) -> f64 {
        self.user_seconds + self.system_seconds
    }

    /// Returns the part of `queued_seconds` in which other processes ran, by their share of the used processors. This
    /// part belongs to the cause `cpu-neighbour`; the other causes share the rest.
    pub fn queued_for_others(&self) -> f64 {
        let others = self.others_processors() * self.seconds;
        self.queued_seconds * others / (others + self.cpu_seconds()).max(0.001)
    }

    /// Returns the share of the busy threads' time in which other processes did not hold them up.
    pub fn unhindered(&self) -> f64 {
        (1.0 - self.queued_for_others() / (self.seconds * self.at_work()).max(0.001)).clamp(0.05, 1.0)
    }

    /// Returns the share of the ready or running time in which other processes ran.
    fn hindered_when_ready(&self) -> f64 {
        (self.queued_for_others() / (self.cpu_seconds() + self.queued_seconds).max(0.001)).clamp(0.0, 1.0)
    }

    fn at_work(&self) -> f64 {
        self.threads.iter().filter(|thread| thread.share(Waiting::Not) > 0.01).count().max(1) as f64
    }

    /// Returns the utilisation of the allowed processors, 0 to 1: the demand of its threads, up to what all processes
    /// used. A woken thread may queue for one processor for a moment while another one is free.
    pub fn utilisation(&self) -> f64 {
        let wanted = self.cpu_seconds() + self.queued_seconds - self.queued_for_others();
        let used = self.cpu_seconds() + self.others_processors() * self.seconds;
        (wanted.min(used) / self.seconds.max(0.001) / self.processors.max(0.01)).min(1.0)
    }

    /// Returns the processors that its threads would use if they never waited for one.
    pub fn demand(&self) -> f64 {
        let left = self.seconds - self.queued_seconds / self.at_work();
        self.cpu_seconds() / left.max(self.seconds * 0.05).max(0.001)
    }

    /// Returns the threads in a kind of wait, on average.
    /// [`Waiting::Not`] counts threads that run, or would run without
    /// other processes.
    pub fn threads_waiting(&self, waiting: Waiting) -> f64 {
        let all: f64 = self.threads.iter().map(|thread| thread.share(waiting)).sum();
        if waiting == Waiting::Not { all * (1.0 - self.hindered_when_ready()) } else { all }
    }

    /// Returns the threads in state D in one of these waits, on average.
    pub fn disk_threads(&self, waits: &[DiskWait]) -> f64 {
        waits.iter().map(|wait| self.disk_waits.get(wait).copied().unwrap_or(0.0)).sum()
    }

    /// Returns the threads with work, on average, whether they run or wait. A thread that waits for the result of
    /// another one counts only where no other has work.
    pub fn busy_threads(&self) -> f64 {
        use Waiting::{File, Lock, NameService, Network, Not, Resource, Result};
        let sum: f64 =
            [Not, Lock, Resource, Network, NameService, File].into_iter().map(|w| self.threads_waiting(w)).sum();
        if sum < ALONE_MAX { sum + self.threads_waiting(Result) } else { sum }
    }

    /// Returns the share of the samples on a processor that pass a test.
    pub fn cpu_share(&self, test: impl Fn(&[Frame]) -> bool) -> f64 {
        let all: u64 = self.on_cpu.iter().map(|(_, n)| n).sum();
        let these: u64 = self.on_cpu.iter().filter(|(frames, _)| test(frames)).map(|(_, n)| n).sum();
        these as f64 / all.max(1) as f64
    }

    /// Returns the program's own function with the most processor time outside the kernel: name and share.
    pub fn hottest(&self) -> Option<(Rc<str>, f64)> {
        self.own_function(|frames| !frames.iter().any(|frame| frame.kind == Kind::Kernel))
    }

    /// Returns the program's own function with the most samples that pass a test: name, and share of all samples.
    pub fn own_function(&self, test: impl Fn(&[Frame]) -> bool) -> Option<(Rc<str>, f64)> {
        let all: u64 = self.on_cpu.iter().map(|(_, n)| n).sum();
        let mut sums: HashMap<Rc<str>, u64> = HashMap::new();
        for (frames, n) in self.on_cpu.iter().filter(|(frames, _)| test(frames)) {
            if let Some(own) = waiting::own_frame(frames) {
                *sums.entry(own.name.clone()).or_default() += n;
            }
        }
        let (name, n) = sums.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)))?;
        Some((name, n as f64 / all.max(1) as f64))
    }

    /// Returns the program's own frame with the most threads in a kind of wait, and these threads on average.
    pub fn waits_in(&self, waiting: Waiting) -> Option<(Rc<str>, f64)> {
        self.waits_in_of(waiting, |_| true)
    }

    /// Returns the same for threads that pass a test.
    pub fn waits_in_of(&self, waiting: Waiting, test: impl Fn(&ThreadFacts) -> bool) -> Option<(Rc<str>, f64)> {
        let mut sums: HashMap<Rc<str>, f64> = HashMap::new();
        for thread in self.threads.iter().filter(|thread| test(thread)) {
            for ((kind, name), share) in &thread.waits_in {
                if *kind == waiting {
                    *sums.entry(name.clone()).or_default() += share;
                }
            }
        }
        sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(&a.0)))
    }

    /// Returns the moments of all threads and other units of work.
    pub fn moments(&self) -> impl Iterator<Item = &Moment> {
        self.threads.iter().flat_map(|thread| &thread.moments)
    }

    /// Returns the program's own function in which most threads wait in one way, with its caller if most waits have the
    /// same one, for the end of a clause: `, in Gateway.ask (called by GatewayFactory.validate)`. Empty if it has none.
    pub fn in_place(&self, kind: Waiting) -> String {
        const MOST: f64 = 0.6;
        let Some((place, waiting)) = self.waits_in(kind) else { return String::new() };
        let mut callers: HashMap<&str, f64> = HashMap::new();
        for moment in self.moments().filter(|moment| moment.waiting == kind) {
            let Some(at) = moment.frames.iter().position(|frame| frame.name == place) else { continue };
            if let Some(caller) = waiting::own_frame(&moment.frames[..at]) {
                *callers.entry(&caller.name).or_default() += moment.share;
            }
        }
        let caller = callers.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(a.0)));
        let caller = caller.filter(|(_, share)| *share >= waiting * MOST).map(|(name, _)| waiting::shown(name));
        let caller = caller.map_or_else(String::new, |name| format!(" (called by {name})"));
        format!(", in {}{caller}", waiting::shown(&place))
    }

    /// Returns the share of the time in which nothing outside kept its threads from running: no tracer, no stop, no
    /// tool of a JVM, no mask beside idle processors. Other causes count in this part.
    pub fn left_by_others(&self) -> f64 {
        let traced = self.stops_of_tracer().share;
        let in_safepoints = self.heap.as_ref().map_or(0.0, |heap| heap.safepoint_seconds / self.seconds.max(0.001));
        let lost = [traced, self.outside.stopped_share, self.outside.frozen_share, in_safepoints, self.crowded()];
        lost.iter().map(|share| 1.0 - share.clamp(0.0, 1.0)).product()
    }

    /// Returns the share of its busy time in which threads waited for the processors of their mask, as far as idle
    /// processors outside of it could have run them.
    pub fn crowded(&self) -> f64 {
        let machine = &self.outside.machine;
        let Some(mask) = self.outside.placement.masks.first() else { return 0.0 };
        if mask.processors.len() >= machine.idle.len() {
            return 0.0;
        }
        let seconds = self.seconds.max(0.001);
        let gain = (mask.waited_seconds / seconds).min(machine.idle_outside(&mask.processors));
        let busy = self.busy_threads().max((mask.waited_seconds + mask.ran_seconds) / seconds);
        (gain / busy.max(0.01)).clamp(0.0, 1.0)
    }

    /// Returns the processors that other processes used.
    pub fn others_processors(&self) -> f64 {
        self.others.iter().map(|other| other.seconds).sum::<f64>() / self.seconds.max(0.001)
    }
}

impl ThreadFacts {
    /// Adds a share of the thread's time with one stack.
    pub fn add(&mut self, waiting: Waiting, frames: &Rc<[Frame]>, share: f64) {
        if share <= 0.0 {
            return;
        }
        *self.shares.entry(waiting).or_default() += share;
        if let Some(own) = waiting::own_frame(frames) {
            *self.waits_in.entry((waiting, own.name.clone())).or_default() += share;
        }
        let known = |moment: &&mut Moment| moment.waiting == waiting && Rc::ptr_eq(&moment.frames, frames);
        match self.moments.iter_mut().find(known) {
            Some(moment) => moment.share += share,
            None => self.moments.push(Moment { waiting, frames: frames.clone(), share }),
        }
    }

    /// Multiplies all shares.
    pub fn scale(&mut self, factor: f64) {
        let moments = self.moments.iter_mut().map(|moment| &mut moment.share);
        self.shares.values_mut().chain(self.waits_in.values_mut()).chain(moments).for_each(|n| *n *= factor);
    }

    pub fn share(&self, waiting: Waiting) -> f64 {
        self.shares.get(&waiting).copied().unwrap_or(0.0)
    }
}
