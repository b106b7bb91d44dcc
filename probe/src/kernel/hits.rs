//! Single calls of functions, system calls and tracepoint passes: `bpf/hits.bpf.c`.

use std::os::fd::OwnedFd;

use libbpf_rs::{KprobeOpts, Link, Object, RawTracepointOpts, RingBuffer};
use yunti_base::{Code, Error, Result};

use super::functions;
use super::gates::{ARGUMENTS, PASSED_BEGIN, PASSED_END, PASSED_TRACEPOINT, Site, put_gates, put_passed};
use super::stacks::{StackEvents, load_with};
use crate::code::Function;
use crate::condition::expression::Variable;
use crate::condition::{Conditions, KEYS_MAX};
use crate::programs::{
    Account, Records, Settings, account, attached, half, lookup, map, program, put, ring, uprobe, values,
    values_by_key, word,
};
use crate::target::Process;

/// Places that can be probed at once.
pub const PROBES_MAX: usize = 512;
const TEXT_BYTES: usize = 64;
/// 64-bit words of a hit before its 32-bit ones; the texts follow behind.
const WORDS: usize = 2 + ARGUMENTS + 1 + KEYS;
/// Values of a gate: keys, and the one that is summed up.
const KEYS: usize = KEYS_MAX + 1;
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
    /// Function of the kernel by its name.
    KernelFunction(String),
}

impl Place {
    /// Returns true if both places are the same.
    pub fn is_same(&self, other: &Place) -> bool {
        match (self, other) {
            (Place::Function(one), Place::Function(two)) => (&one.path, one.offset) == (&two.path, two.offset),
            (Place::SystemCall(one), Place::SystemCall(two)) => one == two,
            (Place::Tracepoint(one), Place::Tracepoint(two)) => one == two,
            (Place::KernelFunction(one), Place::KernelFunction(two)) => one == two,
            _ => false,
        }
    }

    /// Returns true if ends of calls are seen.
    pub fn has_end(&self) -> bool {
        match self {
            Place::Function(function) => function.has_end(),
            Place::SystemCall(_) | Place::KernelFunction(_) => true,
            Place::Tracepoint(_) => false,
        }
    }

    /// Returns the programs of `bpf/hits.bpf.c`: at the begin, and at the end if there is one.
    fn programs(&self) -> &'static [&'static str] {
        match self {
            Place::Function(_) => &["function_begins", "function_ends"],
            Place::SystemCall(_) => &["system_call_begins", "system_call_ends"],
            Place::KernelFunction(_) => &["kernel_begins", "kernel_ends"],
            Place::Tracepoint(_) => &TRACEPOINTS,
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
    /// Calls that are recorded, and how they are counted.
    pub conditions: Conditions,
}

impl Probe {
    /// Returns true if the result of a call decides.
    pub fn needs_result(&self) -> bool {
        self.conditions.uses(Variable::Return)
    }
}

/// Calls with the same values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Index of the probe.
    pub probe: usize,
    /// Values, as many as the grouping has keys.
    pub keys: Vec<u64>,
    /// Calls.
    pub hits: u64,
    /// Sum of the value that is summed up.
    pub sum: u64,
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
    /// Values of the grouping's keys, and of what it sums up.
    pub keys: [u64; KEYS],
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
            keys: std::array::from_fn(|n| word(bytes, 2 + ARGUMENTS + 1 + n)),
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
    /// Returns the time at which its stack was requested: the end of a call that is decided there, and in a JVM the end
    /// of a system call.
    pub fn stack_time_ns(&self, is_at_end: bool) -> u64 {
        if is_at_end { self.time_ns + self.duration_ns.unwrap_or(0) } else { self.time_ns }
    }
}

/// Programs at work, detached when dropped.
pub struct Hits {
    // Dropped before the object that they belong to.
    links: Vec<Link>,
    /// Programs of kernel functions without kprobes, and gates.
    descriptors: Vec<OwnedFd>,
    ring: RingBuffer<'static>,
    records: Records,
    object: Object,
    has_gates: bool,
    /// Number of keys of each probe.
    keys: Vec<usize>,
}

