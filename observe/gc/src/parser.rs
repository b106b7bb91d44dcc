//! Parser of a log, line by line; both forms of lines may stand in one log.

use crate::legacy::Legacy;
use crate::log::Log;
use crate::scan::after;
use crate::unified::{Unified, decorations};

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
            Some(b'[') if !LEGACY_STARTS.iter().any(|start| line.starts_with(start)) => match decorations(line) {
                Some(decorated) => {
                    let time = self.log.advance(&decorated.stamp);
                    self.unified.message(decorated.message, decorated.tags, time, &mut self.log);
                    true
                }
                None => false,
            },
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

/// Adds a stop of all threads as JDK 8 to 12 write it. Returns false for other lines.
pub(crate) fn stopped(text: &[u8], is_collection: bool, log: &mut Log) -> bool {
    let Some(rest) = text.strip_prefix(b"Total time for which application threads were stopped: ") else {
        return text.starts_with(b"Application time: ");
    };
    let mut scan = crate::scan::Scan(rest);
    let Some(total) = scan.number() else {
        log.damaged += 1;
        return true;
    };
    let operation: &[u8] = if is_collection { COLLECTION } else { b"operations that the log does not name" };
    let safepoints = log.safepoints.entry(operation);
    safepoints.total.add(total * 1000.0);
    if let Some(reaching) = after(scan.0, b"Stopping threads took: ").and_then(|rest| crate::scan::Scan(rest).number())
    {
        safepoints.reaching.add(reaching * 1000.0);
    }
    true
}

/// Operation of a stop that held a pause of the collector.
pub(crate) const COLLECTION: &[u8] = b"collection";

/// Adds a row of an age table: `- age   1:    6358968 bytes,    6358968 total`. Returns false for other lines.
pub(crate) fn age(text: &[u8], log: &mut Log) -> bool {
    let Some(rest) = text.strip_prefix(b"- age") else { return false };
    let mut scan = crate::scan::Scan(rest);
    let age = scan.spaces().integer();
    let bytes = age.filter(|_| scan.eat(b":")).and_then(|_| scan.spaces().integer());
    if let (Some(age), Some(bytes)) = (age, bytes) {
        log.add_age(age, bytes);
    }
    true
}
