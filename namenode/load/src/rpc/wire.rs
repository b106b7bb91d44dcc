//! The connections of a thread, by io_uring or by epoll.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use yunti_base::{Code, Error, Result};

use super::connection::End;
use super::lent::Piece;
use super::polled::{Polled, Ready};
use super::ring::{Ring, What};

/// Which way is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Io {
    /// io_uring, and epoll where the kernel has it not or does not allow it
    #[default]
    Auto,
    /// A send and a receive each a system call
    Epoll,
    /// What is to be sent goes to the kernel at once: Linux 6.1 or later
    Uring,
}

impl Io {
    /// As `--io` takes it.
    pub fn word(self) -> &'static str {
        match self {
            Io::Auto => "auto",
            Io::Epoll => "epoll",
            Io::Uring => "uring",
        }
    }
}

pub enum Wire {
    Uring(Box<Ring>),
    Epoll(Polled, VecDeque<Ready>),
}

pub enum Event {
    /// It is connected, or has failed to, or can take more: [`Wire::writable`] tells.
    Writable(usize),
    /// [`Wire::read`] tells of what.
    Readable(usize, Source),
}

/// Where what has come is.
pub enum Source {
    Socket {
        is_ended: bool,
    },
    Piece(Piece),
    /// Nothing more comes.
    Nowhere,
}

