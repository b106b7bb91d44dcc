//! Driver: all connections of one thread over one runtime.

use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{MissedTickBehavior, interval, timeout};
use yunti_base::{Code, Error, Result};

use super::exchange::{Exchange, Fault, exchange};
use super::opening::{Opened, open, requests};
use crate::http::timer::Timer;
use crate::lane::{Job, Lane, RETRY_NS};
use crate::server::trust::Tls;
use crate::tally::failure::Failure;
use crate::tally::record::{Moments, Record};

/// Period of the check of flags and seconds.
const ROUND: Duration = Duration::from_millis(20);
/// Connections that open at once, at most.
const OPENING_MAX: usize = 32;

/// Message of a task.
enum Event {
    Opened { n: usize, result: std::result::Result<SendRequest<Bytes>, (Failure, String)> },
    Closed { n: usize, generation: u64 },
    Answered { n: usize, generation: u64, job: Job, exchange: Box<Exchange> },
}

/// A place for one connection after the other.
#[derive(Default)]
struct Slot {
    sender: Option<SendRequest<Bytes>>,
    is_opening: bool,
    generation: u64,
    /// Requests under way.
    used: usize,
    /// Since when the connection takes requests without a wait.
    since_ns: u64,
    /// Moment before which a closed loop does not connect again.
    retry_ns: u64,
}

struct Driver<'a> {
    lane: Lane<'a>,
    tls: Option<Tls>,
    streams: usize,
    slots: Vec<Slot>,
    requests: Vec<http::Request<()>>,
    body: Bytes,
    events: UnboundedSender<Event>,
    opening: usize,
    busy: usize,
}

/// Runs a thread's part to its end.
///
/// @param streams requests of one connection at once, at most
pub fn run(lane: Lane, tls: Option<Tls>, streams: usize) -> Result<Record> {
    let failed = |e: std::io::Error| Error::io(Code::Internal, "cannot wait for connections", &e);
    let runtime = Builder::new_current_thread().enable_io().enable_time().build().map_err(failed)?;
    let script = &lane.plan.script;
    let requests = requests(script, &lane.plan.target).map_err(|what| Error::new(Code::Usage, what))?;
    let body = Bytes::from(script.template().body.clone());
    // The clients of a closed loop share connections if these take several requests.
    let slots = if lane.plan.is_open() { lane.connections() } else { lane.connections().div_ceil(streams) };
    let (events, inbox) = unbounded_channel();
    let driver = Driver {
        lane,
        tls,
        streams,
        slots: (0..slots).map(|_| Slot::default()).collect(),
        requests,
        body,
        events,
        opening: 0,
        busy: 0,
    };
    runtime.block_on(driver.work(inbox)).map_err(failed)
}

