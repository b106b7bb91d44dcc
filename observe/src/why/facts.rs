//! What is known of a process after it was looked at: numbers that rules ask for.

use std::collections::HashMap;
use std::rc::Rc;

use super::listening::Queue;
use super::waiting::{self, Waiting};
use yunti_probe::stack::{Frame, Kind};
use yunti_probe::target::DiskWait;
use yunti_probe::target::cgroup::Throttling;
use yunti_probe::target::ports::{Connections, Taken};

#[derive(Default)]
pub struct Facts {
    pub seconds: f64,
    pub is_jvm: bool,
    /// Processors that it may use.
    pub processors: f64,
    pub user_seconds: f64,
    pub system_seconds: f64,
    /// Its threads were ready and did not run, in seconds of all.
    pub queued_seconds: f64,
    pub gc_seconds: f64,
    pub gc_threads: usize,
    /// Other processes: name and processor seconds, the largest first.
    pub others: Vec<(String, f64)>,
    /// In the time that was looked at.
    pub throttling: Throttling,
    pub faults: f64,
    pub faults_with_io: f64,
    pub switches: f64,
    pub mappings: usize,
    pub heap: Option<HeapFacts>,
    /// Stacks on a processor, and how many samples each had.
    pub on_cpu: Vec<(Rc<[Frame]>, u64)>,
    pub threads: Vec<ThreadFacts>,
    /// Who is waited for over the network: peer and seconds of threads.
    pub peers: Vec<(String, f64)>,
    /// Threads at a time in state D, by what they wait for there.
    pub disk_waits: HashMap<DiskWait, f64>,
    /// Of its network namespace, in the time that was looked at.
    pub connections: Connections,
    /// Its sockets that listen, by port.
    pub listeners: Vec<Queue>,
    pub ports_taken: Option<Taken>,
    /// Filled where something pointed to it.
    pub deeper: Deeper,
}

#[derive(Clone, Debug, Default)]
pub struct HeapFacts {
    /// Of the time, in which all threads were stopped for collections.
    pub pause_share: f64,
    pub young_collections: f64,
    pub old_collections: f64,
    pub promoted_bytes: f64,
    /// Eden before a collection, at most.
    pub eden_bytes: f64,
    pub heap_max_bytes: f64,
}

/// What a thread did, in shares of its time.
#[derive(Clone, Debug, Default)]
pub struct ThreadFacts {
    pub name: Rc<str>,
    /// It takes tasks out of the queue of an executor.
    pub is_worker: bool,
    pub shares: HashMap<Waiting, f64>,
    /// Where it waits, most of the time that it does: the program's own frame.
    pub waits_in: HashMap<(Waiting, Rc<str>), f64>,
}

/// What a second, dearer look has shown.
#[derive(Clone, Debug, Default)]
pub struct Deeper {
    /// The lock that was waited for longest: name, kind, holder's frame.
    pub lock: Option<LockSeen>,
    pub faults: Option<FaultsSeen>,
    /// Objects that stand in queues, by the heap's histogram.
    pub queued_tasks: Option<u64>,
    pub reads: Option<ReadsSeen>,
}

/// What was brought into the page cache meanwhile.
#[derive(Clone, Debug, Default)]
pub struct ReadsSeen {
    pub seconds: f64,
    /// For this process.
    pub bytes: f64,
    /// Of all that came, the share that had been in the page cache shortly before.
    pub came_back: f64,
    /// Who else brought most, and how much.
    pub neighbour: Option<(String, f64)>,
    /// The file of which most was brought.
    pub file: String,
    pub device: String,
    /// How often the file has been brought as a whole since the process began, if all that it has read were of it.
    pub times_read: f64,
    /// Who else holds memory that cannot be dropped, where it is short: name, bytes, and how much there is for all.
    pub holder: Option<(String, f64, f64)>,
    /// Of requests to that device: on average, and the share that began where the one before had ended.
    pub request_bytes: f64,
    pub sequential: f64,
    pub read_ahead_bytes: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct LockSeen {
    pub name: String,
    /// Threads that wait for it at a time, on average.
    pub waiting_threads: f64,
    pub waits_per_second: f64,
    pub holder: Option<String>,
    pub held_in: Option<String>,
}

#[derive(Clone, Debug)]
pub struct FaultsSeen {
    pub per_second: f64,
    /// Of all: first touches of fresh memory, of memory that was given back before, copies on write.
    pub first_touch: f64,
    pub again: f64,
    pub copies: f64,
    pub place: String,
    pub advice: Option<String>,
}

impl Facts {
    pub fn cpu_seconds(&self) -> f64 {
        self.user_seconds + self.system_seconds
    }

