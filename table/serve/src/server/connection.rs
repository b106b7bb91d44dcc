//! Bytes of one connection: requests in, responses out, with a limit on what waits for the client.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::session::{Session, Shared, append_refusal};
use yunti_table_remote::protocol::frame;
use yunti_table_remote::protocol::input::Input;
use yunti_table_remote::protocol::refusal::{Reason, Refusal};

/// Bytes of responses that may wait for a client; requests behind them are not read.
const WAITING: usize = 4 << 20;
/// Bytes of requests that a connection may have answered before the others of its thread have their turn.
const TURN: usize = 1 << 20;
/// Buffers that grew beyond this for a large message are given back.
const KEPT: usize = 1 << 20;
/// A client that does not say hello within this time is no client.
const HELLO: Duration = Duration::from_secs(10);

pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

enum Channel {
    Plain(Socket),
    Tls(Box<StreamOwned<ServerConnection, Socket>>),
}

/// The next need of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// An event of its socket.
    Event,
    /// Another turn: it has more requests.
    Turn,
    Closed,
}

/// Memory that the connections of a worker use in turn: an idle one keeps none, and one that waits for its client what
/// is not done yet.
#[derive(Default)]
pub struct Buffers {
    input: Input,
    output: Vec<u8>,
}

pub struct Connection {
    channel: Channel,
    session: Session,
    input: Input,
    output: Vec<u8>,
    /// Bytes of the output that are sent.
    sent: usize,
    since: Instant,
    /// The last response is in the output.
    is_ending: bool,
    /// It has been sent, and the client knows that no other comes.
    is_shut: bool,
    /// One more than the server may have.
    pub is_refused: bool,
}

impl Connection {
    pub fn new(socket: Socket, tls: Option<&Arc<ServerConfig>>) -> Option<Connection> {
        let channel = match (socket, tls) {
            (socket @ Socket::Tcp(_), Some(tls)) => {
                let session = ServerConnection::new(tls.clone()).ok()?;
                Channel::Tls(Box::new(StreamOwned::new(session, socket)))
            }
            (socket, _) => Channel::Plain(socket),
        };
        Some(Connection {
            channel,
            session: Session::default(),
            input: Input::default(),
            output: Vec::new(),
            sent: 0,
            since: Instant::now(),
            is_ending: false,
            is_shut: false,
            is_refused: false,
        })
    }

    /// Makes a connection whose only response says why it is refused.
    pub fn refused(socket: Socket, tls: Option<&Arc<ServerConfig>>, shared: &Shared) -> Option<Connection> {
        let mut connection = Connection::new(socket, tls)?;
        let why = Refusal::new(Reason::Full, "the server has as many connections as it may have");
        append_refusal(shared, 0, &why, &mut connection.output);
        Some(Connection { is_ending: true, is_refused: true, ..connection })
    }

    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        match &mut self.channel {
            Channel::Plain(Socket::Tcp(socket)) => registry.register(socket, token, interest),
            Channel::Plain(Socket::Unix(socket)) => registry.register(socket, token, interest),
            Channel::Tls(tls) => match &mut tls.sock {
                Socket::Tcp(socket) => registry.register(socket, token, interest),
                Socket::Unix(socket) => registry.register(socket, token, interest),
            },
        }
    }

    /// Returns true if the client has not said hello in time, or stays although it has its last response.
    pub fn is_late(&self) -> bool {
        (!self.session.is_known || self.is_ending) && self.since.elapsed() > HELLO
    }

    /// Reads, answers and sends as far as the socket allows.
    pub fn turn(&mut self, shared: &Shared, buffers: &mut Buffers) -> Next {
        self.input.borrow(&mut buffers.input);
        if self.output.is_empty() {
            self.output = std::mem::take(&mut buffers.output);
        }
        let next = match self.work(shared) {
            Ok(next) => next,
            Err(e) if e.kind() == ErrorKind::WouldBlock => Next::Event,
            Err(_) => Next::Closed,
        };
        self.input.give_back(&mut buffers.input);
        if self.output.is_empty() {
            buffers.output = std::mem::take(&mut self.output);
        }
        next
    }

    fn work(&mut self, shared: &Shared) -> io::Result<Next> {
        let mut answered = 0;
        loop {
            // An error means that the socket takes no more now; what fits below the limit is answered all the same.
            let is_sent = match self.send(shared) {
                Ok(()) => true,
                Err(e) if e.kind() == ErrorKind::WouldBlock => false,
                Err(e) => return Err(e),
            };
            if self.is_ending {
                return if is_sent { self.drain() } else { Ok(Next::Event) };
            }
            if self.output.len() - self.sent > WAITING {
                return Ok(Next::Event);
            }
            if answered > TURN {
                return Ok(Next::Turn);
            }
            let most = if self.session.is_known { frame::MOST } else { frame::MOST_AT_FIRST };
            match frame::first(self.input.received(), most) {
                Ok(Some((frame, bytes))) => {
                    self.is_ending = !self.session.answer(shared, &frame, &mut self.output);
                    self.input.take(bytes);
                    answered += bytes;
                }
                // The end of the stream is an error too: nothing remains to be answered.
                Ok(None) => {
                    let bytes = self.input.read(&mut self.channel)?;
                    shared.metrics.bytes_in.fetch_add(bytes as u64, Relaxed);
                }
                Err(frame::WrongLength(length)) => {
                    let what = format!("a frame of {length} bytes is none of this protocol");
                    append_refusal(shared, 0, &Refusal::new(Reason::Protocol, what), &mut self.output);
                    self.is_ending = true;
                }
            }
        }
    }

    /// Reads what a client sends before it has its last response. If that were left, the system would report a broken
    /// connection to the client, and the response would be lost.
    fn drain(&mut self) -> io::Result<Next> {
        if !self.is_shut {
            self.is_shut = true;
            self.channel.shut()?;
        }
        let mut drained = self.input.received().len();
        while drained <= TURN {
            let count = self.input.received().len();
            self.input.take(count);
            drained += self.input.read(&mut self.channel)?;
        }
        Ok(Next::Closed)
    }

    fn send(&mut self, shared: &Shared) -> io::Result<()> {
        if self.sent > WAITING {
            self.output.drain(..self.sent);
            self.sent = 0;
        }
        while self.sent < self.output.len() {
            match self.channel.write(&self.output[self.sent..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => {
                    self.sent += bytes;
                    shared.metrics.bytes_out.fetch_add(bytes as u64, Relaxed);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.output.clear();
        self.sent = 0;
        self.output.shrink_to(KEPT);
        self.channel.flush()
    }
}

impl Channel {
    /// Ends the direction to the client.
    fn shut(&mut self) -> io::Result<()> {
        match self {
            Channel::Plain(socket) => socket.shut(),
            Channel::Tls(tls) => {
                tls.conn.send_close_notify();
                tls.flush()?;
                tls.sock.shut()
            }
        }
    }
}

impl Socket {
    fn shut(&self) -> io::Result<()> {
        match self {
            Socket::Tcp(socket) => socket.shutdown(Shutdown::Write),
            Socket::Unix(socket) => socket.shutdown(Shutdown::Write),
        }
    }
}

impl Read for Channel {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Channel::Plain(socket) => socket.read(out),
            Channel::Tls(tls) => tls.read(out),
        }
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Channel::Plain(socket) => socket.write(bytes),
            Channel::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Channel::Plain(_) => Ok(()),
            Channel::Tls(tls) => tls.flush(),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(socket) => socket.read(out),
            Socket::Unix(socket) => socket.read(out),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(socket) => socket.write(bytes),
            Socket::Unix(socket) => socket.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
