//! Units of work of a measured process, with the shares of their time by kind of wait and stack: threads of a JVM, of
//! native code, or units of another runtime.

use std::collections::HashMap;
use std::rc::Rc;

use crate::jvm::{self, Event, Recording, State};
use crate::runtime::Sighting;
use crate::why::account::waiting::{self, Waiting};
use crate::why::facts::{Facts, ThreadFacts};
use std::time::{Duration, Instant};

use yunti_base::Result;
use yunti_probe::native::{NativeSample, WaitSampler};
use yunti_probe::stack::{Frame, Kind};
use yunti_probe::target::{Activity, ActivitySampler, Process};

/// Threads by their numbers as the kernel sees them.
pub type Threads = HashMap<u32, ThreadFacts>;

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

/// Returns true if a thread's waits outside of sockets are mostly for room in a pipe.
fn waits_for_pipe(sampler: &ActivitySampler, tid: u32) -> bool {
    let Some(samples) = sampler.samples.get(&tid) else { return false };
    let sum = |test: fn(&Activity) -> bool| {
        samples.iter().filter(|(activity, _)| test(activity)).map(|(_, n)| *n).sum::<u64>()
    };
    let (pipe, files) =
        (sum(|a| matches!(a, Activity::FullPipe)), sum(|a| matches!(a, Activity::Disk(_) | Activity::Other)));
    pipe > files
}

/// Returns the threads of a JVM by its profiler's samples.
///
/// @param is_of_jvm true for names of the JVM's own threads
pub fn of_java(
    process: &Process,
    recording: &Recording,
    sampler: &ActivitySampler,
    facts: &mut Facts,
    is_of_jvm: fn(&str) -> bool,
) -> Threads {
    let outside: HashMap<u32, u32> = sampler.samples.keys().map(|tid| (process.tid_inside(*tid), *tid)).collect();
    let mut stacks: HashMap<*const Frame, (Rc<[Frame]>, u64)> = HashMap::new();
    let mut waits: HashMap<*const Frame, Waiting> = HashMap::new();
    let mut piped: HashMap<*const Frame, Rc<[Frame]>> = HashMap::new();
    let mut threads = Threads::new();
    let mut totals: HashMap<u32, f64> = HashMap::new();
    for sample in recording.samples.iter().filter(|sample| !is_of_jvm(&sample.thread)) {
        if sample.event != Event::Wall {
            stacks.entry(sample.frames.as_ptr()).or_insert_with(|| (sample.frames.clone(), 0)).1 += sample.value;
            continue;
        }
        let tid = outside.get(&sample.tid).copied();
        let thread = threads.entry(sample.tid).or_insert_with(|| ThreadFacts {
            id: tid.unwrap_or(sample.tid).into(),
            name: sample.thread.clone(),
            ..ThreadFacts::default()
        });
        thread.is_worker |= waiting::is_of_executor(&sample.frames);
        let is_running = &*sample.state == "RUNNABLE" || sample.state.contains("RUNNABLE");
        let waiting = match is_running {
            true => Waiting::Not,
            false => *waits.entry(sample.frames.as_ptr()).or_insert_with(|| waiting::of(&sample.frames)),
        };
        // The profiler shows the call that writes, and not what the kernel does with it.
        if waiting == Waiting::File && tid.is_some_and(|tid| waits_for_pipe(sampler, tid)) {
            let key = sample.frames.as_ptr();
            let frames = piped.entry(key).or_insert_with(|| {
                let kernel = Frame { name: waiting::PIPE_WRITE.into(), kind: Kind::Kernel };
                sample.frames.iter().cloned().chain([kernel]).collect()
            });
            thread.add(Waiting::Resource, frames, sample.value as f64);
            *totals.entry(sample.tid).or_default() += sample.value as f64;
            continue;
        }
        let n = sample.value as f64;
        *totals.entry(sample.tid).or_default() += n;
        let remote = match waiting {
            Waiting::Network => tid.map_or(1.0, |tid| remote_share(sampler, tid)),
            _ => 1.0,
        };
        // For the profiler, a thread that waits for a page or a device within a native call is running.
        let on_disk = if is_running { tid.map_or(0.0, |tid| disk_share(sampler, tid)) } else { 0.0 };
        thread.add(Waiting::File, &sample.frames, n * on_disk);
        thread.add(waiting, &sample.frames, n * remote * (1.0 - on_disk));
        thread.add(Waiting::Idle, &sample.frames, n * (1.0 - remote));
    }
    // A thread that lived for a part of the time counts for that part.
    let longest = totals.values().copied().fold(1.0, f64::max);
    threads.values_mut().for_each(|thread| thread.scale(1.0 / longest));
    facts.on_cpu = stacks.into_values().collect();
    threads
}

