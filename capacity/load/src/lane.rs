//! Lane: the part of a run that one thread drives. It says which requests are due, and hands on each second's figures.
//!
//! ```text
//!   arrivals (open loop) --due--> queue --next_job--> a connection of http1/ or http2/ --answer--> record
//!   each second of the clock: batch --> the thread that watches the run
//! ```

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::Sender;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use yunti_base::Cancel;

use crate::plan::{Arrivals as Kind, Plan};
use crate::schedule::arrivals::{Arrivals, Source};
use crate::schedule::pace::Pace;
use crate::tally::batch::Batch;
use crate::tally::failure::Failure;
use crate::tally::record::Record;

pub const SECOND_NS: u64 = 1_000_000_000;
/// Wait for answers after a run that was stopped.
const STOPPED_DRAIN_NS: u64 = SECOND_NS;
/// Time after the end in which requests that were due before it are sent: they are the slowest ones.
const GRACE_NS: u64 = SECOND_NS;
/// Time between two attempts of a client in a closed loop to connect.
pub const RETRY_NS: u64 = SECOND_NS / 10;
/// Times that a request is sent again, at most.
const REPEATS_MAX: u8 = 5;

/// State that the threads of a run share.
pub struct Control {
    /// Request of the caller to stop.
    pub cancel: Cancel,
    /// Set to stop because the server suffers.
    pub stop: AtomicBool,
    /// Set to halve the rate, which the guard does once at most.
    pub halve: AtomicBool,
    /// Start of the run.
    pub begun: Instant,
}

/// Figures of one second of one thread.
pub struct Report {
    pub second: u64,
    pub batch: Batch,
}

/// Request to send.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub due_ns: u64,
    /// Number of the request in the script.
    pub request: u32,
    /// Times that it was sent before, on connections that the server closed without an answer.
    pub repeats: u8,
}

#[derive(Clone, Copy)]
struct Ending {
    send_until_ns: u64,
    wait_until_ns: u64,
}

/// Part of a run in one thread.
pub struct Lane<'a> {
    pub plan: &'a Plan,
    pub record: Record,
    control: &'a Control,
    reports: Sender<Report>,
    thread: usize,
    arrivals: Option<Arrivals>,
    queue: VecDeque<Job>,
    /// Requests that a closed loop has begun.
    begun_jobs: u64,
    is_halved: bool,
    second: u64,
    end_ns: u64,
    /// Set at the end: until when requests that are due are sent, and answers awaited.
    ending: Option<Ending>,
    cpu_from_ns: u64,
}

