//! Trace of a simulation: the last operations to read, and a hash of all to compare runs.

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;

use crate::env::faulty::{Operation, Place};

/// Operations that are kept for reading.
const KEPT: usize = 400;

/// One operation and its outcome.
#[derive(Clone, Debug)]
pub struct Event {
    /// Number of the operation, from 1.
    pub number: u64,
    pub thread: usize,
    pub now_ns: u64,
    pub operation: Operation,
    pub place: Place,
    pub path: PathBuf,
    pub offset: u64,
    pub len: u64,
    /// A number of the result (bytes, length, entries), or the errno.
    pub result: Result<u64, i32>,
    /// Trouble that struck, if one did.
    pub trouble: &'static str,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Event { number, thread, now_ns, operation, place, path, offset, len, result, trouble } = self;
        write!(f, "{number:6} {:12.3} ms  thread {thread}  {operation:?} {place:?} ", *now_ns as f64 / 1e6)?;
        write!(f, "{} {offset}+{len}: ", path.display())?;
        match result {
            Ok(n) => write!(f, "{n}")?,
            Err(errno) => write!(f, "{}", std::io::Error::from_raw_os_error(*errno))?,
        }
        if trouble.is_empty() { Ok(()) } else { write!(f, "  <- {trouble}") }
    }
}

/// All operations so far.
#[derive(Default)]
pub struct Trace {
    hash: u64,
    kept: VecDeque<Event>,
}

impl Trace {
    /// Adds an operation.
    pub fn add(&mut self, event: Event) {
        let result = event.result.unwrap_or_else(|errno| u64::MAX - errno as u64);
        let place = (event.operation as u64) << 8 | event.place as u64;
        let numbers = [event.thread as u64, event.now_ns, place, event.offset, event.len, result];
        for n in numbers {
            self.mix(n);
        }
        for bytes in event.path.as_os_str().as_encoded_bytes().chunks(8) {
            self.mix(bytes.iter().fold(0, |n, &b| n << 8 | u64::from(b)));
        }
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(event);
    }

    fn mix(&mut self, n: u64) {
        self.hash = (self.hash.rotate_left(5) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// Returns a hash of all operations: threads, times, names, places and results.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Returns the last operations as lines.
    pub fn lines(&self) -> Vec<String> {
        self.kept.iter().map(Event::to_string).collect()
    }
}
