//! Parser of a log, line by line; both forms of lines may stand in one log.

use super::legacy::Legacy;
use super::unified::{Decorated, Unified, decorations};
use crate::model::log::Log;

/// Parser of a log.
#[derive(Default)]
pub struct Parser {
    unified: Unified,
    legacy: Legacy,
    log: Log,
}

/// Brackets of other output that may stand before a line of the log.
const OUTPUT_BRACKETS_MAX: usize = 8;
/// Starts of lines of JDK 8 that look like decorations.
const LEGACY_STARTS: [&[u8]; 7] =
    [b"[GC", b"[Full GC", b"[CMS-", b"[Times:", b"[Pause ", b"[Concurrent ", b"[Unloading "];

impl Parser {
    /// Takes a line without its end.
    pub fn line(&mut self, line: &[u8]) {
        self.log.lines += 1;
        let mut line = line.strip_suffix(b"\r").unwrap_or(line);
        // A file that was emptied while the JVM wrote it goes on with zeros.
        while let [0, rest @ ..] = line {
            line = rest;
        }
        if line.trim_ascii().is_empty() {
            return;
        }
        let is_known = self.take(line) || self.take_behind_other_output(line);
        self.log.foreign += u64::from(!is_known);
    }

    fn take(&mut self, line: &[u8]) -> bool {
        match line.first() {
            // A record of JDK 8 may go on with a bracket.
            Some(b'[') if !self.legacy.is_open() && !LEGACY_STARTS.iter().any(|start| line.starts_with(start)) => {
                // Details of G1 in JDK 8 are indented, unless another program has removed spaces.
                decorations(line).is_some_and(|decorated| self.take_decorated(&decorated))
                    || self.legacy.line(line, &mut self.log)
            }
            Some(b'G') if line.starts_with(b"GC(") => {
                let time = self.log.now_s();
                self.unified.message(line, b"", time, &mut self.log);
                true
            }
            _ => self.legacy.line(line, &mut self.log) || self.unified.other(line, &mut self.log),
        }
    }

    fn take_decorated(&mut self, line: &Decorated) -> bool {
        if line.tags.is_empty() && !line.message.starts_with(b"GC(") {
            // A time alone may be of another program's line, and must not move the clock.
            let is_known = self.unified.other(line.message, &mut self.log);
            if is_known {
                self.log.advance(&line.stamp);
            }
            return is_known;
        }
        let time = self.log.advance(&line.stamp);
        if line.stamp.is_empty() && line.message.starts_with(b"[") {
            return false;
        }
        self.unified.message(line.message, line.tags, time, &mut self.log);
        true
    }

    /// Takes a line of unified logging behind output without an end of line, or behind a prefix such as a container's
    /// name: `app-1  | [1.5s][info][gc] GC(0) Pause Remark 1.0ms`.
    fn take_behind_other_output(&mut self, line: &[u8]) -> bool {
        let found = memchr::memchr_iter(b'[', line).filter(|at| *at > 0).take(OUTPUT_BRACKETS_MAX).find_map(|at| {
            let decorated = decorations(&line[at..])?;
            let is_ours = [&b"gc"[..], b"safepoint"].iter().any(|tag| decorated.tags.starts_with(tag))
                || decorated.message.starts_with(b"GC(");
            (is_ours && !decorated.message.starts_with(b"[")).then_some(decorated)
        });
        found.is_some_and(|decorated| self.take_decorated(&decorated))
    }

    /// Returns the log.
    pub fn finish(mut self) -> Log {
        self.legacy.finish(&mut self.log);
        self.log
    }
}
