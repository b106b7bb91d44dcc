//! The first measurement: everything that is cheap, side by side, for some seconds.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use yunti_base::Result;

use super::facts::{Facts, GrowthWatch, HeapWatch, JvmStacks, OutsideWatch, ThreadFacts};
use super::listening::QueueSampler;
use super::outside;
use super::waiting::{self, Waiting};
use crate::jvm::{Profiler, Recording, Sampling};
use yunti_probe::answer::or_skip;
use yunti_probe::native::Native;
use yunti_probe::stack::Frame;
use yunti_probe::stopping::{End, Stopping, Watched};
use yunti_probe::target::cgroup::{Throttling, throttling};
use yunti_probe::target::outside::{neighbours, stays_held, usages};
use yunti_probe::target::ports::{self, Connections};
use yunti_probe::target::schedule::{Counts, ThreadTime, counts, processors_of, thread_times};
use yunti_probe::target::{Activity, ActivitySampler, DiskWait, Process, Target, mappings};

/// Time between two samples of a running thread in a JVM.
const CPU_EVERY: Duration = Duration::from_millis(10);
/// Time between two samples of all threads in a JVM.
const WALL_EVERY: Duration = Duration::from_millis(20);
const CPU_HZ: u32 = 99;
/// Time between two samples from outside.
const SAMPLE_EVERY: Duration = Duration::from_millis(25);
const SNAPSHOT_EVERY: Duration = Duration::from_millis(200);
const SNAPSHOT_OF_MANY_EVERY: Duration = Duration::from_secs(1);
const THREADS_FEW: usize = 64;

/// Beginnings of the system's names of the JVM's own threads: collectors first.
const COLLECTORS: [&str; 8] =
    ["GC Thread#", "ParGC", "G1 Conc#", "G1 Refine", "G1 Main", "G1 Service", "Gang worker", "ZWorker"];
const WORKERS: [&str; 3] = ["GC Thread#", "ParGC", "Gang worker"];
const OF_JVM: [&str; 15] = [
    "VM Thread",
    "VM Periodic",
    "C1 Compiler",
    "C2 Compiler",
    "Common-Cleaner",
    "Reference Hand",
    "Finalizer",
    "Signal Dispatch",
    "Service Thread",
    "Monitor Deflati",
    "Sweeper thread",
    "Attach Listener",
    "Notification Th",
    "Async-profiler",
    "DestroyJavaVM",
];

/// Counters of the process at a moment.
struct Snapshot {
    at: Instant,
    counts: Counts,
    threads: HashMap<u32, (String, ThreadTime)>,
    throttling: Throttling,
}

impl Snapshot {
    fn of(process: &Process) -> Snapshot {
        Snapshot {
            at: Instant::now(),
            counts: counts(process),
            threads: thread_times(process),
            throttling: throttling(process),
        }
    }

    /// Replaces the snapshot by a later one from time to time, because a process that has ended has no counters.
    fn keep_up(&mut self, process: &Process) {
        // A snapshot reads some files per thread.
        let every = if self.threads.len() <= THREADS_FEW { SNAPSHOT_EVERY } else { SNAPSHOT_OF_MANY_EVERY };
        if self.at.elapsed() >= every {
            let later = Snapshot::of(process);
            if process.is_alive() {
                *self = later;
            }
        }
    }
}

