//! Measurement of a JVM: events at places, waits of the kernel, pauses, connections and processor time, side by side.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use yunti_base::Result;
use yunti_gc::Log;
use yunti_probe::answer::{Answer, or_skip};
use yunti_probe::kernel::{Wait, Waits};
use yunti_probe::stopping::{PULSE, Stopping, Watched};
use yunti_probe::target::Process;

use super::candidates::Candidates;
use super::peers::Peers;
use super::places::Places;
use super::processors::{ProcessorClock, ProcessorUse};
use super::timeline::{Sleep, Timeline};
use crate::jvm::{CollectionLog, Message, Pause, PauseLog, Request, Tracer};
use crate::time_kind::TimeKind;
use crate::why::requests::{RequestSampler, Requests};

/// Time after a change of methods in which the JVM compiles them again.
const SETTLE: Duration = Duration::from_millis(2500);
/// Events and waits that are kept.
const EVENTS_MAX: usize = 20_000_000;
const WAITS_MAX: usize = 4_000_000;

/// Everything measured of a JVM.
#[derive(Default)]
pub struct Evidence {
    pub places: Places,
    pub timelines: Vec<Timeline>,
    pub pauses: Vec<Pause>,
    /// Log of the collections.
    pub collections: Option<Log>,
    pub requests: Option<Requests>,
    pub processors: ProcessorUse,
    /// Processor seconds of processes that this one is connected to on this machine.
    pub peers_seconds: f64,
    /// Begin and end of the measured time, on CLOCK_MONOTONIC.
    pub begin_ns: u64,
    pub end_ns: u64,
    /// Names of remote ends, by their numbers in [`Sleep`].
    pub peers: Vec<String>,
}

/// Collector of everything that comes while the measurement runs.
struct Collector {
    places: Places,
    /// Timelines by the agent's number of the thread.
    timelines: HashMap<u64, Timeline>,
    events: usize,
    lost: u64,
    skips: Vec<String>,
    waits: Vec<Wait>,
    /// Remote ends of waits, by their place in `waits`; `u16::MAX` for none.
    ends: Vec<u16>,
    peers: Vec<String>,
}

impl Collector {
    fn take(&mut self, message: Message) {
        match message {
            Message::Method(number, text) => self.places.add(number, &text),
            Message::Object(text) => self.places.add_object(&text),
            Message::Free(text) => self.places.add_free(&text),
            Message::Skip(text) => self.skips.push(text),
            Message::Lost(lost) => self.lost = lost,
            Message::Events(chunk) if self.events < EVENTS_MAX => {
                self.events += chunk.events.len();
                let timeline = self.timelines.entry(chunk.thread).or_default();
                timeline.is_virtual |= chunk.is_virtual;
                if let Some(name) = chunk.name {
                    timeline.set_name(&name);
                }
                timeline.events.extend(chunk.events);
            }
            Message::Events(chunk) => self.lost += chunk.events.len() as u64,
            _ => {}
        }
    }

    fn add_wait(&mut self, wait: Wait, peers: &mut Peers) {
        if self.waits.len() >= WAITS_MAX {
            self.lost += 1;
            return;
        }
        let is_network = TimeKind::of_wait(&wait, None) == TimeKind::Network;
        let end = wait.file.filter(|_| is_network).and_then(|file| peers.of(file)).map(|peer| peer.to_string());
        let number = end.map_or(u16::MAX, |end| {
            let known = self.peers.iter().position(|peer| *peer == end).unwrap_or_else(|| {
                self.peers.push(end);
                self.peers.len() - 1
            });
            u16::try_from(known).unwrap_or(u16::MAX - 1)
        });
        self.waits.push(wait);
        self.ends.push(number);
    }
}

