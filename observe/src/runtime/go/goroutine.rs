//! Goroutine: what `runtime.g` says about it at one moment.

use super::layout::{GOROUTINE_BYTES, Layout, SAVED, THREAD_OF};
use yunti_probe::code::GoProgram;

/// State of a goroutine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// New or ended; its structure waits for another goroutine.
    Free,
    Runnable,
    Running,
    InCall,
    Waiting,
    /// Its stack is being moved, or it was stopped for the collector.
    Held,
}

/// Goroutine at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Goroutine {
    /// Address of its structure.
    pub address: u64,
    pub number: u64,
    pub status: Status,
    /// Number of the reason why it waits.
    pub reason: u8,
    /// Number of times that it stopped to run, modulo 256.
    pub stops: u8,
    /// Saved position, if it does not run.
    pub sp: u64,
    pub pc: u64,
    pub stack_begin: u64,
    pub stack_end: u64,
    /// Structure of its thread, or 0.
    pub thread: u64,
    /// Entry of its first function.
    pub start: u64,
    /// Channels that it waits for, or 0.
    pub waiting: u64,
}

/// Set while the collector reads the stack.
const IS_SCANNED: u32 = 0x1000;
/// Gap between two structures up to which both are read at once; a span of them has 8 KiB.
const GAP_BYTES: u64 = 4096;
const READ_BYTES: u64 = 128 << 10;

impl Goroutine {
    /// Parses the structure at an address; `None` if it cannot be one.
    pub fn parse(address: u64, bytes: &[u8], layout: &Layout) -> Option<Goroutine> {
        let word = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let number = u32::from_le_bytes(bytes.get(layout.status..layout.status + 4)?.try_into().ok()?);
        let status = match number & !IS_SCANNED {
            0 | 6 | 11 => Status::Free,
            1 => Status::Runnable,
            2 => Status::Running,
            3 => Status::InCall,
            // 10: it waits for what nobody can give (Go 1.26).
            4 | 10 => Status::Waiting,
            8 | 9 => Status::Held,
            _ => return None,
        };
        let in_call = status == Status::InCall;
        let (sp, pc) = if in_call { (layout.in_call_sp, layout.in_call_pc) } else { (SAVED, SAVED + 8) };
        Some(Goroutine {
            address,
            number: word(layout.goid)?,
            status,
            reason: *bytes.get(layout.reason)?,
            stops: *bytes.get(layout.stops)?,
            sp: word(sp)?,
            pc: word(pc)?,
            stack_begin: word(0)?,
            stack_end: word(8)?,
            thread: word(THREAD_OF)?,
            start: word(layout.start)?,
            waiting: word(layout.waiting)?,
        })
    }

    /// Returns true if the structure may be one: its numbers fit to each other.
    pub fn is_plausible(&self, is_code: impl Fn(u64) -> bool) -> bool {
        const STACK_MAX: u64 = 1 << 32;
        if self.status == Status::Free {
            return self.number < 1 << 48;
        }
        let stack = self.stack_begin..self.stack_end;
        let has_position =
            !matches!(self.status, Status::Waiting | Status::Runnable) || stack.contains(&self.sp) && is_code(self.pc);
        self.number > 0
            && self.number < 1 << 48
            && stack.start < stack.end
            && stack.end - stack.start <= STACK_MAX
            && has_position
            && (self.start == 0 || is_code(self.start))
    }
}

/// Returns the addresses of goroutines `range` of the list at an address.
pub fn addresses(program: &GoProgram, list: u64, range: std::ops::Range<u64>) -> Vec<u64> {
    let mut bytes = vec![0; ((range.end - range.start) * 8) as usize];
    if !program.read(list + range.start * 8, &mut bytes) {
        return Vec::new();
    }
    let words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()));
    words.filter(|address| *address != 0 && address % 8 == 0).collect()
}

/// Reads goroutines; neighbours in memory at once.
pub fn read(program: &GoProgram, layout: &Layout, mut addresses: Vec<u64>) -> Vec<Goroutine> {
    addresses.sort_unstable();
    let mut found = Vec::with_capacity(addresses.len());
    let mut bytes = Vec::new();
    for group in groups(&addresses) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        bytes.resize((last - first) as usize + GOROUTINE_BYTES, 0);
        if program.read(*first, &mut bytes) {
            let parse = |address: &u64| Goroutine::parse(*address, &bytes[(address - first) as usize..], layout);
            found.extend(group.iter().filter_map(parse));
        }
    }
    found
}

/// Divides sorted addresses into groups that are read at once.
fn groups(addresses: &[u64]) -> Vec<&[u64]> {
    let (mut groups, mut begin) = (Vec::new(), 0);
    for i in 1..=addresses.len() {
        let ends = addresses
            .get(i)
            .is_none_or(|address| address - addresses[i - 1] > GAP_BYTES || address - addresses[begin] > READ_BYTES);
        if ends {
            groups.push(&addresses[begin..i]);
            begin = i;
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::super::layout::candidates;
    use super::*;

    fn bytes(layout: &Layout, status: u32, number: u64, sp: u64) -> Vec<u8> {
        let mut bytes = vec![0; GOROUTINE_BYTES];
        let mut put = |at: usize, word: u64| bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        put(0, 0xc000_1000);
        put(8, 0xc000_2000);
        put(SAVED, sp);
        put(SAVED + 8, 0x40_1000);
        put(layout.goid, number);
        put(layout.status, status.into());
        bytes
    }

    #[test]
    fn parses_and_checks() {
        let layout = candidates(22)[0];
        let is_code = |address: u64| (0x40_0000..0x50_0000).contains(&address);
        let parse = |status, number, sp| Goroutine::parse(8, &bytes(&layout, status, number, sp), &layout);
        let waits = parse(4, 7, 0xc000_1f00).unwrap();
        assert_eq!((waits.number, waits.status, waits.pc), (7, Status::Waiting, 0x40_1000));
        assert!(waits.is_plausible(is_code));
        assert_eq!(parse(0x1004, 7, 0).unwrap().status, Status::Waiting);
        assert!(!parse(4, 7, 0xc000_2000).unwrap().is_plausible(is_code), "its position is not on its stack");
        assert!(!parse(4, 0, 0xc000_1f00).unwrap().is_plausible(is_code), "it has no number");
        assert!(parse(2, 7, 0).unwrap().is_plausible(is_code));
        assert!(parse(99, 7, 0).is_none());
        assert!(Goroutine::parse(8, &[0; 40], &layout).is_none());
    }

    #[test]
    fn neighbours_are_read_at_once() {
        assert_eq!(groups(&[]), Vec::<&[u64]>::new());
        assert_eq!(groups(&[8]), [&[8][..]]);
        assert_eq!(groups(&[8, 500, 90_000, 90_100]), [&[8, 500][..], &[90_000, 90_100]]);
        let many: Vec<u64> = (0..1000).map(|i| i * 448).collect();
        assert!(groups(&many).len() > 3 && groups(&many).concat() == many);
    }
}
