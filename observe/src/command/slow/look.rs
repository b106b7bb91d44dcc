//! Looking at requests: of a JVM calls of a method, or spans; of other processes spans.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use yunti_base::{Code, Error, Result};

use super::evidence::{ByThread, Evidence};
use super::request::{Request, outermost};
use super::split::Taken;
use crate::jvm::{PauseLog, Profiler, Sampling};
use yunti_probe::answer::{Answer, or_skip};
use yunti_probe::kernel::{Span, SpanBounds, StackEvents, Wait, Waits};
use yunti_probe::native::Native;
use yunti_probe::stack::Frame;
use yunti_probe::stopping::{PULSE, Stopping, Watched};
use yunti_probe::target::{Process, Target};

const CPU_INTERVAL: Duration = Duration::from_millis(1);
const WALL_INTERVAL: Duration = Duration::from_millis(2);
/// Samples a second of native code: of 1,000, programs have the rhythm too.
const RATE: u32 = 997;
/// Of waits in spans.
const STACKS_A_SECOND: u32 = 2000;
const WAITS_MAX: usize = 4_000_000;
const SPANS_MAX: usize = 2_000_000;

/// What a request is.
pub enum What {
    /// `com.shop.Cart.total`
    Method(String),
    Spans {
        name: String,
        bounds: SpanBounds,
    },
}

impl What {
    fn name(&self) -> &str {
        match self {
            What::Method(name) | What::Spans { name, .. } => name,
        }
    }

    fn bounds(&self) -> Option<&SpanBounds> {
        match self {
            What::Method(_) => None,
            What::Spans { bounds, .. } => Some(bounds),
        }
    }
}

/// Whoever waits for it, a script too, may go on.
fn say_ready(what: &What, process: &Process) {
    eprintln!("watching {} of {} {}; ctrl-C ends it", what.name(), process.name, process.pid);
}

/// Waits and spans as they come.
struct Coming<'a> {
    process: &'a Process,
    waits: Waits,
    /// By our numbers of threads.
    come: Vec<Wait>,
    spans: Vec<Span>,
    left_away: u64,
    /// Our number of a thread -> the one in its own PID namespace, and its name. Both are to be asked while it is there.
    threads: HashMap<u32, (u32, Rc<str>)>,
}

