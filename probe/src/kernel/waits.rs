//! Times at which threads left the processor, with reasons; and spans between calls of functions: `bpf/waits.bpf.c`.

use libbpf_rs::{Link, Object, RingBuffer};
use yunti_base::Result;

use super::stacks::{StackEvents, load_with_stacks};
use crate::code::Function;
use crate::programs::{Account, Records, account, attached, half, program, ring, uprobe, word};
use crate::target::Process;

const WORDS: usize = 3;
const IS_SPAN: u32 = 1;
const IS_LOCK: u32 = 2;
/// Argument of pthread_cond_wait that is a lock: the second.
const SECOND: u64 = 1;
const RELEASES: u64 = 3 << 4;
const NO_SYSTEM_CALL: u32 = u32::MAX;
const NO_FILE: u32 = u32::MAX;

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/waits.bpf.o"));

/// Wait of a thread off the processor. Times are on CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Thread.
    pub tid: u32,
    /// Time at which it left the processor.
    pub off_ns: u64,
    /// Time from which it could have run.
    pub woken_ns: u64,
    /// Time at which it got a processor.
    pub on_ns: u64,
    /// True if no signal can wake it: it waits for a disk, or for a lock of the kernel.
    pub is_uninterruptible: bool,
    /// System call in which it waited.
    pub system_call: Option<u32>,
    /// Number of the stack, as in [`super::Hit`].
    pub stack: u32,
    /// First argument of the system call: its descriptor, if it has one. `None`: a call about several files.
    pub file: Option<u32>,
}

/// Span of a thread from the call of a function to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Thread.
    pub tid: u32,
    /// Begin on CLOCK_MONOTONIC.
    pub begin_ns: u64,
    /// End on CLOCK_MONOTONIC.
    pub end_ns: u64,
}

/// Role of an event at a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockRole {
    /// A thread wants the lock.
    Wants,
    /// It has the lock.
    Has,
    /// It does not get it.
    Failed,
    /// It gives the lock back.
    Releases,
}

/// Event at a lock of native code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockEvent {
    /// Thread.
    pub tid: u32,
    /// Time on CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// Address of the lock.
    pub address: u64,
    /// Role of the event.
    pub role: LockRole,
}

/// Functions that take locks and give them back.
#[derive(Clone, Debug, Default)]
pub struct LockFunctions {
    /// Functions that take the lock of their first argument; they return 0 if they have it.
    pub take: Vec<Function>,
    /// Functions that give it back.
    pub give: Vec<Function>,
    /// Functions that give back the lock of their second argument, wait, and have it when they return.
    pub wait: Vec<Function>,
}

/// Functions at which spans begin and end.
#[derive(Clone, Debug)]
pub struct SpanBounds {
    /// Functions whose calls begin a span.
    pub begin: Vec<Function>,
    /// Functions whose calls end a span; empty: a span ends with the return of its first function.
    pub end: Vec<Function>,
}

/// Programs at work, detached when dropped.
pub struct Waits {
    // Dropped before the object that they belong to.
    links: Vec<Link>,
    ring: RingBuffer<'static>,
    records: Records,
    object: Object,
    locks: Vec<LockEvent>,
}

impl Waits {
    /// Attaches the programs. `stacks`: for a process that is no JVM, whose waits are reported within spans only;
    /// `None` for a JVM, all of whose waits are reported without stacks.
    pub fn start(
        process: &Process,
        spans: Option<&SpanBounds>,
        stacks: Option<&StackEvents>,
        stacks_a_second_max: u32,
    ) -> Result<Waits> {
        Waits::with(process, spans, stacks, stacks_a_second_max, None)
    }

    /// Attaches the programs for all waits of a process, and its locks.
    pub fn with_locks(process: &Process, locks: &LockFunctions) -> Result<Waits> {
        Waits::with(process, None, None, 0, Some(locks))
    }

