//! Go's memory and scheduler in a measurement.

use super::globals::{Globals, Processors, Slice};
use yunti_probe::code::GoProgram;

/// Facts of a Go runtime over the measurement.
#[derive(Clone, Debug, Default)]
pub struct GoFacts {
    /// Version: `go1.22.3`.
    pub version: String,
    /// GOMAXPROCS, if it is known.
    pub processors: Option<u64>,
    /// Goroutines at a time, on average, without the runtime's own: all, ready to run, and running.
    pub goroutines: f64,
    pub runnable: f64,
    pub running: f64,
    /// Goroutines at a time that wait until the collector lets them allocate.
    pub held_by_collector: f64,
    /// GOGC: growth of the heap in percent from one collection to the next; -1 if it is off.
    pub gc_percent: Option<i64>,
    /// GOMEMLIMIT, if one is set.
    pub memory_limit: Option<u64>,
    /// Largest size of the heap, and what the last collection left of it.
    pub heap_bytes: u64,
    pub live_bytes: u64,
    /// Size at which the next collection is to be done.
    pub goal_bytes: u64,
    /// Collections in the measurement.
    pub collections: f64,
    /// Seconds in which the collector stopped all goroutines, if they are counted.
    pub pause_seconds: Option<f64>,
}

/// Sampler of the collector's numbers.
#[derive(Default)]
pub struct CollectorSampler {
    first: Option<Numbers>,
    last: Option<Numbers>,
    heap_bytes: u64,
    goal_bytes: u64,
    /// Collections seen as changes of the live heap, where they are not counted.
    changes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    percent: i64,
    limit: Option<u64>,
    live: u64,
    /// Collections and nanoseconds of pauses.
    counted: Option<(u32, u64)>,
}

impl CollectorSampler {
    /// Reads the numbers once.
    pub fn sample(&mut self, program: &GoProgram, globals: &Globals) {
        let Some(address) = globals.collector else { return };
        let layout = &globals.layout;
        let word = |at: usize| program.word(address + at as u64);
        let (Some(percent), Some(live), Some(heap)) = (word(0), word(layout.heap_marked), word(layout.heap_live))
        else {
            return;
        };
        let counted = globals.statistics.and_then(|address| {
            let collections = program.word(address + layout.collections as u64)?;
            Some((collections as u32, program.word(address + layout.pause_ns as u64)?))
        });
        let limit = layout.memory_limit.and_then(word).filter(|limit| *limit < i64::MAX as u64);
        let now = Numbers { percent: i64::from(percent as u32 as i32), limit, live, counted };
        if self.last.is_some_and(|last| last.live != live) {
            self.changes += 1;
        }
        self.heap_bytes = self.heap_bytes.max(heap);
        self.goal_bytes = self.goal_bytes.max(word(layout.heap_goal).unwrap_or(0));
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    /// Adds the numbers to the facts.
    pub fn finish(&self, facts: &mut GoFacts) {
        let (Some(first), Some(last)) = (self.first, self.last) else { return };
        facts.gc_percent = Some(last.percent);
        facts.memory_limit = last.limit;
        facts.live_bytes = last.live;
        (facts.heap_bytes, facts.goal_bytes) = (self.heap_bytes, self.goal_bytes);
        match (first.counted, last.counted) {
            (Some(first), Some(last)) => {
                facts.collections = last.0.wrapping_sub(first.0).into();
                facts.pause_seconds = Some(last.1.saturating_sub(first.1) as f64 / 1e9);
            }
            _ => facts.collections = self.changes as f64,
        }
    }
}

/// Returns GOMAXPROCS.
pub fn processors(program: &GoProgram, globals: &Globals) -> Option<u64> {
    match globals.processors? {
        Processors::Number(address) => program.word(address).map(|word| word & 0xffff_ffff),
        Processors::Slice(address) => Slice::read(program, address).map(|slice| slice.length),
    }
}
