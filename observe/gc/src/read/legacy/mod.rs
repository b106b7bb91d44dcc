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
use crate::scan::{Scan, after, bracket, find, is_address_range, split_milliseconds, split_number};

/// Longest stamps in bytes: a date, an uptime and a number.
const STAMP_BYTES_MAX: usize = 60;
/// Longest record in bytes.
const RECORD_BYTES_MAX: usize = 64 << 10;

/// Parser of lines.
#[derive(Default)]
pub struct Legacy {
    /// Record that goes on in the next line.
    open: Vec<u8>,
    /// Start of this record.
    open_s: f64,
    /// Buffer for parts of a record.
    top: Vec<u8>,
    depth: usize,
    /// The record holds another one.
    is_nested: bool,
    /// A class histogram is under way outside of records.
    has_histogram: bool,
    has_paused: bool,
}

impl Legacy {
    /// Returns true if a record goes on in the next line.
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Takes a line. Returns false if it is no line of a JVM's log.
    pub fn line(&mut self, line: &[u8], log: &mut Log) -> bool {
        let (mut rest, mut is_known) = (line, false);
        loop {
            let (is_part_known, next) = self.part(rest, log);
            is_known |= is_part_known;
            // Where ends of lines are lost, a record begins behind another.
            match next.trim_ascii() {
                next if next.is_empty() || next.len() >= rest.len() => return is_known,
                next => rest = next,
            }
        }
    }

