//! Single calls of functions, system calls and tracepoint passes: `bpf/hits.bpf.c`.

use libbpf_rs::{Link, Object, RawTracepointOpts, RingBuffer};
use yunti_base::{Code, Error, Result};

use super::stacks::{StackEvents, load_with_stacks};
use crate::code::Function;
use crate::programs::{
    Account, Records, account, attached, half, lookup, map, program, put, ring, uprobe, values, word,
};
use crate::target::Process;

/// Registers that carry arguments.
pub const ARGUMENTS: usize = 6;
/// Places that can be probed at once.
pub const PROBES_MAX: usize = 512;
const TEXT_BYTES: usize = 64;
/// 64-bit words of a hit before its 32-bit ones; the texts follow behind.
const WORDS: usize = 2 + ARGUMENTS + 1;
const THREAD_AT: usize = WORDS * 8 + 6 * 4;
const THREAD_BYTES: usize = 16;
const TEXTS_AT: usize = THREAD_AT + THREAD_BYTES;
const NO_DURATION: u64 = u64::MAX;
/// LEFT_BY_JUMP and END_IS_JUMP of bpf/hits.bpf.c.
const LEFT_BY_JUMP: u32 = 256;
const END_IS_JUMP: u64 = 1 << 31;

/// Programs by the number of arguments that they read, most first. A tracepoint accepts the first one that reads no
/// more than it has.
const TRACEPOINTS: [&str; ARGUMENTS + 1] =
    ["tracepoint6", "tracepoint5", "tracepoint4", "tracepoint3", "tracepoint2", "tracepoint1", "tracepoint0"];

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hits.bpf.o"));

/// Form of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A number.
    Number = 0,
    /// Memory up to the first zero byte.
    Text = 1,
    /// The first 64 bytes of memory.
    Bytes = 2,
}

/// Place of a probe.
#[derive(Clone, Debug)]
pub enum Place {
    /// Function of a file.
    Function(Function),
    /// System call by its number.
    SystemCall(u32),
    /// Tracepoint by its name.
    Tracepoint(String),
}

impl Place {
    /// Returns true if both places are the same.
    pub fn is_same(&self, other: &Place) -> bool {
        match (self, other) {
            (Place::Function(one), Place::Function(two)) => (&one.path, one.offset) == (&two.path, two.offset),
            (Place::SystemCall(one), Place::SystemCall(two)) => one == two,
            (Place::Tracepoint(one), Place::Tracepoint(two)) => one == two,
            _ => false,
        }
    }
}

/// Place to probe, and the arguments to read.
#[derive(Clone, Debug)]
pub struct Probe {
    /// Place.
    pub place: Place,
    /// Forms of its arguments, in their order.
    pub forms: Vec<Form>,
}

/// One call, or one pass of a tracepoint.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Index of the probe.
    pub probe: usize,
    /// Thread.
    pub tid: u32,
    /// Thread number in its own PID namespace, which differs in a container.
    pub tid_inside: u32,
    /// Thread name, at most 15 bytes.
    pub thread: String,
    /// Time on CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Duration; `None` for a tracepoint, an open call, a call left without a return, or a function with unknown ends.
    pub duration_ns: Option<u64>,
    /// True if the call ended by a jump to another function, which returns in its place; the duration ends at the
    /// jump.
    pub is_left_by_jump: bool,
    /// Argument registers.
    pub arguments: [u64; ARGUMENTS],
    /// Return value.
    pub result: u64,
    /// Number of the stack among its thread's, from 1; 0 if it was omitted.
    pub stack: u32,
    /// Memory of arguments that are not numbers, in their order; `None` if it is not readable.
    pub texts: Vec<Option<Vec<u8>>>,
}

impl Hit {
    fn of(bytes: &[u8]) -> Hit {
        let mut arguments = [0; ARGUMENTS];
        for (i, argument) in arguments.iter_mut().enumerate() {
            *argument = word(bytes, 2 + i);
        }
        let (texts, flags) = (half(bytes, WORDS, 4) as usize, half(bytes, WORDS, 5));
        let text = |i: usize| {
            let bytes = bytes.get(TEXTS_AT + i * TEXT_BYTES..TEXTS_AT + (i + 1) * TEXT_BYTES)?;
            Some((flags >> i & 1 == 0).then(|| bytes.to_vec()))
        };
        let thread = bytes.get(THREAD_AT..TEXTS_AT).unwrap_or_default().split(|b| *b == 0).next().unwrap_or_default();
        Hit {
            time_ns: word(bytes, 0),
            duration_ns: Some(word(bytes, 1)).filter(|ns| *ns != NO_DURATION),
            arguments,
            result: word(bytes, 2 + ARGUMENTS),
            probe: half(bytes, WORDS, 0) as usize,
            tid: half(bytes, WORDS, 1),
            tid_inside: half(bytes, WORDS, 2),
            stack: half(bytes, WORDS, 3),
            thread: String::from_utf8_lossy(thread).into_owned(),
            is_left_by_jump: flags & LEFT_BY_JUMP != 0,
            texts: (0..texts).filter_map(text).collect(),
        }
    }
}

