//! Names of addresses: the mapping's name, or what is known about memory without one.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use yunti_probe::kernel::{Fault, Home};
use yunti_probe::target::{Mapping, Process, mappings};

/// Time between two reads of the mappings, which programs change all the time.
const READ_EVERY: Duration = Duration::from_millis(100);
/// Bytes below and above the stack pointer that belong to a thread's stack.
const STACK_BELOW: u64 = 1 << 20;
const STACK_ABOVE: u64 = 64 << 20;

/// Owner of an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Area {
    JavaHeap,
    CodeCache,
    /// The stack of any thread. Without the kernel's information such a mapping has no name.
    Stack,
    /// malloc's `[heap]`, between the program and its libraries.
    Heap,
    /// Memory without a name: mmap of the program, and malloc of other threads and of large blocks.
    Anonymous,
    /// Memory shared between processes, by name.
    Shared(String),
    File(String),
    /// Nothing was mapped there when the mappings were read.
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

    /// Returns true if the pages come from a file.
    pub fn is_file(&self) -> bool {
        matches!(self, Area::File(_))
    }
}

/// Mappings of a process, kept up to date.
pub struct Places {
    process: Process,
    /// Mappings, with the full paths of files, by their first address.
    mapped: BTreeMap<u64, Mapping>,
    known: Vec<(u64, u64, &'static str)>,
    read_at: Instant,
}

impl Places {
    /// Reads the mappings.
    ///
    /// @param known ranges (first address, end, name) that the JVM reports
    pub fn new(process: &Process, known: Vec<(u64, u64, &'static str)>) -> Places {
        let mut places = Places { process: process.clone(), mapped: BTreeMap::new(), known, read_at: Instant::now() };
        places.read();
        places
    }

    /// Reads the mappings again if some time has passed, or if a fault is in an unknown file.
    ///
    /// Call this before the faults are added.
    pub fn keep_up(&mut self, faults: &[Fault]) {
        let is_known = |home: &Home| home.file.is_none() || self.mapped.contains_key(&home.begin);
        let are_known = || faults.iter().filter_map(|fault| fault.home.as_ref()).all(is_known);
        if self.read_at.elapsed() >= READ_EVERY || !are_known() {
            self.read();
        }
    }

    fn read(&mut self) {
        self.read_at = Instant::now();
        for mapping in mappings(&self.process) {
            self.mapped.insert(mapping.begin, mapping);
        }
    }

    /// Returns the mapping of a fault: as the kernel reported it, else as last read.
    pub fn home(&self, fault: &Fault) -> Option<Home> {
        if fault.home.is_some() {
            return fault.home.clone();
        }
        let below = self.mapped.range(..=fault.address).next_back().map(|(_, it)| it);
        // The fault itself extends the main thread's stack.
        let extended_stack =
            || self.mapped.range(fault.address..).next().map(|(_, it)| it).filter(|it| it.name == "[stack]");
        let it = match below.filter(|it| fault.address < it.end) {
            Some(it) => it,
            None => extended_stack().filter(|it| is_near(fault) && fault.stack_pointer < it.end)?,
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
            // The heap of a JVM with ZGC.
            Some(name) if name.contains("java_heap") => Area::JavaHeap,
            // Shared anonymous memory is an internal file of the kernel. A
            // private mapping of /dev/zero is anonymous memory.
            Some(name) if name == "dev/zero" => Area::Shared("shared memory".to_owned()),
            Some(name) if name == "zero" && !home.is_shared => Area::Anonymous,
            Some(name) => of_name(self.full_path(home.begin, name)),
            None if is_near(fault) && (home.begin..home.end).contains(&fault.stack_pointer) => Area::Stack,
            None if home.is_shared => Area::Shared("shared memory".to_owned()),
            None => Area::Anonymous,
        }
    }

    fn full_path(&self, begin: u64, name: &str) -> String {
        let whole = self.mapped.get(&begin).map(|mapping| mapping.name.trim_end_matches(" (deleted)"));
        whole.filter(|whole| whole.ends_with(name)).unwrap_or(name).to_owned()
    }

    /// Replaces a bare file name by the full path of a mapping that ends with it, if there is one.
    pub fn resolve(&self, area: Area) -> Area {
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
    // The kernel reports files in memory without the leading slash that /proc shows.
    let is_shared = ["/memfd:", "memfd:", "/dev/shm/", "/SYSV", "SYSV"].iter().any(|begin| name.starts_with(begin));
    if is_shared { Area::Shared(format!("/{}", name.trim_start_matches('/'))) } else { Area::File(name) }
}