    /// Takes a line up to the end of a record. Returns false if it is of no known form, and what follows the record.
    fn part<'a>(&mut self, line: &'a [u8], log: &mut Log) -> (bool, &'a [u8]) {
        let mut scan = Scan(line);
        let stamp = stamp(&mut scan);
        let text = scan.spaces().0;
        let begins = begins(text);
        if !self.open.is_empty() {
            if begins && text.starts_with(b"[GC concurrent-") {
                let is_known = record::concurrent(&text[1..], log);
                let rest = bracket(text, b'[', b']').map_or(&text[..0], |(_, rest)| rest);
                return (is_known, if rest.trim_ascii().is_empty() { rest } else { self.go_on(rest, log) });
            }
            if begins && !self.is_nested && is_remark(&self.open) && is_within_remark(text) {
                self.is_nested = true;
                return (true, self.go_on(text, log));
            }
            if begins && !stamp.is_empty() {
                // The record before it is cut.
                log.damaged += 1;
                self.open.clear();
            } else {
                return (true, self.go_on(line, log));
            }
        }
        if !stamp.is_empty() {
            self.open_s = log.advance(&stamp);
        } else if begins {
            self.open_s = log.now_s();
        }
        if begins {
            (self.depth, self.is_nested) = (0, false);
            return (true, self.go_on(text, log));
        }
        if let Some(at) = begin_within(text) {
            // Other output has no end of its line.
            return (true, &text[at..]);
        }
        if matches!(text.first(), Some(b':' | b',')) && find(text, b" secs]").is_some() {
            // A class histogram outside of records ends so too.
            return if std::mem::take(&mut self.has_histogram) {
                (true, b"")
            } else {
                (true, self.end_without_begin(text, log))
            };
        }
        self.has_histogram |= text.starts_with(b"[Class Histogram");
        let is_known = match text.first() {
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
            Some(b'-') => age(text, log) || header::take(text, log),
            Some(b'C') if text.starts_with(b"CMS: abort preclean") => {
                after(text, b": [CMS").is_none_or(|_| record::concurrent(after(text, b"[").unwrap_or_default(), log))
            }
            _ => header::take(text, log) || !stamp.is_empty(),
        };
        (is_known, b"")
    }

    /// Adds a line to the record, and ends the record where its brackets close. Returns what follows it.
    fn go_on<'a>(&mut self, text: &'a [u8], log: &mut Log) -> &'a [u8] {
        if header::is_histogram_row(text) {
            // Names of arrays have brackets.
            return b"";
        }
        for at in memchr::memchr2_iter(b'[', b']', text) {
            match text[at] {
                b'[' if is_address_range(&text[at..]) => continue,
                b'[' => self.depth += 1,
                _ => self.depth = self.depth.saturating_sub(1),
            }
            if self.depth == 0 {
                self.open.extend_from_slice(&text[..=at]);
                let record = std::mem::take(&mut self.open);
                self.end(&record, log);
                self.open = record;
                self.open.clear();
                return details(&text[at + 1..], log);
            }
        }
        self.open.extend_from_slice(text);
        self.open.push(b' ');
        if self.open.len() > RECORD_BYTES_MAX {
            log.damaged += 1;
            self.open.clear();
        }
        b""
    }

    /// Takes the end of a record whose begin is lost, with the log's blocks that held it.
    fn end_without_begin<'a>(&mut self, text: &'a [u8], log: &mut Log) -> &'a [u8] {
        log.damaged += 1;
        let (mut depth, mut lowest) = (0i32, 0);
        for at in memchr::memchr2_iter(b'[', b']', text) {
            depth += if text[at] == b'[' { 1 } else { -1 };
            lowest = lowest.min(depth);
        }
        (self.depth, self.is_nested) = (0, false);
        self.go_on(b"[GC ", log);
        for _ in 1..-lowest {
            self.go_on(b"[", log);
        }
        self.go_on(text, log)
    }

    fn end(&mut self, record: &[u8], log: &mut Log) {
        if record.starts_with(b"[GC concurrent-") {
            record::concurrent(&record[1..], log);
        } else if record::pause(record, self.open_s, &mut self.top, log) {
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

/// Returns true for the first line of a record; details of G1 have threads of the collector.
fn begins(text: &[u8]) -> bool {
    text.starts_with(b"[GC") && !text.starts_with(b"[GC Worker") || text.starts_with(b"[Full GC")
}

/// Returns true for a record that is a remark of CMS.
fn is_remark(record: &[u8]) -> bool {
    record.starts_with(b"[GC (CMS Final Remark)") || find(record, b"YG occupancy").is_some()
}

/// Returns true for a young collection within a remark (-XX:+CMSScavengeBeforeRemark), whose time the remark's holds.
fn is_within_remark(text: &[u8]) -> bool {
    text.starts_with(b"[GC (CMS Final Remark)") || text.starts_with(b"[GC") && !text.starts_with(b"[GC (")
}

/// Returns where a whole record begins behind other output, with its stamps.
fn begin_within(text: &[u8]) -> Option<usize> {
    let at = memchr::memchr_iter(b'G', text).filter(|at| text[*at..].starts_with(b"GC")).find_map(|at| {
        let bracket = at.checked_sub(if text[..at].ends_with(b"[Full ") { 6 } else { 1 })?;
        let is_record =
            text[bracket] == b'[' && begins(&text[bracket..]) && memchr::memchr(b'K', &text[at..]).is_some();
        (is_record && !text[at..].starts_with(b"GC concurrent-")).then_some(bracket)
    })?;
    find(&text[at..], b" secs]")?;
    let of_stamp = |c: &u8| matches!(c, b'0'..=b'9' | b'.' | b',' | b':' | b'T' | b'Z' | b'+' | b'-' | b' ');
    let length = text[..at].iter().rev().take(STAMP_BYTES_MAX).take_while(|c| of_stamp(c)).count();
    let begin = (at - length..at).find(|begin| {
        let mut scan = Scan(&text[*begin..at]);
        !stamp(&mut scan).is_empty() && scan.spaces().0.is_empty()
    });
    Some(begin.unwrap_or(at))
}

/// Takes what stands behind a record in its line. Returns what follows.
fn details<'a>(text: &'a [u8], log: &mut Log) -> &'a [u8] {
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        let Some((_, next)) = bracket(rest.strip_prefix(b", ").unwrap_or(rest), b'[', b']') else { return rest };
        match () {
            () if rest.starts_with(b"[Times:") => _ = times(rest, log),
            () if rest.starts_with(b"[Eden:") => _ = g1_spaces(rest, log),
            () if begins(rest) => return rest,
            () => {}
        }
        rest = next;
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
    let found = if let Some(at) = find(text, b" (ms):") {
        let ms = after(text, b"Avg:").and_then(|rest| Scan(rest).spaces().number());
        ms.map(|ms| (&text[1..at], ms))
    } else {
        split_milliseconds(inside).or_else(|| split_number(inside.strip_suffix(b" ms")?))
    };
    if let Some((name, ms)) = found.filter(|(name, _)| !name.is_empty()) {
        log.phases.entry(name.trim_ascii_end().strip_suffix(b":").unwrap_or(name)).add(ms);
        return true;
    }
    false
}
