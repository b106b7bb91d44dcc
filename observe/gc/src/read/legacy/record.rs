//! Records of JDK 8: one pause, or the end of a phase beside the program.

use crate::model::collector::Collector;
use crate::model::event::{Change, Kind, Space};
use crate::model::log::{Log, Pause, blank};
use crate::scan::{Scan, after, bracket, find, is_address_range, split_milliseconds, split_number};

/// Names of spaces at the starts of inner brackets.
const SPACES: [(&[u8], Space, Option<Collector>); 12] = [
    (b"PSYoungGen", Space::Young, Some(Collector::Parallel)),
    (b"DefNew", Space::Young, Some(Collector::Serial)),
    (b"ParNew", Space::Young, None),
    (b"ParOldGen", Space::Old, Some(Collector::Parallel)),
    (b"PSOldGen", Space::Old, Some(Collector::Parallel)),
    (b"Tenured", Space::Old, Some(Collector::Serial)),
    (b"CMS Perm ", Space::Metaspace, Some(Collector::Cms)),
    (b"CMS", Space::Old, Some(Collector::Cms)),
    (b"Metaspace", Space::Metaspace, None),
    (b"PSPermGen", Space::Metaspace, None),
    (b"Perm ", Space::Metaspace, None),
    (b"1 CMS-", Space::Old, Some(Collector::Cms)),
];

/// Takes a change with the forms of all collectors: `65K->10K(76K)`, `24.0M(24.0M)->0.0B(13.0M)`, `0.0B->3072.0K`.
pub fn change(scan: &mut Scan) -> Option<Change> {
    let size = |scan: &mut Scan| -> Option<u64> {
        let mut inside = *scan;
        if !inside.eat(b"(") {
            return None;
        }
        let total = inside.size().filter(|_| inside.eat(b")"))?;
        *scan = inside;
        Some(total)
    };
    let before = scan.size()?;
    size(scan);
    if !scan.eat(b"->") {
        return None;
    }
    let after = scan.size()?;
    Some(Change { before, after, total: size(scan).unwrap_or(0) })
}

/// Words in parentheses and brackets of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Words {
    is_mark_start: bool,
    is_remark: bool,
    is_mixed: bool,
    has_failed: bool,
    has_lost: bool,
    is_exhausted: bool,
}

impl Words {
    /// Takes the text from a parenthesis or bracket on.
    fn take(&mut self, text: &[u8]) {
        let starts = |word: &[u8]| text.starts_with(word);
        match text.get(1) {
            Some(b'C') if starts(b"(CMS Initial Mark)") => self.is_mark_start = true,
            Some(b'C') if starts(b"(CMS Final Remark)") => self.is_remark = true,
            Some(b'i') if starts(b"(initial-mark)") => self.is_mark_start = true,
            Some(b'1') if starts(b"[1 CMS-initial-mark") => self.is_mark_start = true,
            Some(b'1') if starts(b"[1 CMS-remark") => self.is_remark = true,
            Some(b'm') if starts(b"(mixed)") => self.is_mixed = true,
            Some(b'p') if starts(b"(partial)") => self.is_mixed = true,
            Some(b'p') if starts(b"(promotion failed)") => self.is_exhausted = true,
            Some(b't') if starts(b"(to-space") => self.is_exhausted = true,
            Some(b'c') if starts(b"(concurrent mode failure)") => (self.has_failed, self.has_lost) = (true, true),
            Some(b'c') if starts(b"(concurrent mode interrupted)") => self.has_failed = true,
            _ => {}
        }
    }
}

/// Parts of a record.
#[derive(Default)]
struct Parts {
    words: Words,
    spaces: [Change; Space::ALL.len()],
}

