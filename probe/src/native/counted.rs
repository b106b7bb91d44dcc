//! Events of processor and kernel that can be counted and sampled, by the names of perf.

use perf_event::Builder;
use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware, Software};
use yunti_base::{Code, Error, Result};

/// Event that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted(&'static Row);

/// Event: name of perf; name in a sentence; source; events between two samples where a sampler needs a fixed number.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    name: &'static str,
    quantity: &'static str,
    source: Source,
    period: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Kernel(Software),
    Processor(Hardware),
    /// Loads that miss this cache.
    Misses(CacheId),
}

const fn row(name: &'static str, quantity: &'static str, source: Source, period: u64) -> Row {
    Row { name, quantity, source, period }
}

/// Events that fit into a second decide the periods: some hundred samples a second of a busy processor.
const ROWS: [Row; 15] = [
    row("page-faults", "page faults", Source::Kernel(Software::PAGE_FAULTS), 1),
    row("minor-faults", "page faults without a read", Source::Kernel(Software::PAGE_FAULTS_MIN), 1),
    row("major-faults", "page faults with a read", Source::Kernel(Software::PAGE_FAULTS_MAJ), 1),
    row("context-switches", "context switches", Source::Kernel(Software::CONTEXT_SWITCHES), 1),
    row("cpu-migrations", "moves to another processor", Source::Kernel(Software::CPU_MIGRATIONS), 1),
    row("cycles", "cycles", Source::Processor(Hardware::CPU_CYCLES), 10_000_000),
    row("instructions", "instructions", Source::Processor(Hardware::INSTRUCTIONS), 10_000_000),
    row("cache-references", "accesses of the last cache", Source::Processor(Hardware::CACHE_REFERENCES), 100_000),
    row("cache-misses", "misses of the last cache", Source::Processor(Hardware::CACHE_MISSES), 10_000),
    row("branch-instructions", "branches", Source::Processor(Hardware::BRANCH_INSTRUCTIONS), 1_000_000),
    row("branch-misses", "branches predicted wrong", Source::Processor(Hardware::BRANCH_MISSES), 10_000),
    row("bus-cycles", "bus cycles", Source::Processor(Hardware::BUS_CYCLES), 1_000_000),
    row("L1-dcache-load-misses", "loads that miss the first cache", Source::Misses(CacheId::L1D), 100_000),
    row("LLC-load-misses", "loads that miss the last cache", Source::Misses(CacheId::LL), 10_000),
    row("dTLB-load-misses", "loads that miss the TLB", Source::Misses(CacheId::DTLB), 10_000),
];

impl Counted {
    /// Returns an event by its name.
    pub fn of(name: &str) -> Option<Counted> {
        ROWS.iter().find(|row| row.name == name).map(Counted)
    }

    /// Returns the names of all events.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ROWS.iter().map(|row| row.name)
    }

    /// Returns the name of perf.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the counted quantity in a few words.
    pub fn quantity(self) -> &'static str {
        self.0.quantity
    }

    /// Returns the events between two samples, for a sampler that does not adapt.
    pub fn period(self) -> u64 {
        self.0.period
    }

    /// Returns true if the processor counts it.
    pub fn is_of_processor(self) -> bool {
        !matches!(self.0.source, Source::Kernel(_))
    }

    /// Fails with the reason if this machine cannot count it.
    pub fn must_be_here(self) -> Result<()> {
        let Err(error) = self.builder().enabled(false).exclude_kernel(true).exclude_hv(true).build() else {
            return Ok(());
        };
        let failure = Error::io(Code::Input, &format!("{} cannot be counted", self.name()), &error);
        let is_absent =
            matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::EINVAL));
        Err(match is_absent && self.is_of_processor() {
            true => failure.hint(
                "this machine shows no such counter of its processor, as most virtual machines; page-faults, \
                 minor-faults, major-faults, context-switches and cpu-migrations are counted by the kernel",
            ),
            false => {
                failure.hint("run as its owner, or as root; /proc/sys/kernel/perf_event_paranoid must be 2 or less")
            }
        })
    }

    pub(super) fn builder(self) -> Builder<'static> {
        match self.0.source {
            Source::Kernel(event) => Builder::new(event),
            Source::Processor(event) => Builder::new(event),
            Source::Misses(which) => Builder::new(Cache { which, operation: CacheOp::READ, result: CacheResult::MISS }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_by_name() {
        assert_eq!(Counted::of("cache-misses").unwrap().quantity(), "misses of the last cache");
        assert!(Counted::of("page-faults").is_some_and(|event| !event.is_of_processor()));
        assert!(Counted::of("Cache-misses").is_none());
        let names: std::collections::HashSet<_> = Counted::names().collect();
        assert_eq!(names.len(), ROWS.len());
        Counted::of("page-faults").unwrap().must_be_here().unwrap();
    }
}