impl Hits {
    /// Attaches `probes`, at most [`PROBES_MAX`]. `process`: `None` for all processes but this one; `stacks`: for a
    /// process that is no JVM; `None` sends SIGPROF to its threads, for which it must have a handler.
    pub fn start(
        process: Option<&Process>,
        probes: &[Probe],
        stacks: Option<&StackEvents>,
        stacks_a_second_max: u32,
    ) -> Result<Hits> {
        let has_gates = probes.iter().any(|probe| !probe.conditions.is_empty());
        let names: Vec<&str> = probes.iter().flat_map(|probe| probe.place.programs()).copied().collect();
        let behind: Vec<String> = names.iter().filter(|_| has_gates).map(|name| format!("{name}_passed")).collect();
        let wanted: Vec<&str> = names.iter().copied().chain(behind.iter().map(String::as_str)).collect();
        let pid = process.map_or(0, |process| process.pid);
        let settings = Settings { pid, stacks_by_signal: stacks.is_none(), stacks_a_second_max, has_gates };
        let object = load_with(IMAGE, settings, stacks, &wanted)?;
        for (number, probe) in probes.iter().enumerate() {
            let forms = probe.forms.iter().enumerate().fold(0, |all, (i, form)| all | (*form as u32) << (2 * i));
            let conditions = &probe.conditions;
            let words =
                [forms, probe.place.has_end().into(), probe.needs_result().into(), conditions.needs_end().into()];
            let value: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            put(&object, "probes", &(number as u32).to_le_bytes(), &value)?;
        }
        let (ring, records) = ring(&object, "hits")?;
        let keys_of = |probe: &Probe| probe.conditions.grouping.as_ref().map_or(0, |grouping| grouping.keys.len());
        let keys = probes.iter().map(keys_of).collect();
        let mut hits = Hits { links: Vec::new(), descriptors: Vec::new(), ring, records, object, has_gates, keys };
        for (number, probe) in probes.iter().enumerate() {
            hits.put_gates(number, probe, None)?;
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

    /// Puts the gates of a probe. The number of a tracepoint's arguments is known only when it is attached.
    fn put_gates(&mut self, number: usize, probe: &Probe, arguments: Option<usize>) -> Result<()> {
        let site = match (&probe.place, arguments) {
            (Place::Function(_), _) => Site::Function,
            (Place::SystemCall(_), _) => Site::SystemCall,
            (Place::KernelFunction(_), _) => Site::KernelFunction,
            (Place::Tracepoint(_), Some(arguments)) => Site::Tracepoint(arguments),
            (Place::Tracepoint(_), None) => return Ok(()),
        };
        if !self.has_gates {
            return Ok(());
        }
        let behind: Vec<(u32, &str)> = match (site, probe.place.programs()) {
            (Site::Tracepoint(n), _) => vec![(PASSED_TRACEPOINT + n as u32, TRACEPOINTS[ARGUMENTS - n])],
            (_, [begins, ends]) => vec![(PASSED_BEGIN, *begins), (PASSED_END, *ends)],
            _ => Vec::new(),
        };
        for (index, name) in behind {
            put_passed(&self.object, site, index, &format!("{name}_passed"))?;
        }
        let gates = put_gates(&self.object, site, number as u32, probe.place.has_end(), &probe.conditions)?;
        self.descriptors.extend(gates);
        Ok(())
    }

    fn attach(&mut self, process: Option<&Process>, number: usize, probe: &Probe) -> Result<()> {
        match &probe.place {
            Place::Function(function) => {
                let Some(process) = process else {
                    return Err(Error::new(Code::Usage, format!("{}: a function needs a process", function.name)));
                };
                let ignores_end = probe.conditions.ignores_end();
                let returns = function.returns.iter().map(|at| ("function_ends", *at, 0));
                let jumps = function.jumps.iter().map(|at| ("function_ends", *at, END_IS_JUMP));
                for (name, offset, flag) in
                    returns.chain(jumps).filter(|_| !ignores_end).chain([("function_begins", function.offset, 0)])
                {
                    let cookie = number as u64 | flag;
                    self.links.push(uprobe(&self.object, name, process, function, offset, cookie)?);
                }
            }
            Place::SystemCall(call) => {
                put(&self.object, "probe_of_system_call", &call.to_le_bytes(), &(number as u32 + 1).to_le_bytes())?;
            }
            Place::Tracepoint(name) => {
                let mut last = None;
                for (fewer, program_name) in TRACEPOINTS.iter().enumerate() {
                    let opts = RawTracepointOpts { cookie: number as u64, ..RawTracepointOpts::default() };
                    match program(&self.object, program_name)?.attach_raw_tracepoint_with_opts(name, opts) {
                        Ok(link) => {
                            self.links.push(link);
                            return self.put_tracepoint_gates(name, number, probe, ARGUMENTS - fewer);
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
            Place::KernelFunction(name) => {
                functions::must_exist(name)?;
                let ends = Some(("kernel_ends", true)).filter(|_| !probe.conditions.ignores_end());
                for (program_name, is_end) in ends.into_iter().chain([("kernel_begins", false)]) {
                    let opts = KprobeOpts { cookie: number as u64, ..KprobeOpts::default() };
                    match program(&self.object, program_name)?.attach_kprobe_with_opts(is_end, name, opts) {
                        Ok(link) => self.links.push(link),
                        Err(e) => {
                            let pid = process.map_or(0, |process| process.pid);
                            let conditions = &probe.conditions;
                            let entry = functions::watch_entry(&self.object, name, number as u32, pid, conditions, &e)?;
                            self.descriptors.extend(entry);
                            return Ok(());
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn put_tracepoint_gates(&mut self, name: &str, number: usize, probe: &Probe, arguments: usize) -> Result<()> {
        let missing = (arguments..ARGUMENTS).find(|n| probe.conditions.uses(Variable::Argument(*n as u8)));
        match missing {
            Some(n) => {
                let last =
                    if arguments > 0 { format!("arg0 to arg{}", arguments - 1) } else { "no argument".to_owned() };
                Err(Error::new(Code::Usage, format!("the tracepoint {name} has no arg{n}: it has {last}")))
            }
            None => self.put_gates(number, probe, Some(arguments)),
        }
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

    /// Returns the hits of each probe that met its conditions, including hits that were not recorded.
    pub fn counts(&self) -> Vec<u64> {
        let counts = if self.has_gates { "met" } else { "counts" };
        (0..self.keys.len() as u32).map(|n| word(&lookup(&self.object, counts, &n.to_le_bytes()), 0)).collect()
    }

    /// Returns the groups of calls that were only counted, and the calls without a place among them.
    pub fn groups(&self) -> (Vec<Group>, u64) {
        let of = |(key, value): (Vec<u8>, Vec<u8>)| {
            let probe = word(&key, 0) as usize;
            let keys = (0..self.keys.get(probe).copied().unwrap_or(0)).map(|n| word(&key, 1 + n)).collect();
            Group { probe, keys, hits: word(&value, 0), sum: word(&value, 1) }
        };
        let groups = map(&self.object, "groups").map(|map| values_by_key(&map)).unwrap_or_default();
        (groups.into_iter().map(of).collect(), word(&lookup(&self.object, "groups_lost", &0u32.to_le_bytes()), 0))
    }

    /// Returns the name that a thread or a process had when it was counted first.
    pub fn name(&self, number: u32) -> Option<String> {
        let bytes = lookup(&self.object, "names", &number.to_le_bytes());
        let name = bytes.split(|b| *b == 0).next().unwrap_or_default();
        (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned())
    }

    /// Returns the events that were not recorded.
    pub fn account(&self) -> Account {
        account(&self.object)
    }
}
