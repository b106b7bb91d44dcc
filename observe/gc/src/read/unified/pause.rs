//! Pause of unified logging: `Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 1.234ms`.

use super::{Unified, space};
use crate::model::event::{Change, Kind};
use crate::model::log::{Log, Pause, blank};
use crate::scan::{bracket, find, split_milliseconds};

/// Name of a pause in its parts.
#[derive(Debug, PartialEq)]
struct Title<'a> {
    kind: Kind,
    cause: &'a [u8],
    is_exhausted: bool,
}

impl Unified {
    /// Takes the text after `Pause `. The line at its start has no duration.
    pub(super) fn pause(&mut self, number: u64, text: &[u8], time: f64, log: &mut Log) {
        let Some((head, pause_ms)) = split_milliseconds(text) else {
            // A line that begins a pause ends with its name.
            log.damaged += u64::from(find(text, b"->").is_some());
            self.pending.phases.clear();
            return;
        };
        let (head, heap) = space::split_change(space::without_times(head));
        let Title { kind, cause, is_exhausted } = title(head);
        let mut event = blank();
        event.number = number.min(u64::from(u32::MAX)) as u32;
        event.workers = std::mem::take(&mut self.pending.workers);
        event.is_exhausted = std::mem::take(&mut self.pending.is_exhausted) || is_exhausted;
        event.heap = heap.unwrap_or_default();
        event.spaces = std::mem::take(&mut self.pending.spaces);
        let regions = std::mem::take(&mut self.pending.regions);
        if regions.iter().any(Option::is_some) {
            if log.settings.region_bytes == 0 {
                log.settings.region_bytes = space::region_bytes(&regions, &event.heap).unwrap_or(0);
            }
            space::fill(&mut event.spaces, &regions, log.settings.region_bytes);
        }
        if event.heap == Change::default() && kind == Kind::MarkStart {
            self.cycles.begin_pause(number);
        }
        let cause = match cause {
            b"" => self.cycles.cause(number).unwrap_or(b"concurrent cycle"),
            cause => cause,
        };
        let phases = &self.pending.phases;
        log.add(Pause { kind, cause, pause_ms, is_stamped_at_start: false, event, phases }, time);
        self.pending.phases.clear();
        self.has_paused = true;
    }
}

/// Returns the kind and the cause of a name such as `Young (Normal) (G1 Evacuation Pause)`.
fn title(text: &[u8]) -> Title<'_> {
    let at = memchr::memchr(b'(', text).unwrap_or(text.len());
    let (name, mut rest) = (text[..at].trim_ascii(), &text[at..]);
    let mut kind = match name {
        b"Young" => Kind::Young,
        b"Mixed" => Kind::Mixed,
        b"Full" => Kind::Full,
        b"Initial Mark" => Kind::ConcurrentStart,
        b"Remark" => Kind::Remark,
        b"Cleanup" => Kind::Cleanup,
        b"Mark Start" | b"Init Mark" => Kind::MarkStart,
        b"Mark End" | b"Final Mark" => Kind::MarkEnd,
        b"Relocate Start" => Kind::RelocateStart,
        b"Init Update Refs" => Kind::UpdateStart,
        b"Final Update Refs" => Kind::UpdateEnd,
        b"Final Roots" => Kind::FinalRoots,
        name if name.starts_with(b"Degenerated") => Kind::Degenerated,
        _ => Kind::Other,
    };
    let (mut cause, mut is_exhausted) = (&text[..0], false);
    while let Some((content, next)) = bracket(rest, b'(', b')') {
        match content {
            b"Normal" => {}
            b"Concurrent Start" | b"Initial Mark" => kind = Kind::ConcurrentStart,
            b"Prepare Mixed" => kind = Kind::PrepareMixed,
            b"Mixed" => kind = Kind::Mixed,
            b"Promotion Failed" => is_exhausted = true,
            _ if content.starts_with(b"Evacuation Failure") => {
                // From JDK 22 on the reason follows; a pinned object is no lack of room.
                is_exhausted = !content.ends_with(b": Pinned");
            }
            // Of ZGC and Shenandoah: the cycle, or what it does besides. They are no causes.
            b"Major" | b"Minor" | b"process weakrefs" | b"unload classes" | b"Young" | b"Old" | b"Global"
            | b"Mixed " => {}
            content => cause = content,
        }
        rest = next.trim_ascii_start();
    }
    Title { kind, cause, is_exhausted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_have_a_kind_and_a_cause() {
        for (text, kind, cause, is_exhausted) in [
            ("Young (Normal) (G1 Evacuation Pause)", Kind::Young, "G1 Evacuation Pause", false),
            ("Young (Concurrent Start) (Metadata GC Threshold)", Kind::ConcurrentStart, "Metadata GC Threshold", false),
            ("Young (Mixed) (G1 Evacuation Pause) (Evacuation Failure)", Kind::Mixed, "G1 Evacuation Pause", true),
            ("Young (Normal) (System.gc()) (Evacuation Failure: Pinned)", Kind::Young, "System.gc()", false),
            ("Young (G1 Evacuation Pause)", Kind::Young, "G1 Evacuation Pause", false),
            ("Initial Mark (G1 Humongous Allocation)", Kind::ConcurrentStart, "G1 Humongous Allocation", false),
            ("Mark Start (Major)", Kind::MarkStart, "", false),
            ("Degenerated GC (Mark)", Kind::Degenerated, "Mark", false),
            ("Remark", Kind::Remark, "", false),
            ("Something (new", Kind::Other, "", false),
            ("", Kind::Other, "", false),
        ] {
            assert_eq!(title(text.as_bytes()), Title { kind, cause: cause.as_bytes(), is_exhausted }, "{text}");
        }
    }
}
