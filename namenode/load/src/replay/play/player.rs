//! Player of scripts over connections of their users, at their times (open loop).
//!
//! ```text
//!   feed -> due -> order of the path -> ready -> a connection of the user -> request, response, request, .. -> end
//!                       |                 |          idle, closed, or idle of another user: reopened
//!                       v                 v
//!                    waiting           waiting
//! ```
//!
//! The latency of a call counts from its intended time, so a NameNode that stalls delays all calls that come due in the
//! stall. A connection has one call at a time.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use yunti_base::{Code, Error, Result};

use super::feed::{Feed, Next, Script};
use super::order::{CallNumber, PathOrder};
use super::outcome::ReplayOutcome;
use super::request::{Encoder, Methods, Request};
use crate::call::operation::{Call, refused, short_name};
use crate::replay::command::Command;
use crate::rpc::connection::End;
use crate::rpc::frame;
use crate::rpc::messages::Done;
use crate::rpc::wire::{Event, Io, Source, Wire};

/// Longest wait for an event.
const TICK: Duration = Duration::from_millis(50);
/// Wait for the thread that reads the log.
const NOT_YET: Duration = Duration::from_millis(1);
/// Time to wait for responses after a signal or the end of the time.
const DRAIN: Duration = Duration::from_secs(5);
/// Pause after a broken connection before another one opens.
const RECONNECT: Duration = Duration::from_millis(100);
/// Broken connections in a row, without a response, that end the replay.
const BREAKS_MAX: u32 = 200;
/// Connections that open at once: the backlog of a server is short.
const OPENING_MAX: usize = 128;
/// User of a connection that is not open.
const NOBODY: u32 = u32::MAX;

struct Slot {
    user: u32,
    call: Option<CallNumber>,
    is_opening: bool,
    encoder: Encoder,
}

struct CallState {
    script: Script,
    /// Number of the next request.
    next: usize,
    /// Keys of its paths in the order.
    keys: [Option<u64>; 2],
    /// Keys that it has not entered yet.
    missing: u8,
}

/// Progress of a replay, for other threads.
#[derive(Default)]
pub struct ReplayProgress {
    pub calls: AtomicU64,
    pub stop: AtomicBool,
    pub is_counting: AtomicBool,
}

/// Connections and the calls under way.
pub struct Player<'a> {
    address: SocketAddr,
    users: &'a [String],
    progress: &'a ReplayProgress,
    methods: Methods,
    wire: Wire,
    slots: Vec<Slot>,
    /// Idle connections of each user; an entry counts only if the slot still is one.
    idle: HashMap<u32, Vec<usize>>,
    /// All idle connections, the longest idle first; likewise.
    oldest_idle: VecDeque<usize>,
    closed: Vec<usize>,
    opening: usize,
    /// Calls that wait for a connection, by user, and the users in the order of their calls.
    waiting: HashMap<u32, VecDeque<CallNumber>>,
    waiting_users: VecDeque<u32>,
    calls: Vec<Option<CallState>>,
    free: Vec<CallNumber>,
    under_way: usize,
    order: PathOrder,
    begun: Instant,
    paused_until: Instant,
    breaks: u32,
    outcome: ReplayOutcome,
}

