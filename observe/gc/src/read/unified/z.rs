//! Cycles of ZGC and Shenandoah, which collect beside the program: their causes, sizes and allocations.

use super::space::{change, split_change};
use crate::model::collector::Collector;
use crate::model::heap::HeapSample;
use crate::model::log::Log;
use crate::scan::{Scan, split_number};

/// Cycles that may be under way at once.
const OPEN_MAX: usize = 8;
const CAUSE_BYTES_MAX: usize = 60;

/// Cycle that is under way.
struct Cycle {
    number: u64,
    cause: Vec<u8>,
    is_young: bool,
}

/// Cycles that are under way.
#[derive(Default)]
pub struct Cycles {
    open: Vec<Cycle>,
    /// Bytes that the program allocated during the cycle whose table is being written.
    allocated: u64,
    /// Bytes of objects in use, of the young generation or the whole heap, and of the old generation.
    live: [Option<u64>; 2],
    /// The log has lines about the parts of a cycle in the young generation.
    has_young_lines: bool,
    trigger: Vec<u8>,
}

/// Returns true for the first and last line of a cycle.
pub fn is_cycle(text: &[u8]) -> bool {
    ["Garbage Collection (", "Minor Collection (", "Major Collection (", "Young Generation ", "Old Generation "]
        .iter()
        .any(|start| text.starts_with(start.as_bytes()))
}

impl Cycles {
    /// Takes the first or last line of a cycle: `Minor Collection (Allocation Rate) 26M(10%)->20M(8%) 0.012s`.
    pub fn line(&mut self, number: u64, text: &[u8], time: f64, log: &mut Log) {
        let Some(head) = seconds_off(text) else { return self.begin(number, text, log) };
        let (head, sizes) = split_change(head);
        let Some(sizes) = sizes else { return };
        let total = log.settings.heap_max;
        let live = self.live;
        let sample = |is_whole| {
            let live = live[0].filter(|_| is_whole).map_or(sizes.after, |bytes| bytes + live[1].unwrap_or(0));
            HeapSample { time_s: time, before: sizes.before, after: sizes.after, live, total, is_whole }
        };
        if head.starts_with(b"Young Generation") {
            // Old generations are collected at the same time, and name the same heap.
            self.has_young_lines = true;
            log.heap.add_cycle(sample(false), std::mem::take(&mut self.allocated));
            return;
        } else if head.starts_with(b"Old Generation") {
            return;
        }
        let is_major = head.starts_with(b"Major");
        let is_minor = head.starts_with(b"Minor");
        if is_major || is_minor {
            log.collector = Some(Collector::GenerationalZ);
        } else {
            log.collector.get_or_insert(Collector::Z);
        }
        match (is_minor, self.has_young_lines) {
            (true, true) => {}
            (true, false) => log.heap.add_cycle(sample(false), std::mem::take(&mut self.allocated)),
            (false, _) if is_major => log.heap.sample(sample(true)),
            (false, _) => log.heap.add_cycle(sample(true), std::mem::take(&mut self.allocated)),
        }
        self.open.retain(|cycle| cycle.number != number);
    }

    fn begin(&mut self, number: u64, text: &[u8], log: &mut Log) {
        let Some(at) = memchr::memchr(b'(', text) else { return };
        let cause = text[at + 1..].trim_ascii_end();
        let cause = cause.strip_suffix(b")").unwrap_or(cause);
        let is_young = text.starts_with(b"Minor");
        if is_young || text.starts_with(b"Major") {
            log.collector = Some(Collector::GenerationalZ);
        }
        if self.open.len() == OPEN_MAX {
            self.open.remove(0);
        }
        let cause = cause[..cause.len().min(CAUSE_BYTES_MAX)].to_vec();
        self.open.push(Cycle { number, cause, is_young });
    }

    /// Takes a row of a table of the heap. Returns false if it is none that matters.
    pub fn row(&mut self, generation: Option<u8>, text: &[u8]) -> bool {
        let text = text.trim_ascii_start();
        if let Some(rest) = text.strip_prefix(b"Live:") {
            // Minor collections during a major one know their own objects only.
            if generation != Some(b'y') {
                let first = rest.split(|c| *c == b' ').find(|word| word.first().is_some_and(u8::is_ascii_digit));
                self.live[usize::from(generation == Some(b'O'))] = first.and_then(|word| Scan(word).size());
            }
            return true;
        }
        let Some(rest) = text.strip_prefix(b"Allocated:") else { return false };
        if generation == Some(b'O') {
            return true;
        }
        // One column for each point of the cycle; the last point that has one.
        let words = rest.split(|c| *c == b' ').filter(|word| word.first().is_some_and(u8::is_ascii_digit));
        if let Some(bytes) = words.filter_map(|word| Scan(word).size()).max() {
            self.allocated = bytes;
        }
        true
    }

    /// Returns the cause of a cycle.
    pub fn cause(&self, number: u64) -> Option<&[u8]> {
        self.open.iter().find(|cycle| cycle.number == number).map(|cycle| &*cycle.cause)
    }

    /// Returns true if a cycle collects the young generation only.
    pub fn is_young(&self, number: u64) -> bool {
        self.open.iter().any(|cycle| cycle.number == number && cycle.is_young)
    }

    /// Takes Shenandoah's reason for its next cycle: `Trigger: Free (19M) is below minimum threshold (20M)`.
    pub fn trigger(&mut self, text: &[u8]) {
        let text = text.strip_prefix(b"Trigger").unwrap_or(text);
        // A generation may follow: `Trigger (Young): ..`.
        let reason = memchr::memchr(b':', text).map_or(text, |at| &text[at + 1..]).trim_ascii();
        let words = reason.split(|c| *c == b'(' || c.is_ascii_digit()).next().unwrap_or_default().trim_ascii();
        self.trigger.clear();
        self.trigger.extend_from_slice(&words[..words.len().min(CAUSE_BYTES_MAX)]);
    }

    /// Gives a cycle of Shenandoah, whose first pause this is, the reason that was named last.
    pub fn begin_pause(&mut self, number: u64) {
        if self.cause(number).is_some() || self.trigger.is_empty() {
            return;
        }
        if self.open.len() == OPEN_MAX {
            self.open.remove(0);
        }
        self.open.push(Cycle { number, cause: std::mem::take(&mut self.trigger), is_young: false });
    }
}

/// Removes the duration of a whole cycle, which some versions append: `0.012s`.
fn seconds_off(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii_end();
    let text = match text.strip_suffix(b"s") {
        Some(rest) => split_number(rest)?.0,
        None => text,
    };
    // Without sizes it is the first line.
    let at = memchr::memrchr(b' ', text)? + 1;
    change(&mut Scan(&text[at..])).map(|_| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_last_lines_of_cycles_differ() {
        for (text, expect) in [
            ("Garbage Collection (Warmup) 26M(10%)->20M(8%)", Some("Garbage Collection (Warmup) 26M(10%)->20M(8%)")),
            ("Minor Collection (Rate) 26M(10%)->20M(8%) 0.012s", Some("Minor Collection (Rate) 26M(10%)->20M(8%)")),
            ("Garbage Collection (Warmup)", None),
            ("Garbage Collection (Allocation Rates", None),
        ] {
            assert_eq!(seconds_off(text.as_bytes()), expect.map(str::as_bytes), "{text}");
        }
    }
}