/// Measures a process until the time is over. Returns the facts.
pub fn watch(
    target: &Target,
    is_jvm: bool,
    time: Duration,
    stopping: &mut Stopping,
    skips: &mut Vec<String>,
) -> Result<(Facts, Watched)> {
    let process = &target.process;
    let mut facts = Facts { is_jvm, ..Facts::default() };
    let mut profiler = None;
    let mut native = None;
    if is_jvm && stays_held(process) {
        skips.push("stacks of Java: the process is stopped".to_owned());
    } else if is_jvm {
        let sampling = Sampling::CpuAndWall { cpu: CPU_EVERY, wall: WALL_EVERY };
        profiler = or_skip(skips, "stacks of Java", Profiler::start(process, sampling, time));
    } else {
        native = or_skip(skips, "stacks", Native::start(process, CPU_HZ));
    }
    let mut sampler = ActivitySampler::new(process);
    let mut heap = HeapWatch::new(process);
    let mut outside = OutsideWatch::new(process);
    let mut growth = GrowthWatch::new(process);
    let connections = Connections::of(process);
    let mut listening = QueueSampler::default();
    let before = Snapshot::of(process);
    let mut after = Snapshot::of(process);
    target.go()?;
    let watched = stopping.wait(process, time, SAMPLE_EVERY, || {
        sampler.sample();
        after.keep_up(process);
        heap.keep_up();
        outside.keep_up();
        growth.keep_up();
        listening.keep_up(process);
        if let Some(native) = &mut native {
            native.collect();
        }
        true
    });
    if watched.end != End::TargetGone {
        after = Snapshot::of(process);
    }
    facts.seconds = (after.at - before.at).as_secs_f64();
    facts.mappings = mappings(process).len();
    compare(process, &before, &after, &mut facts);
    let scale = facts.seconds / watched.time.as_secs_f64().max(0.001);
    facts.others = neighbours(process, &outside.usages, &usages(), watched.time.as_secs_f64());
    facts.others.iter_mut().for_each(|other| other.seconds *= scale);
    let samples = sampler.samples.values().flat_map(HashMap::values).sum();
    let threads = (&before.threads, &after.threads);
    facts.outside = outside.facts(process, &sampler.stops, samples, sampler.rounds, threads, facts.seconds);
    facts.heap = heap.facts(facts.seconds);
    facts.growth = growth.finish(facts.heap.as_ref());
    facts.disk_waits = disk_waits(&sampler);
    facts.connections = Connections::of(process).since(connections);
    facts.listeners = listening.queues(process);
    facts.port_use = ports::most_used(process);
    let mut of_threads = HashMap::new();
    if let Some(recording) = profiler.and_then(|profiler| or_skip(skips, "stacks of Java", profiler.stop())) {
        facts.jvm = JvmStacks::of(&recording);
        of_threads = java_threads(process, &recording, &sampler, &mut facts);
    }
    if let Some(native) = native {
        for sample in native.finish() {
            facts.on_cpu.push((sample.frames.into(), 1));
        }
    }
    if !is_jvm || of_threads.is_empty() {
        of_threads = native_threads(process, &sampler);
    }
    facts.jvm.take_times(&before.threads, &after.threads);
    facts.threads = of_threads.into_values().collect();
    facts.peers = peers(&sampler, facts.seconds);
    outside::search(process, &mut facts);
    Ok((facts, watched))
}

fn disk_waits(sampler: &ActivitySampler) -> HashMap<DiskWait, f64> {
    let mut waits = HashMap::new();
    for (activity, n) in sampler.samples.values().flatten() {
        if let Activity::Disk(wait) = activity {
            *waits.entry(*wait).or_default() += *n as f64 / sampler.rounds.max(1) as f64;
        }
    }
    waits
}

fn begins_with(name: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| name.starts_with(beginning))
}

fn is_of_jvm(name: &str) -> bool {
    begins_with(name, &COLLECTORS) || begins_with(name, &OF_JVM)
}

fn compare(process: &Process, before: &Snapshot, after: &Snapshot, facts: &mut Facts) {
    let (was, is) = (&before.counts, &after.counts);
    facts.user_seconds = (is.user_seconds - was.user_seconds).max(0.0);
    facts.system_seconds = (is.system_seconds - was.system_seconds).max(0.0);
    facts.faults = is.faults.saturating_sub(was.faults) as f64;
    facts.faults_with_io = is.faults_with_io.saturating_sub(was.faults_with_io) as f64;
    facts.switches = is.switches.saturating_sub(was.switches) as f64;
    for (tid, (name, time)) in &after.threads {
        let old = before.threads.get(tid).map_or(ThreadTime::default(), |(_, time)| *time);
        let (ran, waited) = (time.ran_ns.saturating_sub(old.ran_ns), time.waited_ns.saturating_sub(old.waited_ns));
        if begins_with(name, &COLLECTORS) {
            facts.gc_seconds += ran as f64 / 1e9;
        }
        if !is_of_jvm(name) || !facts.is_jvm {
            facts.queued_seconds += waited as f64 / 1e9;
        }
    }
    facts.gc_threads = after.threads.values().filter(|(name, _)| begins_with(name, &WORKERS)).count();
    let (was, is) = (before.throttling, after.throttling);
    facts.throttling = Throttling {
        periods: is.periods.saturating_sub(was.periods),
        throttled_periods: is.throttled_periods.saturating_sub(was.throttled_periods),
        throttled_seconds: (is.throttled_seconds - was.throttled_seconds).max(0.0),
        processors: is.processors,
    };
    let machine = processors_of(process) as f64;
    facts.processors = is.processors.map_or(machine, |quota| quota.min(machine));
}

/// Returns the share of a thread's time at sockets in which it waits for an answer to its own call.
fn remote_share(sampler: &ActivitySampler, tid: u32) -> f64 {
    let Some(samples) = sampler.samples.get(&tid) else { return 1.0 };
    let (mut remote, mut idle) = (0, 0);
    for (activity, n) in samples {
        match activity {
            Activity::Remote(_) => remote += n,
            Activity::Idle => idle += n,
            _ => {}
        }
    }
    if remote + idle == 0 { 1.0 } else { remote as f64 / (remote + idle) as f64 }
}

