//! From what the kernel copied of a thread to frames with names.

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::counters::Raw;
use super::memory::Memory;
use super::names::Names;
use crate::stack::{Frame, Kind};
use crate::target::Process;

pub struct Unwinding {
    process: Process,
    memory: Memory,
    names: Names,
    threads: HashMap<u32, Rc<str>>,
    /// When it was read what is mapped.
    looked: Instant,
}

const AGAIN: Duration = Duration::from_millis(10);

/// Whether a function of the kernel is there because we look, and all that it calls.
fn is_watching(name: &str) -> bool {
    const BEGINNINGS: [&str; 6] = ["bpf_", "__bpf_", "trace_call_bpf", "syscall_trace_", "uprobe_", "perf_trace_"];
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

impl Unwinding {
    pub fn new(process: &Process) -> Unwinding {
        Unwinding {
            memory: Memory::new(process),
            names: Names::new(process),
            process: process.clone(),
            threads: HashMap::new(),
            looked: Instant::now(),
        }
    }

    /// The outermost first.
    pub fn frames(&mut self, raw: &Raw) -> Vec<Frame> {
        let (mut user, mut is_cut) = self.memory.unwind(&raw.registers, &raw.stack);
        // Code that is not known: a library may have come. Compilers at run time make more of it all the time.
        if self.looked.elapsed() >= AGAIN && user.iter().any(|address| self.memory.mapping(*address).is_none()) {
            self.memory.look();
            self.looked = Instant::now();
            (user, is_cut) = self.memory.unwind(&raw.registers, &raw.stack);
        }
        let mut frames = Vec::new();
        if is_cut {
            frames.push(Frame { name: "[a stack deeper than what is copied of it]".into(), kind: Kind::Native });
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

    pub fn thread(&mut self, tid: u32) -> Rc<str> {
        let process = &self.process;
        let name = self.threads.entry(tid).or_insert_with(|| {
            let name = process.thread_name(tid).unwrap_or_else(|| "[ended]".to_owned());
            format!("{name} {tid}").into()
        });
        name.clone()
    }
}