impl Hit {
    /// Returns the time at which its stack was requested.
    pub fn stack_time_ns(&self, is_system_call: bool) -> u64 {
        // In a JVM, a system call's stack is requested at its end.
        if is_system_call { self.time_ns + self.duration_ns.unwrap_or(0) } else { self.time_ns }
    }
}

/// Programs at work, detached when dropped.
pub struct Hits {
    // Dropped before the object that they belong to.
    links: Vec<Link>,
    ring: RingBuffer<'static>,
    records: Records,
    object: Object,
    probes: usize,
}

impl Hits {
    /// Attaches `probes`, at most [`PROBES_MAX`]. `stacks`: for a process that is no JVM; `None` sends SIGPROF to its
    /// threads, for which it must have a handler.
    pub fn start(
        process: &Process,
        probes: &[Probe],
        stacks: Option<&StackEvents>,
        stacks_a_second_max: u32,
    ) -> Result<Hits> {
        let mut wanted = Vec::new();
        for probe in probes {
            wanted.extend(match probe.place {
                Place::Function(_) => ["function_begins", "function_ends"].as_slice(),
                Place::SystemCall(_) => &["system_call_begins", "system_call_ends"],
                Place::Tracepoint(_) => &TRACEPOINTS,
            });
        }
        let object = load_with_stacks(IMAGE, process, stacks, stacks_a_second_max, &wanted)?;
        for (number, probe) in probes.iter().enumerate() {
            let forms = probe.forms.iter().enumerate().fold(0, |all, (i, form)| all | (*form as u32) << (2 * i));
            let has_end = matches!(&probe.place, Place::Function(f) if f.has_end());
            let value: Vec<u8> = [forms, has_end.into()].iter().flat_map(|w| w.to_le_bytes()).collect();
            put(&object, "probes", &(number as u32).to_le_bytes(), &value)?;
        }
        let (ring, records) = ring(&object, "hits")?;
        let mut hits = Hits { links: Vec::new(), ring, records, object, probes: probes.len() };
        for (number, probe) in probes.iter().enumerate() {
            hits.attach(process, number, probe)?;
        }
        if probes.iter().any(|probe| matches!(probe.place, Place::SystemCall(_))) {
            // Ends are attached first: a begin without its end would be reported as an open call.
            for (program_name, tracepoint) in [("system_call_ends", "sys_exit"), ("system_call_begins", "sys_enter")] {
                let link = program(&hits.object, program_name)?.attach_raw_tracepoint(tracepoint);
                hits.links.push(attached("system calls", process, link)?);
            }
        }
        Ok(hits)
    }

    fn attach(&mut self, process: &Process, number: usize, probe: &Probe) -> Result<()> {
        match &probe.place {
            Place::Function(function) => {
                let returns = function.returns.iter().map(|at| ("function_ends", *at, 0));
                let jumps = function.jumps.iter().map(|at| ("function_ends", *at, END_IS_JUMP));
                for (name, offset, flag) in returns.chain(jumps).chain([("function_begins", function.offset, 0)]) {
                    let cookie = number as u64 | flag;
                    self.links.push(uprobe(&self.object, name, process, function, offset, cookie)?);
                }
            }
            Place::SystemCall(call) => {
                put(&self.object, "probe_of_system_call", &call.to_le_bytes(), &(number as u32 + 1).to_le_bytes())?;
            }
            Place::Tracepoint(name) => {
                let mut last = None;
                for program_name in TRACEPOINTS {
                    let opts = RawTracepointOpts { cookie: number as u64, ..RawTracepointOpts::default() };
                    match program(&self.object, program_name)?.attach_raw_tracepoint_with_opts(name, opts) {
                        Ok(link) => {
                            self.links.push(link);
                            return Ok(());
                        }
                        Err(e) if e.kind() == libbpf_rs::ErrorKind::InvalidInput => last = Some(e),
                        Err(e) if e.kind() == libbpf_rs::ErrorKind::NotFound => {
                            let error = Error::new(Code::Input, format!("the kernel has no tracepoint '{name}'"));
                            return Err(error.hint("/sys/kernel/tracing/available_events lists them"));
                        }
                        Err(e) => return attached(&format!("the tracepoint {name}"), process, Err(e)),
                    }
                }
                if let Some(e) = last {
                    return attached(&format!("the tracepoint {name}"), process, Err(e));
                }
            }
        }
        Ok(())
    }

    /// Returns the hits since the last call, in the order of their ends.
    pub fn collect(&mut self) -> Vec<Hit> {
        let _ = self.ring.consume();
        self.records.borrow_mut().drain(..).map(|bytes| Hit::of(&bytes)).collect()
    }

    /// Detaches the programs; no hits and no signals follow.
    pub fn detach(&mut self) {
        self.links.clear();
    }

    /// Returns calls that are open, or were left by an exception and not entered again.
    pub fn open_calls(&self) -> Vec<Hit> {
        map(&self.object, "open_calls").map(|map| values(&map)).unwrap_or_default().iter().map(|v| Hit::of(v)).collect()
    }

    /// Returns the hits of each probe, including hits that were not recorded.
    pub fn counts(&self) -> Vec<u64> {
        (0..self.probes as u32).map(|n| word(&lookup(&self.object, "counts", &n.to_le_bytes()), 0)).collect()
    }

    /// Returns the events that were not recorded.
    pub fn account(&self) -> Account {
        account(&self.object)
    }
}