/// Measures requests of a JVM until the time is over.
///
/// @param method method that handles a request
/// @param candidates classes at which requests wait
pub fn measure(
    process: &Process,
    method: &str,
    candidates: Candidates,
    time: Duration,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<(Evidence, Watched)> {
    let request = Request {
        methods: vec![method.to_owned()],
        time: SETTLE + time,
        is_of_events: true,
        monitors: candidates.monitors,
        waits_at: candidates.waits,
        ..Request::default()
    };
    let mut tracer = Tracer::start(process, &request)?;
    let mut collector = Collector {
        places: Places::default(),
        timelines: HashMap::new(),
        events: 0,
        lost: 0,
        skips: Vec::new(),
        waits: Vec::new(),
        ends: Vec::new(),
        peers: Vec::new(),
    };
    tracer.wait_until_ready(|message| collector.take(message))?;
    stopping.wait(process, SETTLE, PULSE, || tracer.read(|message| collector.take(message)).is_ok());
    let mut peers = Peers::new(process);
    let mut waits = or_skip(&mut answer.skips, "waits of threads", Waits::start(process, None, None, 0));
    let pauses = or_skip(&mut answer.skips, "time in GC and safepoints", PauseLog::start(process));
    let collections = or_skip(&mut answer.skips, "collections", CollectionLog::start(process));
    let mut sampler = or_skip(&mut answer.skips, "connections", RequestSampler::start(process));
    let begin = Instant::now();
    let clock = ProcessorClock::start(process);
    let begin_ns = monotonic_ns();
    let mut error = None;
    let watched = stopping.wait(process, time, PULSE, || {
        if let Some(waits) = waits.as_mut() {
            waits.collect(|wait| collector.add_wait(wait, &mut peers), |_| ());
        }
        peers.keep_fresh();
        if let Some(sampler) = sampler.as_mut() {
            sampler.keep_up();
        }
        match tracer.read(|message| collector.take(message)) {
            Ok(is_open) => is_open,
            Err(e) => {
                error = Some(e);
                false
            }
        }
    });
    let end_ns = monotonic_ns();
    let processors = clock.finish();
    if let Some(error) = error {
        return Err(error);
    }
    if process.is_alive() {
        tracer.stop(|message| collector.take(message))?;
    }
    if let Some(waits) = waits.as_mut() {
        waits.collect(|wait| collector.add_wait(wait, &mut peers), |_| ());
        waits.detach();
        answer.missing(waits.account().lost, |n| format!("{n} waits: the buffer was full; take a shorter time (-s)"));
    }
    answer.missing(collector.lost, |n| format!("{n} events: too many; take a shorter time (-s)"));
    answer.skips.extend(collector.skips.drain(..));
    let mut evidence = Evidence {
        pauses: pauses
            .and_then(|log| or_skip(&mut answer.skips, "time in GC and safepoints", log.stop()))
            .unwrap_or_default(),
        collections: collections.and_then(|log| or_skip(&mut answer.skips, "collections", log.stop(begin.elapsed()))),
        requests: sampler.map(RequestSampler::finish),
        peers_seconds: peers.seconds(&processors.by_process),
        processors,
        begin_ns,
        end_ns,
        peers: collector.peers,
        places: collector.places,
        timelines: collector.timelines.into_values().collect(),
    };
    evidence.pauses.sort_by_key(|pause| pause.begin_ns);
    let mut by_tid: HashMap<u32, Vec<Sleep>> = HashMap::new();
    for (wait, end) in collector.waits.iter().zip(&collector.ends) {
        let tid = if process.pid == process.pid_inside { wait.tid } else { process.tid_inside(wait.tid) };
        by_tid.entry(tid).or_default().push(Sleep::of(wait, *end));
    }
    for timeline in &mut evidence.timelines {
        timeline.events.sort_by_key(|event| event.at_ns);
        timeline.sleeps = timeline.tid.and_then(|tid| by_tid.remove(&tid)).unwrap_or_default();
        timeline.sleeps.sort_by_key(|sleep| sleep.off_ns);
    }
    evidence.timelines.sort_by(|a, b| (&a.name, a.tid).cmp(&(&b.name, b.tid)));
    Ok((evidence, watched))
}

/// Returns the time of CLOCK_MONOTONIC, which is also the JVM's `System.nanoTime`.
fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
