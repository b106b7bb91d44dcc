//! Thread that delivers reports to a collector in order, each until it has arrived. Detection continues while the
//! network is down.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::Report;
use super::collector::{Collector, Connection, State};
use super::queue::{Next, Queue};
use super::syslog::{Outgoing, Teller};

/// Interval of checking the connection.
const PULSE: Duration = Duration::from_millis(200);
/// Interval of checking while a message is on its way.
const ARRIVAL_PULSE: Duration = Duration::from_millis(5);
/// First pause after a failed attempt; it doubles up to the maximum.
const PAUSE: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// Longest pause while the run is ending.
const LAST_PAUSE_MAX: Duration = Duration::from_secs(1);

/// Extra time at the end for a call that cannot be interrupted, such as a name lookup.
const ABANDONED_AFTER: Duration = Duration::from_secs(1);

/// Progress of the delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Reports delivered.
    pub delivered: u64,
    /// Reports in the queue.
    pub waiting: usize,
    /// Reports that did not fit into the queue.
    pub not_taken: u64,
    /// Error of the last attempt, if nothing has arrived since.
    pub trouble: Option<String>,
}

struct Shared {
    queue: Queue,
    next_id: u64,
    delivered: u64,
    trouble: Option<String>,
    /// Deadline after the end of the run; it ends earlier with an empty queue.
    end: Option<Instant>,
    has_ended: bool,
}

/// Delivery thread and its queue.
pub struct Delivery {
    shared: Arc<(Mutex<Shared>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Delivery {
    /// Starts the thread.
    pub fn start(collector: Collector, teller: Teller, queue: Queue) -> Delivery {
        let state = Shared { queue, next_id: 1, delivered: 0, trouble: None, end: None, has_ended: false };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let own = shared.clone();
        let thread = thread::Builder::new().name("delivery".into()).spawn(move || {
            let doubt = collector.doubt();
            Sender { shared: &own, collector, teller, connection: None, recent: VecDeque::new(), doubt, pause: PAUSE }
                .run();
            // The connection is closed before this.
            locked(&own.0).has_ended = true;
            own.1.notify_all();
        });
        Delivery { shared, thread: thread.ok() }
    }

    /// Adds a report to the queue.
    pub fn give(&self, report: Report, count: u64, is_again: bool) {
        let mut shared = locked(&self.shared.0);
        let id = shared.next_id;
        shared.next_id += 1;
        shared.queue.put(Outgoing { id, report, count, is_again });
        self.shared.1.notify_all();
    }

    /// Returns the progress.
    pub fn progress(&self) -> Progress {
        let shared = locked(&self.shared.0);
        Progress {
            delivered: shared.delivered,
            waiting: shared.queue.waiting(),
            not_taken: shared.queue.not_taken,
            trouble: shared.trouble.clone(),
        }
    }

    /// Ends when the queue is empty, or after `time`. Returns the final progress.
    pub fn finish(mut self, time: Duration) -> Progress {
        let mut shared = locked(&self.shared.0);
        shared.end = Some(Instant::now() + time);
        self.shared.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let time = time + ABANDONED_AFTER;
            let waited = self.shared.1.wait_timeout_while(shared, time, |s| !s.has_ended && !thread.is_finished());
            shared = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(shared);
        self.progress()
    }
}

struct Sender<'a> {
    shared: &'a (Mutex<Shared>, Condvar),
    collector: Collector,
    teller: Teller,
    connection: Option<Connection>,
    /// Messages that seem to have arrived, within the time of doubt.
    recent: VecDeque<(Instant, Outgoing, u64)>,
    doubt: Duration,
    pause: Duration,
}

impl Sender<'_> {
    fn run(&mut self) {
        loop {
            self.check_connection();
            let next = {
                let mut shared = locked(&self.shared.0);
                let next = shared.queue.next(Instant::now());
                let is_over = shared.end.is_some_and(|end| next == Next::Nothing || Instant::now() >= end);
                if is_over {
                    return;
                }
                match next {
                    Next::Send(outgoing) => Some((outgoing, shared.queue.unreported)),
                    // A run that is ending waits no longer than its deadline.
                    Next::Wait(_) | Next::Nothing => {
                        let _ = self.shared.1.wait_timeout(shared, PULSE);
                        None
                    }
                }
            };
            let Some((outgoing, unreported)) = next else { continue };
            match self.deliver(&outgoing, unreported) {
                Ok(true) => {
                    let mut shared = locked(&self.shared.0);
                    shared.queue.arrived(unreported, Instant::now());
                    shared.delivered += 1;
                    shared.trouble = None;
                    self.pause = PAUSE;
                    self.recent.push_back((Instant::now(), *outgoing, unreported));
                }
                // The deadline has passed.
                Ok(false) => return,
                Err(e) => {
                    self.lost(self.collector.concerns_earlier(&e));
                    let mut shared = locked(&self.shared.0);
                    shared.trouble = Some(e.to_string());
                    self.pause(shared);
                }
            }
        }
    }

    /// Waits before the next attempt, regardless of new reports. The end of the run is worth an immediate attempt.
    fn pause(&mut self, shared: MutexGuard<'_, Shared>) {
        let is_ending = shared.end.is_some();
        let waited = self.shared.1.wait_timeout_while(shared, self.pause, |s| s.end.is_some() == is_ending);
        let (shared, time) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(shared);
        self.pause = if time.timed_out() {
            (self.pause * 2).min(if is_ending { LAST_PAUSE_MAX } else { PAUSE_MAX })
        } else {
            PAUSE
        };
    }

    /// Sends a message. Returns true if it arrived before the deadline.
    fn deliver(&mut self, outgoing: &Outgoing, unreported: u64) -> std::io::Result<bool> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(self.collector.connect()?),
        };
        connection.send(&self.teller.message(outgoing, unreported, self.collector.bytes_max()))?;
        while !connection.has_arrived()? {
            if locked(&self.shared.0).end.is_some_and(|end| Instant::now() >= end) {
                return Ok(false);
            }
            thread::sleep(ARRIVAL_PULSE);
        }
        Ok(true)
    }

    /// Checks the connection, and queues messages again that it has lost.
    fn check_connection(&mut self) {
        match self.connection.as_mut().map(Connection::state) {
            None => {}
            Some(State::Alive) => {
                while self.recent.front().is_some_and(|(at, ..)| at.elapsed() > self.doubt) {
                    self.recent.pop_front();
                }
            }
            Some(State::Ended) => self.lost(false),
            Some(State::Broken) => self.lost(true),
        }
    }

    fn lost(&mut self, sends_again: bool) {
        self.connection = None;
        let recent = self.recent.drain(..).filter(|(at, ..)| sends_again && at.elapsed() <= self.doubt);
        let again: Vec<_> = recent.map(|(_, outgoing, unreported)| (outgoing, unreported)).collect();
        let mut shared = locked(&self.shared.0);
        shared.delivered -= again.len() as u64;
        shared.queue.put_back(again);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
