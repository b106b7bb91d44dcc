//! Where the threads of a process are that do not run, looked at now and then. None of them is stopped or woken for it.
//!
//! As root a program in the kernel tells their registers (`bpf/threads.bpf.c`). Else proc(5) tells two of them, which is enough for code that
//! keeps no frame pointer. A thread that has not run in between is where it was, and costs nothing.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::time::Instant;

use yunti_base::{Code, Error, Result};

use super::counters::{Raw, STACK_BYTES};
use super::unwinding::Unwinding;
use crate::kernel::{At, Thread, Threads};
use crate::stack::{Frame, Kind};
use crate::target::{Process, runs_of};

/// A stack is copied while its thread waits; one that has run meanwhile is looked at again, so often.
const TRIES: usize = 3;
/// Without a program in the kernel some files are read of each thread: of very many, some are left out each time, and the others count for them.
const THREADS_MAX: usize = 256;
const PAGE: usize = 4096;

pub struct Waiting {
    process: Process,
    memory: File,
    threads: Option<Threads>,
    unwinding: Unwinding,
    known: HashMap<u32, Known>,
    rate: f64,
    begun: Instant,
    /// Periods that are over.
    periods: u64,
    rounds: usize,
}

/// Where a thread waits.
struct Known {
    runs: u64,
    thread: Rc<str>,
    frames: Rc<[Frame]>,
    is_queued: bool,
    /// How long by now, in periods.
    value: u64,
}

/// A thread was somewhere.
pub struct Waited<'a> {
    pub thread: &'a str,
    pub frames: &'a [Frame],
    /// It waited for nothing but a processor.
    pub is_queued: bool,
    /// In periods.
    pub value: u64,
}

impl Waiting {
    /// @param rate periods a second
    pub fn of(process: &Process, rate: u32) -> Result<Waiting> {
        let memory = File::open(format!("/proc/{}/mem", process.pid)).map_err(|e| {
            let what = format!("threads of process {} that wait cannot be looked at", process.pid);
            Error::io(Code::Input, &what, &e).hint("run as root, or as its owner where kernel.yama.ptrace_scope is 0")
        })?;
        Ok(Waiting {
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

    /// False: of some threads only the innermost functions are known.
    pub fn sees_registers(&self) -> bool {
        self.threads.is_some()
    }

    /// To be called once a period. What comes late counts for what it has missed.
    pub fn look(&mut self, mut take: impl FnMut(Waited)) {
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

    /// What is still to be told, at the end.
    pub fn finish(self, mut take: impl FnMut(Waited)) {
        self.known.values().for_each(|known| known.tell(&mut take));
    }

    /// Those of them that do not run, and for how many each counts.
    ///
    /// @param again of these alone, if it is not the first round
    fn threads(&mut self, round: usize, again: &[u32]) -> (Vec<Thread>, u64) {
        let is_wanted = |tid: &u32| round == 0 || again.contains(tid);
        if let Some(threads) = self.threads.as_ref().and_then(|threads| threads.look().ok()) {
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

    /// @return the thread, if it ran while it was looked at, and may be looked at again
    fn add(&mut self, thread: Thread, periods: u64, may_again: bool, take: &mut impl FnMut(Waited)) -> Option<u32> {
        let Thread { tid, runs, is_queued, at } = thread;
        let (registers, kernel) = match at {
            At::Processor => {
                // It is where the samples of processor time say.
                if let Some(known) = self.known.remove(&tid) {
                    known.tell(take);
                }
                return None;
            }
            At::Same => {
                if let Some(known) = self.known.get_mut(&tid) {
                    if known.is_queued != is_queued {
                        known.tell(take);
                        (known.is_queued, known.value) = (is_queued, 0);
                    }
                    known.value += periods;
                }
                return None;
            }
            At::Away { registers, kernel } => (registers, kernel),
        };
        let mut raw = Raw { tid, time_ns: 0, kernel, stack: self.stack(&registers), registers };
        if runs_of(&self.process, tid) != Some(runs) {
            if may_again {
                return Some(tid);
            }
            (raw.registers, raw.stack) = (Vec::new(), Vec::new());
        }
        let mut frames = self.unwinding.frames(&raw);
        if raw.registers.is_empty() {
            frames.insert(0, Frame { name: "[it ran on while it was looked at]".into(), kind: Kind::Native });
        }
        let thread = self.unwinding.thread(tid);
        let known = Known { runs, thread, frames: frames.into(), is_queued, value: periods };
        if let Some(before) = self.known.insert(tid, known) {
            before.tell(take);
        }
        None
    }

    /// What of the stack is there, up to where its mapping ends.
    fn stack(&self, registers: &[u64]) -> Vec<u8> {
        let sp = stack_pointer(registers);
        let mut bytes = vec![0; STACK_BYTES as usize];
        let mut end = 0;
        while end < bytes.len() {
            // To the end of a page: what can be read is read.
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
    fn tell(&self, take: &mut impl FnMut(Waited)) {
        if self.value > 0 {
            let Known { thread, frames, is_queued, value, .. } = self;
            take(Waited { thread, frames, is_queued: *is_queued, value: *value });
        }
    }
}

/// As perf has them in its samples; what is not known is 0.
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
