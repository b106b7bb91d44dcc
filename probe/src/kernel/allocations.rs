//! Memory that a process asks of its allocator: `bpf/allocations.bpf.c`.

use std::collections::HashSet;

use libbpf_rs::{Link, Object, RingBuffer};
use yunti_base::{Code, Error, Result};

use super::programs::{Account, Records, account, half, lookup, put, ring, uprobe, word};
use super::stacks::{StackEvents, load_with_stacks};
use crate::native;
use crate::target::Process;

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/allocations.bpf.o"));

/// Of bpf/allocations.bpf.c: which argument says how many bytes.
const FIRST: u64 = 0;
const SECOND: u64 = 1;
const THIRD: u64 = 2;
const PRODUCT: u64 = 3;
const MAY_CALL_MALLOC: u64 = 16;
/// reallocarray() and strdup() call these.
const FUNCTIONS: [(&str, u64); 14] = [
    ("malloc", FIRST),
    ("calloc", PRODUCT | MAY_CALL_MALLOC),
    ("realloc", SECOND | MAY_CALL_MALLOC),
    ("posix_memalign", THIRD | MAY_CALL_MALLOC),
    ("aligned_alloc", SECOND | MAY_CALL_MALLOC),
    ("memalign", SECOND | MAY_CALL_MALLOC),
    ("valloc", FIRST | MAY_CALL_MALLOC),
    ("pvalloc", FIRST | MAY_CALL_MALLOC),
    // Of Rust's crates, which give the functions of jemalloc and mimalloc names of their own.
    ("_rjem_malloc", FIRST),
    ("_rjem_calloc", PRODUCT),
    ("_rjem_mallocx", FIRST),
    ("_rjem_rallocx", SECOND),
    ("mi_malloc_aligned", FIRST),
    ("mi_realloc_aligned", SECOND),
];

/// Between two stacks of a thread at least so many bytes, and more where that would be too many stacks.
const INTERVAL_BYTES: u64 = 64 << 10;
const STACKS_A_SECOND: u64 = 1000;
const STACKS_A_SECOND_MAX: u32 = 2000;

/// So many bytes were asked for, by a stack that stands for all of them.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    pub bytes: u64,
    pub tid: u32,
    /// As of [`super::Hit`].
    pub stack: u32,
}

/// Programs at work; they are detached when this is dropped.
pub struct Allocations {
    // Before the object that they belong to.
    links: Vec<Link>,
    ring: RingBuffer<'static>,
    records: Records,
    object: Object,
    interval: u64,
}

impl Allocations {
    pub fn start(process: &Process, stacks: &StackEvents) -> Result<Allocations> {
        let mut functions: Vec<_> = FUNCTIONS
            .iter()
            .flat_map(|(name, cookie)| native::find(process, None, name).into_iter().map(move |f| (f, *cookie)))
            .collect();
        // One that has two names is one.
        let mut places = HashSet::new();
        functions.retain(|(function, _)| places.insert((function.path.clone(), function.offset)));
        if functions.is_empty() {
            let what =
                format!("process {} ({}) has no function malloc that its symbols name", process.pid, process.name);
            return Err(Error::new(Code::Input, what).hint("`--event cpu` and `yunti observe faults` say more of it"));
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

    pub fn collect(&mut self) -> Vec<Allocation> {
        let _ = self.ring.consume();
        let of =
            |bytes: Vec<u8>| Allocation { bytes: word(&bytes, 0), tid: half(&bytes, 1, 0), stack: half(&bytes, 1, 1) };
        self.records.borrow_mut().drain(..).map(of).collect()
    }

    /// Calls and bytes, exactly.
    pub fn totals(&self) -> (u64, u64) {
        let totals = lookup(&self.object, "totals", &0u32.to_le_bytes());
        (word(&totals, 0), word(&totals, 1))
    }

    /// To be told how long it has been at work, now and then: the faster memory is asked for, the fewer of the calls have a stack.
    pub fn keep_up(&mut self, seconds: f64) -> Result<()> {
        let rate = self.totals().1 as f64 / seconds.max(0.01);
        let wanted = ((rate / STACKS_A_SECOND as f64) as u64).max(INTERVAL_BYTES);
        // Twice or half: a map is not written for less.
        if wanted > 2 * self.interval || 2 * wanted < self.interval { self.set_interval(wanted) } else { Ok(()) }
    }

    fn set_interval(&mut self, bytes: u64) -> Result<()> {
        self.interval = bytes;
        put(&self.object, "interval", &0u32.to_le_bytes(), &bytes.to_le_bytes())
    }

    pub fn detach(&mut self) {
        self.links.clear();
    }

    pub fn account(&self) -> Account {
        account(&self.object)
    }
}
