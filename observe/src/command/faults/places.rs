//! What an address is: a mapping by its name, and of those that have none what is known of them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use yunti_probe::kernel::{Fault, Home};
use yunti_probe::target::{Mapping, Process, mappings};

/// Programs map and unmap while they are looked at.
const AGAIN: Duration = Duration::from_millis(100);
/// How far below its stack pointer a thread may touch its stack, and how far above it began.
const STACK_BELOW: u64 = 1 << 20;
const STACK_ABOVE: u64 = 64 << 20;

/// An address's home.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    JavaHeap,
    CodeCache,
    /// Of any thread, but for the kernel's word it has no name.
    Stack,
    /// malloc's, between the program and its libraries: `[heap]`.
    Heap,
    /// Without a name: mmap of a program, malloc of threads and of large blocks.
    Anonymous,
    /// Memory that processes share.
    Shared(String),
    File(String),
    /// Nothing was mapped there when it was looked at.
    Nowhere,
}

impl Area {
    pub fn name(&self) -> String {
        match self {
            Area::JavaHeap => "Java heap".to_owned(),
            Area::CodeCache => "code cache".to_owned(),
            Area::Stack => "thread stack".to_owned(),
            Area::Heap => "[heap]".to_owned(),
            Area::Anonymous => "anonymous".to_owned(),
            Area::Shared(name) | Area::File(name) => name.clone(),
            Area::Nowhere => "nothing that stayed mapped".to_owned(),
        }
    }

    /// Whether pages come from a file.
    pub fn is_file(&self) -> bool {
        matches!(self, Area::File(_))
    }
}

pub struct Places {
    process: Process,
    /// Whole names of files, by where they have been mapped.
    mapped: BTreeMap<u64, Mapping>,
    known: Vec<(u64, u64, &'static str)>,
    looked: Instant,
}

impl Places {
    /// @param known ranges that somebody has told us of
    pub fn new(process: &Process, known: Vec<(u64, u64, &'static str)>) -> Places {
        let mut places = Places { process: process.clone(), mapped: BTreeMap::new(), known, looked: Instant::now() };
        places.look();
        places
    }

    /// To be called before faults are added: reads what is mapped now and then, and where files are that are not known.
    pub fn keep_up(&mut self, faults: &[Fault]) {
        let is_known = |home: &Home| home.file.is_none() || self.mapped.contains_key(&home.begin);
        let are_known = || faults.iter().filter_map(|fault| fault.home.as_ref()).all(is_known);
        if self.looked.elapsed() >= AGAIN || !are_known() {
            self.look();
        }
    }

    fn look(&mut self) {
        self.looked = Instant::now();
        for mapping in mappings(&self.process) {
            self.mapped.insert(mapping.begin, mapping);
        }
    }

    /// As the kernel sees it at the fault; else as it was seen now and then.
    pub fn home(&self, fault: &Fault) -> Option<Home> {
        if fault.home.is_some() {
            return fault.home.clone();
        }
        let below = self.mapped.range(..=fault.address).next_back().map(|(_, it)| it);
        // The first thread's stack is made longer by the fault itself.
        let longer = || self.mapped.range(fault.address..).next().map(|(_, it)| it).filter(|it| it.name == "[stack]");
        let it = match below.filter(|it| fault.address < it.end) {
            Some(it) => it,
            None => longer().filter(|it| is_near(fault) && fault.stack_pointer < it.end)?,
        };
        Some(Home {
            begin: it.begin,
            end: it.end,
            is_writable: it.is_writable,
            is_shared: it.is_shared,
            is_heap: it.name == "[heap]",
            is_stack: it.name == "[stack]",
            file: it.name.starts_with('/').then(|| it.name.clone()),
        })
    }

    pub fn area(&self, fault: &Fault, home: Option<&Home>) -> Area {
        let address = fault.address;
        if let Some((_, _, what)) = self.known.iter().find(|(begin, end, _)| (*begin..*end).contains(&address)) {
            return if *what == "code cache" { Area::CodeCache } else { Area::JavaHeap };
        }
        let Some(home) = home else { return Area::Nowhere };
        match &home.file {
            _ if home.is_stack => Area::Stack,
            _ if home.is_heap => Area::Heap,
            // The JVM's heap under ZGC.
            Some(name) if name.contains("java_heap") => Area::JavaHeap,
            // Anonymous memory that is shared is a file of the kernel's own; what is mapped of /dev/zero for oneself is no file's.
            Some(name) if name == "dev/zero" => Area::Shared("shared memory".to_owned()),
            Some(name) if name == "zero" && !home.is_shared => Area::Anonymous,
            Some(name) => of_name(self.whole_name(home.begin, name)),
            None if is_near(fault) && (home.begin..home.end).contains(&fault.stack_pointer) => Area::Stack,
            None if home.is_shared => Area::Shared("shared memory".to_owned()),
            None => Area::Anonymous,
        }
    }

    fn whole_name(&self, begin: u64, name: &str) -> String {
        let whole = self.mapped.get(&begin).map(|mapping| mapping.name.trim_end_matches(" (deleted)"));
        whole.filter(|whole| whole.ends_with(name)).unwrap_or(name).to_owned()
    }

    /// A file of which only the last part of its name was known is that file with this last part which was seen, if any was.
    pub fn named_at_last(&self, area: Area) -> Area {
        match area {
            Area::File(name) if !name.starts_with('/') => {
                let fits = |whole: &&str| whole.strip_suffix(&*name).is_some_and(|folder| folder.ends_with('/'));
                let mut names = self.mapped.values().map(|mapping| mapping.name.trim_end_matches(" (deleted)"));
                of_name(names.find(fits).unwrap_or(&name).to_owned())
            }
            area => area,
        }
    }
}

fn is_near(fault: &Fault) -> bool {
    let top = fault.stack_pointer;
    (top.saturating_sub(STACK_BELOW)..top.saturating_add(STACK_ABOVE)).contains(&fault.address)
}

fn of_name(name: String) -> Area {
    // Of files in memory the kernel's own word comes without the slash that /proc has.
    let is_shared = ["/memfd:", "memfd:", "/dev/shm/", "/SYSV", "SYSV"].iter().any(|begin| name.starts_with(begin));
    if is_shared { Area::Shared(format!("/{}", name.trim_start_matches('/'))) } else { Area::File(name) }
}