/// Dumps of a JVM's virtual threads, and the time between two.
const DUMPS: u32 = 5;
const DUMP_EVERY: Duration = Duration::from_millis(100);
/// Time of a dump above which there is no further one: it holds up the JVM.
const DUMP_TIME_MAX: Duration = Duration::from_millis(150);
/// Numbers of virtual threads are made different from those of the kernel.
const VIRTUAL: u64 = 1 << 40;

/// Returns the virtual threads of a JVM that are on no carrier, if one of its threads was seen to carry some.
pub fn virtual_threads(process: &Process, threads: &Threads) -> Result<Vec<ThreadFacts>> {
    let carries = |thread: &ThreadFacts| {
        thread.moments.iter().any(|moment| moment.frames.iter().any(|frame| is_of_virtual(&frame.name)))
    };
    let mut found: HashMap<u64, ThreadFacts> = HashMap::new();
    if !threads.values().any(carries) {
        return Ok(Vec::new());
    }
    let mut dumps = 0;
    while dumps < DUMPS {
        let begin = Instant::now();
        for thread in jvm::virtual_threads(process)? {
            let waiting = match thread.state {
                State::Blocked => Waiting::Lock,
                _ => waiting::of(&thread.frames),
            };
            // What runs is on a carrier thread, which the profiler has seen.
            if thread.state != State::OnCarrier {
                let unit = found.entry(thread.id).or_insert_with(|| ThreadFacts {
                    id: VIRTUAL | thread.id,
                    name: thread.name.clone(),
                    is_worker: true,
                    ..ThreadFacts::default()
                });
                unit.add(waiting, &thread.frames, 1.0);
            }
        }
        dumps += 1;
        if begin.elapsed() > DUMP_TIME_MAX {
            break;
        }
        std::thread::sleep(DUMP_EVERY);
    }
    let mut found: Vec<_> = found.into_values().collect();
    found.iter_mut().for_each(|unit| unit.scale(1.0 / f64::from(dumps)));
    Ok(found)
}

fn is_of_virtual(name: &str) -> bool {
    name.starts_with("java.lang.VirtualThread.") || name.starts_with("jdk.internal.vm.Continuation.")
}

/// Returns true if the peer's port is 53.
pub fn is_name_service(peer: &str) -> bool {
    peer.ends_with(":53")
}

/// Stack of a wait, true if it was for a processor only, and its periods.
type SeenWait = (Rc<[Frame]>, bool, u64);

/// Waits of native threads with their stacks, gathered during the measurement.
pub struct NativeWaits {
    sampler: WaitSampler,
    seen: HashMap<u32, Vec<SeenWait>>,
    rate: u32,
}

impl NativeWaits {
    pub fn new(sampler: WaitSampler, rate: u32) -> NativeWaits {
        NativeWaits { sampler, seen: HashMap::new(), rate }
    }

    pub fn collect(&mut self) {
        let seen = &mut self.seen;
        self.sampler.sample(|wait| {
            seen.entry(wait.tid).or_default().push((wait.frames.clone(), wait.is_queued, wait.value));
        });
    }

    /// Returns the threads: their waits, and the samples on a processor.
    ///
    /// @param hz samples in a second of processor time
    pub fn finish(
        self,
        process: &Process,
        running: &[NativeSample],
        hz: u32,
        sampler: &ActivitySampler,
        seconds: f64,
    ) -> Threads {
        let NativeWaits { sampler: mut waits, mut seen, rate } = self;
        waits.report_open(|wait| {
            seen.entry(wait.tid).or_default().push((wait.frames.clone(), wait.is_queued, wait.value))
        });
        let mut threads = Threads::new();
        for sample in running {
            let frames: Rc<[Frame]> = sample.frames.clone().into();
            let name = sample.thread.rsplit_once(' ').map_or(&*sample.thread, |(name, _)| name);
            named(&mut threads, sample.tid, name).add(Waiting::Not, &frames, 1.0 / f64::from(hz) / seconds.max(0.001));
        }
        for (tid, waits) in seen {
            let name = process.thread_name(tid).unwrap_or_default();
            let unit = named(&mut threads, tid, &name);
            for (frames, is_queued, periods) in waits {
                unit.is_worker |= waiting::is_of_uv_pool(&frames);
                let share = periods as f64 / f64::from(rate) / seconds.max(0.001);
                let waiting = if is_queued { Waiting::Not } else { waiting::of_native(&frames) };
                let remote = match waiting {
                    // A send never waits for work.
                    Waiting::Network if waiting::sends_to_unix(&frames) => 1.0,
                    Waiting::Network | Waiting::Idle => remote_of_native(sampler, tid, waiting),
                    _ => 1.0,
                };
                let (of_remote, of_other) = match waiting {
                    Waiting::Idle => (Waiting::Network, Waiting::Idle),
                    other => (other, Waiting::Idle),
                };
                unit.add(of_remote, &frames, share * remote);
                unit.add(of_other, &frames, share * (1.0 - remote));
            }
        }
        for (tid, thread) in &mut threads {
            name_service(sampler, *tid, thread);
        }
        threads
    }
}

