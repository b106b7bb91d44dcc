//! Record of one thread: all its requests, with the times that a report has.

use super::batch::Batch;
use super::failure::{FAILURES, Failure};
use super::times::Times;

/// Texts of failures that are kept.
const EXAMPLES_MAX: usize = 5;
const STATUSES: usize = 600;

/// Times of one request, in nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    pub due: u64,
    /// Moment at which a connection was free for it, and it was due.
    pub ready: u64,
    pub sent: u64,
    pub done: u64,
}

/// Counts of one pattern of paths.
#[derive(Clone, Debug)]
pub struct PatternTally {
    pub done: u64,
    pub errors: u64,
    pub latency: Times,
}

/// Figures of one thread over the run.
#[derive(Clone, Debug)]
pub struct Record {
    pub offered: u64,
    pub sent: u64,
    pub done: u64,
    pub failures: [u64; FAILURES.len()],
    pub examples: Vec<(Failure, String)>,
    pub statuses: Vec<u64>,
    /// From the due time to the end of the answer.
    pub latency: Times,
    /// From the send to the end of the answer.
    pub service: Times,
    /// From the due time until a connection was free.
    pub waiting: Times,
    /// From there to the send: the client's own lateness.
    pub lateness: Times,
    pub patterns: Vec<PatternTally>,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// Connections that were opened.
    pub connects: u64,
    /// Requests that were sent again, since the server closed an idle connection.
    pub repeats: u64,
    /// Requests that were due and not sent when the run ended.
    pub unsent: u64,
    /// Requests that were sent and had no answer when the run ended.
    pub unanswered: u64,
    /// Answers without a failure until the last request was due, and that time.
    pub done_in_time: u64,
    pub ended_ns: u64,
    pub cpu_ns: u64,
    /// Figures of the present second.
    pub batch: Batch,
}

impl Record {
    /// Returns an empty record.
    pub fn new(patterns: usize) -> Record {
        let pattern = || PatternTally { done: 0, errors: 0, latency: Times::coarse() };
        Record {
            offered: 0,
            sent: 0,
            done: 0,
            failures: [0; FAILURES.len()],
            examples: Vec::new(),
            statuses: vec![0; STATUSES],
            latency: Times::fine(),
            service: Times::fine(),
            waiting: Times::fine(),
            lateness: Times::fine(),
            patterns: (0..patterns).map(|_| pattern()).collect(),
            bytes_in: 0,
            bytes_out: 0,
            connects: 0,
            repeats: 0,
            unsent: 0,
            unanswered: 0,
            done_in_time: 0,
            ended_ns: 0,
            cpu_ns: 0,
            batch: Batch::default(),
        }
    }

    /// Counts a request that is due.
    pub fn offer(&mut self) {
        self.offered += 1;
        self.batch.offered += 1;
    }

    /// Counts a request that was sent.
    pub fn send(&mut self, bytes: usize) {
        self.sent += 1;
        self.batch.sent += 1;
        self.bytes_out += bytes as u64;
    }

    /// Counts an answer.
    pub fn answer(&mut self, status: u16, pattern: u16, moments: &Moments) {
        if let Some(count) = self.statuses.get_mut(usize::from(status)) {
            *count += 1;
        }
        if Failure::is_status(status) {
            self.fail(Failure::Status, pattern, || format!("status {status}"));
            return;
        }
        let since = |from: u64| moments.done.saturating_sub(from);
        let latency = since(moments.due);
        self.done += 1;
        self.latency.add(latency);
        self.service.add(since(moments.sent));
        self.waiting.add(moments.ready.saturating_sub(moments.due));
        self.lateness.add(moments.sent.saturating_sub(moments.ready));
        self.batch.done += 1;
        self.batch.latency.add(latency);
        // A single pattern has the figures of the whole.
        if self.patterns.len() > 1 {
            let tally = &mut self.patterns[usize::from(pattern)];
            tally.done += 1;
            tally.latency.add(latency);
        }
    }

    /// Counts a failed request.
    pub fn fail(&mut self, failure: Failure, pattern: u16, text: impl FnOnce() -> String) {
        self.failures[failure as usize] += 1;
        self.batch.errors += 1;
        if self.patterns.len() > 1 {
            self.patterns[usize::from(pattern)].errors += 1;
        }
        self.keep_example(failure, text);
    }

    /// Keeps the text of the first failure of a kind.
    fn keep_example(&mut self, failure: Failure, text: impl FnOnce() -> String) {
        if self.examples.len() < EXAMPLES_MAX && self.examples.iter().all(|(known, _)| *known != failure) {
            self.examples.push((failure, text()));
        }
    }

    /// Marks the time from which no request is sent.
    pub fn end(&mut self, now_ns: u64) {
        self.done_in_time = self.done;
        self.ended_ns = now_ns;
    }

    /// Returns the number of failed requests.
    pub fn errors(&self) -> u64 {
        self.failures.iter().sum()
    }

    /// Adds the record of another thread.
    pub fn join(&mut self, other: &Record) {
        self.offered += other.offered;
        self.sent += other.sent;
        self.done += other.done;
        self.failures.iter_mut().zip(other.failures).for_each(|(own, other)| *own += other);
        for (failure, text) in &other.examples {
            self.keep_example(*failure, || text.clone());
        }
        self.statuses.iter_mut().zip(&other.statuses).for_each(|(own, other)| *own += other);
        self.latency.join(&other.latency);
        self.service.join(&other.service);
        self.waiting.join(&other.waiting);
        self.lateness.join(&other.lateness);
        for (own, other) in self.patterns.iter_mut().zip(&other.patterns) {
            own.done += other.done;
            own.errors += other.errors;
            own.latency.join(&other.latency);
        }
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.connects += other.connects;
        self.repeats += other.repeats;
        self.unsent += other.unsent;
        self.unanswered += other.unanswered;
        self.done_in_time += other.done_in_time;
        self.ended_ns = self.ended_ns.max(other.ended_ns);
        self.cpu_ns += other.cpu_ns;
    }
}
