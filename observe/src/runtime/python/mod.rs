//! CPython from 3.8 on, read from outside: the threads of its interpreters, their Python functions, who has the
//! interpreter's lock (GIL) and who waits for it, and whether the cyclic collector runs.
//!
//! ```text
//!   interpreter.rs finds CPython in a process
//!   layout.rs      offsets in its structures, by version
//!   memory.rs      reads the process's memory
//!   threads.rs     threads, their frames, the lock
//!   code.rs        functions by their code objects
//!   calls.rs       system calls that threads are in
//!   waiting.rs     kind of a wait
//! ```
//!
//! The process is not stopped and nothing is put into it. The stack of a running thread may change while it is read;
//! frames that make no sense are left out.

mod calls;
mod code;
mod interpreter;
mod layout;
mod memory;
mod threads;
mod waiting;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use self::calls::{Call, Calls};
use self::code::{Code, Codes};
use self::interpreter::Interpreter;
use self::memory::{Memory, half};
use self::threads::Thread;
use self::waiting::Waits;
use super::event_loop::EventLoop;
use super::{Runtime, Sighting, Waiting};
use yunti_probe::kernel::monotonic_ns;
use yunti_probe::native::NativeSample;
use yunti_probe::stack::{Frame, Kind};
use yunti_probe::target::Process;

/// Innermost frame of a thread that waits for the interpreter's lock.
pub const GIL: &str = "GIL";
/// Innermost frame of a thread that runs the cyclic collector.
pub const COLLECTOR: &str = "cyclic garbage collector";

/// Time between samples as a multiple of the time that one takes: at most two percent of a processor.
const REST: u32 = 50;
const REST_MAX: Duration = Duration::from_millis(500);
/// Time between two readings of the list of threads.
const THREADS_EVERY: Duration = Duration::from_millis(200);
/// Bytes of a pthread in which its number for the kernel is searched.
const PTHREAD_BYTES: u64 = 1024;

/// Lock and collector of an interpreter, over a measurement.
#[derive(Clone, Debug, Default)]
pub struct InterpreterFacts {
    /// Name and version: `CPython 3.11`.
    pub name: String,
    /// Share of the time in which a thread has the lock (GIL).
    pub held: f64,
    /// Threads that wait for the lock at a time, on average.
    pub waiting: f64,
    /// Share of the time in which the cyclic collector runs.
    pub collecting: f64,
}

/// Rounds of sampling in which something was the case.
#[derive(Default)]
struct Rounds {
    all: u64,
    held: u64,
    waiting: u64,
    collecting: u64,
}

/// CPython in a process.
pub struct Python {
    process: Process,
    memory: Memory,
    interpreter: Interpreter,
    codes: Codes,
    calls: Calls,
    waits: Waits,
    tids: Tids,
    frames: Known,
    /// Rounds since the last sample.
    rounds: u64,
    rests_until: Instant,
    /// Stacks on a processor, with their rounds.
    on_cpu: HashMap<*const Frame, (Rc<[Frame]>, u64)>,
    seen: Rounds,
    moments: Moments,
    /// Rounds by thread that runs an event loop of asyncio.
    loops: HashMap<u32, u64>,
}

/// Finds CPython in a process, and begins to read it.
pub fn of(process: &Process, skips: &mut Vec<String>) -> Option<Python> {
    let memory = Memory::of(process).ok()?;
    match Interpreter::of(process, &memory)? {
        Ok(interpreter) => Some(Python {
            process: process.clone(),
            codes: Codes::default(),
            calls: Calls::of(process),
            waits: Waits::of(process),
            tids: Tids::default(),
            frames: Known::default(),
            rounds: 0,
            rests_until: Instant::now(),
            on_cpu: HashMap::new(),
            seen: Rounds::default(),
            moments: Moments::default(),
            loops: HashMap::new(),
            memory,
            interpreter,
        }),
        Err(why) => {
            skips.push(format!("stacks of Python: {why}"));
            None
        }
    }
}

impl Runtime for Python {
    fn name(&self) -> &str {
        &self.interpreter.name
    }

