//! Variables of Go's runtime: by their symbols, or in a stripped program by what they hold.

use super::goroutine::{self, Goroutine, Status};
use super::layout::{GOROUTINE_BYTES, Layout, candidates};
use yunti_probe::code::GoProgram;

const GOROUTINES: &str = "runtime.allgs";
const REASONS: &str = "runtime.waitReasonStrings";
const COLLECTOR: &str = "runtime.gcController";
const STATISTICS: &str = "runtime.memstats";
const PROCESSORS: &str = "runtime.gomaxprocs";
pub const SYMBOLS: [&str; 5] = [GOROUTINES, REASONS, COLLECTOR, STATISTICS, PROCESSORS];

/// Goroutines that are checked.
const CHECKED: u64 = 32;
/// Reasons that are read.
const REASONS_MAX: u64 = 96;
const REASON_BYTES: u64 = 64;
const PIECE_BYTES: usize = 1 << 20;
/// Bytes of variables that are searched.
const SEARCHED_BYTES: u64 = 64 << 20;
/// Bytes of the heap below which no collection begins, times 100 / GOGC.
const HEAP_MINIMUM: u64 = 4 << 20;

/// Variables of a runtime.
pub struct Globals {
    pub layout: Layout,
    /// Address of the slice of goroutines.
    pub goroutines: u64,
    /// Names of reasons to wait.
    pub reasons: Vec<String>,
    /// Addresses of `gcController`, `memstats` and `gomaxprocs`.
    pub collector: Option<u64>,
    pub statistics: Option<u64>,
    pub processors: Option<Processors>,
}

/// Where GOMAXPROCS is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processors {
    /// A number of 32 bits.
    Number(u64),
    /// The length of the slice at this address.
    Slice(u64),
}

/// Slice: address, length, capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    pub begin: u64,
    pub length: u64,
}

const SLICE_BYTES: usize = 24;

impl Slice {
    fn parse(bytes: &[u8], most: u64) -> Option<Slice> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let (begin, length, capacity) = (word(0)?, word(8)?, word(16)?);
        let is_one = begin > 4096 && begin % 8 == 0 && (1..=most).contains(&length) && length <= capacity;
        (is_one && capacity <= most * 2).then_some(Slice { begin, length })
    }

    /// Reads a slice of the process; `None` if it is empty.
    pub fn read(program: &GoProgram, address: u64) -> Option<Slice> {
        let mut bytes = [0; SLICE_BYTES];
        program.read(address, &mut bytes).then_some(())?;
        Slice::parse(&bytes, GOROUTINES_MAX)
    }
}

const GOROUTINES_MAX: u64 = 1 << 26;
const PROCESSORS_MAX: u64 = 1 << 12;

impl Globals {
    /// Finds the variables of a running program. `None`: it has no goroutines yet, or none that can be read.
    pub fn of(program: &GoProgram) -> Option<Globals> {
        let goroutines_at = |address| layout_of(program, address).map(|layout| (address, layout));
        let mut found = Found { goroutines: program.symbol(GOROUTINES).and_then(goroutines_at), ..Found::default() };
        found.reasons = program.symbol(REASONS);
        found.collector = program.symbol(COLLECTOR);
        found.processors = program.symbol(PROCESSORS).map(Processors::Number);
        if found.goroutines.is_none() || found.reasons.is_none() {
            found.search(program);
        }
        let (goroutines, layout) = found.goroutines?;
        Some(Globals {
            layout,
            goroutines,
            reasons: found.reasons.map(|address| reasons(program, address)).unwrap_or_default(),
            collector: found.collector,
            statistics: program.symbol(STATISTICS),
            processors: found.processors,
        })
    }
}

/// Returns the layout that fits to the goroutines of the slice at an address.
fn layout_of(program: &GoProgram, address: u64) -> Option<Layout> {
    let slice = Slice::read(program, address)?;
    let addresses = goroutine::addresses(program, slice.begin, 0..slice.length.min(CHECKED));
    let mut all = vec![0; GOROUTINE_BYTES];
    // Most slices of a search are of something else, which the first one shows.
    let first = *addresses.first()?;
    program.read(first, &mut all).then_some(())?;
    let may_be = |layout: &Layout| Goroutine::parse(first, &all, layout).is_some_and(|one| one.number == 1);
    candidates(program.minor).iter().any(may_be).then_some(())?;
    let structures: Vec<(u64, Vec<u8>)> = addresses
        .into_iter()
        .map_while(|address| program.read(address, &mut all).then(|| (address, all.clone())))
        .collect();
    candidates(program.minor).into_iter().find(|layout| fits(layout, &structures, |address| program.is_code(address)))
}

