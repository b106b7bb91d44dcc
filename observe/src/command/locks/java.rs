//! Locks of a JVM: the waits that the agent recorded, with the stacks that async-profiler took at the same time.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use yunti_base::Result;

use super::lock::{Kind, Lock};
use crate::jvm::{IS_VIRTUAL, LockAgent, Profiler, Sample, Sampling, Wait, WaitKind};
use yunti_probe::answer::Answer;
use yunti_probe::stack::Frame;
use yunti_probe::stopping::{PULSE, Stopping, Watched};
use yunti_probe::target::Process;

/// Nanoseconds from a request for a holder's stack to its sample. A signal is delivered when the thread runs.
const HOLDER_ANSWERS_NS: u64 = 50_000_000;
/// The same for a virtual thread. Later, another thread may run on its carrier.
const VIRTUAL_ANSWERS_NS: u64 = 2_000_000;
/// Time between two reads of thread names. A thread that has ended has no name.
const NAMES_EVERY: Duration = Duration::from_millis(200);

/// Measures a JVM's locks until the time is over.
pub fn measure(
    process: &Process,
    time: Duration,
    stopping: &mut Stopping,
    answer: &mut Answer,
) -> Result<(Vec<Lock>, Watched)> {
    let profiler = Profiler::start(process, Sampling::OnSignal, time)?;
    let mut agent = LockAgent::start(process, time)?;
    if !agent.sees_parks() {
        answer.skips.push("locks of java.util.concurrent: libjvm.so has no symbols here".to_owned());
    }
    let mut names = Names::default();
    let mut waits = Vec::new();
    let watched = stopping.wait(process, time, PULSE, || {
        names.keep_up(process);
        waits.extend(agent.collect());
        true
    });
    agent.stop()?;
    waits.extend(agent.collect());
    waits.extend(agent.unfinished());
    names.read(process);
    std::thread::sleep(Duration::from_millis(50));
    let recording = profiler.stop()?;
    answer.skips.extend(recording.broken);
    if agent.lost() > 0 {
        answer.skips.push(format!("{} waits: the buffer was full", agent.lost()));
    }
    if agent.without_stack() > 0 {
        answer.skips.push(format!(
            "stacks of {} waits: 1000 per second are the limit; the counts include all waits",
            agent.without_stack()
        ));
    }
    if agent.unseen_ends() > 0 {
        answer.skips.push(format!(
            "{} waits that began before the measurement: their ends were not recorded",
            agent.unseen_ends()
        ));
    }
    if agent.idle_lost() > 0 {
        answer.skips.push(format!("{} waits of virtual threads for work: the buffer was full", agent.idle_lost()));
    }
    if agent.has_virtual_threads() && !agent.sees_virtual_threads() {
        answer.skips.push("virtual threads: this JVM does not report their waits".to_owned());
    }
    if agent.has_virtual_threads() && agent.sees_virtual_threads() && agent.misses_virtual_threads() {
        answer.skips.push("virtual threads that waited before the measurement: this JVM does not list them".to_owned());
    }
    names.of_virtual = agent.virtual_thread_names();
    let samples = Samples::of(&recording.samples, &mut names);
    Ok((locks(&waits, &samples, &names), watched))
}

/// Names of threads, by their IDs in the JVM's PID namespace.
#[derive(Default)]
struct Names {
    of: HashMap<u32, Rc<str>>,
    of_virtual: HashMap<u32, String>,
    known: HashMap<u32, u32>,
    read_at: Option<std::time::Instant>,
}

impl Names {
    fn keep_up(&mut self, process: &Process) {
        if self.read_at.is_none_or(|at| at.elapsed() >= NAMES_EVERY) {
            self.read(process);
        }
    }

    fn read(&mut self, process: &Process) {
        self.read_at = Some(std::time::Instant::now());
        for tid in process.threads() {
            let inside = *self.known.entry(tid).or_insert_with(|| process.tid_inside(tid));
            if let (false, Some(name)) = (self.of.contains_key(&inside), process.thread_name(tid)) {
                self.of.insert(inside, format!("{name} {tid}").into());
            }
        }
    }

    fn get(&self, tid: u32) -> Rc<str> {
        if tid & IS_VIRTUAL != 0 {
            let name = self.of_virtual.get(&tid).map_or_else(String::new, |name| format!(" {name}"));
            return format!("virtual thread #{}{name}", tid & !IS_VIRTUAL).into();
        }
        self.of.get(&tid).cloned().unwrap_or_else(|| format!("thread {tid}").into())
    }
}

