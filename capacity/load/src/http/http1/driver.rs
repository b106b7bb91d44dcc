//! Driver: rounds over all connections of one thread.
//!
//! A round first reads every answer that has arrived, with its time, and then sends the requests that are due. A send
//! wakes a thread of the server, which may take the processor: answers that wait would look late.

use std::io;
use std::time::Duration;

use mio::event::Event;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use std::os::fd::AsRawFd;
use yunti_base::{Code, Error, Result};

use super::slot::{Input, READ_BYTES, Slot, State};
use super::stream::{Stream, StreamError};
use crate::http::timer::Timer;
use crate::lane::{Job, Lane, RETRY_NS, SECOND_NS};
use crate::server::trust::Tls;
use crate::tally::failure::Failure;
use crate::tally::record::{Moments, Record};

const EVENTS: usize = 1024;
/// Connections that open at once, at most: the backlog of a server may be short.
const OPENING_MAX: usize = 128;
/// Longest sleep, after which flags and time limits are checked.
const ROUND: Duration = Duration::from_millis(50);
/// Period of the check of time limits.
const CHECK_NS: u64 = SECOND_NS / 50;
const TIMER: Token = Token(usize::MAX);
/// Bits of a token that number the slot; the rest number its connection.
const SLOT_BITS: u32 = 24;

/// Driver of one thread.
pub struct Driver<'a> {
    lane: Lane<'a>,
    tls: Option<Tls>,
    poll: Poll,
    timer: Timer,
    slots: Vec<Slot>,
    /// Slots that were idle when they were added; the last is used first.
    idle: Vec<usize>,
    vacant: Vec<usize>,
    /// Slots with bytes that are not read yet.
    unread: Vec<usize>,
    opening: usize,
    open: usize,
    busy: usize,
    /// Clients of a closed loop that may send at present.
    clients: usize,
    buffer: Vec<u8>,
    checked_ns: u64,
}

/// Runs a thread's part to its end.
pub fn run(lane: Lane, tls: Option<Tls>) -> Result<Record> {
    let failed = |e: io::Error| Error::io(Code::Internal, "cannot wait for connections", &e);
    let connections = lane.connections();
    let mut driver = Driver {
        lane,
        tls,
        poll: Poll::new().map_err(failed)?,
        timer: Timer::new().map_err(failed)?,
        slots: (0..connections).map(|_| Slot::new()).collect(),
        idle: Vec::with_capacity(connections),
        vacant: (0..connections).rev().collect(),
        unread: Vec::new(),
        opening: 0,
        open: 0,
        busy: 0,
        clients: 0,
        buffer: vec![0; READ_BYTES],
        checked_ns: 0,
    };
    let file = driver.timer.as_raw_fd();
    driver.poll.registry().register(&mut SourceFd(&file), TIMER, Interest::READABLE).map_err(failed)?;
    let mut events = Events::with_capacity(EVENTS);
    loop {
        let now_ns = driver.lane.now_ns();
        driver.lane.advance(now_ns);
        if driver.lane.is_ending() && (driver.busy == 0 || driver.lane.is_over(now_ns)) {
            break;
        }
        driver.check(now_ns);
        driver.dispatch(now_ns);
        driver.wait(&mut events).map_err(failed)?;
        for event in &events {
            driver.handle(event);
        }
        driver.read_on();
    }
    let unanswered = driver.busy as u64;
    Ok(driver.lane.finish(unanswered))
}