/// Returns true if structures are goroutines by a layout. The first of all goroutines is the program's main one.
fn fits(layout: &Layout, structures: &[(u64, Vec<u8>)], is_code: impl Fn(u64) -> bool) -> bool {
    let parsed: Option<Vec<Goroutine>> =
        structures.iter().map(|(address, bytes)| Goroutine::parse(*address, bytes, layout)).collect();
    let Some(all) = parsed.filter(|all| !all.is_empty()) else { return false };
    // A goroutine that runs during the reading may be between two states.
    let plausible = all.iter().filter(|one| one.is_plausible(&is_code)).count();
    let mut numbers: Vec<u64> = all.iter().map(|one| one.number).filter(|number| *number != 0).collect();
    numbers.sort_unstable();
    let count = numbers.len();
    numbers.dedup();
    let main = &all[0];
    let is_alive = main.status != Status::Free && main.start != 0;
    let has_main = main.number == 1 && is_alive && main.is_plausible(&is_code);
    has_main && plausible * 10 >= all.len() * 8 && numbers.len() == count
}

/// Reads the names of reasons; the first one is empty.
fn reasons(program: &GoProgram, address: u64) -> Vec<String> {
    let mut names = Vec::new();
    for i in 0..REASONS_MAX {
        let at = address + i * 16;
        let (Some(begin), Some(length)) = (program.word(at), program.word(at + 8)) else { break };
        let Some(name) = text(program, begin, length) else { break };
        names.push(name);
    }
    names
}

fn text(program: &GoProgram, begin: u64, length: u64) -> Option<String> {
    let mut bytes = vec![0; usize::try_from(length).ok().filter(|_| length <= REASON_BYTES)?];
    (bytes.is_empty() || program.read(begin, &mut bytes)).then_some(())?;
    String::from_utf8(bytes).ok().filter(|text| text.bytes().all(|b| (b' '..=b'~').contains(&b)))
}

#[derive(Default)]
struct Found {
    goroutines: Option<(u64, Layout)>,
    reasons: Option<u64>,
    collector: Option<u64>,
    processors: Option<Processors>,
    /// True if the state of the collector has a memory limit.
    has_limit: bool,
}

impl Found {
    /// Searches the module's variables.
    fn search(&mut self, program: &GoProgram) {
        let overlap = 48;
        self.has_limit = candidates(program.minor).first().is_some_and(|layout| layout.memory_limit.is_some());
        let mut left = SEARCHED_BYTES;
        let mut piece = Vec::new();
        for (begin, end) in program.variables() {
            let size = (end - begin).min(left);
            left -= size;
            for at in (0..size).step_by(PIECE_BYTES) {
                piece.resize((PIECE_BYTES + overlap).min((size - at) as usize), 0);
                if program.read(begin + at, &mut piece) {
                    for i in (0..piece.len()).step_by(8) {
                        self.consider(program, begin + at + i as u64, &piece[i..piece.len().min(i + overlap)]);
                    }
                }
            }
        }
    }

    /// Takes the variable at an address, if it is one of the wanted ones.
    fn consider(&mut self, program: &GoProgram, address: u64, bytes: &[u8]) {
        if self.goroutines.is_none() && Slice::parse(bytes, GOROUTINES_MAX).is_some() {
            self.goroutines = layout_of(program, address).map(|layout| (address, layout));
        }
        if self.processors.is_none()
            && let Some(slice) = Slice::parse(bytes, PROCESSORS_MAX).filter(|slice| slice.length > 1)
            && are_processors(program, slice)
        {
            self.processors = Some(Processors::Slice(address));
        }
        if self.reasons.is_none() && begins_reasons(program, bytes) {
            self.reasons = Some(address - 16);
        }
        if self.collector.is_none() && is_collector(bytes, self.has_limit) {
            self.collector = Some(address);
        }
    }
}