    /// Of the time in which its threads were ready and did not run, that in which others ran: their share of the processors that were used. It is
    /// the neighbours' own cause; what else bounds the process is asked of the time that is left.
    pub fn queued_for_others(&self) -> f64 {
        let others = self.others_processors() * self.seconds;
        self.queued_seconds * others / (others + self.cpu_seconds()).max(0.001)
    }

    /// Of the time of threads that have work, the share in which no others kept them from it.
    pub fn unhindered(&self) -> f64 {
        (1.0 - self.queued_for_others() / (self.seconds * self.at_work()).max(0.001)).clamp(0.05, 1.0)
    }

    /// Of the time in which its threads are ready or run, the share in which others run.
    fn hindered_when_ready(&self) -> f64 {
        (self.queued_for_others() / (self.cpu_seconds() + self.queued_seconds).max(0.001)).clamp(0.0, 1.0)
    }

    fn at_work(&self) -> f64 {
        self.threads.iter().filter(|thread| thread.share(Waiting::Not) > 0.01).count().max(1) as f64
    }

    /// How much of the processors that it may use there is no more of, 0 to 1: what its threads wanted, but no more than was used by all. A
    /// thread that was woken waits for a moment in the queue of one processor while another is free.
    pub fn utilisation(&self) -> f64 {
        let wanted = self.cpu_seconds() + self.queued_seconds - self.queued_for_others();
        let used = self.cpu_seconds() + self.others_processors() * self.seconds;
        (wanted.min(used) / self.seconds.max(0.001) / self.processors.max(0.01)).min(1.0)
    }

    /// Processors that its threads would use, had they not to wait for one: what a thread has waited is no part of its time.
    pub fn demand(&self) -> f64 {
        let left = self.seconds - self.queued_seconds / self.at_work();
        self.cpu_seconds() / left.max(self.seconds * 0.05).max(0.001)
    }

    /// Threads at a time that wait so; of those that do not wait, those that run or would if there were no others.
    pub fn threads_waiting(&self, waiting: Waiting) -> f64 {
        let all: f64 = self.threads.iter().map(|thread| thread.share(waiting)).sum();
        if waiting == Waiting::Not { all * (1.0 - self.hindered_when_ready()) } else { all }
    }

    /// Threads at a time in state D, for one of these.
    pub fn disk_threads(&self, waits: &[DiskWait]) -> f64 {
        waits.iter().map(|wait| self.disk_waits.get(wait).copied().unwrap_or(0.0)).sum()
    }

    /// Threads at a time that have something to do, whether they can or not.
    pub fn busy_threads(&self) -> f64 {
        use Waiting::{File, Lock, NameService, Network, Not, Resource, Result};
        [Not, Lock, Resource, Result, Network, NameService, File].into_iter().map(|w| self.threads_waiting(w)).sum()
    }

    /// Of the samples on a processor, those that pass a test.
    pub fn cpu_share(&self, test: impl Fn(&[Frame]) -> bool) -> f64 {
        let all: u64 = self.on_cpu.iter().map(|(_, n)| n).sum();
        let these: u64 = self.on_cpu.iter().filter(|(frames, _)| test(frames)).map(|(_, n)| n).sum();
        these as f64 / all.max(1) as f64
    }

    /// The program's own function in which most processor time goes by, the system's work not counted: name and share.
    pub fn hottest(&self) -> Option<(Rc<str>, f64)> {
        self.own_function(|frames| !frames.iter().any(|frame| frame.kind == Kind::Kernel))
    }

    /// Of the samples on a processor that pass a test, the program's own function that most are in, and its share of all.
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

    /// Where threads wait so, most of all: the program's own frame, and threads at a time.
    pub fn waits_in(&self, waiting: Waiting) -> Option<(Rc<str>, f64)> {
        self.waits_in_of(waiting, |_| true)
    }

    /// The same, of some threads.
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

    /// Processors that others used.
    pub fn others_processors(&self) -> f64 {
        self.others.iter().map(|(_, seconds)| seconds).sum::<f64>() / self.seconds.max(0.001)
    }
}

impl ThreadFacts {
    pub fn share(&self, waiting: Waiting) -> f64 {
        self.shares.get(&waiting).copied().unwrap_or(0.0)
    }
}
