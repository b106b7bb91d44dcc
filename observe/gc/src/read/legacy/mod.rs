//! Lines of JDK 8 and earlier: `-XX:+PrintGC`, `-XX:+PrintGCDetails`, with and without date stamps.
//!
//! ```text
//!   2015-05-26T14:45:37.987-0200: 151.126: [GC (Allocation Failure) [PSYoungGen: 65K->10K(76K)] 65K->14K(251K), ..]
//!   `--- date ------------------' `uptime'  `--- record, brackets in brackets ------------------------------------'
//! ```
//!
//! Other output may break a record into several lines; it ends where its brackets close.

mod header;
mod record;

use crate::model::event::{Change, Cpu, Space};
use crate::model::log::Log;
use crate::read::stopped::{age, stopped};
use crate::scan::stamp::{Stamp, date};
use crate::scan::{Scan, after, is_address_range, split_milliseconds, split_number};

/// Longest record in bytes.
const RECORD_BYTES_MAX: usize = 64 << 10;

/// Parser of lines.
#[derive(Default)]
pub struct Legacy {
    /// Record that goes on in the next line.
    open: Vec<u8>,
    /// Start of this record.
    open_s: f64,
    depth: usize,
    has_paused: bool,
}

impl Legacy {
    /// Returns true if a record goes on in the next line.
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Takes a line. Returns false if it is no line of a JVM's log.
    pub fn line(&mut self, line: &[u8], log: &mut Log) -> bool {
        let mut scan = Scan(line);
        let stamp = stamp(&mut scan);
        let text = scan.spaces().0;
        // Details of G1 have threads of the collector.
        let begins = text.starts_with(b"[GC") && !text.starts_with(b"[GC Worker") || text.starts_with(b"[Full GC");
        if !self.open.is_empty() {
            if begins && text.starts_with(b"[GC concurrent-") {
                return record::concurrent(&text[1..], log);
            }
            if begins && memchr::memmem::find(&self.open, b"YG occupancy").is_some() {
                // A young collection within a remark (-XX:+CMSScavengeBeforeRemark); the remark's duration has its own.
                return true;
            }
            if begins && !stamp.is_empty() {
                // The record before it is cut.
                log.damaged += 1;
                self.open.clear();
            } else {
                self.go_on(line, log);
                return true;
            }
        }
        if !stamp.is_empty() {
            self.open_s = log.advance(&stamp);
        } else if begins {
            self.open_s = log.now_s();
        }
        match text.first() {
            Some(b'[') if begins => self.begin(text, log),
            Some(b'[') if text.starts_with(b"[CMS-concurrent-") => record::concurrent(&text[1..], log),
            Some(b'[') if text.starts_with(b"[Times:") => times(text, log),
            Some(b'[') if text.starts_with(b"[Eden:") => g1_spaces(text, log),
            Some(b'[') if text.starts_with(b"[Pause ") => record::shenandoah(text, self.open_s, log),
            Some(b'[') if text.starts_with(b"[Concurrent ") => record::concurrent(&text[1..], log),
            Some(b'[') => detail(text, log) || text.len() < line.len(),
            Some(b'T' | b'A') if stopped(text, self.has_paused, log) => {
                if text.starts_with(b"Total") {
                    self.has_paused = false;
                }
                true
            }
            Some(b'-') => age(text, log),
            _ => header::take(text, log) || !stamp.is_empty(),
        }
    }

    fn begin(&mut self, text: &[u8], log: &mut Log) -> bool {
        self.depth = 0;
        self.go_on(text, log);
        true
    }

    /// Adds a line to the record, and ends the record where its brackets close.
    fn go_on(&mut self, text: &[u8], log: &mut Log) {
        for (at, c) in text.iter().enumerate() {
            match c {
                b'[' if !is_address_range(&text[at..]) => self.depth += 1,
                b']' => self.depth = self.depth.saturating_sub(1),
                _ => continue,
            }
            if self.depth == 0 {
                self.open.extend_from_slice(&text[..=at]);
                let record = std::mem::take(&mut self.open);
                self.end(&record, log);
                self.open = record;
                self.open.clear();
                if let Some(rest) = after(&text[at + 1..], b"[Times:") {
                    times(rest, log);
                }
                return;
            }
        }
        self.open.extend_from_slice(text);
        self.open.push(b' ');
        if self.open.len() > RECORD_BYTES_MAX {
            log.damaged += 1;
            self.open.clear();
        }
    }

