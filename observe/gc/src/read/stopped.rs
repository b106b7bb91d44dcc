//! Stops of all threads, and ages of objects, in lines that JDK 8 and unified logging write alike.

use crate::model::log::Log;
use crate::scan::{Scan, after};

/// Adds a stop of all threads as JDK 8 to 12 write it. Returns false for other lines.
pub(crate) fn stopped(text: &[u8], is_collection: bool, log: &mut Log) -> bool {
    let Some(rest) = text.strip_prefix(b"Total time for which application threads were stopped: ") else {
        return text.starts_with(b"Application time: ");
    };
    let mut scan = Scan(rest);
    let Some(total) = scan.number() else {
        log.damaged += 1;
        return true;
    };
    let operation: &[u8] = if is_collection { COLLECTION } else { b"operations that the log does not name" };
    let safepoints = log.safepoints.entry(operation);
    safepoints.total.add(total * 1000.0);
    if let Some(reaching) = after(scan.0, b"Stopping threads took: ").and_then(|rest| Scan(rest).number()) {
        safepoints.reaching.add(reaching * 1000.0);
    }
    true
}

/// Operation of a stop that held a pause of the collector.
pub(crate) const COLLECTION: &[u8] = b"collection";

/// Adds a row of an age table: `- age   1:    6358968 bytes,    6358968 total`. Returns false for other lines.
pub(crate) fn age(text: &[u8], log: &mut Log) -> bool {
    let Some(rest) = text.strip_prefix(b"- age") else { return false };
    let mut scan = Scan(rest);
    let age = scan.spaces().integer();
    let bytes = age.filter(|_| scan.eat(b":")).and_then(|_| scan.spaces().integer());
    if let (Some(age), Some(bytes)) = (age, bytes) {
        log.add_age(age, bytes);
    }
    true
}
