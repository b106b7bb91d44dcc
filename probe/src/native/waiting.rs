//! Positions of threads that do not run, read at intervals. No thread is stopped or woken for it.
//!
//! As root, a kernel program reads their registers (`bpf/threads.bpf.c`). Else proc(5) has two registers, enough for
//! code without frame pointers. A thread that has not run since the last reading is unchanged, and costs nothing.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::time::Instant;

use yunti_base::{Code, Error, Result};

use super::counters::{Raw, STACK_BYTES};
use super::threads::{At, Thread, Threads};
use super::unwinding::Unwinding;
use crate::stack::{Frame, Kind};
use crate::target::{Process, runs_of};

/// Attempts to copy a stack; it is copied again if its thread has run during the copy.
const TRIES: usize = 3;
/// Threads a round without a kernel program, because several files are read for each. Of more threads, each round
/// reads a part, which counts for the rest.
const THREADS_MAX: usize = 256;
const PAGE: usize = 4096;

/// Sampler of the waits of a process's threads.
pub struct WaitSampler {
    process: Process,
    memory: File,
    threads: Option<Threads>,
    unwinding: Unwinding,
    known: HashMap<u32, Known>,
    rate: f64,
    begun: Instant,
    /// Periods that have passed.
    periods: u64,
    rounds: usize,
}

/// Position of a waiting thread.
struct Known {
    tid: u32,
    runs: u64,
    thread: Rc<str>,
    frames: Rc<[Frame]>,
    is_queued: bool,
    /// Duration so far, in periods.
    value: u64,
}

/// Wait of a thread at one position.
pub struct WaitSample<'a> {
    /// Thread number.
    pub tid: u32,
    /// Name and number of the thread.
    pub thread: &'a str,
    /// Frames, outermost first.
    pub frames: &'a Rc<[Frame]>,
    /// True if it waited for a processor only.
    pub is_queued: bool,
    /// Duration in periods.
    pub value: u64,
}

impl WaitSampler {
    /// Starts to read the threads of a process. `rate`: periods a second. Fails if its memory is not readable.
    pub fn of(process: &Process, rate: u32) -> Result<WaitSampler> {
        let memory = File::open(format!("/proc/{}/mem", process.pid)).map_err(|e| {
            let what = format!("waiting threads of process {} cannot be read", process.pid);
            Error::io(Code::Input, &what, &e).hint("run as root, or as its owner where kernel.yama.ptrace_scope is 0")
        })?;
        Ok(WaitSampler {
            process: process.clone(),
            memory,
            threads: Threads::of(process).ok(),
            unwinding: Unwinding::new(process),
            known: HashMap::new(),
            rate: rate.into(),
            begun: Instant::now(),
            periods: 0,
            rounds: 0,
        })
    }

    /// Returns false if only the innermost functions of some threads are known.
    pub fn sees_registers(&self) -> bool {
        self.threads.is_some()
    }

    /// Reads the threads; call it once a period. A late call counts for the periods that it missed.
    pub fn sample(&mut self, mut take: impl FnMut(WaitSample)) {
        let periods = (self.begun.elapsed().as_secs_f64() * self.rate) as u64;
        let mut passed = periods - self.periods;
        self.periods = periods;
        if passed == 0 {
            return;
        }
        let mut again = Vec::new();
        for round in 0..TRIES {
            let (threads, share) = self.threads(round, &again);
            passed *= share;
            again = threads
                .into_iter()
                .filter_map(|thread| self.add(thread, passed, round + 1 < TRIES, &mut take))
                .collect();
            if again.is_empty() {
                break;
            }
        }
    }

    /// Reports the waits that are still open, up to now. Call it at the end, or between parts of a long measurement.
    pub fn report_open(&mut self, mut take: impl FnMut(WaitSample)) {
        for known in self.known.values_mut() {
            known.report(&mut take);
            known.value = 0;
        }
    }