/// Returns the share of a thread's running and disk-waiting time in which it waits for a disk.
fn disk_share(sampler: &ActivitySampler, tid: u32) -> f64 {
    let Some(samples) = sampler.samples.get(&tid) else { return 0.0 };
    let sum = |test: fn(&Activity) -> bool| {
        samples.iter().filter(|(activity, _)| test(activity)).map(|(_, n)| *n).sum::<u64>()
    };
    let (disk, running) = (sum(|a| matches!(a, Activity::Disk(_))), sum(|a| matches!(a, Activity::Running)));
    disk as f64 / (disk + running).max(1) as f64
}

fn java_threads(
    process: &Process,
    recording: &Recording,
    sampler: &ActivitySampler,
    facts: &mut Facts,
) -> HashMap<u32, ThreadFacts> {
    let outside: HashMap<u32, u32> = sampler.samples.keys().map(|tid| (process.tid_inside(*tid), *tid)).collect();
    let mut stacks: HashMap<*const Frame, (Rc<[Frame]>, u64)> = HashMap::new();
    let mut threads: HashMap<u32, ThreadFacts> = HashMap::new();
    let mut totals: HashMap<u32, f64> = HashMap::new();
    for sample in recording.samples.iter().filter(|sample| !is_of_jvm(&sample.thread)) {
        if !sample.is_wall {
            stacks.entry(sample.frames.as_ptr()).or_insert_with(|| (sample.frames.clone(), 0)).1 += sample.value;
            continue;
        }
        let thread = threads
            .entry(sample.tid)
            .or_insert_with(|| ThreadFacts { name: sample.thread.clone(), ..ThreadFacts::default() });
        thread.is_worker |= waiting::is_of_executor(&sample.frames);
        let is_running = &*sample.state == "RUNNABLE" || sample.state.contains("RUNNABLE");
        let waiting = if is_running { Waiting::Not } else { waiting::of(&sample.frames) };
        let n = sample.value as f64;
        *totals.entry(sample.tid).or_default() += n;
        let remote = match waiting {
            Waiting::Network => outside.get(&sample.tid).map_or(1.0, |tid| remote_share(sampler, *tid)),
            _ => 1.0,
        };
        // For the profiler, a thread that waits for a page or a device within a native call is running.
        let on_disk =
            if is_running { outside.get(&sample.tid).map_or(0.0, |tid| disk_share(sampler, *tid)) } else { 0.0 };
        *thread.shares.entry(Waiting::File).or_default() += n * on_disk;
        *thread.shares.entry(waiting).or_default() += n * remote * (1.0 - on_disk);
        *thread.shares.entry(Waiting::Idle).or_default() += n * (1.0 - remote);
        if let Some(own) = waiting::own_frame(&sample.frames) {
            *thread.waits_in.entry((waiting, own.name.clone())).or_default() += n * remote * (1.0 - on_disk);
            *thread.waits_in.entry((Waiting::File, own.name.clone())).or_default() += n * on_disk;
        }
    }
    // A thread that lived for a part of the time counts for that part.
    let longest = totals.values().copied().fold(1.0, f64::max);
    for thread in threads.values_mut() {
        thread.shares.values_mut().chain(thread.waits_in.values_mut()).for_each(|n| *n /= longest);
    }
    facts.on_cpu = stacks.into_values().collect();
    threads
}

/// Returns true if the peer's port is 53.
fn is_name_service(peer: &str) -> bool {
    peer.ends_with(":53")
}

fn native_threads(process: &Process, sampler: &ActivitySampler) -> HashMap<u32, ThreadFacts> {
    let rounds = sampler.rounds.max(1) as f64;
    let of = |(tid, samples): (&u32, &HashMap<Activity, u64>)| {
        let mut thread =
            ThreadFacts { name: process.thread_name(*tid).unwrap_or_default().into(), ..ThreadFacts::default() };
        for (activity, n) in samples {
            let waiting = match activity {
                Activity::Running => Waiting::Not,
                Activity::Disk(_) => Waiting::File,
                Activity::Remote(peer) if is_name_service(peer) => Waiting::NameService,
                Activity::Remote(_) => Waiting::Network,
                Activity::Idle => Waiting::Idle,
                Activity::Sleep => Waiting::Sleep,
                Activity::Futex | Activity::Other => Waiting::Unknown,
            };
            *thread.shares.entry(waiting).or_default() += *n as f64 / rounds;
        }
        (*tid, thread)
    };
    sampler.samples.iter().map(of).filter(|(_, thread)| !is_of_jvm(&thread.name)).collect()
}

fn peers(sampler: &ActivitySampler, seconds: f64) -> Vec<(String, f64)> {
    let mut sums: HashMap<&str, u64> = HashMap::new();
    for (activity, n) in sampler.samples.values().flatten() {
        if let Activity::Remote(peer) = activity
            && !is_name_service(peer)
        {
            *sums.entry(peer).or_default() += n;
        }
    }
    let of = |(peer, n): (&str, u64)| (peer.to_owned(), n as f64 / sampler.rounds.max(1) as f64 * seconds);
    let mut all: Vec<_> = sums.into_iter().map(of).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all
}