impl<'a> Player<'a> {
    /// Creates a player without connections.
    ///
    /// # Errors
    /// As of [`Wire::new`].
    pub fn new(
        address: SocketAddr,
        io: Io,
        connections: usize,
        users: &'a [String],
        progress: &'a ReplayProgress,
    ) -> Result<Player<'a>> {
        let slot = |_| Slot { user: NOBODY, call: None, is_opening: false, encoder: Encoder::new() };
        Ok(Player {
            address,
            users,
            progress,
            methods: Methods::new(),
            wire: Wire::new(io, connections)?,
            slots: (0..connections).map(slot).collect(),
            idle: HashMap::new(),
            oldest_idle: VecDeque::new(),
            closed: (0..connections).rev().collect(),
            opening: 0,
            waiting: HashMap::new(),
            waiting_users: VecDeque::new(),
            calls: Vec::new(),
            free: Vec::new(),
            under_way: 0,
            order: PathOrder::default(),
            begun: Instant::now(),
            paused_until: Instant::now(),
            breaks: 0,
            outcome: ReplayOutcome::new(),
        })
    }

    /// Returns the I/O method in use.
    pub fn io_name(&self) -> &'static str {
        self.wire.name()
    }

    /// Plays a feed to its end, until a time, or until it is stopped; returns the outcome since the last call.
    ///
    /// # Errors
    /// No NameNode responds, or it requires Kerberos.
    pub fn play(&mut self, feed: &mut dyn Feed, time: Option<Duration>) -> Result<ReplayOutcome> {
        self.begun = Instant::now();
        let end_ns = time.map_or(u64::MAX, |time| time.as_nanos() as u64);
        let mut is_fed = true;
        loop {
            let now = self.now_ns();
            if self.progress.stop.load(Relaxed) || now >= end_ns {
                break;
            }
            let mut timeout = TICK.min(Duration::from_nanos(end_ns - now));
            while is_fed && self.under_way < feed.under_way_max() {
                match feed.next() {
                    Next::Due(due) if due > now => {
                        timeout = timeout.min(Duration::from_nanos(due - now));
                        break;
                    }
                    Next::Due(_) => {
                        if let Some(script) = feed.take() {
                            self.admit(script);
                        }
                    }
                    Next::NotYet => {
                        timeout = timeout.min(NOT_YET);
                        break;
                    }
                    Next::End => is_fed = false,
                }
            }
            if !is_fed && self.under_way == 0 {
                break;
            }
            self.round(timeout)?;
        }
        let until = Instant::now() + DRAIN;
        while self.slots.iter().any(|slot| slot.call.is_some()) && Instant::now() < until {
            self.outcome.unanswered += self.forget_waiting();
            self.round(TICK)?;
        }
        self.outcome.unanswered += self.forget_waiting() + self.under_way as u64;
        Ok(std::mem::replace(&mut self.outcome, ReplayOutcome::new()))
    }

    fn now_ns(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    /// Drops the calls that were not sent, and returns their number.
    fn forget_waiting(&mut self) -> u64 {
        let sent: Vec<CallNumber> = self.slots.iter().filter_map(|slot| slot.call).collect();
        let mut count = 0;
        for (number, call) in self.calls.iter_mut().enumerate() {
            if call.is_some() && !sent.contains(&number) {
                *call = None;
                self.free.push(number);
                count += 1;
            }
        }
        self.under_way -= count;
        self.waiting.clear();
        self.waiting_users.clear();
        self.order = PathOrder::default();
        for call in self.calls.iter_mut().flatten() {
            call.keys = [None, None];
        }
        count as u64
    }

    /// Takes a call that is due.
    fn admit(&mut self, script: Script) {
        // The name space has no path twice.
        let paths: [Option<&String>; 2] = match script.command.and(script.requests.first()) {
            Some(Request::Rename { src, dst, .. }) => [Some(src), Some(dst).filter(|dst| *dst != src)],
            Some(request) => [request.path(), None],
            None => [None, None],
        };
        let keys = paths.map(|path| path.map(|path| self.order.key(path)));
        let is_change = script.command.is_some_and(Command::is_change);
        let number = self.free.pop().unwrap_or(self.calls.len());
        if number == self.calls.len() {
            self.calls.push(None);
        }
        let missing = keys.iter().flatten().filter(|key| !self.order.enter(number, **key, is_change)).count() as u8;
        self.calls[number] = Some(CallState { script, next: 0, keys, missing });
        self.under_way += 1;
        if missing == 0 {
            self.ready(number);
        }
    }

    /// Starts a call on a connection of its user, or lets it wait for one.
    fn ready(&mut self, number: CallNumber) {
        let Some(user) = self.calls[number].as_ref().map(|call| call.script.user) else { return };
        match self.connection(user) {
            Some(slot) => self.start(slot, number),
            None => {
                self.waiting.entry(user).or_default().push_back(number);
                self.waiting_users.push_back(user);
            }
        }
    }

    /// Returns an idle connection of the user, or a slot to open one.
    fn connection(&mut self, user: u32) -> Option<usize> {
        while let Some(slot) = self.idle.get_mut(&user).and_then(Vec::pop) {
            if self.slots[slot].user == user && self.slots[slot].call.is_none() {
                return Some(slot);
            }
        }
        if self.opening >= OPENING_MAX || Instant::now() < self.paused_until {
            return None;
        }
        if let Some(slot) = self.closed.pop() {
            return Some(slot);
        }
        while let Some(slot) = self.oldest_idle.pop_front() {
            if self.slots[slot].user != NOBODY && self.slots[slot].call.is_none() {
                self.wire.close(slot);
                self.slots[slot].user = NOBODY;
                return Some(slot);
            }
        }
        None
    }

    fn start(&mut self, n: usize, number: CallNumber) {
        let Some(call) = &self.calls[number] else { return };
        let (user, due_ns, is_of_log) = (call.script.user, call.script.due_ns, call.script.command.is_some());
        self.slots[n].call = Some(number);
        if self.slots[n].user == NOBODY {
            if self.wire.open(n, self.address).is_err() {
                return self.lose(n);
            }
            let slot = &mut self.slots[n];
            slot.user = user;
            if !std::mem::replace(&mut slot.is_opening, true) {
                self.opening += 1;
            }
            if let Some(out) = self.wire.out(n) {
                slot.encoder.hello(out, self.users.get(user as usize).map_or("nobody", String::as_str));
            }
        }
        if is_of_log {
            let lag_us = self.now_ns().saturating_sub(due_ns) / 1000;
            self.outcome.lag.saturating_record(lag_us.max(1));
            self.outcome.sent += 1;
        }
        self.send(n);
    }

    /// Sends the next request of a connection's call.
    fn send(&mut self, n: usize) {
        let slot = &mut self.slots[n];
        let call = slot.call.and_then(|number| self.calls[number].as_ref());
        let request = call.and_then(|call| call.script.requests.get(call.next));
        if let (Some(request), Some(out)) = (request, self.wire.out(n)) {
            slot.encoder.write(out, &self.methods, request);
        }
        if self.wire.flush(n).is_err() {
            self.lose(n);
        }
    }

    fn round(&mut self, timeout: Duration) -> Result<()> {
        self.wire.wait(timeout)?;
        while let Some(event) = self.wire.next() {
            match event {
                Event::Writable(n) if self.wire.is_open(n) => {
                    if let Err(e) = self.wire.writable(n) {
                        self.lose(n);
                        self.check_breaks(&e)?;
                    }
                }
                Event::Writable(_) => {}
                Event::Readable(n, source) => self.readable(n, source)?,
            }
        }
        self.dispatch();
        Ok(())
    }

    fn check_breaks(&self, error: &io::Error) -> Result<()> {
        if self.breaks < BREAKS_MAX {
            return Ok(());
        }
        Err(Error::io(Code::Input, "no NameNode responds", error)
            .at_path(self.address.to_string())
            .hint("give its RPC address: dfs.namenode.rpc-address, or fs.defaultFS"))
    }

    fn readable(&mut self, n: usize, source: Source) -> Result<()> {
        if !self.wire.is_open(n) {
            return Ok(());
        }
        let mut responses = Vec::new();
        let end = self.wire.read(n, source, |bytes| {
            responses.push(bytes.to_vec());
            Ok(())
        })?;
        for response in responses {
            self.breaks = 0;
            self.progress.calls.fetch_add(1, Relaxed);
            self.is_accepted(n);
            self.handle(n, &response)?;
        }
        if end == End::Closed && self.wire.is_open(n) {
            self.lose(n);
            self.check_breaks(&io::ErrorKind::ConnectionReset.into())?;
        }
        Ok(())
    }

    fn is_accepted(&mut self, n: usize) {
        if std::mem::take(&mut self.slots[n].is_opening) {
            self.opening -= 1;
        }
    }

    fn handle(&mut self, n: usize, bytes: &[u8]) -> Result<()> {
        let response = frame::response(bytes)?;
        let now = self.now_ns();
        let Some(number) = self.slots[n].call else { return Ok(()) };
        let Some(call) = &mut self.calls[number] else { return Ok(()) };
        let (command, is_allowed) = (call.script.command, call.script.is_allowed);
        let us = now.saturating_sub(call.script.due_ns) / 1000;
        let is_first = call.next == 0;
        call.next += 1;
        let is_last = call.next == call.script.requests.len();
        let has_result = matches!(command, Some(Command::Mkdirs | Command::Delete | Command::Rename));
        let failure = if response.header.status != 0 {
            let exception = response.header.exception.as_deref().unwrap_or("an unnamed error");
            let message = response.header.error.as_deref().unwrap_or_default();
            // Fatal: the server would close each further connection too.
            if response.header.status == 2 && message.contains("SIMPLE authentication is not enabled") {
                return Err(refused(Call::GetFileInfo, exception, message));
            }
            Some((short_name(exception).to_owned(), message.lines().next().unwrap_or_default().to_owned()))
        } else if has_result && response.result::<Done>().is_ok_and(|done| !done.result) {
            Some(("returned false".to_owned(), call.script.requests[0].path().cloned().unwrap_or_default()))
        } else {
            None
        };
        let error = failure.as_ref().map(|(class, message)| (class.as_str(), message.as_str()));
        // A later request of the same call only counts if it fails.
        if is_first || error.is_some() && command.is_none() {
            self.outcome.add(command, is_allowed, error, us);
        }
        self.outcome.seconds = now as f64 / 1e9;
        if error.is_some() || is_last {
            self.finish(n);
        } else {
            self.send(n);
        }
        Ok(())
    }

    /// Ends the call of a connection, which is idle then.
    fn finish(&mut self, n: usize) {
        if let Some(number) = self.slots[n].call.take() {
            self.end(number);
        }
        let user = self.slots[n].user;
        if user == NOBODY {
            return;
        }
        match self.waiting.get_mut(&user).and_then(VecDeque::pop_front) {
            Some(next) => self.start(n, next),
            None => {
                self.idle.entry(user).or_default().push(n);
                self.oldest_idle.push_back(n);
            }
        }
    }

    /// Forgets a call, and starts the calls that waited for its paths.
    fn end(&mut self, number: CallNumber) {
        let Some(call) = self.calls[number].take() else { return };
        self.free.push(number);
        self.under_way -= 1;
        let is_change = call.script.command.is_some_and(Command::is_change);
        let mut admitted = Vec::new();
        call.keys.iter().flatten().for_each(|key| self.order.leave(*key, is_change, &mut admitted));
        for next in admitted {
            let Some(state) = &mut self.calls[next] else { continue };
            state.missing -= 1;
            if state.missing == 0 {
                self.ready(next);
            }
        }
    }

    /// Closes a broken connection; its call failed.
    fn lose(&mut self, n: usize) {
        self.wire.close(n);
        self.is_accepted(n);
        self.breaks += 1;
        self.outcome.reconnects += 1;
        self.paused_until = Instant::now() + RECONNECT;
        self.slots[n].user = NOBODY;
        if let Some(number) = self.slots[n].call.take() {
            if let Some(call) = self.calls[number].as_ref().filter(|call| call.next == 0) {
                let (command, is_allowed) = (call.script.command, call.script.is_allowed);
                self.outcome.add(command, is_allowed, Some(("connection broke", "no response")), 0);
            }
            self.end(number);
        }
        self.closed.push(n);
    }

    /// Starts waiting calls while there are connections for them.
    fn dispatch(&mut self) {
        while let Some(user) = self.waiting_users.front().copied() {
            if self.waiting.get(&user).is_none_or(VecDeque::is_empty) {
                self.waiting_users.pop_front();
                continue;
            }
            let Some(slot) = self.connection(user) else { break };
            self.waiting_users.pop_front();
            if let Some(number) = self.waiting.get_mut(&user).and_then(VecDeque::pop_front) {
                self.start(slot, number);
            }
        }
    }
}

impl Request {
    /// Returns the path, of a rename the source.
    fn path(&self) -> Option<&String> {
        match self {
            Request::Path(_, path)
            | Request::Listing(path)
            | Request::Locations(path)
            | Request::Append(path)
            | Request::Complete(path)
            | Request::Delete(path)
            | Request::SetReplication(path)
            | Request::CheckAccess(path)
            | Request::Create { path, .. }
            | Request::Mkdirs { path, .. }
            | Request::SetPermission { path, .. }
            | Request::SetOwner { path, .. }
            | Request::SetTimes { path, .. } => Some(path),
            Request::Rename { src, .. } => Some(src),
        }
    }
}
