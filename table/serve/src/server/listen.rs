//! Sockets of the addresses, and new connections for the workers.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener as StdTcpListener, TcpStream as StdTcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener as StdUnixListener, UnixStream as StdUnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use mio::net::{TcpListener, UnixListener};
use mio::{Events, Interest, Poll, Token};
use yunti_base::cancel::Cancel;
use yunti_base::{Code, Error, Result};

use super::connection::Socket;
use super::metrics::Metrics;
use super::session::Shared;
use super::worker::Worker;
use super::{Served, Settings};
use yunti_table_remote::address::Address;

/// Time between two looks at the files, which may have been replaced, and at the end of the server.
const LOOK: Duration = Duration::from_millis(500);
/// Refused connections at a time. Others wait in the queue of the system until these have taken their answers.
const REFUSED: u64 = 64;
/// Longest time for a request of the page with counters.
const PAGE: Duration = Duration::from_secs(2);

pub fn run(
    tables: Vec<Served>,
    settings: Settings,
    cancel: &Cancel,
    listening: impl FnOnce(&[Address], Option<&Address>) -> Result<()>,
) -> Result<()> {
    let internal = |e: io::Error| Error::io(Code::Internal, "cannot start the server", &e);
    let mut poll = Poll::new().map_err(internal)?;
    let mut sockets = Vec::new();
    for address in settings.listen.iter().chain(&settings.metrics) {
        let mut socket = Listener::bind(address)?;
        socket.register(&poll, Token(sockets.len())).map_err(internal)?;
        sockets.push(socket);
    }
    let addresses: Vec<Address> = sockets.iter().map(|socket| socket.address.clone()).collect();
    let (served, page) = addresses.split_at(settings.listen.len());
    let began = Instant::now();
    let shared = Arc::new(Shared { tables, token: settings.token, metrics: Metrics::default(), began });
    let workers = (0..settings.threads.max(1))
        .map(|_| Worker::start(shared.clone(), settings.tls.clone(), cancel.clone()))
        .collect::<io::Result<Vec<_>>>()
        .map_err(internal)?;
    listening(served, page.first())?;
    let mut events = Events::with_capacity(64);
    let (mut next, mut looked) = (0, Instant::now());
    while !cancel.is_set() {
        match poll.poll(&mut events, Some(LOOK)) {
            Err(e) if e.kind() != ErrorKind::Interrupted => return Err(internal(e)),
            _ => {}
        }
        // All of them: an event is not repeated if the process had no descriptor for the connection.
        for (place, listener) in sockets.iter().enumerate() {
            let is_page = place >= served.len();
            loop {
                let is_full = shared.metrics.connections_open.load(Relaxed) >= settings.connections as u64;
                if !is_page && is_full && shared.metrics.refused_open.load(Relaxed) >= REFUSED {
                    break;
                }
                let Some(socket) = listener.accept() else { break };
                if is_page {
                    let shared = shared.clone();
                    let _ = std::thread::Builder::new().spawn(move || answer_page(socket, &shared));
                    continue;
                }
                shared.metrics.connections.fetch_add(1, Relaxed);
                if is_full {
                    shared.metrics.connections_refused.fetch_add(1, Relaxed);
                }
                shared.metrics.of(is_full).fetch_add(1, Relaxed);
                workers[next].take(socket, is_full);
                next = (next + 1) % workers.len();
            }
        }
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            refresh(&shared);
        }
    }
    drop(sockets);
    workers.into_iter().for_each(Worker::join);
    Ok(())
}

/// Opens files that have taken the place of others. One that cannot be opened leaves the old one where it is.
fn refresh(shared: &Shared) {
    for table in &shared.tables {
        match table.refresh() {
            Ok(false) => {}
            Ok(true) => _ = shared.metrics.replaced.fetch_add(1, Relaxed),
            Err(_) => _ = shared.metrics.replace_errors.fetch_add(1, Relaxed),
        }
    }
}

/// Answers a request of HTTP for the page with counters.
fn answer_page(socket: Socket, shared: &Shared) {
    // A stream of TCP over the descriptor sets the options of any socket, and reads and writes it.
    let mut socket = StdTcpStream::from(match socket {
        Socket::Tcp(socket) => OwnedFd::from(socket),
        Socket::Unix(socket) => OwnedFd::from(socket),
    });
    let _ = socket.set_nonblocking(false);
    let _ = socket.set_read_timeout(Some(PAGE));
    let _ = socket.set_write_timeout(Some(PAGE));
    let (mut request, mut part) = (Vec::new(), [0; 1024]);
    while request.len() < 8192 && !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match socket.read(&mut part) {
            Ok(bytes) if bytes > 0 => request.extend_from_slice(&part[..bytes]),
            _ => return,
        }
    }
    let is_known = request.starts_with(b"GET /metrics ") || request.starts_with(b"GET / ");
    let (status, body) = match is_known {
        true => ("200 OK", shared.metrics.page(&shared.tables, shared.began)),
        false => ("404 Not Found", "the page is /metrics\n".to_owned()),
    };
    let _ = write!(
        socket,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
}

enum Kind {
    Tcp(TcpListener),
    /// With the path, which is removed at the end.
    Unix(UnixListener, PathBuf),
}

struct Listener {
    kind: Kind,
    address: Address,
}

impl Listener {
    fn bind(address: &Address) -> Result<Listener> {
        let failed = |e: io::Error| Error::io(Code::Output, "cannot listen", &e).at_path(address.to_string());
        match address {
            Address::Tcp(host, port) => {
                let socket = StdTcpListener::bind((host.as_str(), *port)).map_err(failed)?;
                socket.set_nonblocking(true).map_err(failed)?;
                let bound = socket.local_addr().map_err(failed)?;
                let address = Address::Tcp(host.clone(), bound.port());
                Ok(Listener { kind: Kind::Tcp(TcpListener::from_std(socket)), address })
            }
            Address::Unix(path) => {
                remove_dead(path).map_err(failed)?;
                let socket = StdUnixListener::bind(path).map_err(failed)?;
                socket.set_nonblocking(true).map_err(failed)?;
                let kind = Kind::Unix(UnixListener::from_std(socket), path.clone());
                Ok(Listener { kind, address: address.clone() })
            }
        }
    }

    fn register(&mut self, poll: &Poll, token: Token) -> io::Result<()> {
        match &mut self.kind {
            Kind::Tcp(socket) => poll.registry().register(socket, token, Interest::READABLE),
            Kind::Unix(socket, _) => poll.registry().register(socket, token, Interest::READABLE),
        }
    }

    /// Returns the next connection; `None` if there is none now.
    fn accept(&self) -> Option<Socket> {
        loop {
            let accepted = match &self.kind {
                Kind::Tcp(socket) => socket.accept().map(|(socket, _)| {
                    let _ = socket.set_nodelay(true);
                    Socket::Tcp(socket)
                }),
                Kind::Unix(socket, _) => socket.accept().map(|(socket, _)| Socket::Unix(socket)),
            };
            match accepted {
                Ok(socket) => return Some(socket),
                // The client is gone already: there may be others.
                Err(e) if matches!(e.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
                Err(_) => return None,
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Kind::Unix(_, path) = &self.kind {
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes the socket of a server that is gone. One that answers stays, and binding fails.
fn remove_dead(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    let is_dead = || StdUnixStream::connect(path).is_err_and(|e| e.kind() == ErrorKind::ConnectionRefused);
    if is_socket && is_dead() { fs::remove_file(path) } else { Ok(()) }
}
