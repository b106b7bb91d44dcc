//! All DataNodes, on one thread.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token, Waker};
use yunti_base::{Code, Error, Result};

use super::node::{FIRST_PORT, Held, Methods, Node};
use crate::load::latency::Latencies;
use crate::load::operation::Call;
use crate::rpc::connection::{Connection, End};
use crate::rpc::polled::Ready;

const EVENTS: usize = 1024;
/// Between two heartbeats: `dfs.heartbeat.interval`.
const HEARTBEAT: Duration = Duration::from_secs(3);
const RECONNECT: Duration = Duration::from_millis(500);
const REFUSALS_MAX: u32 = 60;
const LIVE_WITHIN: Duration = Duration::from_secs(120);

/// What the thread and others share.
#[derive(Default)]
struct Shared {
    live: AtomicUsize,
    is_over: AtomicBool,
}

/// What came of their calls.
#[derive(Default)]
pub struct Seen {
    pub latencies: Latencies,
    pub errors: Vec<(Call, String)>,
    pub cpu_seconds: f64,
}

/// The thread ends when this is dropped, or [`Fleet::end`] is called.
pub struct Fleet {
    shared: Arc<Shared>,
    blocks: Sender<(usize, Held)>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<Result<Seen>>>,
    count: usize,
}

/// By which clients tell that a DataNode has a block.
#[derive(Clone)]
pub struct Pipeline {
    blocks: Sender<(usize, Held)>,
    count: usize,
    waker: Arc<Waker>,
}

impl Pipeline {
    /// @param port the transfer port of the DataNode
    /// @return whether it is one of these
    pub fn write(&self, port: u32, block: Held) -> bool {
        let number = port.wrapping_sub(FIRST_PORT) as usize;
        // Who has ended needs no blocks.
        if number < self.count && self.blocks.send((number, block)).is_ok() {
            let _ = self.waker.wake();
        }
        number < self.count
    }
}

impl Fleet {
    /// @param reports how often each reports all its blocks; None: once, in the beginning
    /// @param is_counting what comes meanwhile is counted
    pub fn start(
        address: SocketAddr,
        user: &str,
        count: usize,
        run: u64,
        reports: Option<Duration>,
        is_counting: Arc<AtomicBool>,
    ) -> Result<Fleet> {
        let failed = |e: io::Error| Error::io(Code::Internal, "epoll", &e);
        let poll = Poll::new().map_err(failed)?;
        let waker = Arc::new(Waker::new(poll.registry(), Token(count)).map_err(failed)?);
        let (blocks, arrived) = channel();
        let shared = Arc::new(Shared::default());
        let slots =
            (0..count).map(|n| Slot { node: Node::new(n, run), connection: None, refusals: 0, was_live: false });
        let sailing = Sailing {
            address,
            user: user.to_owned(),
            shared: shared.clone(),
            is_counting,
            poll,
            slots: slots.collect(),
            arrived,
            methods: Methods::new(),
            begun: Instant::now(),
            due: BTreeSet::new(),
            reports,
            seen: Seen::default(),
        };
        let thread =
            thread::Builder::new().name("yunti-datanodes".into()).spawn(move || sailing.run()).map_err(failed)?;
        Ok(Fleet { shared, blocks, waker, thread: Some(thread), count })
    }

    pub fn pipeline(&self) -> Pipeline {
        Pipeline { blocks: self.blocks.clone(), count: self.count, waker: self.waker.clone() }
    }