impl<'a> Lane<'a> {
    /// Returns the lane of a thread. It must be made in that thread, whose processor time it measures.
    pub fn new(plan: &'a Plan, control: &'a Control, thread: usize, reports: Sender<Report>) -> Lane<'a> {
        let source = match plan.arrivals {
            Kind::Rate { per_second, spacing } => Some(Source::Rate { per_second, spacing }),
            Kind::Log { speed } => {
                Some(Source::Log { times_ns: plan.script.times_ns().cloned().unwrap_or_default(), speed })
            }
            Kind::Closed => None,
        };
        let pace = Pace::new(plan.ramp.as_nanos() as u64);
        Lane {
            plan,
            record: Record::new(plan.script.patterns().len()),
            control,
            reports,
            thread,
            arrivals: source.map(|source| Arrivals::new(source, pace, thread, plan.threads, plan.seed)),
            queue: VecDeque::new(),
            begun_jobs: 0,
            is_halved: false,
            second: 0,
            end_ns: plan.duration.as_nanos() as u64,
            ending: None,
            cpu_from_ns: cpu_ns(),
        }
    }

    /// Returns the nanoseconds since the start of the run.
    pub fn now_ns(&self) -> u64 {
        self.control.begun.elapsed().as_nanos() as u64
    }

    /// Returns the start of the run.
    pub fn begun(&self) -> Instant {
        self.control.begun
    }

    /// Returns the number of connections, or of clients in a closed loop, of this thread.
    pub fn connections(&self) -> usize {
        (self.plan.connections + self.thread) / self.plan.threads
    }

    /// Returns the clients of a closed loop that send at this time.
    pub fn clients(&self, now_ns: u64) -> usize {
        let all = self.connections();
        let ramp_ns = self.plan.ramp.as_nanos() as u64;
        let share = if now_ns < ramp_ns { now_ns as f64 / ramp_ns as f64 } else { 1.0 };
        let share = if self.is_halved { share / 2.0 } else { share };
        ((all as f64 * share).ceil() as usize).clamp(1, all.max(1)).min(all)
    }

    /// Moves requests that are due into the queue, fails the ones that waited too long, and hands on a second that is
    /// over. Call this often: at each wake-up.
    pub fn advance(&mut self, now_ns: u64) {
        if !self.is_halved && self.control.halve.load(Relaxed) {
            self.is_halved = true;
            if let Some(arrivals) = &mut self.arrivals {
                arrivals.slow(now_ns, 0.5);
            }
        }
        if self.ending.is_none() {
            let until_ns = now_ns.min(self.end_ns.saturating_sub(1));
            while let Some(due) = self.arrivals.as_mut().and_then(|arrivals| arrivals.take(until_ns)) {
                self.hand_on(due.ns);
                self.record.offer();
                let request = self.plan.script.at(due.number);
                self.queue.push_back(Job { due_ns: due.ns, request, repeats: 0 });
            }
        }
        let timeout = self.plan.timeout;
        while self.queue.front().is_some_and(|job| now_ns > job.due_ns + timeout.as_nanos() as u64) {
            self.fail_next(Failure::NotSent, || format!("no free connection within {} s", timeout.as_secs_f64()));
        }
        self.hand_on(now_ns);
        self.end_in_time(now_ns);
    }

    fn end_in_time(&mut self, now_ns: u64) {
        let is_stopped = self.control.cancel.is_set() || self.control.stop.load(Relaxed);
        let is_log_over = self.arrivals.as_ref().is_some_and(|arrivals| arrivals.next_ns().is_none());
        let is_complete = now_ns >= self.end_ns || is_log_over && self.queue.is_empty();
        let mut ending = match self.ending {
            Some(ending) => ending,
            None if is_stopped || is_complete => {
                self.record.end(now_ns);
                let send_until_ns = now_ns + GRACE_NS;
                // The last request must have its whole time limit, and the check of it some more.
                let wait_until_ns = send_until_ns + self.plan.timeout.as_nanos() as u64 + GRACE_NS;
                Ending { send_until_ns, wait_until_ns }
            }
            None => return,
        };
        if is_stopped {
            ending.send_until_ns = now_ns.min(ending.send_until_ns);
            ending.wait_until_ns = ending.wait_until_ns.min(ending.send_until_ns + STOPPED_DRAIN_NS);
        }
        if now_ns >= ending.send_until_ns {
            self.record.unsent += self.queue.len() as u64;
            self.queue.clear();
        }
        self.ending = Some(ending);
    }

    /// Hands the figures on up to this time's second.
    fn hand_on(&mut self, now_ns: u64) {
        while self.second < now_ns / SECOND_NS {
            self.send_second();
        }
    }

    fn send_second(&mut self) {
        let batch = std::mem::take(&mut self.record.batch);
        // The other side is gone only after the threads.
        let _ = self.reports.send(Report { second: self.second, batch });
        self.second += 1;
    }

    /// Returns true once no further request is sent: only answers are due.
    pub fn is_ending(&self) -> bool {
        self.ending.is_some() && self.queue.is_empty()
    }

    /// Returns true once the wait for answers is over too.
    pub fn is_over(&self, now_ns: u64) -> bool {
        self.ending.is_some_and(|ending| now_ns >= ending.wait_until_ns)
    }

    /// Returns the time of the next request; None without one.
    pub fn next_ns(&self) -> Option<u64> {
        let next_ns = self.arrivals.as_ref().and_then(Arrivals::next_ns);
        next_ns.filter(|&ns| ns < self.end_ns && self.ending.is_none())
    }

    /// Returns the time at which the present second or the run ends.
    pub fn next_change_ns(&self) -> u64 {
        let second_ns = (self.second + 1) * SECOND_NS;
        if self.ending.is_some() { second_ns } else { second_ns.min(self.end_ns) }
    }

    /// Returns the number of requests that wait for a connection.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Returns the next request: one that waits, or in a closed loop a new one.
    pub fn next_job(&mut self) -> Option<Job> {
        match (self.queue.pop_front(), self.plan.is_open() || self.ending.is_some()) {
            (Some(job), _) => Some(job),
            (None, true) => None,
            (None, false) => {
                let place = self.begun_jobs * self.plan.threads as u64 + self.thread as u64;
                self.begun_jobs += 1;
                self.record.offer();
                Some(Job { due_ns: self.now_ns(), request: self.plan.script.at(place), repeats: 0 })
            }
        }
    }

    /// Returns the address of the next connection, and counts this connection.
    pub fn next_address(&mut self) -> SocketAddr {
        let addresses = &self.plan.addresses;
        let address = addresses[(self.record.connects % addresses.len() as u64) as usize];
        self.record.connects += 1;
        address
    }

    /// Returns true if a request may be sent again after its connection closed without an answer.
    pub fn may_repeat(&self, job: &Job) -> bool {
        job.repeats < REPEATS_MAX && self.plan.script.request(job.request).is_repeatable
    }

    /// Puts a request back that a closed connection did not answer.
    pub fn repeat(&mut self, job: Job) {
        self.record.repeats += 1;
        self.queue.push_front(Job { repeats: job.repeats + 1, ..job });
    }

    /// Fails the next request, if there is one: no connection could be opened, or became free, for it.
    pub fn fail_next(&mut self, failure: Failure, text: impl FnOnce() -> String) {
        if let Some(job) = self.next_job() {
            self.fail(&job, failure, text);
        }
    }

    /// Fails a request.
    pub fn fail(&mut self, job: &Job, failure: Failure, text: impl FnOnce() -> String) {
        self.record.fail(failure, self.plan.script.request(job.request).pattern, text);
    }

    /// Returns the figures at the end of the thread.
    ///
    /// @param unanswered requests without an answer
    pub fn finish(mut self, unanswered: u64) -> Record {
        self.send_second();
        self.record.unanswered = unanswered;
        self.record.cpu_ns = cpu_ns() - self.cpu_from_ns;
        self.record
    }
}

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * SECOND_NS + time.tv_nsec as u64
}
