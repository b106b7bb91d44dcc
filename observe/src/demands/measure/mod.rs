//! Measurement: events at places, waits of the kernel, pauses, connections and processor time, side by side.
//!
//! In a JVM an agent reports requests, tasks, locks and pools. Elsewhere a request of a thread is the time between two
//! waits for its client, and the kernel reports mutexes of the C library.
//!
//! ```text
//!   baseline.rs     processor time of a request that nothing measures
//!   candidates.rs   classes whose monitors requests may wait for
//!   compilers.rs    compilers of a JVM before its other threads
//!   entry.rs        Java method at which requests begin
//!   native.rs       requests and locks of a process that is no JVM
//!   peers.rs        remote ends of descriptors
//!   processors.rs   processor time by thread, by process and of the machine
//!   spaces.rs       sizes of a JVM's spaces
//! ```

pub mod baseline;
pub mod candidates;
mod compilers;
pub mod entry;
mod native;
mod peers;
pub mod processors;
pub mod spaces;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use yunti_base::Result;
use yunti_probe::answer::{Answer, or_skip};
use yunti_probe::kernel::{LockEvent, LockFunctions, Wait, Waits, monotonic_ns};
use yunti_probe::stopping::{PULSE, Stopping, Watched};
use yunti_probe::target::Process;

use self::candidates::Candidates;
use self::compilers::CompilersFirst;
use self::entry::Entry;
use self::peers::Peers;
use self::processors::{ProcessorClock, ProcessorUse};
use self::spaces::Spaces;
use super::evidence::{Evidence, Runtime};
use super::request::groups::Groups;
use super::request::kinds::Names;
use super::request::nesting::outermost;
use super::request::places::Places;
use super::request::timeline::{Sleep, Timeline};
use crate::jvm::{CollectionLog, Message, PauseLog, Request, Tracer, perf_data, perf_data_file};
use crate::runtime;
use crate::why::requests::RequestSampler;

/// Time after a change of methods in which the JVM compiles them again.
const SETTLE: Duration = Duration::from_millis(2500);
/// Events and waits that are kept.
const EVENTS_MAX: usize = 20_000_000;
const WAITS_MAX: usize = 4_000_000;

/// Collector of everything that comes while the measurement runs.
#[derive(Default)]
struct Collector {
    places: Places,
    names: Names,
    /// Timelines by the agent's number of the thread.
    timelines: HashMap<u64, Timeline>,
    events: usize,
    lost: u64,
    skips: Vec<String>,
    waits: usize,
    /// Waits by thread ID of this process's own namespace.
    sleeps: HashMap<u32, Vec<Sleep>>,
    locks: Vec<LockEvent>,
}

impl Collector {
    fn take(&mut self, message: Message) {
        match message {
            Message::Method(number, text) => self.places.add(number, &text),
            Message::Object(text) => self.places.add_object(&text),
            Message::Free(text) => self.places.add_free(&text),
            Message::Skip(text) => self.skips.push(text),
            Message::Lost(lost) => self.lost = lost,
            Message::Events(mut chunk) if self.events < EVENTS_MAX => {
                self.events += chunk.events.len();
                for (at, text) in &chunk.texts {
                    // Numbers count from 1 on, because 0 is no object.
                    chunk.events[*at].object = self.names.number(text).map_or(0, |number| number + 1);
                }
                let timeline = self.timelines.entry(chunk.thread).or_default();
                timeline.is_virtual |= chunk.is_virtual;
                if let Some(name) = chunk.name {
                    timeline.set_name(&name);
                }
                timeline.events.extend(chunk.events);
                timeline.allocated.extend(chunk.allocated);
            }
            Message::Events(chunk) => self.lost += chunk.events.len() as u64,
            _ => {}
        }
    }

    fn add_wait(&mut self, wait: &Wait, peers: Option<&mut Peers>) {
        if self.waits >= WAITS_MAX {
            self.lost += 1;
            return;
        }
        self.waits += 1;
        let sleep = Sleep::of(wait, |descriptor| peers?.of(descriptor));
        self.sleeps.entry(wait.tid).or_default().push(sleep);
    }

