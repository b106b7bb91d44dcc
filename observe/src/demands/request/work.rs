//! Requests and tasks: which thread did what, and when.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;

use super::places::{Places, Role};
use super::requests::{Begin, Changes, Request};
use super::timeline::{Span, Timeline};
use crate::demands::measure::processors::group;

/// Share of the requests on connections that threads must show for a request to be known step by step.
pub const SHOWN_MIN: f64 = 0.7;
/// Requests on connections from which on they are a count to compare with; and calls relative to them that are too
/// many.
const COUNT_MIN: f64 = 50.0;
const TOO_MANY: f64 = 1.4;

/// Requests, and runs of tasks by the tasks' identities.
#[derive(Debug, Default)]
pub struct Work {
    /// Complete requests, by begin.
    pub requests: Vec<Request>,
    pub tasks: HashMap<u32, Vec<Span>>,
    /// Threads that have parts of requests outside of any task, although these go on elsewhere: event loops.
    pub loops: HashSet<usize>,
    changes: Changes,
    /// Times at which tasks were handed over.
    submitted: HashMap<u32, Vec<u64>>,
}

/// Part of a request, or a method within it, that has begun.
struct Frame {
    /// Object of its request; 0 for a request of this thread alone.
    object: u32,
    begin_ns: u64,
    begin: Begin,
    /// True within another frame of the same request.
    is_inner: bool,
    is_request: bool,
    name: Option<u32>,
    pool: Option<u32>,
    is_in_task: bool,
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
        let of_objects = std::mem::take(&mut work.changes).into_requests();
        work.requests.extend(of_objects);
        work.requests.sort_by_key(|request| request.begin_ns);
        if !work.requests.iter().any(Request::goes_on) {
            work.loops.clear();
        }
        work.tasks.values_mut().for_each(|spans| spans.sort_by_key(|span| span.begin_ns));
        work.submitted.values_mut().for_each(|times| times.sort_unstable());
        work
    }

    fn add(&mut self, thread: usize, timeline: &Timeline, places: &Places) {
        let mut pool = None;
        let mut open: Vec<Open> = Vec::new();
        let mut frames: Vec<Frame> = Vec::new();
        for event in &timeline.events {
            let Some(role) = places.role(event) else { continue };
            let at = event.at_ns as u64;
            match role {
                Role::Pool => pool = Some(event.object),
                Role::Submitted => self.submitted.entry(event.object).or_default().push(at),
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
                Role::RequestBegins | Role::RequestGoesOn | Role::PartBegins => {
                    let begin = match role {
                        Role::RequestBegins => Begin::Request,
                        Role::RequestGoesOn => Begin::RequestOrPart,
                        _ => Begin::None,
                    };
                    let outer = frames.iter_mut().find(|frame| frame.object == event.object && !frame.is_inner);
                    let is_inner = outer.is_some();
                    if let Some(outer) = outer.filter(|outer| outer.begin == Begin::None && begin != Begin::None) {
                        // What the thread did before in this part was no request's.
                        (outer.begin, outer.begin_ns) = (begin, at);
                    }
                    frames.push(Frame {
                        object: event.object,
                        begin_ns: at,
                        begin,
                        is_inner,
                        is_request: role != Role::PartBegins,
                        name: places.name(event.place),
                        pool: open.last().and_then(|one| one.pool),
                        is_in_task: !open.is_empty(),
                    });
                }
                Role::RequestBeginsInPart => {
                    let Some(frame) = frames.iter_mut().rev().find(|frame| !frame.is_inner) else { continue };
                    self.end_part(thread, frame, at);
                    (frame.begin, frame.begin_ns, frame.name) = (Begin::Beside, at, None);
                }
                Role::Named => {
                    let frame = frames.iter_mut().rev().find(|frame| !frame.is_inner && frame.begin != Begin::None);
                    frame.into_iter().for_each(|frame| frame.name = frame.name.or(event.object.checked_sub(1)));
                }
                Role::RequestEnds | Role::PartEnds => {
                    let is_request = role == Role::RequestEnds;
                    let Some(from) = frames.iter().rposition(|frame| frame.is_request == is_request) else { continue };
                    for frame in frames.drain(from..) {
                        self.end_part(thread, &frame, at);
                    }
                }
                Role::RequestDone => self.changes.add_answer(event.object, at, thread),
                _ => {}
            }
        }
    }

    fn end_part(&mut self, thread: usize, frame: &Frame, at_ns: u64) {
        if frame.is_inner || at_ns <= frame.begin_ns {
            return;
        }
        let span = Span { thread, begin_ns: frame.begin_ns, end_ns: at_ns, pool: frame.pool };
        if frame.object == 0 {
            self.requests.push(Request::on_one_thread(span, frame.name));
            return;
        }
        self.changes.add_part(frame.object, span, frame.begin, frame.name);
        if !frame.is_in_task {
            self.loops.insert(thread);
        }
    }

    /// Returns the requests that ended within a time.
    pub fn ended_within(&self, time: &RangeInclusive<u64>) -> impl Iterator<Item = &Request> {
        self.requests.iter().filter(|one| one.end_ns > *time.start() && one.end_ns <= *time.end())
    }

    /// Removes calls that only hand a request over to another thread, where the same method is called again.
    ///
    /// If there are more calls than requests on connections, the threads with the longest calls have the requests.
    pub fn drop_hand_overs(&mut self, timelines: &[Timeline], time: &RangeInclusive<u64>, on_connections: f64) {
        if on_connections < COUNT_MIN || (self.ended_within(time).count() as f64) < on_connections * TOO_MANY {
            return;
        }
        let group = |request: &Request| group(&timelines[request.first().thread].name);
        let mut sums: BTreeMap<String, (f64, u64)> = BTreeMap::new();
        for request in self.ended_within(time) {
            let (count, ns) = sums.entry(group(request)).or_default();
            *count += 1.0;
            *ns += request.end_ns - request.begin_ns;
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
        self.requests.retain(|request| kept.contains(&group(request)));
    }

    /// Returns the run of a task that was handed over at a time. A task that is handed on, from a queue to a thread,
    /// runs for the first hand-over.
    pub fn run_after(&self, task: u32, at_ns: u64) -> Option<Span> {
        let runs = self.tasks.get(&task)?;
        let at = runs.partition_point(|span| span.begin_ns < at_ns);
        let before = at.checked_sub(1).map_or(0, |last| runs[last].begin_ns);
        let times = self.submitted.get(&task).map_or(&[][..], Vec::as_slice);
        let is_handed_on = times.iter().any(|time| *time > before && *time < at_ns);
        runs.get(at).filter(|_| !is_handed_on).copied()
    }

    /// Returns the last run of a task that began within a time: a timer may first run to enter itself into a queue.
    pub fn last_run(&self, task: u32, from_ns: u64, to_ns: u64) -> Option<Span> {
        let runs = self.tasks.get(&task)?;
        runs.iter().rfind(|span| (from_ns..=to_ns).contains(&span.begin_ns)).copied()
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
        let span = Span { thread: 0, begin_ns: 13, end_ns: 20, pool: Some(9) };
        assert_eq!(work.requests, [Request::on_one_thread(span, None)]);
        assert_eq!(work.tasks[&5], [Span { thread: 0, begin_ns: 11, end_ns: 21, pool: Some(9) }]);
        assert!(work.run_after(5, 12).is_none() && work.run_after(5, 11).is_some());
    }

    #[test]
    fn an_event_loop_reads_heads_and_writes_ends_of_answers() {
        let mut places = Places::default();
        for (number, text) in ["g a", "i a", "k a", "G a", "d a"].iter().enumerate() {
            places.add(number as u32, text);
        }
        let event = |at_ns, place, object| PlaceEvent { at_ns, place, object };
        // Two heads in one read of channel 7; the first request is answered at once, the second one later.
        let events = vec![
            event(10, 0, 7),
            event(11, 1, 0),
            event(11, 2, 1),
            event(14, 4, 7),
            event(15, 1, 0),
            event(15, 2, 2),
            event(18, 3, 0),
            event(40, 4, 7),
        ];
        let work = Work::of(&[Timeline { events, ..Timeline::default() }], &places);
        let found: Vec<_> = work.requests.iter().map(|one| (one.begin_ns, one.end_ns, one.name)).collect();
        assert_eq!(found, [(11, 15, Some(0)), (15, 40, Some(1))]);
        assert_eq!((work.requests[1].goes_on(), work.loops.len()), (true, 1));
    }
}