    fn sample(&mut self, take: &mut dyn FnMut(Sighting, u64)) {
        self.rounds += 1;
        if Instant::now() < self.rests_until {
            return;
        }
        let rounds = std::mem::take(&mut self.rounds);
        let begin = processor_time();
        let threads = threads::threads(&self.memory, &self.interpreter);
        self.tids.keep_up(&self.process, &mut self.calls);
        self.tids.search(&self.memory, &threads);
        self.seen.all += rounds;
        self.seen.held += if threads.iter().any(|thread| thread.holds_lock) { rounds } else { 0 };
        self.seen.collecting += if threads.iter().any(|thread| thread.lock.is_collecting) { rounds } else { 0 };
        let (mut stack, mut known) = (Vec::new(), HashSet::new());
        for thread in &threads {
            let Some(tid) = self.tids.of(&self.memory, thread) else { continue };
            let Some(call) = self.calls.get(tid) else { continue };
            known.insert(tid);
            threads::stack(&self.memory, &self.interpreter.layout, &mut self.codes, thread, &mut stack);
            let waiting = self.waits.kind(&call, &stack, &thread.lock);
            let innermost = innermost(&call, thread);
            let frames = self.frames.of(&stack, innermost);
            if waiting == Waiting::Not {
                self.on_cpu.entry(frames.as_ptr()).or_insert_with(|| (frames.clone(), 0)).1 += rounds;
            }
            self.seen.waiting += if innermost == Some(GIL) { rounds } else { 0 };
            if stack.iter().any(|code| is_event_loop(code)) {
                *self.loops.entry(tid).or_default() += rounds;
            }
            self.moments.add(tid, waiting == Waiting::Not || innermost == Some(GIL), &frames);
            let name = self.tids.name(&self.process, tid, &stack);
            take(Sighting { unit: tid.into(), name, waiting, frames }, rounds);
        }
        // Threads of libraries in C, which the interpreter does not know.
        for tid in self.tids.outside.values().filter(|tid| !known.contains(tid)) {
            if self.calls.get(*tid) == Some(Call::Runs) {
                let name: Rc<str> = self.process.thread_name(*tid).unwrap_or_default().into();
                let frames = [Frame { name: name.clone(), kind: Kind::Native }].into();
                take(Sighting { unit: u64::from(*tid), name, waiting: Waiting::Not, frames }, rounds);
            }
        }
        let took = processor_time().saturating_sub(begin);
        self.rests_until = Instant::now() + (took * REST).min(REST_MAX);
    }

    fn join(&mut self, native: &mut [NativeSample], _skips: &mut Vec<String>) {
        for sample in native.iter_mut() {
            let Some(python) = self.moments.at(sample.tid, sample.time_ns) else { continue };
            let native = sample.frames.iter().rposition(is_of_interpreter).map_or(0, |last| last + 1);
            let native = sample.frames.split_off(native);
            sample.frames = python.iter().filter(|frame| &*frame.name != GIL).cloned().chain(native).collect();
        }
        if !native.is_empty() {
            self.on_cpu.clear();
        }
    }

    fn event_loop(&mut self) -> Option<EventLoop> {
        let (tid, _) = self.loops.iter().max_by_key(|(_, rounds)| **rounds)?;
        Some(EventLoop { runtime: format!("asyncio of {}", self.interpreter.name), tid: *tid, ..EventLoop::default() })
    }

    fn interpreter(&mut self) -> Option<InterpreterFacts> {
        let share = |rounds: u64| rounds as f64 / self.seen.all.max(1) as f64;
        Some(InterpreterFacts {
            name: self.interpreter.name.clone(),
            held: share(self.seen.held),
            waiting: share(self.seen.waiting),
            collecting: share(self.seen.collecting),
        })
    }

    fn finish(&mut self) -> Vec<(Rc<[Frame]>, u64)> {
        std::mem::take(&mut self.on_cpu).into_values().collect()
    }
}

/// Returns true for the functions that run an event loop, also one of another library than asyncio's own.
fn is_event_loop(code: &Code) -> bool {
    code.is("asyncio/base_events.py", "BaseEventLoop.run_forever")
        || code.is("asyncio/runners.py", "Runner.run")
        || code.is("asyncio/runners.py", "run")
}

