//! Requests and tasks: which thread did what, and when.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use super::places::{Places, Role};
use super::timeline::Timeline;
use crate::demands::measure::processors::group;

/// Share of the requests on connections that threads must show for a request to be known step by step.
pub const SHOWN_MIN: f64 = 0.7;
/// Requests on connections from which on they are a count to compare with; and calls relative to them that are too
/// many.
const COUNT_MIN: f64 = 50.0;
const TOO_MANY: f64 = 1.4;

/// Work of one thread from a begin to an end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Place in the list of timelines.
    pub thread: usize,
    pub begin_ns: u64,
    pub end_ns: u64,
    /// Identity of the pool that runs it, if one does.
    pub pool: Option<u32>,
}

/// Requests, and runs of tasks by the tasks' identities.
#[derive(Debug, Default)]
pub struct Work {
    /// Complete requests, by begin.
    pub requests: Vec<Span>,
    pub tasks: HashMap<u32, Vec<Span>>,
}

/// Task that has begun.
struct Open {
    task: u32,
    begin_ns: u64,
    pool: Option<u32>,
}

impl Work {
    pub fn of(timelines: &[Timeline], places: &Places) -> Work {
        let mut work = Work::default();
        for (thread, timeline) in timelines.iter().enumerate() {
            work.add(thread, timeline, places);
        }
        work.requests.sort_by_key(|span| span.begin_ns);
        work.tasks.values_mut().for_each(|spans| spans.sort_by_key(|span| span.begin_ns));
        work
    }

    fn add(&mut self, thread: usize, timeline: &Timeline, places: &Places) {
        let mut pool = None;
        let mut open: Vec<Open> = Vec::new();
        let (mut depth, mut request_begin) = (0, 0);
        for event in &timeline.events {
            let Some(role) = places.role(event) else { continue };
            let at = event.at_ns as u64;
            match role {
                Role::Pool => pool = Some(event.object),
                Role::TaskBegins if open.iter().all(|one| one.task != event.object) => {
                    // A task within another one runs on the same pool.
                    let pool = pool.take().or(open.last().and_then(|outer| outer.pool));
                    open.push(Open { task: event.object, begin_ns: at, pool });
                }
                Role::TaskEnds => {
                    let Some(from) = open.iter().position(|one| one.task == event.object) else { continue };
                    // The pool reports the end of a task after the task itself does.
                    for one in open.drain(from..) {
                        let span = Span { thread, begin_ns: one.begin_ns, end_ns: at, pool: one.pool };
                        self.tasks.entry(one.task).or_default().push(span);
                    }
                }
                Role::RequestBegins => {
                    depth += 1;
                    if depth == 1 {
                        request_begin = at;
                    }
                }
                Role::RequestEnds if depth > 0 => {
                    depth -= 1;
                    if depth == 0 {
                        let pool = open.last().and_then(|one| one.pool);
                        self.requests.push(Span { thread, begin_ns: request_begin, end_ns: at, pool });
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the requests that ended within a time.
    pub fn ended_within(&self, time: &RangeInclusive<u64>) -> impl Iterator<Item = &Span> {
        self.requests.iter().filter(|span| span.end_ns > *time.start() && span.end_ns <= *time.end())
    }

    /// Removes calls that only hand a request over to another thread, where the same method is called again.
    ///
    /// If there are more calls than requests on connections, the threads with the longest calls have the requests.
    pub fn drop_hand_overs(&mut self, timelines: &[Timeline], time: &RangeInclusive<u64>, on_connections: f64) {
        if on_connections < COUNT_MIN || (self.ended_within(time).count() as f64) < on_connections * TOO_MANY {
            return;
        }
        let group = |span: &Span| group(&timelines[span.thread].name);
        let mut sums: BTreeMap<String, (f64, u64)> = BTreeMap::new();
        for span in self.ended_within(time) {
            let (count, ns) = sums.entry(group(span)).or_default();
            *count += 1.0;
            *ns += span.end_ns - span.begin_ns;
        }
        let mut groups: Vec<(String, f64, f64)> =
            sums.into_iter().map(|(name, (count, ns))| (name, count, ns as f64 / count)).collect();
        groups.sort_by(|a, b| b.2.total_cmp(&a.2));
        let mut kept: Vec<String> = Vec::new();
        let mut count = 0.0;
        for (name, calls, _) in groups {
            if count < on_connections * SHOWN_MIN {
                count += calls;
                kept.push(name);
            }
        }
        self.requests.retain(|span| kept.contains(&group(span)));
    }

    /// Returns the first run of a task that began after a time.
    pub fn run_after(&self, task: u32, at_ns: u64) -> Option<Span> {
        self.tasks.get(&task)?.iter().find(|span| span.begin_ns >= at_ns).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jvm::PlaceEvent;

    #[test]
    fn requests_and_tasks() {
        let mut places = Places::default();
        for (number, text) in ["x a", "b a", "e a", "q a", "Q a"].iter().enumerate() {
            places.add(number as u32, text);
        }
        let event = |at_ns, place, object| PlaceEvent { at_ns, place, object };
        // A request within a task of pool 9; nested requests count once; a second begin of the task is the task itself.
        let events = vec![
            event(10, 0, 9),
            event(11, 1, 5),
            event(12, 1, 5),
            event(13, 3, 0),
            event(14, 3, 0),
            event(15, 4, 0),
            event(20, 4, 0),
            event(21, 2, 5),
            event(22, 2, 5),
        ];
        let timeline = Timeline { events, ..Timeline::default() };
        let work = Work::of(&[timeline], &places);
        assert_eq!(work.requests, [Span { thread: 0, begin_ns: 13, end_ns: 20, pool: Some(9) }]);
        assert_eq!(work.tasks[&5], [Span { thread: 0, begin_ns: 11, end_ns: 21, pool: Some(9) }]);
        assert!(work.run_after(5, 12).is_none() && work.run_after(5, 11).is_some());
    }
}