/// Takes a record `[GC (Cause) .. 65K->14K(251K), 0.0129 secs]` that begins at `start_s`. Returns false if it is none.
///
/// @param top buffer for the text outside inner brackets
pub fn pause(record: &[u8], start_s: f64, top: &mut Vec<u8>, log: &mut Log) -> bool {
    let Some(inside) = record.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")) else { return false };
    let Some(seconds) = seconds(inside) else { return false };
    let mut event = blank();
    let Parts { words, spaces } = parts(inside, top, log);
    event.heap = last_change(top).unwrap_or_default();
    event.spaces = spaces;
    let is_full = inside.starts_with(b"Full GC");
    let has_old = event.space(Space::Old).is_known() && event.space(Space::Old).after > 0;
    let mut kind = match () {
        () if is_full => Kind::Full,
        () if words.is_mark_start => Kind::ConcurrentStart,
        () if words.is_remark || inside.starts_with(b"GC remark") => Kind::Remark,
        () if inside.starts_with(b"GC cleanup") => Kind::Cleanup,
        () if words.is_mixed => Kind::Mixed,
        // A young collection that went on with the old generation.
        () if has_old => Kind::Full,
        () => Kind::Young,
    };
    if words.has_failed {
        kind = Kind::Full;
        log.lost_cycles += u64::from(words.has_lost);
    }
    event.is_exhausted = words.is_exhausted || inside.starts_with(b"GC--");
    if inside.starts_with(b"GC pause") || inside.starts_with(b"GC remark") || inside.starts_with(b"GC cleanup") {
        log.collector.get_or_insert(Collector::G1);
    }
    let cause = cause(top).unwrap_or(match kind {
        Kind::Full if find(top, b"(System)").is_some() => b"System.gc()",
        Kind::Remark | Kind::ConcurrentStart | Kind::Cleanup => b"concurrent cycle",
        _ => b"not named",
    });
    let pause_ms = seconds * 1000.0;
    log.add(Pause { kind, cause, pause_ms, is_stamped_at_start: true, event, phases: &[] }, start_s);
    true
}

/// Returns the duration at the end of a record: `.., 0.0129 secs`.
fn seconds(text: &[u8]) -> Option<f64> {
    // Durations of inner brackets stand before it.
    let text = text.trim_ascii_end();
    let text = text.strip_suffix(b"secs").or(text.strip_suffix(b"sec"))?.trim_ascii_end();
    // With a comma as the decimal point the number begins after the separator and a space.
    split_number(text).map(|(_, seconds)| seconds).filter(|seconds| *seconds < 1e6)
}

/// Returns the parts of a record; its text outside inner brackets goes to `top`, its collector to the log.
fn parts(text: &[u8], top: &mut Vec<u8>, log: &mut Log) -> Parts {
    let (mut parts, mut depth, mut from) = (Parts::default(), 0usize, 0);
    top.clear();
    for at in memchr::memchr3_iter(b'[', b']', b'(', text) {
        match text[at] {
            b'(' => parts.words.take(&text[at..]),
            b'[' if is_address_range(&text[at..]) => {}
            b'[' => {
                if depth == 0 {
                    top.extend_from_slice(&text[from..at]);
                }
                depth += 1;
                parts.words.take(&text[at..]);
                space(&text[at + 1..], &mut parts.spaces, log);
            }
            _ => {
                depth = depth.saturating_sub(1);
                from = at + 1;
            }
        }
    }
    if depth == 0 {
        top.extend_from_slice(&text[from..]);
    }
    parts
}

/// Returns the last change of a text.
fn last_change(text: &[u8]) -> Option<Change> {
    let at = memchr::memrchr_iter(b'>', text).find(|at| text[..*at].ends_with(b"-"))?;
    change_around(text, at - 1)
}

/// Returns the change whose arrow is at `at`.
fn change_around(text: &[u8], at: usize) -> Option<Change> {
    let mut start = at;
    // `24.0M(24.0M)->..`: the size of the space stands before the arrow.
    while start > 0
        && matches!(text[start - 1], b'0'..=b'9' | b'.' | b',' | b'(' | b')' | b'K' | b'M' | b'G' | b'B' | b'T')
    {
        start -= 1;
    }
    let start = start + text[start..at].iter().take_while(|c| !c.is_ascii_digit()).count();
    change(&mut Scan(&text[start..]))
}

/// Returns the cause: the first parenthesis that is none of G1's kinds.
fn cause(top: &[u8]) -> Option<&[u8]> {
    let mut rest = &top[memchr::memchr(b'(', top)?..];
    // Sizes have parentheses too, but no space before them.
    if !top[..top.len() - rest.len()].ends_with(b" ") {
        return None;
    }
    while let Some((content, next)) = bracket(rest, b'(', b')') {
        match content {
            b"young" | b"mixed" | b"partial" | b"initial-mark" => {}
            _ if content.starts_with(b"to-space") => {}
            b"System" => return Some(b"System.gc()"),
            _ if content.first().is_some_and(u8::is_ascii_digit) => return None,
            _ => return Some(content),
        }
        rest = next.trim_ascii_start();
    }
    None
}