/// Returns true for the second and third reason to wait.
fn begins_reasons(program: &GoProgram, bytes: &[u8]) -> bool {
    let word = |at: usize| bytes.get(at..at + 8).map_or(0, |b| u64::from_le_bytes(b.try_into().unwrap_or_default()));
    let (first, second) = ("GC assist marking", "IO wait");
    word(8) == first.len() as u64
        && word(24) == second.len() as u64
        && text(program, word(0), word(8)).as_deref() == Some(first)
        && text(program, word(16), word(24)).as_deref() == Some(second)
}

/// Returns true for Go's structures of processors: their numbers count from 0.
fn are_processors(program: &GoProgram, slice: Slice) -> bool {
    (0..slice.length.min(8)).all(|i| {
        let Some(structure) = program.word(slice.begin + i * 8).filter(|p| *p > 4096 && *p % 8 == 0) else {
            return false;
        };
        // The number, then a status below 5.
        program.word(structure).is_some_and(|word| word & 0xffff_ffff == i && word >> 32 < 5)
    })
}

/// Returns true for the state of the collector: its percent, its memory limit, and the smallest heap by this percent.
fn is_collector(bytes: &[u8], has_limit: bool) -> bool {
    let word = |at: usize| bytes.get(at..at + 8).map(|b| u64::from_le_bytes(b.try_into().unwrap_or_default()));
    let (Some(first), Some(limit), Some(third)) = (word(0), word(8), word(16)) else { return false };
    let percent = first as u32 as i32;
    let minimum = HEAP_MINIMUM.wrapping_mul(i64::from(percent) as u64) / 100;
    first >> 32 == 0
        && (-1..100_000).contains(&percent)
        && percent != 0
        && if has_limit { third == minimum && (1 << 16..1 << 63).contains(&limit) } else { limit == minimum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::go::layout::SAVED;

    fn structure(layout: &Layout, number: u64) -> Vec<u8> {
        let mut bytes = vec![0; GOROUTINE_BYTES];
        let mut put = |at: usize, word: u64| bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        put(0, 0xc000_1000);
        put(8, 0xc000_2000);
        put(SAVED, 0xc000_1800);
        put(SAVED + 8, 0x40_1000);
        put(layout.start, 0x40_2000);
        put(layout.goid, number);
        bytes[layout.status] = 4;
        bytes
    }

    #[test]
    fn the_layout_of_each_version_is_told_from_others() {
        let is_code = |address: u64| (0x40_0000..0x50_0000).contains(&address);
        for layout in candidates(0) {
            let all: Vec<_> = (1..5).map(|number| (number * 512, structure(&layout, number))).collect();
            assert!(fits(&layout, &all, is_code));
            let first = candidates(0).into_iter().find(|other| fits(other, &all, is_code)).unwrap();
            assert_eq!((first.status, first.goid, first.start), (layout.status, layout.goid, layout.start));
            let twice: Vec<_> = (1..5).map(|at| (at * 512, structure(&layout, 1))).collect();
            assert!(!fits(&layout, &twice, is_code), "two of the same number");
        }
        assert!(!fits(&candidates(0)[0], &[], is_code));
    }

    #[test]
    fn the_collector_by_its_numbers() {
        let bytes = |words: [u64; 3]| words.map(u64::to_le_bytes).concat();
        assert!(is_collector(&bytes([100, i64::MAX as u64, 4 << 20]), true));
        assert!(is_collector(&bytes([400, 1 << 30, 16 << 20]), true));
        assert!(is_collector(&bytes([0xffff_ffff, 1 << 30, (4u64 << 20).wrapping_neg() / 100]), true));
        assert!(is_collector(&bytes([100, 4 << 20, 77]), false));
        assert!(!is_collector(&bytes([100, 4 << 20, 77]), true) && !is_collector(&bytes([0, 1 << 30, 0]), true));
        assert!(!is_collector(&[0; 8], true));
    }

    #[test]
    fn slices() {
        let bytes = |words: [u64; 3]| words.map(u64::to_le_bytes).concat();
        assert_eq!(Slice::parse(&bytes([0xc000_0000, 3, 4]), 100), Some(Slice { begin: 0xc000_0000, length: 3 }));
        for words in [[0xc000_0000, 0, 4], [0xc000_0000, 5, 4], [8, 3, 4], [0xc000_0001, 3, 4], [0xc000_0000, 101, 101]]
        {
            assert_eq!(Slice::parse(&bytes(words), 100), None, "{words:?}");
        }
    }
}
