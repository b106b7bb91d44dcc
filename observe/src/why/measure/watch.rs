//! The first measurement: everything that is cheap, side by side, for some seconds.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use yunti_base::Result;

use crate::jvm::{Profiler, Sampling};
use crate::runtime;
use crate::why::account::settle;
use crate::why::causes::outside;
use crate::why::facts::{Facts, GrowthWatch, HeapWatch, Io, JvmStacks, OutsideWatch, ThreadLoad};
use crate::why::measure::file_locks::FileLockSampler;
use crate::why::measure::listening::QueueSampler;
use crate::why::measure::units::{self, NativeWaits, RuntimeUnits};
use crate::why::requests::RequestSampler;
use yunti_probe::answer::{Answer, or_skip, own_cpu_seconds};
use yunti_probe::kernel::Wakes;
use yunti_probe::native::{Native, WaitSampler};
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
/// Readings of waiting native threads in a second.
const WAITS_HZ: u32 = 40;
/// Time between two samples from outside.
const SAMPLE_EVERY: Duration = Duration::from_millis(25);
const SNAPSHOT_EVERY: Duration = Duration::from_millis(500);
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
///
/// @param may_open false if no debugging port of a runtime may be opened
pub fn watch(
    target: &Target,
    is_jvm: bool,
    time: Duration,
    may_open: bool,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<(Facts, Watched)> {
    let skips = &mut answer.skips;
    let process = &target.process;
    let mut facts = Facts { is_jvm, ..Facts::default() };
    let mut profiler = None;
    let (mut native, mut waits, mut runtime) = (None, None, None);
    if is_jvm && stays_held(process) {
        skips.push("stacks of Java: the process is stopped".to_owned());
    } else if is_jvm {
        let sampling = Sampling::CpuAndWall { cpu: CPU_EVERY, wall: WALL_EVERY };
        profiler = or_skip(skips, "stacks of Java", Profiler::start(process, sampling, time));
    } else {
        native = or_skip(skips, "stacks", Native::start(process, CPU_HZ));
        runtime = runtime::of(process, time, may_open, skips);
        if runtime.as_ref().is_none_or(|runtime| !runtime.has_units()) {
            let sampler = or_skip(skips, "stacks of waiting threads", WaitSampler::of(process, WAITS_HZ));
            waits = sampler.map(|sampler| NativeWaits::new(sampler, WAITS_HZ));
        }
    }
    let (mut runtime_units, mut runtime_rounds, mut runtime_peers) = (RuntimeUnits::default(), 0, Vec::new());
    let wakes = or_skip(skips, "which thread wakes which", Wakes::start(process));
    let mut sampler = ActivitySampler::new(process);
    let mut heap = HeapWatch::new(process);
    let mut outside = OutsideWatch::new(process);
    let mut growth = GrowthWatch::new(process);
    let connections = Connections::of(process);
    let mut listening = QueueSampler::default();
    let mut file_locks = FileLockSampler::default();
    let mut requests = or_skip(skips, "requests on connections", RequestSampler::start(process));
    let before = Snapshot::of(process);
    let mut after = Snapshot::of(process);
    answer.start_cpu_seconds = own_cpu_seconds();
    target.go()?;
    let watched = stopping.wait(process, time, SAMPLE_EVERY, || {
        sampler.keep_up();
        after.keep_up(process);
        heap.keep_up();
        outside.keep_up();
        growth.keep_up();
        listening.keep_up(process);
        file_locks.keep_up(process);
        requests.iter_mut().for_each(RequestSampler::keep_up);
        if let Some(native) = &mut native {
            native.collect();
        }
        if let Some(waits) = &mut waits {
            waits.collect();
        }
        if let Some(runtime) = &mut runtime {
            runtime_rounds += 1;
            runtime.sample(&mut |sighting, rounds| runtime_units.add(sighting, rounds));
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
    facts.file_lock = file_locks.finish(process);
    facts.port_use = ports::most_used(process);
    facts.requests = requests.map(RequestSampler::finish).unwrap_or_default();
    let used = |pid: u32| facts.others.iter().filter(|other| other.pid == pid).map(|other| other.seconds).sum::<f64>();
    facts.requests.take_usages(|pid| used(pid) / facts.seconds.max(0.001));
    facts.name_servers = name_servers(&sampler);
    if let Some(wakes) = wakes {
        let edges = wakes.edges().into_iter();
        facts.wakes = edges.map(|((by, woken), n)| ((by.into(), woken.into()), n)).collect();
    }
    let mut threads = units::Threads::new();
    if let Some(recording) = profiler.and_then(|profiler| or_skip(skips, "stacks of Java", profiler.stop())) {
        facts.jvm = JvmStacks::of(&recording);
        threads = units::of_java(process, &recording, &sampler, &mut facts, is_of_jvm);
    }
    if !is_jvm {
        let mut samples = native.map_or_else(Vec::new, Native::finish);
        if let Some(runtime) = &mut runtime {
            runtime.join(&mut samples, skips);
        }
        if let Some(waits) = waits {
            threads = waits.finish(process, &samples, CPU_HZ, &sampler, facts.seconds);
        }
        facts.on_cpu.extend(samples.into_iter().map(|sample| (sample.frames.into(), 1)));
    }
    if threads.is_empty() {
        threads = units::of_calls(process, &sampler, is_of_jvm);
    }
    let virtuals = or_skip(skips, "virtual threads", units::virtual_threads(process, &threads));
    facts.jvm.take_times(&before.threads, &after.threads);
    facts.threads = threads.into_values().chain(virtuals.into_iter().flatten()).collect();
    facts.runtime = runtime.as_ref().map(|runtime| runtime.name().to_owned());
    if let Some(mut runtime) = runtime {
        let own = runtime.finish();
        (facts.go, runtime_peers) = (runtime.go_facts(), runtime.peers());
        if !own.is_empty() {
            facts.on_cpu = own;
        }
        if !runtime_units.is_empty() {
            facts.threads = runtime_units.finish(runtime_rounds);
        }
        facts.event_loop = runtime.event_loop();
        facts.interpreter = runtime.interpreter();
    }
    settle::settle(&mut facts);
    facts.peers = peers(&sampler, facts.seconds);
    facts.peers.extend(runtime_peers.into_iter().map(|(peer, units)| (peer, units * facts.seconds)));
    facts.peers.sort_by(|a, b| b.1.total_cmp(&a.1));
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
    facts.children_seconds = (is.children_seconds - was.children_seconds).max(0.0);
    facts.children_system_seconds = (is.children_system_seconds - was.children_system_seconds).max(0.0);
    facts.faults = is.faults.saturating_sub(was.faults) as f64;
    facts.faults_with_io = is.faults_with_io.saturating_sub(was.faults_with_io) as f64;
    facts.switches = is.switches.saturating_sub(was.switches) as f64;
    let io = |n: usize| is.io[n].saturating_sub(was.io[n]) as f64;
    facts.io = Io { reads: io(0), read_bytes: io(1), writes: io(2), written_bytes: io(3) };
    for (tid, (name, time)) in &after.threads {
        let old = before.threads.get(tid).map_or(ThreadTime::default(), |(_, time)| *time);
        let (ran, waited) = (time.ran_ns.saturating_sub(old.ran_ns), time.waited_ns.saturating_sub(old.waited_ns));
        if !facts.is_jvm || !is_of_jvm(name) {
            facts.loads.push(ThreadLoad {
                tid: *tid,
                name: name.clone(),
                ran_seconds: ran as f64 / 1e9,
                queued_seconds: waited as f64 / 1e9,
            });
        }
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

/// Returns the name servers for which threads wait, most of them first.
fn name_servers(sampler: &ActivitySampler) -> Vec<String> {
    let mut sums: HashMap<&str, u64> = HashMap::new();
    for (activity, n) in sampler.samples.values().flatten() {
        if let Activity::Remote(peer) = activity
            && units::is_name_service(peer)
        {
            *sums.entry(peer).or_default() += n;
        }
    }
    let mut all: Vec<_> = sums.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    all.into_iter().map(|(server, _)| server.to_owned()).collect()
}

fn peers(sampler: &ActivitySampler, seconds: f64) -> Vec<(String, f64)> {
    let mut sums: HashMap<&str, u64> = HashMap::new();
    for (activity, n) in sampler.samples.values().flatten() {
        if let Activity::Remote(peer) = activity
            && !units::is_name_service(peer)
        {
            *sums.entry(peer).or_default() += n;
        }
    }
    let of = |(peer, n): (&str, u64)| (peer.to_owned(), n as f64 / sampler.rounds.max(1) as f64 * seconds);
    let mut all: Vec<_> = sums.into_iter().map(of).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all
}
