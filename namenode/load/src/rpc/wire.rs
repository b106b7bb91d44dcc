//! Connections of a thread, over io_uring or epoll.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use clap::ValueEnum;
use yunti_base::{Code, Error, Result};

use super::buffer_pool::Piece;
use super::connection::End;
use super::epoll::{Epoll, Ready};
use super::ring::{LineEvent, Ring};

/// I/O method, as `--io` selects it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Io {
    /// io_uring, or epoll if the kernel does not have or allow it
    #[default]
    Auto,
    /// A system call for each send and each receive
    Epoll,
    /// One system call for all calls of a round: Linux 6.1 or later
    Uring,
}

impl Io {
    /// Returns the value of `--io`.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Connections of a thread, with numbers from 0.
pub enum Wire {
    Uring(Box<Ring>),
    Epoll(Epoll, VecDeque<Ready>),
}

/// Event of a connection.
pub enum Event {
    /// The connection is established, failed, or can take more bytes: call [`Wire::writable`].
    Writable(usize),
    /// Bytes or the end: call [`Wire::read`].
    Readable(usize, Source),
}

/// Location of received bytes.
pub enum Source {
    Socket {
        is_ended: bool,
    },
    Piece(Piece),
    /// The connection is closed.
    Nowhere,
}

impl Wire {
    /// Creates the connections of the calling thread.
    ///
    /// # Errors
    /// `--io uring` without io_uring, or epoll fails.
    pub fn new(io: Io, connections: usize) -> Result<Wire> {
        let ring = match io {
            Io::Epoll => None,
            Io::Uring | Io::Auto => Some(Ring::new(connections)),
        };
        match ring {
            Some(Ok(ring)) => Ok(Wire::Uring(Box::new(ring))),
            Some(Err(e)) if io == Io::Uring => {
                Err(Error::io(Code::Input, "io_uring is not available", &e)
                    .hint("use Linux 6.1 or later, or --io epoll"))
            }
            _ => {
                let epoll = Epoll::new(connections).map_err(|e| Error::io(Code::Internal, "epoll", &e))?;
                Ok(Wire::Epoll(epoll, VecDeque::new()))
            }
        }
    }

    /// Returns the I/O method in use.
    pub fn name(&self) -> &'static str {
        match self {
            Wire::Uring(_) => "uring",
            Wire::Epoll(..) => "epoll",
        }
    }

    pub fn is_open(&self, n: usize) -> bool {
        match self {
            Wire::Uring(ring) => ring.is_open(n),
            Wire::Epoll(epoll, _) => epoll.is_open(n),
        }
    }

    /// Starts to connect.
    pub fn open(&mut self, n: usize, address: SocketAddr) -> io::Result<()> {
        match self {
            Wire::Uring(ring) => ring.open(n, address),
            Wire::Epoll(epoll, _) => epoll.open(n, address),
        }
    }

    pub fn close(&mut self, n: usize) {
        match self {
            Wire::Uring(ring) => ring.close(n),
            Wire::Epoll(epoll, _) => epoll.close(n),
        }
    }

    /// Returns the buffer that [`Wire::flush`] sends; None if the connection is closed.
    pub fn out(&mut self, n: usize) -> Option<&mut Vec<u8>> {
        match self {
            Wire::Uring(ring) => ring.out(n),
            Wire::Epoll(epoll, _) => epoll.out(n),
        }
    }

    /// Sends the buffer, at the latest with the next [`Wire::wait`].
    pub fn flush(&mut self, n: usize) -> io::Result<()> {
        match self {
            Wire::Uring(ring) => ring.flush(n),
            Wire::Epoll(epoll, _) => epoll.flush(n),
        }
    }

    /// Handles [`Event::Writable`].
    pub fn writable(&mut self, n: usize) -> io::Result<()> {
        match self {
            Wire::Uring(ring) => ring.connected(n),
            Wire::Epoll(epoll, _) => epoll.writable(n),
        }
    }