    fn with(
        process: &Process,
        spans: Option<&SpanBounds>,
        stacks: Option<&StackEvents>,
        stacks_a_second_max: u32,
        locks: Option<&LockFunctions>,
    ) -> Result<Waits> {
        const TRACEPOINTS: [(&str, &str); 2] = [("wakes", "sched_wakeup"), ("switches", "sched_switch")];
        let mut wanted = TRACEPOINTS.map(|(name, _)| name).to_vec();
        if spans.is_some() {
            wanted.extend(["span_begins", "span_ends"]);
        }
        if locks.is_some() {
            wanted.extend(["lock_begins", "lock_ends"]);
        }
        let object = load_with_stacks(IMAGE, process, stacks, stacks_a_second_max, &wanted)?;
        let (ring, records) = ring(&object, "waits")?;
        let mut waits = Waits { links: Vec::new(), ring, records, object, locks: Vec::new() };
        for (name, tracepoint) in TRACEPOINTS {
            let link = program(&waits.object, name)?.attach_raw_tracepoint(tracepoint);
            waits.links.push(attached(&format!("the tracepoint {tracepoint}"), process, link)?);
        }
        if let Some(SpanBounds { begin, end }) = spans {
            // SPAN_.. of bpf/waits.bpf.c.
            let cookie = u64::from(!end.is_empty());
            for function in begin {
                let returns = function.returns.iter().chain(&function.jumps).filter(|_| end.is_empty());
                for offset in returns {
                    waits.attach(process, "span_ends", function, *offset, cookie)?;
                }
            }
            for function in end {
                waits.attach(process, "span_ends", function, function.offset, cookie)?;
            }
            for function in begin {
                waits.attach(process, "span_begins", function, function.offset, cookie)?;
            }
        }
        if let Some(locks) = locks {
            waits.attach_locks(process, locks)?;
        }
        Ok(waits)
    }

    /// Attaches to functions of locks. Ends come first, so that nothing begins that cannot end.
    fn attach_locks(&mut self, process: &Process, locks: &LockFunctions) -> Result<()> {
        let whole = |functions: &[Function]| functions.iter().filter(|f| f.has_end()).cloned().collect::<Vec<_>>();
        let (take, wait) = (whole(&locks.take), whole(&locks.wait));
        for function in take.iter().chain(&wait) {
            for offset in function.returns.iter().chain(&function.jumps) {
                self.attach(process, "lock_ends", function, *offset, 0)?;
            }
        }
        for function in &locks.give {
            self.attach(process, "lock_begins", function, function.offset, RELEASES)?;
        }
        for function in &wait {
            self.attach(process, "lock_begins", function, function.offset, RELEASES | SECOND)?;
        }
        for function in &take {
            self.attach(process, "lock_begins", function, function.offset, 0)?;
        }
        Ok(())
    }

    /// Takes the events at locks that the last calls of [`Waits::collect`] have read.
    pub fn take_locks(&mut self) -> Vec<LockEvent> {
        std::mem::take(&mut self.locks)
    }

    fn attach(&mut self, process: &Process, name: &str, function: &Function, offset: u64, cookie: u64) -> Result<()> {
        self.links.push(uprobe(&self.object, name, process, function, offset, cookie)?);
        Ok(())
    }

    /// Calls `wait` and `span` for the records since the last call.
    pub fn collect(&mut self, mut wait: impl FnMut(Wait), mut span: impl FnMut(Span)) {
        let _ = self.ring.consume();
        for bytes in self.records.borrow_mut().drain(..) {
            let (what, tid, state) = (half(&bytes, WORDS, 0), half(&bytes, WORDS, 1), half(&bytes, WORDS, 2));
            if what == IS_SPAN {
                span(Span { tid, begin_ns: word(&bytes, 0), end_ns: word(&bytes, 1) });
                continue;
            }
            if what == IS_LOCK {
                let role = [LockRole::Wants, LockRole::Has, LockRole::Failed, LockRole::Releases][state as usize & 3];
                self.locks.push(LockEvent { tid, at_ns: word(&bytes, 0), address: word(&bytes, 1), role });
                continue;
            }
            wait(Wait {
                tid,
                off_ns: word(&bytes, 0),
                woken_ns: word(&bytes, 1),
                on_ns: word(&bytes, 2),
                is_uninterruptible: state & 2 != 0,
                system_call: Some(half(&bytes, WORDS, 3)).filter(|call| *call != NO_SYSTEM_CALL),
                stack: half(&bytes, WORDS, 4),
                file: Some(half(&bytes, WORDS, 5)).filter(|file| *file != NO_FILE),
            });
        }
    }

    /// Detaches the programs.
    pub fn detach(&mut self) {
        self.links.clear();
    }

    /// Returns the events that were not recorded.
    pub fn account(&self) -> Account {
        account(&self.object)
    }
}
