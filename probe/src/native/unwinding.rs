//! Frames with names, from raw samples.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::counters::Raw;
use super::memory::Memory;
use super::names::Names;
use crate::stack::{Frame, Kind};
use crate::target::Process;

/// Unwinder and names of a process.
pub struct Unwinding {
    process: Process,
    memory: Memory,
    names: Names,
    threads: HashMap<u32, Rc<str>>,
    /// Time of the last reading of the mappings, and the time until the next one.
    last_refresh: Instant,
    again: Duration,
}

/// Shortest and longest interval between two readings of the mappings. It grows while they do not help: stacks of code
/// without frame pointers have addresses that are none.
const AGAIN: Duration = Duration::from_millis(10);
const AGAIN_MAX: Duration = Duration::from_millis(500);

/// Returns true for kernel functions that belong to the measurement itself.
fn is_watching(name: &str) -> bool {
    const BEGINNINGS: [&str; 6] = ["bpf_", "__bpf_", "trace_call_bpf", "syscall_trace_", "uprobe_", "perf_trace_"];
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

impl Unwinding {
    /// Returns the unwinder of a process.
    pub fn new(process: &Process) -> Unwinding {
        Unwinding {
            memory: Memory::new(process),
            names: Names::new(process),
            process: process.clone(),
            threads: HashMap::new(),
            last_refresh: Instant::now(),
            again: AGAIN,
        }
    }

    /// Returns the frames of a sample, outermost first.
    pub fn frames(&mut self, raw: &Raw) -> Vec<Frame> {
        let (mut user, mut is_cut) = self.memory.unwind(&raw.registers, &raw.stack);
        // Unknown code: a library may have been loaded. JIT compilers add code all the time.
        let is_unknown = |memory: &Memory, user: &[u64]| user.iter().any(|address| memory.mapping(*address).is_none());
        if self.last_refresh.elapsed() >= self.again && is_unknown(&self.memory, &user) {
            self.memory.refresh();
            self.last_refresh = Instant::now();
            (user, is_cut) = self.memory.unwind(&raw.registers, &raw.stack);
            self.again = if is_unknown(&self.memory, &user) { (self.again * 2).min(AGAIN_MAX) } else { AGAIN };
        }
        let mut frames = Vec::new();
        if is_cut {
            frames.push(Frame { name: "[a stack deeper than its copy]".into(), kind: Kind::Native });
        }
        for address in user.iter().rev() {
            frames.extend(self.names.user(*address, &self.memory).iter().cloned());
        }
        for address in raw.kernel.iter().rev() {
            let named = self.names.kernel(*address);
            if named.iter().any(|frame| is_watching(&frame.name)) {
                break;
            }
            frames.extend(named.iter().cloned());
        }
        frames
    }

    /// Returns the name and number of a thread.
    pub fn thread(&mut self, tid: u32) -> Rc<str> {
        let process = &self.process;
        let name = self.threads.entry(tid).or_insert_with(|| {
            let name = process.thread_name(tid).unwrap_or_else(|| "[ended]".to_owned());
            format!("{name} {tid}").into()
        });
        name.clone()
    }
}