/// Returns true for native functions that run Python's functions; what they call is of interest.
fn is_of_interpreter(frame: &Frame) -> bool {
    let name = &*frame.name;
    name.starts_with("_PyEval_EvalFrame") || name.starts_with("[python3") || name.starts_with("[libpython3")
}

/// Stack with its time on CLOCK_MONOTONIC.
type TimedStack = (u64, Rc<[Frame]>);
/// Code objects of a stack, and the reason of its wait.
type StackKey = (Vec<*const Code>, Option<&'static str>);

/// Stacks of threads that run, or are about to, at known times.
#[derive(Default)]
struct Moments {
    by_thread: HashMap<u32, Vec<TimedStack>>,
}

/// Moments of a thread that are kept.
const MOMENTS_MAX: usize = 20_000;

impl Moments {
    fn add(&mut self, tid: u32, runs: bool, frames: &Rc<[Frame]>) {
        let moments = self.by_thread.entry(tid).or_default();
        // A thread that was never seen to run has run between its waits.
        if runs && moments.first().is_some_and(|(at, _)| *at == 0) {
            moments.clear();
        }
        if (runs || moments.is_empty()) && moments.len() < MOMENTS_MAX && !frames.is_empty() {
            moments.push((if runs { monotonic_ns() } else { 0 }, frames.clone()));
        }
    }

    /// Returns the stack that is nearest to a time.
    fn at(&self, tid: u32, time_ns: u64) -> Option<&Rc<[Frame]>> {
        let moments = self.by_thread.get(&tid)?;
        let after = moments.partition_point(|(at, _)| *at < time_ns);
        let near = [after.checked_sub(1), Some(after)].into_iter().flatten().filter_map(|at| moments.get(at));
        near.min_by_key(|(at, _)| at.abs_diff(time_ns)).map(|(_, frames)| frames)
    }
}

/// Returns the name of what a thread does below its Python functions, if the interpreter knows it.
fn innermost(call: &Call, thread: &Thread) -> Option<&'static str> {
    match call {
        Call::Waits(_, arguments) if thread.lock.has(arguments[0]) => Some(GIL),
        Call::Runs if thread.holds_lock && thread.lock.is_collecting => Some(COLLECTOR),
        _ => None,
    }
}

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.max(0) as u64, now.tv_nsec as u32)
}

/// Stacks that have been seen: most samples have one of them.
#[derive(Default)]
struct Known {
    stacks: HashMap<StackKey, Rc<[Frame]>>,
}

/// Stacks that are kept.
const STACKS_MAX: usize = 20_000;

impl Known {
    fn of(&mut self, stack: &[Rc<Code>], innermost: Option<&'static str>) -> Rc<[Frame]> {
        let key = (stack.iter().map(Rc::as_ptr).collect(), innermost);
        if self.stacks.len() >= STACKS_MAX {
            self.stacks.clear();
        }
        let frames = || {
            let python = stack.iter().rev().map(|code| code.frame.clone());
            let last = innermost.map(|name| Frame { name: name.into(), kind: Kind::Python });
            python.chain(last).collect()
        };
        self.stacks.entry(key).or_insert_with(frames).clone()
    }
}

/// Numbers of threads for the kernel, outside of the process's namespace.
#[derive(Default)]
struct Tids {
    /// From the number within the process's namespace.
    outside: HashMap<u32, u32>,
    read_at: Option<Instant>,
    /// Offset of the kernel's number in a pthread.
    in_pthread: Option<u64>,
    names: HashMap<u32, Rc<str>>,
}

impl Tids {
    fn keep_up(&mut self, process: &Process, calls: &mut Calls) {
        if self.read_at.is_some_and(|at| at.elapsed() < THREADS_EVERY) {
            return;
        }
        self.read_at = Some(Instant::now());
        let is_inside = process.pid != process.pid_inside;
        let known: HashMap<u32, u32> = self.outside.iter().map(|(inside, outside)| (*outside, *inside)).collect();
        let inside = |tid: u32| match known.get(&tid) {
            Some(inside) => *inside,
            None if is_inside => process.tid_inside(tid),
            None => tid,
        };
        self.outside = process.threads().into_iter().map(|tid| (inside(tid), tid)).collect();
        let alive: HashSet<u32> = self.outside.values().copied().collect();
        self.names.retain(|tid, _| alive.contains(tid));
        calls.keep(|tid| alive.contains(&tid));
    }

