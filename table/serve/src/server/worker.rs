//! A thread of the server: its connections, and what is ready on them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token, Waker};
use rustls::ServerConfig;
use yunti_base::cancel::Cancel;

use super::connection::{Buffers, Connection, Next, Socket};
use super::session::Shared;

const WAKE: Token = Token(usize::MAX);
const EVENTS: usize = 256;
/// Longest wait: how soon clients that say nothing, and the end of the server, are seen.
const WAIT: Duration = Duration::from_millis(500);

/// A worker that runs, seen by the thread that accepts connections.
pub struct Worker {
    fresh: Sender<(Socket, bool)>,
    waker: Waker,
    thread: JoinHandle<()>,
}

impl Worker {
    pub fn start(shared: Arc<Shared>, tls: Option<Arc<ServerConfig>>, cancel: Cancel) -> io::Result<Worker> {
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKE)?;
        let (fresh, arrived) = channel();
        let state = State {
            poll,
            arrived,
            shared,
            tls,
            buffers: Buffers::default(),
            connections: Vec::new(),
            free: Vec::new(),
        };
        let thread = std::thread::Builder::new().name("table-worker".into()).spawn(move || state.run(&cancel))?;
        Ok(Worker { fresh, waker, thread })
    }

    /// Hands a connection to the worker, to be answered or refused.
    pub fn take(&self, socket: Socket, is_refused: bool) {
        if self.fresh.send((socket, is_refused)).is_ok() {
            let _ = self.waker.wake();
        }
    }

    /// Waits for the end of the worker, once it is cancelled.
    pub fn join(self) {
        let _ = self.waker.wake();
        let _ = self.thread.join();
    }
}

struct State {
    poll: Poll,
    arrived: Receiver<(Socket, bool)>,
    shared: Arc<Shared>,
    tls: Option<Arc<ServerConfig>>,
    buffers: Buffers,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
}

impl State {
    fn run(mut self, cancel: &Cancel) {
        let mut events = Events::with_capacity(EVENTS);
        // Connections that have more requests than their turn took.
        let mut turns: Vec<usize> = Vec::new();
        let mut checked = Instant::now();
        while !cancel.is_set() {
            let wait = if turns.is_empty() { WAIT } else { Duration::ZERO };
            // An interruption by a signal leaves no event.
            if let Err(e) = self.poll.poll(&mut events, Some(wait))
                && e.kind() != io::ErrorKind::Interrupted
            {
                break;
            }
            let mut ready = std::mem::take(&mut turns);
            for event in &events {
                match event.token() {
                    WAKE => self.add_arrived(&mut ready),
                    Token(place) if !ready.contains(&place) => ready.push(place),
                    Token(_) => {}
                }
            }
            for place in ready {
                if self.turn(place) == Next::Turn {
                    turns.push(place);
                }
            }
            if checked.elapsed() > WAIT {
                checked = Instant::now();
                self.close_late();
            }
        }
        // What has arrived is answered; clients send the rest to another server.
        for place in 0..self.connections.len() {
            self.turn(place);
        }
        (0..self.connections.len()).for_each(|place| self.close(place));
    }

    fn add_arrived(&mut self, ready: &mut Vec<usize>) {
        while let Ok((socket, is_refused)) = self.arrived.try_recv() {
            let tls = self.tls.as_ref();
            let made = match is_refused {
                true => Connection::refused(socket, tls, &self.shared),
                false => Connection::new(socket, tls),
            };
            let added = made.and_then(|mut connection| {
                let place = self.free.last().copied().unwrap_or(self.connections.len());
                connection.register(self.poll.registry(), Token(place)).ok()?;
                Some((place, connection))
            });
            let Some((place, connection)) = added else {
                self.shared.metrics.of(is_refused).fetch_sub(1, Relaxed);
                continue;
            };
            if self.free.pop().is_none() {
                self.connections.push(None);
            }
            self.connections[place] = Some(connection);
            ready.push(place);
        }
    }

    fn turn(&mut self, place: usize) -> Next {
        let Some(connection) = self.connections.get_mut(place).and_then(Option::as_mut) else { return Next::Event };
        let next = connection.turn(&self.shared, &mut self.buffers);
        if next == Next::Closed {
            self.close(place);
        }
        next
    }

    fn close(&mut self, place: usize) {
        let Some(connection) = self.connections[place].take() else { return };
        self.free.push(place);
        self.shared.metrics.of(connection.is_refused).fetch_sub(1, Relaxed);
    }

    fn close_late(&mut self) {
        for place in 0..self.connections.len() {
            if self.connections[place].as_ref().is_some_and(Connection::is_late) {
                self.close(place);
            }
        }
    }
}
