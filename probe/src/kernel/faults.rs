//! Page faults, one by one: `bpf/faults.bpf.c`.

use libbpf_rs::{Link, Object, RingBuffer};
use yunti_base::Result;

use super::programs::{Account, Records, account, attached, half, program, ring, word};
use super::stacks::{StackEvents, load_with_stacks};
use crate::target::Process;

/// 64-bit words of a fault before its 32-bit ones.
const WORDS: usize = 4;
/// Of begin and end of the mapping, in 64-bit words.
const RANGE_AT: usize = WORDS + 3;
const NAME_AT: usize = (RANGE_AT + 2) * 8;

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/faults.bpf.o"));

/// What an address was mapped to when it faulted.
#[derive(Clone, Debug)]
pub struct Home {
    pub begin: u64,
    pub end: u64,
    pub is_writable: bool,
    pub is_shared: bool,
    /// malloc's `[heap]`.
    pub is_heap: bool,
    /// The first thread's.
    pub is_stack: bool,
    /// The last part of its file's name.
    pub file: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Fault {
    /// CLOCK_MONOTONIC.
    pub time_ns: u64,
    pub address: u64,
    pub stack_pointer: u64,
    /// There was a page, which may not be used so: a write to what is shared until then.
    pub was_there: bool,
    pub is_write: bool,
    /// By the program itself, and not by the kernel in its stead.
    pub is_users: bool,
    pub tid: u32,
    pub tid_inside: u32,
    /// As of [`super::Hit`].
    pub stack: u32,
    /// None: nothing, or it could not be seen at that moment.
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

/// Programs at work; they are detached when this is dropped.
pub struct Faults {
    links: Vec<Link>,
    ring: RingBuffer<'static>,
    records: Records,
    object: Object,
}

impl Faults {
    /// As [`super::Hits::start`].
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

    pub fn collect(&mut self) -> Vec<Fault> {
        let _ = self.ring.consume();
        self.records.borrow_mut().drain(..).map(|bytes| Fault::of(&bytes)).collect()
    }

    pub fn detach(&mut self) {
        self.links.clear();
    }

    pub fn account(&self) -> Account {
        account(&self.object)
    }
}
