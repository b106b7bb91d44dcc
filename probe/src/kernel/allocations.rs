//! Memory that a process requests from its allocator: `bpf/allocations.bpf.c`.

use std::collections::HashSet;

use libbpf_rs::{Link, Object, RingBuffer};
use yunti_base::{Code, Error, Result};

use super::stacks::{StackEvents, load_with_stacks};
use crate::code;
use crate::programs::{Account, Records, account, half, lookup, put, ring, uprobe, word};
use crate::target::Process;

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/allocations.bpf.o"));

/// Cookies of bpf/allocations.bpf.c: the argument that holds the number of bytes.
const FIRST: u64 = 0;
const SECOND: u64 = 1;
const THIRD: u64 = 2;
const PRODUCT: u64 = 3;
const MAY_CALL_MALLOC: u64 = 16;
/// Allocation functions and their cookies. reallocarray() and strdup() call these.
const FUNCTIONS: [(&str, u64); 14] = [
    ("malloc", FIRST),
    ("calloc", PRODUCT | MAY_CALL_MALLOC),
    ("realloc", SECOND | MAY_CALL_MALLOC),
    ("posix_memalign", THIRD | MAY_CALL_MALLOC),
    ("aligned_alloc", SECOND | MAY_CALL_MALLOC),
    ("memalign", SECOND | MAY_CALL_MALLOC),
    ("valloc", FIRST | MAY_CALL_MALLOC),
    ("pvalloc", FIRST | MAY_CALL_MALLOC),
    // Rust crates give the functions of jemalloc and mimalloc their own names.
    ("_rjem_malloc", FIRST),
    ("_rjem_calloc", PRODUCT),
    ("_rjem_mallocx", FIRST),
    ("_rjem_rallocx", SECOND),
    ("mi_malloc_aligned", FIRST),
    ("mi_realloc_aligned", SECOND),
];

/// Bytes between two stacks of a thread, at least; more if there would be too many stacks.
const INTERVAL_BYTES: u64 = 64 << 10;
const STACKS_A_SECOND: u64 = 1000;
const STACKS_A_SECOND_MAX: u32 = 2000;

/// Bytes that were requested, represented by one stack.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    /// Bytes that the stack stands for.
    pub bytes: u64,
    /// Thread.
    pub tid: u32,
    /// Number of the stack, as in [`super::Hit`].
    pub stack: u32,
}

/// Programs at work, detached when dropped.
pub struct Allocations {
    // Dropped before the object that they belong to.
    links: Vec<Link>,
    ring: RingBuffer<'static>,
    records: Records,
    object: Object,
    interval: u64,
}

impl Allocations {
    /// Attaches to all allocation functions of the process. Fails if its symbols name none.
    pub fn start(process: &Process, stacks: &StackEvents) -> Result<Allocations> {
        let mut functions: Vec<_> = FUNCTIONS
            .iter()
            .flat_map(|(name, cookie)| code::find(process, None, name).into_iter().map(move |f| (f, *cookie)))
            .collect();
        // A function with two names is attached once.
        let mut places = HashSet::new();
        functions.retain(|(function, _)| places.insert((function.path.clone(), function.offset)));
        if functions.is_empty() {
            let what = format!("process {} ({}) has no function malloc in its symbols", process.pid, process.name);
            return Err(Error::new(Code::Input, what).hint("try `--event cpu`, or `yunti observe faults`"));
        }
        let object = load_with_stacks(IMAGE, process, Some(stacks), STACKS_A_SECOND_MAX, &["allocates"])?;
        let (ring, records) = ring(&object, "allocations")?;
        let mut all = Allocations { links: Vec::new(), ring, records, object, interval: 0 };
        all.set_interval(INTERVAL_BYTES)?;
        for (function, cookie) in functions {
            all.links.push(uprobe(&all.object, "allocates", process, &function, function.offset, cookie)?);
        }
        Ok(all)
    }

    /// Returns the allocations since the last call.
    pub fn collect(&mut self) -> Vec<Allocation> {
        let _ = self.ring.consume();
        let of =
            |bytes: Vec<u8>| Allocation { bytes: word(&bytes, 0), tid: half(&bytes, 1, 0), stack: half(&bytes, 1, 1) };
        self.records.borrow_mut().drain(..).map(of).collect()
    }

    /// Returns calls and bytes, both exact.
    pub fn totals(&self) -> (u64, u64) {
        let totals = lookup(&self.object, "totals", &0u32.to_le_bytes());
        (word(&totals, 0), word(&totals, 1))
    }

    /// Adapts the interval to the rate of allocation: a higher rate has a stack for fewer of its calls. `seconds`:
    /// time since the start.
    pub fn keep_up(&mut self, seconds: f64) -> Result<()> {
        let rate = self.totals().1 as f64 / seconds.max(0.01);
        let wanted = ((rate / STACKS_A_SECOND as f64) as u64).max(INTERVAL_BYTES);
        // The map is written only if the interval changes by a factor of two.
        if wanted > 2 * self.interval || 2 * wanted < self.interval { self.set_interval(wanted) } else { Ok(()) }
    }

    fn set_interval(&mut self, bytes: u64) -> Result<()> {
        self.interval = bytes;
        put(&self.object, "interval", &0u32.to_le_bytes(), &bytes.to_le_bytes())
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