impl Driver<'_> {
    fn wait(&mut self, events: &mut Events) -> io::Result<()> {
        let now_ns = self.lane.now_ns();
        let round = ROUND.min(Duration::from_nanos(self.lane.next_change_ns().saturating_sub(now_ns)));
        // Without a free connection only an answer changes anything.
        let next_ns = self.lane.next_ns().filter(|_| !self.idle.is_empty() || self.open < self.slots.len());
        let has_work = !self.unread.is_empty() || next_ns.is_some_and(|ns| ns <= now_ns);
        let limit = if has_work { Duration::ZERO } else { round };
        if let (false, Some(next_ns)) = (has_work, next_ns)
            && next_ns < now_ns + round.as_nanos() as u64
        {
            self.timer.set(next_ns, now_ns)?;
        }
        match self.poll.poll(events, Some(limit)) {
            Err(e) if e.kind() != io::ErrorKind::Interrupted => Err(e),
            _ => Ok(()),
        }
    }

    fn handle(&mut self, event: &Event) {
        if event.token() == TIMER {
            self.timer.expire();
            return;
        }
        let n = event.token().0 & ((1 << SLOT_BITS) - 1);
        if self.slots[n].generation as usize != event.token().0 >> SLOT_BITS {
            return;
        }
        match self.slots[n].state {
            State::Vacant => {}
            State::Opening => self.continue_open(n),
            State::Idle if event.is_read_closed() => self.close(n),
            State::Idle => {
                // TLS has messages of its own, and an event may come after its bytes were read.
                if event.is_readable() && !self.slots[n].is_silent(&mut self.buffer) {
                    self.close(n);
                }
            }
            State::Busy => {
                let is_blocked =
                    self.slots[n].written < self.lane.plan.script.request(self.slots[n].job.request).wire.len();
                let is_tls = self.tls.is_some();
                if event.is_writable() && (is_blocked || is_tls) {
                    self.write(n);
                }
                self.slots[n].is_ended |= event.is_read_closed();
                if event.is_readable() || event.is_read_closed() {
                    self.read(n);
                }
            }
        }
    }

    fn read_on(&mut self) {
        for n in std::mem::take(&mut self.unread) {
            if self.slots[n].state == State::Busy {
                self.read(n);
            }
        }
    }

    /// Sends requests that are due on free connections, and opens further connections for the rest.
    fn dispatch(&mut self, now_ns: u64) {
        if self.lane.is_ending() {
            return;
        }
        if self.lane.plan.is_open() {
            while self.lane.waiting() > 0 {
                let Some(n) = self.idle.pop() else { break };
                self.send(n);
            }
            let missing = self.lane.waiting().saturating_sub(self.opening);
            for _ in 0..missing.min(OPENING_MAX.saturating_sub(self.opening)) {
                let Some(n) = self.vacant.pop() else { break };
                self.connect(n);
            }
            return;
        }
        self.clients = self.lane.clients(now_ns);
        let clients = self.clients;
        for _ in 0..self.idle.len() {
            let Some(n) = self.idle.pop() else { break };
            if self.open > clients { self.close(n) } else { self.send(n) }
        }
        while self.open < clients && self.opening < OPENING_MAX {
            let Some(n) = self.vacant.pop() else { break };
            if self.slots[n].retry_ns > now_ns {
                self.vacant.insert(0, n);
                break;
            }
            self.connect(n);
        }
    }

    /// Sends the next request on a connection, if it is idle still.
    fn send(&mut self, n: usize) {
        if self.slots[n].state != State::Idle {
            return;
        }
        let Some(mut job) = self.lane.next_job() else {
            self.idle.push(n);
            return;
        };
        if !self.lane.plan.is_open() && !self.lane.plan.script.template().keeps_alive {
            // The connection is a part of the request.
            job.due_ns = self.slots[n].opened_ns;
        }
        let request = self.lane.plan.script.request(job.request);
        let slot = &mut self.slots[n];
        slot.state = State::Busy;
        slot.job = job;
        slot.written = 0;
        slot.ready_ns = job.due_ns.max(slot.since_ns);
        slot.sent_ns = self.lane.now_ns();
        slot.answer.begin(request.method == "HEAD");
        self.busy += 1;
        self.lane.record.send(request.wire.len());
        self.write(n);
    }

    fn write(&mut self, n: usize) {
        let wire = &self.lane.plan.script.request(self.slots[n].job.request).wire;
        match self.slots[n].write(wire) {
            Ok(()) => {}
            // The server may have answered before it closed: the answer is read yet.
            Err(StreamError::Io(_)) => {
                self.slots[n].is_ended = true;
                self.read(n);
            }
            Err(StreamError::Tls(e)) => self.end_request(n, Failure::Tls, e.to_string()),
        }
    }

    fn read(&mut self, n: usize) {
        match self.slots[n].read(&mut self.buffer) {
            Input::Partial => {}
            Input::More => self.unread.push(n),
            Input::Done { is_reusable } => self.finish(n, is_reusable),
            Input::Closed(why) => {
                let slot = &self.slots[n];
                // A server closes an idle connection at any time, also when a request is on its way.
                let is_race = slot.answers > 0 && slot.answer.bytes() == 0;
                if is_race && self.lane.may_repeat(&slot.job) {
                    let job = slot.job;
                    self.close(n);
                    self.lane.repeat(job);
                } else {
                    let text = why.unwrap_or_else(|| {
                        format!("the server closed the connection after {} bytes", slot.answer.bytes())
                    });
                    self.end_request(n, Failure::Closed, text);
                }
            }
            Input::Wrong(fault) => self.end_request(n, Failure::Protocol, fault.to_string()),
        }
    }

    /// Counts a complete answer.
    fn finish(&mut self, n: usize, is_reusable: bool) {
        let now_ns = self.lane.now_ns();
        let slot = &mut self.slots[n];
        let request = self.lane.plan.script.request(slot.job.request);
        let moments = Moments { due: slot.job.due_ns, ready: slot.ready_ns, sent: slot.sent_ns, done: now_ns };
        self.lane.record.bytes_in += slot.answer.bytes();
        self.lane.record.answer(slot.answer.status(), request.pattern, &moments);
        slot.answers = slot.answers.saturating_add(1);
        // An answer before the whole request is out leaves the connection in an unknown state.
        let keeps_alive = self.lane.plan.script.template().keeps_alive;
        if is_reusable && keeps_alive && slot.written == request.wire.len() {
            slot.state = State::Idle;
            slot.since_ns = now_ns;
            self.busy -= 1;
            self.idle.push(n);
            // Requests that are late already go out at once, as do the ones of a closed loop.
            let sends = if self.lane.plan.is_open() { self.lane.waiting() > 0 } else { self.open <= self.clients };
            if sends && !self.lane.is_ending() {
                self.idle.pop();
                self.send(n);
            }
        } else {
            self.close(n);
        }
    }

    /// Counts a request that failed, and closes its connection.
    fn end_request(&mut self, n: usize, failure: Failure, text: String) {
        let job: Job = self.slots[n].job;
        self.lane.record.bytes_in += self.slots[n].answer.bytes();
        self.slots[n].retry_ns = self.lane.now_ns() + RETRY_NS;
        self.close(n);
        self.lane.fail(&job, failure, || text);
    }

    fn connect(&mut self, n: usize) {
        let address = self.lane.next_address();
        let slot = &mut self.slots[n];
        slot.generation = slot.generation.wrapping_add(1);
        let token = Token((slot.generation as usize) << SLOT_BITS | n);
        match Stream::open(address, self.poll.registry(), token, self.tls.as_ref()) {
            Ok(stream) => {
                slot.stream = Some(stream);
                slot.state = State::Opening;
                slot.answers = 0;
                slot.since_ns = self.lane.now_ns();
                slot.opened_ns = slot.since_ns;
                slot.is_ended = false;
                self.opening += 1;
                self.open += 1;
            }
            Err(e) => {
                self.vacant.push(n);
                self.fail_connect(n, Failure::Connect, e.to_string());
            }
        }
    }

    fn continue_open(&mut self, n: usize) {
        let Some(stream) = &mut self.slots[n].stream else { return };
        match stream.continue_open() {
            Ok(false) => {}
            Ok(true) => {
                self.opening -= 1;
                let slot = &mut self.slots[n];
                slot.state = State::Idle;
                slot.since_ns = self.lane.now_ns();
                self.idle.push(n);
            }
            Err(e) => {
                let (failure, text) = match e {
                    StreamError::Io(e) => (Failure::Connect, e.to_string()),
                    StreamError::Tls(e) => (Failure::Tls, e.to_string()),
                };
                self.close(n);
                self.fail_connect(n, failure, text);
            }
        }
    }

    /// Fails the request that a connection was opened for.
    fn fail_connect(&mut self, n: usize, failure: Failure, text: String) {
        self.slots[n].retry_ns = self.lane.now_ns() + RETRY_NS;
        self.lane.fail_next(failure, || text);
    }

    fn close(&mut self, n: usize) {
        let slot = &mut self.slots[n];
        match slot.state {
            State::Vacant => return,
            State::Opening => self.opening -= 1,
            State::Busy => self.busy -= 1,
            State::Idle => {}
        }
        self.open -= 1;
        slot.state = State::Vacant;
        slot.stream = None;
        self.vacant.push(n);
    }

    /// Ends connections and requests that exceed the time limit.
    fn check(&mut self, now_ns: u64) {
        if now_ns < self.checked_ns + CHECK_NS {
            return;
        }
        self.checked_ns = now_ns;
        let timeout = self.lane.plan.timeout;
        let timeout_ns = timeout.as_nanos() as u64;
        for n in 0..self.slots.len() {
            let slot = &self.slots[n];
            match slot.state {
                State::Busy if now_ns > slot.sent_ns + timeout_ns => {
                    let text = format!("no answer within {} s", timeout.as_secs_f64());
                    self.end_request(n, Failure::Timeout, text);
                }
                State::Opening if now_ns > slot.since_ns + timeout_ns => {
                    self.close(n);
                    self.fail_connect(n, Failure::Connect, format!("no connection within {} s", timeout.as_secs_f64()));
                }
                _ => {}
            }
        }
    }
}