fn named<'a>(threads: &'a mut Threads, tid: u32, name: &str) -> &'a mut ThreadFacts {
    threads.entry(tid).or_insert_with(|| ThreadFacts { id: tid.into(), name: name.into(), ..ThreadFacts::default() })
}

/// Returns the share of a thread's waits at sockets that are for an answer to its own call. A thread in poll(2) waits
/// for a peer only if it polls a single socket of its own.
fn remote_of_native(sampler: &ActivitySampler, tid: u32, waiting: Waiting) -> f64 {
    let has_any = sampler
        .samples
        .get(&tid)
        .is_some_and(|samples| samples.keys().any(|activity| matches!(activity, Activity::Remote(_) | Activity::Idle)));
    match waiting {
        Waiting::Idle if !has_any => 0.0,
        _ => remote_share(sampler, tid),
    }
}

/// Turns waits for a name server into those for the name service.
fn name_service(sampler: &ActivitySampler, tid: u32, thread: &mut ThreadFacts) {
    let Some(samples) = sampler.samples.get(&tid) else { return };
    let of = |test: fn(&str) -> bool| {
        let peers = samples.iter().filter_map(|(activity, n)| match activity {
            Activity::Remote(peer) if test(peer) => Some(*n),
            _ => None,
        });
        peers.sum::<u64>()
    };
    let (names, others) = (of(is_name_service), of(|peer| !is_name_service(peer)));
    if names > others {
        for moment in &mut thread.moments {
            if moment.waiting == Waiting::Network {
                moment.waiting = Waiting::NameService;
            }
        }
        let waited = thread.shares.remove(&Waiting::Network).unwrap_or(0.0);
        *thread.shares.entry(Waiting::NameService).or_default() += waited;
    }
}

/// Returns the threads of native code by their system calls alone, where their stacks cannot be read.
pub fn of_calls(process: &Process, sampler: &ActivitySampler, is_of_jvm: fn(&str) -> bool) -> Threads {
    let rounds = sampler.rounds.max(1) as f64;
    let of = |(tid, samples): (&u32, &HashMap<Activity, u64>)| {
        let mut thread = ThreadFacts {
            id: (*tid).into(),
            name: process.thread_name(*tid).unwrap_or_default().into(),
            ..ThreadFacts::default()
        };
        for (activity, n) in samples {
            let waiting = match activity {
                Activity::Running => Waiting::Not,
                Activity::Disk(_) => Waiting::File,
                Activity::Remote(peer) if is_name_service(peer) => Waiting::NameService,
                Activity::Remote(_) => Waiting::Network,
                Activity::Idle => Waiting::Idle,
                Activity::FullPipe => Waiting::Resource,
                Activity::Sleep => Waiting::Sleep,
                Activity::Futex | Activity::Other => Waiting::Unknown,
            };
            *thread.shares.entry(waiting).or_default() += *n as f64 / rounds;
        }
        (*tid, thread)
    };
    sampler.samples.iter().map(of).filter(|(_, thread)| !is_of_jvm(&thread.name)).collect()
}

/// Units of a runtime, gathered during the measurement.
#[derive(Default)]
pub struct RuntimeUnits {
    units: HashMap<u64, ThreadFacts>,
}

impl RuntimeUnits {
    /// Adds a sighting that stands for a number of rounds.
    pub fn add(&mut self, sighting: Sighting, rounds: u64) {
        let Sighting { unit, name, waiting, frames } = sighting;
        let thread = self.units.entry(unit).or_insert_with(|| ThreadFacts { id: unit, name, ..ThreadFacts::default() });
        thread.is_worker |= waiting::is_of_executor(&frames);
        thread.add(waiting, &frames, rounds as f64);
    }

    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Returns the units; their shares are of all rounds.
    pub fn finish(self, rounds: u64) -> Vec<ThreadFacts> {
        let mut units: Vec<_> = self.units.into_values().collect();
        units.iter_mut().for_each(|unit| unit.scale(1.0 / rounds.max(1) as f64));
        units
    }
}