    fn add_locks(&mut self, locks: Vec<LockEvent>) {
        self.lost += (self.locks.len() + locks.len()).saturating_sub(EVENTS_MAX) as u64;
        let room = EVENTS_MAX - self.locks.len().min(EVENTS_MAX);
        self.locks.extend(locks.into_iter().take(room));
    }

    /// Takes the waits of each thread, by time.
    fn take_sleeps(&mut self) -> HashMap<u32, Vec<Sleep>> {
        let mut sleeps = std::mem::take(&mut self.sleeps);
        sleeps.values_mut().for_each(|all| all.sort_by_key(|sleep| sleep.off_ns));
        sleeps
    }
}

/// Sources that every process has.
struct Sources {
    peers: Option<Peers>,
    waits: Option<Waits>,
    sampler: Option<RequestSampler>,
    clock: Option<ProcessorClock>,
    begin_ns: u64,
}

impl Sources {
    fn start(process: &Process, locks: &LockFunctions, answer: &mut Answer) -> Sources {
        let waits = Waits::with_locks(process, locks);
        let waits = or_skip(&mut answer.skips, "waits of threads", waits);
        let sampler = or_skip(&mut answer.skips, "connections", RequestSampler::start(process));
        let peers = or_skip(&mut answer.skips, "remote ends of connections", Peers::new(process));
        let clock = Some(ProcessorClock::start(process));
        Sources { peers, waits, sampler, clock, begin_ns: monotonic_ns() }
    }

    fn stop_clock(&mut self) -> ProcessorUse {
        self.clock.take().map(ProcessorClock::finish).unwrap_or_default()
    }

    fn collect(&mut self, collector: &mut Collector) {
        if let Some(waits) = self.waits.as_mut() {
            waits.collect(|wait| collector.add_wait(&wait, self.peers.as_mut()), |_| ());
            collector.add_locks(waits.take_locks());
        }
        if let Some(peers) = self.peers.as_mut() {
            peers.keep_fresh();
        }
        if let Some(sampler) = self.sampler.as_mut() {
            sampler.keep_up();
        }
    }

    /// Ends all sources. `end_ns` is the end of the measured time.
    fn finish(
        mut self,
        collector: &mut Collector,
        processors: ProcessorUse,
        end_ns: u64,
        answer: &mut Answer,
    ) -> Evidence {
        self.collect(collector);
        if let Some(waits) = self.waits.as_mut() {
            waits.detach();
            answer
                .missing(waits.account().lost, |n| format!("{n} waits: the buffer was full; take a shorter time (-s)"));
        }
        answer.missing(collector.lost, |n| format!("{n} events: too many; take a shorter time (-s)"));
        answer.skips.append(&mut collector.skips);
        Evidence {
            requests: self.sampler.map(RequestSampler::finish),
            peers_seconds: self.peers.as_ref().map_or(0.0, |peers| peers.seconds(&processors.by_process)),
            peers: self.peers.map(Peers::into_names).unwrap_or_default(),
            processors,
            begin_ns: self.begin_ns,
            end_ns,
            ..Evidence::default()
        }
    }
}