    /// Searches where the C library keeps the kernel's number of a thread, which its handle leads to.
    fn search(&mut self, memory: &Memory, threads: &[Thread]) {
        let is_needed = threads.iter().any(|thread| !self.is_known(thread.native));
        if self.in_pthread.is_some() || !is_needed {
            return;
        }
        let pthreads: Vec<Vec<u8>> = threads
            .iter()
            .filter_map(|thread| {
                let mut bytes = vec![0; PTHREAD_BYTES as usize];
                memory.read(thread.pthread, &mut bytes).map(|()| bytes)
            })
            .collect();
        self.in_pthread = (0..PTHREAD_BYTES).step_by(4).find(|at| {
            let found: HashSet<u32> = pthreads.iter().map(|bytes| half(bytes, *at)).collect();
            !pthreads.is_empty()
                && found.len() == pthreads.len()
                && found.iter().all(|tid| self.outside.contains_key(tid))
        });
    }

    fn is_known(&self, tid: Option<u32>) -> bool {
        tid.is_some_and(|tid| self.outside.contains_key(&tid))
    }

    fn of(&self, memory: &Memory, thread: &Thread) -> Option<u32> {
        if let Some(native) = thread.native.and_then(|tid| self.outside.get(&tid)) {
            return Some(*native);
        }
        let mut bytes = [0; 4];
        memory.read(thread.pthread + self.in_pthread?, &mut bytes)?;
        self.outside.get(&half(&bytes, 0)).copied()
    }

    /// Returns the name of a thread: the kernel's, or what it runs.
    fn name(&mut self, process: &Process, tid: u32, stack: &[Rc<Code>]) -> Rc<str> {
        if let Some(name) = self.names.get(&tid) {
            return name.clone();
        }
        if tid == process.pid {
            return "MainThread".into();
        }
        let given = process.thread_name(tid).filter(|name| *name != process.name);
        let runs = || {
            let outermost = stack.iter().rev().find(|code| !code.is("threading.py", "*"))?;
            let is_pool = outermost.is("concurrent/futures/thread.py", "_worker");
            Some(if is_pool { "ThreadPoolExecutor".to_owned() } else { outermost.function.to_string() })
        };
        let Some(name) = given.or_else(runs) else { return "Thread".into() };
        self.names.entry(tid).or_insert_with(|| name.into()).clone()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    const PROGRAM: &str = "
import threading, time
lock = threading.Lock()
def hold():
    with lock: time.sleep(100)
def want():
    with lock: pass
def take(queue=__import__('queue').Queue()): queue.get()
for function in [hold, want, take]:
    threading.Thread(target=function, daemon=True).start()
    time.sleep(.05)
def compute():
    n = 0
    while True: n += 1
print('ready', flush=True)
compute()
";

    #[test]
    fn reads_a_running_interpreter() {
        let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let started = Command::new(python).args(["-c", PROGRAM]).stdout(Stdio::piped()).spawn();
        let Ok(mut child) = started else { return };
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let process = Process::of(child.id()).unwrap();
        let mut skips = Vec::new();
        let mut python = of(&process, &mut skips).unwrap();
        let mut seen: HashMap<String, Waiting> = HashMap::new();
        let begin = processor_time();
        for _ in 0..20 {
            python.rests_until = Instant::now();
            python.sample(&mut |sighting, _| {
                if let Some(frame) = sighting.frames.iter().rev().find(|frame| !frame.name.contains("python3.")) {
                    let function = frame.name.split(' ').next().unwrap_or_default();
                    seen.insert(function.to_owned(), sighting.waiting);
                }
            });
            std::thread::sleep(Duration::from_millis(5));
        }
        let took = (processor_time() - begin) / 20;
        child.kill().unwrap();
        child.wait().unwrap();
        println!("{}: {took:?} a sample; {seen:?}", python.name());
        let expected =
            [("hold", Waiting::Sleep), ("want", Waiting::Lock), ("take", Waiting::Resource), ("compute", Waiting::Not)];
        for (function, waiting) in expected {
            assert_eq!(seen.get(function), Some(&waiting), "{seen:?} {skips:?}");
        }
    }
}