impl Driver<'_> {
    async fn work(mut self, mut inbox: UnboundedReceiver<Event>) -> std::io::Result<Record> {
        // The other way to register is unsafe. Its condition holds here: the timer owns its file and never changes it.
        #[expect(deprecated)]
        let mut timer = AsyncFd::with_interest(Timer::new()?, Interest::READABLE)?;
        let mut rounds = interval(ROUND);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            let now_ns = self.lane.now_ns();
            self.lane.advance(now_ns);
            if self.lane.is_ending() && (self.busy == 0 || self.lane.is_over(now_ns)) {
                break;
            }
            self.dispatch(now_ns);
            if let Some(next_ns) = self.lane.next_ns() {
                timer.get_mut().set(next_ns, self.lane.now_ns())?;
            }
            tokio::select! {
                event = inbox.recv() => {
                    let mut next = event;
                    while let Some(event) = next {
                        self.handle(event);
                        next = inbox.try_recv().ok();
                    }
                }
                ready = timer.readable_mut() => {
                    let mut ready = ready?;
                    ready.clear_ready();
                    ready.get_inner_mut().expire();
                }
                _ = rounds.tick() => {}
            }
        }
        let unanswered = self.busy as u64;
        Ok(self.lane.finish(unanswered))
    }

    /// Starts requests that are due, and opens connections for the rest.
    fn dispatch(&mut self, now_ns: u64) {
        if self.lane.is_ending() {
            return;
        }
        let (is_open, clients) = (self.lane.plan.is_open(), self.lane.clients(now_ns));
        for n in 0..self.slots.len() {
            while self.slots[n].sender.is_some() && self.slots[n].used < self.streams {
                let wants = if is_open { self.lane.waiting() > 0 } else { self.busy < clients };
                let Some(job) = wants.then(|| self.lane.next_job()).flatten() else { break };
                self.start(n, job);
            }
        }
        let wanted = match is_open {
            true => self.lane.waiting().div_ceil(self.streams),
            false => clients.div_ceil(self.streams).saturating_sub(self.open()),
        };
        for _ in self.opening..wanted.min(OPENING_MAX) {
            let may_connect = |slot: &Slot| is_open || slot.retry_ns <= now_ns;
            let is_free = |slot: &Slot| slot.sender.is_none() && !slot.is_opening && may_connect(slot);
            let Some(n) = self.slots.iter().position(is_free) else { break };
            self.connect(n);
        }
    }

    fn open(&self) -> usize {
        self.slots.iter().filter(|slot| slot.sender.is_some()).count()
    }

    fn start(&mut self, n: usize, job: Job) {
        let slot = &mut self.slots[n];
        let Some(sender) = slot.sender.clone() else { return };
        slot.used += 1;
        self.busy += 1;
        let request = self.requests[job.request as usize].clone();
        let body = self.body.clone();
        self.lane.record.send(body.len());
        let (begun, limit) = (self.lane.begun(), self.lane.plan.timeout);
        let (events, generation) = (self.events.clone(), slot.generation);
        let ready_ns = job.due_ns.max(slot.since_ns);
        tokio::spawn(async move {
            let exchange = match timeout(limit, exchange(sender, request, body, begun, ready_ns)).await {
                Ok(exchange) => exchange,
                Err(_) => timed_out(limit),
            };
            // The driver is gone once the run is over.
            let _ = events.send(Event::Answered { n, generation, job, exchange: Box::new(exchange) });
        });
    }

    fn connect(&mut self, n: usize) {
        let address = self.lane.next_address();
        let slot = &mut self.slots[n];
        slot.is_opening = true;
        slot.generation += 1;
        self.opening += 1;
        let (tls, limit) = (self.tls.clone(), self.lane.plan.timeout);
        let (events, generation) = (self.events.clone(), slot.generation);
        tokio::spawn(async move {
            let late = || (Failure::Connect, format!("no connection within {} s", limit.as_secs_f64()));
            let result = timeout(limit, open(address, tls)).await.unwrap_or_else(|_| Err(late()));
            match result {
                Ok(Opened { sender, work }) => {
                    let _ = events.send(Event::Opened { n, result: Ok(sender) });
                    work.await;
                    let _ = events.send(Event::Closed { n, generation });
                }
                Err(e) => {
                    let _ = events.send(Event::Opened { n, result: Err(e) });
                }
            }
        });
    }

    fn handle(&mut self, event: Event) {
        let now_ns = self.lane.now_ns();
        match event {
            Event::Opened { n, result } => {
                self.opening -= 1;
                let slot = &mut self.slots[n];
                slot.is_opening = false;
                slot.used = 0;
                slot.since_ns = now_ns;
                match result {
                    Ok(sender) => slot.sender = Some(sender),
                    Err((failure, text)) => {
                        slot.retry_ns = now_ns + RETRY_NS;
                        self.lane.fail_next(failure, || text);
                    }
                }
            }
            Event::Closed { n, generation } if self.slots[n].generation == generation => self.slots[n].sender = None,
            Event::Closed { .. } => {}
            Event::Answered { n, generation, job, exchange } => {
                self.busy -= 1;
                let slot = &mut self.slots[n];
                if slot.generation == generation {
                    if slot.used == self.streams {
                        slot.since_ns = now_ns;
                    }
                    slot.used = slot.used.saturating_sub(1);
                }
                self.count(&job, &exchange);
                // A connection that fails a request takes no more; the requests under way end by themselves.
                let is_broken = matches!(&exchange.result, Err(fault) if fault.failure != Failure::Timeout);
                if is_broken && self.slots[n].generation == generation {
                    self.slots[n].sender = None;
                    self.slots[n].retry_ns = now_ns + RETRY_NS;
                }
            }
        }
    }

    fn count(&mut self, job: &Job, exchange: &Exchange) {
        self.lane.record.bytes_in += exchange.bytes;
        let request = self.lane.plan.script.request(job.request);
        match &exchange.result {
            Ok(status) => {
                let moments = Moments {
                    due: job.due_ns,
                    ready: exchange.ready_ns,
                    sent: exchange.sent_ns,
                    done: exchange.done_ns,
                };
                self.lane.record.answer(*status, request.pattern, &moments);
            }
            Err(fault) if fault.is_refused && self.lane.may_repeat(job) => self.lane.repeat(*job),
            Err(fault) => {
                let text = fault.text.clone();
                self.lane.fail(job, fault.failure, || text);
            }
        }
    }
}

fn timed_out(limit: Duration) -> Exchange {
    let text = format!("no answer within {} s", limit.as_secs_f64());
    let fault = Fault { failure: Failure::Timeout, is_refused: false, text };
    Exchange { ready_ns: 0, sent_ns: 0, done_ns: 0, bytes: 0, result: Err(fault) }
}