    /// Returns the threads that do not run, and the number of threads that each stands for. `again`: the only threads
    /// of interest after the first round.
    fn threads(&mut self, round: usize, again: &[u32]) -> (Vec<Thread>, u64) {
        let is_wanted = |tid: &u32| round == 0 || again.contains(tid);
        if let Some(threads) = self.threads.as_ref().and_then(|threads| threads.read().ok()) {
            return (threads.into_iter().filter(|thread| is_wanted(&thread.tid)).collect(), 1);
        }
        let tids: Vec<u32> = self.process.threads().into_iter().filter(is_wanted).collect();
        let step = if round == 0 { tids.len().div_ceil(THREADS_MAX).max(1) } else { 1 };
        self.rounds += 1;
        let some = tids.into_iter().skip(self.rounds % step).step_by(step);
        (some.filter_map(|tid| self.by_files(tid)).collect(), step as u64)
    }

    fn by_files(&self, tid: u32) -> Option<Thread> {
        let pid = self.process.pid;
        let runs = runs_of(&self.process, tid)?;
        let thread = |at| Some(Thread { tid, runs, is_queued: false, at });
        if self.known.get(&tid).is_some_and(|known| known.runs == runs) {
            return thread(At::Same);
        }
        let call = fs::read_to_string(format!("/proc/{pid}/task/{tid}/syscall")).ok()?;
        let words: Vec<&str> = call.split_whitespace().collect();
        let [.., sp, pc] = words[..] else { return thread(At::Processor) };
        let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap_or(0);
        thread(At::Away { registers: registers(number(sp), number(pc)), kernel: Vec::new() })
    }

    /// Adds a reading of a thread. Returns the thread if it ran during the reading and may be read again.
    fn add(&mut self, thread: Thread, periods: u64, may_again: bool, take: &mut impl FnMut(WaitSample)) -> Option<u32> {
        let Thread { tid, runs, is_queued, at } = thread;
        let (registers, kernel) = match at {
            At::Processor => {
                // The samples of processor time have its position.
                if let Some(known) = self.known.get_mut(&tid) {
                    known.report(take);
                    known.value = 0;
                }
                return None;
            }
            At::Same => {
                if let Some(known) = self.known.get_mut(&tid) {
                    if known.is_queued != is_queued {
                        known.report(take);
                        (known.is_queued, known.value) = (is_queued, 0);
                    }
                    known.value += periods;
                }
                return None;
            }
            At::Away { registers, kernel } => (registers, kernel),
        };
        let pid = self.process.pid;
        let mut raw = Raw { pid, tid, time_ns: 0, period: 0, kernel, stack: self.stack(&registers), registers };
        if runs_of(&self.process, tid) != Some(runs) {
            if may_again {
                return Some(tid);
            }
            (raw.registers, raw.stack) = (Vec::new(), Vec::new());
        }
        let mut frames = self.unwinding.frames(&raw);
        if raw.registers.is_empty() {
            frames.insert(0, Frame { name: "[it ran during the reading]".into(), kind: Kind::Native });
        }
        let thread = self.unwinding.thread(tid);
        let known = Known { tid, runs, thread, frames: frames.into(), is_queued, value: periods };
        if let Some(before) = self.known.insert(tid, known) {
            before.report(take);
        }
        None
    }

    /// Copies the stack, up to the end of its mapping.
    fn stack(&self, registers: &[u64]) -> Vec<u8> {
        let sp = stack_pointer(registers);
        let mut bytes = vec![0; STACK_BYTES as usize];
        let mut end = 0;
        while end < bytes.len() {
            // Each read ends at a page boundary, so that all readable pages are copied.
            let to = (end + PAGE - (sp as usize + end) % PAGE).min(bytes.len());
            match self.memory.read_at(&mut bytes[end..to], sp + end as u64) {
                Ok(n @ 1..) => end += n,
                _ => break,
            }
        }
        bytes.truncate(end);
        bytes
    }
}

impl Known {
    fn report(&self, take: &mut impl FnMut(WaitSample)) {
        if self.value > 0 {
            let Known { tid, thread, frames, is_queued, value, .. } = self;
            take(WaitSample { tid: *tid, thread, frames, is_queued: *is_queued, value: *value });
        }
    }
}

/// Registers in perf's order; unknown ones are 0.
#[cfg(target_arch = "x86_64")]
fn registers(sp: u64, pc: u64) -> Vec<u64> {
    vec![0, sp, pc]
}

#[cfg(target_arch = "aarch64")]
fn registers(sp: u64, pc: u64) -> Vec<u64> {
    vec![0, 0, sp, pc]
}

fn stack_pointer(registers: &[u64]) -> u64 {
    registers.get(registers.len().wrapping_sub(2)).copied().unwrap_or(0)
}
