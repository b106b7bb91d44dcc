//! A thread that brings reports to a collector, in order, each until it has arrived: looking goes on whatever the network does.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::Report;
use super::collector::{Collector, Connection, State};
use super::queue::{Next, Queue};
use super::syslog::{Outgoing, Teller};

/// How often it is looked what has become of a connection.
const PULSE: Duration = Duration::from_millis(200);
/// The same while something is on its way.
const ARRIVAL_PULSE: Duration = Duration::from_millis(5);
const PAUSE: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(5);
const LAST_PAUSE_MAX: Duration = Duration::from_secs(1);

/// At the end: for what cannot be interrupted, such as a name that nobody resolves, somebody waits no longer than this.
const ABANDONED_AFTER: Duration = Duration::from_secs(1);

/// How it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub delivered: u64,
    pub waiting: usize,
    /// There was no room for them.
    pub not_taken: u64,
    /// Why the last attempt failed, if nothing has arrived since.
    pub trouble: Option<String>,
}

struct Shared {
    queue: Queue,
    next_id: u64,
    delivered: u64,
    trouble: Option<String>,
    /// When it is to end, whatever waits; before that as soon as nothing waits.
    end: Option<Instant>,
    has_ended: bool,
}

pub struct Delivery {
    shared: Arc<(Mutex<Shared>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Delivery {
    pub fn start(collector: Collector, teller: Teller, queue: Queue) -> Delivery {
        let state = Shared { queue, next_id: 1, delivered: 0, trouble: None, end: None, has_ended: false };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let own = shared.clone();
        let thread = thread::Builder::new().name("delivery".into()).spawn(move || {
            let doubt = collector.doubt();
            Sender { shared: &own, collector, teller, connection: None, recent: VecDeque::new(), doubt, pause: PAUSE }
                .run();
            // The connection is closed by now.
            locked(&own.0).has_ended = true;
            own.1.notify_all();
        });
        Delivery { shared, thread: thread.ok() }
    }

    pub fn give(&self, report: Report, count: u64, is_again: bool) {
        let mut shared = locked(&self.shared.0);
        let id = shared.next_id;
        shared.next_id += 1;
        shared.queue.put(Outgoing { id, report, count, is_again });
        self.shared.1.notify_all();
    }

    pub fn progress(&self) -> Progress {
        let shared = locked(&self.shared.0);
        Progress {
            delivered: shared.delivered,
            waiting: shared.queue.waiting(),
            not_taken: shared.queue.not_taken,
            trouble: shared.trouble.clone(),
        }
    }

    /// Ends when all has arrived, or the time is over.
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
    /// What has arrived of late, as far as could be seen.
    recent: VecDeque<(Instant, Outgoing, u64)>,
    doubt: Duration,
    pause: Duration,
}

impl Sender<'_> {
    fn run(&mut self) {
        loop {
            self.look();
            let next = {
                let mut shared = locked(&self.shared.0);
                let next = shared.queue.next(Instant::now());
                let is_over = shared.end.is_some_and(|end| next == Next::Nothing || Instant::now() >= end);
                if is_over {
                    return;
                }
                match next {
                    Next::Send(outgoing) => Some((outgoing, shared.queue.untold)),
                    // Somebody who waits for the end waits no longer than he said.
                    Next::Wait(_) | Next::Nothing => {
                        let _ = self.shared.1.wait_timeout(shared, PULSE);
                        None
                    }
                }
            };
            let Some((outgoing, untold)) = next else { continue };
            match self.bring(&outgoing, untold) {
                Ok(true) => {
                    let mut shared = locked(&self.shared.0);
                    shared.queue.arrived(untold, Instant::now());
                    shared.delivered += 1;
                    shared.trouble = None;
                    self.pause = PAUSE;
                    self.recent.push_back((Instant::now(), *outgoing, untold));
                }
                // The time is over.
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

    /// Before the next attempt, however many reports come meanwhile. The end is told: it is worth an attempt at once.
    fn pause(&mut self, shared: MutexGuard<'_, Shared>) {
        let is_told = shared.end.is_some();
        let waited = self.shared.1.wait_timeout_while(shared, self.pause, |s| s.end.is_some() == is_told);
        let (shared, time) = waited.unwrap_or_else(PoisonError::into_inner);
        drop(shared);
        self.pause = if time.timed_out() {
            (self.pause * 2).min(if is_told { LAST_PAUSE_MAX } else { PAUSE_MAX })
        } else {
            PAUSE
        };
    }

    /// Whether it has arrived before the end.
    fn bring(&mut self, outgoing: &Outgoing, untold: u64) -> std::io::Result<bool> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(self.collector.connect()?),
        };
        connection.send(&self.teller.message(outgoing, untold, self.collector.bytes_max()))?;
        while !connection.has_arrived()? {
            if locked(&self.shared.0).end.is_some_and(|end| Instant::now() >= end) {
                return Ok(false);
            }
            thread::sleep(ARRIVAL_PULSE);
        }
        Ok(true)
    }

    /// What has become of the connection meanwhile.
    fn look(&mut self) {
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
        let again: Vec<_> = recent.map(|(_, outgoing, untold)| (outgoing, untold)).collect();
        let mut shared = locked(&self.shared.0);
        shared.delivered -= again.len() as u64;
        shared.queue.put_back(again);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
