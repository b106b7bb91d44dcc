//! DataNodes of a load, all on one thread.

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

use super::node::{FIRST_PORT, Methods, Node, Replica};
use crate::call::latency::Latencies;
use crate::call::operation::Call;
use crate::rpc::connection::{Connection, End};
use crate::rpc::epoll::Ready;

const EVENTS: usize = 1024;
/// Time between two heartbeats: `dfs.heartbeat.interval`.
const HEARTBEAT: Duration = Duration::from_secs(3);
const RECONNECT: Duration = Duration::from_millis(500);
const REFUSALS_MAX: u32 = 60;
const LIVE_WITHIN: Duration = Duration::from_secs(120);

/// State that the thread shares with the load.
#[derive(Default)]
struct Shared {
    live: AtomicUsize,
    is_over: AtomicBool,
}

/// Latencies, errors and processor time of the DataNodes' calls.
#[derive(Default)]
pub struct FleetOutcome {
    pub latencies: Latencies,
    pub errors: Vec<(Call, String)>,
    pub cpu_seconds: f64,
}

/// The thread of all DataNodes; it ends on drop, or by [`Fleet::end`].
pub struct Fleet {
    shared: Arc<Shared>,
    blocks: Sender<(usize, Replica)>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<Result<FleetOutcome>>>,
    count: usize,
}

/// Channel by which clients give blocks to DataNodes.
#[derive(Clone)]
pub struct Pipeline {
    blocks: Sender<(usize, Replica)>,
    count: usize,
    waker: Arc<Waker>,
}

impl Pipeline {
    /// Gives a block to a DataNode.
    ///
    /// @param port the transfer port of the DataNode
    /// @return false if no DataNode of this fleet has the port
    pub fn write(&self, port: u32, block: Replica) -> bool {
        let number = port.wrapping_sub(FIRST_PORT) as usize;
        // A fleet that has ended needs no blocks.
        if number < self.count && self.blocks.send((number, block)).is_ok() {
            let _ = self.waker.wake();
        }
        number < self.count
    }
}

impl Fleet {
    /// Starts the thread.
    ///
    /// @param reports period of full block reports; None: one, at the start
    /// @param is_counting true while latencies count
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
        let fleet_loop = FleetLoop {
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
            outcome: FleetOutcome::default(),
        };
        let thread =
            thread::Builder::new().name("yunti-datanodes".into()).spawn(move || fleet_loop.run()).map_err(failed)?;
        Ok(Fleet { shared, blocks, waker, thread: Some(thread), count })
    }

    /// Returns a channel for a client.
    pub fn pipeline(&self) -> Pipeline {
        Pipeline { blocks: self.blocks.clone(), count: self.count, waker: self.waker.clone() }
    }

    /// Returns once all are registered and have reported their blocks.
    ///
    /// # Errors
    /// The thread failed, the wait was stopped, or not all are registered in time.
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
                    format!("{live} of {} DataNodes are registered after {} s", self.count, LIVE_WITHIN.as_secs());
                return Err(Error::new(Code::Input, what));
            }
            show(self.shared.live.load(Relaxed));
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Ends the thread and returns its figures.
    pub fn end(&mut self) -> Result<FleetOutcome> {
        self.shared.is_over.store(true, Relaxed);
        let _ = self.waker.wake();
        let Some(thread) = self.thread.take() else { return Ok(FleetOutcome::default()) };
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
    /// Refused connections in a row.
    refusals: u32,
    was_live: bool,
}

/// Scheduled action of a DataNode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Connect,
    Heartbeat,
    Report,
}

struct FleetLoop {
    address: SocketAddr,
    user: String,
    shared: Arc<Shared>,
    is_counting: Arc<AtomicBool>,
    poll: Poll,
    slots: Vec<Slot>,
    arrived: Receiver<(usize, Replica)>,
    methods: Methods,
    begun: Instant,
    due: BTreeSet<(Instant, usize, Due)>,
    reports: Option<Duration>,
    outcome: FleetOutcome,
}

impl FleetLoop {
    fn now_ns(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    fn run(mut self) -> Result<FleetOutcome> {
        let cpu = || {
            let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
            time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
        };
        let count = self.slots.len();
        for n in 0..count {
            // Heartbeats and reports are spread over their period: nodes of a cluster start at different times.
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
                    self.outcome.cpu_seconds += cpu() - cpu_from;
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
        Ok(self.outcome)
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

    /// Sends the node's next call.
    fn go_on(&mut self, n: usize) {
        let now = self.now_ns();
        let slot = &mut self.slots[n];
        let Some(connection) = &mut slot.connection else { return };
        slot.node.go_on(connection.out(), &self.methods, now);
        // The next read reports a broken connection.
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
            let (node, outcome) = (&mut slot.node, &mut self.outcome);
            let end = connection.read(scratch, ready.is_ended, |bytes| {
                if let Some((call, ns, error)) = node.handle_response(bytes, now)? {
                    match error {
                        None if is_counting => outcome.latencies.add(call, ns),
                        None => {}
                        Some(error) => {
                            outcome.latencies.failed(call);
                            if outcome.errors.iter().all(|(known, _)| *known != call) {
                                outcome.errors.push((call, error));
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