/// Takes the space of an inner bracket, without its begin.
fn space(inner: &[u8], spaces: &mut [Change; Space::ALL.len()], log: &mut Log) {
    let Some(first) = inner.first() else { return };
    let is_name = |name: &[u8]| name[0] == *first && inner.starts_with(name);
    let Some((name, space, collector)) = SPACES.iter().find(|(name, ..)| is_name(name)) else { return };
    if log.collector.is_none() || *collector == Some(Collector::Cms) {
        log.collector = collector.or(log.collector);
    }
    // Other output may stand between the name and the sizes, but no bracket ends.
    let end = memchr::memchr(b']', inner).unwrap_or(inner.len());
    let Some(change) = last_change(&inner[name.len()..end]) else { return };
    let known = &mut spaces[*space as usize];
    if !known.is_known() {
        *known = change;
    }
}

/// Takes the end of a phase beside the program, without its first bracket: `CMS-concurrent-mark: 0.035/0.040 secs]`,
/// `GC concurrent-mark-end, 0.0298 secs]`, `Concurrent marking 12M->13M(50M), 1.2 ms]`.
pub fn concurrent(text: &[u8], log: &mut Log) -> bool {
    let inside = text.split(|c| *c == b']').next().unwrap_or_default();
    if let Some((head, ms)) = split_milliseconds(inside) {
        let name = head.split(|c| c.is_ascii_digit() || matches!(c, b',' | b'(')).next().unwrap_or_default();
        log.concurrent.entry(name.trim_ascii()).add(ms);
        if let Some(change) = last_change(head) {
            log.heap.add_concurrent(change.before, change.after);
        }
        return true;
    }
    if inside.starts_with(b"GC concurrent-mark-abort") {
        log.lost_cycles += 1;
    }
    let Some(seconds) = seconds(inside) else { return true };
    let name = inside.split(|c| matches!(c, b':' | b',')).next().unwrap_or_default();
    let name = name.strip_suffix(b"-end").unwrap_or(name);
    // The first number is processor time, the second is time.
    log.concurrent.entry(name).add(seconds * 1000.0);
    true
}

/// Takes a pause of Shenandoah for JDK 8: `[Pause Final Mark 10M->10M(50M), 1.234 ms]`.
pub fn shenandoah(text: &[u8], start_s: f64, log: &mut Log) -> bool {
    let Some(inside) = after(text, b"[Pause ").and_then(|rest| rest.split(|c| *c == b']').next()) else { return false };
    log.collector.get_or_insert(Collector::Shenandoah);
    let Some((head, pause_ms)) = split_milliseconds(inside) else { return true };
    let kind = match head {
        _ if head.starts_with(b"Init Mark") => Kind::MarkStart,
        _ if head.starts_with(b"Final Mark") => Kind::MarkEnd,
        _ if head.starts_with(b"Init Update") => Kind::UpdateStart,
        _ if head.starts_with(b"Final Update") => Kind::UpdateEnd,
        _ if head.starts_with(b"Full") => Kind::Full,
        _ if head.starts_with(b"Degenerated") => Kind::Degenerated,
        _ => Kind::Other,
    };
    let mut event = blank();
    event.heap = last_change(head).unwrap_or_default();
    let cause: &[u8] = b"concurrent cycle";
    log.add(Pause { kind, cause, pause_ms, is_stamped_at_start: true, event, phases: &[] }, start_s);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_records_are_found() {
        assert_eq!(seconds(b"GC 1K->1K(2K), 0.0129 secs"), Some(0.0129));
        assert_eq!(seconds(b"GC 1K->1K(2K), 0,0129 secs"), Some(0.0129));
        assert_eq!(seconds(b"CMS-concurrent-mark: 0.035/0.250 secs"), Some(0.25));
        assert_eq!(seconds(b"GC 1K->1K(2K)"), None);
        let (mut top, mut log) = (b"old".to_vec(), Log::default());
        parts(b"GC [a [b]] c [d]", &mut top, &mut log);
        assert_eq!(top, b"GC  c ");
        let text = b"GC (promotion failed) [1 CMS-remark: 1K(2K)] (concurrent mode failure)";
        let words = parts(text, &mut top, &mut log).words;
        assert!(words.is_exhausted && words.is_remark && words.has_lost && words.has_failed && !words.is_mixed);
        assert_eq!(cause(b"GC pause (G1 Evacuation Pause) (young)"), Some(&b"G1 Evacuation Pause"[..]));
        assert_eq!(cause(b"GC pause (young) (System.gc())"), Some(&b"System.gc()"[..]));
        assert_eq!(cause(b"GC  65K->14K(251K), 0.0129 secs"), None);
        let k = |before: u64, after: u64, total: u64| {
            Some(Change { before: before << 10, after: after << 10, total: total << 10 })
        };
        assert_eq!(last_change(b": 1K->2K(3K), 4K(5K)->6K(7K), 0.1 secs"), k(4, 6, 7));
        assert_eq!(last_change(b"->"), None);
    }
}