/// Samples by thread, in the order of time.
struct Samples<'a>(HashMap<u32, Vec<&'a Sample>>);

impl<'a> Samples<'a> {
    /// Groups the samples. Takes the threads' Java names, which are longer than the system's.
    fn of(samples: &'a [Sample], names: &mut Names) -> Samples<'a> {
        let mut by_thread: HashMap<u32, Vec<&Sample>> = HashMap::new();
        for sample in samples {
            names.of.insert(sample.tid, sample.thread.clone());
            by_thread.entry(sample.tid).or_default().push(sample);
        }
        by_thread.values_mut().for_each(|samples| samples.sort_by_key(|sample| sample.time));
        Samples(by_thread)
    }

    /// Returns the first sample of a thread between two times in ns.
    fn within(&self, tid: u32, from: u64, to: u64) -> Option<&'a Sample> {
        let samples = self.0.get(&tid)?;
        let at = samples.partition_point(|sample| sample.time < from);
        samples.get(at).copied().filter(|sample| sample.time <= to)
    }
}

fn locks(waits: &[Wait], samples: &Samples, names: &Names) -> Vec<Lock> {
    let mut all: HashMap<(WaitKind, Rc<str>, u32), Lock> = HashMap::new();
    for wait in waits {
        // Each wait for work allocates a new queue node, so these count as one lock per class.
        let identity = if wait.kind == WaitKind::Other { 0 } else { wait.identity };
        let lock = all.entry((wait.kind, wait.class.clone(), identity)).or_insert_with(|| {
            let kind = match wait.kind {
                WaitKind::Monitor => Kind::Monitor,
                WaitKind::Lock => Kind::Lock,
                WaitKind::Synchronizer => Kind::Synchronizer,
                WaitKind::Other => Kind::Condition,
            };
            let name = if identity == 0 { wait.class.to_string() } else { format!("{}@{identity:x}", wait.class) };
            Lock::new(kind, name)
        });
        lock.add(names.get(wait.tid), wait.duration_ns);
        if let Some(sample) = wait.sampled.and_then(|(tid, from, to)| samples.within(tid, from, to)) {
            lock.add_stack(of_program(&sample.frames), wait.duration_ns);
        }
        if let Some(holder) = wait.holder {
            *lock.holders.entry(names.get(holder)).or_default() += 1;
            let within = if holder & IS_VIRTUAL != 0 { VIRTUAL_ANSWERS_NS } else { HOLDER_ANSWERS_NS };
            let sample = wait.holder_request.and_then(|(tid, at)| samples.within(tid, at, at + within));
            let frames = sample.and_then(|sample| match holder & IS_VIRTUAL != 0 {
                true => own_of_virtual(&sample.frames),
                false => Some(&sample.frames),
            });
            if let Some(frames) = frames {
                lock.holding.add(frames.iter(), 1);
            }
        }
    }
    merged(all.into_values().collect())
}

/// Returns the frames without the agent and the JVM's call of it, and without the carrier of a virtual thread.
fn of_program(frames: &[Frame]) -> &[Frame] {
    const ADDED: [&str; 4] =
        ["yunti_", "JvmtiExport::", "java.lang.VirtualThread.yieldContinuation", "java.lang.VirtualThread.notifyJvmti"];
    let frames = own_of_virtual(frames).unwrap_or(frames);
    let end = frames.iter().position(|frame| ADDED.iter().any(|added| frame.name.starts_with(added)));
    &frames[..end.unwrap_or(frames.len())]
}

/// Returns the frames of the virtual thread that ran; `None` if none did.
///
/// They begin above its entry frame or above the return barrier. Frames beyond the barrier are still in the heap,
/// where the profiler does not walk.
fn own_of_virtual(frames: &[Frame]) -> Option<&[Frame]> {
    let is_below = |frame: &Frame| matches!(&*frame.name, "java.lang.VirtualThread.run" | "cont_returnBarrier");
    frames.iter().rposition(is_below).map(|at| &frames[at + 1..])
}

/// Merges locks of one name. The agent classifies a lock that nobody holds at that moment as a synchronizer.
fn merged(locks: Vec<Lock>) -> Vec<Lock> {
    let mut by_name: HashMap<String, Lock> = HashMap::new();
    for lock in locks {
        match by_name.get_mut(&lock.name) {
            None => drop(by_name.insert(lock.name.clone(), lock)),
            Some(known) => known.join(lock),
        }
    }
    by_name.into_values().collect()
}
