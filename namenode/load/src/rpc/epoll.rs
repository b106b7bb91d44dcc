//! Connections over epoll: a system call for each send and each receive.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use mio::event::Event;
use mio::{Events, Poll, Token};
use yunti_base::Result;

use super::connection::{Connection, End};

const EVENTS: usize = 1024;

/// Connections of a thread, registered with one epoll instance.
pub struct Epoll {
    poll: Poll,
    events: Events,
    connections: Vec<Option<Connection>>,
    scratch: Vec<u8>,
}

/// Readiness of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    pub connection: usize,
    pub is_writable: bool,
    pub is_readable: bool,
    /// The peer has closed its side.
    pub is_ended: bool,
}

impl Ready {
    pub fn of(event: &Event) -> Ready {
        Ready {
            connection: event.token().0,
            is_writable: event.is_writable(),
            is_readable: event.is_readable() || event.is_read_closed(),
            is_ended: event.is_read_closed(),
        }
    }
}

impl Epoll {
    pub fn new(connections: usize) -> io::Result<Epoll> {
        Ok(Epoll {
            poll: Poll::new()?,
            events: Events::with_capacity(EVENTS),
            connections: (0..connections).map(|_| None).collect(),
            scratch: Vec::new(),
        })
    }

    pub fn is_open(&self, n: usize) -> bool {
        self.connections[n].is_some()
    }

    pub fn out(&mut self, n: usize) -> Option<&mut Vec<u8>> {
        self.connections[n].as_mut().map(Connection::out)
    }

    pub fn open(&mut self, n: usize, address: SocketAddr) -> io::Result<()> {
        self.connections[n] = Some(Connection::open(address, self.poll.registry(), Token(n))?);
        Ok(())
    }

    pub fn close(&mut self, n: usize) {
        self.connections[n] = None;
    }

    pub fn writable(&mut self, n: usize) -> io::Result<()> {
        let registry = self.poll.registry();
        self.connections[n].as_mut().map_or(Ok(()), |connection| connection.writable(registry))
    }

    pub fn flush(&mut self, n: usize) -> io::Result<()> {
        let registry = self.poll.registry();
        self.connections[n].as_mut().map_or(Ok(()), |connection| connection.flush(registry))
    }

    pub fn wait(&mut self, time: Duration) -> io::Result<()> {
        match self.poll.poll(&mut self.events, Some(time)) {
            Err(e) if e.kind() != io::ErrorKind::Interrupted => Err(e),
            _ => Ok(()),
        }
    }

    pub fn ready(&self) -> impl Iterator<Item = Ready> {
        self.events.iter().map(Ready::of)
    }

    pub fn read(&mut self, n: usize, is_ended: bool, take: impl FnMut(&[u8]) -> Result<()>) -> Result<End> {
        let connection = self.connections[n].as_mut();
        connection.map_or(Ok(End::Open), |connection| connection.read(&mut self.scratch, is_ended, take))
    }
}