    /// Returns when all are alive to the NameNode.
    pub fn wait(&mut self, is_stopped: impl Fn() -> bool, mut show: impl FnMut(usize)) -> Result<()> {
        let end = Instant::now() + LIVE_WITHIN;
        while self.shared.live.load(Relaxed) < self.count {
            if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
                return self.end().map(drop);
            }
            if is_stopped() {
                return Err(Error::new(Code::Cancelled, "cancelled".to_owned()));
            }
            if Instant::now() > end {
                let live = self.shared.live.load(Relaxed);
                let what =
                    format!("of {} DataNodes, {live} are registered after {} s", self.count, LIVE_WITHIN.as_secs());
                return Err(Error::new(Code::Input, what));
            }
            show(self.shared.live.load(Relaxed));
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    pub fn end(&mut self) -> Result<Seen> {
        self.shared.is_over.store(true, Relaxed);
        let _ = self.waker.wake();
        let Some(thread) = self.thread.take() else { return Ok(Seen::default()) };
        thread.join().map_err(|_| Error::new(Code::Internal, "the thread of the DataNodes panicked".to_owned()))?
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

struct Slot {
    node: Node,
    connection: Option<Connection>,
    /// In a row.
    refusals: u32,
    was_live: bool,
}

/// What is to be done at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Connect,
    Heartbeat,
    Report,
}

struct Sailing {
    address: SocketAddr,
    user: String,
    shared: Arc<Shared>,
    is_counting: Arc<AtomicBool>,
    poll: Poll,
    slots: Vec<Slot>,
    arrived: Receiver<(usize, Held)>,
    methods: Methods,
    begun: Instant,
    due: BTreeSet<(Instant, usize, Due)>,
    reports: Option<Duration>,
    seen: Seen,
}

impl Sailing {
    fn now_ns(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    fn run(mut self) -> Result<Seen> {
        let cpu = || {
            let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
        };
        let count = self.slots.len();
        for n in 0..count {
            // Spread over the time between two, as they are in a cluster that was not started at once.
            let after = |period: Duration| self.begun + period.mul_f64((n + 1) as f64 / count as f64);
            self.due.insert((self.begun + Duration::from_micros(200) * n as u32, n, Due::Connect));
            self.due.insert((after(HEARTBEAT), n, Due::Heartbeat));
            if let Some(period) = self.reports {
                self.due.insert((after(period), n, Due::Report));
            }
        }
        let mut events = Events::with_capacity(EVENTS);
        let mut scratch = Vec::new();
        let (mut was_counting, mut cpu_from) = (false, 0.0);
        while !self.shared.is_over.load(Relaxed) {
            let now = Instant::now();
            let next = self.due.first().map_or(HEARTBEAT, |(at, ..)| at.saturating_duration_since(now));
            match self.poll.poll(&mut events, Some(next.min(Duration::from_millis(100)))) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => return Err(Error::io(Code::Internal, "epoll", &e)),
                _ => {}
            }
            let is_counting = self.is_counting.load(Relaxed);
            if is_counting != was_counting {
                if is_counting {
                    cpu_from = cpu();
                } else {
                    self.seen.cpu_seconds += cpu() - cpu_from;
                }
                was_counting = is_counting;
            }
            for event in events.iter() {
                let ready = Ready::of(event);
                if ready.connection < count {
                    self.ready(ready, &mut scratch)?;
                }
            }
            self.take_blocks();
            self.take_due()?;
        }
        Ok(self.seen)
    }

    fn take_blocks(&mut self) {
        while let Ok((n, block)) = self.arrived.try_recv() {
            if let Some(slot) = self.slots.get_mut(n) {
                slot.node.receive(block);
                self.go_on(n);
            }
        }
    }

    fn take_due(&mut self) -> Result<()> {
        let now = Instant::now();
        while let Some((at, n, what)) = self.due.first().copied().filter(|(at, ..)| *at <= now) {
            self.due.remove(&(at, n, what));
            match what {
                Due::Connect => self.connect(n)?,
                Due::Heartbeat => {
                    self.slots[n].node.is_due();
                    self.due.insert((at + HEARTBEAT, n, what));
                }
                Due::Report => {
                    self.slots[n].node.wants_report();
                    self.due.extend(self.reports.map(|period| (at + period, n, what)));
                }
            }
            self.go_on(n);
        }
        Ok(())
    }

    fn connect(&mut self, n: usize) -> Result<()> {
        let slot = &mut self.slots[n];
        match Connection::open(self.address, self.poll.registry(), Token(n)) {
            Ok(mut connection) => {
                slot.node.hello(connection.out(), &self.user);
                slot.connection = Some(connection);
            }
            Err(_) => self.lose(n)?,
        }
        Ok(())
    }

    fn lose(&mut self, n: usize) -> Result<()> {
        let slot = &mut self.slots[n];
        slot.connection = None;
        slot.refusals += 1;
        if slot.refusals > REFUSALS_MAX {
            let what = format!("{} closes each connection of a DataNode", self.address);
            return Err(Error::new(Code::Input, what));
        }
        self.due.insert((Instant::now() + RECONNECT, n, Due::Connect));
        Ok(())
    }

    /// Sends what the node has to say.
    fn go_on(&mut self, n: usize) {
        let now = self.now_ns();
        let slot = &mut self.slots[n];
        let Some(connection) = &mut slot.connection else { return };
        slot.node.go_on(connection.out(), &self.methods, now);
        // A connection that has gone is seen when it is read.
        let _ = connection.flush(self.poll.registry());
    }

    fn ready(&mut self, ready: Ready, scratch: &mut Vec<u8>) -> Result<()> {
        let n = ready.connection;
        let now = self.now_ns();
        let is_counting = self.is_counting.load(Relaxed);
        let slot = &mut self.slots[n];
        let Some(connection) = &mut slot.connection else { return Ok(()) };
        if ready.is_writable && connection.writable(self.poll.registry()).is_err() {
            return self.lose(n);
        }
        if ready.is_readable {
            let (node, seen) = (&mut slot.node, &mut self.seen);
            let end = connection.read(scratch, ready.is_ended, |bytes| {
                if let Some((call, ns, error)) = node.answered(bytes, now)? {
                    match error {
                        None if is_counting => seen.latencies.add(call, ns),
                        None => {}
                        Some(error) => {
                            seen.latencies.failed(call);
                            if seen.errors.iter().all(|(known, _)| *known != call) {
                                seen.errors.push((call, error));
                            }
                        }
                    }
                }
                Ok(())
            })?;
            if end == End::Closed {
                return self.lose(n);
            }
            slot.refusals = 0;
            if !slot.was_live && slot.node.is_live() {
                slot.was_live = true;
                self.shared.live.fetch_add(1, Relaxed);
            }
        }
        self.go_on(n);
        Ok(())
    }
}
