//! Measurement of requests. In a JVM a request is a call of a method or a span; elsewhere it is a span.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use yunti_base::{Code, Error, Result};

use super::evidence::{ByThread, Evidence};
use super::request::{Request, outermost};
use super::split::StackSample;
use crate::jvm::{Event, PauseLog, Profiler, Sampling};
use yunti_probe::answer::{Answer, or_skip};
use yunti_probe::kernel::{Span, SpanBounds, StackEvents, Wait, Waits};
use yunti_probe::native::Native;
use yunti_probe::stack::Frame;
use yunti_probe::stopping::{PULSE, Stopping, Watched};
use yunti_probe::target::{Process, Target};

const CPU_INTERVAL: Duration = Duration::from_millis(1);
const WALL_INTERVAL: Duration = Duration::from_millis(2);
/// Samples per second of native code. 1,000 would beat with periodic work of programs.
const RATE: u32 = 997;
/// Stacks per second of waits in spans.
const STACKS_PER_SECOND: u32 = 2000;
const WAITS_MAX: usize = 4_000_000;
const SPANS_MAX: usize = 2_000_000;

/// Definition of a request.
pub enum RequestDefinition {
    /// Calls of a Java method, `com.shop.Cart.total`.
    Method(String),
    /// Times between two native functions on one thread.
    Spans { name: String, bounds: SpanBounds },
}

impl RequestDefinition {
    fn name(&self) -> &str {
        match self {
            RequestDefinition::Method(name) | RequestDefinition::Spans { name, .. } => name,
        }
    }

    fn bounds(&self) -> Option<&SpanBounds> {
        match self {
            RequestDefinition::Method(_) => None,
            RequestDefinition::Spans { bounds, .. } => Some(bounds),
        }
    }
}

/// Prints that the measurement has begun, so that a waiting script may go on.
fn print_ready(definition: &RequestDefinition, process: &Process) {
    eprintln!("watching {} of {} {}; ctrl-C ends it", definition.name(), process.name, process.pid);
}

/// Collects waits and spans from the kernel.
struct WaitCollector<'a> {
    process: &'a Process,
    program: Waits,
    /// Waits, with thread IDs of the observer's PID namespace.
    waits: Vec<Wait>,
    spans: Vec<Span>,
    dropped: u64,
    /// Thread ID -> its ID in its own PID namespace, and its name. Both are read while the thread lives.
    threads: HashMap<u32, (u32, Rc<str>)>,
}

