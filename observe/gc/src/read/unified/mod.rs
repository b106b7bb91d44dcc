//! Lines of unified logging, JDK 9 and later: decorations in brackets, then a message.
//!
//! ```text
//!   [2026-01-31T10:00:00.123+0100][12.345s][info][gc,heap    ] GC(7) Eden regions: 23->0(20)
//!    `--- decorations, any of them, in this order -----------' `--- message --------------'
//! ```
//!
//! Details of a pause (heap, phases, workers) precede the line with its duration; its processor time follows.

mod pause;
mod setting;
mod space;
mod z;

use crate::model::event::{Change, Cpu, Space};
use crate::model::heap::HeapSample;
use crate::model::log::Log;
use crate::read::stopped::{COLLECTION, age, stopped};
use crate::scan::stamp::{Stamp, date};
use crate::scan::{Scan, after, find, split_milliseconds};
use space::Regions;
use z::Cycles;

/// Milliseconds from which on a number is a date and no uptime: the year 1973.
const UNIX_MS_MIN: f64 = 1e11;

/// Line with its decorations.
pub struct Decorated<'a> {
    pub stamp: Stamp,
    /// Tags as written, `gc,heap`; empty without this decoration.
    pub tags: &'a [u8],
    pub message: &'a [u8],
}

/// Takes the decorations off a line; `None` if a bracket does not end.
pub fn decorations(line: &[u8]) -> Option<Decorated<'_>> {
    let (mut stamp, mut tags, mut rest) = (Stamp::default(), &line[..0], line);
    while let Some(inside) = rest.strip_prefix(b"[") {
        let at = memchr::memchr(b']', inside)?;
        let (content, next) = (inside[..at].trim_ascii(), &inside[at + 1..]);
        match content.first() {
            Some(c) if c.is_ascii_digit() => time(content, &mut stamp),
            Some(c) if c.is_ascii_lowercase() => tags = content,
            _ => {}
        }
        rest = next;
        if !rest.starts_with(b"[") {
            break;
        }
    }
    Some(Decorated { stamp, tags, message: rest.strip_prefix(b" ").unwrap_or(rest) })
}

fn time(content: &[u8], stamp: &mut Stamp) {
    let mut scan = Scan(content);
    if content.len() >= 19 && content[4] == b'-' {
        stamp.unix_s = date(&mut scan).or(stamp.unix_s);
        return;
    }
    let Some(number) = scan.number() else { return };
    let seconds = match scan.0 {
        b"s" => return stamp.uptime_s = Some(number),
        b"ms" => number / 1e3,
        b"ns" => return stamp.uptime_s = stamp.uptime_s.or(Some(number / 1e9)),
        // A process or a thread.
        _ => return,
    };
    if number >= UNIX_MS_MIN {
        stamp.unix_s = stamp.unix_s.or(Some(seconds));
    } else {
        stamp.uptime_s = stamp.uptime_s.or(Some(seconds));
    }
}

/// Details of a pause that is under way.
#[derive(Default)]
struct Pending {
    number: u64,
    workers: u16,
    is_exhausted: bool,
    spaces: [Change; Space::ALL.len()],
    regions: Regions,
    phases: Vec<(u16, f64)>,
}

/// Phases that are kept for one pause.
const PHASES_MAX: usize = 100;

/// Parser of messages.
#[derive(Default)]
pub struct Unified {
    pending: Pending,
    cycles: Cycles,
    /// A pause has ended since the last stop.
    has_paused: bool,
}

impl Unified {
    /// Takes a message. `time`: seconds since the start of the first JVM.
    pub fn message(&mut self, message: &[u8], tags: &[u8], time: f64, log: &mut Log) {
        let mut scan = Scan(message);
        if scan.eat(b"GC(") {
            let number = scan.integer().filter(|_| scan.eat(b")"));
            match number {
                Some(number) => {
                    scan.eat(b" ");
                    self.collection(number, scan.0, tags, time, log);
                }
                None => log.damaged += 1,
            }
        } else {
            self.other(message, log);
        }
    }

    fn collection(&mut self, number: u64, text: &[u8], tags: &[u8], time: f64, log: &mut Log) {
        if self.pending.number != number {
            let mut phases = std::mem::take(&mut self.pending.phases);
            phases.clear();
            self.pending = Pending { number, phases, ..Pending::default() };
        }
        // Generational ZGC names the generation of a cycle.
        let (generation, text) = match text {
            [g @ (b'Y' | b'y' | b'O'), b':', rest @ ..] => (Some(*g), rest.strip_prefix(b" ").unwrap_or(rest)),
            _ => (None, text),
        };
        match text.first() {
            Some(b'P') if text.starts_with(b"Pause ") => self.pause(number, &text[6..], time, log),
            Some(b'C') if text.starts_with(b"Concurrent ") => self.concurrent(number, text, time, log),
            Some(b'U') if text.starts_with(b"User=") => cpu(number, text, log),
            Some(b'U') if text.starts_with(b"Using ") => self.workers(&text[6..], log),
            Some(b' ') if self.cycles.row(generation, text) => {}
            Some(b' ') if tags.is_empty() || find(tags, b"phases").is_some() => self.phase(text, log),
            Some(b' ') => {}
            Some(b'T') if text.starts_with(b"To-space ") => self.pending.is_exhausted = true,
            Some(b'-') => _ = age(text, log),
            Some(b'G' | b'M' | b'Y' | b'O') if z::is_cycle(text) => self.cycles.line(number, text, time, log),
            _ => {
                let Pending { spaces, regions, .. } = &mut self.pending;
                let is_space = space::take(text, spaces, regions) || self.cycles.row(generation, text);
                if !is_space && find(tags, b"phases").is_some() {
                    self.phase(text, log);
                }
            }
        }
    }

