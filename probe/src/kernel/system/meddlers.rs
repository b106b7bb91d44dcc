//! Processes that act on another process: `bpf/system/meddlers.bpf.c`.

use std::collections::HashMap;
use std::fs;

use libbpf_rs::{Link, Object, RingBuffer};
use yunti_base::Result;

use crate::programs::{Records, attached, first_namespace, half, load_for, program, ring, word};
use crate::target::{Process, label};

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/meddlers.bpf.o"));

const WORDS: usize = 2;
const IS_SIGNAL: u32 = 0;
const NAME_AT: usize = 32;

/// Action of a process on another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Act {
    /// Signals that stop or continue it.
    Stop,
    /// process_madvise: takes its pages away.
    Reclaim,
    /// process_vm_readv, process_vm_writev.
    Memory,
    /// ptrace.
    Trace,
}

/// A process that acts on another one.
#[derive(Clone, Debug)]
pub struct Meddler {
    pub pid: u32,
    pub label: String,
    pub act: Act,
    pub times: u64,
}

/// Programs at work, detached when dropped.
pub struct Meddlers {
    // Dropped before the object that they belong to.
    _links: Vec<Link>,
    ring: RingBuffer<'static>,
    records: Records,
    process: Process,
    found: HashMap<(u32, Act), (String, u64)>,
    _object: Object,
}

impl Meddlers {
    /// Attaches the programs.
    pub fn start(process: &Process) -> Result<Meddlers> {
        first_namespace()?;
        let watched = format!("what acts on process {}", process.pid);
        let object = load_for(IMAGE, &watched, &[process.pid], &["signals", "calls"])?;
        let (ring, records) = ring(&object, "acts")?;
        let mut links = Vec::new();
        for (name, tracepoint) in [("signals", "signal_generate"), ("calls", "sys_enter")] {
            let link = program(&object, name)?.attach_raw_tracepoint(tracepoint);
            links.push(attached(&format!("the tracepoint {tracepoint}"), process, link)?);
        }
        let (process, found) = (process.clone(), HashMap::new());
        Ok(Meddlers { _links: links, ring, records, process, found, _object: object })
    }

    /// Takes the acts since the last call. Call it often, because the processes may end.
    pub fn collect(&mut self) {
        let _ = self.ring.consume();
        let records: Vec<Vec<u8>> = self.records.borrow_mut().drain(..).collect();
        let own = [std::process::id(), self.process.pid];
        for bytes in records {
            let pid = half(&bytes, WORDS, 0);
            if own.contains(&pid) {
                continue;
            }
            let Some(act) = self.act(&bytes, pid) else { continue };
            let name = || {
                let name = bytes.get(NAME_AT..).unwrap_or_default().split(|b| *b == 0).next().unwrap_or_default();
                // The number of a process that has ended may be another one's by now, but hardly within milliseconds.
                Process::of(pid).map_or_else(|_| String::from_utf8_lossy(name).into_owned(), |it| label(&it))
            };
            self.found.entry((pid, act)).or_insert_with(|| (name(), 0)).1 += 1;
        }
    }

    fn act(&self, bytes: &[u8], pid: u32) -> Option<Act> {
        let is_it = |number: u64| [self.process.pid, self.process.pid_inside].map(u64::from).contains(&number);
        if half(bytes, WORDS, 1) == IS_SIGNAL {
            return Some(Act::Stop);
        }
        let call = usize::try_from(half(bytes, WORDS, 2)).ok().and_then(syscalls::Sysno::new)?;
        match call.name() {
            "ptrace" => is_it(word(bytes, 1)).then_some(Act::Trace),
            "process_vm_readv" | "process_vm_writev" => is_it(word(bytes, 0)).then_some(Act::Memory),
            // Its first argument is a pidfd.
            "process_madvise" => {
                let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{}", word(bytes, 0))).ok();
                let of = |text: &String| text.lines().find_map(|line| line.strip_prefix("Pid:")?.trim().parse().ok());
                // The descriptors of a process that has ended cannot be read, so its target is unknown.
                info.as_ref().and_then(of).is_none_or(is_it).then_some(Act::Reclaim)
            }
            _ => None,
        }
    }

    /// Ends, and returns the processes, the most frequent ones first.
    pub fn finish(mut self) -> Vec<Meddler> {
        self.collect();
        let of = |((pid, act), (label, times))| Meddler { pid, label, act, times };
        let mut all: Vec<Meddler> = self.found.drain().map(of).collect();
        all.sort_by(|a, b| b.times.cmp(&a.times).then_with(|| a.pid.cmp(&b.pid)));
        all
    }
}