/// Measures requests of a JVM until the time is over.
///
/// @param candidates classes whose monitors requests may wait for
pub fn measure_jvm(
    process: &Process,
    entry: &Entry,
    candidates: Candidates,
    time: Duration,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<(Evidence, Watched)> {
    let request = Request {
        methods: vec![entry.method.clone()],
        time: SETTLE + time,
        is_of_events: true,
        monitors: candidates.monitors,
        ..Request::default()
    };
    let compilers = CompilersFirst::of(process);
    let mut tracer = Tracer::start(process, &request)?;
    let mut collector = Collector::default();
    tracer.wait_until_ready(|message| collector.take(message))?;
    stopping.wait(process, SETTLE, PULSE, || tracer.read(|message| collector.take(message)).is_ok());
    drop(compilers);
    let pauses = or_skip(&mut answer.skips, "time in GC and safepoints", PauseLog::start(process));
    let collections = or_skip(&mut answer.skips, "collections", CollectionLog::start(process));
    let mut sources = Sources::start(process, &LockFunctions::default(), answer);
    let begin = Instant::now();
    let mut error = None;
    let watched = stopping.wait(process, time, PULSE, || {
        sources.collect(&mut collector);
        match tracer.read(|message| collector.take(message)) {
            Ok(is_open) => is_open,
            Err(e) => {
                error = Some(e);
                false
            }
        }
    });
    let (end_ns, processors) = (monotonic_ns(), sources.stop_clock());
    if let Some(error) = error {
        return Err(error);
    }
    let _compilers = CompilersFirst::of(process);
    if process.is_alive() {
        tracer.stop(|message| collector.take(message))?;
    }
    let mut evidence = sources.finish(&mut collector, processors, end_ns, answer);
    let pauses = pauses.and_then(|log| or_skip(&mut answer.skips, "time in GC and safepoints", log.stop()));
    evidence.runtime = Runtime::Jvm;
    let counters = perf_data_file(process).and_then(|file| perf_data(&file));
    evidence.spaces = counters.as_ref().map(Spaces::of).unwrap_or_default();
    evidence.pauses = pauses.unwrap_or_default();
    evidence.pauses.sort_by_key(|pause| pause.begin_ns);
    evidence.collections =
        collections.and_then(|log| or_skip(&mut answer.skips, "collections", log.stop(begin.elapsed())));
    // The agent has thread IDs of the JVM's own namespace.
    let inside = |tid: u32| if process.pid == process.pid_inside { tid } else { process.tid_inside(tid) };
    let mut sleeps: HashMap<u32, Vec<Sleep>> =
        collector.take_sleeps().into_iter().map(|(tid, sleeps)| (inside(tid), sleeps)).collect();
    evidence.timelines = collector.timelines.into_values().collect();
    for timeline in &mut evidence.timelines {
        timeline.events.sort_by_key(|event| event.at_ns);
        timeline.allocated.sort_unstable();
        timeline.events = outermost(&timeline.events, &collector.places);
        timeline.sleeps = timeline.tid.and_then(|tid| sleeps.remove(&tid)).unwrap_or_default();
    }
    evidence.timelines.sort_by(|a, b| (&a.name, a.tid).cmp(&(&b.name, b.tid)));
    (evidence.places, evidence.names) = (collector.places, collector.names);
    if entry.is_of_user {
        evidence.places.name_requests(|method| evidence.names.number(method));
    }
    Ok((evidence, watched))
}

/// Measures requests of any other process until the time is over.
pub fn measure_other(
    process: &Process,
    time: Duration,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<(Evidence, Watched)> {
    let kind = native::runtime(process);
    let locks = if kind == Runtime::Native { native::lock_functions(process) } else { LockFunctions::default() };
    let mut collector = Collector::default();
    let mut units = (kind == Runtime::Go).then(|| runtime::of(process, time, false, &mut answer.skips)).flatten();
    let mut groups = Groups::default();
    let mut sources = Sources::start(process, &locks, answer);
    let watched = stopping.wait(process, time, PULSE, || {
        sources.collect(&mut collector);
        if let Some(units) = units.as_mut() {
            let mut now = Vec::new();
            units.sample(&mut |unit, _| now.push(unit));
            if !now.is_empty() {
                groups.add(&now);
            }
        }
        true
    });
    if let Some(mut units) = units {
        units.finish();
    }
    let (end_ns, processors) = (monotonic_ns(), sources.stop_clock());
    let mut evidence = sources.finish(&mut collector, processors, end_ns, answer);
    (evidence.runtime, evidence.groups) = (kind, groups);
    for (tid, sleeps) in collector.take_sleeps() {
        let name = process.thread_name(tid).unwrap_or_default();
        evidence.timelines.push(Timeline { name, tid: Some(tid), sleeps, ..Timeline::default() });
    }
    evidence.timelines.sort_by(|a, b| (&a.name, a.tid).cmp(&(&b.name, b.tid)));
    native::add_events(&mut evidence, process, &collector.locks);
    Ok((evidence, watched))
}
