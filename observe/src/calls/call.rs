//! A call with the traced calls that it has made, put together from records that come callees first.

use std::collections::HashMap;

use crate::jvm::{Chunk, Record};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    pub method: u32,
    pub begin_ns: i64,
    pub nanos: u64,
    pub has_thrown: bool,
    /// When the look ended; its time is what it had taken until then.
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

    /// Time that is not in traced calls of its own.
    pub fn own_nanos(&self) -> u64 {
        self.nanos.saturating_sub(self.calls.iter().map(|call| call.nanos).sum())
    }

    /// With all within it.
    pub fn count(&self) -> usize {
        1 + self.calls.iter().map(Call::count).sum::<usize>()
    }
}

/// Calls whose callers have not ended.
#[derive(Debug, Default)]
struct Pending {
    name: Option<String>,
    calls: Vec<(u16, Call)>,
}

/// More is not kept for a caller that runs on and on.
const PENDING_MAX: usize = 1_000_000;

#[derive(Debug, Default)]
pub struct Threads {
    threads: HashMap<u64, Pending>,
}

impl Threads {
    /// Calls that have ended, and that nobody who is traced has made.
    pub fn add(&mut self, chunk: Chunk, mut outermost: impl FnMut(&str, Call)) {
        let thread = self.threads.entry(chunk.thread).or_default();
        if chunk.name.is_some() {
            thread.name = chunk.name;
        }
        let name = thread.name.clone().unwrap_or_else(|| format!("thread {}", chunk.thread));
        for record in chunk.records {
            let depth = record.depth;
            // What began before it is of a caller that is lost.
            let is_within = |(deep, call): &(u16, Call)| *deep > depth && call.begin_ns >= record.begin_ns;
            let from = thread.calls.iter().rposition(|it| !is_within(it)).map_or(0, |at| at + 1);
            let calls = thread.calls.drain(from..).map(|(_, call)| call).collect();
            thread.calls.push((depth, Call::of(record, calls)));
            if depth == 0 || thread.calls.len() > PENDING_MAX {
                thread.calls.drain(..).for_each(|(_, call)| outermost(&name, call));
            }
        }
        // Virtual threads come by the million.
        if chunk.is_virtual && thread.calls.is_empty() {
            self.threads.remove(&chunk.thread);
        }
    }

    /// Calls whose callers will not come any more.
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
        let (mut threads, mut seen) = (Threads::default(), Vec::new());
        // In one chunk and in many.
        for piece in [1, records.len()] {
            seen.clear();
            for part in records.chunks(piece) {
                let chunk = Chunk { thread: 1, records: part.to_vec(), ..Chunk::default() };
                threads.add(chunk, |_, call| seen.push(shape(&call)));
            }
            threads.finish(|_, call| seen.push(shape(&call)));
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn callers_take_what_is_within_them() {
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
        // Its own caller has not ended.
        check(vec![record(3, 1, 12, 1)], &["3"]);
    }

    #[test]
    fn own_time() {
        let mut seen = Vec::new();
        let records = vec![record(2, 1, 11, 5), record(2, 1, 20, 7), record(1, 0, 10, 50)];
        let chunk = Chunk { thread: 7, records, ..Chunk::default() };
        Threads::default().add(chunk, |name, call| seen.push((name.to_owned(), call.own_nanos(), call.count())));
        assert_eq!(seen, [("thread 7".to_owned(), 38, 3)]);
    }
}
