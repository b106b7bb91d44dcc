//! The thread that works all the time, alone, while processors are free.

use crate::why::facts::{Facts, ThreadLoad};

/// Share of the time from which on a thread works all the time. It needs some rest for page faults and locks.
const SATURATED_MIN: f64 = 0.9;
/// Share of the time on a processor below which neighbours are the cause.
const RAN_MIN: f64 = 0.5;
/// Share of the time above which another thread works nearly as much: the work is divided.
const OTHER_MAX: f64 = 0.6;
/// Processors that nobody uses, from which on the thread is what bounds.
const FREE_MIN: f64 = 0.5;

/// Returns the thread that works all the time, alone, while processors are free.
pub fn saturated(facts: &Facts) -> Option<&ThreadLoad> {
    let share = |load: &ThreadLoad| (load.ran_seconds + load.queued_seconds) / facts.seconds.max(0.001);
    let top = facts.loads.iter().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let is_alone = facts.loads.iter().all(|load| load.tid == top.tid || share(load) <= OTHER_MAX);
    let ran = top.ran_seconds / facts.seconds.max(0.001);
    let is_it = share(top) >= SATURATED_MIN && ran >= RAN_MIN && is_alone && free(facts) >= FREE_MIN;
    is_it.then_some(top)
}

/// Returns the processors that nobody uses.
pub fn free(facts: &Facts) -> f64 {
    facts.processors - facts.cpu_seconds() / facts.seconds.max(0.001) - facts.others_processors()
}

/// Returns words for a sentence about what a thread does that works all the time: `, on its event loop's one thread`.
pub fn where_it_runs(facts: &Facts) -> String {
    match saturated(facts) {
        Some(load) if is_loop(facts, load) => ", on the one thread of its event loop".to_owned(),
        Some(load) => format!(", on one thread ({})", load.name),
        None => String::new(),
    }
}

/// Returns true for the thread of an event loop.
pub fn is_loop(facts: &Facts, load: &ThreadLoad) -> bool {
    facts.event_loop.as_ref().is_some_and(|event_loop| event_loop.tid == load.tid)
}