    fn end(&mut self, record: &[u8], log: &mut Log) {
        if record.starts_with(b"[GC concurrent-") {
            record::concurrent(&record[1..], log);
        } else if record::pause(record, self.open_s, log) {
            self.has_paused = true;
        } else {
            log.damaged += 1;
        }
    }

    /// Ends the log; a record that is open is cut.
    pub fn finish(&mut self, log: &mut Log) {
        log.damaged += u64::from(!self.open.is_empty());
        self.open.clear();
    }
}

/// Takes the stamps of a line: `2015-05-26T14:45:37.987-0200: 151.126: #7: `.
fn stamp(scan: &mut Scan) -> Stamp {
    let mut stamp = Stamp::default();
    if !scan.0.first().is_some_and(u8::is_ascii_digit) {
        return stamp;
    }
    let mut rest = *scan;
    if let Some(unix_s) = date(&mut rest)
        && rest.eat(b": ")
    {
        (stamp.unix_s, *scan) = (Some(unix_s), rest);
    }
    let mut rest = *scan;
    if let Some(uptime_s) = rest.number()
        && rest.eat(b": ")
    {
        (stamp.uptime_s, *scan) = (Some(uptime_s), rest);
    }
    let mut rest = *scan;
    if rest.eat(b"#") && rest.integer().is_some() && rest.eat(b": ") {
        *scan = rest;
    }
    stamp
}

/// Takes `[Times: user=0.06 sys=0.00, real=0.06 secs]`.
fn times(text: &[u8], log: &mut Log) -> bool {
    let value = |name: &[u8]| after(text, name).and_then(|rest| Scan(rest).number()).map(|s| s as f32);
    if let Some(((user, sys), real)) = value(b"user=").zip(value(b"sys=")).zip(value(b"real="))
        && let Some(event) = log.last().filter(|event| event.cpu.is_none())
    {
        event.cpu = Some(Cpu { user, sys, real });
    }
    true
}

/// Takes `[Eden: 24.0M(24.0M)->0.0B(13.0M) Survivors: 0.0B->3072.0K Heap: 24.0M(256.0M)->5.6M(256.0M)]`.
fn g1_spaces(text: &[u8], log: &mut Log) -> bool {
    let change = |name: &[u8]| after(text, name).and_then(|rest| record::change(Scan(rest).spaces()));
    let (eden, survivor, heap) = (change(b"Eden:"), change(b"Survivors:"), change(b"Heap:"));
    let Some(event) = log.last().filter(|event| !event.space(Space::Eden).is_known()) else { return true };
    if let Some(eden) = eden {
        event.spaces[Space::Eden as usize] = eden;
    }
    if let Some(survivor) = survivor {
        event.spaces[Space::Survivor as usize] = survivor;
    }
    if let Some(heap) = heap {
        let young = |change: Option<Change>, of: fn(&Change) -> u64| change.map_or(0, |c| of(&c));
        let old = |of: fn(&Change) -> u64| of(&heap).saturating_sub(young(eden, of) + young(survivor, of));
        event.spaces[Space::Old as usize] = Change { before: old(|c| c.before), after: old(|c| c.after), total: 0 };
        let is_new = !event.heap.is_known();
        event.heap = heap;
        let event = *event;
        if is_new {
            log.heap.add_pause(&event);
        }
    }
    true
}

/// Takes a detail of G1: `[Parallel Time: 10.3 ms, GC Workers: 4]`, `[Ref Proc: 0.2 ms]`,
/// `[Termination (ms): Min: 0.0, Avg: 0.1, ..`.
fn detail(text: &[u8], log: &mut Log) -> bool {
    if let Some(workers) = after(text, b"GC Workers: ").and_then(|rest| Scan(rest).integer()) {
        let workers = workers.min(u64::from(u16::MAX)) as u16;
        log.settings.workers = log.settings.workers.max(u32::from(workers));
        if let Some(event) = log.last() {
            event.workers = workers;
        }
    }
    let inside = text[1..].split(|c| *c == b']' || *c == b',').next().unwrap_or_default();
    let found = if let Some(at) = memchr::memmem::find(text, b" (ms):") {
        let ms = after(text, b"Avg:").and_then(|rest| Scan(rest).spaces().number());
        ms.map(|ms| (&text[1..at], ms))
    } else {
        split_milliseconds(inside).or_else(|| split_number(inside.strip_suffix(b" ms")?))
    };
    if let Some((name, ms)) = found {
        log.phases.entry(name.trim_ascii_end().strip_suffix(b":").unwrap_or(name)).add(ms);
        return true;
    }
    false
}
