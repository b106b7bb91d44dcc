//! A call with its traced callees, assembled from records. The agent sends callees before their callers.

use std::collections::HashMap;

use crate::jvm::{Chunk, Record};

/// One call of a traced method, with the traced calls within it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    pub method: u32,
    pub begin_ns: i64,
    pub nanos: u64,
    pub has_thrown: bool,
    /// True if the call had not returned when the trace ended. `nanos` then counts up to that moment.
    pub is_running: bool,
    /// Arguments, and the result or the exception.
    pub texts: Option<(String, String)>,
    pub calls: Vec<Call>,
}

impl Call {
    fn of(record: Record, calls: Vec<Call>) -> Call {
        let Record { method, begin_ns, nanos, has_thrown, is_running, texts, .. } = record;
        Call { method, begin_ns, nanos, has_thrown, is_running, texts, calls }
    }

    /// Returns the nanoseconds spent outside its own traced callees.
    pub fn own_nanos(&self) -> u64 {
        self.nanos.saturating_sub(self.calls.iter().map(|call| call.nanos).sum())
    }

    /// Returns the number of calls in this tree, itself included.
    pub fn count(&self) -> usize {
        1 + self.calls.iter().map(Call::count).sum::<usize>()
    }
}

/// Calls of one thread whose callers have not ended.
#[derive(Debug, Default)]
struct Pending {
    name: Option<String>,
    calls: Vec<(u16, Call)>,
}

/// Calls kept for a caller that does not return. Beyond this the calls become outermost calls of their own.
const PENDING_MAX: usize = 1_000_000;

/// Pending calls of all threads, by the agent's thread number.
#[derive(Debug, Default)]
pub struct Threads {
    threads: HashMap<u64, Pending>,
}

impl Threads {
    /// Adds a thread's records. Passes each outermost call that has ended to `outermost`, with its thread's name.
    pub fn add(&mut self, chunk: Chunk, mut outermost: impl FnMut(&str, Call)) {
        let thread = self.threads.entry(chunk.thread).or_default();
        if chunk.name.is_some() {
            thread.name = chunk.name;
        }
        let name = thread.name.clone().unwrap_or_else(|| format!("thread {}", chunk.thread));
        for record in chunk.records {
            let depth = record.depth;
            // A call that began earlier belongs to a caller whose record is lost.
            let is_within = |(deep, call): &(u16, Call)| *deep > depth && call.begin_ns >= record.begin_ns;
            let from = thread.calls.iter().rposition(|it| !is_within(it)).map_or(0, |at| at + 1);
            let calls = thread.calls.drain(from..).map(|(_, call)| call).collect();
            thread.calls.push((depth, Call::of(record, calls)));
            if depth == 0 || thread.calls.len() > PENDING_MAX {
                thread.calls.drain(..).for_each(|(_, call)| outermost(&name, call));
            }
        }
        // Programs start virtual threads by the million.
        if chunk.is_virtual && thread.calls.is_empty() {
            self.threads.remove(&chunk.thread);
        }
    }

    /// Passes the remaining calls, whose callers never arrived, to `outermost`.
    pub fn finish(&mut self, mut outermost: impl FnMut(&str, Call)) {
        for (number, thread) in self.threads.drain() {
            let name = thread.name.unwrap_or_else(|| format!("thread {number}"));
            thread.calls.into_iter().for_each(|(_, call)| outermost(&name, call));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(method: u32, depth: u16, begin_ns: i64, nanos: u64) -> Record {
        Record { method, depth, begin_ns, nanos, ..Record::default() }
    }

    fn shape(call: &Call) -> String {
        let calls: Vec<String> = call.calls.iter().map(shape).collect();
        if calls.is_empty() { call.method.to_string() } else { format!("{}({})", call.method, calls.join(" ")) }
    }

    fn check(records: Vec<Record>, expected: &[&str]) {
        let (mut threads, mut shapes) = (Threads::default(), Vec::new());
        // In one chunk, and in many.
        for piece in [1, records.len()] {
            shapes.clear();
            for part in records.chunks(piece) {
                let chunk = Chunk { thread: 1, records: part.to_vec(), ..Chunk::default() };
                threads.add(chunk, |_, call| shapes.push(shape(&call)));
            }
            threads.finish(|_, call| shapes.push(shape(&call)));
            assert_eq!(shapes, expected);
        }
    }

    #[test]
    fn callers_contain_their_callees() {
        check(
            vec![
                record(3, 2, 12, 1),
                record(2, 1, 11, 5),
                record(4, 1, 20, 1),
                record(1, 0, 10, 50),
                record(1, 0, 70, 1),
            ],
            &["1(2(3) 4)", "1"],
        );
        // The caller of 3 is lost.
        check(vec![record(3, 2, 12, 1), record(1, 0, 10, 50)], &["1(3)"]);
        check(vec![record(3, 1, 12, 1), record(1, 0, 20, 50)], &["3", "1"]);
        // Its caller has not ended.
        check(vec![record(3, 1, 12, 1)], &["3"]);
    }

    #[test]
    fn own_time() {
        let mut found = Vec::new();
        let records = vec![record(2, 1, 11, 5), record(2, 1, 20, 7), record(1, 0, 10, 50)];
        let chunk = Chunk { thread: 7, records, ..Chunk::default() };
        Threads::default().add(chunk, |name, call| found.push((name.to_owned(), call.own_nanos(), call.count())));
        assert_eq!(found, [("thread 7".to_owned(), 38, 3)]);
    }
}