    pub fn wait(&mut self, time: Duration) -> Result<()> {
        let (name, waited) = match self {
            Wire::Uring(ring) => ("io_uring", ring.wait(time)),
            Wire::Epoll(epoll, ready) => {
                let waited = epoll.wait(time);
                ready.extend(epoll.ready());
                ("epoll", waited)
            }
        };
        waited.map_err(|e| Error::io(Code::Internal, name, &e))
    }

    /// Returns the next event of the last [`Wire::wait`].
    pub fn next(&mut self) -> Option<Event> {
        match self {
            Wire::Uring(ring) => ring.next().map(|(n, event)| match event {
                LineEvent::Connected => Event::Writable(n),
                LineEvent::Received(piece) => Event::Readable(n, Source::Piece(piece)),
                LineEvent::Closed => Event::Readable(n, Source::Nowhere),
            }),
            Wire::Epoll(_, ready) => {
                let first = ready.front_mut()?;
                let n = first.connection;
                if std::mem::take(&mut first.is_writable) {
                    return Some(Event::Writable(n));
                }
                let Ready { is_readable, is_ended, .. } = ready.pop_front()?;
                if is_readable { Some(Event::Readable(n, Source::Socket { is_ended })) } else { self.next() }
            }
        }
    }

    /// Passes each complete response on.
    ///
    /// # Errors
    /// The bytes are not Hadoop RPC, or `take` fails.
    pub fn read(&mut self, n: usize, source: Source, take: impl FnMut(&[u8]) -> Result<()>) -> Result<End> {
        match (self, source) {
            (Wire::Uring(ring), Source::Piece(piece)) => ring.read(n, piece, take),
            (Wire::Epoll(epoll, _), Source::Socket { is_ended }) => epoll.read(n, is_ended, take),
            (_, _) => Ok(End::Closed),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread::{self, JoinHandle};
    use std::time::Instant;

    use super::*;

    const TIME: Duration = Duration::from_millis(1);

    /// Runs a check over epoll and, if this machine has it, io_uring.
    fn with_each_io(connections: usize, check: impl Fn(&mut Wire)) {
        for io in [Io::Epoll, Io::Uring] {
            match Wire::new(io, connections) {
                Ok(mut wire) => check(&mut wire),
                Err(e) => eprintln!("SKIP {io:?}: {e}"),
            }
        }
    }

    /// Starts a server that runs `act` on each of `count` connections.
    fn server(count: usize, act: fn(std::net::TcpStream)) -> (SocketAddr, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let all = thread::spawn(move || {
            let each: Vec<_> =
                (0..count).map(|_| listener.accept().unwrap().0).map(|one| thread::spawn(move || act(one))).collect();
            each.into_iter().for_each(|one| one.join().unwrap());
        });
        (address, all)
    }

    fn echo(mut stream: std::net::TcpStream) {
        let mut bytes = vec![0; 3000];
        while let Ok(n @ 1..) = stream.read(&mut bytes) {
            if stream.write_all(&bytes[..n]).is_err() {
                break;
            }
        }
    }

    fn framed(bytes: usize, fill: u8) -> Vec<u8> {
        [&(bytes as u32).to_be_bytes()[..], &vec![fill; bytes]].concat()
    }

    #[derive(Default)]
    struct Received {
        responses: Vec<(usize, Vec<u8>)>,
        closed: Vec<usize>,
        failed: Vec<usize>,
    }

    /// Handles events until `is_enough`.
    fn until(wire: &mut Wire, received: &mut Received, is_enough: impl Fn(&Received) -> bool) {
        let end = Instant::now() + Duration::from_secs(30);
        while !is_enough(received) {
            assert!(
                Instant::now() < end,
                "{} responses, {:?}, {:?}",
                received.responses.len(),
                received.closed,
                received.failed
            );
            wire.wait(TIME).unwrap();
            while let Some(event) = wire.next() {
                match event {
                    Event::Writable(n) if wire.writable(n).is_err() => {
                        wire.close(n);
                        received.failed.push(n);
                    }
                    Event::Writable(_) => {}
                    Event::Readable(n, source) => {
                        let take = |bytes: &[u8]| {
                            received.responses.push((n, bytes.to_vec()));
                            Ok(())
                        };
                        if wire.read(n, source, take).unwrap() == End::Closed && wire.is_open(n) {
                            wire.close(n);
                            received.closed.push(n);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn echoes_come_back_in_order() {
        with_each_io(3, |wire| {
            let (address, server) = server(3, echo);
            let mut received = Received::default();
            // The largest fill all buffers, of the sockets and of the ring.
            let sizes = [0, 1, 4091, 4092, 4093, 70_000, 3_000_000, 5, 1_000_000, 9];
            for n in 0..3 {
                wire.open(n, address).unwrap();
                for (i, bytes) in sizes.into_iter().enumerate() {
                    wire.out(n).unwrap().extend(framed(bytes, (i + n) as u8));
                    // The previous send may be under way, or the connection not established.
                    wire.flush(n).unwrap();
                    if i > 2 {
                        until(wire, &mut received, |_| true);
                        wire.wait(Duration::ZERO).unwrap();
                    }
                    while let Some(event) = wire.next() {
                        match event {
                            Event::Writable(n) => wire.writable(n).unwrap(),
                            Event::Readable(n, source) => {
                                let take = |bytes: &[u8]| {
                                    received.responses.push((n, bytes.to_vec()));
                                    Ok(())
                                };
                                assert_eq!(wire.read(n, source, take).unwrap(), End::Open);
                            }
                        }
                    }
                }
            }
            until(wire, &mut received, |received| received.responses.len() == 3 * sizes.len());
            for n in 0..3 {
                let of: Vec<&Vec<u8>> =
                    received.responses.iter().filter(|(of, _)| *of == n).map(|(_, bytes)| bytes).collect();
                let expected: Vec<Vec<u8>> =
                    sizes.into_iter().enumerate().map(|(i, bytes)| framed(bytes, (i + n) as u8)).collect();
                assert!(of.into_iter().eq(expected.iter()), "connection {n}");
                wire.close(n);
            }
            wire.wait(TIME).unwrap();
            server.join().unwrap();
        });
    }

    #[test]
    fn reports_a_closed_connection() {
        with_each_io(2, |wire| {
            // One response, and the end.
            let (address, server) = server(2, |mut stream| stream.write_all(&framed(10, 1)).unwrap());
            let mut received = Received::default();
            (0..2).for_each(|n| wire.open(n, address).unwrap());
            until(wire, &mut received, |received| received.closed.len() == 2);
            assert_eq!(received.responses.len(), 2);
            server.join().unwrap();
        });
    }

    #[test]
    fn reports_a_refused_connection() {
        with_each_io(1, |wire| {
            let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            if wire.open(0, address).is_ok() {
                until(wire, &mut Received::default(), |received| received.failed == [0]);
            }
        });
    }

    #[test]
    fn reuses_the_place_of_a_closed_connection() {
        with_each_io(1, |wire| {
            let (address, server) = server(200, echo);
            let mut received = Received::default();
            for round in 0..200 {
                wire.open(0, address).unwrap();
                wire.out(0).unwrap().extend(framed(20_000, round as u8));
                // Each round closes at another moment: while it connects, sends or receives.
                let end = Instant::now() + Duration::from_micros(10 * round);
                until(wire, &mut received, |_| Instant::now() > end);
                wire.close(0);
                assert!(wire.next().is_none());
                assert!(received.responses.drain(..).all(|(_, bytes)| bytes == framed(20_000, round as u8)), "{round}");
            }
            server.join().unwrap();
            assert_eq!((received.closed.len(), received.failed.len()), (0, 0));
        });
    }
}