impl<'a> WaitCollector<'a> {
    fn of(process: &'a Process, program: Waits) -> WaitCollector<'a> {
        WaitCollector { process, program, waits: Vec::new(), spans: Vec::new(), dropped: 0, threads: HashMap::new() }
    }

    fn collect(&mut self) {
        let (waits_before, spans_before) = (self.waits.len(), self.spans.len());
        let (waits, spans, dropped) = (&mut self.waits, &mut self.spans, &mut self.dropped);
        let mut waits_dropped = 0;
        let wait = |wait: Wait| match waits.len() < WAITS_MAX {
            true => waits.push(wait),
            false => waits_dropped += 1,
        };
        let span = |span: Span| match spans.len() < SPANS_MAX {
            true => spans.push(span),
            false => *dropped += 1,
        };
        self.program.collect(wait, span);
        self.dropped += waits_dropped;
        let waiting = self.waits[waits_before..].iter().map(|wait| wait.tid);
        for tid in waiting.chain(self.spans[spans_before..].iter().map(|span| span.tid)) {
            let process = self.process;
            self.threads.entry(tid).or_insert_with(|| {
                let inside = if process.pid == process.pid_inside { tid } else { process.tid_inside(tid) };
                (inside, process.thread_name(tid).unwrap_or_else(|| "[ended]".to_owned()).into())
            });
        }
    }

    /// Moves the waits and requests into the evidence, and adds skips for lost ones.
    fn finish(&mut self, evidence: &mut Evidence, answer: &mut Answer) {
        self.program.detach();
        self.collect();
        let account = self.program.account();
        let lost = account.lost + self.dropped;
        answer.missing(lost, |n| format!("{n} waits and spans: the buffer was full; take a shorter time (-s)"));
        answer.missing(account.stacks_dropped, |n| {
            format!("stacks of {n} waits: {STACKS_PER_SECOND} per second are the limit")
        });
        evidence.waits = Some(self.by_thread());
        evidence.requests = outermost(self.spans.iter().map(|span| self.request(span)).collect());
    }

    fn inside(&self, tid: u32) -> u32 {
        self.threads.get(&tid).map_or(tid, |(inside, _)| *inside)
    }

    fn request(&self, span: &Span) -> Request {
        let thread =
            self.threads.get(&span.tid).map_or_else(|| "?".into(), |(_, name)| format!("{name} {}", span.tid).into());
        Request { tid: self.inside(span.tid), thread, begin_ns: span.begin_ns, end_ns: span.end_ns }
    }

    fn by_thread(&self) -> ByThread<Wait> {
        let mut all = ByThread::default();
        self.waits.iter().for_each(|wait| all.add(self.inside(wait.tid), *wait));
        all.sort_by_time(|wait: &Wait| wait.off_ns);
        all
    }
}

/// Measures requests in a JVM until the time is over.
pub fn measure_jvm(
    target: &Target,
    definition: &RequestDefinition,
    time: Duration,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<(Evidence, Watched)> {
    let process = &target.process;
    let waits = Waits::start(process, definition.bounds(), None, 0);
    let mut collector = match (waits, definition) {
        (Err(e), RequestDefinition::Spans { .. }) => return Err(e),
        (waits, _) => or_skip(&mut answer.skips, "time in the run queue, and single waits", waits)
            .map(|waits| WaitCollector::of(process, waits)),
    };
    let pauses = or_skip(&mut answer.skips, "time in GC and safepoints", PauseLog::start(process));
    let method = match definition {
        RequestDefinition::Method(method) => Some(method.clone()),
        RequestDefinition::Spans { .. } => None,
    };
    let (cpu, wall) = (CPU_INTERVAL, WALL_INTERVAL);
    let sampling = match method.clone() {
        Some(method) => Sampling::CpuWallAndCalls { cpu, wall, method },
        None => Sampling::CpuAndWall { cpu, wall },
    };
    let profiler = Profiler::start(process, sampling, time)?;
    print_ready(definition, process);
    let watched = stopping.wait(process, time, PULSE, || {
        if let Some(collector) = collector.as_mut() {
            collector.collect();
        }
        true
    });
    let recording = profiler.stop()?;
    let mut evidence = Evidence { what: definition.name().to_owned(), ..Evidence::default() };
    if let Some(pauses) = pauses {
        evidence.pauses = or_skip(&mut answer.skips, "time in GC and safepoints", pauses.stop()).unwrap_or_default();
        evidence.pauses.sort_by_key(|pause| pause.begin_ns);
    }
    answer.skips.extend(recording.broken);
    answer.missing(recording.dropped, |n| format!("{n} samples and calls: too many; take a shorter time (-s)"));
    if let Some(collector) = collector.as_mut() {
        collector.finish(&mut evidence, answer);
    }
    if method.is_some() {
        let is_virtual = |frames: &[Frame]| frames.iter().any(|frame| &*frame.name == "java.lang.VirtualThread.run");
        let (of_carriers, calls): (Vec<_>, Vec<_>) = recording.calls.iter().partition(|call| is_virtual(&call.frames));
        evidence.of_virtual_threads = of_carriers.len();
        answer.missing(of_carriers.len() as u64, |n| {
            format!("{n} requests of virtual threads: they move between system threads, and only these can be measured")
        });
        let request = |call: &crate::jvm::Call| Request {
            tid: call.tid,
            thread: call.thread.clone(),
            begin_ns: call.begin_ns,
            end_ns: call.end_ns,
        };
        evidence.requests = outermost(calls.into_iter().map(request).collect());
    }
    for sample in recording.samples {
        // A stack without the method is outside a request, or was not walked to its end.
        if method.as_ref().is_some_and(|method| !sample.frames.iter().any(|frame| *frame.name == **method)) {
            continue;
        }
        let is_wall = sample.event == Event::Wall;
        let interval = if is_wall { WALL_INTERVAL } else { CPU_INTERVAL };
        let stack = StackSample {
            time_ns: sample.time,
            ns: sample.value * interval.as_nanos() as u64,
            is_running: !sample.state.contains("SLEEPING"),
            frames: sample.frames,
        };
        let of = if is_wall { &mut evidence.waiting } else { &mut evidence.running };
        of.add(sample.tid, stack);
    }
    evidence.running.sort_by_time(|sample| sample.time_ns);
    evidence.waiting.sort_by_time(|sample| sample.time_ns);
    Ok((evidence, watched))
}

/// Measures requests in any other process until the time is over.
pub fn measure_native(
    target: &Target,
    definition: &RequestDefinition,
    time: Duration,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<(Evidence, Watched)> {
    let process = &target.process;
    let mut events = StackEvents::of(process)?;
    let waits = Waits::start(process, definition.bounds(), Some(&events), STACKS_PER_SECOND)?;
    let mut collector = WaitCollector::of(process, waits);
    let mut native = Native::start(process, RATE)?;
    target.go()?;
    print_ready(definition, process);
    let watched = stopping.wait(process, time, PULSE, || {
        collector.collect();
        events.collect();
        native.collect();
        true
    });
    let mut evidence = Evidence { what: definition.name().to_owned(), ..Evidence::default() };
    collector.finish(&mut evidence, answer);
    events.collect();
    answer.missing(native.lost(), |n| format!("{n} samples: the buffer was full"));
    answer.missing(events.lost(), |n| format!("{n} stacks of waits: the buffer was full"));
    for sample in native.finish() {
        let ns = 1_000_000_000 / u64::from(RATE);
        evidence.running.add(
            collector.inside(sample.tid),
            StackSample { time_ns: sample.time_ns, ns, is_running: true, frames: sample.frames.into() },
        );
    }
    let stacks = events.stacks();
    for wait in &collector.waits {
        if let Some(frames) = stacks.get(&(wait.tid, wait.stack)) {
            let stack = StackSample {
                time_ns: wait.off_ns,
                ns: wait.on_ns - wait.off_ns,
                is_running: false,
                frames: frames.clone(),
            };
            evidence.waiting.add(collector.inside(wait.tid), stack);
        }
    }
    evidence.running.sort_by_time(|sample| sample.time_ns);
    evidence.waiting.sort_by_time(|sample| sample.time_ns);
    Ok((evidence, watched))
}

/// Returns the usage error for a process that is not a JVM, where a request has no default definition.
pub fn no_jvm(process: &Process) -> Error {
    let error = Error::new(
        Code::Usage,
        format!("process {} ({}) is not a JVM, so a request is undefined", process.pid, process.name),
    );
    error.hint("name the functions that begin and end a request: --from FUNCTION --to FUNCTION")
}
