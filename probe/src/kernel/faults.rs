//! Single page faults: `bpf/faults.bpf.c`.

use libbpf_rs::{Link, Object, RingBuffer};
use yunti_base::Result;

use super::stacks::{StackEvents, load_with_stacks};
use crate::programs::{Account, Records, account, attached, half, program, ring, word};
use crate::target::Process;

/// 64-bit words of a fault before its 32-bit ones.
const WORDS: usize = 4;
/// Position of the mapping's begin and end, in 64-bit words.
const RANGE_AT: usize = WORDS + 3;
const NAME_AT: usize = (RANGE_AT + 2) * 8;

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/faults.bpf.o"));

/// Mapping of an address at the time of its fault.
#[derive(Clone, Debug)]
pub struct Home {
    /// First address.
    pub begin: u64,
    /// Address behind the last one.
    pub end: u64,
    /// True if the mapping is writable.
    pub is_writable: bool,
    /// True if writes are shared with other processes.
    pub is_shared: bool,
    /// True for `[heap]` of malloc.
    pub is_heap: bool,
    /// True for the first thread's stack.
    pub is_stack: bool,
    /// Last part of the file's name, if a file is mapped.
    pub file: Option<String>,
}

/// Page fault.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Time on CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Address that was accessed.
    pub address: u64,
    /// Stack pointer of the thread.
    pub stack_pointer: u64,
    /// True if a page was present but the access not allowed, as at the first write to a shared page.
    pub was_there: bool,
    /// True for a write.
    pub is_write: bool,
    /// True for an access by the program itself, not by the kernel for it.
    pub is_users: bool,
    /// Thread.
    pub tid: u32,
    /// Thread number in its own PID namespace.
    pub tid_inside: u32,
    /// Number of the stack, as in [`super::Hit`].
    pub stack: u32,
    /// Mapping of the address; `None` if there is none, or it could not be read at that moment.
    pub home: Option<Home>,
}

impl Fault {
    fn of(bytes: &[u8]) -> Fault {
        let error = half(bytes, WORDS, 0);
        Fault {
            time_ns: word(bytes, 0),
            address: word(bytes, 1),
            stack_pointer: word(bytes, 3),
            was_there: error & 1 != 0,
            is_write: error & 2 != 0,
            is_users: error & 4 != 0,
            tid: half(bytes, WORDS, 1),
            tid_inside: half(bytes, WORDS, 4),
            stack: half(bytes, WORDS, 2),
            home: Home::of(bytes),
        }
    }
}

impl Home {
    fn of(bytes: &[u8]) -> Option<Home> {
        let has = |bit: u32| half(bytes, WORDS, 3) & bit != 0;
        let name = bytes.get(NAME_AT..).unwrap_or_default();
        let name = name.split(|b| *b == 0).next().unwrap_or_default();
        // MAPPING_.. of bpf/faults.bpf.c.
        has(1).then(|| Home {
            begin: word(bytes, RANGE_AT),
            end: word(bytes, RANGE_AT + 1),
            is_writable: has(2),
            is_shared: has(8),
            is_heap: has(32),
            is_stack: has(64),
            file: has(16).then(|| String::from_utf8_lossy(name).into_owned()),
        })
    }
}

/// Programs at work, detached when dropped.
pub struct Faults {
    links: Vec<Link>,
    ring: RingBuffer<'static>,
    records: Records,
    object: Object,
}

impl Faults {
    /// Attaches to page faults; see [`super::Hits::start`] for the arguments.
    pub fn start(process: &Process, stacks: Option<&StackEvents>, stacks_a_second_max: u32) -> Result<Faults> {
        const PROGRAMS: [(&str, &str); 2] =
            [("fault_of_program", "page_fault_user"), ("fault_of_kernel", "page_fault_kernel")];
        let wanted = PROGRAMS.map(|(name, _)| name);
        let object = load_with_stacks(IMAGE, process, stacks, stacks_a_second_max, &wanted)?;
        let (ring, records) = ring(&object, "faults")?;
        let mut links = Vec::new();
        for (name, tracepoint) in PROGRAMS {
            let link = program(&object, name)?.attach_raw_tracepoint(tracepoint);
            links.push(attached(&format!("the tracepoint {tracepoint}"), process, link)?);
        }
        Ok(Faults { links, ring, records, object })
    }

    /// Returns the faults since the last call.
    pub fn collect(&mut self) -> Vec<Fault> {
        let _ = self.ring.consume();
        self.records.borrow_mut().drain(..).map(|bytes| Fault::of(&bytes)).collect()
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
