//! A sink with a stopwatch: the part of a mapper's time that its sink takes.

use std::sync::Arc;

use crate::env::Clock;
use crate::operator::{Form, Sink};
use yunti_base::Result;

/// Wrapper of a sink that measures the time of its calls, in `busy_ns`.
pub struct TimedSink<S> {
    sink: S,
    clock: Arc<dyn Clock>,
    pub busy_ns: u64,
}

impl<S> TimedSink<S> {
    /// Wraps `sink`.
    pub fn new(sink: S, clock: Arc<dyn Clock>) -> Self {
        TimedSink { sink, clock, busy_ns: 0 }
    }
    /// Returns the wrapped sink.
    pub fn inner(&self) -> &S {
        &self.sink
    }
    /// Returns the wrapped sink.
    pub fn inner_mut(&mut self) -> &mut S {
        &mut self.sink
    }
    /// Returns the wrapped sink.
    pub fn into_inner(self) -> S {
        self.sink
    }
}

impl<S: Sink> Sink for TimedSink<S> {
    fn form(&self, refs: bool, one: bool) -> Form {
        self.sink.form(refs, one)
    }
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        self.sink.begin()
    }
    fn filled(&mut self, len: usize, need: usize, data: &[u8]) -> Result<(*mut u8, usize)> {
        let start = self.clock.now_ns();
        let result = self.sink.filled(len, need, data);
        self.busy_ns += self.clock.now_ns() - start;
        result
    }
    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        let start = self.clock.now_ns();
        let result = self.sink.large(key, value);
        self.busy_ns += self.clock.now_ns() - start;
        result
    }
}
