//! Parser of a log, line by line; both forms of lines may stand in one log.

use super::legacy::Legacy;
use super::unified::{Unified, decorations};
use crate::model::log::Log;

/// Parser of a log.
#[derive(Default)]
pub struct Parser {
    unified: Unified,
    legacy: Legacy,
    log: Log,
}

/// Starts of lines of JDK 8 that look like decorations.
const LEGACY_STARTS: [&[u8]; 7] =
    [b"[GC", b"[Full GC", b"[CMS-", b"[Times:", b"[Pause ", b"[Concurrent ", b"[Unloading "];

impl Parser {
    /// Takes a line without its end.
    pub fn line(&mut self, line: &[u8]) {
        self.log.lines += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return;
        }
        let is_known = match line.first() {
            // A record of JDK 8 may go on with a bracket.
            Some(b'[') if !self.legacy.is_open() && !LEGACY_STARTS.iter().any(|start| line.starts_with(start)) => {
                match decorations(line) {
                    Some(decorated) => {
                        let time = self.log.advance(&decorated.stamp);
                        self.unified.message(decorated.message, decorated.tags, time, &mut self.log);
                        true
                    }
                    None => false,
                }
            }
            Some(b'G') if line.starts_with(b"GC(") => {
                let time = self.log.now_s();
                self.unified.message(line, b"", time, &mut self.log);
                true
            }
            _ => self.legacy.line(line, &mut self.log) || self.unified.other(line, &mut self.log),
        };
        self.log.foreign += u64::from(!is_known);
    }

    /// Returns the log.
    pub fn finish(mut self) -> Log {
        self.legacy.finish(&mut self.log);
        self.log
    }
}