impl<'a> Coming<'a> {
    fn of(process: &'a Process, waits: Waits) -> Coming<'a> {
        Coming { process, waits, come: Vec::new(), spans: Vec::new(), left_away: 0, threads: HashMap::new() }
    }

    fn collect(&mut self) {
        let (waits_before, spans_before) = (self.come.len(), self.spans.len());
        let (come, spans, left_away) = (&mut self.come, &mut self.spans, &mut self.left_away);
        let mut waits_left_away = 0;
        let wait = |wait: Wait| match come.len() < WAITS_MAX {
            true => come.push(wait),
            false => waits_left_away += 1,
        };
        let span = |span: Span| match spans.len() < SPANS_MAX {
            true => spans.push(span),
            false => *left_away += 1,
        };
        self.waits.collect(wait, span);
        self.left_away += waits_left_away;
        let waiting = self.come[waits_before..].iter().map(|wait| wait.tid);
        for tid in waiting.chain(self.spans[spans_before..].iter().map(|span| span.tid)) {
            let process = self.process;
            self.threads.entry(tid).or_insert_with(|| {
                let inside = if process.pid == process.pid_inside { tid } else { process.tid_inside(tid) };
                (inside, process.thread_name(tid).unwrap_or_else(|| "[ended]".to_owned()).into())
            });
        }
    }

    /// What has come until now, and what was not told.
    fn finish(&mut self, evidence: &mut Evidence, answer: &mut Answer) {
        self.waits.detach();
        self.collect();
        let account = self.waits.account();
        let lost = account.lost + self.left_away;
        answer.missing(lost, |n| format!("{n} waits and spans, for which there was no room: look for a shorter time"));
        answer.missing(account.stacks_left_away, |n| {
            format!("stacks of {n} waits: {STACKS_A_SECOND} a second are taken")
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
        self.come.iter().for_each(|wait| all.add(self.inside(wait.tid), *wait));
        all.sort_by_time(|wait: &Wait| wait.off_ns);
        all
    }
}

pub fn look_into_jvm(
    target: &Target,
    what: &What,
    time: Duration,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<(Evidence, Watched)> {
    let process = &target.process;
    let waits = Waits::start(process, what.bounds(), None, 0);
    let mut coming = match (waits, what) {
        (Err(e), What::Spans { .. }) => return Err(e),
        (waits, _) => or_skip(&mut answer.skips, "time in the run queue, and each wait by itself", waits)
            .map(|waits| Coming::of(process, waits)),
    };
    let pauses = or_skip(&mut answer.skips, "time in GC and safepoints", PauseLog::start(process));
    let method = match what {
        What::Method(method) => Some(method.clone()),
        What::Spans { .. } => None,
    };
    let (cpu, wall) = (CPU_INTERVAL, WALL_INTERVAL);
    let sampling = match method.clone() {
        Some(method) => Sampling::AndCalls { cpu, wall, method },
        None => Sampling::CpuAndWall { cpu, wall },
    };
    let profiler = Profiler::start(process, sampling, time)?;
    say_ready(what, process);
    let watched = stopping.wait(process, time, PULSE, || {
        if let Some(coming) = coming.as_mut() {
            coming.collect();
        }
        true
    });
    let recording = profiler.stop()?;
    let mut evidence = Evidence { what: what.name().to_owned(), ..Evidence::default() };
    if let Some(pauses) = pauses {
        evidence.pauses = or_skip(&mut answer.skips, "time in GC and safepoints", pauses.stop()).unwrap_or_default();
        evidence.pauses.sort_by_key(|pause| pause.begin_ns);
    }
    answer.skips.extend(recording.broken);
    answer.missing(recording.left_away, |n| {
        format!("{n} samples and calls, for which there was no room: look for a shorter time")
    });
    if let Some(coming) = coming.as_mut() {
        coming.finish(&mut evidence, answer);
    }
    if method.is_some() {
        let is_virtual = |frames: &[Frame]| frames.iter().any(|frame| &*frame.name == "java.lang.VirtualThread.run");
        let (of_carriers, calls): (Vec<_>, Vec<_>) = recording.calls.iter().partition(|call| is_virtual(&call.frames));
        evidence.of_virtual_threads = of_carriers.len();
        answer.missing(of_carriers.len() as u64, |n| {
            format!("{n} requests of virtual threads: they go from one thread of the system to another, and what is seen is by those")
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
        // A stack without the method is none of a request, or was not walked to its end.
        if method.as_ref().is_some_and(|method| !sample.frames.iter().any(|frame| *frame.name == **method)) {
            continue;
        }
        let interval = if sample.is_wall { WALL_INTERVAL } else { CPU_INTERVAL };
        let taken = Taken {
            time_ns: sample.time,
            ns: sample.value * interval.as_nanos() as u64,
            is_running: !sample.state.contains("SLEEPING"),
            frames: sample.frames,
        };
        let of = if sample.is_wall { &mut evidence.waiting } else { &mut evidence.running };
        of.add(sample.tid, taken);
    }
    evidence.running.sort_by_time(|taken| taken.time_ns);
    evidence.waiting.sort_by_time(|taken| taken.time_ns);
    Ok((evidence, watched))
}

pub fn look_at_any(
    target: &Target,
    what: &What,
    time: Duration,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<(Evidence, Watched)> {
    let process = &target.process;
    let mut events = StackEvents::of(process)?;
    let waits = Waits::start(process, what.bounds(), Some(&events), STACKS_A_SECOND)?;
    let mut coming = Coming::of(process, waits);
    let mut native = Native::start(process, RATE)?;
    target.go()?;
    say_ready(what, process);
    let watched = stopping.wait(process, time, PULSE, || {
        coming.collect();
        events.collect();
        native.collect();
        true
    });
    let mut evidence = Evidence { what: what.name().to_owned(), ..Evidence::default() };
    coming.finish(&mut evidence, answer);
    events.collect();
    answer.missing(native.lost(), |n| format!("{n} samples, for which there was no room"));
    answer.missing(events.lost(), |n| format!("{n} stacks of waits, for which there was no room"));
    for sample in native.finish() {
        let ns = 1_000_000_000 / u64::from(RATE);
        evidence.running.add(
            coming.inside(sample.tid),
            Taken { time_ns: sample.time_ns, ns, is_running: true, frames: sample.frames.into() },
        );
    }
    let stacks = events.stacks();
    for wait in &coming.come {
        if let Some(frames) = stacks.get(&(wait.tid, wait.stack)) {
            let taken =
                Taken { time_ns: wait.off_ns, ns: wait.on_ns - wait.off_ns, is_running: false, frames: frames.clone() };
            evidence.waiting.add(coming.inside(wait.tid), taken);
        }
    }
    evidence.running.sort_by_time(|taken| taken.time_ns);
    evidence.waiting.sort_by_time(|taken| taken.time_ns);
    Ok((evidence, watched))
}

/// No request of its own is possible here.
pub fn no_jvm(process: &Process) -> Error {
    let error =
        Error::new(Code::Usage, format!("process {} ({}) is no JVM: what is a request?", process.pid, process.name));
    error.hint("name the functions that it begins and ends with: --from FUNCTION --to FUNCTION")
}
