//! Records of JDK 8: one pause, or the end of a phase beside the program.

use crate::model::collector::Collector;
use crate::model::event::{Change, Kind, Space};
use crate::model::log::{Log, Pause, blank};
use crate::scan::{Scan, after, bracket, is_address_range, split_milliseconds, split_number};

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

/// Takes a record `[GC (Cause) .. 65K->14K(251K), 0.0129 secs]` that begins at `start_s`. Returns false if it is none.
pub fn pause(record: &[u8], start_s: f64, log: &mut Log) -> bool {
    let Some((inside, _)) = bracket(record, b'[', b']') else { return false };
    let Some(seconds) = seconds(inside) else { return false };
    let mut event = blank();
    let top = top(inside);
    event.heap = last_change(&top).unwrap_or_default();
    let is_full = inside.starts_with(b"Full GC");
    spaces(inside, &mut event.spaces, log);
    let has = |word: &[u8]| memchr::memmem::find(inside, word).is_some();
    let has_old = event.space(Space::Old).is_known() && event.space(Space::Old).after > 0;
    let mut kind = match () {
        () if is_full => Kind::Full,
        () if has(b"CMS-initial-mark") || has(b"(CMS Initial Mark)") || has(b"(initial-mark)") => Kind::ConcurrentStart,
        () if has(b"CMS-remark") || has(b"(CMS Final Remark)") || inside.starts_with(b"GC remark") => Kind::Remark,
        () if inside.starts_with(b"GC cleanup") => Kind::Cleanup,
        () if has(b"(mixed)") || has(b"(partial)") => Kind::Mixed,
        // A young collection that went on with the old generation.
        () if has_old => Kind::Full,
        () => Kind::Young,
    };
    if has(b"concurrent mode failure") || has(b"concurrent mode interrupted") {
        kind = Kind::Full;
        log.lost_cycles += u64::from(has(b"concurrent mode failure"));
    }
    event.is_exhausted = has(b"promotion failed") || has(b"to-space") || inside.starts_with(b"GC--");
    if inside.starts_with(b"GC pause") || inside.starts_with(b"GC remark") || inside.starts_with(b"GC cleanup") {
        log.collector.get_or_insert(Collector::G1);
    }
    let cause = cause(&top).unwrap_or(match kind {
        Kind::Full if has(b"(System)") => b"System.gc()",
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

/// Returns what a record has outside inner brackets.
fn top(text: &[u8]) -> Vec<u8> {
    let mut depth = 0usize;
    let mut top = Vec::with_capacity(text.len().min(256));
    for (at, c) in text.iter().enumerate() {
        match c {
            b'[' if !is_address_range(&text[at..]) => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => top.push(*c),
            _ => {}
        }
    }
    top
}

/// Returns the last change of a text.
fn last_change(text: &[u8]) -> Option<Change> {
    let at = memchr::memmem::rfind(text, b"->")?;
    change_around(text, at)
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

/// Takes the spaces in inner brackets.
fn spaces(text: &[u8], spaces: &mut [Change; Space::ALL.len()], log: &mut Log) {
    for at in memchr::memchr_iter(b'[', text) {
        let inner = &text[at + 1..];
        let Some((name, space, collector)) = SPACES.iter().find(|(name, ..)| inner.starts_with(name)) else { continue };
        if log.collector.is_none() || *collector == Some(Collector::Cms) {
            log.collector = collector.or(log.collector);
        }
        // Other output may stand between the name and the sizes, but no bracket ends.
        let end = memchr::memchr(b']', inner).unwrap_or(inner.len());
        let Some(change) = last_change(&inner[name.len()..end]) else { continue };
        let known = &mut spaces[*space as usize];
        if !known.is_known() {
            *known = change;
        }
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
    if memchr::memmem::find(inside, b"-abort").is_some() && inside.starts_with(b"GC concurrent-mark-abort") {
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
        assert_eq!(top(b"GC [a [b]] c [d]"), b"GC  c ");
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