    fn workers(&mut self, text: &[u8], log: &mut Log) {
        if let Some(workers) = Scan(text).integer() {
            self.pending.workers = workers.min(u64::from(u16::MAX)) as u16;
            log.settings.workers = log.settings.workers.max(u32::from(self.pending.workers));
        }
    }

    /// Takes a phase: `  Evacuate Collection Set: 5.4ms`, `Marking Phase 1.2ms`, or with `Min: .., Avg: .., Max: ..`.
    fn phase(&mut self, text: &[u8], log: &mut Log) {
        let text = text.trim_ascii();
        let (name, ms) = match split_milliseconds(text) {
            Some((head, ms)) => (head.trim_ascii_end().strip_suffix(b":").unwrap_or(head), ms),
            None => {
                let Some((head, rest)) = find(text, b" (ms):").map(|at| text.split_at(at)) else {
                    return;
                };
                let Some(ms) = after(rest, b"Avg:").and_then(|rest| Scan(rest).spaces().number()) else { return };
                (head, ms)
            }
        };
        let index = log.phases.index(name.trim_ascii());
        log.phases.0[usize::from(index)].1.add(ms);
        if self.pending.phases.len() < PHASES_MAX {
            self.pending.phases.push((index, ms));
        }
    }

    /// Takes a phase beside the program, or its begin, which has no duration.
    fn concurrent(&mut self, number: u64, text: &[u8], time: f64, log: &mut Log) {
        let Some((head, ms)) = split_milliseconds(text) else {
            if text.ends_with(b" Abort") || text.ends_with(b"Mode Failure") {
                log.lost_cycles += 1;
            }
            return;
        };
        let (head, change) = space::split_change(space::without_times(head));
        let name = head.split(|c| *c == b'(').next().unwrap_or(head).trim_ascii();
        log.concurrent.entry(name).add(ms);
        self.pending.phases.clear();
        let Some(change) = change else { return };
        log.heap.add_concurrent(change.before, change.after);
        if name.eq_ignore_ascii_case(b"Concurrent cleanup") {
            let Change { before, after, total } = change;
            let is_whole = !self.cycles.is_young(number);
            log.heap.sample(HeapSample { time_s: time, before, after, live: after, total, is_whole });
        }
    }

    /// Takes a message that belongs to no collection. Returns false if it is not known.
    pub fn other(&mut self, text: &[u8], log: &mut Log) -> bool {
        match text.first() {
            Some(b'S') if text.starts_with(b"Safepoint \"") => {
                safepoint(&text[11..], log);
                true
            }
            Some(b'T') if stopped(text, self.has_paused, log) => {
                self.has_paused = false;
                true
            }
            Some(b'A' | b'R') if text.starts_with(b"Allocation Stall (") || text.starts_with(b"Relocation Stall (") => {
                stall(text, log);
                true
            }
            Some(b'T') if text.starts_with(b"Trigger") => {
                self.cycles.trigger(text);
                true
            }
            _ => age(text, log) || setting::take(text, log),
        }
    }
}

fn cpu(number: u64, text: &[u8], log: &mut Log) {
    let value = |name: &[u8]| after(text, name).and_then(|rest| Scan(rest).number()).map(|s| s as f32);
    let Some(((user, sys), real)) = value(b"User=").zip(value(b"Sys=")).zip(value(b"Real=")) else {
        log.damaged += 1;
        return;
    };
    if let Some(event) = log.last().filter(|event| u64::from(event.number) == number && event.cpu.is_none()) {
        event.cpu = Some(Cpu { user, sys, real });
    }
}

/// Takes `G1CollectForAllocation", Time since last: 5 ns, Reaching safepoint: 7 ns, At safepoint: 9 ns, Total: 16 ns`.
fn safepoint(text: &[u8], log: &mut Log) {
    let mut scan = Scan(text);
    let operation = scan.until(b'"');
    let ms = |name: &[u8]| after(scan.0, name).and_then(|rest| Scan(rest).number()).map(|ns| ns / 1e6);
    let (Some(operation), Some(total)) = (operation, ms(b" Total: ")) else {
        log.damaged += 1;
        return;
    };
    let safepoints = log.safepoints.entry(operation);
    safepoints.total.add(total);
    if let Some(reaching) = ms(b"Reaching safepoint: ") {
        safepoints.reaching.add(reaching);
    }
}

/// Takes `Allocation Stall (main) 12.345ms`.
fn stall(text: &[u8], log: &mut Log) {
    let Some((head, ms)) = split_milliseconds(text) else { return };
    let thread = head.split(|c| *c == b'(').nth(1).unwrap_or_default();
    log.stalls.entry(thread.strip_suffix(b")").unwrap_or(thread)).add(ms);
}

/// Operations of the JVM that are collections, by the starts of their names.
const COLLECTIONS: [&str; 14] = [
    "G1",
    "GenCollect",
    "Serial",
    "Parallel",
    "Z",
    "X",
    "Shenandoah",
    "CollectForMetadata",
    "CMS",
    "CGC_",
    "PSCollect",
    "GenGrow",
    "RendezvousGCThreads",
    "collection",
];

/// Returns true if an operation of the JVM is a collection.
pub fn is_collection(operation: &str) -> bool {
    debug_assert_eq!(COLLECTION, COLLECTIONS[13].as_bytes());
    COLLECTIONS.iter().any(|start| operation.starts_with(start))
}