impl Wire {
    /// Of the thread that calls.
    pub fn new(io: Io, connections: usize) -> Result<Wire> {
        let ring = match io {
            Io::Epoll => None,
            Io::Uring | Io::Auto => Some(Ring::new(connections)),
        };
        match ring {
            Some(Ok(ring)) => Ok(Wire::Uring(Box::new(ring))),
            Some(Err(e)) if io == Io::Uring => {
                Err(Error::io(Code::Input, "there is no io_uring", &e).hint("Linux 6.1 or later; or --io epoll"))
            }
            _ => {
                let polled = Polled::new(connections).map_err(|e| Error::io(Code::Internal, "epoll", &e))?;
                Ok(Wire::Epoll(polled, VecDeque::new()))
            }
        }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Wire::Uring(_) => "uring",
            Wire::Epoll(..) => "epoll",
        }
    }

    pub fn is_open(&self, n: usize) -> bool {
        match self {
            Wire::Uring(ring) => ring.is_open(n),
            Wire::Epoll(polled, _) => polled.is_open(n),
        }
    }

    /// Begins to connect.
    pub fn open(&mut self, n: usize, address: SocketAddr) -> io::Result<()> {
        match self {
            Wire::Uring(ring) => ring.open(n, address),
            Wire::Epoll(polled, _) => polled.open(n, address),
        }
    }

    pub fn close(&mut self, n: usize) {
        match self {
            Wire::Uring(ring) => ring.close(n),
            Wire::Epoll(polled, _) => polled.close(n),
        }
    }

    /// Where to put what is to be sent by [`Wire::flush`], of a connection that is open.
    pub fn out(&mut self, n: usize) -> Option<&mut Vec<u8>> {
        match self {
            Wire::Uring(ring) => ring.out(n),
            Wire::Epoll(polled, _) => polled.out(n),
        }
    }

    /// At the latest with the next [`Wire::wait`].
    pub fn flush(&mut self, n: usize) -> io::Result<()> {
        match self {
            Wire::Uring(ring) => ring.flush(n),
            Wire::Epoll(polled, _) => polled.flush(n),
        }
    }

    /// After [`Event::Writable`].
    pub fn writable(&mut self, n: usize) -> io::Result<()> {
        match self {
            Wire::Uring(ring) => ring.connected(n),
            Wire::Epoll(polled, _) => polled.writable(n),
        }
    }

    pub fn wait(&mut self, time: Duration) -> Result<()> {
        let (name, waited) = match self {
            Wire::Uring(ring) => ("io_uring", ring.wait(time)),
            Wire::Epoll(polled, ready) => {
                let waited = polled.wait(time);
                ready.extend(polled.ready());
                ("epoll", waited)
            }
        };
        waited.map_err(|e| Error::io(Code::Internal, name, &e))
    }

    /// What has happened by the last [`Wire::wait`], one after the other.
    pub fn next(&mut self) -> Option<Event> {
        match self {
            Wire::Uring(ring) => ring.next().map(|(n, what)| match what {
                What::Connected => Event::Writable(n),
                What::Came(piece) => Event::Readable(n, Source::Piece(piece)),
                What::Closed => Event::Readable(n, Source::Nowhere),
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

    /// Hands on each answer that is whole.
    ///
    /// # Errors
    /// The other side speaks no Hadoop RPC, or `take` fails.
    pub fn read(&mut self, n: usize, source: Source, take: impl FnMut(&[u8]) -> Result<()>) -> Result<End> {
        match (self, source) {
            (Wire::Uring(ring), Source::Piece(piece)) => ring.read(n, piece, take),
            (Wire::Epoll(polled, _), Source::Socket { is_ended }) => polled.read(n, is_ended, take),
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

    /// The same of both ways; io_uring where this machine has it.
    fn each_way(connections: usize, check: impl Fn(&mut Wire)) {
        for io in [Io::Epoll, Io::Uring] {
            match Wire::new(io, connections) {
                Ok(mut wire) => check(&mut wire),
                Err(e) => eprintln!("SKIP {io:?}: {e}"),
            }
        }
    }

    /// A server that does so with each of so many connections.
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
    struct Seen {
        answers: Vec<(usize, Vec<u8>)>,
        closed: Vec<usize>,
        failed: Vec<usize>,
    }

    /// Takes what happens until it is enough.
    fn until(wire: &mut Wire, seen: &mut Seen, is_enough: impl Fn(&Seen) -> bool) {
        let end = Instant::now() + Duration::from_secs(30);
        while !is_enough(seen) {
            assert!(Instant::now() < end, "{} answers, {:?}, {:?}", seen.answers.len(), seen.closed, seen.failed);
            wire.wait(TIME).unwrap();
            while let Some(event) = wire.next() {
                match event {
                    Event::Writable(n) if wire.writable(n).is_err() => {
                        wire.close(n);
                        seen.failed.push(n);
                    }
                    Event::Writable(_) => {}
                    Event::Readable(n, source) => {
                        let take = |bytes: &[u8]| {
                            seen.answers.push((n, bytes.to_vec()));
                            Ok(())
                        };
                        if wire.read(n, source, take).unwrap() == End::Closed && wire.is_open(n) {
                            wire.close(n);
                            seen.closed.push(n);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_sent_comes_back_in_order() {
        each_way(3, |wire| {
            let (address, server) = server(3, echo);
            let mut seen = Seen::default();
            // The largest fill all buffers, of the sockets and of the ring.
            let sizes = [0, 1, 4091, 4092, 4093, 70_000, 3_000_000, 5, 1_000_000, 9];
            for n in 0..3 {
                wire.open(n, address).unwrap();
                for (i, bytes) in sizes.into_iter().enumerate() {
                    wire.out(n).unwrap().extend(framed(bytes, (i + n) as u8));
                    // While the one before is on its way, or it is not even connected.
                    wire.flush(n).unwrap();
                    if i > 2 {
                        until(wire, &mut seen, |_| true);
                        wire.wait(Duration::ZERO).unwrap();
                    }
                    while let Some(event) = wire.next() {
                        match event {
                            Event::Writable(n) => wire.writable(n).unwrap(),
                            Event::Readable(n, source) => {
                                let take = |bytes: &[u8]| {
                                    seen.answers.push((n, bytes.to_vec()));
                                    Ok(())
                                };
                                assert_eq!(wire.read(n, source, take).unwrap(), End::Open);
                            }
                        }
                    }
                }
            }
            until(wire, &mut seen, |seen| seen.answers.len() == 3 * sizes.len());
            for n in 0..3 {
                let of: Vec<&Vec<u8>> =
                    seen.answers.iter().filter(|(of, _)| *of == n).map(|(_, bytes)| bytes).collect();
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
    fn who_is_gone_is_closed() {
        each_way(2, |wire| {
            // One answer, and the end.
            let (address, server) = server(2, |mut stream| stream.write_all(&framed(10, 1)).unwrap());
            let mut seen = Seen::default();
            (0..2).for_each(|n| wire.open(n, address).unwrap());
            until(wire, &mut seen, |seen| seen.closed.len() == 2);
            assert_eq!(seen.answers.len(), 2);
            server.join().unwrap();
        });
    }

    #[test]
    fn nobody_listens() {
        each_way(1, |wire| {
            let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            if wire.open(0, address).is_ok() {
                until(wire, &mut Seen::default(), |seen| seen.failed == [0]);
            }
        });
    }

    #[test]
    fn a_place_that_is_taken_again() {
        each_way(1, |wire| {
            let (address, server) = server(200, echo);
            let mut seen = Seen::default();
            for round in 0..200 {
                wire.open(0, address).unwrap();
                wire.out(0).unwrap().extend(framed(20_000, round as u8));
                // Closed at another moment each time: while it connects, sends, receives.
                let end = Instant::now() + Duration::from_micros(10 * round);
                until(wire, &mut seen, |_| Instant::now() > end);
                wire.close(0);
                assert!(wire.next().is_none());
                assert!(seen.answers.drain(..).all(|(_, bytes)| bytes == framed(20_000, round as u8)), "{round}");
            }
            server.join().unwrap();
            assert_eq!((seen.closed.len(), seen.failed.len()), (0, 0));
        });
    }
}
