//! Requests put together from their parts: a request may go on, and be answered, on another thread than it began on.
//!
//! ```text
//!   thread A   [ begins, part 1 ]
//!   thread B                        [ part 2 .. answered ]
//!   request    |---------------------------------------|
//! ```
//!
//! Parts of one request have one object. An object may have one request after the other, and a channel several at a
//! time, which are answered in their order.

use std::collections::{HashMap, VecDeque};

use super::timeline::Span;

/// Request with the stretches of work that threads are known to do for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub begin_ns: u64,
    pub end_ns: u64,
    /// Thread that answered it.
    pub end_thread: usize,
    /// Parts by begin; at least one.
    pub parts: Vec<Span>,
    /// Number of its name.
    pub name: Option<u32>,
}

impl Request {
    /// Returns a request that one thread handles from begin to end.
    pub fn on_one_thread(span: Span, name: Option<u32>) -> Request {
        let Span { thread, begin_ns, end_ns, .. } = span;
        Request { begin_ns, end_ns, end_thread: thread, parts: vec![span], name }
    }

    /// Returns the part with its begin.
    pub fn first(&self) -> &Span {
        &self.parts[0]
    }

    /// Returns true if the request goes on after its first part.
    pub fn goes_on(&self) -> bool {
        self.parts.len() > 1 || self.end_ns > self.first().end_ns
    }

    fn answer(&mut self, at_ns: u64, thread: usize) {
        let part = self.parts.iter().rev().find(|part| part.holds(thread, at_ns));
        self.end_ns = part.map_or(at_ns, |part| part.end_ns);
        self.end_thread = thread;
    }
}

/// Begin that a part may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// It goes on with a request.
    None,
    /// Its request begins; an earlier one of the object is lost.
    Request,
    /// As `Request`, unless one is under way, which goes on.
    RequestOrPart,
    /// Its request begins beside others of the object.
    Beside,
}

/// Change of an object's requests.
#[derive(Clone, Copy, Debug)]
enum Change {
    Part(Span, Begin, Option<u32>),
    Answer { at_ns: u64, thread: usize },
}

impl Change {
    fn at_ns(&self) -> (u64, bool) {
        match self {
            Change::Part(span, ..) => (span.begin_ns, false),
            Change::Answer { at_ns, .. } => (*at_ns, true),
        }
    }
}

/// Changes of all objects, of all threads.
#[derive(Debug, Default)]
pub struct Changes {
    of_objects: HashMap<u32, Vec<Change>>,
    has_answers: bool,
}

impl Changes {
    pub fn add_part(&mut self, object: u32, span: Span, begin: Begin, name: Option<u32>) {
        self.of_objects.entry(object).or_default().push(Change::Part(span, begin, name));
    }

    pub fn add_answer(&mut self, object: u32, at_ns: u64, thread: usize) {
        self.has_answers = true;
        self.of_objects.entry(object).or_default().push(Change::Answer { at_ns, thread });
    }

    /// Returns all complete requests. If no answer was seen at all, the server does not report them: then a request
    /// ends with its first part.
    pub fn into_requests(self) -> Vec<Request> {
        let mut requests = Vec::new();
        for (_, mut changes) in self.of_objects {
            changes.sort_by_key(Change::at_ns);
            let mut open: VecDeque<Request> = VecDeque::new();
            for change in changes {
                match change {
                    Change::Part(span, begin, name) if begin != Begin::None && !self.has_answers => {
                        requests.push(Request::on_one_thread(span, name));
                    }
                    Change::Part(span, begin, name) => {
                        let goes_on = begin == Begin::None || begin == Begin::RequestOrPart && !open.is_empty();
                        if goes_on {
                            open.back_mut().into_iter().for_each(|request| request.parts.push(span));
                            continue;
                        }
                        if begin == Begin::Request {
                            open.clear();
                        }
                        open.push_back(Request::on_one_thread(span, name));
                    }
                    Change::Answer { at_ns, thread } => {
                        if let Some(mut request) = open.pop_front() {
                            request.answer(at_ns, thread);
                            requests.push(request);
                        }
                    }
                }
            }
        }
        requests
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(thread: usize, begin_ns: u64, end_ns: u64) -> Span {
        Span { thread, begin_ns, end_ns, pool: None }
    }

    /// Returns begin, end, thread of the end and number of parts of each request.
    fn found(changes: Changes) -> Vec<(u64, u64, usize, usize)> {
        let mut all: Vec<_> = changes
            .into_requests()
            .iter()
            .map(|request| (request.begin_ns, request.end_ns, request.end_thread, request.parts.len()))
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn a_request_goes_on_elsewhere() {
        let mut changes = Changes::default();
        changes.add_part(7, span(0, 10, 20), Begin::Request, None);
        changes.add_part(7, span(1, 50, 60), Begin::None, None);
        changes.add_answer(7, 55, 1);
        // The next one of the object ends within its only part; the one after it is not answered.
        changes.add_part(7, span(0, 70, 80), Begin::Request, None);
        changes.add_answer(7, 75, 0);
        changes.add_part(7, span(0, 90, 95), Begin::Request, None);
        // The answer of another object, which begins between both parts.
        changes.add_part(8, span(0, 30, 40), Begin::Request, None);
        changes.add_answer(8, 47, 2);
        assert_eq!(found(changes), [(10, 60, 1, 2), (30, 47, 2, 1), (70, 80, 0, 1)]);
    }

    #[test]
    fn requests_of_a_channel_are_answered_in_their_order() {
        let mut changes = Changes::default();
        changes.add_part(7, span(0, 10, 20), Begin::Beside, None);
        changes.add_part(7, span(0, 20, 30), Begin::Beside, None);
        changes.add_answer(7, 40, 0);
        changes.add_answer(7, 50, 0);
        changes.add_answer(7, 60, 0);
        assert_eq!(found(changes), [(10, 40, 0, 1), (20, 50, 0, 1)]);
    }

    #[test]
    fn a_method_that_handles_an_exchange_again_goes_on() {
        let mut changes = Changes::default();
        changes.add_part(7, span(0, 10, 11), Begin::RequestOrPart, None);
        changes.add_part(7, span(1, 12, 30), Begin::RequestOrPart, None);
        changes.add_answer(7, 29, 1);
        assert_eq!(found(changes), [(10, 30, 1, 2)]);
    }

    #[test]
    fn without_answers_a_request_ends_with_its_part() {
        let mut changes = Changes::default();
        changes.add_part(7, span(0, 10, 20), Begin::Request, None);
        assert_eq!(found(changes), [(10, 20, 0, 1)]);
    }
}
